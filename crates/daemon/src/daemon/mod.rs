//! A running daemon, and what it serves.

mod check;
mod ending;
pub(crate) mod hangups;
pub(crate) mod listen;
mod probes;
pub(crate) mod serve;

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::time::SystemTime;

use plyd_protocol as wire;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};

use crate::config::Config;
use crate::page::Page;
use crate::runtime::Shared;
use crate::runtime::describe;
use crate::runtime::heartbeat::Heartbeat;
use crate::runtime::pool::{self, Pool};
use crate::runtime::prepare::RequestWorker;
use crate::runtime::priority::Priority;
use crate::runtime::reload::Running;
use crate::runtime::traffic::Traffic;
use crate::runtime::watchdog;
use crate::serve_error::ServeError;
use crate::site::Site;
use crate::state::State;
use crate::state::budget::Memory;
use crate::system::{UnixListener, keep_private, remove_stale};
use crate::tls::Tls;
use crate::transcript::Transcript;
use crate::transport::local::Connection;
use crate::{log, transport};
use plyd_core::engine::Entry;
use plyd_core::search::clock::now_ns;

use listen::{LISTENING, SocketFile, is_local, keep_accepting, listen_advice, path_advice, take_bursts};

/// A running daemon. Dropping it ends its threads; until then it serves what the `serve` methods name.
pub struct Daemon {
    pub(super) shared: Arc<Shared>,
    /// Whether it may listen where other machines reach it.
    pub(super) is_open: bool,
    /// Whether other machines may connect without a token.
    pub(super) is_insecure: bool,
    /// Whether its listeners are closed, or are to be.
    pub(super) closing: watch::Sender<bool>,
}

