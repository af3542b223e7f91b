//! What is kept of a game: enough to play it again and to judge each player by it.

use plyd_protocol::{Player, Record, Score, Seed, Settings};
use serde::{Deserialize, Serialize};

use super::schedule::Format;
use super::shard::Shard;
use super::{ForfeitReason, Strictness};
use crate::archive::Kept;

/// A finished game. As JSON it is a record of the protocol with more fields, one line of a file of games.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlayedGame {
    /// What was played. The result's `by` is one of the game's endings, `adjudication`, `max_moves` (the
    /// referee's draw), or the kind of a forfeit.
    #[serde(flatten)]
    pub record: Record,
    /// The game's number in the match, from 1; 2n - 1 and 2n have the same opening.
    pub number: usize,
    /// The seed of the match.
    pub seed: Seed,
    /// On what terms it was refereed.
    pub terms: Strictness,
    /// What it is a part of, if the match is played in shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Who played: p1, then p2.
    pub players: [Entrant; 2],
    /// How many of the plies are the opening, which nobody chose.
    pub opening: usize,
    /// The players' answers, in their order.
    pub answers: Vec<Answered>,
    /// Who forfeited the game and why, if somebody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forfeit: Option<Forfeit>,
    /// The first announced proof of each player that the game contradicted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
}

/// What the record of a game of a shard says about the whole match, beside its seed and its terms: enough to
/// check whether shards belong to one match, and to report on it without its arguments.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The shard that the game is in.
    pub shard: Shard,
    /// Who meets whom.
    pub format: Format,
    /// How many games the whole match has.
    pub games: usize,
    /// The rules that were given.
    pub rules: Settings,
    /// All players of the match.
    pub players: Vec<Entrant>,
    /// A hash of all openings.
    pub openings: Seed,
}

/// A game that was not played to an end and does not count, though nobody forfeits it: the server of a player
/// was overloaded when the game was to begin or a move was due, as often as it was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unplayed {
    /// The game's number in the match, from 1.
    pub number: usize,
    /// The index of the player among those of the match.
    pub player: usize,
    /// How long its server was overloaded, and what it said, for people.
    pub message: String,
}

impl Kept for PlayedGame {
    const BEGINNING: &'static [u8] = br#"{"record":"#;
    const WHAT: &'static str = "record of a game";
}

/// A player's place in the match.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entrant {
    /// Its index among the players of the match.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// What distinguishes its program from another build of it, if it is a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
}

/// An answer of a player.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Answered {
    /// Who answered.
    pub player: Player,
    /// The time from the end of writing the `go` to the end of reading the `bestmove`, in microseconds, less
    /// `granted_us`.
    pub time_us: u64,
    /// What was granted for the network, in microseconds, if anything: a ladder compensates lag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_us: Option<u64>,
    /// The time from receiving the `go` to deciding, in microseconds, if the player reports it: the rest of
    /// `time_us` was spent on the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_us: Option<u64>,
    /// The time that is left on the player's clock for the game after the answer, in microseconds; none for a
    /// clock of each move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_us: Option<u64>,
    /// By how much the answer was late, in microseconds, if that was forgiven because the machine stood
    /// still for as long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgiven_us: Option<u64>,
    /// The score that the player announced for its move, from its own view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// The name under which the player's log explains why its search broke, if it reports that it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incident: Option<String>,
}

/// A forfeited game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Forfeit {
    /// Who forfeits.
    pub player: Player,
    /// Why.
    #[serde(flatten)]
    pub reason: ForfeitReason,
}

/// A proof that the game contradicted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Contradiction {
    /// Who announced it.
    pub player: Player,
    /// The index of the answer that announced it.
    pub answer: usize,
    /// What was announced and what happened instead.
    pub message: String,
}

impl PlayedGame {
    /// The half points of the player with this index, one of the two: 2 for a win, 1 for a draw.
    #[must_use]
    pub fn half_points(&self, index: usize) -> usize {
        match self.record.result.as_ref().and_then(|outcome| outcome.winner) {
            None => 1,
            Some(winner) => 2 * usize::from(self.entrant(winner).index == index),
        }
    }

    /// Who plays that side.
    #[must_use]
    pub fn entrant(&self, player: Player) -> &Entrant {
        &self.players[side(player)]
    }
}

/// A side as an index: p1 is 0.
pub(super) fn side(player: Player) -> usize {
    usize::from(player == Player::P2)
}

/// The other side.
pub(super) fn other(player: Player) -> Player {
    match player {
        Player::P1 => Player::P2,
        Player::P2 => Player::P1,
    }
}
