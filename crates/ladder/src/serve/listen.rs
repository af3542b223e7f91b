//! Where bots dial in over TCP, plain or under TLS. What TLS takes is known elsewhere: a [`Handshake`].

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};

/// How long a handshake may take.
const LONGEST: Duration = Duration::from_secs(10);

/// How many may be done at once: one more waits.
const HANDSHAKES: usize = 64;

/// How many connections may wait to be taken.
const WAITING: usize = 16;

/// How long to wait before the next connection is taken when the system has no place for one.
const NO_PLACE: Duration = Duration::from_millis(100);

/// What can be read from and written to.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A stream of any kind.
pub type BoxedStream = Box<dyn Stream>;

/// The server's end of TLS.
pub trait Handshake: Send + Sync + 'static {
    /// Shakes hands with a peer.
    fn shake_hands(
        &self,
        stream: TcpStream,
    ) -> Pin<Box<dyn Future<Output = io::Result<BoxedStream>> + Send + '_>>;
}

/// A socket that listens.
pub struct Listener {
    /// The socket.
    pub socket: TcpListener,
    /// TLS, if connections are encrypted.
    pub tls: Option<Arc<dyn Handshake>>,
}

/// The connections of a listener, each once its handshake is done.
pub(super) struct Connections {
    taken: mpsc::Receiver<(BoxedStream, SocketAddr)>,
    address: SocketAddr,
    accepting: tokio::task::JoinHandle<()>,
}

impl Listener {
    /// Takes connections.
    ///
    /// # Errors
    /// The socket has no address.
    pub(super) fn connections(self) -> io::Result<Connections> {
        let address = self.socket.local_addr()?;
        let (taken, connections) = mpsc::channel(WAITING);
        let accepting = tokio::spawn(accept(self, taken));
        Ok(Connections { taken: connections, address, accepting })
    }
}

impl Connections {
    pub(super) async fn next(&mut self) -> (BoxedStream, SocketAddr) {
        match self.taken.recv().await {
            Some(connection) => connection,
            // Nobody accepts any more once the ladder stops.
            None => std::future::pending().await,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: Listener, taken: mpsc::Sender<(BoxedStream, SocketAddr)>) {
    let places = Arc::new(Semaphore::new(HANDSHAKES));
    loop {
        let (stream, address) = match listener.socket.accept().await {
            Ok(accepted) => accepted,
            // Too many open files, say, or a connection that is gone already.
            Err(_) => {
                sleep(NO_PLACE).await;
                continue;
            }
        };
        // Without it a short line may wait for the answer to the one before.
        let _slower = stream.set_nodelay(true);
        let Some(tls) = &listener.tls else {
            if taken.send((Box::new(stream), address)).await.is_err() {
                return;
            }
            continue;
        };
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let (tls, taken) = (Arc::clone(tls), taken.clone());
        tokio::spawn(async move {
            match timeout(LONGEST, tls.shake_hands(stream)).await {
                Ok(Ok(stream)) => {
                    drop(place);
                    // The ladder may have stopped.
                    let _stopped = taken.send((stream, address)).await;
                }
                Ok(Err(error)) => {
                    tracing::debug!(target: super::LOG, peer = %address, %error, "no handshake");
                }
                Err(_) => tracing::debug!(target: super::LOG, peer = %address, "no handshake in time"),
            }
        });
    }
}
