//! How a bot did against others.

use schemars::JsonSchema;
use serde::Serialize;

use super::names::BotRef;
use crate::{BotId, PoolId};

/// How a bot did in a pool against each other one, those that it met most first.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Opponents {
    /// The bot.
    pub(in crate::pages) bot: BotId,
    /// The pool.
    pub(in crate::pages) pool: PoolId,
    /// The opponents.
    pub(in crate::pages) opponents: Vec<Opponent>,
}

/// How a bot did against another.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Opponent {
    /// The other one.
    pub(in crate::pages) bot: BotRef,
    /// How many games count.
    pub(in crate::pages) games: u64,
    /// The points that the bot made in them.
    pub(in crate::pages) points: f64,
}
