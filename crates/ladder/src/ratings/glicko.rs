//! Ratings that move with each pair of games: Glicko-2.
//!
//! Source: M. E. Glickman, "Example of the Glicko-2 system" (2012 and later revisions), whose steps the
//! comments name, and its example is a test. Three things are added:
//!
//! - A bot is rated after each pair of games instead of at the end of a rating period. What a period adds to
//!   the deviation is added by the share of a period that has passed since its last pair, as lichess does; at
//!   whole periods this is the paper's rule. Periods pass with the time and with the games, twelve each, as
//!   the paper wants ten to fifteen at least: a bot that plays all day long would otherwise have played
//!   hundreds of games within one, and its deviation shrinks faster than its rating finds the strength.
//! - Anchors: house bots whose rating never moves. As opponents they have a deviation of 0.
//! - Bounds of deviation and volatility.
//!
//! The model takes the two games of a pair as independent and a draw as half a win. So a deviation is no
//! promise: the [table](super::table) is what intervals are read from.

use std::f64::consts::{LN_10, PI};

use plyd_arena::statistics::{Estimate, Z_95};

/// Step 2: Elo for each 1 on the scale in which Glicko-2 computes.
const SCALE: f64 = 400.0 / LN_10;

/// Step 5: at which distance the volatility is found.
const TOLERANCE: f64 = 1e-6;

/// The rating of a bot that plays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rating {
    /// The strength in Elo.
    pub elo: f64,
    /// Its standard deviation in Elo.
    pub deviation: f64,
    /// How much the strength is expected to change, a standard deviation for each period, on the scale of
    /// Glicko-2.
    pub volatility: f64,
}

impl Default for Rating {
    /// What the paper gives to a newcomer.
    fn default() -> Self {
        Self { elo: 1500.0, deviation: Glicko2::MAX_DEVIATION, volatility: 0.06 }
    }
}

/// What is known of a bot's strength.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Standing {
    /// Its rating is fixed, in Elo.
    Anchor(f64),
    /// Its rating moves with its results.
    Rated(Rating),
}

impl Standing {
    /// The strength in Elo.
    #[must_use]
    pub fn elo(&self) -> f64 {
        match self {
            Self::Anchor(elo) => *elo,
            Self::Rated(rating) => rating.elo,
        }
    }

    /// The standard deviation in Elo.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        match self {
            Self::Anchor(_) => 0.0,
            Self::Rated(rating) => rating.deviation,
        }
    }

    /// The strength with its 95 % interval, as far as the model holds.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate { value: self.elo(), error: Z_95 * self.deviation() }
    }

    /// By how much of its variance a game is expected to lower what is unknown of both strengths, added up.
    /// Step 3's 1/v of each, but with both deviations in the expected score: what is unknown of either
    /// brings the result nearer to a coin's.
    pub(crate) fn information(&self, other: &Self) -> f64 {
        let deviations = [self, other].map(|standing| standing.deviation() / SCALE);
        let lead = g(deviations[0].hypot(deviations[1])) * (self.elo() - other.elo()) / SCALE;
        let [of, against] = deviations;
        logistic(lead) * logistic(-lead) * ((of * g(against)).powi(2) + (against * g(of)).powi(2))
    }
}

/// A result against an opponent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Met {
    /// What was known of the opponent when the period began.
    pub opponent: Standing,
    /// The score of the game: 1, 1/2 or 0.
    pub score: f64,
}

/// The system with its constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Glicko2 {
    /// How far the volatility moves (the paper's tau): from 0.3 to 1.2, the smaller the less results that
    /// surprise count.
    pub tau: f64,
}

impl Default for Glicko2 {
    /// The paper's example.
    fn default() -> Self {
        Self { tau: 0.5 }
    }
}

impl Glicko2 {
    /// The deviation of a bot of which nothing is known. Waiting raises no deviation beyond it, as in M. E.
    /// Glickman, "The Glicko system" (1999), step 1.
    pub const MAX_DEVIATION: f64 = 350.0;

