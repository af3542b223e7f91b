//! Why a daemon cannot serve.

use std::io;
use std::path::PathBuf;

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
    /// A reload changes whether clients must show certificates, but some may be connected without.
    #[error("whether clients must show certificates (tls-client-ca) changes with a restart alone")]
    ClientCertificates,
    /// TLS is asked for, and this build has none.
    #[error(
        "this build of plyd has no TLS, which comes with the feature `service` (in a clone of plyd: \
         cargo install --locked --path . --features service)"
    )]
    NoTls,
    /// A thread or the runtime cannot be started.
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}
