//! What the pages show and the API answers, read from the store. It knows neither HTML nor HTTP.
//!
//! All that a bot or an owner wrote is bounded here; that it is escaped is up to whoever writes it out.

mod bots;
mod games;
mod names;
mod opponents;
mod played;
mod pools;
mod standings;
mod text;

pub(super) use bots::{Bot, Bots, Curve, CurvePoint, Rating, bot, bots, curve};
pub(super) use games::{
    Conversation, GameLine, GameState, Games, Speech, conversation, game_line, lines, own_logs,
};
pub(super) use names::{BotRef, Names};
pub(super) use opponents::{Opponent, Opponents};
pub(super) use played::{Contradiction, Game, Ply, plies};
pub(super) use pools::{Pool, Pools, Season, Seasons, pool, pools, seasons};
pub(super) use standings::{Crosstable, Score, Standing, Standings, Tally};
pub(super) use text::bounded;
