//! Temporal differences: weights from games whose positions were valued by a search.
//!
//! Source: Sutton, "Learning to Predict by the Methods of Temporal Differences", 1988. A position's value is
//! moved towards its return: a mean of what the search said there and of the return of the position after it,
//! which at the end is the result (the lambda-return, computed from the end of the game on). Knows neither
//! games nor searches. Weights are whole numbers between updates, and powers are `libm`'s, so that all
//! machines agree and a file keeps them exactly.

/// The parts of a unit in which weights are kept between updates.
const PARTS: i32 = 1 << 16;

/// A game that was played.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Played {
    /// The positions, in their order.
    pub seen: Vec<Seen>,
    /// The result for the first player: 1, 0.5 or 0.
    pub result: f64,
}

/// A position; its numbers are log-odds that the side to move wins.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// Whether the first player was to move.
    pub is_first: bool,
    /// What does not depend on weights.
    pub base: f64,
    /// What a weight of 1 counts.
    pub unit: f64,
    /// The weights that are added up.
    pub active: Vec<u32>,
    /// How likely the first player wins, as the search said.
    pub outlook: f64,
}

/// Weights that learn.
///
/// ```
/// use plyd_core::learning::td::{Learning, Played, Seen, Weights};
///
/// // The first player won from a position in which the weights 0 and 2 count.
/// let seen = Seen { is_first: true, base: 0.0, unit: 1.0, active: vec![0, 2], outlook: 0.5 };
/// let won = Played { seen: vec![seen], result: 1.0 };
/// let mut weights = Weights::new(3, 100);
/// let errors = [0; 20].map(|_| weights.learn(&[won.clone()], Learning { lambda: 1.0, rate: 0.5 }));
/// assert!(errors[19] < errors[0]);
/// assert_eq!(weights.whole(), [1, 0, 1]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weights {
    /// Each weight in its parts: see [`PARTS`].
    parts: Vec<i32>,
    most: i32,
}

/// How a game moves the weights.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Learning {
    /// How much of a position's return is the return of the next one; the rest is the search's value.
    pub lambda: f64,
    /// The part of its error by which a position moves its own value; a weight that it holds several times
    /// moves as often.
    pub rate: f64,
}

/// The logistic function: the probability at odds of `e` to the power of `x` to one.
#[must_use]
pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

impl Weights {
    /// `len` weights, all 0, which never exceed the magnitude `most`.
    #[must_use]
    pub fn new(len: usize, most: i16) -> Self {
        Self { parts: vec![0; len], most: i32::from(most) * PARTS }
    }

    /// Weights from a file; none if their number or one of them is wrong.
    #[must_use]
    pub fn kept(parts: Vec<i32>, len: usize, most: i16) -> Option<Self> {
        let weights = Self { parts, ..Self::new(0, most) };
        let fits = weights.parts.iter().all(|part| (-weights.most..=weights.most).contains(part));
        (fits && weights.parts.len() == len).then_some(weights)
    }

    /// What [`Weights::kept`] takes.
    #[must_use]
    pub fn parts(&self) -> &[i32] {
        &self.parts
    }

    /// The weights, rounded.
    #[must_use]
    pub fn whole(&self) -> Vec<i16> {
        // Rounded up from halves on; within `most`, which 16 bits hold.
        self.parts.iter().map(|&part| (part + PARTS / 2).div_euclid(PARTS) as i16).collect()
    }

    /// Learns from games, all of them valued with the present weights; gives the mean squared error of their
    /// positions.
    pub fn learn(&mut self, games: &[Played], learning: Learning) -> f64 {
        let mut moves = Vec::new();
        let (mut squares, mut positions) = (0.0, 0);
        for game in games {
            let mut following = game.result;
            for seen in game.seen.iter().rev() {
                following = learning.lambda * following + (1.0 - learning.lambda) * seen.outlook;
                let expected = if seen.is_first { following } else { 1.0 - following };
                let error = expected - logistic(self.value(seen));
                squares += error * error;
                positions += 1;
                let step = learning.rate * error / (seen.unit * seen.active.len() as f64);
                let parts = (step * f64::from(PARTS)).round() as i32;
                moves.extend(seen.active.iter().map(|&weight| (weight, parts)));
            }
        }
        for (weight, moved) in moves {
            let part = &mut self.parts[weight as usize];
            *part = part.saturating_add(moved).clamp(-self.most, self.most);
        }
        squares / f64::from(positions.max(1))
    }

