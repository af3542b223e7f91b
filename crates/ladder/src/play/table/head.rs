//! What is known of a game whatever happens at its table, and the ends that it has without a referee.

use plyd_arena::{Entrant, PlayedGame, Strictness};
use plyd_core::engine::Entry;
use plyd_protocol::{Record, Seed, Settings};
use tokio::task::JoinError;

use super::{Game, Table};
use crate::GameId;
use crate::game::GameEnd;

/// What is known of a game whatever happens at its table.
pub(super) struct Head {
    pub(super) id: GameId,
    pub(super) seed: Seed,
    pub(super) entrants: [Entrant; 2],
    pub(super) strictness: Strictness,
    pub(super) entry: &'static Entry,
}

impl Head {
    pub(super) fn of(game: &Game) -> Self {
        Self {
            id: game.id,
            seed: game.seed,
            entrants: game.entrants.clone(),
            strictness: game.terms.strictness,
            entry: game.terms.opening.entry(),
        }
    }

    /// The end of a game whose rules panicked.
    pub(super) fn broken(&self, table: &Table, error: JoinError) -> GameEnd {
        let panic = error.into_panic();
        let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "without a word".to_owned(),
        };
        self.void(table, format!("the ladder's rules of the game broke: {message}"))
    }

    /// The end of a game that does not count: what spectators have seen of it, and why.
    pub(super) fn void(&self, table: &Table, why: String) -> GameEnd {
        let (record, opening, answers) = match table.recorder.live().game(self.id) {
            Some(seen) => (seen.record.clone(), seen.opening, seen.answers.clone()),
            None => (unseen(self.entry.name), 0, Vec::new()),
        };
        let played = PlayedGame {
            record,
            number: number(self.id),
            seed: self.seed,
            terms: self.strictness,
            part: None,
            players: self.entrants.clone(),
            opening,
            answers,
            forfeit: None,
            contradictions: Vec::new(),
        };
        GameEnd { void: Some(why), ..GameEnd::of(played) }
    }
}

/// The record of a game that nobody saw begin.
pub(super) fn unseen(game: &str) -> Record {
    Record {
        record: Record::VERSION,
        game: game.to_owned(),
        rules: Settings::new(),
        start: String::new(),
        moves: Vec::new(),
        result: None,
    }
}

/// The number of a game in its record.
pub(super) fn number(id: GameId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}
