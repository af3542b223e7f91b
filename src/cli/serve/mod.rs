//! `plyd serve`: the daemon, and what `plyd` alone does.

mod clients;
mod file;
mod given;
mod keys;
mod logging;
mod show;
mod sources;
mod values;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::daemon::{self, Config, Handed, Limits, ServiceManager, TlsFiles, TokenHash};
use tracing::level_filters::LevelFilter;

use super::failure::Failure;
use super::registry;
use super::token_file::read_token;
use super::verbosity::Verbosity;

use logging::{Log, Logging};
use show::{show, show_json};
use sources::Gathered;
use values::{address, origin, switch, whole};

pub(super) use clients::{Rights, name as client_name, read_clients};
pub(super) use keys::Kind;
pub(super) use sources::{AllInForce, Given, InForce, defaults};

/// For a person who starts the daemon in a terminal and sees nothing happen.
const HINT: &str = "\
plyd speaks one JSON object per line here: type a request, or end with Ctrl-D. For example:
  {\"id\":\"1\",\"cmd\":\"describe\",\"what\":\"games\"}
`plyd go GAME` finds a move without the protocol; `plyd help` lists all commands.
";

#[derive(Debug, Default, clap::Args)]
pub(super) struct Args {
    /// Read and check all settings, print each with the place that it comes from, and serve nothing
    #[arg(long)]
    check: bool,
    /// With --check: print one JSON object
    #[arg(long, requires = "check")]
    json: bool,
    #[command(flatten)]
    given: Given,
}

/// Which settings are read beside the flags.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// Read settings from this TOML file, too: `plyd config example` prints one. What stands in the
    /// environment (--hash-mb as PLYD_SERVE_HASH_MB, and so on) overrides the file, and flags override both.
    /// SIGHUP reads the file again
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Take no settings from the environment
    #[arg(long)]
    no_env: bool,
}

/// What may stand in any source of settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd serve                                            standard input and output, like `plyd` alone
  plyd serve --tcp 127.0.0.1:7117 --tcp [::1]:7117      TCP, twice
  plyd serve --stdio --unix /run/plyd.sock -v           several at once, with a log line per connection
  plyd serve --tcp 0.0.0.0:7117 --token-file token      clients must know the token
  plyd serve --tcp 0.0.0.0:7117 --clients-file clients.toml
                                                        each client has a token, a role and limits of its own
  plyd serve --ws 127.0.0.1:7118 --ws-origin http://localhost:8080
                                                        WebSocket, also for pages from there
  plyd serve --tcp 0.0.0.0:7117 --token-file token --tls-cert cert.pem --tls-key key.pem
                                                        the same over TLS
  plyd serve --tcp 127.0.0.1:7117 --connections 20 --idle 600 --engines 40 --hash-mb 512
                                                        lower limits, for a small machine
  plyd serve --config plyd.toml --check                 whether the settings are good

The log goes to stderr: what it listens on and what goes wrong; -v adds connections and what is refused, -vv searches, -vvv \
everything. How to run a daemon for others, and what memory it takes: docs/operating.md.")]
pub(super) struct Settings {
    /// Serve standard input and output; this is the default if nothing else is served
    #[arg(long, value_name = "true|false", value_parser = switch, action = clap::ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    stdio: Option<bool>,
    /// Serve TCP at this address, such as 127.0.0.1:7117 (port 0: a free one, which the log names)
    #[arg(long, value_name = "ADDR", value_parser = address)]
    tcp: Vec<String>,
    /// Serve WebSocket at this address, such as 127.0.0.1:7118, one JSON object a text message
    #[arg(long, value_name = "ADDR", value_parser = address)]
    ws: Vec<String>,
    /// Let pages of this origin use --ws, such as https://example.org; without it only pages of the same
    /// address may. With it, clients without a name may not see or end the connections of others
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    ws_origin: Vec<String>,
    /// Serve metrics for Prometheus at this address, such as 127.0.0.1:7120, and the probes /healthz and
    /// /readyz. No token is asked for there, so other machines may reach it only with --insecure
    #[arg(long, value_name = "ADDR", value_parser = address)]
    metrics: Option<String>,
    /// Serve --tcp and --ws over TLS alone, with the certificate chain in this file (PEM). SIGHUP reads it
    /// and the key again. Needs a build with the feature `service`
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The private key of that certificate (PEM)
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Admit only clients that show a certificate of an authority in this file (PEM); then other machines
    /// need no token
    #[arg(long, value_name = "FILE")]
    tls_client_ca: Option<PathBuf>,
    /// Serve a Unix socket at this path
    #[arg(long, value_name = "PATH")]
    unix: Option<PathBuf>,
    /// Ask clients (except on standard input) for the token in this file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Ask clients (except on standard input) for a token of their own; this TOML file has the name, the role
    /// and the limits of each. `plyd token new` adds a client, SIGHUP reads the file again. It may come with
    /// --token-file, whose token allows everything but to see and end the connections of others
    #[arg(long, value_name = "FILE")]
    clients_file: Option<PathBuf>,
    /// Listen without a token on addresses that other machines can reach
    #[arg(long, value_name = "true|false", value_parser = switch, action = clap::ArgAction::Set,
        num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
        hide_default_value = true)]
    insecure: bool,
    #[command(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    means: Means,
    #[command(flatten)]
    logging: Logging,
    /// Whether there are sockets to serve that a service manager made.
    #[arg(skip)]
    has_handed: bool,
}

