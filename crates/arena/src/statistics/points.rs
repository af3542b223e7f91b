//! The points of a player and how far chance can move them: what every figure of a match is computed from.

use std::ops::Add;

use serde::Serialize;

use super::elo;
use super::normal::{self, Z_95};

/// The points that a player made, with their variance.
///
/// ```
/// use plyd_arena::statistics::{Games, Pairs};
///
/// // Ten pairs by their half points, and three games without another one of the same opening.
/// let (pairs, singles) = (Pairs { counts: [0, 2, 3, 4, 1] }, Games { counts: [1, 0, 2] });
/// let points = pairs.points() + singles.points();
/// assert_eq!((points.games, points.made), (23, 14.0));
/// assert!(points.elo().is_some_and(|elo| elo.value > 0.0 && elo.error > elo.value));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Points {
    /// How many games were played.
    pub games: u64,
    /// The points made in them: 1 for a win, 1/2 for a draw.
    pub made: f64,
    /// The variance of `made`, by the results that were seen.
    pub variance: f64,
}

/// A value with its 95 % confidence interval, which reaches from `value - error` to `value + error`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Half the width of its interval.
    pub error: f64,
}

impl Points {
    /// The share of the points, from 0 to 1, by the normal approximation; none without a game.
    #[must_use]
    pub fn score(&self) -> Option<Estimate> {
        let games = self.games as f64;
        (self.games > 0)
            .then(|| Estimate { value: self.made / games, error: Z_95 * self.variance.sqrt() / games })
    }

    /// The difference in Elo, see [`elo()`]; none if a score is 0 or 1, which no finite difference
    /// explains, or if the interval reaches there. The error is half the difference of the values at the
    /// ends of the score's interval.
    #[must_use]
    pub fn elo(&self) -> Option<Estimate> {
        let Estimate { value, error } = self.score()?;
        let (low, high) = (elo(value - error), elo(value + error));
        (low.is_finite() && high.is_finite())
            .then(|| Estimate { value: elo(value), error: (high - low) / 2.0 })
    }

    /// The likelihood of superiority: the probability, from 0 to 1, that the player is the stronger one, by
    /// the normal approximation; none if all results were alike, which says nothing about chance.
    #[must_use]
    pub fn superiority(&self) -> Option<f64> {
        let lead = self.made - self.games as f64 / 2.0;
        (self.variance > 0.0).then(|| normal::cumulative(lead / self.variance.sqrt()))
    }
}

impl Add for Points {
    type Output = Self;

    /// The points of games that do not depend on each other.
    fn add(self, other: Self) -> Self {
        Self {
            games: self.games + other.games,
            made: self.made + other.made,
            variance: self.variance + other.variance,
        }
    }
}
