//! The daemon: connections, sessions and searches behind one protocol.
//!
//! One lock decides. Everything that changes (connections, sessions, running searches, whose turn it is,
//! timers) is one `State` under one mutex, held for microseconds: to accept, to decide, and to queue
//! messages. What is slow happens outside of it: decoding and writing lines (`transport`), parsing positions
//! and opening engines (`pool`, `prepare`), searching (`worker`). So "the stop came first" and "the answer
//! came first" are never both true, and the order of messages is the order of decisions.
//!
//! # Where to begin
//!
//! [`run`] serves what a [`Config`] names and ends with the process. A program that does other things too
//! starts a [`Daemon`] for its games, and connects to it within the process or lets others connect:
//!
//! ```
//! use plyd_core::engine::Entry;
//! use plyd_core::search::clock::now_ns;
//! use plyd_daemon::{Config, Daemon};
//!
//! static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
//!
//! let daemon = Daemon::start(&Config::default(), GAMES)?;
//! let connection = daemon.connect();
//! connection.send(br#"{"id":"1","cmd":"go","game":"nim","position":{},"limit":{"depth":9}}"#, now_ns());
//! connection.finish_input();
//! let mut said = Vec::new();
//! while let Some(lines) = connection.receive() {
//!     said.extend(lines);
//! }
//! assert!(String::from_utf8_lossy(&said).contains(r#""type":"bestmove","id":"1""#));
//! # Ok::<(), plyd_daemon::ServeError>(())
//! ```
//!
//! # Layout
//!
//! The modules in reading order: `config` (what is served), `limits` (the numbers), `clients` (who is known
//! by name), `job` (one search),
//! `promises` (until when its answer is due),
//! `news` (what its client hears of it), `outbox` (a connection's messages), `budget` (memory of tables),
//! `schedule` (who searches next),
//! `waiting` (who waits to be taken in), `timers` (what is due when), `state`, `request_error`, `spans` and
//! `refusals` (what the log says of peers), `conn` (the
//! life of a connection), `kept` (which outlives its socket), `places` (who may be connected), `identity`
//! (who a connection is, and what its client may have), `roles` (which request needs which role), `shares`
//! (of bounded resources), `intake` (the memory of requests in flight), `session` (what requests do) and
//! `commit` (what their work changes),
//! `holdings` (what sessions hold), `admission` (which searches may start), `searches` (their life),
//! `operate` (who is connected, and whom operators cut off), `threads` (the search threads' place in the
//! state), `prepare` and `describe` (the slow part of requests),
//! `pool`, `worker` and `watchdog` (the threads themselves), `priority` (of computing threads), `discard`
//! (freeing memory), `listen`, `transport`, `transcript`, `metrics` and `probes` (what is measured),
//! `check` (of a configuration), `reload` (of one while the daemon runs), `handed` (sockets that were
//! listening before it did), `service` and `heartbeat` (messages to a service manager), `ending`, and
//! `serve` (the whole from start to end).
//!
//! No game is known here, and nothing but the transport touches bytes.

mod admission;
mod budget;
mod check;
mod clients;
mod commit;
mod config;
mod conn;
mod describe;
mod discard;
mod ending;
mod handed;
mod heartbeat;
mod holdings;
mod identity;
mod intake;
mod job;
mod kept;
mod limits;
mod listen;
// The log of the process, which the commands set up and write to as well.
#[doc(hidden)]
pub mod log;
mod metrics;
mod news;
mod operate;
mod outbox;
pub mod page;
mod places;
mod pool;
mod prepare;
mod priority;
mod probes;
mod promises;
mod refusals;
mod reload;
mod request_error;
mod roles;
mod schedule;
mod searches;
mod serve;
mod service;
mod session;
mod shares;
mod spans;
mod state;
#[cfg(test)]
mod tests;
mod threads;
mod timers;
mod transcript;
mod transport;
mod waiting;
mod watchdog;
mod worker;

