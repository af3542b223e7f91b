//! The most likely strengths of players who can be compared, and how far chance can move them.

use super::super::elo::ELO_PER_LOGIT;
use super::super::normal::{self, Z_95};
use super::super::{Estimate, Pairing, student};
use super::matrix::{self, Matrix};

/// The iteration ends when no strength changes by more than this, in logits.
const TOLERANCE: f64 = 1e-10;

/// Squares of residuals below this are none: one half point in a billion games makes more.
const NO_SQUARES: f64 = 1e-10;

/// The most steps: a dozen is usual, and each factor of e in the odds takes one more.
const STEPS: usize = 200;

/// The additions of the prior are computed anew until no strength changes by more than this, in logits: 0.002
/// Elo.
const PRIOR_TOLERANCE: f64 = 1e-5;

/// The most times that the additions of a prior are computed anew: a handful is usual.
const ROUNDS: usize = 50;

/// What is known before the results.
///
/// ```
/// use plyd_arena::statistics::ratings::{Fit, Assumptions, Prior};
/// use plyd_arena::statistics::{Pairing, Pairs};
///
/// let won = Pairing { pairs: Pairs { counts: [0, 0, 0, 0, 7] }, ..Pairing::new([0, 1]) };
/// let known = Assumptions { fixed: vec![(1, 1500.0)], prior: Prior::Jeffreys };
/// let fit = Fit::new(2, &[won], &known);
/// // 14 games were won, and half of the one that is added: odds of 29 to 1.
/// assert_eq!(fit.elo(0).value.round(), 1500.0 + (400.0 * 29_f64.log10()).round());
/// assert_eq!(fit.elo(1).error, 0.0);
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Assumptions {
    /// The players whose strength is fixed, with their Elo. If there are none, the mean of all is 0.
    pub fixed: Vec<(usize, f64)>,
    /// What is thought of the others.
    pub prior: Prior,
}

/// What is thought of strengths before the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Prior {
    /// Nothing: the strengths are those that make the results likeliest.
    #[default]
    None,
    /// Jeffreys' prior, which takes away most of the bias that the likeliest strengths have, and keeps them
    /// finite: D. Firth, "Bias reduction of maximum likelihood estimates" (1993); I. Kosmidis and D. Firth,
    /// "Jeffreys-prior penalty, finiteness and shrinkage in binomial-response generalized linear models"
    /// (2021); for this model in the package `BradleyTerry2` (H. Turner and D. Firth 2012). In this model it
    /// adds games to those played, half won and half lost: one for each player that is not fixed, spread
    /// over all pairings by how much the strengths rest on each (its leverage).
    ///
    /// Errors are then corrected for few results, too. The games that are added count in them, as in A.
    /// Agresti and B. A. Coull, "Approximate is better than exact for interval estimation of binomial
    /// proportions" (1998); and so does what each pair has drawn the strengths to itself (G. Kauermann and
    /// R. J. Carroll, "A note on the efficiency of sandwich covariance matrix estimation" 2001).
    Jeffreys,
}

/// The most likely strengths of players.
#[derive(Clone, Debug)]
pub struct Fit {
    /// In logits: the logarithm of the odds of a point between two players is the difference of theirs.
    strengths: Vec<f64>,
    /// The inverse of the information, without the fixed players.
    inverse: Matrix,
    /// The players of each pairing, and the squares of what their results were beyond those expected.
    squares: Vec<([usize; 2], f64)>,
    /// Who is at a strength that is known.
    fixed: Vec<bool>,
    /// The pairs, and games without a pair, and the strengths that were computed from them; none if the
    /// squares are corrected for few results already.
    sample: Option<(u64, u64)>,
}

