//! What was played, for the table, the pages and the matchmaker.

use std::collections::BTreeMap;

use plyd_arena::PlayedGame;
use serde::Serialize;

use super::Store;
use super::error::StoreError;
use super::rated;
use super::row::Row;
use crate::ratings::glicko::Standing;
use crate::ratings::progress::Rated;
use crate::ratings::table::Results;
use crate::{BotId, GameId, PoolId, SeasonId};

/// A bot that met another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Met {
    /// Both, the smaller number first.
    pub players: [BotId; 2],
    /// How many encounters they have had in the pool, those that go on included.
    pub encounters: u64,
}

/// What a bot's rating is in a pool.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RatedBot {
    /// The pool.
    pub pool: PoolId,
    /// What is known of its strength there.
    pub rated: Rated,
}

/// A point of a rating's curve.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// When the encounter ended, in milliseconds since 1970.
    pub at_ms: i64,
    /// What was known then.
    pub standing: Standing,
}

/// A game in a list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct GameRow {
    /// Its number.
    pub id: GameId,
    /// The pool.
    pub pool: PoolId,
    /// The season.
    pub season: SeasonId,
    /// Who plays: p1, then p2.
    pub players: [BotId; 2],
    /// `waiting`, `playing`, `over` or `void`.
    pub state: String,
    /// When it began, in milliseconds since 1970.
    pub begun_ms: Option<i64>,
    /// When it ended or became void.
    pub ended_ms: Option<i64>,
    /// The half points of p1: 2 for a win, 1 for a draw.
    pub half_points: Option<u64>,
    /// How it ended.
    pub ended_by: Option<String>,
    /// Who forfeited it.
    pub forfeit_bot: Option<BotId>,
    /// How many plies it had.
    pub plies: Option<u64>,
    /// Why it is void.
    pub void_why: Option<String>,
}

/// Half points of both games of each encounter, null where a game is not over; whether one goes on.
const RESULTS: &str = "SELECT e.first_bot, e.second_bot,
        CASE a.state WHEN 'over' THEN a.half_points END, CASE b.state WHEN 'over' THEN b.half_points END,
        CASE WHEN a.state IN ('waiting', 'playing') OR b.state IN ('waiting', 'playing') THEN 1 ELSE 0 END
    FROM encounter e JOIN game a ON a.id = 2 * e.id - 1 JOIN game b ON b.id = 2 * e.id
    WHERE e.pool = $1 AND e.season >= $2 AND e.season <= $3";

const GAMES: &str =
    "SELECT g.id, e.pool, e.season, g.p1, g.p2, g.state, g.begun_ms, g.ended_ms, g.half_points,
        g.ended_by, g.forfeit_bot, g.plies, g.void_why
    FROM game g JOIN encounter e ON e.id = g.encounter
    WHERE g.id < $1 AND (g.p1 = $2 OR g.p2 = $2) AND (CAST($3 AS BIGINT) = 0 OR g.forfeit_bot = $2)
    ORDER BY g.id DESC LIMIT $4";

const GAME: &str =
    "SELECT g.id, e.pool, e.season, g.p1, g.p2, g.state, g.begun_ms, g.ended_ms, g.half_points,
        g.ended_by, g.forfeit_bot, g.plies, g.void_why
    FROM game g JOIN encounter e ON e.id = g.encounter WHERE g.id = $1";

impl Store {
    /// What is known of the bots that played in a pool, and of its anchors.
    ///
    /// # Errors
    /// The database fails.
    pub fn ratings(&mut self, pool: PoolId) -> Result<BTreeMap<BotId, Rated>, StoreError> {
        self.db.read(|db| rated::all(db, pool))
    }

    /// A bot's rating in each pool in which it played.
    ///
    /// # Errors
    /// The database fails.
    pub fn ratings_of(&mut self, bot: BotId) -> Result<Vec<RatedBot>, StoreError> {
        self.db.read(|db| {
            let sql = "SELECT pool FROM rating WHERE bot = $1 ORDER BY pool";
            let pools = db.all(sql, &[bot.0.into()], |row| Ok(PoolId(row.count(0)?)))?;
            pools.into_iter().map(|pool| Ok(RatedBot { pool, rated: rated::of(db, pool, bot)? })).collect()
        })
    }

