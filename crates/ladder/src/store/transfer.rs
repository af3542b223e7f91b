//! All games as records, a line of JSON each: out of one ladder and into another, of the same kind of
//! database or the other one.
//!
//! What the games need comes along: pools with their terms and anchors, seasons, owners and bots by their
//! names. Tokens, links and the audit log do not, nor who is disabled, nor pools and seasons without games: a
//! backup keeps those.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read, Write};

use plyd_arena::PlayedGame;
use serde::{Deserialize, Serialize};

use super::Store;
use super::accounts::{self, House};
use super::audit::{By, note};
use super::db::Db;
use super::error::StoreError;
use super::logs::{self, Logs};
use super::names;
use super::pools::{self, Pool};
use super::rated;
use super::row::{Row, json};
use crate::game::Opening;
use crate::terms::PoolTerms;
use crate::{BotId, EncounterId, GameId, OwnerId, PoolId, SeasonId};

/// A game on its way from one ladder to another: a record of the arena with one field more.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Transferred {
    /// The record.
    #[serde(flatten)]
    pub game: PlayedGame,
    /// What the ladder knows of the game beside it.
    pub x_ladder: OnLadder,
}

/// What a ladder knows of a game beside its record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OnLadder {
    /// The pool's name.
    pub pool: String,
    /// When the pool was closed, if it was, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_closed_ms: Option<i64>,
    /// On what terms it was played.
    pub terms: PoolTerms,
    /// The pool's anchors by their names, with their Elo.
    pub anchors: BTreeMap<String, f64>,
    /// Who the anchors are, by their names.
    pub houses: BTreeMap<String, (BotId, House)>,
    /// The season's name.
    pub season: String,
    /// The owners of p1 and p2 by their names; none: the house.
    pub owners: [Option<String>; 2],
    /// Where both games of the pair began.
    pub opening: Opening,
    /// When the game began and ended, in milliseconds since 1970.
    pub times_ms: [i64; 2],
    /// Why it does not count, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
    /// As which encounter of the ladder its own moved the ratings, and when, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<(u64, i64)>,
    /// What was said in it.
    #[serde(default, skip_serializing_if = "Logs::is_empty")]
    pub conversation: Logs,
}

/// What an import brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Imported {
    /// The games.
    pub games: u64,
    /// The encounters that they belong to.
    pub encounters: u64,
    /// The bots that were not there before.
    pub bots: u64,
}

/// The longest line that an import reads.
const LINE_BYTES: u64 = 16 << 20;

const GAMES: &str =
    "SELECT g.record, g.conversation, g.begun_ms, g.ended_ms, g.void_why, e.pool, e.season, e.opening,
        e.rated, e.rated_ms, g.p1, g.p2, g.state
    FROM game g JOIN encounter e ON e.id = g.encounter WHERE g.record IS NOT NULL ORDER BY g.id";

impl Store {
    /// Writes all games that have a record, the oldest first, a line each. Says how many.
    ///
    /// # Errors
    /// The database or the output fails.
    pub fn export(&mut self, out: &mut dyn Write) -> Result<u64, StoreError> {
        self.db.read(|db| {
            let known = Known::read(db)?;
            let mut games = 0;
            db.each(GAMES, &[], |row| {
                serde_json::to_writer(&mut *out, &known.transferred(&row)?).map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
                games += 1;
                Ok(())
            })?;
            Ok(games)
        })
    }

    /// Takes over the games that another ladder [exported](Self::export), all or none, and computes the
    /// ratings anew. Numbers of games and bots stay what they were, so this ladder must have no games yet.
    ///
    /// # Errors
    /// This ladder has games, or other bots with the same numbers or names; a line is no such game; the
    /// database fails.
    pub fn import(&mut self, lines: &mut dyn BufRead, by: &By<'_>) -> Result<Imported, StoreError> {
        self.db.write(|db| {
            if db.first("SELECT id FROM encounter LIMIT 1", &[])?.is_some() {
                return Err(StoreError::refused(
                    "this ladder has games already: import into a new one (`plyd ladder init`)",
                ));
            }
            let mut import = Import::default();
            let mut line = Vec::new();
            for number in 1.. {
                line.clear();
                if (&mut *lines).take(LINE_BYTES + 1).read_until(b'\n', &mut line)? == 0 {
                    break;
                }
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let fail = |message: String| StoreError::refused(format!("line {number}: {message}"));
                if line.len() as u64 > LINE_BYTES {
                    return Err(fail(format!("more than {LINE_BYTES} bytes")));
                }
                let game = serde_json::from_slice(&line)
                    .map_err(|error| fail(format!("no record of a ladder's game: {error}")))?;
                import.game(db, &game, by.at_ms).map_err(|error| match error {
                    StoreError::Refused(message) => fail(message),
                    error => error,
                })?;
            }
            let done = import.finish(db)?;
            note(db, by, "import", &format!("{} games", done.games), "")?;
            Ok(done)
        })
    }
}

