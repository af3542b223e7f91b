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
//! The modules in reading order: `limits` (the numbers), `job` (one search) and `news` (what its client hears
//! of it), `outbox` (a connection's messages), `budget` (memory of tables), `schedule` (who searches next),
//! `waiting` (who waits to be taken in), `timers` (what is due when), `state`, `request_error`, `conn` (the
//! life of a connection), `places` (who may be connected), `shares` (of bounded resources), `intake` (the
//! memory of requests in flight), `session` (what requests do) and `commit` (what their work changes),
//! `holdings` (what sessions hold), `admission` (which searches may start), `searches` (their life),
//! `threads` (the search threads' place in the state), `prepare` and `describe` (the slow part of requests),
//! `pool`, `worker` and `watchdog` (the threads themselves), `priority` (of computing threads), `discard`
//! (freeing memory), `listen`, `transport`, `transcript`, and `serve` (the whole from start to end).
//!
//! No game is known here, and nothing but the transport touches bytes.

mod admission;
mod budget;
mod commit;
mod conn;
mod describe;
mod discard;
mod holdings;
mod intake;
mod job;
mod limits;
mod listen;
pub mod log;
mod news;
mod outbox;
pub mod page;
mod places;
mod pool;
mod prepare;
mod priority;
mod request_error;
mod schedule;
mod searches;
mod serve;
mod session;
mod shares;
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
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plyd_protocol as wire;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Notify, watch};

use crate::page::Page;
use budget::Memory;
use listen::{keep_accepting, listen_advice, path_advice, remove_stale};
use plyd_core::engine::Entry;
use plyd_core::engine::settings::Caps;
use plyd_core::search::clock::now_ns;
use pool::Pool;
use prepare::RequestWorker;
use priority::Priority;
use state::{Effects, State};
use transcript::Transcript;
use transport::web::Site;

pub use limits::Limits;
pub use listen::SocketFile;
pub use serve::run;
pub use transport::check_origin;
pub use transport::local::Connection;

/// The target of the log lines that name what a daemon listens on. They are `info`, and worth showing even if
/// nothing else below a warning is: a person who starts a daemon wants to know that it runs, and nobody can
/// connect to a port of the system's choice without them.
pub const LISTENING: &str = "plyd::listening";

/// The time that the transcript gets for its last lines if peers that do not read used up the shutdown time.
const LAST_LINES: Duration = Duration::from_millis(250);

/// What a daemon serves, and how.
#[derive(Debug, Default)]
pub struct Config {
    /// Whether to serve the standard streams.
    pub stdio: bool,
    /// TCP addresses to listen on, as `HOST:PORT`.
    pub tcp: Vec<String>,
    /// Addresses to listen on for WebSocket, as `HOST:PORT`.
    pub ws: Vec<String>,
    /// Origins whose pages may connect there, beside those of the same host.
    pub ws_origins: Vec<String>,
    /// A socket that listens already, to serve the page and its WebSocket on.
    pub page: Option<std::net::TcpListener>,
    /// A path to listen on with a Unix socket.
    pub unix: Option<PathBuf>,
    /// A token that connections over sockets must show.
    pub token: Option<String>,
    /// Whether other machines may connect without one.
    pub insecure: bool,
    /// A file for a record of every line.
    pub transcript: Option<PathBuf>,
    /// By how much the nice value of threads that compute exceeds that of the others.
    pub search_nice: u8,
    /// The numbers.
    pub limits: Limits,
}

/// Why a daemon cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address or a path cannot be listened on.
    #[error("cannot listen on {at}: {error}")]
    Listen {
        /// The address or the path.
        at: String,
        /// What the system says.
        error: io::Error,
    },
    /// Other machines can reach an address, and nothing keeps their users out.
    #[error(
        "refusing to listen on {at} without a token, because other machines can reach it: use --token-file FILE, listen \
         on 127.0.0.1, or pass --insecure"
    )]
    Exposed {
        /// The address.
        at: String,
    },
    /// The transcript cannot be written.
    #[error("cannot write the transcript {path}: {error}")]
    Transcript {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The transcript is one of the standard streams, which carry the protocol.
    #[error(
        "the transcript {path} is the standard input or output, which carries the protocol: give a file of its own, or \
         serve sockets alone"
    )]
    TranscriptOnStdio {
        /// The file.
        path: PathBuf,
    },
    /// A thread or the runtime cannot be started.
    #[error("cannot start: {0}")]
    Start(#[from] io::Error),
}

