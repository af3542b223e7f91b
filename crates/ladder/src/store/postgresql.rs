//! The back end that is a server: PostgreSQL.
//!
//! Whether a connection is lost shows when it is used. One that is found lost where a transaction begins, or
//! by a query outside of one, is made anew at once, and nobody notices. What was asked in a transaction that
//! broke is asked again by whoever asked: all that a server of a ladder asks by itself may be asked twice.

mod tls;

use std::collections::HashMap;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls, Statement, fallible_iterator::FallibleIterator};
use tls::Tls;

use super::error::StoreError;
use super::row::{Row, Value};

/// What a server of the ladder holds as long as it is connected.
const SERVING: i64 = 0x706c_7964_0001;
/// How long a server waits for it: a connection that was closed or lost holds it until PostgreSQL sees that.
const PATIENCE_MS: u64 = 3000;
/// What a transaction that writes holds: there is one at a time, as in SQLite.
const WRITING: i64 = 0x706c_7964_0002;

/// How long to wait for a server that says nothing, unless the URL says otherwise: while it is connected to,
/// until what it was sent has arrived, and before it is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(15);
/// How long PostgreSQL's clients wait before they ask that, unless something else is said.
const USUAL_SILENCE: Duration = Duration::from_secs(2 * 60 * 60);

/// A connection.
pub(super) struct Postgresql {
    config: Config,
    /// How its bytes are encrypted, if they are.
    tls: Option<Tls>,
    client: Client,
    /// This connection as the server lists it, if this is to be the only server of the ladder.
    serves: Option<Backend>,
    is_in_transaction: bool,
    statements: HashMap<&'static str, Statement>,
}

/// A connection as the server lists it.
struct Backend {
    pid: i32,
    started: String,
}

impl Postgresql {
    /// Connects to the database of a URL.
    pub(super) fn connect(url: &str) -> Result<Self, StoreError> {
        let (mut config, server) = tls::read(url)?;
        if config.get_application_name().is_none() {
            config.application_name("plyd ladder");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(SILENCE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        if config.get_keepalives_idle() == USUAL_SILENCE {
            config.keepalives_idle(SILENCE);
        }
        let tls = Tls::new(&config, &server)?;
        let client = open(&config, tls.as_ref())?;
        let statements = HashMap::new();
        Ok(Self { config, tls, client, serves: None, is_in_transaction: false, statements })
    }

    /// Makes this the only server of the database, as long as it is connected.
    pub(super) fn lock(&mut self) -> Result<bool, StoreError> {
        let locked = self.client.batch_execute(&format!(
            "BEGIN; SET LOCAL lock_timeout = {PATIENCE_MS}; SELECT pg_advisory_lock({SERVING}); COMMIT"
        ));
        match locked {
            Ok(()) => {}
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
                self.client.batch_execute("ROLLBACK")?;
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        let sql = "SELECT pid, CAST(extract(epoch FROM backend_start) AS TEXT) FROM pg_stat_activity
            WHERE pid = pg_backend_pid()";
        let row = self.client.query_one(sql, &[])?;
        self.serves = Some(Backend { pid: row.try_get(0)?, started: row.try_get(1)? });
        Ok(true)
    }

    pub(super) fn begin_write(&mut self) -> Result<(), StoreError> {
        self.begin(&format!("BEGIN; SELECT pg_advisory_xact_lock({WRITING})"))
    }

    pub(super) fn begin_read(&mut self) -> Result<(), StoreError> {
        self.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    }

    fn begin(&mut self, sql: &str) -> Result<(), StoreError> {
        self.connected()?;
        if let Err(error) = self.batch(sql) {
            if !error.is_lost() {
                return Err(error);
            }
            self.reconnect(&error)?;
            self.batch(sql)?;
        }
        self.is_in_transaction = true;
        Ok(())
    }

    /// The transaction is committed or given up.
    pub(super) fn transaction_ended(&mut self) {
        self.is_in_transaction = false;
    }

    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        Ok(self.client.batch_execute(sql)?)
    }

    pub(super) fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64, StoreError> {
        let statement = self.statement(sql)?;
        let values = bound(&statement, values);
        Ok(self.client.execute(&statement, &borrowed(&values))?)
    }

    /// Gives each row away as it comes; outside of a transaction all once they are there, so that a
    /// connection that was lost can be made anew before.
    pub(super) fn each(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        mut row: impl FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if !self.is_in_transaction {
            self.connected()?;
            let found = match self.query(sql, values) {
                Err(error) if error.is_lost() => {
                    self.reconnect(&error)?;
                    self.query(sql, values)?
                }
                found => found?,
            };
            return found.iter().try_for_each(|found| row(cells(found)?));
        }
        let statement = self.statement(sql)?;
        let values = bound(&statement, values);
        let mut rows = self.client.query_raw(&statement, borrowed(&values))?;
        while let Some(found) = rows.next()? {
            row(cells(&found)?)?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<Vec<postgres::Row>, StoreError> {
        let statement = self.statement(sql)?;
        let values = bound(&statement, values);
        Ok(self.client.query(&statement, &borrowed(&values))?)
    }

    /// Connects again if the connection is known to be lost.
    fn connected(&mut self) -> Result<(), StoreError> {
        if self.client.is_closed() { self.reconnect(&"it was closed") } else { Ok(()) }
    }

    fn reconnect(&mut self, why: &dyn std::fmt::Display) -> Result<(), StoreError> {
        tracing::warn!(target: crate::LOG, %why, "the connection to PostgreSQL is lost");
        self.statements.clear();
        self.client = open(&self.config, self.tls.as_ref())?;
        if let Some(before) = &self.serves {
            // The server may not have seen that the connection before is gone, and then that one is still the
            // ladder's server. A number may have been given to another one since.
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid = $1 AND CAST(extract(epoch FROM backend_start) AS TEXT) = $2";
            self.client.query(sql, &[&before.pid, &before.started])?;
            if !self.lock()? {
                // Not to write without it.
                let message = "another server of the ladder took the database while the connection was lost";
                self.client.batch_execute("SELECT pg_terminate_backend(pg_backend_pid())").ok();
                return Err(StoreError::Unusable { database: "PostgreSQL".into(), message: message.into() });
            }
        }
        tracing::info!(target: crate::LOG, "connected to PostgreSQL again");
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

fn open(config: &Config, tls: Option<&Tls>) -> Result<Client, StoreError> {
    Ok(match tls {
        Some(tls) => config.connect(tls.clone())?,
        None => config.connect(NoTls)?,
    })
}

fn cells(row: &postgres::Row) -> Result<Row, StoreError> {
    let cells = (0..row.len()).map(|column| cell(row, column));
    Ok(Row(cells.collect::<Result<_, StoreError>>()?))
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
