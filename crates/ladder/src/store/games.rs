//! Games from their beginning to the last turn before their end.

use plyd_protocol::Seed;

use super::Store;
use super::accounts;
use super::db::Db;
use super::error::StoreError;
use super::pools;
use super::row::{Row, json};
use crate::game::{OpenGame, Opening, Seated, Turn};
use crate::{BotId, EncounterId, GameId, PoolId};

/// A pair of games that is to be played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEncounter {
    /// The pool.
    pub pool: PoolId,
    /// Who meets; the first one is p1 of the first game.
    pub players: [BotId; 2],
    /// The seed of chance in both games.
    pub seed: Seed,
    /// Where both games begin.
    pub opening: Opening,
}

/// SQLite uses the index of games that are open only if it finds the condition of that index.
pub(super) const OPEN: &str = "SELECT g.id, e.pool, g.p1, g.p2, e.seed, e.opening
    FROM game g JOIN encounter e ON e.id = g.encounter
    WHERE g.state IN ('waiting', 'playing') AND g.state = 'playing' ORDER BY g.id";
const OPEN_GAME: &str = "SELECT g.id, e.pool, g.p1, g.p2, e.seed, e.opening
    FROM game g JOIN encounter e ON e.id = g.encounter WHERE g.state = 'playing' AND g.id = $1";

impl Store {
    /// Begins an encounter, and gives its first game.
    ///
    /// # Errors
    /// One of the bots may not play, both have one owner, or the pool is closed; the database fails.
    pub fn begin(&mut self, new: &NewEncounter, now_ms: i64) -> Result<OpenGame, StoreError> {
        self.db.write(|db| {
            let (_, closed) = pools::terms(db, new.pool)?;
            if closed.is_some() {
                return Err(StoreError::refused(format!("pool {} is closed", new.pool)));
            }
            let [first, second] = [accounts::expect(db, new.players[0])?, accounts::expect(db, new.players[1])?];
            if first.id == second.id || first.owner == second.owner {
                return Err(StoreError::refused(format!(
                    "{} and {} have one owner: they do not play for ratings",
                    first.name, second.name
                )));
            }
            for bot in [&first, &second] {
                if let Some(disabled) = &bot.disabled {
                    return Err(StoreError::refused(format!("{} is disabled: {}", bot.name, disabled.why)));
                }
            }
            let season = pools::season(db)?;
            let id = EncounterId(db.next_id("encounter")?);
            let (seed, opening) = (new.seed.to_string(), json(&new.opening));
            db.execute(
                "INSERT INTO encounter (id, pool, season, first_bot, second_bot, seed, opening, begun_ms)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                &[
                    id.0.into(),
                    new.pool.0.into(),
                    season.0.into(),
                    first.id.0.into(),
                    second.id.0.into(),
                    (&seed).into(),
                    (&opening).into(),
                    now_ms.into(),
                ],
            )?;
            let [game, later] = id.games();
            for (game, p1, p2, state, begun_ms) in [
                (game, first.id, second.id, "playing", Some(now_ms)),
                (later, second.id, first.id, "waiting", None),
            ] {
                db.execute(
                    "INSERT INTO game (id, encounter, p1, p2, state, begun_ms) VALUES ($1, $2, $3, $4, $5, $6)",
                    &[game.0.into(), id.0.into(), p1.0.into(), p2.0.into(), state.into(), begun_ms.into()],
                )?;
            }
            open(db, game)?.ok_or_else(|| StoreError::corrupt("a game that just began is not there"))
        })
    }

    /// Keeps turns of games that are being played, each with its game and its index. A turn that is kept
    /// already stays as it is, and so does a game that is no longer played.
    ///
    /// # Errors
    /// The database fails: none is kept.
    pub fn keep_turns(&mut self, turns: &[(GameId, usize, Turn)]) -> Result<(), StoreError> {
        if turns.is_empty() {
            return Ok(());
        }
        self.db.write(|db| {
            for (game, number, turn) in turns {
                let turn = json(turn);
                db.execute(
                    "INSERT INTO turn (game, number, turn)
                     SELECT id, CAST($2 AS BIGINT), CAST($3 AS TEXT) FROM game WHERE id = $1 AND state = 'playing'
                     ON CONFLICT (game, number) DO NOTHING",
                    &[game.0.into(), (*number as u64).into(), (&turn).into()],
                )?;
            }
            Ok(())
        })
    }

    /// The games that have begun and have no end, the oldest first: what a server goes on with.
    ///
    /// # Errors
    /// The database fails.
    pub fn open_games(&mut self) -> Result<Vec<OpenGame>, StoreError> {
        self.db.read(|db| {
            let heads = db.all(OPEN, &[], head)?;
            heads.into_iter().map(|head| whole(db, head)).collect()
        })
    }

    /// How many encounters go on.
    ///
    /// # Errors
    /// The database fails.
    pub fn open_encounters(&mut self) -> Result<u64, StoreError> {
        let sql = "SELECT count(DISTINCT encounter) FROM game WHERE state IN ('waiting', 'playing')";
        self.db.first(sql, &[])?.ok_or_else(|| StoreError::corrupt("a count gave no row"))?.count(0)
    }
}

/// What a row says of an open game.
type Head = (GameId, PoolId, [BotId; 2], Seed, Opening);

fn head(row: &Row) -> Result<Head, StoreError> {
    Ok((
        GameId(row.count(0)?),
        PoolId(row.count(1)?),
        [BotId(row.count(2)?), BotId(row.count(3)?)],
        seed(row.text(4)?)?,
        row.json(5)?,
    ))
}

/// A seed as it is kept.
pub(super) fn seed(text: &str) -> Result<Seed, StoreError> {
    text.parse().map_err(|_| StoreError::corrupt(format!("`{text}` is no seed")))
}

/// A game that is being played, if it is.
pub(super) fn open(db: &mut Db, game: GameId) -> Result<Option<OpenGame>, StoreError> {
    let row = db.first(OPEN_GAME, &[game.0.into()])?;
    row.map(|row| whole(db, head(&row)?)).transpose()
}

fn whole(db: &mut Db, (id, pool, players, seed, opening): Head) -> Result<OpenGame, StoreError> {
    let (terms, _) = pools::terms(db, pool)?;
    let sql = "SELECT number, turn FROM turn WHERE game = $1 ORDER BY number";
    let turns = db.all(sql, &[id.0.into()], |row| Ok((row.count(0)?, row.json::<Turn>(1)?)))?;
    // One that is missing ends what can be gone on with.
    let turns = (0..).zip(turns).take_while(|(at, (number, _))| at == number).map(|(_, (_, turn))| turn);
    let turns = turns.collect();
    let mut seated = Vec::new();
    for bot in players {
        seated.push(Seated { bot, name: accounts::expect(db, bot)?.name });
    }
    let players = seated.try_into().expect("there are two");
    Ok(OpenGame { id, pool, terms, players, seed, opening, turns })
}