/// What all threads share.
struct Shared {
    state: Mutex<State>,
    /// Wakes the watchdog when an earlier timer is set.
    watchdog: Condvar,
    pool: Pool,
    request_worker: RequestWorker,
    memory: Memory,
    /// The priority of the threads that search or work on requests.
    priority: Priority,
    /// The priority of work that no clock waits for.
    slow_priority: Priority,
    transcript: Option<Transcript>,
    /// Notified when a shutdown has nothing more to wait for.
    quiet: Notify,
    /// Held by each connection that lingers before it closes.
    lingering: Arc<()>,
    over: AtomicBool,
    incidents: AtomicU64,
}

impl Shared {
    /// Locks the state. A panic under the lock is a bug of the daemon; the state stays usable, because every
    /// change is a sequence of small ones that each leave it so.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and then does what follows from that.
    fn with<R>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.lock();
        let result = change(&mut state);
        let effects = state.settle(now_ns());
        drop(state);
        self.carry_out(effects);
        result
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
    /// Whether its listeners are closed, or are to be.
    closing: watch::Sender<bool>,
}

impl Daemon {
    /// Starts a daemon for `games`. It serves nothing yet.
    ///
    /// # Errors
    /// The transcript cannot be made, or a thread cannot be started.
    pub fn start(config: &Config, games: &'static [&'static Entry]) -> Result<Self, ServeError> {
        let transcript = config
            .transcript
            .as_deref()
            .map(|path| Transcript::append(path, config.stdio, config.token.clone()))
            .transpose()?;
        let limits = config.limits.clone();
        let memory = Memory::new(limits.hash_bytes);
        let caps = Caps { threads: limits.cores.max(1), hash_mb: (memory.total() >> 20) as usize };
        let mut state = State::new(limits, games, config.token.clone(), memory.clone(), now_ns());
        state.transcript_lost = transcript.as_ref().map(Transcript::lost).unwrap_or_default();
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            watchdog: Condvar::new(),
            pool: Pool::new(caps.threads),
            request_worker: RequestWorker { games, memory: memory.clone(), caps },
            memory,
            priority: Priority::below_this(config.search_nice),
            slow_priority: Priority::below_this(config.search_nice.saturating_add(pool::SLOW_NICE)),
            transcript,
            quiet: Notify::new(),
            lingering: Arc::default(),
            over: AtomicBool::new(false),
            incidents: AtomicU64::new(0),
        });
        let watched = Arc::clone(&shared);
        std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || watchdog::watch(&watched))?;
        shared.pool.warm(&shared);
        let is_open = config.token.is_some() || config.insecure;
        Ok(Self { shared, is_open, closing: watch::Sender::new(false) })
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
    /// # Errors
    /// The address cannot be listened on, or must not be: other machines reach it, and no token is asked for.
    pub async fn serve_tcp(&self, at: &str) -> Result<SocketAddr, ServeError> {
        let (listener, address) = self.listen(at).await?;
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(address.to_string(), self.closing.subscribe(), move || {
            transport::net::accept_tcp(Arc::clone(&shared), Arc::clone(&listener))
        });
        Ok(address)
    }

    /// Serves WebSocket at an address (`HOST:PORT`) from tasks of the current runtime, to pages of these
    /// origins and of the same host, and to programs that are no browsers; returns the address bound.
    ///
    /// # Errors
    /// As for [`Self::serve_tcp`].
    pub async fn serve_ws(&self, at: &str, origins: &[String]) -> Result<SocketAddr, ServeError> {
        let (listener, address) = self.listen(at).await?;
        let site = Site::new(address, origins, None);
        self.accept_web(address, listener, site);
        Ok(address)
    }

    /// Serves a page and its WebSocket on a socket that listens, from tasks of the current runtime.
    ///
    /// # Errors
    /// The socket cannot be used.
    pub fn serve_page(&self, listener: std::net::TcpListener, page: &'static Page) -> Result<(), ServeError> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let site = Site::new(address, &[], Some(page));
        self.accept_web(address, TcpListener::from_std(listener)?, site);
        Ok(())
    }

    /// Listens on a TCP address, unless other machines reach it and nothing keeps strangers out.
    async fn listen(&self, at: &str) -> Result<(TcpListener, SocketAddr), ServeError> {
        let failed = |error| ServeError::Listen { at: at.to_owned(), error };
        let listener = TcpListener::bind(at).await.map_err(|error| failed(listen_advice(error)))?;
        let address = listener.local_addr().map_err(failed)?;
        if !self.is_open && !address.ip().to_canonical().is_loopback() {
            return Err(ServeError::Exposed { at: at.to_owned() });
        }
        tracing::info!(target: LISTENING, "listening on {address}");
        Ok((listener, address))
    }

    fn accept_web(&self, address: SocketAddr, listener: TcpListener, site: Site) {
        let (shared, listener, site) = (Arc::clone(&self.shared), Arc::new(listener), Arc::new(site));
        keep_accepting(address.to_string(), self.closing.subscribe(), move || {
            transport::web::accept(Arc::clone(&shared), Arc::clone(&listener), Arc::clone(&site))
        });
    }

    /// Serves a Unix socket from tasks of the current runtime, for this user alone. A socket that a dead
    /// server left behind is replaced. The guard removes the socket when dropped.
    ///
    /// # Errors
    /// The path cannot be listened on, or another server does.
    pub fn serve_unix(&self, path: &Path) -> Result<SocketFile, ServeError> {
        let failed = |error| ServeError::Listen { at: path.display().to_string(), error };
        remove_stale(path).map_err(failed)?;
        let listener = UnixListener::bind(path).map_err(|error| failed(path_advice(path, error)))?;
        let file = SocketFile(path.to_owned());
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        tracing::info!(target: LISTENING, "listening on {}", path.display());
        let (shared, listener) = (Arc::clone(&self.shared), Arc::new(listener));
        keep_accepting(path.display().to_string(), self.closing.subscribe(), move || {
            transport::net::accept_unix(Arc::clone(&shared), Arc::clone(&listener))
        });
        Ok(file)
    }

    /// The load and the counters, as `status` reports them.
    #[must_use]
    pub fn status(&self) -> wire::StatusResult {
        self.shared.lock().status(now_ns())
    }

    /// Closes the listeners, takes no new work, lets every search answer, and returns when all is written, or
    /// when the time for that is over.
    pub async fn shut_down(&self) {
        self.closing.send_replace(true);
        let limit = self.shared.lock().limits.shutdown;
        self.shared.with(|state| state.shut_down(now_ns()));
        if tokio::time::timeout(limit, self.shared.quiet.notified()).await.is_err() {
            tracing::warn!("not everything was written in time");
        }
    }
}

impl Daemon {
    /// Cuts every connection off and returns when the transcript is written, or when the time for an end that
    /// began at that instant is over.
    async fn finish(&self, began: Instant) {
        self.closing.send_replace(true);
        self.shared.with(|state| state.close_all(now_ns()));
        let left = self.shared.lock().limits.shutdown.saturating_sub(began.elapsed()).max(LAST_LINES);
        let shared = Arc::clone(&self.shared);
        let finish = move || shared.transcript.iter().for_each(|transcript| transcript.finish(left));
        if let Err(error) = tokio::task::spawn_blocking(finish).await {
            tracing::error!(%error, "the transcript may lack its end");
        }
    }

    /// Lets dropping the daemon skip the wait for the transcript.
    fn hurry(&self) {
        self.shared.transcript.iter().for_each(Transcript::abandon);
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