    /// A position's value with the weights in all their parts.
    fn value(&self, seen: &Seen) -> f64 {
        let sum: i64 = seen.active.iter().map(|&weight| i64::from(self.parts[weight as usize])).sum();
        seen.base + seen.unit * sum as f64 / f64::from(PARTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zobrist::SplitMix64;

    fn seen(is_first: bool, active: &[u32], outlook: f64) -> Seen {
        Seen { is_first, base: 0.0, unit: 0.5, active: active.to_vec(), outlook }
    }

    #[test]
    fn a_game_moves_its_weights_towards_its_returns() {
        let seen = vec![seen(true, &[0, 1], 0.6), seen(false, &[2, 2], 0.8), seen(true, &[0, 2], 1.0)];
        let game = Played { seen, result: 1.0 };
        let mut weights = Weights::new(4, 100);
        let error = weights.learn(&[game], Learning { lambda: 0.5, rate: 1.0 });
        // The returns of the first player: 1, 0.9, 0.75; all values are 0.5, the second one of the other
        // side.
        let moved = [0.5 + 0.25, 0.25, -2.0 * 0.4 + 0.5, 0.0];
        for (part, moved) in weights.parts.iter().zip(moved) {
            assert!((f64::from(*part) / f64::from(PARTS) - moved).abs() < 1e-4, "{:?}", weights.parts);
        }
        assert!((error - (0.25 + 0.16 + 0.0625) / 3.0).abs() < 1e-9, "{error}");
        assert_eq!(weights.whole(), [1, 0, 0, 0]);
    }

    #[test]
    fn values_come_to_how_often_games_are_won() {
        let (mut random, mut weights) = (SplitMix64::new(1), Weights::new(2, 100));
        for number in 0..20_000 {
            let won = f64::from(u8::from(random.below(4) > 0));
            let seen = vec![seen(true, &[0], 0.0), seen(false, &[1], 0.0)];
            let rate = 0.2 * (1.0 - f64::from(number) / 20_000.0);
            weights.learn(&[Played { seen, result: won }], Learning { lambda: 1.0, rate });
        }
        for (weight, sign) in [(0, 1.0), (1, -1.0)] {
            let value = weights.value(&seen(true, &[weight], 0.0));
            assert!((value - sign * libm::log(3.0)).abs() < 0.1, "{value}");
        }
    }

    #[test]
    fn weights_stay_in_their_range_and_are_rounded() {
        let mut weights = Weights::new(1, 3);
        for _ in 0..50 {
            let won = Played { seen: vec![seen(true, &[0], 0.0)], result: 1.0 };
            weights.learn(&[won], Learning { lambda: 1.0, rate: 1.0 });
        }
        assert_eq!((weights.whole(), weights.parts()), (vec![3], &[3 * PARTS][..]));
        let parts = [PARTS / 2, PARTS / 2 - 1, -PARTS / 2, -PARTS / 2 - 1, -3 * PARTS].to_vec();
        assert_eq!(Weights::kept(parts, 5, 3).unwrap().whole(), [1, 0, 0, -1, -3]);
    }

    #[test]
    fn what_was_not_kept_whole_is_not_gone_on_with() {
        for (parts, fits) in [
            (vec![0, PARTS], true),
            (vec![0], false),
            (vec![0; 3], false),
            (vec![0, PARTS + 1], false),
            (vec![i32::MIN, 0], false),
        ] {
            assert_eq!(Weights::kept(parts.clone(), 2, 1).is_some(), fits, "{parts:?}");
        }
    }
}