/// What peers may take; `hello` reports these numbers to each.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
struct Bounds {
    /// Connections over sockets that have sent hello
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().connections as u32)]
    connections: u32,
    /// Connections that have not sent hello yet; a new one replaces the oldest
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().strangers as u32)]
    strangers: u32,
    /// Connections from one address, or from one IPv6 /64 network, or 0 for no limit; at the limit a
    /// newcomer replaces the oldest that has not sent hello, or is refused. Users behind one router share an
    /// address
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().connections_per_address as u32)]
    per_address: u32,
    /// Seconds within which a connection over a socket must send hello
    #[arg(long, value_name = "SECONDS", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().handshake.as_secs() as u32)]
    hello_within: u32,
    /// Lines that are no requests after which a connection that has not sent hello is closed
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().bad_lines)]
    bad_lines: u32,
    /// Seconds after which a connection over a socket that neither sends nor waits for anything is closed,
    /// or 0 for never
    #[arg(long, value_name = "SECONDS", value_parser = whole(0, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().idle.as_secs() as u32)]
    idle: u32,
    /// Milliseconds for which a connection over a socket may outlive that socket, if its hello asks for it:
    /// its searches go on, and its client may come back over another socket and miss nothing. 0 for never
    #[arg(long, value_name = "MS", value_parser = whole(0, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().resume.as_millis() as u32)]
    resume_ms: u32,
    /// Connections that may outlive their sockets, counted from their hello on. A client (without names: an
    /// address) gets no further one once it has as many as are still free
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().resume_connections as u32)]
    resume_connections: u32,
    /// Memory in MiB for the last messages of each connection that may outlive its socket, to send them
    /// again; and as much again, on average, for messages that wait while its client is away
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = mib(Limits::default().resume_bytes))]
    resume_mb: u32,
    /// Milliseconds that searches in flight may go on when SIGTERM ends the daemon; with 0 they answer at
    /// once. New ones are refused meanwhile, and a second signal does not wait
    #[arg(long, value_name = "MS", value_parser = whole(0, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().drain.as_millis() as u32)]
    drain_ms: u32,
    /// Seconds of silence before TCP keepalive probes; 0 for none
    #[arg(long, value_name = "SECONDS", value_parser = whole(0, 32_767), allow_negative_numbers = true,
        default_value_t = Limits::default().keepalive.as_secs() as u32)]
    keepalive: u32,
    /// Seconds of silence before a WebSocket peer is sent a ping; after as many more without a word it is cut
    /// off
    #[arg(long, value_name = "SECONDS", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().silence.as_secs() as u32)]
    silence: u32,
    /// Searches in flight over all connections; at the limit a new one is refused as `overloaded`, or
    /// replaces a search of the connection that has the most. Sessions keep their trees between searches
    /// while there is room
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = Limits::default().engines as u32)]
    engines: u32,
    /// Memory in MiB for the pending requests of one connection; the server stops reading from it at the
    /// limit
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = mib(Limits::default().request_bytes))]
    request_mb: u32,
    /// Memory in MiB for the pending requests of all connections
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = mib(Limits::default().request_bytes_in_all))]
    requests_mb: u32,
    /// Memory in MiB for what the sessions of one connection remember
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = mib(Limits::default().session_bytes))]
    session_mb: u32,
    /// Memory in MiB for what the sessions of all connections remember
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = mib(Limits::default().session_bytes_in_all))]
    sessions_mb: u32,
    /// Memory in MiB for unsent answers of all connections; past that, clients that do not read their answers
    /// have to wait with further requests
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = mib(Limits::default().unsent_bytes_in_all))]
    unsent_mb: u32,
}

