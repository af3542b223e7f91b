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
//! The modules in reading order: `config` (what is served), `limits` (the numbers), `ids` (the numbers of
//! things), `clients` (who is known by name), `job` (one search), `promises` (until when its answer is due),
//! `news` (what its client hears of it), `outbox` (a connection's messages), `budget` (memory of tables),
//! `schedule` (who searches next), `waiting` (who waits to be taken in), `timers` (what is due when),
//! `state`, `request_error`, `spans` and `refusals` (what the log says of peers), `conn` (the life of a
//! connection), `kept` (which outlives its socket), `places` (who may be connected), `identity` (who a
//! connection is, and what its client may have), `roles` (which request needs which role), `shares` (of
//! bounded resources), `intake` (the memory of requests in flight), `unread` (that of messages which peers do
//! not read), `session` (what requests do) and `commit` (what their work changes), `holdings` (what sessions
//! hold), `admission` (which searches may start), `searches` (their life), `operate` (who is connected, and
//! whom operators cut off), `threads` (the search threads' place in the state), `prepare` and `describe` (the
//! slow part of requests), `shared` (the lock, and what stands beside it), `pool`, `worker` and `watchdog`
//! (the threads themselves), `priority` (of computing threads), `discard` (freeing memory), `listen`,
//! `transport`, `transcript`, `metrics` and `probes` (what is measured), `check` (of a configuration),
//! `reload` (of one while the daemon runs) and `hangups` (which ask for that), `handed` (sockets that were
//! listening before it did), `service` and `heartbeat` (messages to a service manager), `daemon` (one that
//! runs, and what it serves), `ending`, and `serve` (the whole from start to end).
//!
//! No game is known here, and nothing but the transport touches bytes.

mod admission;
mod budget;
mod check;
mod clients;
mod commit;
mod config;
mod conn;
mod daemon;
mod describe;
mod discard;
mod ending;
mod handed;
mod hangups;
mod health;
mod heartbeat;
mod holdings;
mod identity;
mod ids;
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
mod order;
mod outbox;
pub mod page;
mod places;
mod pool;
mod prepare;
mod priority;
mod probes;
mod promises;
mod reconfigure;
mod refusals;
mod reload;
mod request_error;
mod roles;
mod schedule;
mod searches;
mod serve;
mod serve_error;
mod service;
mod session;
mod shared;
mod shares;
mod signal;
mod site;
mod spans;
mod state;
mod status;
mod tally;
mod task;
#[cfg(test)]
mod tests;
mod threads;
mod timers;
mod tls;
mod traffic;
mod transcript;
mod transport;
mod unread;
mod waiting;
mod watchdog;
mod worker;

pub use clients::{Client, ClientLimits, TokenHash, new_token};
pub use config::{Config, Reload, TlsFiles};
pub use daemon::Daemon;
pub use handed::Handed;
pub use hangups::SETTINGS;
pub use limits::Limits;
pub use listen::{LISTENING, SocketFile, is_local};
pub use serve::run;
pub use serve_error::ServeError;
pub use service::ServiceManager;
pub use site::check_origin;
pub use transport::local::Connection;
#[cfg(feature = "service")]
pub use transport::tls::TlsAcceptor;
