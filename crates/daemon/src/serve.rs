//! A daemon from its start to its end: the process of `plyd serve`.

use std::time::Instant;

use crate::config::{Config, ServeError};
use crate::daemon::Daemon;
use crate::page::Page;
use plyd_core::engine::Entry;
use plyd_protocol::client::signals::{Hangups, Signals};

/// The number of threads that decode long lines. With more, peers that send only long lines would crowd out
/// the searches.
const BLOCKING_THREADS: usize = 2;

/// Serves `games` as the configuration says until that is over: the end of the standard streams, if nothing
/// else is served, or a signal. A second signal ends the process at once. SIGHUP is such a signal, unless the
/// configuration can be read again.
///
/// ```no_run
/// use plyd_core::engine::Entry;
/// use plyd_daemon::{Config, run};
///
/// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
///
/// // As `plyd serve` does, until the end of the input.
/// run(Config { stdio: true, ..Config::default() }, GAMES)?;
/// # Ok::<(), plyd_daemon::ServeError>(())
/// ```
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
    let (mut signals, hangups) = match config.reload.take() {
        None => (Signals::install()?, None),
        Some(reload) => (Signals::install_without_hangup()?, Some((Hangups::install()?, reload))),
    };
    let daemon = Daemon::start(&config, games)?;
    let taken = daemon.serve_handed(std::mem::take(&mut config.handed), &config)?;
    for at in config.tcp.iter().filter(|at| !taken.has(at)) {
        daemon.serve_tcp(at).await?;
    }
    for at in config.ws.iter().filter(|at| !taken.has(at)) {
        daemon.serve_ws(at, &config.ws_origins).await?;
    }
    let has_page = config.page.is_some();
    if let Some(listener) = config.page.take() {
        daemon.serve_page(listener, Page::new(games))?;
    }
    let path = config.unix.as_deref().filter(|path| !taken.has_path(path));
    let _socket = path.map(|path| daemon.serve_unix(path)).transpose()?;
    let has_address = !config.tcp.is_empty() || !config.ws.is_empty() || config.unix.is_some();
    let listens = has_address || !taken.is_empty() || has_page;
    // Last, so that whoever is answered there is answered by a daemon that serves.
    if let Some(at) = &config.metrics {
        daemon.serve_metrics(at).await?;
    }
    let stdio = if config.stdio { Some(daemon.serve_stdio()?) } else { None };
    // All that listens does so by now.
    daemon.announce_start();
    let ended = async {
        match stdio {
            Some(ended) if !listens => ended.await,
            _ => std::future::pending().await,
        }
    };
    let reloads = async {
        match hangups {
            Some((hangups, reload)) => daemon.heed_hangups(hangups, reload).await,
            None => std::future::pending().await,
        }
    };
    let is_signalled = tokio::select! {
        () = ended => false,
        () = signals.next() => true,
        () = reloads => false,
    };
    daemon.announce_end();
    let mut began = Instant::now();
    let finish = async {
        if is_signalled {
            tracing::info!("shutting down");
            let is_done = daemon.drain().await;
            // The time of the end begins now.
            began = Instant::now();
            if !is_done {
                daemon.end_searches().await;
            }
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
