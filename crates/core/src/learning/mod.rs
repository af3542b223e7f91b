//! Weights of an evaluation from games of a shallow search against itself.
//!
//! In reading order: [`td`] (the numbers), [`network`] (what can learn), [`selfplay`] (its games). It knows
//! neither files nor how games are shared out to threads, and reads no clock. [`network::Network`] has an
//! example of a whole training.

pub mod network;
pub mod selfplay;
pub mod td;
