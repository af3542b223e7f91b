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
use plyd_ladder::store::{Keeper, Store};
use rustix::rand::{GetRandomFlags, getrandom};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::level_filters::LevelFilter;

use super::place::{Place, failed};
use crate::cli::failure::Failure;
use crate::cli::registry;
use crate::cli::verbosity::{Filter, Verbosity};
use crate::client::signals::Signals;
use crate::daemon::page::{Content, Page};
use crate::daemon::{LISTENING, TlsAcceptor, TlsFiles, is_local};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd ladder serve --tcp 127.0.0.1:7127 --http 127.0.0.1:7128       on this machine
  plyd ladder serve --tcp 0.0.0.0:7127 --http 0.0.0.0:443 --tls-cert cert.pem --tls-key key.pem
                                                                     bots dial tls://HOST:7127 or wss://HOST
  plyd ladder serve --http 127.0.0.1:7128 --behind-proxy             a proxy takes HTTPS and wss://

SIGTERM and Ctrl-C: no further game begins. Games that are not over go on at the next start, with their clocks as they \
were; a second signal does not wait for them. SIGHUP reads the certificates again.")]
pub(super) struct Args {
    /// Listen for bots, a line of JSON each; port 0 for any free one. Several times for several addresses
    #[arg(long, value_name = "ADDR")]
    tcp: Vec<SocketAddr>,
    /// Listen for browsers, and for bots over WebSockets
    #[arg(long, value_name = "ADDR")]
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
    /// Each request comes through a proxy, which writes whose it is into X-Forwarded-For
    #[arg(long)]
    behind_proxy: bool,
    /// The most encounters at once
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    encounters: u32,
    /// The most of one bot, whatever it offers
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=64))]
    encounters_of_bot: u32,
    /// The most of one house bot
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=64))]
    encounters_of_house_bot: u32,
    /// How many threads house bots think on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    house_threads: u16,
    /// How often bots are paired
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    round_ms: u64,
    /// How long a bot waits before a house bot may be its opponent
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    house_after_ms: u64,
    /// How long the clocks of games that go on wait after a start for their bots; a game without both is void
    #[arg(long, value_name = "MS", default_value_t = 600_000)]
    back_ms: u64,
    /// How long games may go on once the ladder is to stop
    #[arg(long, value_name = "MS", default_value_t = 0)]
    drain_ms: u64,
    /// After how long bots may dial again once it has stopped
    #[arg(long, value_name = "MS", default_value_t = 5000)]
    retry_ms: u64,
    /// The most connections of bots
    #[arg(long, value_name = "N", default_value_t = 1000)]
    connections: usize,
    /// The most of them from one address
    #[arg(long, value_name = "N", default_value_t = 100)]
    connections_per_address: usize,
    /// The ladder's name, for the pages
    #[arg(long, value_name = "TEXT", default_value = "plyd ladder")]
    name: String,
    /// What bots dial, such as wss://ladder.example, for the commands that the pages show [default: the
    /// address of --http]
    #[arg(long, value_name = "URL")]
    dial: Option<String>,
    /// Log warnings and errors alone, not who comes and how games end
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    place: Place,
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
    let store = Store::serve(&args.place.db).map_err(failed)?;
    let settings = settings(&args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let mut signals = Signals::install_without_hangup()?;
        if let Some(tls) = &tls {
            tokio::spawn(reload(signal(SignalKind::hangup())?, Arc::clone(tls)));
        }
        let listeners = listeners(&args, tls.as_ref()).await?;
        let stop = async move {
            signals.next().await;
            tokio::spawn(async move {
                signals.next().await;
                tracing::warn!(target: LOG, "it ends at once; games that are not over go on at the next start");
                crate::daemon::log::flush();
                std::process::exit(1);
            });
        };
        let pages = |keeper: &Keeper, live: &Live| pages(&args, keeper, live);
        serve(store, registry::games(), settings, listeners, pages, stop).await.map_err(|error| match error {
            ServeError::Store(error) => failed(error),
            error @ ServeError::Io(_) => Failure::Failed(error.to_string()),
        })
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// What browsers see. It reads by a store of its own, so that nobody who looks keeps a game waiting.
fn pages(args: &Args, keeper: &Keeper, live: &Live) -> Result<axum::Router, ServeError> {
    let over_tls = args.tls_cert.is_some() || args.behind_proxy;
    let settings = pages::Settings {
        name: args.name.clone(),
        dial: dial(args, over_tls),
        over_tls,
        behind_proxy: args.behind_proxy,
        ..pages::Settings::default()
    };
    let reader = Keeper::new(Store::open(&args.place.db)?)?;
    let boards = |path: &str| {
        let Content { mime, bytes } = Page::new(registry::games()).content(path)?;
        Some(pages::File { mime, bytes })
    };
    let parts = pages::Parts {
        keeper: keeper.clone(),
        reader,
        live: live.clone(),
        games: registry::games(),
        boards: Arc::new(boards),
        settings,
    };
    Ok(pages::router(parts)?)
}

/// What bots dial, for the commands that the pages show.
fn dial(args: &Args, over_tls: bool) -> String {
    if let Some(dial) = &args.dial {
        return dial.clone();
    }
    let (scheme, address) = match (args.http.first(), args.tcp.first()) {
        (Some(address), _) => (if over_tls { "wss" } else { "ws" }, address),
        (None, Some(address)) => (if over_tls { "tls" } else { "tcp" }, address),
        (None, None) => return String::new(),
    };
    format!("{scheme}://{address}")
}

fn settings(args: &Args) -> Result<Settings, Failure> {
    let mut seed = [0; 8];
    getrandom(&mut seed, GetRandomFlags::empty()).map_err(io::Error::from)?;
    let ms = Duration::from_millis;
    let mut settings = Settings::new(super::build::builds()?, u64::from_ne_bytes(seed));
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
    settings.hall.connections = args.connections;
    settings.hall.connections_of_address = args.connections_per_address;
    Ok(settings)
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
    ) -> Pin<Box<dyn Future<Output = io::Result<BoxedStream>> + Send + '_>> {
        Box::pin(async move { Ok(Box::new(self.acceptor.accept(stream).await?) as BoxedStream) })
    }
}

/// Reads the certificates again at each SIGHUP.
async fn reload(mut hangup: Signal, tls: Arc<Tls>) {
    while hangup.recv().await.is_some() {
        match tls.acceptor.reload(&tls.files) {
            Ok(()) => tracing::info!(target: LOG, "the certificates are read again"),
            Err(error) => tracing::error!(target: LOG, %error, "the certificates before stay in use"),
        }
    }
}
