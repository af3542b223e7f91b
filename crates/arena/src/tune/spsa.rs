//! Simultaneous perturbation stochastic approximation (SPSA) finds better values of several numbers from
//! noisy comparisons.
//!
//! Source: Spall, "Multivariate Stochastic Approximation Using a Simultaneous Perturbation Gradient
//! Approximation" (1992), and "Implementation of the Simultaneous Perturbation Algorithm" (1998) for the
//! gains, which are given as in Fishtest, by the last perturbation and the last rate. Knows no game: the
//! result of a pair of games is a number from -2 to 2. The same seed and results give the same values on
//! every machine.

use plyd_core::zobrist::{SplitMix64, mix};
use serde::{Deserialize, Serialize};

/// The exponent by which the product of rate and perturbation falls.
const ALPHA: f64 = 0.602;
/// The exponent by which the perturbation falls.
const GAMMA: f64 = 0.101;
/// Spall's A, as a share of all pairs: it delays the fall of the rate.
const STABILITY: f64 = 0.1;

/// A number to tune.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter {
    /// The smallest value.
    pub min: i64,
    /// The largest value.
    pub max: i64,
    /// The value at the beginning.
    pub start: i64,
    /// The perturbation of the last pair: by how much its settings differ from the value, either way.
    pub step: f64,
}

/// How long the numbers are tuned, and how fast they move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gains {
    /// The number of pairs of games, over the whole tuning.
    pub pairs: u64,
    /// By what part of its step a value moves for one won game of the last pair.
    pub rate: f64,
}

/// Two settings that play a pair of games.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Probe {
    /// The setting whose points count.
    pub plus: Vec<i64>,
    /// Its opponent.
    pub minus: Vec<i64>,
}

/// The values so far.
///
/// ```
/// use plyd_arena::tune::spsa::{Gains, Parameter, Probe, Spsa};
///
/// // A game that is won by the larger number.
/// let number = Parameter { min: 0, max: 1000, start: 100, step: 30.0 };
/// let mut spsa = Spsa::new(vec![number], Gains { pairs: 100, rate: 0.2 }, 1);
/// for pair in 0..100 {
///     let Probe { plus, minus } = spsa.probe(pair);
///     spsa.learn(&[if plus[0] > minus[0] { 2 } else { -2 }]);
/// }
/// assert!(spsa.values()[0] > 500);
/// ```
#[derive(Clone, Debug)]
pub struct Spsa {
    parameters: Vec<Parameter>,
    gains: Gains,
    seed: u64,
    values: Vec<f64>,
    /// Pairs that the values have learned from.
    learned: u64,
}

impl Spsa {
    /// The numbers at their start.
    #[must_use]
    pub fn new(parameters: Vec<Parameter>, gains: Gains, seed: u64) -> Self {
        let values = parameters.iter().map(|parameter| parameter.start as f64).collect();
        Self { parameters, gains, seed, values, learned: 0 }
    }

    /// The settings of a pair, counted from 0: the values, all moved by their perturbation, each in a
    /// direction of its own.
    #[must_use]
    pub fn probe(&self, pair: u64) -> Probe {
        let mut random = self.random(pair);
        let (mut plus, mut minus) = (Vec::new(), Vec::new());
        for (parameter, value) in self.parameters.iter().zip(&self.values) {
            let moved = direction(&mut random) * self.perturbation() * parameter.step;
            // Rounded at random, so that a perturbation of less than 1 has its effect on average.
            let part = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
            let whole = |value: f64| ((value + part).floor() as i64).clamp(parameter.min, parameter.max);
            plus.push(whole(value + moved));
            minus.push(whole(value - moved));
        }
        Probe { plus, minus }
    }