impl Bounds {
    fn apply(&self, limits: &mut Limits) {
        let bytes = |mib: u32| (mib as usize) << 20;
        let seconds = |number: u32| Duration::from_secs(number.into());
        limits.connections = self.connections as usize;
        limits.strangers = self.strangers as usize;
        limits.connections_per_address = self.per_address as usize;
        limits.handshake = seconds(self.hello_within);
        limits.bad_lines = self.bad_lines;
        limits.idle = seconds(self.idle);
        limits.keepalive = seconds(self.keepalive);
        limits.silence = seconds(self.silence);
        limits.resume = Duration::from_millis(self.resume_ms.into());
        limits.resume_connections = self.resume_connections as usize;
        limits.resume_bytes = bytes(self.resume_mb);
        limits.drain = Duration::from_millis(self.drain_ms.into());
        limits.engines = self.engines as usize;
        limits.request_bytes = bytes(self.request_mb);
        limits.request_bytes_in_all = bytes(self.requests_mb);
        limits.session_bytes = bytes(self.session_mb);
        limits.session_bytes_in_all = bytes(self.sessions_mb);
        limits.unsent_bytes_in_all = bytes(self.unsent_mb);
    }
}

/// A number of bytes in MiB.
fn mib(bytes: usize) -> u32 {
    (bytes >> 20) as u32
}

/// What any daemon may be given, whatever it serves.
#[derive(Debug, clap::Args)]
pub(super) struct Means {
    /// Search threads that run at once, 1 to 256 [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = whole(1, 256), allow_negative_numbers = true)]
    threads: Option<u32>,
    /// How much lower the priority of search threads is than that of the threads that read and write: 0
    /// (equal) to 19 [default: 1, or 0 if only standard input and output are served]
    #[arg(long, value_name = "N", value_parser = whole(0, 19), allow_negative_numbers = true)]
    search_nice: Option<u32>,
    /// Memory of all hash tables in MiB
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true,
        default_value_t = mib(Limits::default().hash_bytes as usize))]
    hash_mb: u32,
    /// Append every line of every connection to this file, without tokens; only its owner can read a new one.
    /// It grows for ever; docs/operating.md says how to start another
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Log connections; twice: searches as well; three times: everything
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl Settings {
    fn listens(&self) -> bool {
        !self.tcp.is_empty() || !self.ws.is_empty() || self.unix.is_some() || self.has_handed
    }

    /// Whether it serves the standard streams.
    fn serves_stdio(&self) -> bool {
        self.stdio.unwrap_or(!self.listens())
    }

    /// What is to be logged.
    fn log(&self) -> Log {
        self.logging.log(self.means.verbosity())
    }

    /// What a setting is that nobody sets, if that depends on the others or on the machine.
    fn unset(&self, name: &str) -> Option<String> {
        match name {
            "stdio" => Some(self.serves_stdio().to_string()),
            "threads" => Some(Limits::default().cores.to_string()),
            "search-nice" => Some(u8::from(self.listens()).to_string()),
            _ => None,
        }
    }

    /// A setting that another one must come with, and what to do about it.
    fn contradiction(&self) -> Option<(&'static str, &'static str)> {
        if !self.serves_stdio() && !self.listens() {
            return Some(("stdio", "nothing would be served; give `tcp`, `ws` or `unix` as well"));
        }
        match (&self.tls_cert, &self.tls_key, &self.tls_client_ca) {
            (Some(_), None, _) => return Some(("tls-cert", "give its key with `tls-key` as well")),
            (None, Some(_), _) => return Some(("tls-key", "give its certificate with `tls-cert` as well")),
            (None, None, Some(_)) => {
                return Some((
                    "tls-client-ca",
                    "nothing is served over TLS; give `tls-cert` and `tls-key` as well",
                ));
            }
            _ => {}
        }
        let is_idle = !self.ws_origin.is_empty() && self.ws.is_empty() && !self.has_handed;
        is_idle.then_some(("ws-origin", "nothing serves WebSocket; give an address with `ws` as well"))
    }

    /// The daemon that they describe.
    ///
    /// # Errors
    /// The file of the token cannot be read, or holds none; or something is wrong with that of the clients.
    fn config(self) -> Result<Config, Failure> {
        let (stdio, listens) = (self.serves_stdio(), self.listens());
        let token = self.token_file.as_deref().map(read_token).transpose()?;
        let clients = self.clients_file.as_deref().map(read_clients).transpose()?;
        if let Some(token) = &token {
            let hash = TokenHash::of(token);
            if let Some(client) = clients.iter().flatten().find(|client| client.token == hash) {
                let message = format!("the client {} has the token of --token-file", client.name);
                return Err(Failure::Usage(message + ": give it another one"));
            }
        }
        self.token_file.iter().chain(&self.clients_file).for_each(|path| clients::warn_if_others_read(path));
        let Self { tcp, ws, ws_origin: ws_origins, metrics, unix, insecure, bounds, means, .. } = self;
        let tls = self.tls_cert.zip(self.tls_key);
        let tls = tls.map(|(cert, key)| TlsFiles { cert, key, client_ca: self.tls_client_ca });
        let mut config = Config {
            stdio,
            tcp,
            ws,
            ws_origins,
            metrics,
            tls,
            unix,
            token,
            clients,
            insecure,
            ..means.config(listens)
        };
        bounds.apply(&mut config.limits);
        Ok(config)
    }
}

