//! Why a database did not do what it was asked.

use std::io;

use plyd_protocol::with_causes;
use postgres::error::Severity;

/// Why the database did not do what it was asked. Nothing of it was done.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// What was asked makes no sense as things are; the text says what to do instead.
    #[error("{0}")]
    Refused(String),
    /// The database cannot be had or is not a ladder's; the text says what to do.
    #[error("{database}: {message}")]
    Unusable {
        /// Which one, without its password.
        database: String,
        /// Why, and what to do.
        message: String,
    },
    /// What is in it contradicts itself: another program wrote there, or a disk failed.
    #[error(
        "the database holds what no ladder writes: {0}; restore a backup, or look at `plyd ladder check`"
    )]
    Corrupt(String),
    /// SQLite failed.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL failed.
    #[error("PostgreSQL: {}", with_causes(.0))]
    Postgres(#[from] postgres::Error),
    /// A file failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The thread of the database has ended.
    #[error("the database is closed")]
    Closed,
}

impl StoreError {
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }

    pub(super) fn corrupt(text: impl Into<String>) -> Self {
        Self::Corrupt(text.into())
    }

    /// Whether the database is to be asked again: the connection to it was lost, and whether a transaction
    /// that was being committed is kept is not known; or another process writes to the file for long.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        let error = match self {
            Self::Postgres(error) => error,
            Self::Sqlite(error) => {
                return error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy);
            }
            _ => return false,
        };
        match error.as_db_error().map(|said| said.parsed_severity()) {
            // The server's last words.
            Some(severity) => matches!(severity, Some(Severity::Fatal | Severity::Panic)),
            None => error.is_closed() || error.code().is_none(),
        }
    }
}
