//! Where the server of a fleet is, from the command line.

use std::path::PathBuf;
use std::time::Duration;

use plyd_fleet::{Credentials, Ended, Ending, FleetError, Server};

use super::failure::Failure;
use super::parse;

/// The server that a command needs.
#[derive(Debug, clap::Args)]
pub(super) struct NatsArgs {
    /// The server of NATS: nats://HOST:PORT, or tls://HOST:PORT; those of a cluster separated by commas
    #[arg(long, value_name = "URL")]
    nats: String,
    #[command(flatten)]
    entry: EntryArgs,
}

/// What lets us into the server.
#[derive(Debug, clap::Args)]
struct EntryArgs {
    /// A file of credentials for the server, a JWT and a seed, as `nsc` writes it
    #[arg(long, value_name = "FILE", requires = "nats", conflicts_with = "nats_nkey")]
    nats_creds: Option<PathBuf>,
    /// A file with the seed of an nkey for the server
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_nkey: Option<PathBuf>,
    /// The authority that the server's certificate is checked with [default: those of the system]
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_ca: Option<PathBuf>,
    /// Our own certificate, if the server wants one
    #[arg(long, value_name = "FILE", requires_all = ["nats", "nats_key"])]
    nats_cert: Option<PathBuf>,
    /// The key of our certificate
    #[arg(long, value_name = "FILE", requires_all = ["nats", "nats_cert"])]
    nats_key: Option<PathBuf>,
}

/// The server of a command that may also do its work here.
#[derive(Debug, clap::Args)]
pub(super) struct QueueArgs {
    /// Have workers play the games: put them into a queue of this server of NATS, nats://HOST:PORT or
    /// tls://HOST:PORT
    #[arg(long, value_name = "URL")]
    nats: Option<String>,
    #[command(flatten)]
    entry: EntryArgs,
    /// With --nats, if the queue is not there yet: how long a worker may say nothing before its pair goes to
    /// another
    #[arg(long, value_name = "TIME", requires = "nats", default_value = "30s", value_parser = parse::duration)]
    pub(super) ack_wait: Duration,
}

/// What an interrupt of a coordinator does.
pub(super) const LEFT: &str =
    "the workers play on what is queued; the same command takes it up again, here or elsewhere";

impl QueueArgs {
    /// The server, if workers are to play.
    pub(super) fn server(&self) -> Option<Server> {
        Some(self.entry.server(self.nats.as_ref()?))
    }
}

/// What is said of a match that was cancelled.
///
/// # Errors
/// It was.
pub(super) fn check_cancelled(why: Ending) -> Result<(), Failure> {
    match why {
        Ending::Done | Ending::Halted => Ok(()),
        Ending::Cancelled => Err(Failure::Failed(
            "it was cancelled by `plyd fleet --cancel` or `--forget`; the same command begins again with what is left"
                .to_owned(),
        )),
    }
}

/// Says whose results were refused.
pub(super) fn warn_refused(ended: &Ended) {
    for (worker, count) in &ended.refused {
        tracing::warn!("{count} results of worker `{worker}` were refused, and their pairs played again");
    }
}

impl NatsArgs {
    pub(super) fn server(&self) -> Server {
        self.entry.server(&self.nats)
    }
}

impl EntryArgs {
    fn server(&self, url: &str) -> Server {
        let credentials = match (&self.nats_creds, &self.nats_nkey) {
            (Some(file), _) => Credentials::File(file.clone()),
            (None, Some(file)) => Credentials::Nkey(file.clone()),
            (None, None) => Credentials::None,
        };
        Server {
            url: url.to_owned(),
            credentials,
            authority: self.nats_ca.clone(),
            identity: self.nats_cert.clone().zip(self.nats_key.clone()),
        }
    }
}

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        match error {
            FleetError::Io(error) => Self::Io(error),
            error => Self::Failed(format!("--nats {error}")),
        }
    }
}
