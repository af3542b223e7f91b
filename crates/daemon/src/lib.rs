//! The daemon: connections, sessions and searches behind one protocol.
//!
//! One lock decides. Everything that changes (connections, sessions, running searches, whose turn it is,
//! timers) is one `State` under one mutex, held for microseconds: to accept, to decide, and to queue
//! messages. What is slow happens outside of it: parsing positions, opening engines and searching
//! (`runtime`), decoding and writing lines (`transport`). So "the stop came first" and "the answer came
//! first" are never both true, and the order of messages is the order of decisions.
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
//! Three layers, of which each knows those before it and none behind it:
//!
//! 1. `state` decides. It is one value with a file a concept, and knows no thread, no lock, no socket and no
//!    clock.
//!    - Connections: `conn` (their life), `kept` (one that outlives its socket), `places` (how many there may
//!      be), `identity` and `roles` (whose they are, and what that client may have and ask), `operate` (what
//!      operators see and end), `outbox` and `unread` (their messages, and the memory of those), `refusals`
//!      (what is refused, and what the log says of it).
//!    - Requests: `session` (what each does), `intake` (the memory of those in flight), `task` and `commit`
//!      (those that take time, and what comes of them), `holdings` (what sessions remember),
//!      `request_error`.
//!    - Searches: `job` (one of them), `admission` (which may start), `waiting` (which wait), `schedule`
//!      (whose turn it is), `searches` (how they start and end), `promises` (until when an answer is due),
//!      `news` (what is said meanwhile), `budget` (the memory of tables), `threads` and `order` (who
//!      searches).
//!    - All of it: `timers`, `effects` (what is to be done outside), `shares` (of what is bounded),
//!      `reconfigure`; `tally`, `status` and `health` (what is measured).
//! 2. `runtime` runs: the lock (`Shared`) and the threads that take it. `worker` searches; `pool`, `prepare`
//!    and `describe` are the slow part of requests; `watchdog` keeps deadlines; `reload` puts new settings in
//!    force; `heartbeat` says that all of this is alive.
//! 3. `transport` moves bytes: `stdio`, `net` (TCP and Unix sockets), `tls`, `web` and `websocket`, `local`
//!    (calls within the process), `probes` (those who watch), and
//!    `feed` (a page of a command that shows what it does, which is no part of a daemon).
//!
//! On top, `daemon` starts and ends all this: `listen`, `serve` (a process from its start to its end),
//! `ending`, `hangups`, `probes`, and `check` (of a configuration beforehand). Between the layers are
//! `transcript`, which records messages of the `state`, and `metrics`, its numbers as text.
//!
//! Below are things that know none of the layers: `config` with `limits` and `clients`, `serve_error`, `log`
//! and `spans` (what it says around what peers cause), `ids`, `signal` (wakes readers and writers), `tls`
//! (certificates), `site` and `page` (what browsers get), `service` (the service manager, and sockets that it
//! hands over), `discard` (freeing memory).
//!
//! No game is known here.

mod config;
mod daemon;
mod discard;
mod ids;
// The log of the process, which the commands set up and write to as well.
#[doc(hidden)]
pub mod log;
mod metrics;
pub mod page;
mod runtime;
mod serve_error;
mod service;
mod signal;
mod site;
mod spans;
mod state;
mod system;
#[cfg(test)]
mod tests;
mod tls;
mod transcript;
mod transport;

pub use config::clients::{Client, ClientLimits, Credentials, TokenHash, new_token};
pub use config::limits::Limits;
pub use config::{Config, Reload, TlsFiles};
pub use daemon::Daemon;
pub use daemon::hangups::SETTINGS;
pub use daemon::listen::{LISTENING, SocketFile, is_local};
pub use daemon::serve::run;
pub use serve_error::ServeError;
pub use service::ServiceManager;
pub use service::handed::Handed;
pub use site::{Guard, check_origin};
pub use transport::feed::{Feed, FeedFile, News, Source};
pub use transport::local::{AskError, Connection};
#[cfg(feature = "service")]
pub use transport::tls::TlsAcceptor;
