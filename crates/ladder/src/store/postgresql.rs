//! The back end that is a server: PostgreSQL.
//!
//! A connection that was lost is made anew by the next transaction. What was asked in the one that broke is
//! asked again by whoever asked: all that a server of a ladder asks by itself may be asked twice.

use std::collections::HashMap;

use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls, Statement, fallible_iterator::FallibleIterator};

use super::error::StoreError;
use super::row::{Row, Value};

/// What a server of the ladder holds as long as it is connected.
const SERVING: i64 = 0x706c_7964_0001;
/// How long a server waits for it: a connection that was closed or lost holds it until PostgreSQL sees that.
const PATIENCE_MS: u64 = 3000;
/// What a transaction that writes holds: there is one at a time, as in SQLite.
const WRITING: i64 = 0x706c_7964_0002;

/// A connection.
pub(super) struct Postgresql {
    config: Config,
    client: Client,
    /// Whether this is to be the only server.
    serves: bool,
    statements: HashMap<&'static str, Statement>,
}

impl Postgresql {
    /// Connects to the database of a URL.
    pub(super) fn connect(url: &str) -> Result<Self, StoreError> {
        let mut config: Config = url.parse()?;
        if config.get_application_name().is_none() {
            config.application_name("plyd ladder");
        }
        let client = config.connect(NoTls)?;
        Ok(Self { config, client, serves: false, statements: HashMap::new() })
    }

    /// Makes this the only server of the database, as long as it is connected.
    pub(super) fn lock(&mut self) -> Result<bool, StoreError> {
        let locked = self.client.batch_execute(&format!(
            "BEGIN; SET LOCAL lock_timeout = {PATIENCE_MS}; SELECT pg_advisory_lock({SERVING}); COMMIT"
        ));
        match locked {
            Ok(()) => self.serves = true,
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                self.client.batch_execute("ROLLBACK")?;
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    pub(super) fn begin_write(&mut self) -> Result<(), StoreError> {
        self.connected()?;
        self.client.batch_execute(&format!("BEGIN; SELECT pg_advisory_xact_lock({WRITING})"))?;
        Ok(())
    }

    pub(super) fn begin_read(&mut self) -> Result<(), StoreError> {
        self.connected()?;
        Ok(self.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?)
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.client.batch_execute(sql)?)
    }

    pub(super) fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let statement = self.statement(sql)?;
        let values = bound(&statement, values);
        Ok(self.client.execute(&statement, &borrowed(&values))?)
    }

    /// Gives each row away as it comes.
    pub(super) fn each(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        mut row: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let statement = self.statement(sql)?;
        let values = bound(&statement, values);
        let mut rows = self.client.query_raw(&statement, borrowed(&values))?;
        while let Some(found) = rows.next()? {
            let cells = (0..found.len()).map(|column| cell(&found, column));
            row(Row(cells.collect::<Result<_, StoreError>>()?))?;
        }
        Ok(())
    }

    /// Connects again if the connection is lost.
    fn connected(&mut self) -> Result<(), StoreError> {
        if !self.client.is_closed() {
            return Ok(());
        }
        self.statements.clear();
        self.client = self.config.connect(NoTls)?;
        if self.serves && !self.lock()? {
            // Not to write without it: the next transaction tries again.
            let message = "another server of the ladder took the database while the connection was lost";
            self.client.batch_execute("SELECT pg_terminate_backend(pg_backend_pid())").ok();
            return Err(StoreError::Unusable { database: "PostgreSQL".into(), message: message.into() });
        }
        Ok(())
    }

    /// A statement as the server has prepared it.
    fn statement(&mut self, sql: &'static str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// The values as the statement takes them: a null has the type of its place.
fn bound<'a>(statement: &Statement, values: &'a [Value<'a>]) -> Vec<Box<dyn ToSql + Sync + 'a>> {
    let places = statement.params().iter().zip(values);
    places
        .map(|(place, value)| -> Box<dyn ToSql + Sync + 'a> {
            match value {
                Value::Null if *place == Type::INT8 => Box::new(None::<i64>),
                Value::Null if *place == Type::FLOAT8 => Box::new(None::<f64>),
                Value::Null => Box::new(None::<&str>),
                Value::Int(value) => Box::new(value),
                Value::Real(value) => Box::new(value),
                Value::Text(value) => Box::new(value.as_ref()),
            }
        })
        .collect()
}

fn borrowed<'a>(values: &'a [Box<dyn ToSql + Sync + 'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(AsRef::as_ref).collect()
}

fn cell(row: &postgres::Row, column: usize) -> Result<Value<'static>, StoreError> {
    let kind = row.columns()[column].type_();
    Ok(match *kind {
        Type::INT8 => row.try_get::<_, Option<i64>>(column)?.into(),
        Type::INT4 => row.try_get::<_, Option<i32>>(column)?.map(i64::from).into(),
        Type::FLOAT8 => row.try_get::<_, Option<f64>>(column)?.into(),
        Type::TEXT => {
            let text = row.try_get::<_, Option<String>>(column)?;
            text.map_or(Value::Null, |text| Value::Text(text.into()))
        }
        _ => return Err(StoreError::corrupt(format!("a column of the type {kind}"))),
    })
}
