//! TLS under TCP and WebSocket: who may begin a handshake, and what is logged of those that fail.
//!
//! A peer becomes a connection once its handshake is done. Until then it holds one of few places, and the
//! oldest leaves for the newest, as strangers do; its time and its bytes are bounded. What TLS itself takes
//! is known to `acceptor` alone, which builds without the feature `service` lack.

#[cfg(not(feature = "service"))]
mod absent;
#[cfg(feature = "service")]
mod acceptor;
#[cfg(feature = "service")]
mod bounded;

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::AbortHandle;

use super::reading::{LINGER, drain};
use crate::Shared;
use crate::places::network;
use crate::refusals::Refusal;

#[cfg(not(feature = "service"))]
pub(crate) use absent::{Stream, Tls};
#[cfg(feature = "service")]
pub(crate) use acceptor::{Stream, Tls};

/// How long a handshake may take at most, if `hello` may take longer.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Why there is no connection.
#[derive(Debug)]
#[cfg_attr(not(feature = "service"), allow(dead_code, reason = "nobody is refused"))]
pub(super) enum Failure {
    /// It left, or was silent.
    Gone,
    /// It did something else than it should; the alert that says so is written to the stream.
    Failed {
        /// What.
        refusal: Refusal,
        /// The details, or nothing.
        detail: String,
        /// The stream, to be closed so that the alert arrives.
        stream: Option<TcpStream>,
    },
}

/// Shakes hands with a peer; none if it is no client.
pub(super) async fn accept(shared: &Shared, stream: TcpStream, peer: SocketAddr) -> Option<Stream> {
    let tls = shared.tls.as_ref()?;
    let limit = shared.lock().limits.handshake.min(HANDSHAKE);
    match tokio::time::timeout(limit, tls.shake_hands(stream)).await {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(Failure::Gone)) => tracing::debug!(%peer, "left during the handshake"),
        Err(_) => tracing::debug!(%peer, "did not shake hands in time"),
        Ok(Err(Failure::Failed { refusal, detail, stream })) => {
            shared.lock().note_peer(peer, refusal, &detail);
            if let Some(mut stream) = stream {
                let closed = tokio::io::AsyncWriteExt::shutdown(&mut stream);
                if let Ok(Ok(())) = tokio::time::timeout(LINGER, closed).await {
                    drain(shared, stream).await;
                }
            }
        }
    }
    None
}

/// Handshakes of a listener that are not done. They end with it.
#[derive(Default)]
pub(super) struct Handshakes(VecDeque<(IpAddr, AbortHandle)>);

impl Handshakes {
    /// Begins one, in the place of the oldest if there is none left: of the oldest of the same network, if it
    /// has too many.
    pub(super) fn begin(
        &mut self,
        shared: &Shared,
        peer: SocketAddr,
        handshake: impl Future<Output = ()> + Send + 'static,
    ) {
        let (most, of_network) = {
            let state = shared.lock();
            (state.limits.strangers, state.limits.connections_per_address)
        };
        let from = network(peer.ip());
        self.0.retain(|(_, handshake)| !handshake.is_finished());
        if of_network > 0 && self.0.iter().filter(|(other, _)| *other == from).count() >= of_network {
            let oldest = self.0.iter().position(|(other, _)| *other == from);
            self.leave(oldest);
        } else if self.0.len() >= most {
            self.leave(Some(0));
        }
        self.0.push_back((from, tokio::spawn(handshake).abort_handle()));
    }

    fn leave(&mut self, place: Option<usize>) {
        if let Some((_, handshake)) = place.and_then(|place| self.0.remove(place)) {
            tracing::debug!("a handshake left for another");
            handshake.abort();
        }
    }
}

impl Drop for Handshakes {
    fn drop(&mut self) {
        self.0.iter().for_each(|(_, handshake)| handshake.abort());
    }
}
