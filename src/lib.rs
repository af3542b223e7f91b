//! plyd, a game-engine daemon: one long-lived process that plays board games behind a line-based JSON protocol.
//!
//! 1. [`game`]: what a game is, as traits and plain values; [`score`] and [`zobrist`] are its arithmetic.
//! 2. [`games`]: the registry, one folder a game.
//! 3. [`search`]: the searches, generic over game and evaluation.
//! 4. [`engine`]: games and searches as objects; the only place where types are erased.
//! 5. [`options`]: what players take.

pub mod engine;
pub mod game;
pub mod games;
pub mod options;
pub mod score;
pub mod search;
pub mod zobrist;