/// Names by numbers, for an export.
struct Known {
    /// Each with its anchors.
    pools: BTreeMap<PoolId, (Pool, BTreeMap<String, f64>)>,
    seasons: BTreeMap<SeasonId, String>,
    owners: BTreeMap<BotId, Option<String>>,
    houses: BTreeMap<String, (BotId, House)>,
}

impl Known {
    fn read(db: &mut Db) -> Result<Self, StoreError> {
        let bots = accounts::all(db)?;
        let names: BTreeMap<BotId, &str> = bots.iter().map(|bot| (bot.id, bot.name.as_str())).collect();
        let name = |bot: &BotId| names.get(bot).copied().unwrap_or_default().to_owned();
        let pools = pools::all(db)?.into_iter().map(|pool| {
            let anchors = pool.anchors.iter().map(|(bot, elo)| (name(bot), *elo)).collect();
            (pool.id, (pool, anchors))
        });
        let pools = pools.collect();
        let seasons = db.all("SELECT id, name FROM season", &[], |row| {
            Ok((SeasonId(row.count(0)?), row.text(1)?.to_owned()))
        })?;
        let sql = "SELECT b.id, o.name FROM bot b LEFT JOIN owner o ON o.id = b.owner";
        let owners =
            db.all(sql, &[], |row| Ok((BotId(row.count(0)?), row.maybe_text(1)?.map(str::to_owned))))?;
        let houses = bots.iter().filter_map(|bot| Some((bot.name.clone(), (bot.id, bot.house.clone()?))));
        Ok(Self {
            pools,
            seasons: seasons.into_iter().collect(),
            owners: owners.into_iter().collect(),
            houses: houses.collect(),
        })
    }

    fn transferred(&self, row: &Row) -> Result<Transferred, StoreError> {
        let (pool, season) = (PoolId(row.count(5)?), SeasonId(row.count(6)?));
        let gone = || StoreError::corrupt("a game without its pool or season");
        let (pool, anchors) = self.pools.get(&pool).ok_or_else(gone)?.clone();
        let players = [BotId(row.count(10)?), BotId(row.count(11)?)];
        let game: PlayedGame = row.json(0)?;
        let needed =
            |name: &String| anchors.contains_key(name) || game.players.iter().any(|of| of.name == **name);
        let houses = self.houses.iter().filter(|(name, _)| needed(name));
        let x_ladder = OnLadder {
            pool: pool.name,
            pool_closed_ms: pool.closed_ms,
            terms: pool.terms,
            houses: houses.map(|(name, house)| (name.clone(), house.clone())).collect(),
            anchors,
            season: self.seasons.get(&season).ok_or_else(gone)?.clone(),
            owners: players.map(|bot| self.owners.get(&bot).cloned().flatten()),
            opening: row.json(7)?,
            times_ms: [row.int(2)?, row.int(3)?],
            void: match row.text(12)? {
                "void" => Some(row.maybe_text(4)?.unwrap_or_default().to_owned()),
                _ => None,
            },
            rated: match (row.maybe_count(8)?, row.maybe_int(9)?) {
                (Some(order), Some(at_ms)) => Some((order, at_ms)),
                _ => None,
            },
            conversation: logs::read(row, 1)?,
        };
        Ok(Transferred { game, x_ladder })
    }
}

/// What an import has made so far.
#[derive(Default)]
struct Import {
    done: Imported,
    pools: BTreeMap<String, (PoolId, PoolTerms)>,
    seasons: BTreeMap<String, SeasonId>,
    owners: BTreeMap<String, OwnerId>,
    bots: BTreeMap<BotId, String>,
    /// Each with its first and second bot, its pool and its season.
    encounters: BTreeMap<EncounterId, ([BotId; 2], PoolId, SeasonId)>,
    games: BTreeSet<GameId>,
}

/// Why a game is void whose record was not among those that were imported.
const MISSING: &str = "it was not among the games that were imported";

