//! plyd, a game-engine daemon: one long-lived process that plays board games behind a line-based JSON
//! protocol.
//!
//! Data flows one way: a line becomes a request, a session turns it into a job, an engine thread searches,
//! and reports flow back as lines. The modules, in reading order:
//!
//! 1. [`game`]: what a game is, as traits and plain values; [`score`] and [`zobrist`] are its arithmetic, and
//!    [`effort`] bounds its work.
//! 2. [`games`]: the registry, one folder a game.
//! 3. [`search`]: the searches, generic over game and evaluation.
//! 4. [`engine`]: games and searches as objects; the only place where types are erased; a game's levels.
//! 5. [`options`] and [`settings`]: what players and rules take, and how a client's words are checked;
//!    [`weights`] are the evaluations' own.
//! 6. [`daemon`]: connections, sessions, jobs, threads and transports.
//! 7. [`client`]: the protocol from the other end; [`framing`] finds the lines for both.
//! 8. [`arena`]: matches between players, with a referee that trusts neither; [`tune`] plays to find better
//!    weights and [`train`] to fill tables, [`trials`] being what both do, and [`archive`] keeps what was
//!    played.
//! 9. [`conform`]: checks for any server of the protocol.
//! 10. [`cli`]: one file a command; [`columns`] are their tables. `signals` ends what runs for long, and
//!     `log` writes to stderr without anybody waiting for it.
//! 11. [`page`]: the page of `plyd gui`, a client of the protocol that the binary carries along.
//!
//! The wire itself is the crate [`plyd_protocol`]; its README is the specification.
//!
//! # Invariants
//!
//! 1. `game`, `games` and `search` do no I/O and know neither JSON nor tokio; the only clock is
//!    [`search::clock`].
//! 2. The wire types live in `plyd_protocol` alone; nothing in `game` or `search` derives `Serialize`.
//! 3. Types are erased once, in `engine`: one virtual call per command, none per node.
//! 4. A search never waits for a client; the I/O never computes a move, nor reads a position.
//! 5. Each accepted `go` ends in exactly one final message, whatever happens.
//! 6. A legal move is published before the first node is searched.
//! 7. Same build, seed, one thread and a node limit: same nodes, same answer. `plyd bench` prints that as a
//!    signature.
//! 8. stdout carries the protocol only.
//!
//! # Where the shape departs from the first design, and why
//!
//! - *Proof travels as two flags beside a score* ([`score::Value`]): "worth at least this" and "at most
//!   this". A proven range as numbers would say the same in twice the space; the flags alone decide whether a
//!   distance is exact, so reductions and deeper table entries cannot spoil one.
//! - *One lock decides.* Connections, sessions, jobs and the budget are one state under one mutex with
//!   critical sections of microseconds. `stop` is answered by the thread that reads it, with the best move
//!   published so far, in one step: no message can come between the decision and what it announces, and no
//!   stop waits for a search to notice.
//! - *The same lock decides whose turn it is.* Searches pause at their own look for a stop, one relaxed byte
//!   a node, so that more of them than cores share the cores without a thread of their own to switch them,
//!   and deadlines are kept without their help.
//! - *Erasure has two objects* ([`engine::AnyRoot`], [`engine::Engine`]), because questions about the rules
//!   must be answered while the session's player is busy searching.
//! - *Each engine has a table of its own*, counted against the process's budget, that starts small and grows
//!   as it fills: what a pool of the process would give, without threads that share what they did not ask to
//!   share.
//! - *Threads of one search are spawned anew at each iteration*, scoped to it: tens of microseconds at depths
//!   that take milliseconds, and no thread can outlive what it borrows.
//! - *The L Game's retrograde solution is in its folder*: it works on masks of token pairs, a hundred times
//!   faster than a generic one would; a shared `search::retrograde` waits for a second game that wants it.
//! - *A solver is a second opinion* ([`search::proving::Prover`]), not a `probe` at each node: it decides
//!   root moves for milliseconds to seconds, and shares the clock with the search or runs beside it.
//! - *Positions are read off the I/O thread and off the search thread*, so that a bad `go` leaves the search
//!   that it would have superseded untouched.

pub mod archive;
pub mod arena;
pub mod bridge;
pub mod cli;
pub mod client;
pub mod columns;
pub mod conform;
pub mod daemon;
pub mod effort;
pub mod engine;
pub mod framing;
pub mod game;
pub mod games;
pub mod learning;
mod log;
pub mod options;
pub mod page;
pub mod score;
pub mod search;
pub mod settings;
mod signals;
pub mod train;
pub mod trials;
pub mod tune;
pub mod weights;
pub mod zobrist;
