//! Bots: what they are, how their ratings went, and how they did against whom.

use plyd_protocol::Settings;
use schemars::JsonSchema;
use serde::Serialize;

use super::standings::tenths;
use super::text::bounded;
use crate::ratings::glicko::Standing;
use crate::store::{self, Store, StoreError};
use crate::{BotId, PoolId};

/// The most characters of a version, and of a reason, that are shown.
const VERSION: usize = 100;
const REASON: usize = 500;
/// The most versions of a bot that are shown, the latest.
const VERSIONS: usize = 10;

/// Bots, by their numbers.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Bots {
    /// The bots.
    pub(in crate::pages) bots: Vec<Bot>,
    /// What to ask for `after` to get more; absent: these were the last ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) next: Option<BotId>,
}

/// A bot.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Bot {
    /// Its number.
    pub(in crate::pages) id: BotId,
    /// Its name.
    pub(in crate::pages) name: String,
    /// Its owner's name; absent: it is a house bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) owner: Option<String>,
    /// What plays, if it is a house bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) house: Option<House>,
    /// When it was made, in milliseconds since 1970.
    pub(in crate::pages) made_ms: i64,
    /// Whether it may not play at present, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) disabled: Option<Disabled>,
    /// How many games in a row it forfeited, up to now.
    pub(in crate::pages) forfeits_in_a_row: u64,
    /// What it called itself, the latest first, ten at most.
    pub(in crate::pages) versions: Vec<Version>,
    /// Its rating in each pool in which it played.
    pub(in crate::pages) ratings: Vec<Rating>,
}

/// What plays as a house bot. Nothing of it changes, so that its rating means the same next year.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct House {
    /// The player's options.
    pub(in crate::pages) options: Settings,
    /// The nodes that it searches for each move.
    pub(in crate::pages) nodes: u64,
    /// The build of plyd that it is pinned to.
    pub(in crate::pages) version: String,
}

/// Since when and why a bot may not play.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Disabled {
    /// Since when, in milliseconds since 1970.
    pub(in crate::pages) at_ms: i64,
    /// Why.
    pub(in crate::pages) why: String,
}

/// What a bot called itself, and when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Version {
    /// The name and version of its program.
    pub(in crate::pages) version: String,
    /// When it was seen first, in milliseconds since 1970.
    pub(in crate::pages) first_ms: i64,
    /// When it was seen last.
    pub(in crate::pages) last_ms: i64,
}

/// A bot's rating while it plays (Glicko-2). What the table has is computed anew from all games.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Rating {
    /// The pool.
    pub(in crate::pages) pool: PoolId,
    /// The pool's name.
    pub(in crate::pages) pool_name: String,
    /// The rating in Elo.
    pub(in crate::pages) elo: f64,
    /// Where its 95 % interval begins, as far as the model holds.
    pub(in crate::pages) low: f64,
    /// Where it ends.
    pub(in crate::pages) high: f64,
    /// Whether it is fixed.
    pub(in crate::pages) anchor: bool,
    /// How many pairs of games moved it.
    pub(in crate::pages) encounters: u64,
    /// When the last one ended, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) last_ms: Option<i64>,
}

/// How a bot's rating went in a pool: its latest points, the oldest first.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Curve {
    /// The bot.
    pub(in crate::pages) bot: BotId,
    /// The pool.
    pub(in crate::pages) pool: PoolId,
    /// The points.
    pub(in crate::pages) points: Vec<CurvePoint>,
}

/// A rating after a pair of games.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct CurvePoint {
    /// When the pair ended, in milliseconds since 1970.
    pub(in crate::pages) at_ms: i64,
    /// The rating in Elo.
    pub(in crate::pages) elo: f64,
    /// Where its 95 % interval begins, as far as the model holds.
    pub(in crate::pages) low: f64,
    /// Where it ends.
    pub(in crate::pages) high: f64,
}

/// The bots behind that number, so many at most.
pub(in crate::pages) fn bots(
    store: &mut Store,
    after: Option<BotId>,
    most: usize,
) -> Result<Bots, StoreError> {
    let all = store.bots()?;
    let mut behind = all.into_iter().filter(|bot| after.is_none_or(|after| bot.id > after));
    let page: Vec<store::Bot> = behind.by_ref().take(most).collect();
    let next = page.last().map(|bot| bot.id).filter(|_| behind.next().is_some());
    let bots = page.into_iter().map(|bot| shown(store, bot)).collect::<Result<_, _>>()?;
    Ok(Bots { bots, next })
}

/// A bot, if it is there.
pub(in crate::pages) fn bot(store: &mut Store, id: BotId) -> Result<Option<Bot>, StoreError> {
    match store.bot(id) {
        Ok(bot) => shown(store, bot).map(Some),
        Err(StoreError::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn shown(store: &mut Store, bot: store::Bot) -> Result<Bot, StoreError> {
    let pools = store.pools()?;
    let name =
        |id| pools.iter().find(|pool| pool.id == id).map_or_else(String::new, |pool| pool.name.clone());
    let owner = bot.owner.map(|owner| store.account(owner)).transpose()?.flatten();
    let versions = store.versions(bot.id)?.into_iter().take(VERSIONS);
    let ratings = store.ratings_of(bot.id)?.into_iter().map(|rated| {
        let (elo, low, high) = interval(rated.rated.standing);
        Rating {
            pool: rated.pool,
            pool_name: name(rated.pool),
            elo,
            low,
            high,
            anchor: matches!(rated.rated.standing, Standing::Anchor(_)),
            encounters: rated.rated.encounters,
            last_ms: rated.rated.last_ms,
        }
    });
    Ok(Bot {
        id: bot.id,
        name: bot.name,
        owner: owner.map(|owner| owner.name),
        house: bot.house.map(|house| House {
            options: house.options,
            nodes: house.nodes,
            version: bounded(&house.version, VERSION),
        }),
        made_ms: bot.made_ms,
        disabled: bot
            .disabled
            .map(|disabled| Disabled { at_ms: disabled.at_ms, why: bounded(&disabled.why, REASON) }),
        forfeits_in_a_row: bot.forfeits,
        versions: versions
            .map(|version| Version {
                version: bounded(&version.version, VERSION),
                first_ms: version.first_ms,
                last_ms: version.last_ms,
            })
            .collect(),
        ratings: ratings.collect(),
    })
}

/// How a bot's rating went in a pool.
pub(in crate::pages) fn curve(
    store: &mut Store,
    bot: BotId,
    pool: PoolId,
    most: u64,
) -> Result<Curve, StoreError> {
    let points = store.curve(pool, bot, most)?.into_iter().map(|step| {
        let (elo, low, high) = interval(step.standing);
        CurvePoint { at_ms: step.at_ms, elo, low, high }
    });
    Ok(Curve { bot, pool, points: points.collect() })
}

/// A rating with its 95 % interval.
fn interval(standing: Standing) -> (f64, f64, f64) {
    let elo = standing.estimate();
    (tenths(elo.value), tenths(elo.value - elo.error), tenths(elo.value + elo.error))
}
