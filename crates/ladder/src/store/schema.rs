//! The tables, and how those of an older ladder become those of this one.

use super::db::{Database, Db};
use super::error::StoreError;

/// What makes each version of the tables of the one before. None is ever changed: a ladder may have it.
///
/// Numbers are counted up by `counter`, in the order in which things were committed. Times are milliseconds
/// since 1970; seeds, rules, records and conversations are kept as the protocol writes them.
const MIGRATIONS: [&str; 3] = [
    "
CREATE TABLE counter (name TEXT PRIMARY KEY, last BIGINT NOT NULL);
INSERT INTO counter (name, last) VALUES
    ('owner', 0), ('bot', 0), ('season', 0), ('pool', 0), ('encounter', 0), ('rated', 0), ('audit', 0);

-- link_hash is that of the link of invitation, until it was followed.
CREATE TABLE owner (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    link_hash TEXT UNIQUE,
    invited_ms BIGINT NOT NULL,
    joined_ms BIGINT
);

-- Who is logged in on the pages.
CREATE TABLE login (
    hash TEXT PRIMARY KEY,
    owner BIGINT NOT NULL REFERENCES owner (id),
    until_ms BIGINT NOT NULL
);

-- A house bot has no owner, and is played by the ladder itself: its player as JSON.
CREATE TABLE bot (
    id BIGINT PRIMARY KEY,
    owner BIGINT REFERENCES owner (id),
    name TEXT NOT NULL UNIQUE,
    house TEXT,
    token_hash TEXT UNIQUE,
    made_ms BIGINT NOT NULL,
    disabled_ms BIGINT,
    disabled_why TEXT,
    forfeits BIGINT NOT NULL DEFAULT 0,
    CHECK ((owner IS NULL) = (house IS NOT NULL))
);

-- What a bot called itself.
CREATE TABLE version (
    bot BIGINT NOT NULL REFERENCES bot (id),
    version TEXT NOT NULL,
    first_ms BIGINT NOT NULL,
    last_ms BIGINT NOT NULL,
    PRIMARY KEY (bot, version)
);

CREATE TABLE season (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, begun_ms BIGINT NOT NULL);

CREATE TABLE pool (
    id BIGINT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    terms TEXT NOT NULL,
    made_ms BIGINT NOT NULL,
    closed_ms BIGINT
);

CREATE TABLE anchor (
    pool BIGINT NOT NULL REFERENCES pool (id),
    bot BIGINT NOT NULL REFERENCES bot (id),
    elo DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (pool, bot)
);

-- rated says in which order encounters moved the ratings; null: it did not, or no longer does.
CREATE TABLE encounter (
    id BIGINT PRIMARY KEY,
    pool BIGINT NOT NULL REFERENCES pool (id),
    season BIGINT NOT NULL REFERENCES season (id),
    first_bot BIGINT NOT NULL REFERENCES bot (id),
    second_bot BIGINT NOT NULL REFERENCES bot (id),
    seed TEXT NOT NULL,
    opening TEXT NOT NULL,
    begun_ms BIGINT NOT NULL,
    rated BIGINT UNIQUE,
    rated_ms BIGINT,
    CHECK (first_bot <> second_bot)
);
CREATE INDEX encounter_pool ON encounter (pool, rated);
CREATE INDEX encounter_first ON encounter (first_bot);
CREATE INDEX encounter_second ON encounter (second_bot);

-- half_points are p1's: 2 for a win, 1 for a draw.
CREATE TABLE game (
    id BIGINT PRIMARY KEY,
    encounter BIGINT NOT NULL REFERENCES encounter (id),
    p1 BIGINT NOT NULL REFERENCES bot (id),
    p2 BIGINT NOT NULL REFERENCES bot (id),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'playing', 'over', 'void')),
    begun_ms BIGINT,
    ended_ms BIGINT,
    half_points BIGINT CHECK (half_points BETWEEN 0 AND 2),
    ended_by TEXT,
    forfeit_bot BIGINT,
    forfeit_kind TEXT,
    plies BIGINT,
    p1_version TEXT,
    p2_version TEXT,
    record TEXT,
    conversation TEXT,
    void_why TEXT,
    CHECK (state <> 'over' OR (half_points IS NOT NULL AND record IS NOT NULL))
);
CREATE INDEX game_encounter ON game (encounter);
CREATE INDEX game_p1 ON game (p1, id);
CREATE INDEX game_p2 ON game (p2, id);
CREATE INDEX game_open ON game (id) WHERE state IN ('waiting', 'playing');

