//! Owners, their bots, and the house's.

use plyd_protocol::Settings;
use serde::{Deserialize, Serialize};

use super::Store;
use super::audit::{By, note};
use super::db::Db;
use super::error::StoreError;
use super::names;
use super::row::{Row, json};
use super::secret::{Secret, hash};
use crate::{BotId, OwnerId};

/// The most bots that an owner has, so that a script cannot fill the ladder.
const BOTS: u64 = 50;
/// The most versions of a bot that are kept, the latest: a bot may name another one at each connection.
const VERSIONS: u64 = 100;
/// When a bot comes back within this time as what it was, that is not written again.
const NOTED_MS: i64 = 3600 * 1000;
/// Why a bot is disabled whose owner did it.
pub(crate) const BY_OWNER: &str = "its owner disabled it";
/// The most characters of a version.
const VERSION: usize = 100;

/// An owner of bots.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Account {
    /// Its number.
    pub id: OwnerId,
    /// Its name.
    pub name: String,
    /// When the latest link of invitation was made, in milliseconds since 1970.
    pub invited_ms: i64,
    /// When a link was followed first; none: not yet.
    pub joined_ms: Option<i64>,
    /// Whether the owner may neither log in nor let bots play, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<Disabled>,
}

/// How long a link of invitation works, in milliseconds.
pub const LINK_MS: i64 = 7 * 24 * 3600 * 1000;

/// A bot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Bot {
    /// Its number.
    pub id: BotId,
    /// Its name.
    pub name: String,
    /// Whose it is; none: the house's.
    pub owner: Option<OwnerId>,
    /// What plays, if it is a house bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub house: Option<House>,
    /// Whether it has a token to connect with.
    pub has_token: bool,
    /// When it was made, in milliseconds since 1970.
    pub made_ms: i64,
    /// Whether it may not play, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<Disabled>,
    /// How many games in a row it forfeited, up to now.
    pub forfeits: u64,
}

/// What plays as a house bot. Nothing of it changes, so that its rating means the same next year.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct House {
    /// The player's options, such as `level=3` or `player=random`.
    pub options: Settings,
    /// The nodes that it searches for each move, so that it is as strong on any hardware.
    pub nodes: u64,
    /// The build of plyd that it is pinned to.
    pub version: String,
}

/// Since when and why a bot may not play, or an owner not log in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Disabled {
    /// Since when, in milliseconds since 1970.
    pub at_ms: i64,
    /// Why, for its owner.
    pub why: String,
}

/// What a bot called itself, and when.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Version {
    /// The name and version of its program.
    pub version: String,
    /// When it was seen first, in milliseconds since 1970.
    pub first_ms: i64,
    /// When it was seen last.
    pub last_ms: i64,
}

const BOTS_SQL: &str =
    "SELECT id, name, owner, house, token_hash, made_ms, disabled_ms, disabled_why, forfeits
    FROM bot ORDER BY id";
const BOT_SQL: &str =
    "SELECT id, name, owner, house, token_hash, made_ms, disabled_ms, disabled_why, forfeits
    FROM bot WHERE id = $1";

impl Store {
    /// Invites an owner, or an owner who is there already once more: the text of the secret belongs into a
    /// link that works once, for so [long](LINK_MS). Links made before no longer work.
    ///
    /// # Errors
    /// The name is none, or the owner is disabled; the database fails.
    pub fn invite(&mut self, name: &str, by: &By<'_>) -> Result<Secret, StoreError> {
        names::check("owner", name)?;
        let secret = Secret::draw()?;
        let hash = hash(secret.text());
        self.db.write(|db| {
            let known = db.first("SELECT id FROM owner WHERE lower(name) = lower($1)", &[name.into()])?;
            match known {
                Some(row) => {
                    expect_enabled(db, OwnerId(row.count(0)?))?;
                    let values = [(&hash).into(), by.at_ms.into(), row.count(0)?.into()];
                    db.execute("UPDATE owner SET link_hash = $1, invited_ms = $2 WHERE id = $3", &values)?;
                }
                None => {
                    let id = new_owner(db, name, by.at_ms)?;
                    let values = [(&hash).into(), id.0.into()];
                    db.execute("UPDATE owner SET link_hash = $1 WHERE id = $2", &values)?;
                }
            }
            note(db, by, "invite", name, "")
        })?;
        Ok(secret)
    }

