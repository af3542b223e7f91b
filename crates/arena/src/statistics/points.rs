//! The points of a player and how far chance can move them: what every figure of a match is computed from.

use std::ops::Add;

use serde::Serialize;

use super::{elo, normal, student};

/// The points that a player made, with what is needed to see how far chance can move them.
///
/// ```
/// use plyd_arena::statistics::{Games, Pairs};
///
/// // Ten pairs by their half points, and three games without another one of the same opening.
/// let (pairs, singles) = (Pairs { counts: [0, 2, 3, 4, 1] }, Games { counts: [1, 0, 2] });
/// let points = pairs.points() + singles.points();
/// assert_eq!((points.games, points.units, points.made), (23, 13, 14.0));
/// assert!(points.elo().is_some_and(|elo| elo.value > 0.0 && elo.error > elo.value));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Points {
    /// How many games were played.
    pub games: u64,
    /// The points made in them: 1 for a win, 1/2 for a draw.
    pub made: f64,
    /// How many results these are that do not depend on each other: pairs, and games without a pair.
    pub units: u64,
    /// The sums over the units of the points squared, the points times the games, and the games squared.
    pub(super) products: [f64; 3],
}

/// A value with its 95 % confidence interval, which reaches from `value - error` to `value + error`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Half the width of its interval. Infinite, and `null` as JSON, if the results say nothing of how far
    /// chance can move the value: all pairs ended alike, or there is only one.
    pub error: f64,
}

impl Estimate {
    /// Whether the results say how far chance can move the value.
    #[must_use]
    pub fn has_error(&self) -> bool {
        self.error.is_finite()
    }

    /// A share of the points as a difference in Elo: see [`Points::elo`].
    pub(super) fn to_elo(self) -> Option<Self> {
        let Self { value, error } = self;
        let middle = elo(value);
        if !self.has_error() {
            return middle.is_finite().then_some(Self { value: middle, error });
        }
        let (low, high) = (elo(value - error), elo(value + error));
        (low.is_finite() && high.is_finite()).then(|| Self { value: middle, error: (high - low) / 2.0 })
    }
}

impl Points {
    /// The share of the points, from 0 to 1; none without a game. The interval is Student's, with one degree
    /// of freedom less than there are units: "Student", "The probable error of a mean" (1908).
    #[must_use]
    pub fn score(&self) -> Option<Estimate> {
        let games = self.games as f64;
        let error = || student::error_95(self.variance(), self.units, 1) / games;
        (self.games > 0).then(|| Estimate { value: self.made / games, error: error() })
    }

    /// The difference in Elo, see [`elo()`]; none if a score is 0 or 1, which no finite difference
    /// explains, or if the interval reaches there. The error is half the difference of the values at the
    /// ends of the score's interval.
    #[must_use]
    pub fn elo(&self) -> Option<Estimate> {
        self.score()?.to_elo()
    }

    /// The likelihood of superiority: the probability, from 0 to 1, that the player is the stronger one, by
    /// the normal approximation; none if all results were alike, which says nothing about chance.
    #[must_use]
    pub fn superiority(&self) -> Option<f64> {
        let (lead, variance) = (self.made - self.games as f64 / 2.0, self.variance());
        (variance > 0.0).then(|| normal::cumulative(lead / variance.sqrt()))
    }

    /// The variance of `made` as it was seen: the squares of each unit's points beyond the common share of
    /// its games. (W. G. Cochran, "Sampling Techniques" (1977), 6.3, for units of different sizes.)
    pub(super) fn variance(&self) -> f64 {
        let share = if self.games > 0 { self.made / self.games as f64 } else { 0.0 };
        let [squares, products, sizes] = self.products;
        (squares - 2.0 * share * products + share * share * sizes).max(0.0)
    }
}

impl Add for Points {
    type Output = Self;

    /// The points of games that do not depend on each other.
    fn add(self, other: Self) -> Self {
        let products = std::array::from_fn(|index| self.products[index] + other.products[index]);
        Self {
            games: self.games + other.games,
            made: self.made + other.made,
            units: self.units + other.units,
            products,
        }
    }
}