    /// The largest volatility, as on lichess. The paper sets no bound; but step 5 has several solutions for
    /// an upset that the model calls impossible, such as a forfeit against a far weaker bot, and one of them
    /// would leave a rating that never settles again.
    pub const MAX_VOLATILITY: f64 = 0.1;

    /// The share of a rating period that passes with each pair of games.
    pub const PAIR: f64 = 1.0 / 6.0;

    /// The standings after a pair of games in which the first bot made so many half points, from 0 to 4.
    /// `periods` says how many rating periods have passed for each of them since its last pair, beside what
    /// this one adds; it need not be whole.
    ///
    /// ```
    /// use plyd_ladder::ratings::glicko::{Glicko2, Rating, Standing};
    ///
    /// let newcomer = Standing::Rated(Rating::default());
    /// let house = Standing::Anchor(1500.0);
    /// let [after, unmoved] = Glicko2::default().after_pair([newcomer, house], [0.0, 9.5], 4);
    /// assert_eq!(unmoved, house);
    /// assert!(after.elo() > 1600.0 && after.deviation() < 300.0);
    /// ```
    #[must_use]
    pub fn after_pair(&self, players: [Standing; 2], periods: [f64; 2], half_points: usize) -> [Standing; 2] {
        let periods = periods.map(|periods| periods.max(0.0) + Self::PAIR);
        let [first, second] = [0, 1].map(|player| match players[player] {
            // The paper's onset of the period: what was before it has passed without games.
            Standing::Rated(rating) => Standing::Rated(self.idle(rating, (periods[player] - 1.0).max(0.0))),
            anchor @ Standing::Anchor(_) => anchor,
        });
        // The two games' mean score twice, which is the same for the formulas.
        let score = half_points as f64 / 4.0;
        let after = |player, periods: f64, opponent, score| match player {
            Standing::Rated(rating) => {
                Standing::Rated(self.after(rating, periods.min(1.0), &[Met { opponent, score }; 2]))
            }
            anchor @ Standing::Anchor(_) => anchor,
        };
        [after(first, periods[0], second, score), after(second, periods[1], first, 1.0 - score)]
    }

    /// The rating after so many periods without a game.
    #[must_use]
    pub fn idle(&self, rating: Rating, periods: f64) -> Rating {
        self.after(rating, periods, &[])
    }

    /// The rating after some games, and after the share of a rating period that has passed: 1 is the paper's
    /// period.
    #[must_use]
    pub fn after(&self, before: Rating, periods: f64, results: &[Met]) -> Rating {
        let deviation = before.deviation / SCALE;
        let widened = |volatility: f64| -> f64 {
            (deviation.powi(2) + periods.max(0.0) * volatility.powi(2))
                .sqrt()
                .min((Self::MAX_DEVIATION / SCALE).max(deviation))
        };
        if results.is_empty() {
            return Rating { deviation: widened(before.volatility) * SCALE, ..before };
        }
        // Steps 3 and 4: the information of the games (1/v) and their surplus (delta/v).
        let (mut information, mut surplus) = (0.0, 0.0);
        for met in results {
            let weight = g(met.opponent.deviation() / SCALE);
            let lead = weight * (before.elo - met.opponent.elo()) / SCALE;
            information += weight * weight * logistic(lead) * logistic(-lead);
            surplus += weight * (met.score - logistic(lead));
        }
        let volatility =
            self.volatility(before.volatility, deviation, 1.0 / information, surplus / information);
        // Steps 6 and 7.
        let variance = 1.0 / (widened(volatility).powi(-2) + information);
        Rating {
            elo: before.elo + SCALE * variance * surplus,
            deviation: SCALE * variance.sqrt(),
            volatility,
        }
    }

