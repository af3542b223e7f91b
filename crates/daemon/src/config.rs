//! What a daemon is asked to serve, and why it cannot.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Client, Handed, Limits, Reload, ServiceManager};

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
    /// The certificates of TLS, which then all addresses of TCP and WebSocket above speak.
    pub tls: Option<TlsFiles>,
    /// A path to listen on with a Unix socket.
    pub unix: Option<PathBuf>,
    /// Sockets that listen already, to be served as well.
    pub handed: Handed,
    /// A token that connections over sockets must show.
    pub token: Option<String>,
    /// The clients that are known by name, each by a token of its own, if there is such a list: connections
    /// over sockets must be of one of them, or show the token above.
    pub clients: Option<Vec<Client>>,
    /// Whether other machines may connect without one.
    pub insecure: bool,
    /// A file for a record of every line.
    pub transcript: Option<PathBuf>,
    /// By how much the nice value of threads that compute exceeds that of the others.
    pub search_nice: u8,
    /// The numbers.
    pub limits: Limits,
    /// Where [`run`](crate::run) gets all this again at a SIGHUP, which otherwise ends the daemon.
    pub reload: Option<Box<dyn Reload>>,
    /// Who hears that [`run`](crate::run) serves, reads settings again, is alive, and ends.
    pub manager: Option<Arc<ServiceManager>>,
}

impl Config {
    /// Whether it may listen where other machines reach it.
    pub(super) fn is_open(&self) -> bool {
        self.token.is_some() || self.clients.is_some() || self.is_exposed()
    }

    /// Whether others than the users of its machine may reach it without a token.
    pub(super) fn is_exposed(&self) -> bool {
        self.insecure || self.wants_certificates()
    }

    /// Whether clients over TCP and WebSocket must show certificates.
    pub(super) fn wants_certificates(&self) -> bool {
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
    /// The authorities of which each client must show a certificate; none: clients show none.
    pub client_ca: Option<PathBuf>,
}

/// Why a daemon cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address or a path cannot be listened on.
    #[error("cannot listen on {at}: {error}")]
    Listen {
        /// The address or the path.
        at: String,
        /// What the system says.
        error: io::Error,
    },
    /// A socket that was handed over cannot be served.
    #[error(
        "cannot serve the socket `{}` that the service manager handed over as file descriptor {number}: {what}",
        .name.escape_debug()
    )]
    Handed {
        /// Its name in `LISTEN_FDNAMES`.
        name: String,
        /// Its number.
        number: u32,
        /// What is wrong with it, and what to do.
        what: String,
    },
    /// Other machines can reach an address, and nothing keeps their users out.
    #[error(
        "refusing to listen on {at} without a token, because other machines can reach it: use --token-file FILE or \
         --clients-file FILE, listen on 127.0.0.1, or pass --insecure"
    )]
    Exposed {
        /// The address.
        at: String,
    },
    /// Other machines can reach the address of the metrics, where nobody is asked for a token.
    #[error(
        "refusing to serve metrics on {at}, because other machines can reach it and no token is asked for there: use \
         127.0.0.1, or pass --insecure"
    )]
    ExposedMetrics {
        /// The address.
        at: String,
    },
    /// The transcript cannot be written.
    #[error("cannot write the transcript {path}: {error}")]
    Transcript {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The transcript is one of the standard streams, which carry the protocol.
    #[error(
        "the transcript {path} is the standard input or output, which carries the protocol: give a file of its own, or \
         serve sockets alone"
    )]
    TranscriptOnStdio {
        /// The file.
        path: PathBuf,
    },
    /// A file of TLS cannot be used.
    #[error("TLS: {path}: {message}")]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Clients that are connected might be those whom the other way lets in.
    #[error("whether clients must show certificates (tls-client-ca) changes with a restart alone")]
    ClientCertificates,
    /// TLS is asked for.
    #[error(
        "this build of plyd has no TLS: take one with the feature `service` (cargo build --features service)"
    )]
    NoTls,
    /// A thread or the runtime cannot be started.
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}
