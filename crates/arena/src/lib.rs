//! Matches between players: processes that speak the protocol, and a referee that trusts neither of them.
//!
//! The referee keeps its own copy of each game (a [`plyd_core::engine::AnyRoot`]), asks each player in turn,
//! reads its own clock, and notes every move with its time and score. It knows no game and no search: what it
//! knows of a player is the lines that its process writes.
//!
//! # Where to begin
//!
//! A [`Match`] says who plays what, from which [`openings`] and how strictly it is refereed; [`Match::run`]
//! plays it and passes on each [`PlayedGame`] as it ends, which a [`Summary`] counts. [`statistics`] say what
//! the counts are worth, whoever played the games:
//!
//! ```
//! use plyd_arena::statistics::Pairs;
//! use plyd_arena::statistics::sprt::{Model, Sprt, Verdict};
//!
//! // The points of pairs of games with sides swapped, in half points.
//! let mut pairs = Pairs::default();
//! for half_points in [3, 2, 4, 3, 2, 3, 1, 4] {
//!     pairs.add(half_points);
//! }
//! let elo = pairs.elo().expect("not all pairs are alike");
//! println!("{:.0} Elo, a 95 % interval of {:.0} around it", elo.value, elo.error);
//! let test = Sprt::new(0.0, 20.0, 0.05, 0.05, Model::Logistic)?;
//! assert_eq!(test.verdict(&pairs), Verdict::Continue);
//! # Ok::<(), plyd_arena::statistics::sprt::InvalidSprt>(())
//! ```
//!
//! [`tune`] tunes the weights of an evaluation by self-play (SPSA), and [`train`] learns its tables by
//! self-play (TD learning).

// The files of matches and tunings, which the commands open.
#[doc(hidden)]
pub mod archive;
mod clock;
mod cores;
mod forfeit;
mod game;
mod header;
mod link;
// Plyd's own crates lock their files with it.
#[doc(hidden)]
pub mod lock;
mod matches;
mod merge;
mod micros;
mod opening;
mod played;
mod player;
mod proof;
pub mod referee;
mod run;
mod schedule;
mod seat;
mod shard;
mod spectator;
mod stalls;
pub mod statistics;
mod strictness;
mod summary;
pub mod train;
pub mod trials;
pub mod tune;
mod verify;

pub use clock::{GameClock, TimeControl};
pub use cores::{Cores, CoresError};
pub use forfeit::{ForfeitKind, ForfeitReason};
pub use header::Header;
pub use matches::Match;
pub use merge::{MergeError, merge};
pub use opening::{NoOpening, openings, settle};
pub use played::{Answered, Contradiction, Entrant, Forfeit, Part, PlayedGame, Unplayed};
pub use player::{Address, Player, Program};
pub use plyd_client::Reaper;
pub use run::StartError;
pub use schedule::{Format, Schedule, ScheduledGame};
pub use shard::{InvalidShard, Shard};
pub use spectator::Spectator;
pub use stalls::Stalls;
pub use strictness::{Adjudication, Strictness};
pub use summary::{FirstFault, PairingResult, PlayerStats, Summary};
