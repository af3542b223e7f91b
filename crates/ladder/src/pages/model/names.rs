//! Bots where others name them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::BotId;
use crate::store::{Bot, Store, StoreError};

/// A bot that is named.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct BotRef {
    /// Its number.
    pub(in crate::pages) id: BotId,
    /// Its name.
    pub(in crate::pages) name: String,
    /// Whether it is a house bot, which the ladder plays itself.
    pub(in crate::pages) house: bool,
}

/// All bots by their numbers.
#[derive(Debug)]
pub(in crate::pages) struct Names(BTreeMap<BotId, BotRef>);

impl BotRef {
    pub(super) fn of(bot: &Bot) -> Self {
        Self { id: bot.id, name: bot.name.clone(), house: bot.house.is_some() }
    }
}

impl Names {
    /// The names as they are now.
    pub(in crate::pages) fn read(store: &mut Store) -> Result<Self, StoreError> {
        Ok(Self::of(&store.bots()?))
    }

    pub(super) fn of(bots: &[Bot]) -> Self {
        Self(bots.iter().map(|bot| (bot.id, BotRef::of(bot))).collect())
    }

    /// All of them, by their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &BotRef> {
        self.0.values()
    }

    /// A bot. One that came in this moment has its number for a name.
    pub(in crate::pages) fn get(&self, id: BotId) -> BotRef {
        self.0.get(&id).cloned().unwrap_or_else(|| BotRef { id, name: format!("bot {id}"), house: false })
    }
}
