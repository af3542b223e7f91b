//! Pools with their anchors, and seasons.

use serde::Serialize;

use super::Store;
use super::accounts;
use super::audit::{By, note};
use super::db::Db;
use super::error::StoreError;
use super::names;
use super::row::{Row, json};
use crate::terms::PoolTerms;
use crate::{BotId, PoolId, SeasonId};

/// A pool.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Pool {
    /// Its number.
    pub id: PoolId,
    /// Its name.
    pub name: String,
    /// On what terms its games are played.
    pub terms: PoolTerms,
    /// When it was made, in milliseconds since 1970.
    pub made_ms: i64,
    /// When it was closed, if it was: no further game begins.
    pub closed_ms: Option<i64>,
    /// The house bots that play in it, with their fixed ratings in Elo.
    pub anchors: Vec<(BotId, f64)>,
}

/// A season.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Season {
    /// Its number.
    pub id: SeasonId,
    /// Its name.
    pub name: String,
    /// When it began, in milliseconds since 1970. It lasts until the next one begins.
    pub begun_ms: i64,
}

const POOLS: &str = "SELECT id, name, terms, made_ms, closed_ms FROM pool ORDER BY id";

/// What an anchor's Elo may be: beyond this no result against it says anything.
const ELO: std::ops::RangeInclusive<f64> = -10_000.0..=10_000.0;

impl Store {
    /// Makes a pool. `anchors` are house bots by their names, with their ratings in Elo.
    ///
    /// # Errors
    /// There is one of this name, or an anchor is no house bot; the database fails.
    pub fn add_pool(
        &mut self,
        name: &str,
        terms: &PoolTerms,
        anchors: &[(String, f64)],
        by: &By<'_>,
    ) -> Result<PoolId, StoreError> {
        names::check("pool", name)?;
        if terms.period_ms == 0 {
            return Err(StoreError::refused("a rating period of no time makes no sense: give at least 1 ms"));
        }
        self.db.write(|db| {
            if find(db, name)?.is_some() {
                return Err(StoreError::refused(format!(
                    "there is a pool {name} already: give another name"
                )));
            }
            let id = PoolId(db.next_id("pool")?);
            let terms = json(terms);
            let values = [id.0.into(), name.into(), (&terms).into(), by.at_ms.into()];
            db.execute("INSERT INTO pool (id, name, terms, made_ms) VALUES ($1, $2, $3, $4)", &values)?;
            for (name, elo) in anchors {
                set_anchor(db, id, name, *elo)?;
            }
            note(db, by, "pool add", name, &terms)?;
            Ok(id)
        })
    }

    /// Closes a pool, so that no further game begins in it, or opens it again.
    ///
    /// # Errors
    /// There is no such pool; the database fails.
    pub fn close_pool(&mut self, name: &str, closed: bool, why: &str, by: &By<'_>) -> Result<(), StoreError> {
        self.db.write(|db| {
            let id = found(db, name)?;
            let at = closed.then_some(by.at_ms);
            db.execute("UPDATE pool SET closed_ms = $1 WHERE id = $2", &[at.into(), id.0.into()])?;
            note(db, by, if closed { "pool close" } else { "pool open" }, name, why)
        })
    }

    /// All pools, the oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub fn pools(&mut self) -> Result<Vec<Pool>, StoreError> {
        self.db.read(all)
    }

    /// The pool of that name.
    ///
    /// # Errors
    /// There is none; the database fails.
    pub fn pool(&mut self, name: &str) -> Result<Pool, StoreError> {
        self.db.read(|db| {
            let id = found(db, name)?;
            let pool = all(db)?.into_iter().find(|pool| pool.id == id);
            pool.ok_or_else(|| StoreError::corrupt(format!("pool {id} is gone")))
        })
    }

    /// Begins a season: games that begin from now on count for its table.
    ///
    /// # Errors
    /// There is one of this name; the database fails.
    pub fn start_season(&mut self, name: &str, by: &By<'_>) -> Result<SeasonId, StoreError> {
        names::check("season", name)?;
        self.db.write(|db| {
            if db.first("SELECT id FROM season WHERE lower(name) = lower($1)", &[name.into()])?.is_some() {
                return Err(StoreError::refused(format!(
                    "there was a season {name} already: give another name"
                )));
            }
            let id = SeasonId(db.next_id("season")?);
            let values = [id.0.into(), name.into(), by.at_ms.into()];
            db.execute("INSERT INTO season (id, name, begun_ms) VALUES ($1, $2, $3)", &values)?;
            note(db, by, "season start", name, "")?;
            Ok(id)
        })
    }

    /// All seasons, the oldest first; the last one goes on.
    ///
    /// # Errors
    /// The database fails.
    pub fn seasons(&mut self) -> Result<Vec<Season>, StoreError> {
        self.db.all("SELECT id, name, begun_ms FROM season ORDER BY id", &[], |row| {
            Ok(Season { id: SeasonId(row.count(0)?), name: row.text(1)?.into(), begun_ms: row.int(2)? })
        })
    }
}