impl Daemon {
    /// Starts a daemon for `games`. It serves nothing yet.
    ///
    /// # Errors
    /// The transcript cannot be made, a certificate cannot be used, or a thread cannot be started.
    pub fn start(config: &Config, games: &'static [&'static Entry]) -> Result<Self, ServeError> {
        let transcript = config
            .transcript
            .as_deref()
            .map(|path| Transcript::append(path, config.stdio, config.token.clone()))
            .transpose()?;
        config.token.iter().for_each(|token| log::keep_out(token));
        describe::log_faults(games);
        let tls = config.tls.as_ref().map(Tls::load).transpose()?.map(Tls::new);
        let limits = config.limits.clone();
        let memory = Memory::new(limits.hash_bytes);
        let threads = limits.cores.max(1);
        let mut state = State::new(limits, games, config.token.clone(), memory.clone(), now_ns());
        state.set_clients(config.clients.clone(), now_ns());
        state.serves_others = config.serves_others();
        state.serves_tls = tls.is_some();
        state.transcript_lost = transcript.as_ref().map(Transcript::lost).unwrap_or_default();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            watchdog: Condvar::new(),
            pool: Pool::new(threads),
            request_worker: RequestWorker { games, memory, threads },
            priority: Priority::below_this(config.search_nice),
            slow_priority: Priority::below_this(config.search_nice.saturating_add(pool::SLOW_NICE)),
            transcript,
            running: Running::new(config),
            tls,
            runtime: Handle::try_current().ok(),
            quiet: Notify::new(),
            lingering: Arc::default(),
            over: AtomicBool::new(false),
            incidents: AtomicU64::new(0),
            traffic: Traffic::default(),
            started: SystemTime::now(),
            manager: config.manager.clone(),
            heartbeat: Heartbeat::default(),
        });
        let watched = Arc::clone(&shared);
        std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || watchdog::watch(&watched))?;
        shared.pool.warm(&shared);
        let closing = watch::Sender::new(false);
        Ok(Self { shared, is_open: config.is_open(), is_insecure: config.insecure, closing })
    }

    /// Serves the standard streams; the future ends when all is written, or the peer is gone or does not
    /// read.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn serve_stdio(&self) -> Result<impl Future<Output = ()> + use<>, ServeError> {
        Ok(transport::stdio::serve(&self.shared, io::stdin(), io::stdout())?)
    }

    /// Opens a connection within the process.
    #[must_use]
    pub fn connect(&self) -> Connection {
        Connection::open(&self.shared)
    }

    /// Serves a TCP address (`HOST:PORT`) from tasks of the current runtime; returns the address bound.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// use plyd_core::engine::Entry;
    /// use plyd_daemon::{Config, Daemon};
    /// use plyd_client::Client;
    /// use plyd_protocol::{Command, Ping};
    ///
    /// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
    ///
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    /// # runtime.block_on(async {
    /// let daemon = Daemon::start(&Config::default(), GAMES)?;
    /// // A port of the system's choice.
    /// let address = daemon.serve_tcp("127.0.0.1:0").await?;
    /// let answer = tokio::task::spawn_blocking(move || {
    ///     let mut client = Client::connect(address)?;
    ///     let (id, _) = client.request(Command::Ping(Ping::default()))?;
    ///     client.wait_final(&id, Instant::now() + Duration::from_secs(60))
    /// });
    /// assert!(answer.await?.is_ok());
    /// daemon.shut_down().await;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The address cannot be listened on, or must not be: other machines reach it, and no token is asked for.
    pub async fn serve_tcp(&self, at: &str) -> Result<SocketAddr, ServeError> {
        let (listener, address) = self.listen(at).await?;
        self.accept_tcp(address, listener);
        Ok(address)
    }

    /// Serves WebSocket at an address (`HOST:PORT`) from tasks of the current runtime, to pages of these
    /// origins and of the same host, and to programs that are no browsers; returns the address bound.
    ///
    /// ```
    /// use plyd_core::engine::Entry;
    /// use plyd_daemon::{Config, Daemon};
    ///
    /// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let daemon = Daemon::start(&Config::default(), GAMES)?;
    /// let address = daemon.serve_ws("127.0.0.1:0", &["https://games.example.org".to_owned()]).await?;
    /// println!("ws://{address}/ws");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Self::serve_tcp`].
    pub async fn serve_ws(&self, at: &str, origins: &[String]) -> Result<SocketAddr, ServeError> {
        let (listener, address) = self.listen(at).await?;
        self.accept_origins(address, listener, origins);
        Ok(address)
    }

    /// Serves a page and its WebSocket on a socket that listens, from tasks of the current runtime.
    ///
    /// ```
    /// use plyd_core::engine::Entry;
    /// use plyd_daemon::page::Page;
    /// use plyd_daemon::{Config, Daemon};
    ///
    /// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let daemon = Daemon::start(&Config::default(), GAMES)?;
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// println!("http://{}", listener.local_addr()?);
    /// daemon.serve_page(listener, Page::new(GAMES))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The socket cannot be used.
    pub fn serve_page(&self, listener: std::net::TcpListener, page: Page) -> Result<(), ServeError> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        take_bursts(&listener)?;
        let site = Arc::new(Site::new(address, &[], Some(page)));
        self.accept_web(address, TcpListener::from_std(listener)?, site);
        Ok(())
    }

    /// Listens on a TCP address, unless other machines reach it and nothing keeps strangers out.
    pub(super) async fn listen(&self, at: &str) -> Result<(TcpListener, SocketAddr), ServeError> {
        let failed = |error| ServeError::Listen { at: at.to_owned(), error };
        let listener = TcpListener::bind(at).await.map_err(|error| failed(listen_advice(error)))?;
        take_bursts(&listener).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        self.may_listen(at, address)?;
        Ok((listener, address))
    }

    /// Whether an address may be served: not if other machines reach it and nothing keeps strangers out.
    pub(super) fn may_listen(&self, at: &str, address: SocketAddr) -> Result<(), ServeError> {
        if !is_local(address) {
            if !self.is_open {
                return Err(ServeError::Exposed { at: at.to_owned() });
            }
            self.shared.running.expose(at);
        }
        Ok(())
    }

    pub(super) fn accept_tcp(&self, address: SocketAddr, listener: TcpListener) {
        tracing::info!(target: LISTENING, "listening on {address}");
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(address.to_string(), self.closing.subscribe(), move || {
            transport::net::accept_tcp(Arc::clone(&shared), Arc::clone(&listener))
        });
    }

    /// Serves WebSocket to pages of these origins.
    pub(super) fn accept_origins(&self, address: SocketAddr, listener: TcpListener, origins: &[String]) {
        tracing::info!(target: LISTENING, "listening on {address}");
        if !origins.is_empty() {
            self.shared.with(|state| state.serves_others = true);
        }
        let site = Arc::new(Site::new(address, origins, None));
        self.shared.running.add_site(&site);
        self.accept_web(address, listener, site);
    }

    fn accept_web(&self, address: SocketAddr, listener: TcpListener, site: Arc<Site>) {
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(address.to_string(), self.closing.subscribe(), move || {
            transport::web::accept(Arc::clone(&shared), Arc::clone(&listener), Arc::clone(&site))
        });
    }

    /// Serves a Unix socket from tasks of the current runtime, for this user alone. A socket that a dead
    /// server left behind is replaced. The guard removes the socket when dropped.
    ///
    /// ```
    /// use plyd_core::engine::Entry;
    /// use plyd_daemon::{Config, Daemon};
    ///
    /// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let daemon = Daemon::start(&Config::default(), GAMES)?;
    /// let path = std::env::temp_dir().join(format!("plyd-{}.socket", std::process::id()));
    /// let socket = daemon.serve_unix(&path)?;
    /// assert!(path.exists());
    /// drop(socket);
    /// assert!(!path.exists(), "the file is gone with its guard");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The path cannot be listened on, or another server does.
    pub fn serve_unix(&self, path: &Path) -> Result<SocketFile, ServeError> {
        let (listener, file) = Self::listen_unix(path)?;
        self.accept_unix(path, listener);
        Ok(file)
    }

    /// Makes a Unix socket for this user alone.
    pub(super) fn listen_unix(path: &Path) -> Result<(UnixListener, SocketFile), ServeError> {
        let failed = |error| ServeError::Listen { at: path.display().to_string(), error };
        remove_stale(path).map_err(failed)?;
        let listener = UnixListener::bind(path).map_err(|error| failed(path_advice(path, error)))?;
        let file = SocketFile(path.to_owned());
        take_bursts(&listener).map_err(failed)?;
        keep_private(path).map_err(failed)?;
        Ok((listener, file))
    }

    pub(super) fn accept_unix(&self, path: &Path, listener: UnixListener) {
        tracing::info!(target: LISTENING, "listening on {}", path.display());
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(path.display().to_string(), self.closing.subscribe(), move || {
            transport::net::accept_unix(Arc::clone(&shared), Arc::clone(&listener))
        });
    }

    /// Puts a new configuration in force as far as that is possible while the daemon runs: the limits, the
    /// token, the clients, the origins, the certificates, and the file of the transcript, which is opened
    /// again in any case. Ends no connection, session or search, except those of clients that are no longer
    /// listed. Returns the names (flags of `plyd serve`) of the settings that differ from those at the start
    /// and need a restart.
    ///
    /// # Errors
    /// The transcript cannot be written, a certificate cannot be used, or other machines could connect
    /// without a token. Nothing has changed then.
    pub fn reload(&self, config: &Config) -> Result<Vec<&'static str>, ServeError> {
        self.shared.reload(config)
    }

    /// The load and the counters, as `status` reports them.
    ///
    /// ```
    /// use plyd_core::engine::Entry;
    /// use plyd_daemon::{Config, Daemon};
    ///
    /// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
    ///
    /// let daemon = Daemon::start(&Config::default(), GAMES)?;
    /// let connection = daemon.connect();
    /// assert_eq!((daemon.status().searches, daemon.status().counters.connections), (0, 1));
    /// # Ok::<(), plyd_daemon::ServeError>(())
    /// ```
    #[must_use]
    pub fn status(&self) -> wire::StatusResult {
        self.shared.lock().status(now_ns())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.shared.with(|state| state.close_all(now_ns()));
        {
            // Under the lock, so that the watchdog either has yet to look or waits already, and misses
            // nothing.
            let _state = self.shared.lock();
            self.shared.over.store(true, Relaxed);
        }
        self.shared.watchdog.notify_all();
        self.shared.pool.close();
        if let Some(transcript) = &self.shared.transcript {
            let limit = self.shared.lock().limits.shutdown;
            transcript.finish(limit);
        }
    }
}
