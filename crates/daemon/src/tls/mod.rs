//! The server's end of TLS over any stream: its certificates, and handshakes.
//!
//! Knows no socket and no peer: who may begin a handshake is a matter of `transport::tls`. Builds without the
//! feature `service` have none of it.

#[cfg(not(feature = "service"))]
mod absent;
#[cfg(feature = "service")]
mod acceptor;

#[cfg(not(feature = "service"))]
pub(crate) use absent::Tls;
#[cfg(feature = "service")]
pub(crate) use acceptor::Tls;
