//! TLS under TCP and WebSocket: who may begin a handshake, and what is logged of those that fail.
//!
//! A peer becomes a connection once its handshake is done. Until then it holds one of few places (see
//! `newcomers`), and its time and its bytes are bounded.

#[cfg(not(feature = "service"))]
mod absent;
#[cfg(feature = "service")]
mod bounded;
#[cfg(feature = "service")]
mod handshake;

use std::net::SocketAddr;

use tokio::net::TcpStream;

use super::newcomers::{Places, Progress};
use super::reading::{LINGER, drain};
use crate::runtime::Shared;
use crate::state::refusals::Refusal;
#[cfg(feature = "service")]
use crate::tls::Tls;

#[cfg(not(feature = "service"))]
use absent::{Stream, shake_hands};
#[cfg(feature = "service")]
use handshake::{Stream, shake_hands};

/// The server's end of TLS 1.3, for programs that listen themselves. Its certificates may be replaced while
/// it runs. The caller bounds the time of a handshake.
#[cfg(feature = "service")]
pub struct TlsAcceptor(Tls);

#[cfg(feature = "service")]
impl TlsAcceptor {
    /// Reads certificates and the key to them.
    ///
    /// # Errors
    /// The file that cannot be used, and why.
    pub fn load(files: &crate::TlsFiles) -> Result<Self, crate::ServeError> {
        Tls::load(files).map(Tls::new).map(Self)
    }

    /// Reads the certificates and the key again, for the connections from now on.
    ///
    /// # Errors
    /// As [`load`](Self::load); the earlier ones stay in use.
    pub fn reload(&self, files: &crate::TlsFiles) -> Result<(), crate::ServeError> {
        self.0.replace(Tls::load(files)?);
        Ok(())
    }

    /// Does the handshake with a peer; `progress` notes when the peer gets on.
    ///
    /// # Errors
    /// The peer is no client of TLS, or is gone.
    pub async fn accept(
        &self,
        stream: TcpStream,
        progress: Progress,
    ) -> std::io::Result<impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + use<>> {
        shake_hands(&self.0, stream, progress).await.map_err(|failure| match failure {
            Failure::Gone => std::io::ErrorKind::ConnectionReset.into(),
            Failure::Failed { detail, .. } => {
                let why = detail.unwrap_or_else(|| "the peer does not begin a handshake".to_owned());
                std::io::Error::new(std::io::ErrorKind::InvalidData, why)
            }
        })
    }
}

/// How many peers of a listener may shake hands at once.
pub(super) fn places(shared: &Shared) -> Places {
    let limits = &shared.lock().limits;
    Places { all: limits.strangers, of_network: limits.connections_per_address }
}

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
        /// The details, if there are any.
        detail: Option<String>,
        /// The stream, to be closed so that the alert arrives.
        stream: Option<TcpStream>,
    },
}

/// Shakes hands with a peer; none if it is no client.
pub(super) async fn accept(
    shared: &Shared,
    stream: TcpStream,
    peer: SocketAddr,
    progress: Progress,
) -> Option<Stream> {
    let tls = shared.tls.as_ref()?;
    let limit = shared.lock().limits.tls_handshake();
    match tokio::time::timeout(limit, shake_hands(tls, stream, progress)).await {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(Failure::Gone)) => tracing::debug!(%peer, "left during the handshake"),
        Err(_) => shared.lock().note_peer(peer, Refusal::HandshakeMs, None),
        Ok(Err(Failure::Failed { refusal, detail, stream })) => {
            shared.lock().note_peer(peer, refusal, detail.as_deref());
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
