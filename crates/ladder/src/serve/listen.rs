//! Where bots dial in over TCP, plain or under TLS. What TLS takes is known elsewhere: a [`Handshake`].

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use plyd_protocol::newcomers::{Newcomers, Places, Progress};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

/// How long a handshake may take.
const LONGEST: Duration = Duration::from_secs(10);

/// How many may be done at once. One more takes the place of one that does not get on, and the peers of one
/// network take those of others no more than to a half.
const HANDSHAKES: Places = Places { all: 256, of_network: 128 };

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
    /// Shakes hands with a peer; notes when it gets on.
    fn shake_hands(
        &self,
        stream: TcpStream,
        progress: Progress,
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
        let accepting = tokio::spawn(accept(self, taken, LONGEST));
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

/// Accepts connections for ever; so long may a handshake take.
async fn accept(listener: Listener, taken: mpsc::Sender<(BoxedStream, SocketAddr)>, longest: Duration) {
    let handshakes = Newcomers::default();
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
        let (tls, taken) = (Arc::clone(tls), taken.clone());
        let left = handshakes.begin(address, HANDSHAKES, |progress| async move {
            match timeout(longest, tls.shake_hands(stream, progress)).await {
                // The ladder may have stopped.
                Ok(Ok(stream)) => drop(taken.send((stream, address)).await),
                Ok(Err(error)) => {
                    tracing::debug!(target: super::LOG, peer = %address, %error, "no handshake");
                }
                Err(_) => tracing::debug!(target: super::LOG, peer = %address, "no handshake in time"),
            }
        });
        if let Some(left) = left {
            tracing::debug!(target: super::LOG, peer = %left.peer, "its handshake gave way to another");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::Instant;

    use super::*;

    /// A handshake that is done once the peer has sent a byte; counts those that have begun, and have ended.
    #[derive(Default)]
    struct OneByte {
        begun: AtomicUsize,
        ended: Arc<AtomicUsize>,
    }

    /// Counts one that ends, however that is.
    struct Ends(Arc<AtomicUsize>);

    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Handshake for OneByte {
        fn shake_hands(
            &self,
            mut stream: TcpStream,
            _: Progress,
        ) -> Pin<Box<dyn Future<Output = io::Result<BoxedStream>> + Send + '_>> {
            self.begun.fetch_add(1, Ordering::Relaxed);
            let ends = Ends(Arc::clone(&self.ended));
            Box::pin(async move {
                let _ends = ends;
                stream.read_u8().await?;
                Ok(Box::new(stream) as BoxedStream)
            })
        }
    }

    #[tokio::test]
    async fn strangers_that_never_finish_a_handshake_keep_nobody_out() {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let handshakes = Arc::new(OneByte::default());
        let (taken, mut connections) = mpsc::channel(WAITING);
        let tls = Some(Arc::clone(&handshakes) as Arc<dyn Handshake>);
        // Longer than the test: nobody leaves because its time is up.
        let accepting = tokio::spawn(accept(Listener { socket, tls }, taken, Duration::from_secs(3600)));
        let deadline = Instant::now() + Duration::from_secs(60);
        // All have one address here, and so the places of one network.
        let mut strangers = Vec::new();
        for _ in 0..2 * HANDSHAKES.of_network {
            strangers.push(TcpStream::connect(address).await.unwrap());
        }
        while handshakes.begun.load(Ordering::Relaxed) < strangers.len() {
            assert!(Instant::now() < deadline, "not all have begun");
            tokio::task::yield_now().await;
        }
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_u8(1).await.unwrap();
        let came = timeout(Duration::from_secs(60), connections.recv()).await.expect("it is not kept out");
        assert_eq!(came.unwrap().1, client.local_addr().unwrap());
        // The oldest left for those that came later, and nobody else did.
        let left = strangers.len() - HANDSHAKES.of_network + 1;
        while handshakes.ended.load(Ordering::Relaxed) < left + 1 {
            assert!(Instant::now() < deadline, "they do not leave");
            tokio::task::yield_now().await;
        }
        let mut byte = [0];
        assert_eq!(strangers[0].read(&mut byte).await.unwrap_or(0), 0, "the oldest is gone");
        let last = strangers.last().unwrap();
        assert_eq!(last.try_read(&mut byte).unwrap_err().kind(), io::ErrorKind::WouldBlock, "it is there");
        accepting.abort();
    }
}
