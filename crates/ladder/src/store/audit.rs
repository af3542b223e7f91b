//! The audit log: who changed what about whom, and why.

use super::Store;
use super::db::Db;
use super::error::StoreError;

/// Who acts, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct By<'a> {
    /// A person's name, an owner's, or `ladder`.
    pub who: &'a str,
    /// The time, in milliseconds since 1970.
    pub at_ms: i64,
}

/// What is done by the ladder itself.
pub(super) const LADDER: &str = "ladder";

/// An entry of the log.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Entry {
    /// Its number, from 1.
    pub id: u64,
    /// When it was, in milliseconds since 1970.
    pub at_ms: i64,
    /// Who did it.
    pub who: String,
    /// What was done, such as `bot disable`.
    pub what: String,
    /// To whom or to what.
    pub about: String,
    /// Why, or how.
    pub why: String,
}

/// The most characters of a reason.
const LONGEST: usize = 1000;

/// Writes an entry, in the transaction of what it is about.
pub(super) fn note(db: &mut Db, by: &By<'_>, what: &str, about: &str, why: &str) -> Result<(), StoreError> {
    let id = db.next_id("audit")?;
    let why: String = why.chars().take(LONGEST).collect();
    let values = [id.into(), by.at_ms.into(), by.who.into(), what.into(), about.into(), (&why).into()];
    db.execute(
        "INSERT INTO audit (id, at_ms, who, what, about, why) VALUES ($1, $2, $3, $4, $5, $6)",
        &values,
    )?;
    Ok(())
}

impl Store {
    /// The entries of the log after that number, the oldest first, so many at most.
    ///
    /// # Errors
    /// The database fails.
    pub fn audit(&mut self, after: u64, most: u64) -> Result<Vec<Entry>, StoreError> {
        let sql = "SELECT id, at_ms, who, what, about, why FROM audit WHERE id > $1 ORDER BY id LIMIT $2";
        self.db.all(sql, &[after.into(), most.into()], |row| {
            Ok(Entry {
                id: row.count(0)?,
                at_ms: row.int(1)?,
                who: row.text(2)?.into(),
                what: row.text(3)?.into(),
                about: row.text(4)?.into(),
                why: row.text(5)?.into(),
            })
        })
    }

    /// The number of the latest entry. A server looks whether it has changed, to see what a command did.
    ///
    /// # Errors
    /// The database fails.
    pub fn revision(&mut self) -> Result<u64, StoreError> {
        let row = self.db.first("SELECT last FROM counter WHERE name = 'audit'", &[])?;
        row.ok_or_else(|| StoreError::corrupt("there is no counter `audit`"))?.count(0)
    }
}
