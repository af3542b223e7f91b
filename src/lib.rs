//! plyd, a game-engine daemon: one long-lived process that plays board games behind a line-based JSON protocol.
//!
//! 1. [`game`]: what a game is, as traits and plain values; [`score`] and [`zobrist`] are its arithmetic.
//! 2. [`games`]: the registry, one folder a game.
//! 3. [`search`]: the searches, generic over game and evaluation.
//! 4. [`engine`]: games and searches as objects; the only place where types are erased.
//! 5. [`options`] and [`settings`]: what players and rules take, and how a client's words are checked.
//! 6. [`daemon`]: connections, sessions, jobs, threads and transports.

pub mod daemon;
pub mod engine;
pub mod game;
pub mod games;
pub mod options;
pub mod score;
pub mod search;
pub mod settings;
pub mod zobrist;
