//! What a match says about strength: score, its error, and Elo.
//!
//! The unit is the pair of games of one opening with sides swapped: the two games depend on each other, so that errors
//! taken from single games (the trinomial model) are wrong, most where openings favour a side. The pentanomial
//! model counts pairs by their points 0, 1/2, 1, 3/2, 2; see <https://www.chessprogramming.org/Match_Statistics>
//! and M. Van den Bergh, "A practical introduction to the GSPRT" (2019).

use serde::Serialize;

/// The quantile of the normal distribution that leaves 2.5 % on each side.
const Z_95: f64 = 1.959_963_984_540_054;

/// Pairs of games by the points that a player made in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Pairs {
    /// How many pairs with 0, 1, 2, 3 and 4 half points.
    pub counts: [u64; 5],
}

/// A value and what is to be added and taken away from it for 95 % confidence.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Half the width of its interval.
    pub error: f64,
}

impl Pairs {
    /// Adds a pair in which so many half points were made.
    ///
    /// # Panics
    /// If they are more than 4.
    pub fn add(&mut self, half_points: usize) {
        self.counts[half_points] += 1;
    }

    /// How many pairs there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The share of the points, from 0 to 1; none without a pair. The error is that of the mean of pairs that are
    /// drawn independently, by the variance of those that were seen.
    #[must_use]
    pub fn score(&self) -> Option<Estimate> {
        let total = self.total() as f64;
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            let shares = self.counts.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]);
            shares.map(|(count, share)| *count as f64 * of(share)).sum::<f64>() / total
        };
        (total > 0.0).then(|| {
            let value = mean(&|share| share);
            let variance = mean(&|share| (share - value).powi(2));
            Estimate { value, error: Z_95 * (variance / total).sqrt() }
        })
    }

    /// The difference in Elo, see [`elo`]; none where a score is 0 or 1, which no finite difference explains, or where the interval
    /// reaches there.
    #[must_use]
    pub fn elo(&self) -> Option<Estimate> {
        let Estimate { value, error } = self.score()?;
        let (low, high) = (elo(value - error), elo(value + error));
        (low.is_finite() && high.is_finite())
            .then(|| Estimate { value: elo(value), error: (high - low) / 2.0 })
    }
}

/// The difference in Elo that makes a player score this share: the inverse of 1 / (1 + 10^(-elo / 400)). Infinite at 0 and 1,
/// and not a number beyond.
#[must_use]
pub fn elo(score: f64) -> f64 {
    400.0 * (score / (1.0 - score)).log10()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zobrist::SplitMix64;

    fn close(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 0.0051
    }

    #[test]
    fn scores_of_known_elo() {
        // FIDE Handbook B.02 8.1.2, the logistic curve: 10:1 odds at 400, and symmetric.
        for (score, expected) in [(0.5, 0.0), (10.0 / 11.0, 400.0), (1.0 / 11.0, -400.0), (0.75, 190.85)] {
            assert!(close(elo(score), expected), "{score}: {}", elo(score));
        }
    }

    #[test]
    fn matches_published_results() {
        // What fastchess printed for matches whose pentanomial counts it gave.
        for (counts, value, error) in [
            ([1, 10, 78, 48, 13], 72.85, 22.33),
            ([352, 579, 1264, 743, 464], 19.83, 6.77),
            ([4, 3, 34, 42, 117], 277.00, 40.90),
            ([0, 0, 1, 8, 1], 190.85, 65.54),
            ([0, 1, 0, 1, 0], 0.0, 296.58),
        ] {
            let elo = Pairs { counts }.elo().unwrap();
            assert!(close(elo.value, value) && close(elo.error, error), "{counts:?}: {elo:?}");
        }
    }

    #[test]
    fn no_pairs_say_nothing_and_lost_ones_no_elo() {
        assert_eq!(Pairs::default().score(), None);
        let lost = Pairs { counts: [3, 0, 0, 0, 0] };
        assert_eq!(lost.score(), Some(Estimate { value: 0.0, error: 0.0 }));
        assert_eq!(lost.elo(), None);
        assert_eq!(Pairs { counts: [0, 0, 0, 1, 9] }.elo(), None, "the interval reaches beyond 1");
    }

    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let likely = [0.1, 0.2, 0.35, 0.25, 0.1];
        let truth: f64 = likely.iter().zip(0..).map(|(share, points)| share * f64::from(points) / 4.0).sum();
        let mut random = SplitMix64::new(4);
        let draw = |random: &mut SplitMix64| {
            let mut rest = random.below(1_000_000) as f64 / 1e6;
            likely.iter().position(|share| {
                rest -= share;
                rest < 0.0
            })
        };
        let holds = |_: &u32| {
            let mut pairs = Pairs::default();
            (0..200).for_each(|_| pairs.add(draw(&mut random).unwrap_or(4)));
            let Estimate { value, error } = pairs.score().unwrap();
            (value - truth).abs() <= error
        };
        let held = (0..4000).filter(holds).count();
        // 95 % of 4000 with three standard deviations.
        assert!((3759..=3841).contains(&held), "{held}");
    }
}