impl Fit {
    /// Fits the strengths of players, numbered from 0, by Newton's method. It converges, because the
    /// likelihood is concave, if there is a finite maximum: results must connect all players with each other
    /// or with a fixed one and, without a prior, each must have made points against the others, directly or
    /// through others.
    ///
    /// # Panics
    /// If a pairing or a fixed strength names a player whose number is not below `players`.
    #[must_use]
    pub fn new(players: usize, pairings: &[Pairing], known: &Assumptions) -> Self {
        let mut free = vec![true; players];
        let mut strengths = vec![0.0; players];
        if !known.fixed.is_empty() {
            // Near them, whatever their origin is.
            let sum: f64 = known.fixed.iter().map(|(_, elo)| elo / ELO_PER_LOGIT).sum();
            strengths.fill(sum / known.fixed.len() as f64);
        }
        for &(player, elo) in &known.fixed {
            free[player] = false;
            strengths[player] = elo / ELO_PER_LOGIT;
        }
        let mut results = Results::new(free, pairings);
        match known.prior {
            Prior::None => results.climb(&mut strengths),
            Prior::Jeffreys => results.climb_with_prior(&mut strengths),
        }
        if known.fixed.is_empty() {
            centre(&mut strengths);
        }
        let inverse = results.inverse(&strengths);
        let squares = |met: &Met| {
            let variance = match known.prior {
                // The errors are those of a match: corrected by the number of results.
                Prior::None => 0.0,
                Prior::Jeffreys => variance_of_lead(&inverse, met.pairing.players),
            };
            (met.pairing.players, met.squares(&strengths, variance))
        };
        let squares = results.met.iter().map(squares).collect();
        let computed = results.free.iter().filter(|free| **free).count() as u64;
        let sample = match known.prior {
            Prior::None => {
                let units = pairings.iter().map(|pairing| pairing.points().units).sum();
                // Only the differences of strengths are known if none is fixed.
                Some((units, if known.fixed.is_empty() { computed.saturating_sub(1) } else { computed }))
            }
            Prior::Jeffreys => None,
        };
        let fixed = results.free.iter().map(|free| !free).collect();
        Self { inverse, strengths, squares, fixed, sample }
    }

    /// A player's strength in Elo; the error is that of its distance from the origin, so that a fixed
    /// player has none.
    ///
    /// The errors follow the variance that was seen among the pairs of games (the robust or sandwich
    /// estimate: P. J. Huber 1967): the inverse of the information around the seen variance of the slope.
    /// Without a prior it is corrected for few results, as HC1 of J. G. MacKinnon and H. White, "Some
    /// heteroskedasticity-consistent covariance matrix estimators with improved finite sample properties"
    /// (1985), and the interval is Student's.
    ///
    /// # Panics
    /// If there is no such player.
    #[must_use]
    pub fn elo(&self, player: usize) -> Estimate {
        let variance = self.variance(|other| self.inverse[player][other]);
        self.estimate(self.strengths[player], variance, self.fixed[player])
    }

    /// How much stronger in Elo the first player is than the second.
    ///
    /// # Panics
    /// If there are no such players.
    #[must_use]
    pub fn difference(&self, first: usize, second: usize) -> Estimate {
        let is_known = first == second || (self.fixed[first] && self.fixed[second]);
        self.estimate(self.lead(first, second), self.variance_between(first, second), is_known)
    }

    /// The likelihood, from 0 to 1, that the first player is stronger than the second, by the normal
    /// approximation; none if the results say nothing about chance.
    pub(super) fn superiority(&self, first: usize, second: usize) -> Option<f64> {
        let variance = self.variance_between(first, second);
        (variance > 0.0).then(|| normal::cumulative(self.lead(first, second) / variance.sqrt()))
    }

    fn lead(&self, first: usize, second: usize) -> f64 {
        self.strengths[first] - self.strengths[second]
    }

    fn variance_between(&self, first: usize, second: usize) -> f64 {
        let (one, other) = (&self.inverse[first], &self.inverse[second]);
        self.variance(|player| one[player] - other[player])
    }

    /// In Elo; a distance that is known has no error.
    fn estimate(&self, logits: f64, variance: f64, is_known: bool) -> Estimate {
        let error = match self.sample {
            _ if is_known => 0.0,
            Some((units, computed)) => student::error_95(variance, units, computed),
            None => Z_95 * variance.sqrt(),
        };
        Estimate { value: ELO_PER_LOGIT * logits, error: ELO_PER_LOGIT * error }
    }

    /// The variance of a difference between strengths: `moved` says how far a point more for a player moves
    /// it.
    fn variance(&self, moved: impl Fn(usize) -> f64) -> f64 {
        let of = |&([first, second], squares): &([usize; 2], f64)| {
            squares * (moved(first) - moved(second)).powi(2)
        };
        self.squares.iter().map(of).sum()
    }
}

