//! The sequential probability ratio test (Wald 1945): a match that ends as soon as it distinguishes two
//! strengths.
//!
//! The generalised test with the pentanomial model, as fishtest and fastchess have it; the log-likelihood
//! ratio is the exact one. Sources: M. Van den Bergh, "A practical introduction to the GSPRT" (2019), and the
//! papers that `likelihood` names.

use std::f64::consts::LN_10;

use serde::Serialize;

mod text;

use super::likelihood::Distribution;
use super::{Tally, expected_score};

/// A test of two hypotheses: H0, the first player is `elo0` stronger, and H1, it is `elo1` stronger.
///
/// ```
/// use plyd_arena::statistics::Pairs;
/// use plyd_arena::statistics::sprt::{Model, Sprt, Verdict};
///
/// // Whether the first player is 5 Elo stronger, rather than not at all.
/// let test = Sprt::new(0.0, 5.0, 0.05, 0.05, Model::Normalized)?;
/// let assessment = test.assess(&Pairs { counts: [100, 900, 2000, 1100, 150] });
/// assert!(assessment.llr > assessment.upper && assessment.verdict == Verdict::H1);
/// # Ok::<(), plyd_arena::statistics::sprt::InvalidSprt>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
}

/// What a hypothesis' Elo means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// The difference on the logistic curve, as the Elo of a match is given.
    #[default]
    Logistic,
    /// The lead of the score over 1/2 in standard deviations of a game, times 800 / ln 10: the length of a
    /// test then depends neither on draws nor on openings.
    Normalized,
}

/// What a test says about the results so far.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Assessment {
    /// The log-likelihood ratio of H1 to H0.
    pub llr: f64,
    /// The ratio at which H0 is accepted: ln(beta / (1 - alpha)).
    pub lower: f64,
    /// The ratio at which H1 is accepted: ln((1 - beta) / alpha).
    pub upper: f64,
    /// Which bound is reached.
    pub verdict: Verdict,
}

/// What follows from a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub enum Verdict {
    /// The strengths are not distinguished yet.
    #[serde(rename = "continue")]
    Continue,
    /// H0 is accepted.
    H0,
    /// H1 is accepted.
    H1,
}

/// A test that cannot be made.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum InvalidSprt {
    /// The hypotheses are the same, or the wrong way round.
    #[error("elo0 must be below elo1")]
    Order,
    /// An Elo is out of the model's range.
    #[error("elo0 and elo1 must be between -{0} and {0}")]
    Range(f64),
    /// The probabilities of an error leave no room between the bounds.
    #[error("alpha and beta must be above 0, and below 1 together")]
    Errors,
}

impl Sprt {
    /// A test that wrongly accepts H1 with the probability `alpha` and H0 with the probability `beta`; both
    /// are approximate upper bounds.
    ///
    /// # Errors
    /// What is wrong with the numbers.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64, model: Model) -> Result<Self, InvalidSprt> {
        let most = model.most();
        if ![elo0, elo1].iter().all(|elo| elo.abs() <= most) {
            return Err(InvalidSprt::Range(most));
        }
        if elo0 >= elo1 {
            return Err(InvalidSprt::Order);
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err(InvalidSprt::Errors);
        }
        Ok(Self { elo0, elo1, alpha, beta, model })
    }

    /// The Elo of H0 and of H1.
    #[must_use]
    pub fn hypotheses(&self) -> [f64; 2] {
        [self.elo0, self.elo1]
    }

    /// The probabilities of accepting H1 and H0 wrongly.
    #[must_use]
    pub fn errors(&self) -> [f64; 2] {
        [self.alpha, self.beta]
    }

    /// What the Elo of the hypotheses means.
    #[must_use]
    pub fn model(&self) -> Model {
        self.model
    }

    /// The log-likelihood ratio of H1 to H0; 0 without results.
    #[must_use]
    pub fn llr<const N: usize>(&self, tally: &Tally<N>) -> f64 {
        if tally.total() == 0 {
            return 0.0;
        }
        let (seen, elo) = (Distribution::seen(tally), self.hypotheses());
        match self.model {
            Model::Logistic => seen.ratio_of_means(elo.map(expected_score)),
            Model::Normalized => {
                // The mean of n games varies by the root of n less than one game.
                let scale = (Tally::<N>::GAMES as f64).sqrt() * LN_10 / 800.0;
                seen.ratio_of_t_values(elo.map(|elo| elo * scale))
            }
        }
    }

    /// The log-likelihood ratios at which H0 and H1 are accepted.
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// Whether a match with these results goes on.
    #[must_use]
    pub fn verdict<const N: usize>(&self, tally: &Tally<N>) -> Verdict {
        self.assess(tally).verdict
    }

    /// All that the test says about these results.
    #[must_use]
    pub fn assess<const N: usize>(&self, tally: &Tally<N>) -> Assessment {
        let llr = self.llr(tally);
        let (lower, upper) = self.bounds();
        let verdict = if llr >= upper {
            Verdict::H1
        } else if llr <= lower {
            Verdict::H0
        } else {
            Verdict::Continue
        };
        Assessment { llr, lower, upper, verdict }
    }
}

