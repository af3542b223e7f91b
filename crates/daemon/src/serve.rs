//! A daemon from its start to its end: the process of `plyd serve`.

use std::time::Instant;

use crate::page::PAGE;
use crate::{Config, Daemon, ServeError};
use plyd_core::engine::Entry;
use plyd_protocol::client::signals::Signals;

/// The number of threads that decode long lines. With more, peers that send only long lines would crowd out
/// the searches.
const BLOCKING_THREADS: usize = 2;

/// Serves `games` as the configuration says until that is over: the end of the standard streams, if nothing
/// else is served, or a signal. A second signal ends the process at once.
///
/// # Errors
/// Something cannot be listened on, written or started.
pub fn run(config: Config, games: &'static [&'static Entry]) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()?;
    let served = runtime.block_on(serve(config, games));
    // A task that still writes to a slow peer has had its time.
    runtime.shutdown_background();
    served
}

async fn serve(mut config: Config, games: &'static [&'static Entry]) -> Result<(), ServeError> {
    let mut signals = Signals::install()?;
    let daemon = Daemon::start(&config, games)?;
    for at in &config.tcp {
        daemon.serve_tcp(at).await?;
    }
    for at in &config.ws {
        daemon.serve_ws(at, &config.ws_origins).await?;
    }
    let has_page = config.page.is_some();
    if let Some(listener) = config.page.take() {
        daemon.serve_page(listener, &PAGE)?;
    }
    let _socket = config.unix.as_deref().map(|path| daemon.serve_unix(path)).transpose()?;
    let listens = !config.tcp.is_empty() || !config.ws.is_empty() || config.unix.is_some() || has_page;
    let stdio = if config.stdio { Some(daemon.serve_stdio()?) } else { None };
    let ended = async {
        match stdio {
            Some(ended) if !listens => ended.await,
            _ => std::future::pending().await,
        }
    };
    let is_signalled = tokio::select! {
        () = ended => false,
        () = signals.next() => true,
    };
    let began = Instant::now();
    let finish = async {
        if is_signalled {
            tracing::info!("shutting down");
            daemon.shut_down().await;
        }
        daemon.finish(began).await;
    };
    tokio::select! {
        () = finish => {}
        () = signals.next() => {
            tracing::info!("a further signal: ending at once");
            daemon.hurry();
        }
    }
    Ok(())
}