    /// Follows a link of invitation: logs its owner in until that time. The link is used up.
    ///
    /// # Errors
    /// The link is unknown, too old, or was followed before; the database fails.
    pub fn join(&mut self, link: &str, now_ms: i64, until_ms: i64) -> Result<(OwnerId, Secret), StoreError> {
        let login = Secret::draw()?;
        let login_hash = hash(login.text());
        let link_hash = hash(link);
        let owner = self.db.write(|db| {
            let sql = "SELECT id, name FROM owner WHERE link_hash = $1 AND invited_ms > $2";
            let row = db.first(sql, &[(&link_hash).into(), now_ms.saturating_sub(LINK_MS).into()])?;
            let row = row.ok_or_else(|| {
                StoreError::refused(
                    "this link does not work: each works once, within 7 days; ask whoever runs the ladder for a \
                     new one",
                )
            })?;
            let owner = row.count(0)?;
            let sql = "UPDATE owner SET link_hash = NULL, joined_ms = coalesce(joined_ms, $1) WHERE id = $2";
            db.execute(sql, &[now_ms.into(), owner.into()])?;
            db.execute("DELETE FROM login WHERE until_ms <= $1", &[now_ms.into()])?;
            let values = [(&login_hash).into(), owner.into(), until_ms.into()];
            db.execute("INSERT INTO login (hash, owner, until_ms) VALUES ($1, $2, $3)", &values)?;
            note(db, &By { who: row.text(1)?, at_ms: now_ms }, "join", row.text(1)?, "")?;
            Ok(OwnerId(owner))
        })?;
        Ok((owner, login))
    }

    /// Whose login that is, if it is one at that time.
    ///
    /// # Errors
    /// The database fails.
    pub fn login(&mut self, login: &str, now_ms: i64) -> Result<Option<Account>, StoreError> {
        let sql = "SELECT o.id, o.name, o.invited_ms, o.joined_ms, o.disabled_ms, o.disabled_why
             FROM login l JOIN owner o ON o.id = l.owner
             WHERE l.hash = $1 AND l.until_ms > $2 AND o.disabled_ms IS NULL";
        let row = self.db.first(sql, &[(&hash(login)).into(), now_ms.into()])?;
        row.map(|row| account(&row)).transpose()
    }

    /// Ends a login.
    ///
    /// # Errors
    /// The database fails.
    pub fn log_out(&mut self, login: &str) -> Result<(), StoreError> {
        let hash = hash(login);
        self.db.write(|db| db.execute("DELETE FROM login WHERE hash = $1", &[(&hash).into()]))?;
        Ok(())
    }

