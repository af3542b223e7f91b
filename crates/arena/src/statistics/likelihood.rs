//! How likely the results of a match are if its players' strengths differ by a given amount: the generalised
//! log-likelihood ratio of a multinomial distribution.
//!
//! Both hypotheses leave the shapes of the distributions open, so each is judged by the most likely
//! distribution that fulfils it. Sources: M. Van den Bergh, "Comparing the approximations for the generalized
//! log likelihood ratio of a multinomial distribution"
//! (<https://www.cantate.be/Fishtest/comparing_approximations.pdf>, proposition 1.1) for a given mean, and
//! "Comments on normalized Elo" (<https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>, section 4.1)
//! for a given t-value.

use super::Tally;

/// The pseudo-count in the place of 0, so that no result is thought impossible; fishtest and fastchess use
/// the same.
const UNSEEN: f64 = 1e-3;

/// The distance below which two distributions count as the same.
const TOLERANCE: f64 = 1e-9;

/// The most rounds of an iteration; the usual ones need about 10.
const ROUNDS: usize = 100;

/// Probabilities of the results that make 0, 1, ... of `N - 1` half points.
#[derive(Clone, Copy)]
pub(super) struct Distribution<const N: usize> {
    probabilities: [f64; N],
    /// The sum of the counts that it was made from.
    total: f64,
}

impl<const N: usize> Distribution<N> {
    /// The distribution of the results that were seen.
    pub(super) fn seen(tally: &Tally<N>) -> Self {
        let counts = tally.counts.map(|count| if count == 0 { UNSEEN } else { count as f64 });
        let total = counts.iter().sum();
        Self { probabilities: counts.map(|count| count / total), total }
    }

    /// The logarithm of how much more likely the results are if the mean share of the points is `shares[1]`
    /// than if it is `shares[0]`; both are between 0 and 1.
    pub(super) fn ratio_of_means(&self, shares: [f64; 2]) -> f64 {
        self.ratio(shares.map(|share| self.tilted(&Self::each(|x| x - share))))
    }

    /// The logarithm of how much more likely the results are if the mean share of the points is `values[1]`
    /// standard deviations above 1/2 than if it is `values[0]`.
    pub(super) fn ratio_of_t_values(&self, values: [f64; 2]) -> f64 {
        self.ratio(values.map(|value| self.with_t_value(value)))
    }

    fn ratio(&self, [null, alternative]: [[f64; N]; 2]) -> f64 {
        let ratios = alternative.iter().zip(null).map(|(alternative, null)| (alternative / null).ln());
        self.total * self.probabilities.iter().zip(ratios).map(|(seen, ratio)| seen * ratio).sum::<f64>()
    }

    /// The most likely distribution whose mean is `value` of its own standard deviations above 1/2. The
    /// constraint is made linear around the last distribution and met again until it does not move.
    fn with_t_value(&self, value: f64) -> [f64; N] {
        let mut found = [1.0 / N as f64; N];
        for _ in 0..ROUNDS {
            let mean = expectation(&found, &Self::each(|x| x));
            let deviation = expectation(&found, &Self::each(|x| (x - mean).powi(2))).sqrt();
            let constraint =
                Self::each(|x| x - 0.5 - value * deviation * (1.0 + ((x - mean) / deviation).powi(2)) / 2.0);
            let next = self.tilted(&constraint);
            let moved = found.iter().zip(next).map(|(old, new)| (old - new).abs()).fold(0.0, f64::max);
            found = next;
            if moved < TOLERANCE {
                break;
            }
        }
        found
    }

    /// The most likely distribution with which these values, some above 0 and some below, have the mean 0:
    /// each probability is divided by 1 + theta * value, where theta solves the equation that the mean poses.
    fn tilted(&self, values: &[f64; N]) -> [f64; N] {
        let (least, most) = values.iter().fold((0.0, 0.0), |(least, most), &x| (x.min(least), x.max(most)));
        let theta = self.secular_root(values, -1.0 / most, -1.0 / least);
        let mut tilted = self.probabilities;
        tilted.iter_mut().zip(values).for_each(|(probability, value)| *probability /= 1.0 + theta * value);
        tilted
    }

    /// The theta between the two poles with which the sum of p x / (1 + theta x) is 0. The sum falls from
    /// infinity to minus infinity between them: Newton's method, with bisection if it leaves what is left
    /// of the interval.
    fn secular_root(&self, values: &[f64; N], mut low: f64, mut high: f64) -> f64 {
        let mut theta = 0.0;
        for _ in 0..ROUNDS {
            let terms = self.probabilities.iter().zip(values).map(|(p, x)| (p, x / (1.0 + theta * x)));
            let (sum, slope) =
                terms.fold((0.0, 0.0), |(sum, slope), (p, x)| (sum + p * x, slope + p * x * x));
            *(if sum > 0.0 { &mut low } else { &mut high }) = theta;
            let newton = theta + sum / slope;
            let next = if (low..=high).contains(&newton) { newton } else { f64::midpoint(low, high) };
            let moved = (next - theta).abs();
            theta = next;
            if moved <= f64::EPSILON * theta.abs().max(1.0) {
                break;
            }
        }
        theta
    }

    /// A value for each share of the points.
    fn each(of: impl Fn(f64) -> f64) -> [f64; N] {
        std::array::from_fn(|half_points| of(half_points as f64 / (N - 1) as f64))
    }
}

fn expectation<const N: usize>(probabilities: &[f64; N], values: &[f64; N]) -> f64 {
    probabilities.iter().zip(values).map(|(probability, value)| probability * value).sum()
}
