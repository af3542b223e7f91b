//! What a match comes to: points by pairs, and how each player conducted itself.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::statistics::Pairs;
use super::{FaultKind, PlayedGame};

/// The totals of a match, from the first player's view; they grow with each game.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Finished games.
    pub games: u64,
    /// Games that the first player won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the first player lost.
    pub losses: u64,
    /// Finished pairs by the first player's points.
    pub pairs: Pairs,
    /// Moves after the opening, over all games.
    pub moves: u64,
    /// The fewest moves of a game.
    pub shortest: Option<usize>,
    /// The most moves of a game.
    pub longest: Option<usize>,
    /// The games by how they ended.
    pub endings: BTreeMap<String, u64>,
    /// How each player conducted itself.
    pub players: [Conduct; 2],
    /// The first player's half points in pairs of which one game is finished.
    #[serde(skip)]
    halves: HashMap<usize, usize>,
}

/// How a player conducted itself over a match.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Conduct {
    /// Answers, late and illegal ones included.
    pub answers: u64,
    /// The time of all answers in microseconds.
    pub time_us: u64,
    /// The longest time of an answer in microseconds.
    pub max_us: u64,
    /// Forfeited games by reason.
    pub faults: BTreeMap<FaultKind, u64>,
    /// Games in which a proof that the player announced was contradicted.
    pub contradicted_proofs: u64,
}

impl Summary {
    /// Adds a finished game.
    pub fn add(&mut self, game: &PlayedGame) {
        let half_points = game.half_points(0);
        self.games += 1;
        match half_points {
            0 => self.losses += 1,
            1 => self.draws += 1,
            _ => self.wins += 1,
        }
        let pair = (game.number - 1) / 2;
        match self.halves.remove(&pair) {
            Some(other) => self.pairs.add(other + half_points),
            None => {
                self.halves.insert(pair, half_points);
            }
        }
        let moves = game.answers.len();
        self.moves += moves as u64;
        self.shortest = Some(self.shortest.map_or(moves, |shortest| shortest.min(moves)));
        self.longest = self.longest.max(Some(moves));
        if let Some(outcome) = &game.record.result {
            *self.endings.entry(outcome.by.clone()).or_default() += 1;
        }
        for answered in &game.answers {
            let conduct = &mut self.players[game.entrant(answered.player).index];
            conduct.answers += 1;
            conduct.time_us += answered.time_us;
            conduct.max_us = conduct.max_us.max(answered.time_us);
        }
        if let Some(forfeit) = &game.forfeit {
            let conduct = &mut self.players[game.entrant(forfeit.player).index];
            *conduct.faults.entry(forfeit.fault.kind).or_default() += 1;
        }
        for contradiction in &game.contradictions {
            self.players[game.entrant(contradiction.player).index].contradicted_proofs += 1;
        }
    }
}

impl Conduct {
    /// The mean time of an answer in microseconds; 0 without an answer.
    #[must_use]
    pub fn mean_us(&self) -> u64 {
        self.time_us / self.answers.max(1)
    }
}
