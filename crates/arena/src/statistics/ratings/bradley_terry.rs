//! The most likely strengths of players who can be compared, and how far chance can move them.

use super::super::{Pairing, Points};
use super::matrix::{self, Matrix};

/// The change of a strength at which it is found.
const TOLERANCE: f64 = 1e-10;

/// The most steps: a dozen is usual, and each factor of e in the odds takes one more.
const STEPS: usize = 200;

/// Strengths in logits: the logarithm of the odds of a point between two players is their difference.
pub(super) struct Fit {
    /// The strengths, with the mean 0.
    pub(super) strengths: Vec<f64>,
    /// Their covariance, with the mean fixed.
    pub(super) covariance: Matrix,
}

impl Fit {
    /// Fits the strengths of players from 0 on by Newton's method, which a concave likelihood with a finite
    /// maximum leads there.
    pub(super) fn new(players: usize, pairings: &[Pairing]) -> Self {
        let met: Vec<Met> =
            pairings.iter().map(|pairing| Met { pairing, points: pairing.points() }).collect();
        let mut strengths = vec![0.0; players];
        for _ in 0..STEPS {
            let inverse = matrix::inverse(information(&strengths, &met));
            let step = matrix::apply(&inverse, &slope(&strengths, &met));
            let moved = advance(&mut strengths, &step, &met);
            if moved < TOLERANCE {
                break;
            }
        }
        let covariance = covariance(&strengths, &met);
        Self { strengths, covariance }
    }

    /// How much stronger the first player is than the second, and the variance of that.
    pub(super) fn difference(&self, first: usize, second: usize) -> (f64, f64) {
        let of = |a: usize, b: usize| self.covariance[a][b];
        let variance = of(first, first) + of(second, second) - 2.0 * of(first, second);
        (self.strengths[first] - self.strengths[second], variance.max(0.0))
    }
}

/// A pairing with its points.
struct Met<'a> {
    pairing: &'a Pairing,
    points: Points,
}

impl Met<'_> {
    fn games(&self) -> f64 {
        self.points.games as f64
    }

    /// The share of the points that the first player is expected to make.
    fn expected(&self, strengths: &[f64]) -> f64 {
        let [first, second] = self.pairing.players;
        1.0 / (1.0 + (strengths[second] - strengths[first]).exp())
    }
}

/// Moves by a step, or by as much of it as does not lead past the maximum; gives the largest change.
fn advance(strengths: &mut Vec<f64>, step: &[f64], met: &[Met]) -> f64 {
    let largest = step.iter().fold(0.0_f64, |largest, change| largest.max(change.abs()));
    let before = likelihood(strengths, met);
    let mut share = 1.0;
    loop {
        let next: Vec<f64> =
            strengths.iter().zip(step).map(|(strength, change)| strength + share * change).collect();
        if likelihood(&next, met) >= before || share * largest < TOLERANCE {
            *strengths = next;
            return share * largest;
        }
        share /= 2.0;
    }
}

/// The logarithm of the likelihood.
fn likelihood(strengths: &[f64], met: &[Met]) -> f64 {
    let of = |met: &Met| {
        let [first, second] = met.pairing.players;
        let lead = strengths[first] - strengths[second];
        // ln(1 / (1 + e^-x)), which does not overflow if the lead is large.
        let point = |lead: f64| lead.min(0.0) - (-lead.abs()).exp().ln_1p();
        met.points.made * point(lead) + (met.games() - met.points.made) * point(-lead)
    };
    met.iter().map(of).sum()
}

/// The gradient of the likelihood: the points beyond those expected.
fn slope(strengths: &[f64], met: &[Met]) -> Vec<f64> {
    let mut slope = vec![0.0; strengths.len()];
    for met in met {
        let surplus = met.points.made - met.games() * met.expected(strengths);
        let [first, second] = met.pairing.players;
        slope[first] += surplus;
        slope[second] -= surplus;
    }
    slope
}

/// Fisher's information on the strengths, and on their mean, of which results say nothing, as if it were
/// measured to be 0: so that it has an inverse.
fn information(strengths: &[f64], met: &[Met]) -> Matrix {
    let games = |met: &Met| {
        let expected = met.expected(strengths);
        met.games() * expected * (1.0 - expected)
    };
    let mut information = sum_over_pairings(strengths.len(), met, games);
    let mean = 1.0 / strengths.len() as f64;
    information.iter_mut().flatten().for_each(|entry| *entry += mean);
    information
}

/// The robust covariance: the inverse of the information around the seen variance of the slope.
fn covariance(strengths: &[f64], met: &[Met]) -> Matrix {
    let inverse = matrix::inverse(information(strengths, met));
    let squares = |met: &Met| {
        let expected = met.expected(strengths);
        met.pairing.pairs.squares(2.0 * expected) + met.pairing.singles.squares(expected)
    };
    let seen = sum_over_pairings(strengths.len(), met, squares);
    matrix::multiply(&matrix::multiply(&inverse, &seen), &inverse)
}

/// A matrix that has each pairing's value for the difference of its players.
fn sum_over_pairings(players: usize, met: &[Met], value: impl Fn(&Met) -> f64) -> Matrix {
    let mut sum = vec![vec![0.0; players]; players];
    for met in met {
        let ([first, second], value) = (met.pairing.players, value(met));
        sum[first][first] += value;
        sum[second][second] += value;
        sum[first][second] -= value;
        sum[second][first] -= value;
    }
    sum
}
