//! `plyd serve`: the daemon, and what `plyd` alone does.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::daemon::{self, Config, Limits};
use plyd_protocol::MAX_TOKEN;
use tracing::level_filters::LevelFilter;

use super::failure::Failure;
use super::registry;

/// For a person who starts the daemon in a terminal and sees nothing happen.
const HINT: &str = "\
plyd speaks one JSON object per line here: type a request, or end with Ctrl-D. For example:
  {\"id\":\"1\",\"cmd\":\"describe\",\"what\":\"games\"}
`plyd go GAME` finds a move without the protocol; `plyd help` lists all commands.
";

/// What the longest token takes.
const TOKEN_BYTES: usize = 4 * MAX_TOKEN;
/// What a line end may take behind it.
const LINE_END_BYTES: usize = "\r\n".len();

#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Examples:
  plyd serve                                            standard input and output, like `plyd` alone
  plyd serve --tcp 127.0.0.1:7117 --tcp [::1]:7117      TCP, twice
  plyd serve --stdio --unix /run/plyd.sock -v           several at once, with a log line per connection
  plyd serve --tcp 0.0.0.0:7117 --token-file token      clients must know the token
  plyd serve --ws 127.0.0.1:7118 --ws-origin http://localhost:8080
                                                        WebSocket, also for pages from there
  plyd serve --tcp 127.0.0.1:7117 --connections 20 --idle 600 --engines 40 --hash-mb 512
                                                        lower limits, for a small machine

The log goes to stderr: what it listens on and what goes wrong; -v adds connections, -vv searches, -vvv everything. How to \
run a daemon for others, and what memory it takes: docs/operating.md.")]
pub(super) struct Args {
    /// Serve standard input and output; this is the default if nothing else is served
    #[arg(long)]
    stdio: bool,
    /// Serve TCP at this address, such as 127.0.0.1:7117 (port 0: a free one, which the log names)
    #[arg(long, value_name = "ADDR", value_parser = address)]
    tcp: Vec<String>,
    /// Serve WebSocket at this address, such as 127.0.0.1:7118, one JSON object a text message
    #[arg(long, value_name = "ADDR", value_parser = address)]
    ws: Vec<String>,
    /// Let pages of this origin use --ws, such as https://example.org; without, those of the same address
    /// alone
    #[arg(long, value_name = "ORIGIN", value_parser = origin, requires = "ws")]
    ws_origin: Vec<String>,
    /// Serve a Unix socket at this path
    #[arg(long, value_name = "PATH")]
    unix: Option<PathBuf>,
    /// Ask clients (except on standard input) for the token in this file
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Listen without a token on addresses that other machines can reach
    #[arg(long)]
    insecure: bool,
    #[command(flatten)]
    bounds: Bounds,
    #[command(flatten)]
    means: Means,
}

/// What peers may take; `hello` reports these numbers to each.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
struct Bounds {
    /// Connections over sockets that have sent hello [default: 256]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    connections: Option<u32>,
    /// Connections that have not sent hello yet; a new one replaces the oldest [default: 64]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    strangers: Option<u32>,
    /// Connections from one address, or from one IPv6 /64 network; at the limit a newcomer replaces the
    /// oldest that has not sent hello, or is refused. Users behind one router share an address [default: 0,
    /// no limit]
    #[arg(long, value_name = "N", value_parser = whole(0, u32::MAX), allow_negative_numbers = true)]
    per_address: Option<u32>,
    /// Seconds within which a connection over a socket must send hello [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    hello_within: Option<u32>,
    /// Seconds after which a connection over a socket that neither sends nor waits for anything is closed
    /// [default: 0, never]
    #[arg(long, value_name = "SECONDS", value_parser = whole(0, u32::MAX), allow_negative_numbers = true)]
    idle: Option<u32>,
    /// Seconds of silence before TCP keepalive probes; 0 for none [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = whole(0, 32_767), allow_negative_numbers = true)]
    keepalive: Option<u32>,
    /// Searches in flight over all connections; at the limit a new one is `overloaded`, or replaces one of
    /// the connection with the most. Sessions keep their trees between searches while there is room [default:
    /// 512]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    engines: Option<u32>,
    /// Memory in MiB for the pending requests of one connection; the server stops reading from it at the
    /// limit [default: 16]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    request_mb: Option<u32>,
    /// Memory in MiB for the pending requests of all connections [default: 256]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    requests_mb: Option<u32>,
    /// Memory in MiB for what the sessions of one connection remember [default: 16]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    session_mb: Option<u32>,
    /// Memory in MiB for what the sessions of all connections remember [default: 256]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    sessions_mb: Option<u32>,
    /// Once so many MiB of answers are unsent over all connections, answers above 1 MiB are refused [default:
    /// 256]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    unsent_mb: Option<u32>,
}

impl Bounds {
    /// Puts the numbers that are given in the place of the defaults.
    fn apply(&self, limits: &mut Limits) {
        let count = |field: &mut usize, given: Option<u32>| *field = given.map_or(*field, |n| n as usize);
        let mib =
            |field: &mut usize, given: Option<u32>| *field = given.map_or(*field, |n| (n as usize) << 20);
        let seconds = |field: &mut Duration, given: Option<u32>| {
            *field = given.map_or(*field, |n| Duration::from_secs(n.into()));
        };
        count(&mut limits.connections, self.connections);
        count(&mut limits.strangers, self.strangers);
        count(&mut limits.connections_per_address, self.per_address);
        seconds(&mut limits.handshake, self.hello_within);
        seconds(&mut limits.idle, self.idle);
        seconds(&mut limits.keepalive, self.keepalive);
        count(&mut limits.engines, self.engines);
        mib(&mut limits.request_bytes, self.request_mb);
        mib(&mut limits.request_bytes_in_all, self.requests_mb);
        mib(&mut limits.session_bytes, self.session_mb);
        mib(&mut limits.session_bytes_in_all, self.sessions_mb);
        mib(&mut limits.unsent_bytes_in_all, self.unsent_mb);
    }
}

/// What any daemon may be given, whatever it serves.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Means {
    /// Search threads that run at once, 1 to 256 [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = whole(1, 256), allow_negative_numbers = true)]
    threads: Option<u32>,
    /// How much lower the priority of search threads is than that of the threads that read and write: 0
    /// (equal) to 19 [default: 1, or 0 if only standard input and output are served]
    #[arg(long, value_name = "N", value_parser = whole(0, 19), allow_negative_numbers = true)]
    search_nice: Option<u32>,
    /// Memory of all hash tables in MiB [default: 1024]
    #[arg(long, value_name = "N", value_parser = whole(1, u32::MAX), allow_negative_numbers = true)]
    hash_mb: Option<u32>,
    /// Append every line of every connection to this file, without tokens; only its owner can read a new one.
    /// It grows for ever: to start another, rename it and restart the server
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    /// Log more; may be given up to three times
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl Args {
    /// What is logged.
    pub(super) fn verbosity(&self) -> LevelFilter {
        self.means.verbosity()
    }
}

impl Means {
    /// A daemon that serves nothing yet; `listens` if it is to serve sockets.
    pub(super) fn config(self, listens: bool) -> Config {
        let mut limits = Limits::default();
        if let Some(threads) = self.threads {
            limits.cores = threads as usize;
        }
        if let Some(mb) = self.hash_mb {
            limits.hash_bytes = u64::from(mb) << 20;
        }
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

pub(super) fn run(args: Args) -> Result<(), Failure> {
    let listens = !args.tcp.is_empty() || !args.ws.is_empty() || args.unix.is_some();
    let stdio = args.stdio || !listens;
    if stdio && io::stdin().is_terminal() {
        let _nobody_reads = io::stderr().write_all(HINT.as_bytes());
    }
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let Args { tcp, ws, ws_origin: ws_origins, unix, insecure, bounds, means, .. } = args;
    let mut config = Config { stdio, tcp, ws, ws_origins, unix, token, insecure, ..means.config(listens) };
    bounds.apply(&mut config.limits);
    daemon::run(config, registry::games()).map_err(Failure::from)
}

/// What reads a whole number of that range.
fn whole(min: u32, max: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| match text.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ if max == u32::MAX => Err(format!("give a whole number from {min}")),
        _ => Err(format!("give a whole number from {min} to {max}")),
    }
}

/// An address with a port; names are looked up when the daemon binds.
fn address(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err("give a host and a port, such as 127.0.0.1:7117".into()),
    }
}

/// An origin, as browsers write it.
fn origin(text: &str) -> Result<String, String> {
    daemon::check_origin(text).map(|()| text.to_owned())
}

/// The token in a file, without the line end that editors add.
pub(super) fn read_token(path: &Path) -> Result<String, Failure> {
    let usage = |message: String| Failure::Usage(format!("--token-file {}: {message}", path.display()));
    let file = File::open(path).map_err(|error| usage(error.to_string()))?;
    // The file may be one without end, such as a device.
    let (most, mut bytes) = (TOKEN_BYTES + LINE_END_BYTES, Vec::new());
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| usage(error.to_string()))?;
    let too_long =
        || usage(format!("the file holds more than a token, which has at most {MAX_TOKEN} characters"));
    if bytes.len() > most {
        return Err(too_long());
    }
    let text = str::from_utf8(&bytes).map_err(|error| usage(error.to_string()))?;
    let token = text.trim_end_matches(['\r', '\n']);
    if token.is_empty() {
        return Err(usage("the file is empty; write the token into it".into()));
    }
    if token.chars().count() > MAX_TOKEN {
        return Err(too_long());
    }
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_a_host_and_a_port() {
        for (text, good) in
            [("127.0.0.1:0", true), ("[::1]:7117", true), ("localhost:7117", true), (":1", false)]
                .into_iter()
                .chain([("localhost", false), ("7117", false), ("localhost:70000", false)])
        {
            assert_eq!(address(text).is_ok(), good, "{text}");
        }
    }
}
