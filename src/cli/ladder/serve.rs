//! `plyd ladder serve`: the ladder's sockets, signals and certificates; what it does is
//! [`plyd_ladder::serve`]'s.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use plyd_ladder::live::Live;
use plyd_ladder::pages;
use plyd_ladder::serve::{BoxedStream, Handshake, LOG, Listener, Listeners, ServeError, Settings, serve};
use plyd_ladder::store::{Store, StoreError, StoreHandle};
use plyd_protocol::newcomers::Progress;
use plyd_protocol::signals::Hangups;
use tokio::net::{TcpListener, TcpStream};
use tracing::level_filters::LevelFilter;

use super::place::{Place, failed};
use crate::cli::failure::Failure;
use crate::cli::interrupt::asked_to_end;
use crate::cli::system::raise_open_files;
use crate::cli::verbosity::{Filter, Verbosity};
use crate::cli::{connect, registry};
use crate::daemon::page::{Content, Page};
use crate::daemon::{LISTENING, TlsAcceptor, TlsFiles, is_local};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder serve --tcp 127.0.0.1:7127 --http 127.0.0.1:7128    on this machine
  plyd ladder serve --tcp 0.0.0.0:7127 --http 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem \\
      --dial wss://ladder.example                     encrypted; also tls://ladder.example:7127
  plyd ladder serve --http 127.0.0.1:7128 --behind-proxy --dial wss://ladder.example
                                                      behind a proxy that takes HTTPS and wss://

SIGTERM and Ctrl-C begin no further game and stop the ladder, with --drain-ms once games are over. Unfinished games go on \
at the next start, with their clocks as they were. A second signal stops it at once. SIGHUP reads the certificates again.")]
pub(super) struct Args {
    /// Listen for bots, a line of JSON each; port 0 for any free one. Several times for several addresses
    #[arg(long, value_name = "ADDR", value_parser = listened)]
    tcp: Vec<SocketAddr>,
    /// Listen for browsers, and for bots over WebSockets
    #[arg(long, value_name = "ADDR", value_parser = listened)]
    http: Vec<SocketAddr>,
    /// Encrypt all of that, with the certificate chain in this file (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key to it
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Let other machines connect unencrypted: tokens can be read on the way
    #[arg(long)]
    insecure: bool,
    /// Each request comes through a proxy, which writes the client's address into X-Forwarded-For
    #[arg(long)]
    behind_proxy: bool,
    /// The most encounters at once; an encounter is a pair of games, with sides swapped
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    encounters: u32,
    /// The most encounters of one bot at once, whatever it offers
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=64))]
    encounters_of_bot: u32,
    /// The most encounters of one house bot at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=64))]
    encounters_of_house_bot: u32,
    /// How many threads house bots think on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    house_threads: u16,
    /// Milliseconds between two rounds of pairing
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    round_ms: u64,
    /// How long a bot waits before a house bot may be its opponent
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    house_after_ms: u64,
    /// After a start, how long the clocks of unfinished games stand still until their bots are back; a game
    /// to which neither bot comes back is void
    #[arg(long, value_name = "MS", default_value_t = 600_000)]
    back_ms: u64,
    /// How long games may go on after the signal to stop
    #[arg(long, value_name = "MS", default_value_t = 0)]
    drain_ms: u64,
    /// How long bots are asked to wait before they dial a ladder again that has stopped
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    retry_ms: u64,
    /// The most connections of bots
    #[arg(long, value_name = "N", default_value_t = 1000)]
    connections: usize,
    /// The most connections of bots from one address
    #[arg(long, value_name = "N", default_value_t = 100)]
    connections_per_address: usize,
    /// The most connections of browsers to --http; WebSockets count as connections of bots
    #[arg(long, value_name = "N", default_value_t = 2000)]
    http_connections: usize,
    /// The most connections of browsers from one address
    #[arg(long, value_name = "N", default_value_t = 200)]
    http_connections_per_address: usize,
    /// The most requests of one address in a second, in the long run; six times as many at once
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    requests_per_address: u32,
    /// The most spectators of one address: pages with a live game, or with the list of those that are played
    #[arg(long, value_name = "N", default_value_t = 20)]
    spectators_per_address: usize,
    /// The ladder's name, for the pages
    #[arg(long, value_name = "TEXT", default_value = "plyd ladder")]
    name: String,
    /// The address that bots dial, for the commands that the pages show, such as wss://ladder.example
    /// [default: the first address of --http, else of --tcp; required with --behind-proxy and with 0.0.0.0]
    #[arg(long, value_name = "URL", value_parser = dialled)]
    dial: Option<String>,
    /// Log warnings and errors alone, not who comes and how games end
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    place: Place,
}

fn listened(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an IP address and a port, such as 127.0.0.1:7127".to_owned())
}

