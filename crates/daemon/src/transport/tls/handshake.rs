//! A handshake over TCP, and what a failed one shows about its peer.

use std::io;

use tokio::net::TcpStream;
use tokio_rustls::rustls;
use tokio_rustls::server::TlsStream;

use super::Failure;
use super::bounded::{Bounded, TooLong};
use crate::state::refusals::Refusal;
use crate::tls::Tls;
use crate::transport::newcomers::Progress;

/// The first byte of a handshake (RFC 8446, 5.1).
const HANDSHAKE_RECORD: u8 = 22;

/// A connection over TLS.
pub(crate) type Stream = TlsStream<Bounded>;

/// Shakes hands; notes when the peer gets on.
///
/// # Errors
/// Why there is no connection.
pub(super) async fn shake_hands(tls: &Tls, stream: TcpStream, progress: Progress) -> Result<Stream, Failure> {
    let mut first = [0];
    match stream.peek(&mut first).await {
        Ok(count) if count > 0 => {}
        Ok(_) | Err(_) => return Err(Failure::Gone),
    }
    if first != [HANDSHAKE_RECORD] {
        let stream = Some(stream);
        return Err(Failure::Failed { refusal: Refusal::PlainOnTls, detail: None, stream });
    }
    match tls.shake_hands(Bounded::new(stream, progress)).await {
        Ok(mut stream) => {
            stream.get_mut().0.unbind();
            Ok(stream)
        }
        Err((error, stream)) => Err(failure(&error, stream.into_inner())),
    }
}

/// What a failed handshake shows about its peer.
fn failure(error: &io::Error, stream: TcpStream) -> Failure {
    let cause = error.get_ref();
    let refusal = match cause.and_then(|cause| cause.downcast_ref::<rustls::Error>()) {
        None if cause.is_some_and(|cause| cause.is::<TooLong>()) => Refusal::HandshakeBytes,
        None if error.kind() != io::ErrorKind::InvalidData => return Failure::Gone,
        Some(rustls::Error::NoCertificatesPresented) => Refusal::CertificateMissing,
        Some(rustls::Error::InvalidCertificate(_)) => Refusal::CertificateRefused,
        // The peer does not like ours.
        Some(rustls::Error::AlertReceived(_)) => Refusal::HandshakeBroken,
        _ => Refusal::HandshakeMalformed,
    };
    Failure::Failed { refusal, detail: Some(error.to_string()), stream: Some(stream) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_fails_is_named_by_its_cause() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        for (kind, cause, refusal) in [
            (io::ErrorKind::InvalidData, Some(Cause::Long), Some(Refusal::HandshakeBytes)),
            (
                io::ErrorKind::InvalidData,
                Some(Cause::Tls(rustls::Error::NoCertificatesPresented)),
                Some(Refusal::CertificateMissing),
            ),
            (io::ErrorKind::InvalidData, None, Some(Refusal::HandshakeMalformed)),
            (io::ErrorKind::ConnectionReset, None, None),
        ] {
            let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            let error = match cause {
                Some(Cause::Long) => io::Error::new(kind, TooLong),
                Some(Cause::Tls(error)) => io::Error::new(kind, error),
                None => kind.into(),
            };
            let found = match failure(&error, stream) {
                Failure::Failed { refusal, .. } => Some(refusal),
                Failure::Gone => None,
            };
            assert_eq!(found, refusal, "{error}");
        }
    }

    enum Cause {
        Long,
        Tls(rustls::Error),
    }
}