use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use plyd_protocol as wire;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Notify, watch};

use crate::page::Page;
use budget::Memory;
use heartbeat::Heartbeat;
use kept::SocketId;
use listen::{is_local, keep_accepting, listen_advice, path_advice, remove_stale};
use metrics::Traffic;
use plyd_core::engine::Entry;
use plyd_core::search::clock::now_ns;
use pool::Pool;
use prepare::RequestWorker;
use priority::Priority;
use reload::Running;
use state::{ConnId, Effects, State};
use transcript::Transcript;
use transport::tls::Tls;
use transport::web::Site;

pub use clients::{Client, ClientLimits, TokenHash, new_token};
pub use config::{Config, ServeError, TlsFiles};
pub use handed::Handed;
pub use limits::Limits;
pub use listen::SocketFile;
pub use reload::Reload;
pub use serve::run;
pub use service::ServiceManager;
pub use transport::check_origin;
pub use transport::local::Connection;
#[cfg(feature = "service")]
pub use transport::tls::TlsAcceptor;

/// The target of the log lines that name what a daemon listens on. They are `info`, and worth showing even if
/// nothing else below a warning is: a person who starts a daemon wants to know that it runs, and nobody can
/// connect to a port of the system's choice without them.
pub const LISTENING: &str = "plyd::listening";

/// The target of the log lines that say what became of settings that were read again, worth showing for the
/// same reason: a person asked for it and sees nothing else.
pub const SETTINGS: &str = "plyd::settings";

/// What all threads share.
struct Shared {
    state: Mutex<State>,
    /// Wakes the watchdog when an earlier timer is set.
    watchdog: Condvar,
    pool: Pool,
    request_worker: RequestWorker,
    /// The priority of the threads that search or work on requests.
    priority: Priority,
    /// The priority of work that no clock waits for.
    slow_priority: Priority,
    transcript: Option<Transcript>,
    /// What the settings are compared with when they are read again.
    running: Running,
    /// What TCP and WebSocket are served over, if it is not plain text.
    tls: Option<Tls>,
    /// Notified when a shutdown has nothing more to wait for.
    quiet: Notify,
    /// Held by each connection that lingers before it closes.
    lingering: Arc<()>,
    over: AtomicBool,
    incidents: AtomicU64,
    traffic: Traffic,
    /// When the daemon began, by the calendar.
    started: SystemTime,
    /// Who hears that the daemon is alive and reads its settings again.
    manager: Option<Arc<ServiceManager>>,
    heartbeat: Heartbeat,
}

impl Shared {
    /// Locks the state. A panic under the lock is a bug of the daemon; the state stays usable, because every
    /// change is a sequence of small ones that each leave it so.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and then does what follows from that.
    fn with<R>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> R) -> R {
        // The log has its turn behind those whom the effects wake.
        let _hold = log::hold();
        let mut state = self.lock();
        let result = change(&mut state);
        let effects = state.settle(now_ns());
        drop(state);
        self.carry_out(effects);
        result
    }

    /// The same for the connection that a socket serves.
    fn with_conn<R>(self: &Arc<Self>, link: SocketId, change: impl FnOnce(&mut State, ConnId) -> R) -> R {
        self.with(|state| {
            let conn = state.conn_of(link);
            change(state, conn)
        })
    }

    /// Does what the state asked for, outside of its lock.
    fn carry_out(self: &Arc<Self>, effects: Effects) {
        if effects.rearm {
            self.watchdog.notify_one();
        }
        for control in effects.wakes {
            control.gate().wake();
        }
        for (id, orders) in effects.spawns {
            let shared = Arc::clone(self);
            let thread = std::thread::Builder::new().name(format!("search-{id}"));
            if let Err(error) = thread.spawn(move || worker::work(&shared, id, &orders)) {
                tracing::error!(%error, "cannot start a search thread");
                self.with(|state| state.lost(id, now_ns()));
            }
        }
        for task in effects.tasks {
            self.pool.submit(self, task);
        }
        for (conn, task) in effects.hurried {
            self.pool.hurry(self, conn, task);
        }
        for signal in effects.signals {
            signal.wake();
        }
        if effects.quiet {
            self.quiet.notify_one();
        }
        discard::here(effects.deferred_drops);
        discard::elsewhere(effects.large_drops);
    }

    fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// Logs a panic and names it.
    fn incident(&self, what: &str, panic: &(dyn Any + Send)) -> String {
        let number = self.incidents.fetch_add(1, Relaxed) + 1;
        let incident = format!("{:x}-{number}", std::process::id());
        let text = panic.downcast_ref::<&str>().copied();
        let text =
            text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        tracing::error!(incident, panic = text, "{what}");
        incident
    }
}

