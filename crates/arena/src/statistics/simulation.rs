//! Matches between players of known strength, to see whether the figures find it.

use plyd_core::zobrist::SplitMix64;

use super::{Estimate, Pairs, expected_score};

/// Two players whose strength is known, on openings that favour one side.
pub(super) struct Opponents {
    /// The probabilities of a pair with 0 to 4 half points.
    likely: [f64; 5],
}

impl Opponents {
    /// A first player that is `elo` stronger, with this share of draws. The side that moves first scores
    /// `advantage` more than the strengths predict, and the other side as much less.
    ///
    /// # Panics
    /// If the three do not go together.
    pub(super) fn new(elo: f64, draws: f64, advantage: f64) -> Self {
        let games = [advantage, -advantage].map(|advantage| {
            let wins = expected_score(elo) + advantage - draws / 2.0;
            let losses = 1.0 - draws - wins;
            assert!(wins >= 0.0 && losses >= 0.0, "{elo} {draws} {advantage}");
            [losses, draws, wins]
        });
        let mut likely = [0.0; 5];
        for (first, p) in games[0].iter().enumerate() {
            for (second, q) in games[1].iter().enumerate() {
                likely[first + second] += p * q;
            }
        }
        Self { likely }
    }

    /// The half points of the first player in a pair.
    pub(super) fn pair(&self, random: &mut SplitMix64) -> usize {
        let mut rest = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let hit = self.likely.iter().position(|likely| {
            rest -= likely;
            rest < 0.0
        });
        // What rounding leaves beyond the sum of all.
        hit.unwrap_or(4)
    }

    /// So many pairs.
    pub(super) fn pairs(&self, count: usize, random: &mut SplitMix64) -> Pairs {
        let mut pairs = Pairs::default();
        (0..count).for_each(|_| pairs.add(self.pair(random)));
        pairs
    }

    /// The standard deviation of a pair's share of the points.
    pub(super) fn deviation(&self) -> f64 {
        let mean = |of: &dyn Fn(f64) -> f64| -> f64 {
            self.likely
                .iter()
                .zip([0.0, 0.25, 0.5, 0.75, 1.0])
                .map(|(likely, share)| likely * of(share))
                .sum()
        };
        let centre = mean(&|share| share);
        mean(&|share| (share - centre).powi(2)).sqrt()
    }
}

/// Whether 93 % to 97 % of so many simulations hold the truth in the interval, for each of the estimates that
/// a simulation makes with its truth.
pub(super) fn held_in_95_percent<const N: usize>(
    simulations: usize,
    mut simulate: impl FnMut() -> [(Estimate, f64); N],
) -> [bool; N] {
    let mut held = [0; N];
    for _ in 0..simulations {
        for (held, (estimate, truth)) in held.iter_mut().zip(simulate()) {
            *held += usize::from((estimate.value - truth).abs() <= estimate.error);
        }
    }
    held.map(|held| (0.93..=0.97).contains(&(held as f64 / simulations as f64)))
}
