//! Whether what is kept agrees with itself: every rating computed anew from the games, every game with its
//! record.

use std::collections::BTreeMap;

use plyd_arena::PlayedGame;
use serde::Serialize;

use super::Store;
use super::db::Db;
use super::error::StoreError;
use super::pools;
use super::rated;
use crate::ratings::glicko::{Rating, Standing};
use crate::{BotId, EncounterId, PoolId};

/// What a check looked at, and what it found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Checked {
    /// The games that are over.
    pub games: u64,
    /// The games that go on, or wait for the first of their pair.
    pub open: u64,
    /// The games that are void.
    pub void: u64,
    /// The encounters that moved ratings.
    pub encounters: u64,
    /// The ratings that were compared, those after each encounter included.
    pub ratings: u64,
    /// What does not agree, a sentence each: empty if all is well.
    pub faults: Vec<String>,
}

/// Not more faults than this are listed: whoever restores a backup needs to read a few.
const FAULTS: usize = 100;

const GAMES: &str =
    "SELECT g.id, g.state, g.p1, g.p2, g.half_points, g.plies, g.record, e.first_bot, e.second_bot,
        e.rated, g.encounter
    FROM game g JOIN encounter e ON e.id = g.encounter ORDER BY g.id";

impl Checked {
    fn fault(&mut self, fault: String) {
        if self.faults.len() < FAULTS {
            self.faults.push(fault);
        }
    }
}

impl Store {
    /// Computes all ratings anew from the games and compares them bit by bit, and compares each game with its
    /// record and its pair.
    ///
    /// # Errors
    /// The database fails.
    pub fn check(&mut self) -> Result<Checked, StoreError> {
        self.db.read(|db| {
            let mut checked = Checked::default();
            games(db, &mut checked)?;
            counters(db, &mut checked)?;
            for pool in pools::all(db)? {
                ratings(db, pool.id, &mut checked)?;
            }
            Ok(checked)
        })
    }
}

fn games(db: &mut Db, checked: &mut Checked) -> Result<(), StoreError> {
    // The state of the first game of a pair, until the second one comes.
    let mut first: Option<(u64, String)> = None;
    db.each(GAMES, &[], |row| {
        let (id, state) = (row.count(0)?, row.text(1)?.to_owned());
        let players = [row.count(2)?, row.count(3)?];
        let mut meets = [row.count(7)?, row.count(8)?];
        match state.as_str() {
            "over" => checked.games += 1,
            "void" => checked.void += 1,
            _ => checked.open += 1,
        }
        if row.count(10)? != id.div_ceil(2) {
            checked.fault(format!("game {id} is in encounter {}", row.count(10)?));
        }
        if id.is_multiple_of(2) {
            meets.reverse();
        }
        if players != meets {
            checked.fault(format!("game {id} has other players than its encounter"));
        }
        if state == "over" {
            match row.json::<PlayedGame>(6) {
                Ok(played) => {
                    let indexes = played.players.each_ref().map(|player| player.index as u64);
                    let half_points = played.half_points(played.players[0].index) as u64;
                    let differs = match () {
                        () if played.number as u64 != id => "number",
                        () if indexes != players => "players",
                        () if row.maybe_count(4)? != Some(half_points) => "result",
                        () if row.maybe_count(5)? != Some(played.record.moves.len() as u64) => "length",
                        () => "",
                    };
                    if !differs.is_empty() {
                        checked.fault(format!("game {id} has another {differs} than its record"));
                    }
                }
                Err(error) => checked.fault(format!("game {id}: {error}")),
            }
        }
        if id.is_multiple_of(2) {
            let before = first.take().filter(|(number, _)| number + 1 == id);
            let Some((_, before)) = before else {
                checked.fault(format!("game {id} has no partner"));
                return Ok(());
            };
            let is_rated = row.maybe_int(9)?.is_some();
            let counts = before == "over" && state == "over";
            if is_rated != counts {
                let does = if is_rated {
                    "moved the ratings, and is not over"
                } else {
                    "is over, and moved no rating"
                };
                checked.fault(format!("the encounter of game {id} {does}"));
            }
            let is_order = match state.as_str() {
                "waiting" => before == "playing",
                "playing" | "over" => before == "over" || before == "void",
                _ => true,
            };
            if !is_order {
                checked.fault(format!("game {id} is {state}, and the first of its pair {before}"));
            }
        } else {
            if let Some((id, _)) = first.replace((id, state)) {
                checked.fault(format!("game {id} has no partner"));
            }
        }
        Ok(())
    })?;
    if let Some((id, _)) = first {
        checked.fault(format!("game {id} has no partner"));
    }
    let sql = "SELECT DISTINCT t.game FROM turn t JOIN game g ON g.id = t.game WHERE g.state <> 'playing'";
    for game in db.all(sql, &[], |row| row.count(0))? {
        checked.fault(format!("game {game} is not played, and has turns"));
    }
    Ok(())
}