    /// Step 5: the volatility after the results, by the Illinois algorithm.
    fn volatility(&self, before: f64, deviation: f64, variance: f64, delta: f64) -> f64 {
        let a = (before * before).ln();
        let f = |x: f64| {
            let sum = deviation * deviation + variance + x.exp();
            x.exp() * (delta * delta - sum) / (2.0 * sum * sum) - (x - a) / (self.tau * self.tau)
        };
        let surprise = delta * delta - deviation * deviation - variance;
        let mut low = a;
        let mut high = if surprise > 0.0 {
            surprise.ln()
        } else {
            let mut steps = 1.0;
            while f(a - steps * self.tau) < 0.0 {
                steps += 1.0;
            }
            a - steps * self.tau
        };
        let (mut at_low, mut at_high) = (f(low), f(high));
        while (high - low).abs() > TOLERANCE {
            let between = low + (low - high) * at_low / (at_high - at_low);
            let at_between = f(between);
            if at_between * at_high <= 0.0 {
                (low, at_low) = (high, at_high);
            } else {
                at_low /= 2.0;
            }
            (high, at_high) = (between, at_between);
        }
        (low / 2.0).exp().min(Self::MAX_VOLATILITY)
    }
}

/// How much a game against an opponent of this deviation counts.
fn g(deviation: f64) -> f64 {
    1.0 / (1.0 + 3.0 * (deviation / PI).powi(2)).sqrt()
}

