//! The table of a pool, and who made how many points against whom.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::names::{BotRef, Names};
use super::opponents::{Opponent, Opponents};
use crate::ratings::table::{Place, Results, Row, table};
use crate::store::{Store, StoreError};
use crate::{BotId, PoolId, SeasonId};

/// The most bots of a crosstable, the strongest: its size grows with their square.
const CROSSTABLE: usize = 64;

/// The table of a pool, by all games of a season or of all: the Bradley-Terry model, with 95 % intervals.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Standings {
    /// The pool.
    pub(in crate::pages) pool: PoolId,
    /// The season; absent: all games count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) season: Option<SeasonId>,
    /// The bots that played and all anchors, the strongest first; behind them those that are not ranked,
    /// those whom no games connect with an anchor, and those that are disabled.
    pub(in crate::pages) rows: Vec<Standing>,
}

/// A bot in the table.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Standing {
    /// The bot.
    pub(in crate::pages) bot: BotRef,
    /// Whether its rating is fixed.
    pub(in crate::pages) anchor: bool,
    /// Its rating in Elo; of a bot with a `group` its distance from the group's mean.
    pub(in crate::pages) elo: f64,
    /// Where the 95 % interval begins; absent: it lost all games, and may be weaker by any distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) low: Option<f64>,
    /// Where the 95 % interval ends; absent: it won all games, and may be stronger by any distance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) high: Option<f64>,
    /// Which group of bots it belongs to that no games connect with an anchor, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) group: Option<usize>,
    /// How many games count.
    pub(in crate::pages) games: u64,
    /// The points that it made in them: 1 for a win, 0.5 for a draw.
    pub(in crate::pages) points: f64,
    /// Whether its rating says enough for a rank: it has played 4 games, and not lost all of them.
    pub(in crate::pages) ranked: bool,
    /// Whether it may not play at present.
    pub(in crate::pages) disabled: bool,
}

/// Who made how many points against whom.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Crosstable {
    /// The pool.
    pub(in crate::pages) pool: PoolId,
    /// The season; absent: all games count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) season: Option<SeasonId>,
    /// The bots in the order of the table, the 64 strongest at most.
    pub(in crate::pages) bots: Vec<BotRef>,
    /// For each bot, in that order, its results against each bot in the same order; null: they did not meet.
    pub(in crate::pages) results: Vec<Vec<Option<Score>>>,
}

/// The results of a bot against another.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
#[schemars(rename = "PairScore")]
pub(in crate::pages) struct Score {
    /// The points that it made.
    pub(in crate::pages) points: f64,
    /// In so many games.
    pub(in crate::pages) games: u64,
}

/// What a table and a crosstable are made of, so that the database is free while they are.
#[derive(Debug)]
pub(in crate::pages) struct Tally {
    pool: PoolId,
    season: Option<SeasonId>,
    results: Results,
    anchors: BTreeMap<BotId, f64>,
    names: Names,
    disabled: BTreeSet<BotId>,
}

impl Tally {
    /// Reads what counts, if there is such a pool.
    pub(in crate::pages) fn read(
        store: &mut Store,
        pool: PoolId,
        season: Option<SeasonId>,
    ) -> Result<Option<Self>, StoreError> {
        let Some(found) = store.pools()?.into_iter().find(|found| found.id == pool) else { return Ok(None) };
        let bots = store.bots()?;
        let disabled = bots.iter().filter(|bot| bot.disabled.is_some()).map(|bot| bot.id).collect();
        Ok(Some(Self {
            pool,
            season,
            results: store.results(pool, season)?,
            anchors: found.anchors.into_iter().collect(),
            names: Names::of(&bots),
            disabled,
        }))
    }

    /// The table, and the crosstable in its order.
    pub(in crate::pages) fn tables(&self) -> (Standings, Crosstable) {
        let mut rows = table(&self.results, &self.anchors);
        rows.sort_by_key(|row| self.disabled.contains(&row.bot));
        let standings = Standings {
            pool: self.pool,
            season: self.season,
            rows: rows.iter().map(|row| self.standing(row)).collect(),
        };
        (standings, self.crosstable(&rows[..rows.len().min(CROSSTABLE)]))
    }

    /// How a bot did against each other one.
    pub(in crate::pages) fn opponents(&self, bot: BotId) -> Opponents {
        let met = self.names.iter().filter(|other| other.id != bot).filter_map(|other| {
            let points = self.results.between([bot, other.id]).points();
            let of = || Opponent { bot: other.clone(), games: points.games, points: points.made };
            (points.games > 0).then(of)
        });
        let mut opponents: Vec<Opponent> = met.collect();
        opponents.sort_by_key(|opponent| (Reverse(opponent.games), opponent.bot.id));
        Opponents { bot, pool: self.pool, opponents }
    }

    fn standing(&self, row: &Row) -> Standing {
        let (elo, group) = match row.place {
            Place::Anchor(elo) => (elo, None),
            Place::Rated(elo) => (elo.value, None),
            Place::Apart { group, from_mean } => (from_mean.value, Some(group)),
        };
        let interval = row.interval();
        let bound = |elo: f64| elo.is_finite().then(|| tenths(elo));
        Standing {
            bot: self.names.get(row.bot),
            anchor: matches!(row.place, Place::Anchor(_)),
            elo: tenths(elo),
            low: bound(*interval.start()),
            high: bound(*interval.end()),
            group,
            games: row.games,
            points: row.points,
            ranked: row.is_ranked(),
            disabled: self.disabled.contains(&row.bot),
        }
    }

    fn crosstable(&self, rows: &[Row]) -> Crosstable {
        let between = |first: BotId, second: BotId| {
            let points = self.results.between([first, second]).points();
            (points.games > 0).then_some(Score { points: points.made, games: points.games })
        };
        let against = |row: &Row| -> Vec<Option<Score>> {
            rows.iter()
                .map(|other| if other.bot == row.bot { None } else { between(row.bot, other.bot) })
                .collect()
        };
        Crosstable {
            pool: self.pool,
            season: self.season,
            bots: rows.iter().map(|row| self.names.get(row.bot)).collect(),
            results: rows.iter().map(against).collect(),
        }
    }
}

/// Elo as it is shown: further digits say nothing.
pub(super) fn tenths(elo: f64) -> f64 {
    (elo * 10.0).round() / 10.0
}
