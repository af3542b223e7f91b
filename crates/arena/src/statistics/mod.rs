//! What games say about strength: scores and Elo with their errors, a sequential test, ratings and a
//! crosstable.
//!
//! Pure arithmetic: it knows neither how games are played nor how its figures are shown.
//!
//! The unit is the pair of games of one opening with sides swapped: the two games depend on each other, so
//! that errors taken from single games (the trinomial model) are wrong, most if openings favour a side.
//! The pentanomial model counts pairs by their points 0, 1/2, 1, 3/2, 2; see
//! <https://www.chessprogramming.org/Match_Statistics> and M. Van den Bergh, "A practical introduction to the
//! GSPRT" (2019). Games outside of a pair are counted as single ones.

mod crosstable;
mod elo;
mod likelihood;
mod normal;
mod pairing;
mod points;
pub mod ratings;
#[cfg(test)]
mod simulation;
pub mod sprt;
mod student;
mod tally;

pub use crosstable::{Cell, Row, crosstable};
pub use elo::{elo, expected_score};
pub use normal::Z_95;
pub use pairing::Pairing;
pub use points::{Estimate, Points};
pub use tally::{Games, Pairs, Tally};
