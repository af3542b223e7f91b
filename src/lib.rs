//! plyd, a game-engine daemon: one long-lived process that plays board games behind a line-based JSON
//! protocol.
//!
//! # Where to begin
//!
//! - *To play games from a Rust program*: [`games`] and [`play`] are all that it takes, as below. The crates
//!   `plyd-core` and `plyd-games` hold them alone, without a server and its dependencies.
//! - *To be a plyd with games of one's own*: [`cli::main_with`].
//! - *To speak with a plyd*: [`client`], which is the crate `plyd-client`.
//! - *To hold matches*: [`arena`]. *To check a server*: [`conform`].
//!
//! ```
//! use plyd::games::isolation;
//! use plyd::options::Options;
//! use plyd::play::{Player, Position, SearchLimits};
//!
//! let pos = Position::start(&isolation::ENTRY);
//! let mut player = Player::new(&pos, &Options::default())?;
//! let answer = player.best(&pos, &SearchLimits { nodes: Some(1000), ..SearchLimits::default() })?;
//! let pos = pos.play(answer.mv())?;
//! assert_eq!(pos.played().len(), 1);
//! # Ok::<(), plyd::engine::Fault>(())
//! ```
//!
//! # Layout
//!
//! Data flows one way: a line becomes a request, a session turns it into a job, an engine thread searches,
//! and reports flow back as lines. The crates, in reading order; each knows those above it at most:
//!
//! 1. [`plyd_core`]: what a game is, the searches, games and players as objects, and boards as pictures.
//! 2. [`plyd_games`]: the registry, and below it a crate a game, which knows the core alone.
//! 3. [`plyd_protocol`]: the types of the wire and their decoder; [`framing`] finds the lines. It knows no
//!    game, and the two above know no protocol.
//! 4. [`plyd_client`]: the protocol from the other end, which knows nothing but the wire.
//! 5. [`plyd_bridge`]: the core's values as the protocol's types, and back.
//! 6. [`plyd_daemon`]: connections, sessions, jobs, threads and transports; the page of `plyd gui`, a
//!    client of the protocol that the binary carries along.
//! 7. [`plyd_arena`]: matches between players, with a referee that trusts neither; tuning and training,
//!    which play to find better weights.
//! 8. [`plyd_conform`]: checks for any server of the protocol.
//! 9. `plyd-ladder`, which the feature `ladder` brings: ratings and matchmaking of a ladder, its database,
//!    the games of bots that dial in, with the arena's referee, and its pages.
//! 10. `plyd-fleet`, which the feature `fleet` brings: matches on many machines, by NATS.
//! 11. `plyd-mcp`, which the feature `mcp` brings: the games as tools of agents, by the Model Context
//!     Protocol; it asks a daemon of the same process.
//! 12. This one: [`cli`], one file a command.
//!
//! The specification of the wire is `protocol/README.md`.
//!
//! # Invariants
//!
//! 1. `plyd_core` and the games do no I/O and know neither JSON nor tokio; the only clock is
//!    [`search::clock`]. `tests/it/layout.rs` holds this and the arrows between crates, and finds circles
//!    between the modules of each folder. There is none: the daemon has layers, too, which [`plyd_daemon`]
//!    describes, and whatever decides in it is the lowest, one value under one lock.
//! 2. The wire types live in `plyd_protocol` alone; the core's values become wire types in `plyd_bridge`.
//! 3. Types are erased in [`engine`]: one virtual call per command. Within a search rules are called
//!    directly, and so are the default evaluations by the strongest players of optimised builds; any other
//!    evaluation may be one virtual call.
//! 4. A search never waits for a client; the I/O never computes a move, nor reads a position, unless the
//!    system refuses the thread that should: then the caller does it, because late is better than never.
//! 5. Each accepted `go` ends in exactly one final message, whatever happens.
//! 6. A legal move is published before the first node is searched.
//! 7. Same build, seed, one thread and a node limit: same nodes, same answer. `plyd bench` prints that as a
//!    signature.
//! 8. The stdout of `plyd serve` carries the protocol only.
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
//! - *The front door is [`play`]*, not a `plyd::Engine::open`: positions and players are two objects there,
//!   because one player searches many positions, and threads may share a position.
//! - *The same lock decides whose turn it is.* Searches pause where they check for a stop, one relaxed byte a
//!   node: more searches than cores share the cores without a scheduler thread, and deadlines do not depend
//!   on them.
//! - *The bridge is a crate of its own*: daemon, arena and commands all translate between games and the wire,
//!   and none of them knows another.
//! - *Erasure has two objects* ([`engine::AnyRoot`], [`engine::Engine`]), because questions about the rules
//!   must be answered while the session's player is busy searching.
//! - *Each engine has a table of its own*, counted against the process's budget, that starts small and grows
//!   as it fills: this gives what a pool of the process would, without sharing between threads.
//! - *Threads of one search are spawned anew at each iteration*, scoped to it: tens of microseconds at depths
//!   that take milliseconds, and no thread can outlive what it borrows.
//! - *Each game is a crate*, as the games are most of what a build compiles: they are compiled side by side,
//!   and an edit of one leaves the others alone.
//! - *The L Game's retrograde solution is in its crate*: it works on masks of token pairs, a hundred times
//!   faster than a generic one would; a shared `search::retrograde` waits for a second game that wants it.
//! - *A solver is a second opinion* ([`search::proving::Prover`]), not a `probe` at each node: it decides
//!   root moves for milliseconds to seconds, and shares the clock with the search or runs beside it.
//! - *Positions are read off the I/O thread and off the search thread*, so that a bad `go` leaves the search
//!   that it would have superseded untouched.

pub mod cli;

pub use plyd_arena as arena;
pub use plyd_bridge as bridge;
pub use plyd_client as client;
pub use plyd_conform as conform;
pub use plyd_core::{
    bits, effort, engine, flood, game, learning, nim, options, play, review, score, search, svg, zobrist,
};
pub use plyd_daemon as daemon;
pub use plyd_games as games;
pub use plyd_protocol::framing;
