//! `plyd mcp`: the games as tools of an agent, by the Model Context Protocol.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plyd_mcp::{Bounds, Tools, http, serve_stdio};
use tokio::net::TcpListener;

use super::failure::Failure;
use super::interrupt::asked_to_end;
use super::serve::{Means, read_clients};
use super::token_file::read_token;
use super::verbosity::Verbosity;
use super::{picture, registry};
use crate::daemon::{Credentials, Daemon, LISTENING, check_origin, is_local};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd mcp                            speak with the host that started it, on the standard streams
  plyd mcp --http 127.0.0.1:7122      serve http://127.0.0.1:7122/mcp to hosts on this machine
  plyd mcp --http 127.0.0.1:7122 --token-file token.txt --origin https://games.example
  plyd mcp --search-ms 10000 --games 20

A host is a program with an agent in it. docs/mcp.md shows the lines that make it start this command, and lists the tools.")]
pub(super) struct Args {
    /// Serve hosts over streamable HTTP at this address instead, under /mcp
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Pages of this origin may use it, too; several times for several
    #[arg(long, value_name = "ORIGIN", value_parser = origin, requires = "http")]
    origin: Vec<String>,
    /// Hosts must send the token in this file: Authorization: Bearer TOKEN
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Hosts must send the token of a client in this file (`plyd token new`) with the role analyse or operate
    #[arg(long, value_name = "FILE", requires = "http")]
    clients_file: Option<PathBuf>,
    /// The longest time of a search, or of the review of a game
    #[arg(long, value_name = "MS", default_value_t = Bounds::default().search.as_millis() as u64,
        value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    search_ms: u64,
    /// The most games kept at once
    #[arg(long, value_name = "N", default_value_t = Bounds::default().games as u32,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    games: u32,
    /// Seconds after which a game is forgotten that nobody asks for
    #[arg(long, value_name = "SECONDS", default_value_t = Bounds::default().idle.as_secs() as u32,
        value_parser = clap::value_parser!(u32).range(1..))]
    idle: u32,
    /// The most calls at once
    #[arg(long, value_name = "N", default_value_t = Bounds::default().calls as u16,
        value_parser = clap::value_parser!(u16).range(1..=256))]
    calls: u16,
    /// The most connections at once over HTTP
    #[arg(long, value_name = "N", default_value_t = Bounds::default().connections as u32, requires = "http",
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    #[command(flatten)]
    means: Means,
}

fn origin(text: &str) -> Result<String, String> {
    check_origin(text).map(|()| text.to_owned())
}

pub(super) fn run(args: Args, verbosity: &Verbosity) -> Result<(), Failure> {
    verbosity.set(&args.means.verbosity().into());
    let bounds = Bounds {
        search: Duration::from_millis(args.search_ms),
        games: args.games as usize,
        idle: Duration::from_secs(args.idle.into()),
        calls: args.calls.into(),
        connections: args.connections as usize,
        ..Bounds::default()
    };
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let clients = args.clients_file.as_deref().map(read_clients).transpose()?;
    let credentials = Credentials::new(token, clients);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let config = args.means.config(args.http.is_some());
        let daemon = Arc::new(Daemon::start(&config, registry::games()).map_err(Failure::from)?);
        let tools = Tools::new(daemon, registry::games(), bounds, picture::board);
        match &args.http {
            None => Ok(serve_stdio(tools).await?),
            Some(at) => {
                let end = asked_to_end(|| {})?;
                let listener = listen(at, &credentials).await?;
                Ok(http::serve(tools, listener, &args.origin, credentials, end).await?)
            }
        }
    });
    // A read of the standard input, or a review's ply, may go on for long.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// Listens, unless other machines would reach it and no token keeps them out.
async fn listen(at: &str, credentials: &Credentials) -> Result<TcpListener, Failure> {
    let failed = |error: io::Error| Failure::Failed(format!("cannot listen on {at}: {error}"));
    let listener = TcpListener::bind(at).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    if !is_local(address) && !credentials.are_needed() {
        let message = "other machines would reach it: give --token-file or --clients-file, or an address of this \
                       machine alone, such as 127.0.0.1:7122";
        return Err(Failure::Usage(format!("--http {at}: {message}")));
    }
    tracing::info!(target: LISTENING, "listening on http://{address}{}", http::PATH);
    Ok(listener)
}
