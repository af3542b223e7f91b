//! The back end that is a file: SQLite, compiled into the program.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plyd_arena::lock;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::row::{Row, Value};

/// How long a transaction waits for that of another process: a command's beside a server's.
const BUSY: Duration = Duration::from_secs(30);
/// The same for a server, which asks again, and in between answers those who only read.
const SERVER_BUSY: Duration = Duration::from_secs(1);

/// An open file.
pub(super) struct Sqlite {
    connection: Connection,
    path: PathBuf,
    /// What no other server may have; none: this is a command beside one.
    lock: Option<Lock>,
}

/// Makes the file for its owner alone, if there is none: it has the invitations and the logs of games. SQLite
/// gives the files beside it the same rights.
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Elsewhere the folder says who may read what is in it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        // Whoever made it chose who may read it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Sqlite {
    /// Opens a file that is there, or makes it.
    pub(super) fn open(path: &Path, make: bool) -> Result<Self, StoreError> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, make);
        if make {
            make_private(path)?;
        }
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY)?;
        // WAL: whoever reads waits for nobody. FULL: a game whose end was committed is kept even if the power
        // fails.
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
        )?;
        Ok(Self { connection, path: path.to_owned(), lock: None })
    }

    /// Makes this the only server of the file, as long as it is open.
    pub(super) fn lock(&mut self) -> Result<bool, StoreError> {
        self.lock = Lock::take(&self.path)?;
        if self.lock.is_some() {
            self.connection.busy_timeout(SERVER_BUSY)?;
        }
        Ok(self.lock.is_some())
    }

    pub(super) fn begin_write(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
    }

    pub(super) fn begin_read(&mut self) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch("BEGIN")?)
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch(sql)?)
    }

    pub(super) fn execute(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let mut statement = self.connection.prepare(sql)?;
        bind(&mut statement, values)?;
        Ok(statement.raw_execute()? as u64)
    }

    /// Gives each row away as it comes.
    pub(super) fn each(
        &mut self,
        sql: &str,
        values: &[Value<'_>],
        mut row: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare(sql)?;
        bind(&mut statement, values)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        while let Some(found) = rows.next()? {
            let cells = (0..columns).map(|column| cell(found.get_ref(column)?));
            row(Row(cells.collect::<Result<_, StoreError>>()?))?;
        }
        Ok(())
    }
}

/// Binds values by name: SQLite takes `$1` for a name, and numbers names in the order in which they come.
fn bind(statement: &mut rusqlite::Statement<'_>, values: &[Value<'_>]) -> Result<(), StoreError> {
    for (at, value) in (1..).zip(values) {
        let Some(index) = statement.parameter_index(&format!("${at}"))? else { continue };
        match value {
            Value::Null => statement.raw_bind_parameter(index, rusqlite::types::Null)?,
            Value::Int(value) => statement.raw_bind_parameter(index, value)?,
            Value::Real(value) => statement.raw_bind_parameter(index, value)?,
            Value::Text(value) => statement.raw_bind_parameter(index, value.as_ref())?,
        }
    }
    Ok(())
}

fn cell(value: ValueRef<'_>) -> Result<Value<'static>, StoreError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => {
            let text = str::from_utf8(bytes).map_err(|error| StoreError::corrupt(error.to_string()))?;
            Value::Text(text.to_owned().into())
        }
        ValueRef::Blob(_) => return Err(StoreError::corrupt("bytes, where a text or a number belongs")),
    })
}

/// A lock on a file beside the database. SQLite's own locks last for a transaction.
struct Lock {
    file: File,
}

impl Lock {
    /// None if somebody else has it.
    fn take(database: &Path) -> Result<Option<Self>, StoreError> {
        let mut path = database.as_os_str().to_owned();
        path.push("-serving");
        let held = lock::open(Path::new(&path)).and_then(|file| lock::hold(&file).map(|()| file));
        match held {
            Ok(file) => Ok(Some(Self { file })),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(StoreError::Io(error)),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        lock::release(&self.file);
    }
}