/// The season that goes on.
pub(super) fn season(db: &mut Db) -> Result<SeasonId, StoreError> {
    let row = db.first("SELECT max(id) FROM season", &[])?;
    let id = row.map(|row| row.maybe_count(0)).transpose()?.flatten();
    id.map(SeasonId).ok_or_else(|| StoreError::corrupt("there is no season"))
}

pub(super) fn all(db: &mut Db) -> Result<Vec<Pool>, StoreError> {
    let mut pools = db.all(POOLS, &[], pool)?;
    for pool in &mut pools {
        pool.anchors = anchors(db, pool.id)?;
    }
    Ok(pools)
}

fn pool(row: &Row) -> Result<Pool, StoreError> {
    Ok(Pool {
        id: PoolId(row.count(0)?),
        name: row.text(1)?.into(),
        terms: row.json(2)?,
        made_ms: row.int(3)?,
        closed_ms: row.maybe_int(4)?,
        anchors: Vec::new(),
    })
}

/// The anchors of a pool, by their numbers.
pub(super) fn anchors(db: &mut Db, pool: PoolId) -> Result<Vec<(BotId, f64)>, StoreError> {
    let sql = "SELECT bot, elo FROM anchor WHERE pool = $1 ORDER BY bot";
    db.all(sql, &[pool.0.into()], |row| Ok((BotId(row.count(0)?), row.real(1)?)))
}

/// The terms of a pool, and when it was closed, if it was.
pub(super) fn terms(db: &mut Db, pool: PoolId) -> Result<(PoolTerms, Option<i64>), StoreError> {
    let row = db.first("SELECT terms, closed_ms FROM pool WHERE id = $1", &[pool.0.into()])?;
    let row = row.ok_or_else(|| StoreError::refused(format!("there is no pool {pool}")))?;
    Ok((row.json(0)?, row.maybe_int(1)?))
}

pub(super) fn find(db: &mut Db, name: &str) -> Result<Option<PoolId>, StoreError> {
    let row = db.first("SELECT id FROM pool WHERE lower(name) = lower($1)", &[name.into()])?;
    row.map(|row| Ok(PoolId(row.count(0)?))).transpose()
}

pub(super) fn found(db: &mut Db, name: &str) -> Result<PoolId, StoreError> {
    find(db, name)?.ok_or_else(|| {
        StoreError::refused(format!("there is no pool {name}; `plyd ladder pool list` lists them"))
    })
}

pub(super) fn set_anchor(db: &mut Db, pool: PoolId, bot: &str, elo: f64) -> Result<(), StoreError> {
    let id = accounts::found(db, bot)?;
    if !ELO.contains(&elo) {
        return Err(StoreError::refused(format!("{elo} is no rating: give one from -10000 to 10000")));
    }
    let is_house = db.first("SELECT 1 FROM bot WHERE id = $1 AND owner IS NULL", &[id.0.into()])?.is_some();
    if !is_house {
        return Err(StoreError::refused(format!("{bot} is no house bot: only those have fixed ratings")));
    }
    db.execute(
        "INSERT INTO anchor (pool, bot, elo) VALUES ($1, $2, $3)
         ON CONFLICT (pool, bot) DO UPDATE SET elo = excluded.elo",
        &[pool.0.into(), id.0.into(), elo.into()],
    )?;
    Ok(())
}