    /// All owners, the oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub fn accounts(&mut self) -> Result<Vec<Account>, StoreError> {
        let sql = "SELECT id, name, invited_ms, joined_ms, disabled_ms, disabled_why FROM owner ORDER BY id";
        self.db.all(sql, &[], account)
    }

    /// Registers a bot of an owner. It needs a [token](Self::new_token) to connect.
    ///
    /// # Errors
    /// The name is none or taken, or the owner has too many bots; the database fails.
    pub fn new_bot(&mut self, owner: OwnerId, name: &str, by: &By<'_>) -> Result<BotId, StoreError> {
        names::check("bot", name)?;
        self.db.write(|db| {
            expect_enabled(db, owner)?;
            let row = db.first("SELECT count(*) FROM bot WHERE owner = $1", &[owner.0.into()])?;
            if row.map(|row| row.count(0)).transpose()?.is_some_and(|count| count >= BOTS) {
                return Err(StoreError::refused(format!(
                    "an owner has {BOTS} bots at most: give one of them a new token instead"
                )));
            }
            let id = new_bot(db, name, Some(owner), None, by.at_ms)?;
            note(db, by, "bot new", name, "")?;
            Ok(id)
        })
    }

    /// Registers a house bot. It plays in the pools that it is an anchor of.
    ///
    /// # Errors
    /// The name is none or taken; the database fails.
    pub fn new_house_bot(&mut self, name: &str, house: &House, by: &By<'_>) -> Result<BotId, StoreError> {
        self.db.write(|db| new_house_bot(db, name, house, by))
    }

    /// Makes a token for a bot. The one before no longer works.
    ///
    /// # Errors
    /// The bot is a house bot or is not there; the database fails.
    pub fn new_token(&mut self, bot: BotId, by: &By<'_>) -> Result<Secret, StoreError> {
        let token = Secret::draw()?;
        let hash = hash(token.text());
        self.db.write(|db| {
            let bot = expect(db, bot)?;
            if bot.owner.is_none() {
                return Err(StoreError::refused(format!(
                    "{} is a house bot, which the ladder plays itself: it needs no token",
                    bot.name
                )));
            }
            db.execute("UPDATE bot SET token_hash = $1 WHERE id = $2", &[(&hash).into(), bot.id.0.into()])?;
            note(db, by, "bot token", &bot.name, "")
        })?;
        Ok(token)
    }

    /// The bot with that token, disabled or not.
    ///
    /// # Errors
    /// The database fails.
    pub fn bot_with_token(&mut self, token: &str) -> Result<Option<Bot>, StoreError> {
        let row = self.db.first("SELECT id FROM bot WHERE token_hash = $1", &[(&hash(token)).into()])?;
        row.map(|row| self.bot(BotId(row.count(0)?))).transpose()
    }

    /// A bot by its number.
    ///
    /// # Errors
    /// There is none; the database fails.
    pub fn bot(&mut self, id: BotId) -> Result<Bot, StoreError> {
        expect(&mut self.db, id)
    }

    /// A bot by its name.
    ///
    /// # Errors
    /// There is none; the database fails.
    pub fn bot_named(&mut self, name: &str) -> Result<Bot, StoreError> {
        self.db.read(|db| {
            let id = found(db, name)?;
            expect(db, id)
        })
    }

    /// All bots, the oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub fn bots(&mut self) -> Result<Vec<Bot>, StoreError> {
        self.db.all(BOTS_SQL, &[], bot)
    }

    /// Takes from a bot that it may play, and keeps why.
    ///
    /// # Errors
    /// There is no such bot; the database fails.
    pub fn disable(&mut self, name: &str, why: &str, by: &By<'_>) -> Result<(), StoreError> {
        self.db.write(|db| {
            let id = found(db, name)?;
            disable(db, id, why, by)
        })
    }

    /// Lets a bot play again, and forgets its forfeits in a row.
    ///
    /// # Errors
    /// There is no such bot, or its owner is disabled; the database fails.
    pub fn enable(&mut self, name: &str, why: &str, by: &By<'_>) -> Result<(), StoreError> {
        self.db.write(|db| {
            let id = found(db, name)?;
            if let Some(owner) = expect(db, id)?.owner {
                expect_enabled(db, owner)?;
            }
            enable(db, id, why, by)
        })
    }

    /// Takes from a bot that it may play, because its owner wants that. Why it was disabled before stays.
    ///
    /// # Errors
    /// There is no such bot; the database fails.
    pub fn disable_by_owner(&mut self, bot: BotId, by: &By<'_>) -> Result<(), StoreError> {
        self.db.write(|db| match expect(db, bot)?.disabled {
            Some(_) => Ok(()),
            None => disable(db, bot, BY_OWNER, by),
        })
    }

    /// Lets a bot play again that its owner disabled, and says whether it may play now. Its forfeits in a row
    /// stay: a game that it plays soundly ends them.
    ///
    /// # Errors
    /// There is no such bot, or its owner is disabled; the database fails.
    pub fn enable_by_owner(&mut self, bot: BotId, by: &By<'_>) -> Result<bool, StoreError> {
        self.db.write(|db| {
            let bot = expect(db, bot)?;
            let Some(disabled) = bot.disabled else { return Ok(true) };
            if disabled.why != BY_OWNER {
                return Ok(false);
            }
            if let Some(owner) = bot.owner {
                expect_enabled(db, owner)?;
            }
            let sql = "UPDATE bot SET disabled_ms = NULL, disabled_why = NULL WHERE id = $1";
            db.execute(sql, &[bot.id.0.into()])?;
            note(db, by, "bot enable", &bot.name, BY_OWNER)?;
            Ok(true)
        })
    }

    /// Notes what a bot calls itself, unless it called itself that within the last hour.
    ///
    /// # Errors
    /// The database fails.
    pub fn note_version(&mut self, bot: BotId, version: &str, now_ms: i64) -> Result<(), StoreError> {
        let version = bounded(version);
        let sql =
            "SELECT version, last_ms FROM version WHERE bot = $1 ORDER BY last_ms DESC, version LIMIT 1";
        if let Some(row) = self.db.first(sql, &[bot.0.into()])?
            && row.text(0)? == version
            && (row.int(1)?..row.int(1)?.saturating_add(NOTED_MS)).contains(&now_ms)
        {
            return Ok(());
        }
        self.db.write(|db| note_version(db, bot, &version, now_ms))
    }

    /// What a bot called itself, the latest first.
    ///
    /// # Errors
    /// The database fails.
    pub fn versions(&mut self, bot: BotId) -> Result<Vec<Version>, StoreError> {
        let sql =
            "SELECT version, first_ms, last_ms FROM version WHERE bot = $1 ORDER BY last_ms DESC, version";
        self.db.all(sql, &[bot.0.into()], |row| {
            Ok(Version { version: row.text(0)?.into(), first_ms: row.int(1)?, last_ms: row.int(2)? })
        })
    }
}

