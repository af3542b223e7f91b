//! Owners who may no longer take part.

use super::Store;
use super::accounts::{self, Account, Bot};
use super::audit::{By, note};
use super::db::Db;
use super::error::StoreError;
use crate::OwnerId;

impl Store {
    /// Ends an owner's logins and link of invitation, and takes from the owner's bots that they may play.
    ///
    /// # Errors
    /// There is no such owner, or the owner is disabled already; the database fails.
    pub fn disable_owner(&mut self, name: &str, why: &str, by: &By<'_>) -> Result<(), StoreError> {
        self.db.write(|db| {
            let owner = found(db, name)?;
            accounts::expect_enabled(db, owner.id)?;
            let values = [by.at_ms.into(), why.into(), owner.id.0.into()];
            let sql = "UPDATE owner SET disabled_ms = $1, disabled_why = $2, link_hash = NULL WHERE id = $3";
            db.execute(sql, &values)?;
            db.execute("DELETE FROM login WHERE owner = $1", &[owner.id.0.into()])?;
            for bot in bots(db, owner.id)?.into_iter().filter(|bot| bot.disabled.is_none()) {
                accounts::disable(db, bot.id, &of_bot(why), by)?;
            }
            note(db, by, "owner disable", &owner.name, why)
        })
    }

    /// Lets an owner be invited again, and the bots play that were disabled with the owner.
    ///
    /// # Errors
    /// There is no such owner, or the owner is not disabled; the database fails.
    pub fn enable_owner(&mut self, name: &str, why: &str, by: &By<'_>) -> Result<(), StoreError> {
        self.db.write(|db| {
            let owner = found(db, name)?;
            let Some(disabled) = owner.disabled else {
                return Err(StoreError::refused(format!("the owner {} is not disabled", owner.name)));
            };
            let sql = "UPDATE owner SET disabled_ms = NULL, disabled_why = NULL WHERE id = $1";
            db.execute(sql, &[owner.id.0.into()])?;
            let of_bot = of_bot(&disabled.why);
            for bot in bots(db, owner.id)? {
                let with_owner =
                    bot.disabled.is_some_and(|own| own.at_ms == disabled.at_ms && own.why == of_bot);
                if with_owner {
                    accounts::enable(db, bot.id, why, by)?;
                }
            }
            note(db, by, "owner enable", &owner.name, why)
        })
    }
}

/// Why the bots of an owner are disabled who is.
fn of_bot(why: &str) -> String {
    format!("its owner is disabled: {why}")
}

fn found(db: &mut Db, name: &str) -> Result<Account, StoreError> {
    let sql = "SELECT id, name, invited_ms, joined_ms, disabled_ms, disabled_why FROM owner
        WHERE lower(name) = lower($1)";
    let row = db.first(sql, &[name.into()])?;
    let nobody =
        || StoreError::refused(format!("there is no owner {name}; `plyd ladder owner list` lists them"));
    accounts::account(&row.ok_or_else(nobody)?)
}

fn bots(db: &mut Db, owner: OwnerId) -> Result<Vec<Bot>, StoreError> {
    let bots = accounts::all(db)?;
    Ok(bots.into_iter().filter(|bot| bot.owner == Some(owner)).collect())
}
