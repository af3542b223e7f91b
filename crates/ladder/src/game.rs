//! A game of the ladder, between those who play it and those who keep it: what is needed to begin or resume
//! it, and what there is at its end.

use plyd_arena::PlayedGame;
pub use plyd_arena::referee::Turn;
use plyd_protocol::{Player, Seed};
use serde::{Deserialize, Serialize};

use crate::terms::PoolTerms;
use crate::{BotId, GameId, PoolId};

/// A game that is to be played to its end.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenGame {
    /// The game.
    pub id: GameId,
    /// The pool that it belongs to.
    pub pool: PoolId,
    /// On what terms it is played.
    pub terms: PoolTerms,
    /// Who plays: p1, then p2.
    pub players: [Seated; 2],
    /// The seed of chance: that of its pair.
    pub seed: Seed,
    /// Where it begins.
    pub opening: Opening,
    /// What was played of it so far, without chance, which the seed draws again. The clocks are in the
    /// answers: what is left of each, and what was granted for the network.
    pub turns: Vec<Turn>,
}

/// Who plays a side.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Seated {
    /// The bot.
    pub bot: BotId,
    /// Its name.
    pub name: String,
}

/// Where both games of a pair begin.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Opening {
    /// The position's text at the start.
    pub start: String,
    /// The plies that nobody chose, chance plies included.
    pub moves: Vec<String>,
}

/// A game that ended.
#[derive(Clone, PartialEq, Debug)]
pub struct GameEnd {
    /// Its record. Its number is that of the game, its seed that of the pair, and the players' indexes are
    /// the bots' numbers. A game that does not count has no result.
    pub played: PlayedGame,
    /// Why the game does not count, if it does not.
    pub void: Option<String>,
    /// The logs: the last lines between the ladder and p1, and p2, in this game, the oldest first, within the
    /// bounds of [`Line`]. Everybody sees that of a bot that forfeited, and its owner that of each bot.
    pub conversations: [Vec<Line>; 2],
}

/// A line of a conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Whether the bot sent it, or the ladder.
    pub by: Speaker,
    /// When, in milliseconds since the game began or was resumed.
    pub at_ms: u64,
    /// The line, without its end.
    pub text: String,
}

/// Who said a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The bot.
    Bot,
    /// The ladder.
    Ladder,
}

impl Line {
    /// How many lines of a conversation are kept.
    pub const MOST: usize = 40;
    /// How many characters of a line are kept.
    pub const LONGEST: usize = 1000;

    /// A line, cut if it is long.
    #[must_use]
    pub fn new(by: Speaker, at_ms: u64, line: &[u8]) -> Self {
        // A character has four bytes at most.
        let head = &line[..line.len().min(4 * Self::LONGEST)];
        let text = String::from_utf8_lossy(head).chars().take(Self::LONGEST).collect();
        Self { by, at_ms, text }
    }

    /// The end of a conversation that is kept.
    #[must_use]
    pub fn bounded(lines: &[Self]) -> Vec<Self> {
        let last = &lines[lines.len().saturating_sub(Self::MOST)..];
        last.iter().map(|line| Self::new(line.by, line.at_ms, line.text.as_bytes())).collect()
    }
}

impl OpenGame {
    /// Which side a bot plays.
    #[must_use]
    pub fn side(&self, bot: BotId) -> Option<Player> {
        let at = self.players.iter().position(|player| player.bot == bot)?;
        Some(if at == 0 { Player::P1 } else { Player::P2 })
    }
}

impl GameEnd {
    /// The end of a game of which nobody said anything, and that counts if it has a result.
    #[must_use]
    pub fn of(played: PlayedGame) -> Self {
        Self { played, void: None, conversations: [const { Vec::new() }; 2] }
    }

    /// Which game it is.
    #[must_use]
    pub fn id(&self) -> GameId {
        GameId(self.played.number as u64)
    }
}