pub(super) fn account(row: &Row) -> Result<Account, StoreError> {
    Ok(Account {
        id: OwnerId(row.count(0)?),
        name: row.text(1)?.into(),
        invited_ms: row.int(2)?,
        joined_ms: row.maybe_int(3)?,
        disabled: disabled(row, 4)?,
    })
}

/// Since when and why something is disabled: two columns from that one on.
fn disabled(row: &Row, at: usize) -> Result<Option<Disabled>, StoreError> {
    let Some(at_ms) = row.maybe_int(at)? else { return Ok(None) };
    Ok(Some(Disabled { at_ms, why: row.maybe_text(at + 1)?.unwrap_or_default().into() }))
}

fn bot(row: &Row) -> Result<Bot, StoreError> {
    Ok(Bot {
        id: BotId(row.count(0)?),
        name: row.text(1)?.into(),
        owner: row.maybe_count(2)?.map(OwnerId),
        house: row.maybe_text(3)?.map(|_| row.json(3)).transpose()?,
        has_token: row.maybe_text(4)?.is_some(),
        made_ms: row.int(5)?,
        disabled: disabled(row, 6)?,
        forfeits: row.count(8)?,
    })
}

pub(super) fn expect(db: &mut Db, id: BotId) -> Result<Bot, StoreError> {
    let row = db.first(BOT_SQL, &[id.0.into()])?;
    bot(&row.ok_or_else(|| StoreError::refused(format!("there is no bot with the number {id}")))?)
}

pub(super) fn all(db: &mut Db) -> Result<Vec<Bot>, StoreError> {
    db.all(BOTS_SQL, &[], bot)
}

/// The bot of that name.
pub(super) fn found(db: &mut Db, name: &str) -> Result<BotId, StoreError> {
    let row = db.first("SELECT id FROM bot WHERE lower(name) = lower($1)", &[name.into()])?;
    let row = row.ok_or_else(|| {
        StoreError::refused(format!("there is no bot {name}; `plyd ladder bot list` lists them"))
    })?;
    Ok(BotId(row.count(0)?))
}

pub(super) fn new_owner(db: &mut Db, name: &str, now_ms: i64) -> Result<OwnerId, StoreError> {
    let id = OwnerId(db.next_id("owner")?);
    let values = [id.0.into(), name.into(), now_ms.into()];
    db.execute("INSERT INTO owner (id, name, invited_ms) VALUES ($1, $2, $3)", &values)?;
    Ok(id)
}

