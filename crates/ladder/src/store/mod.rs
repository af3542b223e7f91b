//! What a ladder keeps: SQLite in a file, or PostgreSQL by a URL.
//!
//! It knows no bot's connection and no clock: times are arguments, in milliseconds since 1970. The one thing
//! that it draws is a [`Secret`]. It is blocking; a server asks it through a [`StoreHandle`], which gives it
//! a thread of its own.
//!
//! The two back ends are thin. sqlx, one library for both, would bring twice as many crates, ten of them in
//! versions beside those that are there, and a client of SQLite that blocks a thread all the same.
//!
//! # What is promised
//!
//! - A transaction is all that one method does, and [`Store::end_game`] is one: the result, the record, the
//!   logs, the forfeits in a row, and with the second game of a pair both ratings. It is kept when
//!   the method returns, whatever happens to the process or the machine.
//! - A game ends once: another end of it changes nothing.
//! - A game without an end is among [`Store::open_games`], with all turns that were kept.
//! - [`Store::check`] computes the ratings anew and finds the same bits.
//! - One server at most has a database ([`Store::serve`]); commands beside it change what it reads next, and
//!   leave an entry in the audit log.

mod accounts;
mod audit;
mod check;
mod db;
mod end;
mod error;
mod games;
mod handle;
mod lists;
mod logs;
mod names;
mod owners;
mod pools;
mod postgresql;
mod rated;
mod results;
mod row;
mod schema;
mod secret;
mod sqlite;
mod transfer;

use std::path::Path;

pub(crate) use accounts::BY_OWNER;
pub use accounts::{Account, Bot, Disabled, House, LINK_MS, Version};
pub use audit::{By, Entry};
pub use check::Checked;
pub use db::Database;
pub use end::{Ended, FORFEITS_IN_A_ROW};
pub use error::StoreError;
pub use games::NewEncounter;
pub use handle::StoreHandle;
pub use logs::Logs;
pub use pools::{Pool, Season};
pub use results::{GameRow, Met, RatedBot, Step};
pub use secret::Secret;
pub use transfer::{Imported, Transferred};

use db::Db;

/// An open database of a ladder.
pub struct Store {
    db: Db,
    database: Database,
}

impl Store {
    /// Makes a ladder in a database that is empty or not there, with its first season, or brings one of an
    /// older plyd up to date. Says whether there was none.
    ///
    /// # Errors
    /// The database cannot be had, holds something else, or a server has it.
    pub fn init(database: &Database, by: &By<'_>) -> Result<bool, StoreError> {
        let mut store = Self { db: Db::open(database, true)?, database: database.clone() };
        store.lock()?;
        let is_new = schema::migrate(&mut store.db, database)? == 0;
        if is_new {
            store.start_season("1", by)?;
        }
        Ok(is_new)
    }

    /// Opens the ladder in a database, for commands.
    ///
    /// # Errors
    /// There is none, or an older or newer plyd made it.
    pub fn open(database: &Database) -> Result<Self, StoreError> {
        let mut db = Db::open(database, false)?;
        schema::expect_latest(&mut db, database)?;
        Ok(Self { db, database: database.clone() })
    }

    /// Opens the ladder in a database as its one server. It stays the only one until it is dropped.
    ///
    /// # Errors
    /// As [`open`](Self::open), or another server has it.
    pub fn serve(database: &Database) -> Result<Self, StoreError> {
        let mut store = Self::open(database)?;
        store.lock()?;
        Ok(store)
    }

    fn lock(&mut self) -> Result<(), StoreError> {
        if self.db.lock()? {
            return Ok(());
        }
        let message = "a server has it: stop that one first";
        Err(StoreError::Unusable { database: self.database.to_string(), message: message.into() })
    }

    /// Copies the database to a new file, as it is at one instant, while others read and write.
    ///
    /// # Errors
    /// The file is there already or cannot be written; or this is PostgreSQL, which has a program for that.
    pub fn backup(&mut self, to: &Path) -> Result<(), StoreError> {
        if let Db::Postgres(_) = self.db {
            return Err(StoreError::refused(format!(
                "PostgreSQL makes its own backups: pg_dump --format=custom --file={} '{}'",
                to.display(),
                self.database
            )));
        }
        if to.exists() {
            return Err(StoreError::refused(format!("{} is there already: give another file", to.display())));
        }
        let place = to.to_str().ok_or_else(|| StoreError::refused("the file's name is no text"))?;
        sqlite::make_private(to)?;
        self.db.execute("VACUUM INTO $1", &[place.into()]).inspect_err(|_| {
            // Of a copy that failed nothing stays in the way of the next one.
            let _ = std::fs::remove_file(to);
        })?;
        // VACUUM INTO leaves it to the system when the copy reaches the disk.
        std::fs::File::open(to)?.sync_all()?;
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// An empty ladder in a folder of its own, which is removed once this is dropped.
    pub(crate) struct TestPlace {
        pub(crate) database: Database,
        folder: PathBuf,
    }

    impl TestPlace {
        pub(crate) fn new() -> Self {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = std::env::temp_dir().join(format!("plyd-ladder-{}-{number}", std::process::id()));
            std::fs::create_dir_all(&folder).unwrap();
            let database = Database::Sqlite(folder.join("ladder.db"));
            Store::init(&database, &By { who: "test", at_ms: 1 }).unwrap();
            Self { database, folder }
        }
    }

    impl Drop for TestPlace {
        fn drop(&mut self) {
            let _left_behind = std::fs::remove_dir_all(&self.folder);
        }
    }
}
