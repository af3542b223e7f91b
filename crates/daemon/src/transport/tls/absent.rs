//! What stands for handshakes in a build without TLS.

use tokio::net::TcpStream;

use super::Failure;
use crate::tls::Tls;
use crate::transport::newcomers::Progress;

pub(crate) type Stream = TcpStream;

#[allow(clippy::unused_async, reason = "as with TLS")]
pub(super) async fn shake_hands(tls: &Tls, _: TcpStream, _: Progress) -> Result<Stream, Failure> {
    match *tls {}
}