pub(super) fn run(args: Args, verbosity: &Verbosity) -> Result<(), Failure> {
    if args.tcp.is_empty() && args.http.is_empty() {
        return Err(Failure::Usage("nothing would be served: give --tcp or --http".into()));
    }
    let is_plain = args.tls_cert.is_none() && !args.insecure;
    if let Some(address) = args.tcp.iter().chain(&args.http).find(|address| is_plain && !is_local(**address))
    {
        return Err(Failure::Usage(format!(
            "other machines would send tokens to {address} unencrypted: give --tls-cert and --tls-key, or --insecure"
        )));
    }
    if args.dial.is_none()
        && let Some(first) = args.http.first().or(args.tcp.first())
        && (args.behind_proxy || first.ip().is_unspecified())
    {
        return Err(Failure::Usage(format!(
            "the commands to join cannot name {first}, which bots do not dial: give --dial, such as wss://ladder.example"
        )));
    }
    let level = if args.quiet { LevelFilter::WARN } else { LevelFilter::INFO };
    verbosity.set(&Filter::from(level));
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => {
            let files = TlsFiles { cert: cert.clone(), key: key.clone(), client_ca: None };
            let acceptor = TlsAcceptor::load(&files)?;
            Some(Arc::new(Tls { acceptor, files }))
        }
        _ => None,
    };
    descriptors(&args);
    // Before there is a runtime: PostgreSQL's client has one of its own, and each thread has one at most.
    let handle = keep(Store::serve(&args.place.db))?;
    let reader = keep(Store::open(&args.place.db))?;
    let settings = settings(&args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let stop = asked_to_end(|| {
            tracing::warn!(target: LOG, "it ends at once; games that are not over go on at the next start");
        })?;
        if let Some(tls) = &tls {
            tokio::spawn(reload(Hangups::install()?, Arc::clone(tls)));
        }
        let listeners = listeners(&args, tls.as_ref()).await?;
        let dial = dial(&args, &listeners)?;
        let pages = |handle: &StoreHandle, live: &Live| pages(&args, dial, [handle.clone(), reader], live);
        serve(handle, registry::games(), settings, listeners, pages, stop).await.map_err(
            |error| match error {
                ServeError::Store(error) => failed(error),
                error @ ServeError::Io(_) => Failure::Failed(error.to_string()),
            },
        )
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Gives a store its thread.
fn keep(opened: Result<Store, StoreError>) -> Result<StoreHandle, Failure> {
    Ok(StoreHandle::new(opened.map_err(failed)?)?)
}

/// What browsers see. It reads by a store of its own, the second one, so that nobody who looks keeps a game
/// waiting.
fn pages(
    args: &Args,
    dial: String,
    [handle, reader]: [StoreHandle; 2],
    live: &Live,
) -> Result<axum::Router, ServeError> {
    let settings = pages::Settings {
        name: args.name.clone(),
        dial,
        over_tls: is_over_tls(args),
        behind_proxy: args.behind_proxy,
        limits: pages::Limits {
            requests_a_second: args.requests_per_address,
            burst: 6 * args.requests_per_address,
            spectators_of_address: args.spectators_per_address,
            ..pages::Limits::default()
        },
        ..pages::Settings::default()
    };
    let boards = |path: &str| {
        let Content { mime, bytes } = Page::new(registry::games()).content(path)?;
        Some(pages::File { mime, bytes })
    };
    let parts = pages::Parts {
        handle,
        reader,
        live: live.clone(),
        games: registry::games(),
        boards: Arc::new(boards),
        settings,
    };
    Ok(pages::router(parts)?)
}

/// Whether browsers and bots reach the ladder over TLS.
fn is_over_tls(args: &Args) -> bool {
    args.tls_cert.is_some() || args.behind_proxy
}

/// What `plyd connect` can dial.
fn dialled(text: &str) -> Result<String, String> {
    connect::ladder(text).map(|_| text.to_owned())
}

/// What bots dial, for the commands that the pages show, with the flag without which `plyd connect` sends no
/// token there.
fn dial(args: &Args, listeners: &Listeners) -> io::Result<String> {
    let dial = address(args, listeners)?;
    let is_safe = connect::ladder(&dial).is_ok_and(|address| connect::is_safe(&address));
    Ok(if is_safe { dial } else { format!("{dial} --insecure") })
}

/// Where bots find the ladder.
fn address(args: &Args, listeners: &Listeners) -> io::Result<String> {
    if let Some(dial) = &args.dial {
        return Ok(dial.clone());
    }
    let over_tls = is_over_tls(args);
    let (scheme, listener) = match (listeners.web.first(), listeners.bots.first()) {
        (Some(listener), _) => (if over_tls { "wss" } else { "ws" }, listener),
        (None, Some(listener)) => (if over_tls { "tls" } else { "tcp" }, listener),
        (None, None) => return Ok(String::new()),
    };
    // The port that was asked for may be any free one.
    Ok(format!("{scheme}://{}", listener.socket.local_addr()?))
}

fn settings(args: &Args) -> Result<Settings, Failure> {
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(io::Error::from)?;
    let ms = Duration::from_millis;
    let mut settings = Settings::new(crate::cli::signed_build::builds()?, u64::from_ne_bytes(seed));
    settings.games = args.encounters as usize;
    settings.games_of_bot = args.encounters_of_bot;
    settings.house_games = args.encounters_of_house_bot;
    settings.house_threads = usize::from(args.house_threads);
    settings.round = ms(args.round_ms);
    settings.matchmaker.house_after = ms(args.house_after_ms);
    settings.back_within = ms(args.back_ms);
    settings.drain = ms(args.drain_ms);
    settings.retry = ms(args.retry_ms);
    settings.behind_proxy = args.behind_proxy;
    settings.lobby.connections = args.connections;
    settings.lobby.connections_of_address = args.connections_per_address;
    // After a restart all of them come at once, and some twice.
    settings.lobby.offers_at_once =
        u32::try_from(args.connections_per_address).map_or(u32::MAX, |all| all.saturating_mul(2));
    settings.http.connections = args.http_connections;
    settings.http.connections_of_address = args.http_connections_per_address;
    Ok(settings)
}

/// What the ladder opens beside connections: databases, listeners, handshakes.
const OTHER_FILES: u64 = 400;

/// Raises the limit of open files as far as the system allows, and warns if connections may not find room.
fn descriptors(args: &Args) {
    let needed =
        (args.connections as u64).saturating_add(args.http_connections as u64).saturating_add(OTHER_FILES);
    if let Some(files) = raise_open_files().filter(|files| *files < needed) {
        tracing::warn!(
            target: LOG,
            files,
            needed,
            "the system allows too few open files: raise `ulimit -n`, or give fewer --connections and \
             --http-connections"
        );
    }
}

/// Listens everywhere before anything is served.
async fn listeners(args: &Args, tls: Option<&Arc<Tls>>) -> Result<Listeners, Failure> {
    let mut listeners = Listeners::default();
    let [line, page] = if tls.is_some() { ["tls://", "https://"] } else { ["tcp://", "http://"] };
    for address in &args.tcp {
        listeners.bots.push(listen(*address, line, tls).await?);
    }
    for address in &args.http {
        listeners.web.push(listen(*address, page, tls).await?);
    }
    Ok(listeners)
}

async fn listen(address: SocketAddr, scheme: &str, tls: Option<&Arc<Tls>>) -> Result<Listener, Failure> {
    let wrong = |error: io::Error| Failure::Failed(format!("cannot listen on {address}: {error}"));
    let socket = TcpListener::bind(address).await.map_err(wrong)?;
    let bound = socket.local_addr().map_err(wrong)?;
    tracing::info!(target: LISTENING, "listening on {scheme}{bound}");
    let tls = tls.map(|tls| Arc::clone(tls) as Arc<dyn Handshake>);
    Ok(Listener { socket, tls })
}

/// The ladder's end of TLS, with the files of its certificates.
struct Tls {
    acceptor: TlsAcceptor,
    files: TlsFiles,
}

impl Handshake for Tls {
    fn shake_hands(
        &self,
        stream: TcpStream,
        progress: Progress,
    ) -> Pin<Box<dyn Future<Output = io::Result<BoxedStream>> + Send + '_>> {
        Box::pin(async move { Ok(Box::new(self.acceptor.accept(stream, progress).await?) as BoxedStream) })
    }
}

