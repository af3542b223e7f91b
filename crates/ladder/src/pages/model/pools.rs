//! Pools and seasons.

use plyd_protocol::Settings;
use schemars::JsonSchema;
use serde::Serialize;

use super::names::{BotRef, Names};
use crate::store::{self, Store, StoreError};
use crate::terms::PoolClock;
use crate::{PoolId, SeasonId};

/// All pools, the oldest first.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Pools {
    /// The pools.
    pub(in crate::pages) pools: Vec<Pool>,
}

/// A pool: bots of one game, one set of rules and one clock.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Pool {
    /// Its number.
    pub(in crate::pages) id: PoolId,
    /// Its name.
    pub(in crate::pages) name: String,
    /// The game.
    pub(in crate::pages) game: String,
    /// Its rules as they were given: those that are not named have their defaults.
    pub(in crate::pages) rules: Settings,
    /// Both bots' clock.
    pub(in crate::pages) clock: PoolClock,
    /// How many random moves begin each game.
    pub(in crate::pages) opening_plies: usize,
    /// When it was made, in milliseconds since 1970.
    pub(in crate::pages) made_ms: i64,
    /// When it was closed, if it was: no further game begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) closed_ms: Option<i64>,
    /// The house bots whose ratings are fixed.
    pub(in crate::pages) anchors: Vec<Anchor>,
}

/// A house bot whose rating is fixed, so that a rating means the same next year.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Anchor {
    /// The bot.
    pub(in crate::pages) bot: BotRef,
    /// Its rating in Elo.
    pub(in crate::pages) elo: f64,
}

/// All seasons, the oldest first; the last one goes on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Seasons {
    /// The seasons.
    pub(in crate::pages) seasons: Vec<Season>,
}

/// A season: the time in which games count for one table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Season {
    /// Its number.
    pub(in crate::pages) id: SeasonId,
    /// Its name.
    pub(in crate::pages) name: String,
    /// When it began, in milliseconds since 1970. It lasts until the next one begins.
    pub(in crate::pages) begun_ms: i64,
}

/// All pools.
pub(in crate::pages) fn pools(store: &mut Store) -> Result<Pools, StoreError> {
    let names = Names::read(store)?;
    Ok(Pools { pools: store.pools()?.into_iter().map(|pool| shown(pool, &names)).collect() })
}

/// A pool, if it is there.
pub(in crate::pages) fn pool(store: &mut Store, id: PoolId) -> Result<Option<Pool>, StoreError> {
    Ok(pools(store)?.pools.into_iter().find(|pool| pool.id == id))
}

fn shown(pool: store::Pool, names: &Names) -> Pool {
    let anchor = |(bot, elo)| Anchor { bot: names.get(bot), elo };
    Pool {
        id: pool.id,
        name: pool.name,
        game: pool.terms.game,
        rules: pool.terms.rules,
        clock: pool.terms.clock,
        opening_plies: pool.terms.opening_plies,
        made_ms: pool.made_ms,
        closed_ms: pool.closed_ms,
        anchors: pool.anchors.into_iter().map(anchor).collect(),
    }
}

/// All seasons.
pub(in crate::pages) fn seasons(store: &mut Store) -> Result<Seasons, StoreError> {
    let shown =
        |season: store::Season| Season { id: season.id, name: season.name, begun_ms: season.begun_ms };
    Ok(Seasons { seasons: store.seasons()?.into_iter().map(shown).collect() })
}