impl Means {
    /// A daemon that serves nothing yet; `listens` if it is to serve sockets.
    pub(super) fn config(self, listens: bool) -> Config {
        let mut limits = Limits::default();
        if let Some(threads) = self.threads {
            limits.cores = threads as usize;
        }
        limits.hash_bytes = u64::from(self.hash_mb) << 20;
        let search_nice = self.search_nice.map_or(listens.into(), |nice| nice as u8);
        Config { transcript: self.transcript, search_nice, limits, ..Config::default() }
    }

    /// What is logged.
    pub(super) fn verbosity(&self) -> LevelFilter {
        match self.verbose {
            0 => LevelFilter::WARN,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        }
    }
}

pub(super) fn run(
    Args { check, json, given }: Args,
    handed: Handed,
    verbosity: Verbosity,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let has_handed = !handed.is_empty();
    let gathered = given.gather(has_handed)?;
    let log = gathered.settings.log();
    log.apply(&verbosity);
    if check {
        let list = gathered.list();
        let config = gathered.settings.config()?;
        config.check().map_err(|error| Failure::Usage(error.to_string()))?;
        return if json { show_json(&list, out) } else { show(&list, out) };
    }
    // Certificates end before the daemon does, and clients come and go.
    let is_read_again = gathered.is_read_again();
    let listens = gathered.settings.listens();
    let mut config = gathered.settings.config()?;
    if config.stdio && io::stdin().is_terminal() {
        let _nobody_reads = io::stderr().write_all(HINT.as_bytes());
    }
    if is_read_again {
        config.reload = Some(Box::new(Rereading { given, has_handed, verbosity, log }));
    }
    config.handed = handed;
    if listens {
        config.manager = service_manager();
    }
    daemon::run(config, registry::games()).map_err(Failure::from)
}

/// Who hears how the daemon is. A daemon that speaks on its standard streams alone is not a service but
/// belongs to the program that started it, and that may be one.
fn service_manager() -> Option<Arc<ServiceManager>> {
    match ServiceManager::from_env() {
        Ok(manager) => manager.map(Arc::new),
        Err(error) => {
            tracing::warn!(%error, "NOTIFY_SOCKET is of no use: the service manager gets no messages");
            None
        }
    }
}

/// Reads the settings again while the daemon runs.
#[derive(Debug)]
struct Rereading {
    given: Given,
    has_handed: bool,
    verbosity: Verbosity,
    /// What is to be logged once the daemon has taken what was read.
    log: Log,
}

impl daemon::Reload for Rereading {
    fn read(&mut self) -> Result<Config, String> {
        let Gathered { settings, .. } = self.given.gather(self.has_handed).map_err(one_line)?;
        self.log = settings.log();
        settings.config().map_err(one_line)
    }

    fn applied(&mut self) {
        self.log.apply(&self.verbosity);
    }
}

/// A failure as a line of the log has it.
fn one_line(failure: Failure) -> String {
    failure.to_string().replace('\n', "; ")
}