impl Model {
    /// The largest Elo of a hypothesis. Beyond it a logistic one is decided by a game or two, and the most
    /// likely distribution for a normalized one is no longer found for all results.
    fn most(self) -> f64 {
        match self {
            Self::Logistic => 1000.0,
            Self::Normalized => 100.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::SQRT_2;
    use std::thread;

    use proptest::prelude::*;

    use super::super::Pairs;
    use super::super::simulation::Opponents;
    use super::*;
    use plyd_core::engine::conformance::is_whole;
    use plyd_core::zobrist::SplitMix64;

    fn sprt(elo0: f64, elo1: f64, model: Model) -> Sprt {
        Sprt::new(elo0, elo1, 0.05, 0.05, model).unwrap()
    }

    fn check<const N: usize>(counts: [u64; N], elo: [f64; 2], model: Model, expected: f64, tolerance: f64) {
        let llr = sprt(elo[0], elo[1], model).llr(&Tally { counts });
        let case = format!("{counts:?} {elo:?} {model:?}: {llr}, not {expected}");
        assert!((llr - expected).abs() <= tolerance * expected.abs(), "{case}");
    }

    #[test]
    fn ratios_are_what_fastchess_tests() {
        // The unit tests of fastchess, sprt_test.cpp, with their tolerance of 1 %.
        use Model::{Logistic, Normalized};
        for (counts, elo, model, llr) in [
            ([36_027, 68_692, 36_433], [0.0, 2.0], Normalized, 0.92),
            ([10_650, 20_431, 10_871], [-1.75, 0.25], Normalized, 2.30),
            ([0, 0, 4250], [0.0, 10.0], Normalized, 120.56),
            ([21_184, 40_708, 21_404], [0.5, 2.5], Logistic, -1.57),
            ([57_030, 106_593, 57_433], [0.0, 2.0], Logistic, -2.59),
        ] {
            check(counts, elo, model, llr, 0.01);
        }
        for (counts, elo, model, llr) in [
            ([365, 16_618, 36_229, 16_974, 390], [0.0, 2.0], Normalized, 2.25),
            ([127, 4883, 10_712, 5150, 104], [-1.75, 0.25], Normalized, 3.01),
            ([0, 0, 0, 0, 5550], [0.0, 5.0], Normalized, 111.82),
            ([223, 9863, 21_279, 10_037, 246], [0.5, 2.5], Logistic, -3.07),
            ([871, 26_175, 55_983, 26_678, 821], [0.0, 2.0], Logistic, -4.98),
        ] {
            check(counts, elo, model, llr, 0.01);
        }
    }

    #[test]
    fn ratios_are_what_fishtest_computes() {
        // fishtest's LLRcalc.py, LLR_logistic and LLR_normalized; the first four are the examples of its
        // stat_util.py.
        for (counts, elo, logistic, normalized) in [
            ([10_789, 19_328, 33_806, 19_402, 10_543], [-3.0, 1.0], 2.131_068, 0.300_870),
            ([1187, 7410, 13_475, 7378, 1164], [-3.0, 1.0], 2.861_527, 0.600_266),
            ([39, 2226, 31_451, 2412, 40], [0.2, 0.9], 2.162_543, 1.216_597),
            ([39, 2226, 31_451, 2412, 40], [0.764, 3.439], -27.865_237, 2.162_941),
            ([0, 0, 0, 0, 5550], [0.0, 5.0], 79.296_251, 111.797_555),
            ([3, 8, 20, 12, 7], [0.0, 10.0], 0.510_680, 0.405_236),
            ([12, 0, 40, 0, 25], [0.0, 50.0], 2.276_405, 2.251_311),
            ([0, 0, 0, 0, 3], [0.0, 5.0], 0.042_891, 0.060_441),
            ([1, 2, 3, 4, 5], [-100.0, 100.0], 5.529_657, 5.662_553),
        ] {
            check(counts, elo, Model::Logistic, logistic, 2e-5);
            check(counts, elo, Model::Normalized, normalized, 2e-5);
        }
    }

    #[test]
    fn a_bound_ends_the_test() {
        // Wald's bounds for 5 % and 5 %, and for 5 % and 10 %.
        for (alpha, beta, lower, upper) in [(0.05, 0.05, -2.944, 2.944), (0.05, 0.1, -2.251, 2.890)] {
            let (low, high) = Sprt::new(0.0, 5.0, alpha, beta, Model::Logistic).unwrap().bounds();
            assert!((low - lower).abs() < 0.0005 && (high - upper).abs() < 0.0005, "{low} {high}");
        }
        let sprt = sprt(0.0, 20.0, Model::Logistic);
        for (counts, verdict) in [
            ([0; 5], Verdict::Continue),
            ([10, 30, 100, 40, 20], Verdict::Continue),
            ([10, 30, 100, 80, 40], Verdict::H1),
            ([40, 80, 100, 30, 10], Verdict::H0),
        ] {
            assert_eq!(sprt.verdict(&Pairs { counts }), verdict, "{counts:?}");
        }
        let json = serde_json::to_string(&sprt.assess(&Pairs::default())).unwrap();
        assert!(json.starts_with(r#"{"llr":0.0,"lower":-2.9"#) && json.ends_with(r#""verdict":"continue"}"#));
    }

    #[test]
    fn impossible_tests_are_refused() {
        let new = |elo0, elo1, alpha, beta| Sprt::new(elo0, elo1, alpha, beta, Model::Logistic).unwrap_err();
        for elo in [(5.0, 0.0), (5.0, 5.0)] {
            assert_eq!(new(elo.0, elo.1, 0.05, 0.05), InvalidSprt::Order);
        }
        for elo in [(f64::NAN, 0.0), (0.0, f64::NAN), (0.0, f64::INFINITY), (-1001.0, 0.0)] {
            assert_eq!(new(elo.0, elo.1, 0.05, 0.05), InvalidSprt::Range(1000.0));
        }
        for errors in [(0.0, 0.05), (0.05, -0.1), (0.5, 0.5), (f64::NAN, 0.05)] {
            assert_eq!(new(0.0, 5.0, errors.0, errors.1), InvalidSprt::Errors);
        }
    }

    /// How often H1 was accepted, and the mean number of pairs that it took.
    fn simulate(sprt: &Sprt, opponents: &Opponents, matches: u32) -> (f64, f64) {
        let mut random = SplitMix64::new(6);
        let (mut accepted, mut played) = (0, 0);
        for _ in 0..matches {
            let mut pairs = Pairs::default();
            let verdict = loop {
                pairs.add(opponents.pair(&mut random));
                match sprt.verdict(&pairs) {
                    Verdict::Continue => {}
                    verdict => break verdict,
                }
            };
            accepted += u32::from(verdict == Verdict::H1);
            played += pairs.total();
        }
        (f64::from(accepted) / f64::from(matches), played as f64 / f64::from(matches))
    }

    /// Players whose true difference is a hypothesis, and what the ratio rises by in a pair of theirs: as
    /// that of a normal distribution whose mean is in question.
    fn opponents(sprt: &Sprt, elo: f64, draws: f64, advantage: f64) -> (Opponents, f64) {
        let known = |logistic| Opponents::new(logistic, draws, advantage);
        let normalized = |elo: f64| SQRT_2 * elo * LN_10 / 800.0;
        let opponents = match sprt.model {
            Model::Logistic => known(elo),
            Model::Normalized => {
                let closer =
                    |logistic, _| super::super::elo(0.5 + normalized(elo) * known(logistic).deviation());
                known((0..50).fold(elo, closer))
            }
        };
        let [truth, null, alternative] = [elo, sprt.elo0, sprt.elo1].map(|elo| match sprt.model {
            Model::Logistic => expected_score(elo) / opponents.deviation(),
            Model::Normalized => normalized(elo),
        });
        (opponents, (truth - f64::midpoint(null, alternative)) * (alternative - null))
    }

    #[test]
    fn errors_are_as_rare_and_matches_as_long_as_promised() {
        let (alpha, beta) = (0.05, 0.1);
        // Side by side: as a whole, each takes seconds.
        thread::scope(|scope| {
            for (model, elo0, elo1, draws) in [
                (Model::Logistic, 0.0, 40.0, 0.2),
                (Model::Logistic, -60.0, -20.0, 0.0),
                (Model::Normalized, 0.0, 60.0, 0.4),
            ] {
                let sprt = Sprt::new(elo0, elo1, alpha, beta, model).unwrap();
                scope.spawn(move || errors_are_as_rare(&sprt, elo0, alpha, draws));
                scope.spawn(move || errors_are_as_rare(&sprt, elo1, beta, draws));
            }
        });
    }

    /// Simulates matches of players whose true difference is one of the hypotheses, with the errors that are
    /// promised then.
    fn errors_are_as_rare(sprt: &Sprt, elo: f64, promised: f64, draws: f64) {
        let matches = if is_whole() { 2000 } else { 500 };
        let (opponents, drift) = opponents(sprt, elo, draws, 0.2);
        let (accepted, pairs) = simulate(sprt, &opponents, matches);
        let errors = if elo == sprt.elo0 { accepted } else { 1.0 - accepted };
        // Wald: the mean of the bounds over the drift, and more as the last pair leads beyond a bound.
        let (lower, upper) = sprt.bounds();
        let expected = (accepted * upper + (1.0 - accepted) * lower) / drift;
        let case =
            format!("{:?} {elo}: {errors} errors, {pairs} pairs where {expected} are expected", sprt.model);
        // Three standard deviations of so many matches.
        let slack = 3.0 * (promised * (1.0 - promised) / f64::from(matches)).sqrt();
        assert!((promised / 2.0..=promised + slack).contains(&errors), "{case}");
        assert!((0.95..1.15).contains(&(pairs / expected)), "{case}");
    }

    proptest! {
        #[test]
        fn ratios_are_finite_and_the_opponent_sees_the_opposite(
            counts in proptest::array::uniform5(prop_oneof![Just(0_u64), 0..10_u64, 0..100_000_u64]),
            elo0 in -1.0..0.999,
            apart in 0.001..1.0_f64,
        ) {
            let pairs = Pairs { counts };
            for model in [Model::Logistic, Model::Normalized] {
                let [elo0, elo1] = [elo0, elo0 + apart * (1.0 - elo0)].map(|share| share * model.most());
                let ours = sprt(elo0, elo1, model).llr(&pairs);
                let theirs = sprt(-elo1, -elo0, model).llr(&pairs.reversed());
                prop_assert!((ours + theirs).abs() <= 1e-6 * (1.0 + ours.abs()), "{model:?}: {ours} {theirs}");
            }
        }
    }
}