/// The odds as a probability.
fn logistic(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// The variance of the first player's lead, by the information.
fn variance_of_lead(inverse: &Matrix, [first, second]: [usize; 2]) -> f64 {
    inverse[first][first] + inverse[second][second] - 2.0 * inverse[first][second]
}

/// Moves the mean to 0.
fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

/// A pairing with the games that the prior adds.
struct Met<'a> {
    pairing: &'a Pairing,
    /// The games that were played.
    games: f64,
    /// The points that the first player made in them.
    made: f64,
    /// How many games the prior adds.
    prior: f64,
}

impl Met<'_> {
    /// The share of the points that the first player is expected to make.
    fn expected(&self, strengths: &[f64]) -> f64 {
        logistic(self.lead(strengths))
    }

    /// How much stronger the first player is.
    fn lead(&self, strengths: &[f64]) -> f64 {
        let [first, second] = self.pairing.players;
        strengths[first] - strengths[second]
    }

    /// The information on the lead.
    fn information(&self, strengths: &[f64]) -> f64 {
        let lead = self.lead(strengths);
        (self.games + self.prior) * logistic(lead) * logistic(-lead)
    }

    /// The sum of the squares of the residuals, one for each pair of games and each game without a pair. Each
    /// of them has drawn the strengths to itself, which makes its residual look smaller than it was; the
    /// missing part is added as the model predicts it. `known` is the variance of the lead, by the
    /// information.
    fn squares(&self, strengths: &[f64], known: f64) -> f64 {
        let (expected, lead) = (self.expected(strengths), self.lead(strengths));
        let game = logistic(lead) * logistic(-lead);
        let prior = self.prior / 2.0 * (expected.powi(2) + (1.0 - expected).powi(2));
        let pairs = self.pairing.pairs.squares(2.0 * expected)
            + self.pairing.pairs.total() as f64 * (2.0 * game).powi(2) * known;
        let singles = self.pairing.singles.squares(expected)
            + self.pairing.singles.total() as f64 * game.powi(2) * known;
        let squares = pairs + singles + prior;
        // What the tolerance of the strengths leaves of residuals that are 0.
        if squares < NO_SQUARES { 0.0 } else { squares }
    }
}

/// All results, and whose strength is estimated from them.
struct Results<'a> {
    free: Vec<bool>,
    met: Vec<Met<'a>>,
}