-- What was played of games that are not over.
CREATE TABLE turn (
    game BIGINT NOT NULL REFERENCES game (id),
    number BIGINT NOT NULL,
    turn TEXT NOT NULL,
    PRIMARY KEY (game, number)
);

-- Where ratings are now; an anchor has neither deviation nor volatility.
CREATE TABLE rating (
    pool BIGINT NOT NULL REFERENCES pool (id),
    bot BIGINT NOT NULL REFERENCES bot (id),
    elo DOUBLE PRECISION NOT NULL,
    deviation DOUBLE PRECISION,
    volatility DOUBLE PRECISION,
    encounters BIGINT NOT NULL,
    last_ms BIGINT,
    PRIMARY KEY (pool, bot)
);

-- And what they were after each encounter.
CREATE TABLE step (
    encounter BIGINT NOT NULL REFERENCES encounter (id),
    bot BIGINT NOT NULL REFERENCES bot (id),
    elo DOUBLE PRECISION NOT NULL,
    deviation DOUBLE PRECISION,
    volatility DOUBLE PRECISION,
    PRIMARY KEY (encounter, bot)
);

CREATE TABLE audit (
    id BIGINT PRIMARY KEY,
    at_ms BIGINT NOT NULL,
    who TEXT NOT NULL,
    what TEXT NOT NULL,
    about TEXT NOT NULL,
    why TEXT NOT NULL
);
",
    "
-- Whether an owner may not log in, and why.
ALTER TABLE owner ADD COLUMN disabled_ms BIGINT;
ALTER TABLE owner ADD COLUMN disabled_why TEXT;
",
    "
-- For the list of a pool's games, the latest first.
CREATE INDEX encounter_of_pool ON encounter (pool, id);
",
];

/// The version of the tables that this ladder knows.
const LATEST: u64 = MIGRATIONS.len() as u64;

/// How many tables there are, and how many of them say which version they are of.
const SQLITE_TABLES: &str = "SELECT count(*), count(CASE name WHEN 'plyd_ladder' THEN 1 END)
    FROM sqlite_schema WHERE type = 'table'";
const POSTGRES_TABLES: &str = "SELECT count(*), count(CASE tablename WHEN 'plyd_ladder' THEN 1 END)
    FROM pg_catalog.pg_tables WHERE schemaname = current_schema()";

/// The version of the tables; 0: there are none.
fn version(db: &mut Db, database: &Database) -> Result<u64, StoreError> {
    let sql = match db {
        Db::Sqlite(_) => SQLITE_TABLES,
        Db::Postgres(_) => POSTGRES_TABLES,
    };
    let row = db.first(sql, &[])?.ok_or_else(|| StoreError::corrupt("a count gave no row"))?;
    match (row.count(0)?, row.count(1)?) {
        (0, _) => Ok(0),
        (_, 0) => Err(unusable(
            database,
            "it holds another program's tables: give the ladder a database of its own",
        )),
        _ => {
            let row = db.first("SELECT version FROM plyd_ladder", &[])?;
            let version = row.ok_or_else(|| StoreError::corrupt("plyd_ladder is empty"))?.count(0)?;
            match version {
                version if version > LATEST => {
                    Err(unusable(database, "a newer plyd made its tables: use that one"))
                }
                version => Ok(version),
            }
        }
    }
}

/// Makes the tables, or brings them up to date. Says which version they had; 0: there were none.
pub(super) fn migrate(db: &mut Db, database: &Database) -> Result<u64, StoreError> {
    db.write(|db| {
        let before = version(db, database)?;
        if before == 0 {
            db.batch(
                "CREATE TABLE plyd_ladder (version BIGINT NOT NULL); INSERT INTO plyd_ladder VALUES (0)",
            )?;
        }
        for migration in &MIGRATIONS[before as usize..] {
            db.batch(migration)?;
        }
        db.execute("UPDATE plyd_ladder SET version = $1", &[LATEST.into()])?;
        Ok(before)
    })
}

/// Whether the tables are those that this ladder knows.
pub(super) fn expect_latest(db: &mut Db, database: &Database) -> Result<(), StoreError> {
    match version(db, database)? {
        0 => Err(unusable(database, "there is no ladder in it; `plyd ladder init` makes one")),
        LATEST => Ok(()),
        _ => Err(unusable(
            database,
            "an older plyd made its tables; `plyd ladder init` brings them up to date",
        )),
    }
}

fn unusable(database: &Database, message: &str) -> StoreError {
    StoreError::Unusable { database: database.to_string(), message: message.into() }
}
