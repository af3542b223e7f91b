//! Games in lists, and what was said in those that a bot forfeited.

use plyd_protocol::Player;
use schemars::JsonSchema;
use serde::Serialize;

use super::names::{BotRef, Names};
use super::text::bounded;
use crate::game::{Line, Speaker};
use crate::store::{GameRow, Store, StoreError};
use crate::{GameId, OwnerId, PoolId, SeasonId};

/// The most characters of a reason, and of an ending's name.
const REASON: usize = 500;
const WORD: usize = 40;

/// Games, the latest first.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Games {
    /// The games.
    pub(in crate::pages) games: Vec<GameLine>,
    /// What to ask for `before` to get more; absent: these were the last ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) next: Option<GameId>,
}

/// A game in a list.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct GameLine {
    /// Its number.
    pub(in crate::pages) id: GameId,
    /// The pool.
    pub(in crate::pages) pool: PoolId,
    /// The season.
    pub(in crate::pages) season: SeasonId,
    /// Who plays: p1, then p2.
    pub(in crate::pages) players: [BotRef; 2],
    /// How far it is.
    pub(in crate::pages) state: GameState,
    /// When it began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) begun_ms: Option<i64>,
    /// When it ended or became void.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) ended_ms: Option<i64>,
    /// The points of p1 and p2, if it is over: 1 for a win, 0.5 for a draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) points: Option<[f64; 2]>,
    /// How it ended: a word of the game, `adjudication`, `max_moves`, or the kind of a forfeit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) ended_by: Option<String>,
    /// Who forfeited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) forfeit: Option<Player>,
    /// How many plies it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) plies: Option<u64>,
    /// Why it is void.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) void_why: Option<String>,
}

/// How far a game is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::pages) enum GameState {
    /// It begins after the first game of its pair.
    Waiting,
    /// It is being played.
    Playing,
    /// It ended, and counts.
    Over,
    /// It does not count.
    Void,
}

/// What the ladder and the bot that forfeited a game said before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Conversation {
    /// The game.
    pub(in crate::pages) game: GameId,
    /// The last lines, the oldest first; none if nobody forfeited it.
    pub(in crate::pages) lines: Vec<Speech>,
}

/// A line of a conversation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Speech {
    /// When, in milliseconds since the game began or was resumed.
    pub(in crate::pages) at_ms: u64,
    /// Whether the bot sent it. Else the ladder did.
    pub(in crate::pages) by_bot: bool,
    /// The line, cut if it is long.
    pub(in crate::pages) text: String,
}

impl Conversation {
    /// Nothing was said, or nothing that is kept.
    pub(in crate::pages) fn nothing(game: GameId) -> Self {
        Self { game, lines: Vec::new() }
    }
}

/// The lines of a list of `most` games; the store was asked for one more.
pub(in crate::pages) fn lines(rows: Vec<GameRow>, most: usize, names: &Names) -> Games {
    let has_more = rows.len() > most;
    let games: Vec<GameLine> = rows.into_iter().take(most).map(|row| game_line(row, names)).collect();
    let next = games.last().map(|game| game.id).filter(|_| has_more);
    Games { games, next }
}

/// A game as it stands in a list.
pub(in crate::pages) fn game_line(row: GameRow, names: &Names) -> GameLine {
    let state = match row.state.as_str() {
        "waiting" => GameState::Waiting,
        "playing" => GameState::Playing,
        "over" => GameState::Over,
        _ => GameState::Void,
    };
    let is_over = state == GameState::Over;
    let points = row.half_points.filter(|_| is_over).map(|half| [half as f64 / 2.0, 1.0 - half as f64 / 2.0]);
    let [p1, p2] = row.players;
    let side = |bot| if bot == p1 { Player::P1 } else { Player::P2 };
    GameLine {
        id: row.id,
        pool: row.pool,
        season: row.season,
        players: [names.get(p1), names.get(p2)],
        state,
        begun_ms: row.begun_ms,
        ended_ms: row.ended_ms,
        points,
        ended_by: row.ended_by.map(|by| bounded(&by, WORD)),
        forfeit: row.forfeit_bot.map(side),
        plies: row.plies,
        void_why: row.void_why.map(|why| bounded(&why, REASON)),
    }
}

/// What was said before a game was forfeited.
pub(in crate::pages) fn conversation(store: &mut Store, game: GameId) -> Result<Conversation, StoreError> {
    Ok(Conversation { game, lines: speeches(&store.conversation(game)?) })
}

/// The logs of the bots of an owner in a game, each with its bot's name.
pub(in crate::pages) fn own_logs(
    store: &mut Store,
    game: &GameLine,
    owner: OwnerId,
) -> Result<Vec<(String, Vec<Speech>)>, StoreError> {
    let mut logs = Vec::new();
    for (bot, player) in game.players.iter().zip([Player::P1, Player::P2]) {
        if store.bot(bot.id)?.owner == Some(owner) {
            logs.push((bot.name.clone(), speeches(&store.log(game.id, player)?)));
        }
    }
    Ok(logs)
}

fn speeches(lines: &[Line]) -> Vec<Speech> {
    let speech = |line: Line| Speech {
        at_ms: line.at_ms,
        by_bot: line.by == Speaker::Bot,
        text: bounded(&line.text, Line::LONGEST),
    };
    Line::bounded(lines).into_iter().map(speech).collect()
}
