//! A daemon from its start to its end: the process of `plyd serve`.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::config::Config;
use crate::daemon::Daemon;
use crate::daemon::listen::LISTENING;
use crate::page::Page;
use crate::runtime::heartbeat::keep_alive;
use crate::serve_error::ServeError;
use crate::service::handed::{Handed, HandedAddresses, Way};
use crate::system::Socket;
use plyd_core::engine::Entry;
use plyd_protocol::signals::{Hangups, Signals};

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
    // What was handed over is served by now. All other addresses are bound before any of them is served: a
    // daemon that cannot start answers nobody there, and announces none of them.
    let (mut tcp, mut ws) = (Vec::new(), Vec::new());
    for at in config.tcp.iter().filter(|at| !taken.has(at)) {
        tcp.push(daemon.listen(at).await?);
    }
    for at in config.ws.iter().filter(|at| !taken.has(at)) {
        ws.push(daemon.listen(at).await?);
    }
    let path = config.unix.as_deref().filter(|path| !taken.has_path(path));
    let unix = path.map(|path| Ok::<_, ServeError>((path, Daemon::listen_unix(path)?))).transpose()?;
    let metrics = match &config.metrics {
        Some(at) => Some(daemon.listen_for_probes(at).await?),
        None => None,
    };
    for (listener, address) in tcp {
        daemon.accept_tcp(address, listener);
    }
    for (listener, address) in ws {
        daemon.accept_origins(address, listener, &config.ws_origins);
    }
    let has_page = config.page.is_some();
    if let Some(listener) = config.page.take() {
        daemon.serve_page(listener, Page::new(games))?;
    }
    let _socket = unix.map(|(path, (listener, file))| {
        daemon.accept_unix(path, listener);
        file
    });
    let has_address = !config.tcp.is_empty() || !config.ws.is_empty() || config.unix.is_some();
    let is_service = has_address || !taken.is_empty();
    let listens = is_service || has_page;
    // Last, so that a probe is answered only by a daemon that serves.
    if let Some((listener, address)) = metrics {
        daemon.accept_probes(address, listener);
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
            daemon.note_end(is_service);
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
            daemon.note_hurry();
            daemon.hurry();
        }
    }
    if is_signalled && is_service {
        tracing::info!(target: LISTENING, "ended");
    }
    Ok(())
}

impl Daemon {
    /// Serves sockets that were handed over, from tasks of the current runtime. They stay when the daemon
    /// ends.
    ///
    /// # Errors
    /// A socket cannot be served, or must not be: other machines reach it, and no token is asked for.
    pub(super) fn serve_handed(
        &self,
        handed: Handed,
        config: &Config,
    ) -> Result<HandedAddresses, ServeError> {
        let mut taken = HandedAddresses::default();
        for named in handed.0 {
            let way = named.way(&config.tcp, &config.ws)?;
            let failed = |error: io::Error| ServeError::Handed {
                name: named.name.clone(),
                number: named.number,
                what: error.to_string(),
            };
            match named.socket {
                Socket::Tcp(listener) => {
                    listener.set_nonblocking(true).map_err(failed)?;
                    let address = listener.local_addr().map_err(failed)?;
                    self.may_listen(&address.to_string(), address)?;
                    let listener = tokio::net::TcpListener::from_std(listener).map_err(failed)?;
                    taken.addresses.push(address);
                    if way == Way::Ws {
                        self.accept_origins(address, listener, &config.ws_origins);
                    } else {
                        self.accept_tcp(address, listener);
                    }
                }
                Socket::Unix(listener) => {
                    let (path, listener) = listener.listener().map_err(failed)?;
                    self.accept_unix(&path, listener);
                    taken.paths.push(path);
                }
            }
        }
        Ok(taken)
    }

    /// Notifies the service manager that the daemon serves, and from now on that it is alive, as often as
    /// that is expected.
    pub(crate) fn announce_start(&self) {
        let Some(manager) = &self.shared.manager else { return };
        manager.ready();
        manager.status(&self.shared.summary());
        if let Some(watchdog) = manager.watchdog() {
            tokio::spawn(keep_alive(Arc::clone(&self.shared), Arc::clone(manager), watchdog / 2));
        }
    }

    /// Notifies the service manager that the daemon ends.
    pub(super) fn announce_end(&self) {
        if let Some(manager) = &self.shared.manager {
            manager.stopping();
            manager.status("ending");
        }
    }
}