fn counters(db: &mut Db, checked: &mut Checked) -> Result<(), StoreError> {
    let sql = "SELECT c.name, c.last, m.most FROM counter c JOIN (
            SELECT 'owner' AS name, max(id) AS most FROM owner
            UNION ALL SELECT 'bot', max(id) FROM bot
            UNION ALL SELECT 'season', max(id) FROM season
            UNION ALL SELECT 'pool', max(id) FROM pool
            UNION ALL SELECT 'encounter', max(id) FROM encounter
            UNION ALL SELECT 'rated', max(rated) FROM encounter
            UNION ALL SELECT 'audit', max(id) FROM audit) AS m ON m.name = c.name
        WHERE m.most > c.last";
    for (name, last, most) in
        db.all(sql, &[], |row| Ok((row.text(0)?.to_owned(), row.int(1)?, row.int(2)?)))?
    {
        checked.fault(format!("the counter `{name}` is at {last}, and there is a number {most}"));
    }
    Ok(())
}

fn ratings(db: &mut Db, pool: PoolId, checked: &mut Checked) -> Result<(), StoreError> {
    let sql = "SELECT s.encounter, s.bot, s.elo, s.deviation, s.volatility
        FROM step s JOIN encounter e ON e.id = s.encounter WHERE e.pool = $1";
    let steps = db.all(sql, &[pool.0.into()], |row| {
        Ok(((EncounterId(row.count(0)?), BotId(row.count(1)?)), rated::standing(row, 2)?))
    })?;
    let mut steps: BTreeMap<(EncounterId, BotId), Standing> = steps.into_iter().collect();
    let progress = rated::fold(db, pool, |_, counted, standings| {
        checked.encounters += 1;
        for (bot, expected) in counted.players.into_iter().zip(standings) {
            let found = steps.remove(&(counted.id, bot));
            checked.ratings += 1;
            if !found.is_some_and(|found| is_same(found, expected)) {
                checked.fault(format!(
                    "pool {pool}: after encounter {} bot {bot} has {} and should have {}",
                    counted.id,
                    found.map_or("no rating".into(), text),
                    text(expected)
                ));
            }
        }
        Ok(())
    })?;
    for (encounter, bot) in steps.into_keys() {
        checked.fault(format!(
            "pool {pool}: bot {bot} has a rating after encounter {encounter}, which does not count"
        ));
    }
    let mut kept: BTreeMap<BotId, _> = rated::kept(db, pool)?.into_iter().collect();
    for (bot, expected) in progress.bots().iter().filter(|(_, rated)| rated.encounters > 0) {
        checked.ratings += 1;
        let found = kept.remove(bot);
        let is_same = found.is_some_and(|found| {
            is_same(found.standing, expected.standing)
                && (found.encounters, found.last_ms) == (expected.encounters, expected.last_ms)
        });
        if !is_same {
            let found = found.map_or("no rating".into(), |found| text(found.standing));
            checked.fault(format!(
                "pool {pool}: bot {bot} has {found} and should have {} after {} encounters",
                text(expected.standing),
                expected.encounters
            ));
        }
    }
    for bot in kept.into_keys() {
        checked.fault(format!("pool {pool}: bot {bot} has a rating and no encounter that counts"));
    }
    Ok(())
}

/// Whether two are the same, bit by bit.
fn is_same(a: Standing, b: Standing) -> bool {
    let bits = |standing| match standing {
        Standing::Anchor(elo) => [elo.to_bits(), 0, 0],
        Standing::Rated(Rating { elo, deviation, volatility }) => {
            [elo.to_bits(), deviation.to_bits(), volatility.to_bits()]
        }
    };
    matches!(a, Standing::Anchor(_)) == matches!(b, Standing::Anchor(_)) && bits(a) == bits(b)
}

fn text(standing: Standing) -> String {
    match standing {
        Standing::Anchor(elo) => format!("the anchor's rating {elo}"),
        Standing::Rated(Rating { elo, deviation, volatility }) => {
            format!("the rating {elo} with the deviation {deviation} and the volatility {volatility}")
        }
    }
}
