//! The ratings as they are kept: where they are now, and each step that led there.

use std::collections::BTreeMap;

use super::Store;
use super::accounts::{self, House};
use super::audit::{By, note};
use super::db::Db;
use super::error::StoreError;
use super::pools;
use super::row::{Row, Value};
use crate::ratings::glicko::{Rating, Standing};
use crate::ratings::progress::{Progress, Rated};
use crate::{BotId, EncounterId, PoolId};

/// An encounter that counts: both games are over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counted {
    pub(super) id: EncounterId,
    pub(super) players: [BotId; 2],
    /// Those of the first bot, from 0 to 4.
    pub(super) half_points: usize,
    pub(super) at_ms: i64,
}

/// The first bot is p1 of the first game and p2 of the second one.
const COUNTED: &str = "SELECT e.id, e.first_bot, e.second_bot, a.half_points, b.half_points, e.rated_ms
    FROM encounter e
    JOIN game a ON a.id = 2 * e.id - 1
    JOIN game b ON b.id = 2 * e.id
    WHERE e.pool = $1 AND e.rated IS NOT NULL AND a.state = 'over' AND b.state = 'over'
    ORDER BY e.rated";

impl Store {
    /// Fixes the rating of a house bot in a pool, and computes all ratings of the pool anew.
    ///
    /// # Errors
    /// There is no such pool or house bot; the database fails.
    pub fn set_anchor(&mut self, pool: &str, bot: &str, elo: f64, by: &By<'_>) -> Result<(), StoreError> {
        self.db.write(|db| {
            let id = pools::found(db, pool)?;
            pools::set_anchor(db, id, bot, elo)?;
            compute(db, id)?;
            note(db, by, "pool anchor", pool, &format!("{bot} at {elo} Elo"))
        })
    }

    /// Fixes the ratings of several house bots in a pool, in Elo, and registers those that are not there;
    /// then computes all ratings of the pool anew. All of it is done, or nothing.
    ///
    /// # Errors
    /// There is no such pool, or another bot of such a name; the database fails.
    pub fn calibrate(
        &mut self,
        pool: &str,
        anchors: &[(String, House, f64)],
        by: &By<'_>,
    ) -> Result<(), StoreError> {
        self.db.write(|db| {
            let id = pools::found(db, pool)?;
            for (name, house, elo) in anchors {
                let bots = accounts::all(db)?;
                match bots.iter().find(|bot| bot.name.eq_ignore_ascii_case(name)) {
                    None => drop(accounts::new_house_bot(db, name, house, by)?),
                    Some(bot) if bot.house.as_ref() == Some(house) => {}
                    Some(_) => return Err(StoreError::refused(format!("there is another bot {name}"))),
                }
                pools::set_anchor(db, id, name, *elo)?;
                note(db, by, "pool anchor", pool, &format!("{name} at {elo} Elo"))?;
            }
            compute(db, id)
        })
    }
}

/// What is known of a bot in a pool.
pub(super) fn of(db: &mut Db, pool: PoolId, bot: BotId) -> Result<Rated, StoreError> {
    let values = [pool.0.into(), bot.0.into()];
    let sql =
        "SELECT elo, deviation, volatility, encounters, last_ms FROM rating WHERE pool = $1 AND bot = $2";
    if let Some(row) = db.first(sql, &values)? {
        return rated(&row, 0);
    }
    let anchor = db.first("SELECT elo FROM anchor WHERE pool = $1 AND bot = $2", &values)?;
    anchor.map_or_else(|| Ok(Rated::newcomer()), |row| Ok(Rated::anchor(row.real(0)?)))
}

/// All ratings of a pool, and the anchors that have not played.
pub(super) fn all(db: &mut Db, pool: PoolId) -> Result<BTreeMap<BotId, Rated>, StoreError> {
    let anchors = pools::anchors(db, pool)?;
    let mut all: BTreeMap<BotId, Rated> =
        anchors.into_iter().map(|(bot, elo)| (bot, Rated::anchor(elo))).collect();
    all.extend(kept(db, pool)?);
    Ok(all)
}

/// The ratings of a pool as they are kept.
pub(super) fn kept(db: &mut Db, pool: PoolId) -> Result<Vec<(BotId, Rated)>, StoreError> {
    let sql = "SELECT bot, elo, deviation, volatility, encounters, last_ms FROM rating WHERE pool = $1
        ORDER BY bot";
    db.all(sql, &[pool.0.into()], |row| Ok((BotId(row.count(0)?), rated(row, 1)?)))
}

/// Elo, deviation and volatility, and with them how many encounters there were and when the last one was.
fn rated(row: &Row, at: usize) -> Result<Rated, StoreError> {
    Ok(Rated {
        standing: standing(row, at)?,
        encounters: row.count(at + 3)?,
        last_ms: row.maybe_int(at + 4)?,
    })
}