impl Import {
    fn game(&mut self, db: &mut Db, transferred: &Transferred, now_ms: i64) -> Result<(), StoreError> {
        let Transferred { game, x_ladder: on } = transferred;
        let id = GameId(game.number as u64);
        if id.0 == 0 || i64::try_from(id.0).is_err() {
            return Err(StoreError::refused(format!("{id} is no number of a game")));
        }
        if game.record.result.is_none() {
            return Err(StoreError::refused(format!("game {id} has no result")));
        }
        if !self.games.insert(id) {
            return Err(StoreError::refused(format!("game {id} came before")));
        }
        let mut players = game.players.each_ref().map(|player| BotId(player.index as u64));
        for (name, (bot, house)) in &on.houses {
            self.bot(db, *bot, name, None, Some(house), now_ms)?;
        }
        for (entrant, owner) in game.players.iter().zip(&on.owners) {
            let house = on.houses.get(&entrant.name).map(|(_, house)| house);
            self.bot(db, BotId(entrant.index as u64), &entrant.name, owner.as_deref(), house, now_ms)?;
        }
        let (pool, season) = (self.pool(db, on, now_ms)?, self.season(db, &on.season, on.times_ms[0])?);
        if id.is_second() {
            players.reverse();
        }
        self.encounter(db, id.encounter(), (players, pool, season), game, on)?;
        self.result(db, id, game, on)?;
        self.done.games += 1;
        Ok(())
    }

    fn bot(
        &mut self,
        db: &mut Db,
        id: BotId,
        name: &str,
        owner: Option<&str>,
        house: Option<&House>,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        if self.bots.get(&id).is_some_and(|known| known == name) {
            return Ok(());
        }
        names::check("bot", name)?;
        let sql = "SELECT id, name FROM bot WHERE id = $1 OR lower(name) = lower($2)";
        let known = db.all(sql, &[id.0.into(), name.into()], |row| {
            Ok((BotId(row.count(0)?), row.text(1)?.to_owned()))
        })?;
        match &known[..] {
            [] => {
                let owner = match (owner, house) {
                    (Some(owner), None) => Some(self.owner(db, owner, now_ms)?),
                    (None, Some(_)) => None,
                    _ => return Err(StoreError::refused(format!("{name} has neither owner nor player"))),
                };
                accounts::insert_bot(db, id, name, owner, house, now_ms)?;
                self.done.bots += 1;
            }
            [(number, known)] if *number == id && known == name => {}
            [(number, known), ..] => {
                return Err(StoreError::refused(format!(
                    "bot {id} is {name}, and this ladder has {known} as bot {number}: import into a new one"
                )));
            }
        }
        self.bots.insert(id, name.to_owned());
        Ok(())
    }

    fn owner(&mut self, db: &mut Db, name: &str, now_ms: i64) -> Result<OwnerId, StoreError> {
        if let Some(id) = self.owners.get(name) {
            return Ok(*id);
        }
        names::check("owner", name)?;
        let row = db.first("SELECT id FROM owner WHERE lower(name) = lower($1)", &[name.into()])?;
        let id = match row {
            Some(row) => OwnerId(row.count(0)?),
            None => accounts::new_owner(db, name, now_ms)?,
        };
        self.owners.insert(name.to_owned(), id);
        Ok(id)
    }

    fn pool(&mut self, db: &mut Db, on: &OnLadder, now_ms: i64) -> Result<PoolId, StoreError> {
        if let Some((id, terms)) = self.pools.get(&on.pool) {
            return same_terms(&on.pool, terms, &on.terms).map(|()| *id);
        }
        names::check("pool", &on.pool)?;
        let id = match pools::find(db, &on.pool)? {
            Some(id) => {
                let (terms, _) = pools::terms(db, id)?;
                same_terms(&on.pool, &terms, &on.terms)?;
                id
            }
            None => {
                if on.terms.period_ms == 0 {
                    return Err(StoreError::refused(format!(
                        "pool {} has rating periods of no time",
                        on.pool
                    )));
                }
                let id = PoolId(db.next_id("pool")?);
                let terms = json(&on.terms);
                let values = [
                    id.0.into(),
                    (&on.pool).into(),
                    (&terms).into(),
                    now_ms.into(),
                    on.pool_closed_ms.into(),
                ];
                let sql =
                    "INSERT INTO pool (id, name, terms, made_ms, closed_ms) VALUES ($1, $2, $3, $4, $5)";
                db.execute(sql, &values)?;
                id
            }
        };
        for (name, elo) in &on.anchors {
            pools::set_anchor(db, id, name, *elo)?;
        }
        self.pools.insert(on.pool.clone(), (id, on.terms.clone()));
        Ok(id)
    }

    fn season(&mut self, db: &mut Db, name: &str, begun_ms: i64) -> Result<SeasonId, StoreError> {
        if let Some(id) = self.seasons.get(name) {
            return Ok(*id);
        }
        names::check("season", name)?;
        let row = db.first("SELECT id FROM season WHERE lower(name) = lower($1)", &[name.into()])?;
        let id = match row {
            Some(row) => SeasonId(row.count(0)?),
            None => {
                let id = SeasonId(db.next_id("season")?);
                let values = [id.0.into(), name.into(), begun_ms.into()];
                db.execute("INSERT INTO season (id, name, begun_ms) VALUES ($1, $2, $3)", &values)?;
                id
            }
        };
        self.seasons.insert(name.to_owned(), id);
        Ok(id)
    }

