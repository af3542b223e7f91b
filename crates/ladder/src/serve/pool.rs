//! A pool as the matchmaker sees it: who may play in it, and who met whom.

use std::collections::HashMap;
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
    met: MetCounts,
}

/// How many encounters two had, the smaller number first.
pub(super) type MetCounts = HashMap<[BotId; 2], u64>;

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
    pub(super) fn new(games: &[&'static Entry], pool: Pool, met: MetCounts) -> Result<Self, String> {
        players::entry(games, &pool.terms.game)?;
        let preset = match pool.terms.rules.get("preset") {
            Some(Setting::Text(preset)) => Some(preset.clone()),
            _ => None,
        };
        let unlimited = GameClock::new(TimeControl::Unlimited);
        let clock = GameClock::new(pool.terms.clock.control()).to_wire(&unlimited);
        Ok(Self { pool, preset, clock, met })
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
    pub(super) fn into_met(self) -> MetCounts {
        self.met
    }

    /// How often two have met.
    pub(super) fn met(&self, players: [BotId; 2]) -> u64 {
        self.met.get(&ordered(players)).copied().unwrap_or(0)
    }

    /// Two meet once more.
    pub(super) fn meet(&mut self, players: [BotId; 2]) {
        *self.met.entry(ordered(players)).or_default() += 1;
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
    pub(super) fn candidate(&self, free: &Free<'_>, rated: &Rated, houses: &[BotId]) -> Candidate {
        let own = self.met.iter().filter(|(players, _)| players.contains(&free.bot.id));
        let (mut encounters, mut with_house) = (0, 0);
        for (players, count) in own {
            encounters += count;
            if players.iter().any(|player| *player != free.bot.id && houses.contains(player)) {
                with_house += count;
            }
        }
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