fn logistic(lead: f64) -> f64 {
    1.0 / (1.0 + (-lead).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SYSTEM: Glicko2 = Glicko2 { tau: 0.5 };

    fn rated(elo: f64, deviation: f64) -> Standing {
        Standing::Rated(Rating { elo, deviation, volatility: 0.06 })
    }

    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value}, not {expected}");
    }

    #[test]
    fn the_example_of_the_paper() {
        let before = Rating { elo: 1500.0, deviation: 200.0, volatility: 0.06 };
        let results = [(1400.0, 30.0, 1.0), (1550.0, 100.0, 0.0), (1700.0, 300.0, 0.0)]
            .map(|(elo, deviation, score)| Met { opponent: rated(elo, deviation), score });
        let after = SYSTEM.after(before, 1.0, &results);
        close(after.elo, 1464.06, 0.01);
        close(after.deviation, 151.52, 0.005);
        // 0.0599960, of which the paper prints five digits without rounding.
        close(after.volatility, 0.059_996, 0.000_000_1);
        // The values on the way: its table of step 3.
        for (deviation, weight) in [(0.1727, 0.9955), (0.5756, 0.9531), (1.7269, 0.7242)] {
            close(g(deviation), weight, 0.000_1);
        }
    }

    #[test]
    fn who_does_not_play_becomes_uncertain_up_to_the_newcomers_deviation() {
        let before = Rating { elo: 1500.0, deviation: 200.0, volatility: 0.06 };
        // Step 6: sqrt(200^2 + (0.06 * 173.7178)^2).
        close(SYSTEM.idle(before, 1.0).deviation, 200.2714, 0.000_1);
        let (once, twice) = (SYSTEM.idle(before, 3.5), SYSTEM.idle(SYSTEM.idle(before, 1.5), 2.0));
        close(once.deviation, twice.deviation, 1e-9);
        assert_eq!((once.elo, once.volatility), (before.elo, before.volatility));
        assert_eq!(
            SYSTEM.idle(before, 0.0),
            Rating { deviation: SYSTEM.idle(before, 0.0).deviation, ..before }
        );
        close(SYSTEM.idle(before, 1e9).deviation, Glicko2::MAX_DEVIATION, 1e-9);
        close(SYSTEM.idle(before, f64::INFINITY).deviation, Glicko2::MAX_DEVIATION, 1e-9);
        // A clock that went back takes nothing away.
        close(SYSTEM.idle(before, -3.0).deviation, before.deviation, 1e-9);
    }

    #[test]
    fn a_pair_is_two_games_of_one_period() {
        const WHOLE: [f64; 2] = [1.0 - Glicko2::PAIR; 2];
        let (one, other) = (rated(1600.0, 80.0), rated(1450.0, 120.0));
        for (half_points, scores) in [(0, [0.0, 0.0]), (1, [0.5, 0.0]), (3, [1.0, 0.5]), (4, [1.0, 1.0])] {
            let [after, against] = SYSTEM.after_pair([one, other], WHOLE, half_points);
            let single = |of, opponent, scores: [f64; 2]| {
                let Standing::Rated(rating) = of else { unreachable!() };
                SYSTEM.after(rating, 1.0, &scores.map(|score| Met { opponent, score }))
            };
            for (pair, games) in [
                (after, single(one, other, scores)),
                (against, single(other, one, scores.map(|score| 1.0 - score))),
            ] {
                close(pair.elo(), games.elo, 1e-9);
                close(pair.deviation(), games.deviation, 1e-9);
            }
            let swapped = SYSTEM.after_pair([other, one], WHOLE, 4 - half_points);
            assert_eq!(swapped, [against, after]);
        }
        // Ten periods, of which the pair was played in the last.
        let Standing::Rated(rating) = one else { unreachable!() };
        let late = SYSTEM.after_pair([one, other], [WHOLE[0] + 9.0, WHOLE[1]], 3)[0];
        let idle = SYSTEM.idle(rating, 9.0);
        let other = SYSTEM.after_pair([Standing::Rated(idle), other], WHOLE, 3)[0];
        close(late.elo(), other.elo(), 1e-9);
        close(late.deviation(), other.deviation(), 1e-9);
    }

    #[test]
    fn an_anchor_never_moves_and_counts_in_full() {
        let anchor = Standing::Anchor(1800.0);
        assert_eq!(SYSTEM.after_pair([anchor, rated(1200.0, 350.0)], [5.0, 0.0], 0)[0], anchor);
        assert_eq!(SYSTEM.after_pair([anchor, anchor], [5.0, 0.0], 0), [anchor; 2]);
        assert_eq!(anchor.estimate(), Estimate { value: 1800.0, error: 0.0 });
        let towards = |opponent| SYSTEM.after_pair([rated(1500.0, 200.0), opponent], [0.0; 2], 4)[0].elo();
        assert!(towards(anchor) > towards(rated(1800.0, 100.0)));
    }

    #[test]
    fn games_between_equals_and_with_the_uncertain_say_most() {
        let information = |one: Standing, other: Standing| {
            assert_eq!(one.information(&other), other.information(&one));
            one.information(&other)
        };
        let bot = rated(1500.0, 80.0);
        assert!(information(bot, rated(1520.0, 80.0)) > information(bot, rated(1800.0, 80.0)));
        assert!(information(bot, rated(1500.0, 200.0)) > information(bot, rated(1500.0, 80.0)));
        // Without deviations it is E(1 - E) of the logistic curve at 400 Elo: 10/11 * 1/11 of the variance.
        let far = information(Standing::Anchor(1900.0), rated(1500.0, 1e-3));
        close(far / (1e-3 / SCALE).powi(2), 10.0 / 121.0, 1e-6);
    }

    proptest! {
        #[test]
        fn ratings_stay_sound(
            elo in -1e4..1e4, deviation in 1.0..350.0, volatility in 0.01..0.1,
            other in -1e4..1e4, other_deviation in 1.0..350.0,
            tau in 0.2..1.2, periods in 0.0..100.0, half_points in 0_usize..5,
        ) {
            let player = Standing::Rated(Rating { elo, deviation, volatility });
            let opponent = rated(other, other_deviation);
            let after = Glicko2 { tau }.after_pair([player, opponent], [periods, 0.0], half_points)[0];
            let Standing::Rated(after) = after else { unreachable!() };
            prop_assert!(after.elo.is_finite());
            prop_assert!((1e-6..=Glicko2::MAX_VOLATILITY).contains(&after.volatility));
            prop_assert!(after.deviation > 0.0 && after.deviation <= Glicko2::MAX_DEVIATION + 1e-9);
            // A surplus of points never lowers the rating.
            prop_assert!(half_points < 4 || after.elo >= elo);
            prop_assert!(half_points > 0 || after.elo <= elo);
        }
    }
}
