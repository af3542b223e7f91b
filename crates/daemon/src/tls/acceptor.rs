//! The server's end of TLS: its certificates, which may be replaced while it runs, and handshakes.
//!
//! TLS 1.3 alone: before it, the end of one direction ended the other as well, and a client could not hear
//! the answers to its last requests. Sessions are not resumed, so that each connection shows a certificate
//! that is good now, and nothing is remembered of peers that are gone.
//!
//! A handshake takes the thread of all connections for a fraction of a millisecond, a thousand times what a
//! line takes. So all handshakes together leave most of its time to the connections.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, Read};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use crate::{ServeError, TlsFiles};

/// The largest file of certificates or of a key.
const MAX_FILE: u64 = 1 << 20;
/// After a step of a handshake, the others have this many times its duration before the next step.
const OTHERS: u32 = 3;
/// The time owed to the others is granted once it has grown to this: a timer is no finer.
const REST: Duration = Duration::from_millis(2);

/// Certificates and a key that fit each other.
pub(crate) struct Loaded(Arc<ServerConfig>);

/// The server's end of TLS.
pub(crate) struct Tls {
    config: RwLock<Arc<ServerConfig>>,
    throttle: HandshakeThrottle,
}

impl Tls {
    /// Reads certificates and the key to them.
    ///
    /// # Errors
    /// The file that cannot be used, and why.
    pub(crate) fn load(files: &TlsFiles) -> Result<Loaded, ServeError> {
        let TlsFiles { cert, key, client_ca } = files;
        let wrong = |path: &Path, message: String| ServeError::Tls { path: path.to_owned(), message };
        let chain = certificates(cert)?;
        // What is wrong with a key is not quoted.
        let secret = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|_| {
            wrong(key, "there is no private key in it (PEM; PKCS #8, SEC 1 or PKCS #1)".into())
        })?;
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .expect("ring knows TLS 1.3");
        let builder = match client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| wrong(path, error.to_string()))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(
                    verifier.build().map_err(|error| wrong(path, error.to_string()))?,
                )
            }
        };
        let mut config = builder.with_single_cert(chain, secret).map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                wrong(key, format!("the key is not the one of the first certificate in {}", cert.display()))
            }
            error => wrong(cert, error.to_string()),
        })?;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Loaded(Arc::new(config)))
    }

    pub(crate) fn new(loaded: Loaded) -> Self {
        Self { config: RwLock::new(loaded.0), throttle: HandshakeThrottle::default() }
    }

    /// Uses other certificates from now on.
    pub(crate) fn replace(&self, loaded: Loaded) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = loaded.0;
    }

    /// Shakes hands over a stream.
    ///
    /// # Errors
    /// Why there is no connection, and the stream.
    pub(crate) async fn shake_hands<S>(&self, stream: S) -> Result<TlsStream<S>, (io::Error, S)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let config = Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner));
        self.throttle.run(TlsAcceptor::from(config).accept(stream).into_fallible()).await
    }
}

/// The certificates in a file.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServeError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    let message = match found {
        Ok(found) if !found.is_empty() => return Ok(found),
        Ok(_) => "there is no certificate in it (PEM)",
        Err(_) => "a certificate in it is not whole (PEM)",
    };
    Err(ServeError::Tls { path: path.to_owned(), message: message.to_owned() })
}

fn read(path: &Path) -> Result<Vec<u8>, ServeError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 1 MiB"));
        }
        Ok(bytes)
    };
    read().map_err(|error| ServeError::Tls { path: path.to_owned(), message: error.to_string() })
}

/// Lets handshakes take their steps one at a time, and the connections have their time between them.
#[derive(Default)]
struct HandshakeThrottle {
    /// What the connections are owed.
    owed: tokio::sync::Mutex<Duration>,
}

impl HandshakeThrottle {
    /// Runs a handshake to its end.
    async fn run<F: Future + Unpin>(&self, mut handshake: F) -> F::Output {
        loop {
            let mut owed = self.owed.lock().await;
            let began = Instant::now();
            let step = poll_fn(|context| Poll::Ready(Pin::new(&mut handshake).poll(context))).await;
            *owed += began.elapsed() * OTHERS;
            let rest = *owed;
            if rest >= REST {
                *owed = Duration::ZERO;
                // Who waits for the lock has the next step.
                tokio::time::sleep(rest).await;
            }
            drop(owed);
            match step {
                Poll::Ready(done) => return done,
                // The peer may have been heard meanwhile.
                Poll::Pending if rest >= REST => {}
                Poll::Pending => woken().await,
            }
        }
    }
}

/// Waits until the task is woken.
async fn woken() {
    let mut is_first = true;
    poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
}
