//! A session of TLS 1.3, as bytes in and bytes out. Its only I/O is reading its files.
//!
//! Without a file of authorities those of the system are trusted, from where it keeps them
//! (rustls-native-certs): so an authority that its administrator adds or removes counts here as well, which a
//! list that is compiled in (webpki-roots) would miss, and an old build trusts no authority that has fallen
//! since.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};

use super::Secured;
use crate::LineError;

/// The most bytes of one read.
const READ_BYTES: usize = 64 << 10;

/// A session.
pub(crate) struct Secure {
    session: ClientConnection,
    /// What was read, before records were opened.
    raw: Vec<u8>,
    /// The records that leave in one write.
    sealed: Vec<u8>,
    is_finished: bool,
    has_ended: bool,
}

impl fmt::Debug for Secure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secure").finish_non_exhaustive()
    }
}

impl Secured {
    /// The settings of TLS 1.3 for this server, for a connection that the caller makes.
    ///
    /// # Errors
    /// A file cannot be used, or there is nobody to trust.
    pub fn config(&self) -> io::Result<ClientConfig> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .expect("ring knows TLS 1.3")
            .with_root_certificates(trusted(self.ca.as_deref())?);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((cert, key)) => {
                let secret =
                    PrivateKeyDer::from_pem_slice(&std::fs::read(key).map_err(|error| at(key, &error))?)
                        .map_err(|_| at(key, &"there is no private key in it (PEM)"))?;
                let built = builder.with_client_auth_cert(certificates(cert)?, secret);
                built.map_err(|error| at(cert, &error))?
            }
        };
        // A server that has another certificate now is to show it.
        config.resumption = Resumption::disabled();
        Ok(config)
    }
}

impl Secure {
    /// Begins a session with a server.
    ///
    /// # Errors
    /// A file cannot be used, or there is nobody to trust.
    pub(crate) fn begin(to: &Secured) -> io::Result<Self> {
        let host = to.at.rsplit_once(':').map_or(&*to.at, |(host, _)| host);
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| unusable(format!("`{host}` is no name that a certificate is for")))?;
        let mut session = ClientConnection::new(Arc::new(to.config()?), name).map_err(io::Error::other)?;
        // Everything is encrypted into `sealed` at once; it is bounded, because a peer may leave it unread
        // only for some time.
        session.set_buffer_limit(None);
        let mut secure = Self {
            session,
            raw: vec![0; READ_BYTES],
            sealed: Vec::new(),
            is_finished: false,
            has_ended: false,
        };
        secure.collect();
        Ok(secure)
    }

    /// Whether nothing can be sent yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// Where to read to.
    pub(crate) fn raw(&mut self) -> &mut Vec<u8> {
        &mut self.raw
    }

    /// Decrypts the `count` bytes that were read, and appends the plain text to `out`.
    ///
    /// # Errors
    /// Why the session is over.
    pub(crate) fn open(&mut self, count: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let mut raw = &self.raw[..count];
        let mut opened = Ok(());
        while !raw.is_empty() && opened.is_ok() && !self.has_ended {
            // The session takes a part at a time; its plain text is taken out below.
            opened = match self.session.read_tls(&mut raw) {
                Ok(0) => Err("records that are none".to_owned()),
                Ok(_) => self.session.process_new_packets().map_err(|error| advice(&error)),
                Err(error) => Err(error.to_string()),
            }
            .map(|state| self.has_ended = state.peer_has_closed());
            // At the end of the plain text this reports that it would block, or that the session is over.
            let _until_more_comes = self.session.reader().read_to_end(out);
        }
        self.collect();
        self.has_ended |= opened.is_err();
        opened
    }

    /// Encrypts bytes to be sent.
    ///
    /// # Errors
    /// [`LineError::Closed`] if this end has finished, or the session is over.
    pub(crate) fn seal(&mut self, bytes: &[u8]) -> Result<(), LineError> {
        if self.is_finished {
            return Err(LineError::Closed);
        }
        self.session.writer().write_all(bytes).map_err(|_| LineError::Closed)?;
        self.collect();
        Ok(())
    }

    /// The encrypted bytes that are to be sent.
    pub(crate) fn sealed(&mut self) -> &mut Vec<u8> {
        &mut self.sealed
    }

    /// Closes the sending direction.
    pub(crate) fn finish(&mut self) {
        self.is_finished = true;
        self.session.send_close_notify();
        self.collect();
    }

    /// Whether the server has closed its sending direction.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn collect(&mut self) {
        while self.session.wants_write() {
            self.session.write_tls(&mut self.sealed).expect("a Vec takes every byte");
        }
    }
}

/// The authorities in a file, or those of this system.
fn trusted(file: Option<&Path>) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(path) => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|error| at(path, &error))?;
            }
        }
        None => {
            // Some of those that systems bring are older than the rules for them.
            let (_known, _unknown) =
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                let message = "this system has no certificates of authorities: install them (ca-certificates), or \
                               name a file behind the address, ?ca=FILE";
                return Err(unusable(message.to_owned()));
            }
        }
    }
    Ok(roots)
}

/// The certificates in a file.
fn certificates(path: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let bytes = std::fs::read(path).map_err(|error| at(path, &error))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(at(path, &"there is no certificate in it (PEM)")),
        Err(_) => Err(at(path, &"a certificate in it is not whole (PEM)")),
    }
}

fn at(path: &Path, error: &dyn fmt::Display) -> io::Error {
    unusable(format!("{}: {error}", path.display()))
}

/// An error that no retry can mend.
fn unusable(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// What went wrong, and what to do about it.
fn advice(error: &rustls::Error) -> String {
    let what = match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "name its authority's certificate behind the address, ?ca=FILE"
        }
        rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired) => {
            "the server wants a certificate of ours: ?cert=FILE&key=FILE"
        }
        rustls::Error::InvalidMessage(_) => "is TLS served there?",
        _ => return error.to_string(),
    };
    format!("{error}; {what}")
}
