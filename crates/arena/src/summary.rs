//! The result of a match: points by pairs, and what is counted of each player.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use plyd_protocol::Record;
use serde::Serialize;

use super::statistics::Pairing;
use super::{ForfeitKind, ForfeitReason, PlayedGame, Schedule, Unplayed};

/// The totals of a match; they grow with each game.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Finished games.
    pub games: u64,
    /// Games that were left out, since a player's server was overloaded.
    pub unplayed: u64,
    /// Games that repeat an earlier one of the same players move for move, and so say nothing more of them.
    pub repeats: u64,
    /// Moves after the opening, over all games.
    pub moves: u64,
    /// The fewest moves of a game.
    pub shortest: Option<usize>,
    /// The most moves of a game.
    pub longest: Option<usize>,
    /// The games by how they ended.
    pub endings: BTreeMap<String, u64>,
    /// The result of each pairing, in the order of the schedule.
    #[serde(rename = "meetings")]
    pub results: Vec<PairingResult>,
    /// What is counted of each player.
    pub players: Vec<PlayerStats>,
    /// The openings that were played, by start and moves.
    #[serde(skip)]
    openings: HashSet<String>,
    /// Hashes of the games that were played, by players, start and moves.
    #[serde(skip)]
    played: HashSet<u64>,
    /// The half points of a pairing's first player in pairs of which one game is finished.
    #[serde(skip)]
    halves: HashMap<usize, usize>,
}

/// The games of two players, from the first one's view.
#[derive(Clone, Debug, Serialize)]
pub struct PairingResult {
    /// Who meets, and their pairs by points; a game whose partner is unfinished is a single one.
    #[serde(flatten)]
    pub pairing: Pairing,
    /// Games that the first of them won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that the first of them lost.
    pub losses: u64,
}

/// What is counted of a player over a match.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PlayerStats {
    /// Answers, late and illegal ones included.
    pub answers: u64,
    /// The time of all answers in microseconds.
    pub time_us: u64,
    /// The longest time of an answer in microseconds.
    pub max_us: u64,
    /// Late answers that were forgiven because the machine stood still.
    pub forgiven: u64,
    /// Games that were left out, since the player's server was overloaded.
    pub overloaded: u64,
    /// Forfeited games by reason.
    pub faults: BTreeMap<ForfeitKind, u64>,
    /// The first of them by reason, which says what happened.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub first_faults: BTreeMap<ForfeitKind, FirstFault>,
    /// Games in which a proof that the player announced was contradicted.
    pub contradicted_proofs: u64,
}

/// A forfeited game as an example of its reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FirstFault {
    /// The game's number in the match, from 1.
    pub game: usize,
    /// What happened, for people.
    pub message: String,
}

impl Summary {
    /// The totals of a match before its first game; `players` is the number of players.
    #[must_use]
    pub fn new(schedule: &Schedule, players: usize) -> Self {
        let unplayed =
            |&players| PairingResult { pairing: Pairing::new(players), wins: 0, draws: 0, losses: 0 };
        Self {
            games: 0,
            unplayed: 0,
            repeats: 0,
            moves: 0,
            shortest: None,
            longest: None,
            endings: BTreeMap::new(),
            results: schedule.pairings().iter().map(unplayed).collect(),
            players: vec![PlayerStats::default(); players],
            openings: HashSet::new(),
            played: HashSet::new(),
            halves: HashMap::new(),
        }
    }

    /// Adds a finished game of the schedule.
    pub fn add(&mut self, game: &PlayedGame) {
        self.games += 1;
        self.add_points(game);
        let Record { start, moves, .. } = &game.record;
        self.openings.insert(format!("{start};{}", moves[..game.opening].join(";")));
        // A game that broke off was decided by something else than its moves.
        if game.forfeit.is_none() {
            let players = game.players.each_ref().map(|entrant| entrant.index);
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((players, start, moves));
            self.repeats += u64::from(!self.played.insert(hash));
        }
        let moves = game.answers.len();
        self.moves += moves as u64;
        self.shortest = Some(self.shortest.map_or(moves, |shortest| shortest.min(moves)));
        self.longest = self.longest.max(Some(moves));
        if let Some(outcome) = &game.record.result {
            *self.endings.entry(outcome.by.clone()).or_default() += 1;
        }
        for answered in &game.answers {
            let stats = &mut self.players[game.entrant(answered.player).index];
            stats.answers += 1;
            stats.time_us += answered.time_us;
            stats.max_us = stats.max_us.max(answered.time_us);
            stats.forgiven += u64::from(answered.forgiven_us.is_some());
        }
        if let Some(forfeit) = &game.forfeit {
            let stats = &mut self.players[game.entrant(forfeit.player).index];
            stats.add_fault(&forfeit.reason, game.number);
        }
        for contradiction in &game.contradictions {
            self.players[game.entrant(contradiction.player).index].contradicted_proofs += 1;
        }
    }

    /// Counts a game that is left out: it is worth nothing to anybody.
    pub fn leave_out(&mut self, game: &Unplayed) {
        self.unplayed += 1;
        self.players[game.player].overloaded += 1;
    }

    fn add_points(&mut self, game: &PlayedGame) {
        let mut players = game.players.each_ref().map(|entrant| entrant.index);
        players.sort_unstable();
        let result = self.results.iter_mut().find(|result| result.pairing.players == players);
        let result = result.expect("the schedule has every pairing that is played");
        let half_points = game.half_points(players[0]);
        match half_points {
            0 => result.losses += 1,
            1 => result.draws += 1,
            _ => result.wins += 1,
        }
        let pair = (game.number - 1) / 2;
        match self.halves.remove(&pair) {
            Some(other) => {
                result.pairing.singles.counts[other] -= 1;
                result.pairing.pairs.add(other + half_points);
            }
            None => {
                result.pairing.singles.add(half_points);
                self.halves.insert(pair, half_points);
            }
        }
    }

    /// How many openings were played that differ.
    #[must_use]
    pub fn openings(&self) -> usize {
        self.openings.len()
    }

    /// The results of each two players who meet.
    #[must_use]
    pub fn pairings(&self) -> Vec<Pairing> {
        self.results.iter().map(|result| result.pairing).collect()
    }
}

impl PlayerStats {
    /// Counts a forfeited game. Games that are played at once end in any order: the lowest number stays.
    fn add_fault(&mut self, reason: &ForfeitReason, game: usize) {
        *self.faults.entry(reason.kind).or_default() += 1;
        let fault = || FirstFault { game, message: reason.message.clone() };
        let first = self.first_faults.entry(reason.kind).or_insert_with(fault);
        if game < first.game {
            *first = fault();
        }
    }

    /// How many games the player forfeited.
    #[must_use]
    pub fn forfeits(&self) -> u64 {
        self.faults.values().sum()
    }

    /// The mean time of an answer in microseconds; 0 without an answer.
    #[must_use]
    pub fn mean_us(&self) -> u64 {
        self.time_us / self.answers.max(1)
    }
}
