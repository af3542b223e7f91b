//! The ratings of a pool as its encounters end, one after the other: what is kept of each bot, and what an
//! encounter makes of it.
//!
//! The same encounters in the same order give the same ratings, bit by bit, whether they are added as they
//! end or all anew: times are whole milliseconds, as they are kept.

use std::collections::BTreeMap;

use crate::BotId;

use super::glicko::{Glicko2, Rating, Standing};

/// How far the ratings of a pool are.
#[derive(Clone, Debug)]
pub struct Progress {
    system: Glicko2,
    period_ms: u64,
    bots: BTreeMap<BotId, Rated>,
}

/// What is kept of a bot's rating in a pool.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rated {
    /// What is known of its strength.
    pub standing: Standing,
    /// How many encounters it has had.
    pub encounters: u64,
    /// When the last one ended, in milliseconds since 1970; none: it has had none.
    pub last_ms: Option<i64>,
}

impl Rated {
    /// A bot without games.
    #[must_use]
    pub fn newcomer() -> Self {
        Self { standing: Standing::Rated(Rating::default()), encounters: 0, last_ms: None }
    }

    /// A house bot of this Elo without games.
    #[must_use]
    pub fn anchor(elo: f64) -> Self {
        Self { standing: Standing::Anchor(elo), ..Self::newcomer() }
    }
}

impl Progress {
    /// Before the first encounter of a pool whose rating periods are that long.
    #[must_use]
    pub fn new(period_ms: u64) -> Self {
        Self { system: Glicko2::default(), period_ms, bots: BTreeMap::new() }
    }

    /// Begins with what is known of a bot, in the place of what was known before.
    pub fn set(&mut self, bot: BotId, rated: Rated) {
        self.bots.insert(bot, rated);
    }

    /// What is known of a bot.
    #[must_use]
    pub fn of(&self, bot: BotId) -> Rated {
        self.bots.get(&bot).copied().unwrap_or_else(Rated::newcomer)
    }

    /// What is known of all that were set or met somebody.
    #[must_use]
    pub fn bots(&self) -> &BTreeMap<BotId, Rated> {
        &self.bots
    }

    /// Adds an encounter that ended at that time, in which the first bot made so many half points, from 0 to
    /// 4, and gives what is known of both now.
    pub fn add(&mut self, players: [BotId; 2], half_points: usize, at_ms: i64) -> [Rated; 2] {
        let before = players.map(|bot| self.of(bot));
        let periods = before.map(|rated| {
            // A clock that was set back counts as one that stood still.
            let passed = rated.last_ms.map_or(0, |last| at_ms.saturating_sub(last).max(0));
            passed as f64 / self.period_ms as f64
        });
        let standings = self.system.after_pair(before.map(|rated| rated.standing), periods, half_points);
        [0, 1].map(|at| {
            let rated = Rated {
                standing: standings[at],
                encounters: before[at].encounters + 1,
                last_ms: Some(at_ms),
            };
            self.bots.insert(players[at], rated);
            rated
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_between_encounters_counts_in_periods_and_only_forward() {
        let (bot, house) = (BotId(1), BotId(2));
        let after = |times: [i64; 2]| {
            let mut progress = Progress::new(1000);
            progress.set(house, Rated::anchor(1500.0));
            progress.add([bot, house], 3, times[0]);
            progress.add([bot, house], 2, times[1])
        };
        let [at_once, anchor] = after([5, 5]);
        assert_eq!((anchor.standing, anchor.encounters), (Standing::Anchor(1500.0), 2));
        let glicko = Glicko2::default();
        let expected = |periods| {
            let newcomer = Standing::Rated(Rating::default());
            let [first, anchor] = glicko.after_pair([newcomer, anchor.standing], [0.0; 2], 3);
            glicko.after_pair([first, anchor], periods, 2)[0]
        };
        assert_eq!(at_once.standing, expected([0.0; 2]));
        assert_eq!(after([5, 2505])[0].standing, expected([2.5; 2]));
        assert_eq!(after([5, -2505])[0].standing, at_once.standing);
        assert_eq!(at_once.last_ms, Some(5));
        let far = after([i64::MIN, i64::MAX])[0].standing;
        assert!(far.elo().is_finite() && far.deviation() <= Glicko2::MAX_DEVIATION, "{far:?}");
    }

    #[test]
    fn added_one_by_one_from_what_was_kept_or_all_at_once_the_ratings_are_the_same_bits() {
        let mut whole = Progress::new(7);
        let mut kept: BTreeMap<BotId, Rated> = BTreeMap::new();
        for step in 0..500_u64 {
            let first = BotId(step % 7);
            let second = BotId(7 + step * step % 5);
            let (half_points, at_ms) = ((step * 31 % 5) as usize, (step * 3 / 2) as i64);
            let mut alone = Progress::new(7);
            for bot in [first, second] {
                alone.set(bot, kept.get(&bot).copied().unwrap_or_else(Rated::newcomer));
            }
            let rated = alone.add([first, second], half_points, at_ms);
            assert_eq!(rated, whole.add([first, second], half_points, at_ms));
            kept.extend([first, second].into_iter().zip(rated));
        }
        assert_eq!(&kept, whole.bots());
    }
}
