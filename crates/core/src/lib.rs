//! What a board game is to plyd, and how it is searched.
//!
//! Nothing here knows the protocol, JSON, files or a network; the only clock is [`search::clock`]. In reading
//! order:
//!
//! 1. [`game`]: what a game is, as traits and plain values; [`score`] and [`zobrist`] are its arithmetic, and
//!    [`effort`] bounds its work.
//! 2. [`options`]: what players take; [`options::weights`] are the evaluations' own.
//! 3. [`search`]: the searches, generic over game and evaluation.
//! 4. [`learning`]: what an evaluation with tables learns from its own games.
//! 5. [`engine`]: games and searches as objects; a game's levels, rules and options by name.
//!
//! Arrows go up this list only.

#[cfg(test)]
mod chase;
pub mod effort;
pub mod engine;
pub mod game;
pub mod learning;
#[cfg(test)]
mod nim;
pub mod options;
#[cfg(test)]
mod rows;
pub mod score;
pub mod search;
pub mod zobrist;
