//! Lists for the pages: games of all bots, and single owners.

use super::Store;
use super::accounts::{self, Account};
use super::error::StoreError;
use super::games;
use super::results::{self, GameRow};
use crate::game::OpenGame;
use crate::{GameId, OwnerId, PoolId};

const GAMES: &str =
    "SELECT g.id, e.pool, e.season, g.p1, g.p2, g.state, g.begun_ms, g.ended_ms, g.half_points,
        g.ended_by, g.forfeit_bot, g.plies, g.void_why
    FROM game g JOIN encounter e ON e.id = g.encounter
    WHERE g.id < $1 AND g.begun_ms IS NOT NULL AND (CAST($2 AS BIGINT) = 0 OR e.pool = $2)
    ORDER BY g.id DESC LIMIT $3";

const PLAYING: &str =
    "SELECT g.id, e.pool, e.season, g.p1, g.p2, g.state, g.begun_ms, g.ended_ms, g.half_points,
        g.ended_by, g.forfeit_bot, g.plies, g.void_why
    FROM game g JOIN encounter e ON e.id = g.encounter
    WHERE g.state = 'playing' ORDER BY g.id DESC LIMIT $1";

impl Store {
    /// The games before that one that have begun, the latest first, so many at most; those of one pool alone,
    /// if one is named.
    ///
    /// # Errors
    /// The database fails.
    pub fn games(
        &mut self,
        pool: Option<PoolId>,
        before: Option<GameId>,
        most: u64,
    ) -> Result<Vec<GameRow>, StoreError> {
        let before = before.map_or(u64::MAX, |game| game.0);
        // Pools count from 1.
        let pool = pool.map_or(0, |pool| pool.0);
        self.db.all(GAMES, &[before.into(), pool.into(), most.into()], results::game)
    }

    /// The games that are being played, the latest first, so many at most.
    ///
    /// # Errors
    /// The database fails.
    pub fn games_playing(&mut self, most: u64) -> Result<Vec<GameRow>, StoreError> {
        self.db.all(PLAYING, &[most.into()], results::game)
    }

    /// A game that is being played, with the turns that were kept; none: it has not begun, or is over or
    /// void.
    ///
    /// # Errors
    /// The database fails.
    pub fn open_game(&mut self, id: GameId) -> Result<Option<OpenGame>, StoreError> {
        self.db.read(|db| games::open(db, id))
    }

    /// An owner, if there is one of that number.
    ///
    /// # Errors
    /// The database fails.
    pub fn account(&mut self, id: OwnerId) -> Result<Option<Account>, StoreError> {
        let sql =
            "SELECT id, name, invited_ms, joined_ms, disabled_ms, disabled_why FROM owner WHERE id = $1";
        let row = self.db.first(sql, &[id.0.into()])?;
        row.map(|row| accounts::account(&row)).transpose()
    }
}