    fn encounter(
        &mut self,
        db: &mut Db,
        id: EncounterId,
        meets: ([BotId; 2], PoolId, SeasonId),
        game: &PlayedGame,
        on: &OnLadder,
    ) -> Result<(), StoreError> {
        if let Some(known) = self.encounters.get(&id) {
            return match *known == meets {
                true => Ok(()),
                false => Err(StoreError::refused(format!("encounter {id} has two games that are no pair"))),
            };
        }
        let ([first, second], pool, season) = meets;
        if first == second {
            return Err(StoreError::refused(format!("in encounter {id} bot {first} meets itself")));
        }
        let (seed, opening) = (game.seed.to_string(), json(&on.opening));
        let (rated, rated_ms) = on.rated.map_or((None, None), |(order, at_ms)| (Some(order), Some(at_ms)));
        db.execute(
            "INSERT INTO encounter (id, pool, season, first_bot, second_bot, seed, opening, begun_ms, rated, rated_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            &[
                id.0.into(),
                pool.0.into(),
                season.0.into(),
                first.0.into(),
                second.0.into(),
                (&seed).into(),
                (&opening).into(),
                on.times_ms[0].into(),
                rated.into(),
                rated_ms.into(),
            ],
        )?;
        // Void until their records come.
        for (game, p1, p2) in [(id.games()[0], first, second), (id.games()[1], second, first)] {
            db.execute(
                "INSERT INTO game (id, encounter, p1, p2, state, void_why) VALUES ($1, $2, $3, $4, 'void', $5)",
                &[game.0.into(), id.0.into(), p1.0.into(), p2.0.into(), MISSING.into()],
            )?;
        }
        self.encounters.insert(id, meets);
        self.done.encounters += 1;
        Ok(())
    }

    fn result(
        &mut self,
        db: &mut Db,
        id: GameId,
        game: &PlayedGame,
        on: &OnLadder,
    ) -> Result<(), StoreError> {
        let forfeit = game.forfeit.as_ref();
        let conversation = json(&on.conversation.bounded());
        let changed = db.execute(
            "UPDATE game SET state = $2, void_why = $3, begun_ms = $4, ended_ms = $5, half_points = $6,
                 ended_by = $7, forfeit_bot = $8, forfeit_kind = $9, plies = $10, p1_version = $11,
                 p2_version = $12, record = $13, conversation = $14
             WHERE id = $1",
            &[
                id.0.into(),
                if on.void.is_some() { "void" } else { "over" }.into(),
                on.void.as_ref().into(),
                on.times_ms[0].into(),
                on.times_ms[1].into(),
                (game.half_points(game.players[0].index) as u64).into(),
                game.record.result.as_ref().map(|result| &result.by).into(),
                forfeit.map(|forfeit| game.entrant(forfeit.player).index as u64).into(),
                forfeit.map(|forfeit| forfeit.reason.kind.name()).into(),
                (game.record.moves.len() as u64).into(),
                game.players[0].build.as_ref().into(),
                game.players[1].build.as_ref().into(),
                (&json(game)).into(),
                if on.conversation.is_empty() { None } else { Some(&conversation) }.into(),
            ],
        )?;
        debug_assert_eq!(changed, 1, "the encounter made its games");
        for player in &game.players {
            if let Some(version) = &player.build {
                accounts::note_version(db, BotId(player.index as u64), version, on.times_ms[1])?;
            }
        }
        Ok(())
    }

    /// Counts up to what came, and computes the ratings.
    fn finish(self, db: &mut Db) -> Result<Imported, StoreError> {
        // Half an encounter moves no rating.
        db.batch(
            "UPDATE encounter SET rated = NULL, rated_ms = NULL WHERE EXISTS
                 (SELECT 1 FROM game g WHERE g.encounter = encounter.id AND g.state <> 'over');
             UPDATE counter SET last = (SELECT coalesce(max(id), 0) FROM encounter) WHERE name = 'encounter';
             UPDATE counter SET last = (SELECT coalesce(max(rated), 0) FROM encounter) WHERE name = 'rated';
             UPDATE counter SET last = (SELECT coalesce(max(id), 0) FROM bot) WHERE name = 'bot';",
        )?;
        for (pool, _) in self.pools.values() {
            rated::compute(db, *pool)?;
        }
        Ok(self.done)
    }
}

/// Whether a pool's terms are those of a game.
fn same_terms(pool: &str, known: &PoolTerms, of_game: &PoolTerms) -> Result<(), StoreError> {
    if known == of_game {
        return Ok(());
    }
    Err(StoreError::refused(format!("the game was played on other terms than those of pool {pool} here")))
}
