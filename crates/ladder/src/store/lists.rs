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
    WHERE g.id < $1 AND g.begun_ms IS NOT NULL ORDER BY g.id DESC LIMIT $2";

/// Games are numbered as their encounters are, which an index has by their pools.
const GAMES_OF_POOL: &str =
    "SELECT g.id, e.pool, e.season, g.p1, g.p2, g.state, g.begun_ms, g.ended_ms, g.half_points,
        g.ended_by, g.forfeit_bot, g.plies, g.void_why
    FROM encounter e JOIN game g ON g.encounter = e.id
    WHERE e.pool = $1 AND e.id <= $2 AND g.id < $3 AND g.begun_ms IS NOT NULL
    ORDER BY e.id DESC, g.id DESC LIMIT $4";

/// With the condition of an index, as [`games::OPEN`].
const PLAYING: &str =
    "SELECT g.id, e.pool, e.season, g.p1, g.p2, g.state, g.begun_ms, g.ended_ms, g.half_points,
        g.ended_by, g.forfeit_bot, g.plies, g.void_why
    FROM game g JOIN encounter e ON e.id = g.encounter
    WHERE g.state IN ('waiting', 'playing') AND g.state = 'playing' ORDER BY g.id DESC LIMIT $1";

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
        let before = before.unwrap_or(GameId(u64::MAX));
        let Some(pool) = pool else {
            return self.db.all(GAMES, &[before.0.into(), most.into()], results::game);
        };
        let values = [pool.0.into(), before.encounter().0.into(), before.0.into(), most.into()];
        self.db.all(GAMES_OF_POOL, &values, results::game)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::TestPlace;

    #[test]
    fn lists_read_no_more_than_they_show() {
        let place = TestPlace::new();
        let mut store = Store::open(&place.database).unwrap();
        let mut plan = |sql: &str, values: &[crate::store::row::Value<'_>]| {
            let sql: &'static str = format!("EXPLAIN QUERY PLAN {sql}").leak();
            store.db.all(sql, values, |row| Ok(row.text(3)?.to_owned())).unwrap().join("; ")
        };
        // No table is read as a whole, nor sorted.
        for (sql, values, index) in [
            (PLAYING, &[9_u64.into()][..], "game_open"),
            (games::OPEN, &[], "game_open"),
            (GAMES, &[9_u64.into(), 9_u64.into()], "(id<?)"),
            (
                GAMES_OF_POOL,
                &[1_u64.into(), 9_u64.into(), 9_u64.into(), 9_u64.into()],
                "encounter_of_pool (pool=? AND id<?)",
            ),
        ] {
            let plan = plan(sql, values);
            let has_index = plan.split("; ").next().is_some_and(|outer| outer.contains(index));
            assert!(has_index && !plan.contains("FOR ORDER BY"), "{sql}: {plan}");
        }
    }
}
