//! What a report says about a match before its games: what was played, and by whom.

use plyd_core::engine::Entry;
use plyd_protocol::{Seed, Settings};

use super::matches::Match;
use super::schedule::Schedule;
use super::strictness::Strictness;

/// The head of a match's report.
#[derive(Clone, Debug)]
pub struct Header {
    /// The game.
    pub game: &'static Entry,
    /// The rules that were given.
    pub rules: Settings,
    /// The seed of chance and of the players' own choices.
    pub seed: Seed,
    /// The names of the players.
    pub players: Vec<String>,
    /// The pairings, and how often each is played.
    pub schedule: Schedule,
    /// On what terms it is refereed.
    pub strictness: Strictness,
}

impl Match {
    /// The head of its report.
    #[must_use]
    pub fn header(&self) -> Header {
        Header {
            game: self.game,
            rules: self.rules.clone(),
            seed: self.seed,
            players: self.players.iter().map(|player| player.name.clone()).collect(),
            schedule: self.schedule.clone(),
            strictness: self.strictness,
        }
    }
}
