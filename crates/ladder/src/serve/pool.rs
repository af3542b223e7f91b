//! A pool as the matchmaker sees it: who may play in it, and who met whom.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use plyd_arena::{GameClock, TimeControl};
use plyd_core::engine::Entry;
use plyd_protocol::{Clock, Setting};

use super::players;
use crate::BotId;
use crate::pairing::{Candidate, Owner};
use crate::play::offers;
use crate::ratings::progress::Rated;
use crate::store::{Bot, Pool};

/// A pool in which games begin.
pub(super) struct OpenPool {
    pub(super) pool: Pool,
    preset: Option<String>,
    clock: Option<Clock>,
    meetings: Arc<Meetings>,
}

/// Who met whom in a pool, counted as encounters begin: of a thousand bots half a million pairs may have met.
#[derive(Clone, Default)]
pub(super) struct Meetings {
    /// How many encounters two had, the smaller number first.
    pairs: HashMap<[BotId; 2], u64>,
    /// How many encounters a bot had, and how many of them with the house.
    own: HashMap<BotId, [u64; 2]>,
}

impl Meetings {
    /// How often two have met.
    pub(super) fn of(&self, players: [BotId; 2]) -> u64 {
        self.pairs.get(&ordered(players)).copied().unwrap_or(0)
    }

    /// Two have met so many times more.
    pub(super) fn add(&mut self, [first, second]: [BotId; 2], encounters: u64, houses: &[BotId]) {
        *self.pairs.entry(ordered([first, second])).or_default() += encounters;
        for (bot, opponent) in [(first, second), (second, first)] {
            let [all, with_house] = self.own.entry(bot).or_default();
            *all += encounters;
            if houses.contains(&opponent) {
                *with_house += encounters;
            }
        }
    }
}

/// A bot that takes an encounter more.
pub(super) struct Free<'r> {
    pub(super) bot: &'r Bot,
    /// What it offers; none: the house's.
    pub(super) offer: Option<&'r plyd_protocol::Offer>,
    pub(super) slots: u32,
    pub(super) waited: Duration,
}

impl OpenPool {
    /// # Errors
    /// Why no games are played in it.
    pub(super) fn new(games: &[&'static Entry], pool: Pool, meetings: Arc<Meetings>) -> Result<Self, String> {
        players::entry(games, &pool.terms.game)?;
        let preset = match pool.terms.rules.get("preset") {
            Some(Setting::Text(preset)) => Some(preset.clone()),
            _ => None,
        };
        let unlimited = GameClock::new(TimeControl::Unlimited);
        let clock = GameClock::new(pool.terms.clock.control()).to_wire(&unlimited);
        Ok(Self { pool, preset, clock, meetings })
    }

    /// What it is called, and what is played in it.
    pub(super) fn name(&self) -> String {
        let Pool { name, terms, .. } = &self.pool;
        match &self.preset {
            Some(preset) => format!("{name} ({} {preset})", terms.game),
            None => format!("{name} ({})", terms.game),
        }
    }

    /// Who met whom up to now.
    pub(super) fn into_meetings(self) -> Arc<Meetings> {
        self.meetings
    }

    /// The same, to look at beside this.
    pub(super) fn meetings(&self) -> Arc<Meetings> {
        Arc::clone(&self.meetings)
    }

    /// Two meet once more.
    pub(super) fn meet(&mut self, players: [BotId; 2], houses: &[BotId]) {
        // Nobody looks at them now, so that nothing is copied.
        Arc::make_mut(&mut self.meetings).add(players, 1, houses);
    }

    /// Whether a bot plays in this pool.
    pub(super) fn takes(&self, free: &Free<'_>) -> bool {
        let is_anchor = || self.pool.anchors.iter().any(|(bot, _)| *bot == free.bot.id);
        match free.offer {
            None => is_anchor(),
            Some(offer) => offers(offer, &self.pool.terms.game, self.preset.as_deref(), self.clock.as_ref()),
        }
    }

    /// A bot as the matchmaker wants it. It takes one encounter at a time, so that each of its pools has its
    /// turn.
    pub(super) fn candidate(&self, free: &Free<'_>, rated: &Rated) -> Candidate {
        let [encounters, with_house] = self.meetings.own.get(&free.bot.id).copied().unwrap_or_default();
        Candidate {
            bot: free.bot.id,
            owner: free.bot.owner.map_or(Owner::House, |owner| Owner::Account(owner.0)),
            standing: rated.standing,
            slots: free.slots.min(1),
            waited: free.waited,
            encounters,
            with_house,
        }
    }
}

fn ordered([first, second]: [BotId; 2]) -> [BotId; 2] {
    [first.min(second), first.max(second)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_what_the_pairs_say() {
        let houses = [BotId(1), BotId(4)];
        let mut meetings = Meetings::default();
        for (first, second, encounters) in [(2, 1, 3), (1, 2, 1), (2, 3, 5), (4, 3, 1), (3, 2, 1)] {
            meetings.add([BotId(first), BotId(second)], encounters, &houses);
        }
        for bot in (1..=5).map(BotId) {
            let own = || meetings.pairs.iter().filter(|(players, _)| players.contains(&bot));
            let is_with_house =
                |players: &[BotId; 2]| players.iter().any(|player| *player != bot && houses.contains(player));
            let all: u64 = own().map(|(_, count)| count).sum();
            let with_house: u64 =
                own().filter(|(players, _)| is_with_house(players)).map(|(_, count)| count).sum();
            assert_eq!(meetings.own.get(&bot).copied().unwrap_or_default(), [all, with_house], "{bot}");
        }
        assert_eq!(meetings.own[&BotId(2)], [10, 4]);
        assert_eq!(meetings.of([BotId(2), BotId(1)]), 4);
    }
}