    /// The latest points of a bot's curve in a pool, the oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub fn curve(&mut self, pool: PoolId, bot: BotId, most: u64) -> Result<Vec<Step>, StoreError> {
        let sql = "SELECT e.rated_ms, s.elo, s.deviation, s.volatility
            FROM step s JOIN encounter e ON e.id = s.encounter
            WHERE s.bot = $1 AND e.pool = $2 AND e.rated IS NOT NULL ORDER BY e.rated DESC LIMIT $3";
        let mut steps = self.db.all(sql, &[bot.0.into(), pool.0.into(), most.into()], |row| {
            Ok(Step { at_ms: row.int(0)?, standing: rated::standing(row, 1)? })
        })?;
        steps.reverse();
        Ok(steps)
    }

    /// The results of a pool, in one season or in all, for the [table](crate::ratings::table::table). A game
    /// whose partner is void counts alone; an encounter that goes on does not count yet.
    ///
    /// # Errors
    /// The database fails.
    pub fn results(&mut self, pool: PoolId, season: Option<SeasonId>) -> Result<Results, StoreError> {
        let (from, to) = season.map_or((0, u64::MAX), |season| (season.0, season.0));
        let mut results = Results::default();
        self.db.each(RESULTS, &[pool.0.into(), from.into(), to.into()], |row| {
            let players = [BotId(row.count(0)?), BotId(row.count(1)?)];
            let half_points = |at| -> Result<Option<usize>, StoreError> {
                match row.maybe_count(at)? {
                    Some(found) if found > 2 => Err(StoreError::corrupt(format!("{found} half points"))),
                    found => Ok(found.map(|found| found as usize)),
                }
            };
            let goes_on = row.int(4)? == 1;
            match (half_points(2)?, half_points(3)?) {
                _ if goes_on => {}
                (Some(first), Some(second)) => results.add_pair(players, first + 2 - second),
                (Some(first), None) => results.add_single(players, first),
                (None, Some(second)) => results.add_single(players, 2 - second),
                (None, None) => {}
            }
            Ok(())
        })?;
        Ok(results)
    }

    /// How often bots have met in a pool.
    ///
    /// # Errors
    /// The database fails.
    pub fn met(&mut self, pool: PoolId) -> Result<Vec<Met>, StoreError> {
        let sql = "SELECT low, high, count(*) FROM (
                SELECT CASE WHEN first_bot < second_bot THEN first_bot ELSE second_bot END AS low,
                    CASE WHEN first_bot < second_bot THEN second_bot ELSE first_bot END AS high
                FROM encounter WHERE pool = $1) AS met
            GROUP BY low, high ORDER BY low, high";
        self.db.all(sql, &[pool.0.into()], |row| {
            Ok(Met { players: [BotId(row.count(0)?), BotId(row.count(1)?)], encounters: row.count(2)? })
        })
    }

    /// The games of a bot before that one, the latest first, so many at most; its forfeits alone, if that is
    /// asked for.
    ///
    /// # Errors
    /// The database fails.
    pub fn games_of(
        &mut self,
        bot: BotId,
        before: Option<GameId>,
        forfeits: bool,
        most: u64,
    ) -> Result<Vec<GameRow>, StoreError> {
        let before = before.map_or(u64::MAX, |game| game.0);
        let values = [before.into(), bot.0.into(), u64::from(forfeits).into(), most.into()];
        self.db.all(GAMES, &values, game)
    }

    /// A game.
    ///
    /// # Errors
    /// There is none; the database fails.
    pub fn game(&mut self, id: GameId) -> Result<GameRow, StoreError> {
        let row = self.db.first(GAME, &[id.0.into()])?;
        game(&row.ok_or_else(|| StoreError::refused(format!("there is no game {id}")))?)
    }

    /// The record of a game, if it ended.
    ///
    /// # Errors
    /// The database fails.
    pub fn record(&mut self, id: GameId) -> Result<Option<PlayedGame>, StoreError> {
        let sql = "SELECT record FROM game WHERE id = $1 AND record IS NOT NULL";
        self.db.first(sql, &[id.0.into()])?.map(|row| row.json(0)).transpose()
    }
}

pub(super) fn game(row: &Row) -> Result<GameRow, StoreError> {
    Ok(GameRow {
        id: GameId(row.count(0)?),
        pool: PoolId(row.count(1)?),
        season: SeasonId(row.count(2)?),
        players: [BotId(row.count(3)?), BotId(row.count(4)?)],
        state: row.text(5)?.into(),
        begun_ms: row.maybe_int(6)?,
        ended_ms: row.maybe_int(7)?,
        half_points: row.maybe_count(8)?,
        ended_by: row.maybe_text(9)?.map(Into::into),
        forfeit_bot: row.maybe_count(10)?.map(BotId),
        plies: row.maybe_count(11)?,
        void_why: row.maybe_text(12)?.map(Into::into),
    })
}
