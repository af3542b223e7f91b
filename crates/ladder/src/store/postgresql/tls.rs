//! TLS between the ladder and PostgreSQL, by rustls.
//!
//! A certificate is always checked, whatever `sslmode` says: who asks for TLS does not trust the network. On
//! another machine TLS is the default.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use plyd_client::Secured;
use postgres::config::{Host, SslMode};
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use postgres::{Config, Socket};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::{InvalidDnsNameError, ServerName};

use crate::store::error::StoreError;

/// How connections to a server are encrypted.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl Tls {
    /// How connections to a server are encrypted, if its mode says that they are.
    ///
    /// # Errors
    /// The file of authorities cannot be read, or there are none on this system.
    pub(super) fn new(config: &Config, server: &Secured) -> Result<Option<Self>, StoreError> {
        if config.get_ssl_mode() == SslMode::Disable {
            return Ok(None);
        }
        Ok(Some(Self(TlsConnector::from(Arc::new(server.config()?)))))
    }
}

/// Reads the URL of a database: `sslmode` and `sslrootcert` as libpq knows them, where the modes that verify
/// mean the same as `require`.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(url: &str) -> Result<(Config, Secured), StoreError> {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut authority, mut says_mode) = (None, false);
    let mut settings = Vec::new();
    for setting in query.split('&').filter(|setting| !setting.is_empty()) {
        match setting.split_once('=') {
            Some(("sslrootcert", file)) => authority = Some(file.into()),
            Some(("sslmode", mode)) => {
                says_mode = true;
                settings.push(if mode.starts_with("verify-") { "sslmode=require" } else { setting });
            }
            _ => settings.push(setting),
        }
    }
    let mut config: Config = format!("{place}?{}", settings.join("&")).parse()?;
    if !says_mode {
        let is_wanted = authority.is_some() || !is_here(&config);
        config.ssl_mode(if is_wanted { SslMode::Require } else { SslMode::Disable });
    }
    Ok((config, Secured { at: String::new(), ca: authority, identity: None }))
}

/// Whether nothing of the connection leaves this machine.
fn is_here(config: &Config) -> bool {
    let is_loopback = |address: &std::net::IpAddr| address.is_loopback();
    let hosts = config.get_hosts().iter().all(|host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse().as_ref().is_ok_and(is_loopback),
    });
    hosts && config.get_hostaddrs().iter().all(is_loopback)
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Stream;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, InvalidDnsNameError> {
        // Of a Unix socket it is the path, which no certificate is for; and nothing is encrypted there.
        let host = if host.starts_with('/') { "localhost" } else { host };
        Ok(Handshake { connector: self.0.clone(), host: ServerName::try_from(host)?.to_owned() })
    }
}

/// What begins the session on a socket.
pub(super) struct Handshake {
    connector: TlsConnector,
    host: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let connected = self.connector.connect(self.host, socket).await;
            connected.map(|stream| Stream(Box::new(stream))).map_err(advised)
        })
    }
}

/// The error of a handshake, with what to do about it.
fn advised(error: io::Error) -> io::Error {
    let failed = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let advice = match failed {
        Some(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer)) => {
            "name the file of its authority's certificate: ?sslrootcert=FILE"
        }
        Some(rustls::Error::InvalidCertificate(_)) => {
            "the server needs a certificate for the host of the URL"
        }
        _ => return error,
    };
    io::Error::new(error.kind(), format!("{error}; {advice}"))
}

/// A connection that is encrypted.
pub(super) struct Stream(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for Stream {
    /// None: whoever has no certificate that we trust does not get as far as to ask for a password.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_to_other_machines_are_encrypted() {
        for (url, mode) in [
            ("postgres:///ladder?host=/run/postgresql", SslMode::Disable),
            ("postgres://ann@localhost/ladder", SslMode::Disable),
            ("postgres://127.0.0.1:5433/ladder?connect_timeout=5", SslMode::Disable),
            ("postgres://[::1]/ladder", SslMode::Disable),
            ("postgres://localhost/ladder?sslmode=prefer", SslMode::Prefer),
            ("postgres://db.example/ladder", SslMode::Require),
            ("postgres://192.0.2.7/ladder", SslMode::Require),
            ("postgres://localhost,db.example/ladder", SslMode::Require),
            ("postgres://localhost/ladder?hostaddr=192.0.2.7", SslMode::Require),
            ("postgres://db.example/ladder?sslmode=verify-full", SslMode::Require),
            ("postgres://db.example/ladder?sslmode=disable", SslMode::Disable),
        ] {
            assert_eq!(read(url).unwrap().0.get_ssl_mode(), mode, "{url}");
        }
        let (config, server) = read("postgres://localhost/ladder?sslrootcert=/no/such/file").unwrap();
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
        assert!(Tls::new(&config, &server).is_err());
        assert!(read("postgres://localhost/ladder?sslmode=no").is_err());
    }
}
