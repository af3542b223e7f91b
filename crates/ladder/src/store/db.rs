//! A database of either kind, by the SQL that both take.
//!
//! That SQL: `$1` for values, columns of the types BIGINT, TEXT and DOUBLE PRECISION, `ON CONFLICT`, and
//! `CAST($1 AS BIGINT)` where PostgreSQL would take a value for something else. Whoever writes does so in a
//! transaction, one at a time in the whole database, so that a number can be read and counted up.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::error::StoreError;
use super::postgresql::Postgresql;
use super::row::{Row, Value};
use super::sqlite::Sqlite;

/// Which database: a file for SQLite, or a URL for PostgreSQL.
///
/// ```
/// use plyd_ladder::store::Database;
///
/// let file: Database = "ladder.db".parse().unwrap();
/// let server: Database = "postgres://plyd:secret@localhost/ladder".parse().unwrap();
/// assert_eq!(file, Database::Sqlite("ladder.db".into()));
/// assert_eq!(server.to_string(), "postgres://plyd:...@localhost/ladder");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Database {
    /// A file.
    Sqlite(PathBuf),
    /// A URL, `postgres://USER@HOST/NAME`; a socket's folder stands in it as `?host=/run/postgresql`.
    Postgres(String),
}

/// What the URLs of PostgreSQL begin with.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

impl FromStr for Database {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            return Ok(Self::Postgres(text.to_owned()));
        }
        match text.split_once("://") {
            Some((scheme, _)) => {
                Err(format!("there is no database `{scheme}`: give a file, or postgres://USER@HOST/NAME"))
            }
            None if text.is_empty() => Err("give a file, or postgres://USER@HOST/NAME".into()),
            None => Ok(Self::Sqlite(text.into())),
        }
    }
}

impl fmt::Display for Database {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = match self {
            Self::Sqlite(path) => return path.display().fmt(f),
            Self::Postgres(url) => url,
        };
        let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
        let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
        let (user, host) = place.rsplit_once('@').map_or((None, place), |(user, host)| (Some(user), host));
        write!(f, "{scheme}://")?;
        if let Some(user) = user {
            match user.split_once(':') {
                Some((name, _)) => write!(f, "{name}:...@")?,
                None => write!(f, "{user}@")?,
            }
        }
        f.write_str(host)?;
        let public = query.into_iter().flat_map(|query| query.split('&'));
        for (at, setting) in public.filter(|setting| !setting.starts_with("password")).enumerate() {
            write!(f, "{}{setting}", if at == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An open database.
pub(super) enum Db {
    Sqlite(Sqlite),
    Postgres(Box<Postgresql>),
}

impl Db {
    /// Opens a database; a file that is not there is made if that is asked for.
    pub(super) fn open(database: &Database, make: bool) -> Result<Self, StoreError> {
        let unusable = |message: String| StoreError::Unusable { database: database.to_string(), message };
        match database {
            Database::Sqlite(path) => {
                if !make && !path.exists() {
                    return Err(unusable("there is no such file; `plyd ladder init` makes one".into()));
                }
                Sqlite::open(path, make).map(Self::Sqlite).map_err(|error| unusable(error.to_string()))
            }
            Database::Postgres(url) => {
                let connected = Postgresql::connect(url).map_err(|error| unusable(error.to_string()))?;
                Ok(Self::Postgres(Box::new(connected)))
            }
        }
    }

    /// Makes this the only server of the database; false if there is one.
    pub(super) fn lock(&mut self) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(db) => db.lock(),
            Self::Postgres(db) => db.lock(),
        }
    }

    /// Does all of the work or nothing. Nobody else writes meanwhile.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(db) => db.begin_write()?,
            Self::Postgres(db) => db.begin_write()?,
        }
        self.end(work)
    }

    /// Reads from one state of the database, whatever others write meanwhile.
    pub(super) fn read<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(db) => db.begin_read()?,
            Self::Postgres(db) => db.begin_read()?,
        }
        self.end(work)
    }

    fn end<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let ended = work(self).and_then(|done| self.batch("COMMIT").map(|()| done));
        if ended.is_err() {
            // It failed already, or the connection is lost, which ends the transaction too.
            let _ = self.batch("ROLLBACK");
        }
        if let Self::Postgres(db) = self {
            db.transaction_ended();
        }
        ended
    }

    /// Runs several statements without values.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.batch(sql),
            Self::Postgres(db) => db.batch(sql),
        }
    }

    /// Runs a statement and says how many rows it changed.
    pub(super) fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        match self {
            Self::Sqlite(db) => db.execute(sql, values),
            Self::Postgres(db) => db.execute(sql, values),
        }
    }

    /// Gives each row of a query away as it comes; the database cannot be asked meanwhile.
    pub(super) fn each(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        row: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(db) => db.each(sql, values, row),
            Self::Postgres(db) => db.each(sql, values, row),
        }
    }

    /// The rows of a query, each as what `read` makes of it.
    pub(super) fn all<T>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut rows = Vec::new();
        self.each(sql, values, |row| {
            rows.push(read(&row)?);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The first row of a query, if there is one.
    pub(super) fn first(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Option<Row>, StoreError> {
        let mut first = None;
        self.each(sql, values, |row| {
            first.get_or_insert(row);
            Ok(())
        })?;
        Ok(first)
    }

    /// The next number of this kind, in a transaction that writes.
    pub(super) fn next_id(&mut self, counter: &'static str) -> Result<u64, StoreError> {
        self.execute("UPDATE counter SET last = last + 1 WHERE name = $1", &[counter.into()])?;
        let row = self.first("SELECT last FROM counter WHERE name = $1", &[counter.into()])?;
        row.ok_or_else(|| StoreError::corrupt(format!("there is no counter `{counter}`")))?.count(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_a_file_or_a_url_and_never_shows_its_password() {
        for (text, shown) in [
            ("ladder.db", Ok("ladder.db")),
            ("/var/lib/plyd/ladder.db", Ok("/var/lib/plyd/ladder.db")),
            ("postgres://localhost/plyd", Ok("postgres://localhost/plyd")),
            ("postgresql://a@b:5433/c", Ok("postgresql://a@b:5433/c")),
            ("postgres://a:p:q@b/c", Ok("postgres://a:...@b/c")),
            ("postgres://a:p@q@b/c?connect_timeout=5", Ok("postgres://a:...@b/c?connect_timeout=5")),
            ("postgres:///c?password=p&host=/run", Ok("postgres:///c?host=/run")),
            ("mysql://a/b", Err("mysql")),
            ("", Err("give a file")),
        ] {
            let read = text.parse::<Database>();
            match (&read, shown) {
                (Ok(database), Ok(shown)) => {
                    assert_eq!(
                        (database.to_string().as_str(), format!("{database:?}").as_str()),
                        (shown, shown)
                    );
                }
                (Err(error), Err(word)) => assert!(error.contains(word), "{text}: {error}"),
                _ => panic!("{text}: {read:?}"),
            }
        }
    }
}