/// Reads the certificates again at each SIGHUP.
async fn reload(mut hangups: Hangups, tls: Arc<Tls>) {
    loop {
        hangups.next().await;
        match tls.acceptor.reload(&tls.files) {
            Ok(()) => tracing::info!(target: LOG, "the certificates are read again"),
            Err(error) => tracing::error!(target: LOG, %error, "the certificates before stay in use"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, clap::Parser)]
    struct Serve {
        #[command(flatten)]
        args: Args,
    }

    #[tokio::test]
    async fn bots_are_shown_what_they_can_dial() {
        for (flags, scheme, is_web) in [
            (&["--http", "127.0.0.1:0", "--tcp", "127.0.0.1:0"][..], "ws", true),
            (&["--http", "127.0.0.1:0", "--behind-proxy"], "wss", true),
            (&["--tcp", "127.0.0.1:0"], "tcp", false),
        ] {
            let args = Serve::parse_from([&["serve"], flags].concat()).args;
            let listeners = listeners(&args, None).await.unwrap();
            let listener = if is_web { &listeners.web[0] } else { &listeners.bots[0] };
            let bound = listener.socket.local_addr().unwrap();
            assert_ne!(bound.port(), 0);
            assert_eq!(dial(&args, &listeners).unwrap(), format!("{scheme}://{bound}"));
        }
        // As `plyd connect` takes it.
        for (given, shown) in [
            ("wss://a.example", "wss://a.example"),
            ("ws://192.0.2.1:7128", "ws://192.0.2.1:7128 --insecure"),
            ("tcp=192.0.2.1:7127", "tcp=192.0.2.1:7127 --insecure"),
        ] {
            let args = Serve::parse_from(["serve", "--http", "127.0.0.1:0", "--dial", given]).args;
            assert_eq!(dial(&args, &listeners(&args, None).await.unwrap()).unwrap(), shown);
        }
        for wrong in ["https://a.example", "a.example", "ws://a.example"] {
            assert!(
                Serve::try_parse_from(["serve", "--http", "127.0.0.1:0", "--dial", wrong]).is_err(),
                "{wrong}"
            );
        }
    }
}