pub(super) fn new_house_bot(
    db: &mut Db,
    name: &str,
    house: &House,
    by: &By<'_>,
) -> Result<BotId, StoreError> {
    names::check("bot", name)?;
    if house.nodes == 0 {
        return Err(StoreError::refused("a house bot searches nodes: give at least 1"));
    }
    let id = new_bot(db, name, None, Some(house), by.at_ms)?;
    note(db, by, "house add", name, &json(house))?;
    Ok(id)
}

fn new_bot(
    db: &mut Db,
    name: &str,
    owner: Option<OwnerId>,
    house: Option<&House>,
    now_ms: i64,
) -> Result<BotId, StoreError> {
    if db.first("SELECT id FROM bot WHERE lower(name) = lower($1)", &[name.into()])?.is_some() {
        return Err(StoreError::refused(format!(
            "there is a bot {name} already: give another name, or make it a new token (plyd ladder bot token {name})"
        )));
    }
    let id = BotId(db.next_id("bot")?);
    insert_bot(db, id, name, owner, house, now_ms)?;
    Ok(id)
}

pub(super) fn insert_bot(
    db: &mut Db,
    id: BotId,
    name: &str,
    owner: Option<OwnerId>,
    house: Option<&House>,
    now_ms: i64,
) -> Result<(), StoreError> {
    let house = house.map(json);
    let owner = owner.map(|owner| owner.0);
    let values = [id.0.into(), name.into(), owner.into(), house.as_ref().into(), now_ms.into()];
    db.execute("INSERT INTO bot (id, name, owner, house, made_ms) VALUES ($1, $2, $3, $4, $5)", &values)?;
    Ok(())
}

pub(super) fn disable(db: &mut Db, id: BotId, why: &str, by: &By<'_>) -> Result<(), StoreError> {
    let bot = expect(db, id)?;
    let sql = "UPDATE bot SET disabled_ms = $1, disabled_why = $2 WHERE id = $3";
    db.execute(sql, &[by.at_ms.into(), why.into(), id.0.into()])?;
    note(db, by, "bot disable", &bot.name, why)
}

pub(super) fn enable(db: &mut Db, id: BotId, why: &str, by: &By<'_>) -> Result<(), StoreError> {
    let sql = "UPDATE bot SET disabled_ms = NULL, disabled_why = NULL, forfeits = 0 WHERE id = $1";
    db.execute(sql, &[id.0.into()])?;
    let bot = expect(db, id)?;
    note(db, by, "bot enable", &bot.name, why)
}

pub(super) fn note_version(db: &mut Db, bot: BotId, version: &str, now_ms: i64) -> Result<(), StoreError> {
    let version = bounded(version);
    db.execute(
        "INSERT INTO version (bot, version, first_ms, last_ms) VALUES ($1, $2, $3, $3)
         ON CONFLICT (bot, version) DO UPDATE SET last_ms = excluded.last_ms",
        &[bot.0.into(), (&version).into(), now_ms.into()],
    )?;
    db.execute(
        "DELETE FROM version WHERE bot = $1 AND version NOT IN
             (SELECT version FROM version WHERE bot = $1 ORDER BY last_ms DESC, version LIMIT $2)",
        &[bot.0.into(), VERSIONS.into()],
    )?;
    Ok(())
}

fn bounded(version: &str) -> String {
    version.chars().take(VERSION).collect()
}

/// Refuses what an owner who is disabled may not.
pub(super) fn expect_enabled(db: &mut Db, owner: OwnerId) -> Result<(), StoreError> {
    let sql = "SELECT name, disabled_why FROM owner WHERE id = $1 AND disabled_ms IS NOT NULL";
    let Some(row) = db.first(sql, &[owner.0.into()])? else { return Ok(()) };
    let (name, why) = (row.text(0)?, row.maybe_text(1)?.unwrap_or_default());
    Err(StoreError::refused(format!("the owner {name} is disabled: {why}")))
}