    /// Learns from the next pairs: for each, the games that `plus` won minus those that it lost. All of them
    /// were probed with the present values and the gains of the first.
    pub fn learn(&mut self, results: &[i32]) {
        let rate = self.rate();
        let mut moves = vec![0.0; self.values.len()];
        for (pair, &result) in (self.learned..).zip(results) {
            let mut random = self.random(pair);
            for (moved, parameter) in moves.iter_mut().zip(&self.parameters) {
                *moved += direction(&mut random) * f64::from(result) * rate * parameter.step;
                random.next();
            }
        }
        for ((value, moved), parameter) in self.values.iter_mut().zip(moves).zip(&self.parameters) {
            *value = (*value + moved).clamp(parameter.min as f64, parameter.max as f64);
        }
        self.learned += results.len() as u64;
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> Vec<i64> {
        self.values.iter().map(|value| value.round() as i64).collect()
    }

    /// The random numbers of a pair's settings; two a parameter, the first its direction.
    fn random(&self, pair: u64) -> SplitMix64 {
        SplitMix64::new(mix(self.seed ^ mix(pair + 1)))
    }

    /// The present perturbation, in steps.
    fn perturbation(&self) -> f64 {
        // libm's, so that all machines agree.
        libm::pow(self.gains.pairs as f64 / (self.learned + 1) as f64, GAMMA)
    }

    /// By what part of its step a value moves for one won game now.
    fn rate(&self) -> f64 {
        let all = self.gains.pairs as f64;
        let delay = STABILITY * all;
        let fallen = libm::pow((delay + all) / (delay + (self.learned + 1) as f64), ALPHA);
        self.gains.rate * fallen / self.perturbation()
    }
}

fn direction(random: &mut SplitMix64) -> f64 {
    if random.next() >> 63 == 0 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: u64 = 8000;

    fn parameters() -> Vec<Parameter> {
        vec![
            Parameter { min: 0, max: 1000, start: 200, step: 50.0 },
            Parameter { min: -100, max: 100, start: 90, step: 6.0 },
            Parameter { min: 0, max: 10, start: 5, step: 0.6 },
        ]
    }

    /// Tunes against games that are won the more likely the nearer the setting is to the best one, drawn from
    /// the seed.
    fn tuned(best: [f64; 3], batch: u64, seed: u64) -> Vec<i64> {
        let mut spsa = Spsa::new(parameters(), Gains { pairs: PAIRS, rate: 0.02 }, seed);
        let mut random = SplitMix64::new(seed + 1);
        // A step away costs 0.1 of the logit.
        let loss = |setting: &[i64]| -> f64 {
            let terms = setting.iter().zip(best).zip(parameters());
            terms.map(|((&value, best), of)| 0.1 * ((value as f64 - best) / of.step).powi(2)).sum()
        };
        for first in (0..PAIRS).step_by(batch as usize) {
            let results: Vec<i32> = (first..first + batch)
                .map(|pair| {
                    let Probe { plus, minus } = spsa.probe(pair);
                    let chance = 1.0 / (1.0 + (loss(&plus) - loss(&minus)).exp());
                    let mut game =
                        || if (random.below(1 << 20) as f64) < chance * f64::from(1 << 20) { 1 } else { -1 };
                    game() + game()
                })
                .collect();
            spsa.learn(&results);
        }
        spsa.values()
    }

    #[test]
    fn the_best_of_a_noisy_quadratic_is_found() {
        let best = [600.0, -30.0, 2.0];
        for (batch, seed) in [(1, 1), (8, 2), (40, 3)] {
            let values = tuned(best, batch, seed);
            for ((value, best), of) in values.iter().zip(best).zip(parameters()) {
                let off = (*value as f64 - best).abs();
                assert!(off <= 1.5 * of.step.max(1.0), "{values:?} instead of {best:?}");
            }
        }
    }

    #[test]
    fn values_stay_in_their_ranges() {
        for best in [[5000.0, -500.0, 40.0], [-5000.0, 500.0, -40.0]] {
            let values = tuned(best, 8, 5);
            for ((value, best), of) in values.iter().zip(best).zip(parameters()) {
                assert_eq!(*value, if best > 0.0 { of.max } else { of.min }, "{values:?}");
            }
        }
    }

    #[test]
    fn settings_lie_on_both_sides_of_the_values() {
        let spsa = Spsa::new(parameters(), Gains { pairs: 1, rate: 0.1 }, 7);
        let mut seen = [[0.0; 2]; 3];
        for pair in 0..2000 {
            let Probe { plus, minus } = spsa.probe(pair);
            for (i, of) in parameters().iter().enumerate() {
                let [plus, minus] = [plus[i], minus[i]];
                assert!(of.min <= plus.min(minus) && plus.max(minus) <= of.max);
                seen[i][0] += (plus - minus) as f64 / 2000.0;
                seen[i][1] += (plus - minus).abs() as f64 / 2000.0;
            }
        }
        for ([mean, apart], of) in seen.into_iter().zip(parameters()) {
            // The second one's upper setting is cut off at 100, which is more than its step away.
            assert!(
                mean.abs() < 0.2 * of.step && (apart - 2.0 * of.step).abs() < 0.2 * of.step,
                "{mean} {apart}"
            );
        }
    }

    #[test]
    fn the_last_pair_moves_a_value_by_the_rate() {
        let gains = Gains { pairs: 1000, rate: 0.25 };
        let mut spsa = Spsa::new(parameters(), gains, 3);
        spsa.learn(&vec![0; 999]);
        assert_eq!(spsa.values, [200.0, 90.0, 5.0]);
        let Probe { plus, minus } = spsa.probe(999);
        spsa.learn(&[1]);
        let moved = if plus[0] > minus[0] { 12.5 } else { -12.5 };
        assert!((spsa.values[0] - 200.0 - moved).abs() < 1e-9, "{:?}", spsa.values);
    }
}
