//! What a board game is to plyd, and how it is searched.
//!
//! # Where to begin
//!
//! - To play or analyse a game from a program: [`play`], with the games of the crate `plyd-games`.
//! - To write a game: [`nim`], which is a whole one, then the traits [`game::Game`], [`game::Notation`],
//!   [`game::Evaluator`] and [`engine::Playable`].
//! - To search a game of one's own by types, without texts: [`search::iterate::Iterate`].
//!
//! ```
//! use plyd_core::nim;
//! use plyd_core::options::Options;
//! use plyd_core::play::{Player, Position, SearchLimits};
//!
//! let heap = Position::start(&nim::ENTRY).play("3")?;
//! let mut player = Player::new(&heap, &Options::default())?;
//! let answer = player.best(&heap, &SearchLimits { depth: Some(20), ..SearchLimits::default() })?;
//! assert_eq!(answer.mv(), "2");
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```
//!
//! # Layout
//!
//! Nothing here knows the protocol, JSON, files or a network; the only clock is [`search::clock`]. In reading
//! order:
//!
//! 1. [`game`]: what a game is, as traits and plain values; [`score`] and [`zobrist`] are its arithmetic, and
//!    [`effort`] bounds its work, and [`svg`] draws its boards; [`bits`] and [`flood`] are sets of cells, and
//!    what is reached from them.
//! 2. [`options`]: what players take; [`options::weights`] are the evaluations' own.
//! 3. [`search`]: the searches, generic over game and evaluation.
//! 4. [`learning`]: what an evaluation with tables learns from its own games.
//! 5. [`engine`]: games and searches as objects; a game's levels, rules and options by name.
//! 6. [`play`]: the same with fewer choices, for other programs; [`nim`]: a game as an example.
//! 7. [`review`]: what the moves of a game were worth.
//!
//! Each module depends only on those above it in this list.

pub mod bits;
#[cfg(test)]
mod chase;
pub mod effort;
pub mod engine;
pub mod flood;
pub mod game;
pub mod learning;
pub mod nim;
pub mod options;
pub mod play;
pub mod review;
#[cfg(test)]
mod rows;
pub mod score;
pub mod search;
pub mod svg;
pub mod zobrist;