impl<'a> Results<'a> {
    fn new(free: Vec<bool>, pairings: &'a [Pairing]) -> Self {
        let met = |pairing: &'a Pairing| {
            let points = pairing.points();
            let games = points.games as f64;
            (points.games > 0).then_some(Met { pairing, games, made: points.made, prior: 0.0 })
        };
        Self { free, met: pairings.iter().filter_map(met).collect() }
    }

    /// Climbs to the maximum of the likelihood.
    fn climb(&self, strengths: &mut Vec<f64>) {
        for _ in 0..STEPS {
            let step = self.step(strengths);
            if self.advance(strengths, &step) < TOLERANCE {
                break;
            }
        }
    }

    /// Climbs with the games that Jeffreys' prior adds, which depend on the strengths that they lead to.
    fn climb_with_prior(&mut self, strengths: &mut Vec<f64>) {
        // To begin with, any games that keep the strengths finite.
        self.met.iter_mut().for_each(|met| met.prior = 1.0);
        self.climb(strengths);
        for _ in 0..ROUNDS {
            self.met.iter_mut().for_each(|met| met.prior = 0.0);
            let inverse = self.inverse(strengths);
            for met in &mut self.met {
                met.prior = met.information(strengths) * variance_of_lead(&inverse, met.pairing.players);
            }
            let before = strengths.clone();
            self.climb(strengths);
            let moved = |(before, after): (&f64, &f64)| (before - after).abs() > PRIOR_TOLERANCE;
            if !before.iter().zip(&*strengths).any(moved) {
                break;
            }
        }
    }

    /// Moves by a step, or by as much of it as does not lead past the maximum; gives the largest change.
    fn advance(&self, strengths: &mut Vec<f64>, step: &[f64]) -> f64 {
        let largest = step.iter().fold(0.0_f64, |largest, change| largest.max(change.abs()));
        let before = self.likelihood(strengths);
        let mut share = 1.0;
        loop {
            let next: Vec<f64> =
                strengths.iter().zip(step).map(|(strength, change)| strength + share * change).collect();
            if self.likelihood(&next) >= before || share * largest < TOLERANCE {
                *strengths = next;
                return share * largest;
            }
            share /= 2.0;
        }
    }

    /// The logarithm of the likelihood.
    fn likelihood(&self, strengths: &[f64]) -> f64 {
        let of = |met: &Met| {
            let lead = met.lead(strengths);
            // ln(1 / (1 + e^-x)), which does not overflow if the lead is large.
            let point = |lead: f64| lead.min(0.0) - (-lead.abs()).exp().ln_1p();
            let (won, lost) = (met.made, met.games - met.made);
            (won + met.prior / 2.0) * point(lead) + (lost + met.prior / 2.0) * point(-lead)
        };
        self.met.iter().map(of).sum()
    }

    /// The gradient of the likelihood: the points beyond those expected.
    fn slope(&self, strengths: &[f64]) -> Vec<f64> {
        let surplus =
            |met: &Met| met.made + met.prior / 2.0 - (met.games + met.prior) * met.expected(strengths);
        let mut slope = self.sum_over_pairings(self.met.iter().map(surplus));
        if !self.free.contains(&false) {
            // It is 0 but for rounding, of which the equations below have no solution.
            centre(&mut slope);
        }
        slope
    }

    /// For each free player the sum of its pairings' values, which count negative for the second one.
    fn sum_over_pairings(&self, values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sum = vec![0.0; self.free.len()];
        for (met, value) in self.met.iter().zip(values) {
            let [first, second] = met.pairing.players;
            sum[first] += value;
            sum[second] -= value;
        }
        sum.iter_mut().zip(&self.free).filter(|(_, free)| !**free).for_each(|(sum, _)| *sum = 0.0);
        sum
    }

    /// Newton's step: the slope divided by the information, by conjugate gradients (Hestenes and Stiefel
    /// 1952) with the diagonal as the preconditioner. Each iteration takes one pass over the pairings, where
    /// an inverse takes time that grows with the cube of the number of players.
    fn step(&self, strengths: &[f64]) -> Vec<f64> {
        let weights: Vec<f64> = self.met.iter().map(|met| met.information(strengths)).collect();
        let mut diagonal = vec![0.0; strengths.len()];
        for (met, weight) in self.met.iter().zip(&weights) {
            met.pairing.players.iter().for_each(|player| diagonal[*player] += weight);
        }
        let divided = |rest: &[f64]| -> Vec<f64> {
            rest.iter().zip(&diagonal).map(|(rest, by)| if *by > 0.0 { rest / by } else { 0.0 }).collect()
        };
        let mut step = vec![0.0; strengths.len()];
        let mut rest = self.slope(strengths);
        let mut direction = divided(&rest);
        let mut size = dot(&rest, &direction);
        // A step that is off by this is corrected by the next one; below, it is rounding.
        let goal = (1e-20 * size).max(1e-24);
        for _ in 0..2 * strengths.len() {
            if size <= goal {
                break;
            }
            let leads = self.met.iter().zip(&weights).map(|(met, weight)| weight * met.lead(&direction));
            let image = self.sum_over_pairings(leads);
            let share = size / dot(&direction, &image);
            add(&mut step, share, &direction);
            add(&mut rest, -share, &image);
            let scaled = divided(&rest);
            let next = dot(&rest, &scaled);
            direction.iter_mut().zip(scaled).for_each(|(to, new)| *to = new + next / size * *to);
            size = next;
        }
        step
    }

    /// The inverse of Fisher's information on the strengths. If none is fixed, results say nothing of their
    /// mean: it is taken as if it were measured to be 0, so that there is an inverse.
    fn inverse(&self, strengths: &[f64]) -> Matrix {
        let size = strengths.len();
        let mean = if self.free.contains(&false) { 0.0 } else { 1.0 / size as f64 };
        let mut information = vec![vec![mean; size]; size];
        for met in &self.met {
            let ([first, second], value) = (met.pairing.players, met.information(strengths));
            information[first][first] += value;
            information[second][second] += value;
            information[first][second] -= value;
            information[second][first] -= value;
        }
        let fixed = || (0..size).filter(|player| !self.free[*player]);
        for player in fixed() {
            information[player].fill(0.0);
            information.iter_mut().for_each(|row| row[player] = 0.0);
            information[player][player] = 1.0;
        }
        let mut inverse = matrix::inverse(information);
        fixed().for_each(|player| inverse[player][player] = 0.0);
        inverse
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// Adds a share of a vector to another.
fn add(to: &mut [f64], share: f64, vector: &[f64]) {
    to.iter_mut().zip(vector).for_each(|(to, value)| *to += share * value);
}
