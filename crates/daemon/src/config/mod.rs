//! What a daemon is asked to serve.

pub(crate) mod clients;
pub(crate) mod limits;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Client, Handed, Limits, ServiceManager};

/// What a daemon serves, and how.
///
/// ```
/// use plyd_daemon::{Config, Limits};
///
/// // For programs on this machine, and with a token from others.
/// let config = Config {
///     tcp: vec!["0.0.0.0:7117".to_owned()],
///     token: Some("open sesame".to_owned()),
///     limits: Limits { connections: 20, ..Limits::default() },
///     ..Config::default()
/// };
/// assert!(!config.stdio && config.unix.is_none());
/// ```
#[derive(Debug, Default)]
pub struct Config {
    /// Whether to serve the standard streams.
    pub stdio: bool,
    /// TCP addresses to listen on, as `HOST:PORT`.
    pub tcp: Vec<String>,
    /// Addresses to listen on for WebSocket, as `HOST:PORT`.
    pub ws: Vec<String>,
    /// Origins whose pages may connect there, beside those of the same host.
    pub ws_origins: Vec<String>,
    /// A socket that listens already, to serve the page and its WebSocket on.
    pub page: Option<std::net::TcpListener>,
    /// An address, as `HOST:PORT`, to serve metrics and probes on.
    pub metrics: Option<String>,
    /// The files of TLS, which all TCP and WebSocket addresses above then speak.
    pub tls: Option<TlsFiles>,
    /// A path to listen on with a Unix socket.
    pub unix: Option<PathBuf>,
    /// Sockets that listen already, handed over by a service manager, to be served as well.
    pub handed: Handed,
    /// A token that connections over sockets must show.
    pub token: Option<String>,
    /// The clients that are known by name, each with a token of its own. If there is such a list, connections
    /// over sockets must show one of these tokens, or the token above.
    pub clients: Option<Vec<Client>>,
    /// Whether other machines may connect without a token.
    pub insecure: bool,
    /// A file for a record of every line.
    pub transcript: Option<PathBuf>,
    /// By how much the nice value of threads that compute exceeds that of the others.
    pub search_nice: u8,
    /// The limits.
    pub limits: Limits,
    /// Reads the configuration again for [`run`](crate::run) at a SIGHUP; none: a SIGHUP ends the daemon.
    pub reload: Option<Box<dyn Reload>>,
    /// The service manager that [`run`](crate::run) notifies when it serves, reads settings again, is alive,
    /// and ends.
    pub manager: Option<Arc<ServiceManager>>,
}

impl Config {
    /// Whether it may listen where other machines reach it.
    pub(crate) fn is_open(&self) -> bool {
        self.token.is_some() || self.clients.is_some() || self.is_exposed()
    }

    /// Whether others than the users of its machine may reach it without a token.
    pub(crate) fn is_exposed(&self) -> bool {
        self.insecure || self.wants_certificates()
    }

    /// Whether others than the users of its machine may be among those who show no token: other machines, or
    /// the visitors of another origin's page, whom a proxy brings to loopback.
    pub(crate) fn serves_others(&self) -> bool {
        self.is_exposed() || !self.ws_origins.is_empty()
    }

    /// Whether clients over TCP and WebSocket must show certificates.
    pub(crate) fn wants_certificates(&self) -> bool {
        self.tls.as_ref().is_some_and(|files| files.client_ca.is_some())
    }
}

/// Files of TLS, in PEM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// The certificate, and those above it.
    pub cert: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// The authorities, one of which must have issued the certificate of each client; none: clients need no
    /// certificate.
    pub client_ca: Option<PathBuf>,
}

/// Reads the settings of a running daemon again.
///
/// ```
/// use plyd_daemon::{Config, Limits, Reload};
///
/// /// Reads the number of connections from a file.
/// #[derive(Debug)]
/// struct FromFile(std::path::PathBuf);
///
/// impl Reload for FromFile {
///     fn read(&mut self) -> Result<Config, String> {
///         let text = std::fs::read_to_string(&self.0).map_err(|error| error.to_string())?;
///         let connections = text.trim().parse().map_err(|error| format!("{error}"))?;
///         Ok(Config { limits: Limits { connections, ..Limits::default() }, ..Config::default() })
///     }
///
///     fn applied(&mut self) {}
/// }
///
/// let reload: Box<dyn Reload> = Box::new(FromFile("connections.txt".into()));
/// let config = Config { tcp: vec!["127.0.0.1:7117".to_owned()], reload: Some(reload), ..Config::default() };
/// ```
pub trait Reload: Debug + Send {
    /// Reads the settings. It may take its time: nobody waits for it.
    ///
    /// # Errors
    /// What is wrong, and where.
    fn read(&mut self) -> Result<Config, String>;

    /// Called once the settings that were read last are in force.
    fn applied(&mut self);
}