/// Elo, deviation and volatility; an anchor has the first alone.
pub(super) fn standing(row: &Row, at: usize) -> Result<Standing, StoreError> {
    let elo = row.real(at)?;
    Ok(match (row.maybe_real(at + 1)?, row.maybe_real(at + 2)?) {
        (Some(deviation), Some(volatility)) => Standing::Rated(Rating { elo, deviation, volatility }),
        (None, None) => Standing::Anchor(elo),
        _ => return Err(StoreError::corrupt("a rating with a deviation or a volatility alone")),
    })
}

fn values(standing: Standing) -> [Value<'static>; 3] {
    match standing {
        Standing::Anchor(elo) => [elo.into(), Value::Null, Value::Null],
        Standing::Rated(Rating { elo, deviation, volatility }) => {
            [elo.into(), deviation.into(), volatility.into()]
        }
    }
}

/// Lets an encounter move the ratings of both bots.
pub(super) fn add(db: &mut Db, pool: PoolId, counted: &Counted) -> Result<[Standing; 2], StoreError> {
    let (terms, _) = pools::terms(db, pool)?;
    let mut progress = Progress::new(terms.period_ms);
    for bot in counted.players {
        progress.set(bot, of(db, pool, bot)?);
    }
    let after = progress.add(counted.players, counted.half_points, counted.at_ms);
    for (bot, rated) in counted.players.into_iter().zip(after) {
        keep(db, pool, bot, &rated)?;
        step(db, counted.id, bot, rated.standing)?;
    }
    Ok(after.map(|rated| rated.standing))
}

fn keep(db: &mut Db, pool: PoolId, bot: BotId, rated: &Rated) -> Result<(), StoreError> {
    let [elo, deviation, volatility] = values(rated.standing);
    let (encounters, last) = (rated.encounters.into(), rated.last_ms.into());
    db.execute(
        "INSERT INTO rating (pool, bot, elo, deviation, volatility, encounters, last_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (pool, bot) DO UPDATE SET elo = excluded.elo, deviation = excluded.deviation,
             volatility = excluded.volatility, encounters = excluded.encounters, last_ms = excluded.last_ms",
        &[pool.0.into(), bot.0.into(), elo, deviation, volatility, encounters, last],
    )?;
    Ok(())
}

fn step(db: &mut Db, encounter: EncounterId, bot: BotId, standing: Standing) -> Result<(), StoreError> {
    let [elo, deviation, volatility] = values(standing);
    let sql = "INSERT INTO step (encounter, bot, elo, deviation, volatility) VALUES ($1, $2, $3, $4, $5)";
    db.execute(sql, &[encounter.0.into(), bot.0.into(), elo, deviation, volatility])?;
    Ok(())
}

/// The encounters of a pool that count, in the order in which they moved the ratings.
pub(super) fn counted(db: &mut Db, pool: PoolId) -> Result<Vec<Counted>, StoreError> {
    db.all(COUNTED, &[pool.0.into()], |row| {
        let (first, second) = (row.count(3)?, row.count(4)?);
        if first > 2 || second > 2 {
            return Err(StoreError::corrupt(format!("{first} and {second} half points of a game")));
        }
        Ok(Counted {
            id: EncounterId(row.count(0)?),
            players: [BotId(row.count(1)?), BotId(row.count(2)?)],
            half_points: (first + 2 - second) as usize,
            at_ms: row.int(5)?,
        })
    })
}

/// The ratings of a pool, computed anew; each step is given away.
pub(super) fn fold(
    db: &mut Db,
    pool: PoolId,
    mut each: impl FnMut(&mut Db, &Counted, [Standing; 2]) -> Result<(), StoreError>,
) -> Result<Progress, StoreError> {
    let (terms, _) = pools::terms(db, pool)?;
    let mut progress = Progress::new(terms.period_ms);
    for (bot, elo) in pools::anchors(db, pool)? {
        progress.set(bot, Rated::anchor(elo));
    }
    for counted in counted(db, pool)? {
        let after = progress.add(counted.players, counted.half_points, counted.at_ms);
        each(db, &counted, after.map(|rated| rated.standing))?;
    }
    Ok(progress)
}

/// Computes the ratings of a pool anew and keeps them: after games were voided, or an anchor moved.
pub(super) fn compute(db: &mut Db, pool: PoolId) -> Result<(), StoreError> {
    let sql = "DELETE FROM step WHERE encounter IN (SELECT id FROM encounter WHERE pool = $1)";
    db.execute(sql, &[pool.0.into()])?;
    db.execute("DELETE FROM rating WHERE pool = $1", &[pool.0.into()])?;
    let progress = fold(db, pool, |db, counted, standings| {
        counted.players.into_iter().zip(standings).try_for_each(|(bot, now)| step(db, counted.id, bot, now))
    })?;
    // Anchors that did not play have no row, as when ratings move one by one.
    let played = progress.bots().iter().filter(|(_, rated)| rated.encounters > 0);
    for (bot, rated) in played {
        keep(db, pool, *bot, rated)?;
    }
    Ok(())
}
