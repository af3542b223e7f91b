//! What the referee of a match allows, and when it decides a game itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::micros;

/// What the referee allows.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_arena::Strictness;
///
/// let lenient = Strictness { margin: Duration::from_millis(5), ..Strictness::default() };
/// assert_eq!(lenient.max_moves, 500);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Strictness {
    /// How much later than its clock an answer may arrive.
    #[serde(rename = "margin_us", with = "micros")]
    pub margin: Duration,
    /// How long to wait for an answer beyond its clock and the margin, and for any other answer.
    #[serde(rename = "patience_us", with = "micros")]
    pub timeout: Duration,
    /// How many moves after the opening a game may take; then it is a draw.
    pub max_moves: usize,
    /// Which games end before their rules end them.
    pub adjudication: Adjudication,
    /// Whether to forgive an answer that is late by no more than the machine stood still.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgives_stalls: bool,
}

impl Default for Strictness {
    /// A late answer loses at once, a missing one loses after 10 s, and a game of 500 moves is a draw.
    fn default() -> Self {
        Self {
            margin: Duration::ZERO,
            timeout: Duration::from_secs(10),
            max_moves: 500,
            adjudication: Adjudication::Never,
            forgives_stalls: false,
        }
    }
}

/// When the referee decides a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjudication {
    /// Never.
    #[default]
    Never,
    /// When the latest answers of both players announce the same proven end.
    Proof,
}