/// A running daemon. Dropping it ends its threads; until then it serves what the `serve` methods name.
pub struct Daemon {
    shared: Arc<Shared>,
    /// Whether it may listen where other machines reach it.
    is_open: bool,
    /// Whether other machines may come where no token is asked for.
    is_insecure: bool,
    /// Whether its listeners are closed, or are to be.
    closing: watch::Sender<bool>,
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
        let tls = config.tls.as_ref().map(Tls::load).transpose()?.map(Tls::new);
        let limits = config.limits.clone();
        let memory = Memory::new(limits.hash_bytes);
        let threads = limits.cores.max(1);
        let mut state = State::new(limits, games, config.token.clone(), memory.clone(), now_ns());
        state.set_clients(config.clients.clone(), now_ns());
        state.is_exposed = config.is_exposed();
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
    /// use plyd_protocol::client::Client;
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
        let site = Arc::new(Site::new(address, origins, None));
        self.shared.running.add_site(&site);
        self.accept_web(address, listener, site);
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
        let site = Arc::new(Site::new(address, &[], Some(page)));
        self.accept_web(address, TcpListener::from_std(listener)?, site);
        Ok(())
    }

    /// Listens on a TCP address, unless other machines reach it and nothing keeps strangers out.
    async fn listen(&self, at: &str) -> Result<(TcpListener, SocketAddr), ServeError> {
        let failed = |error| ServeError::Listen { at: at.to_owned(), error };
        let listener = TcpListener::bind(at).await.map_err(|error| failed(listen_advice(error)))?;
        let address = listener.local_addr().map_err(failed)?;
        self.may_listen(at, address)?;
        Ok((listener, address))
    }

    /// Whether an address may be served: not if other machines reach it and nothing keeps strangers out.
    fn may_listen(&self, at: &str, address: SocketAddr) -> Result<(), ServeError> {
        if !is_local(address) {
            if !self.is_open {
                return Err(ServeError::Exposed { at: at.to_owned() });
            }
            self.shared.running.expose(at);
        }
        tracing::info!(target: LISTENING, "listening on {address}");
        Ok(())
    }

    fn accept_tcp(&self, address: SocketAddr, listener: TcpListener) {
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(address.to_string(), self.closing.subscribe(), move || {
            transport::net::accept_tcp(Arc::clone(&shared), Arc::clone(&listener))
        });
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
        let failed = |error| ServeError::Listen { at: path.display().to_string(), error };
        remove_stale(path).map_err(failed)?;
        let listener = UnixListener::bind(path).map_err(|error| failed(path_advice(path, error)))?;
        let file = SocketFile(path.to_owned());
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        self.accept_unix(path, listener);
        Ok(file)
    }

    fn accept_unix(&self, path: &Path, listener: UnixListener) {
        tracing::info!(target: LISTENING, "listening on {}", path.display());
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(path.display().to_string(), self.closing.subscribe(), move || {
            transport::net::accept_unix(Arc::clone(&shared), Arc::clone(&listener))
        });
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
            // Under the lock, so that the watchdog is either before its look or in its wait.
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
