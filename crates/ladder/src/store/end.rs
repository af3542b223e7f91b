//! The ends of games, and games that shall not count.

use std::collections::BTreeSet;

use plyd_arena::PlayedGame;
use plyd_protocol::Player;

use super::Store;
use super::accounts;
use super::audit::{By, LADDER, note};
use super::db::Db;
use super::error::StoreError;
use super::games;
use super::logs::Logs;
use super::rated::{self, Counted};
use super::row::json;
use crate::game::{GameEnd, OpenGame};
use crate::ratings::glicko::Standing;
use crate::{BotId, EncounterId, GameId, PoolId};

/// So many games that a bot forfeits one after the other disable it. A game that it neither forfeits nor
/// answers in ends no such row.
pub const FORFEITS_IN_A_ROW: u64 = 5;

/// What the end of a game changed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ended {
    /// Whether it was counted now. Otherwise it was over or void before, and nothing changed.
    pub counted: bool,
    /// The second game of the encounter, which begins now, or did so when the same end was kept before.
    pub next: Option<OpenGame>,
    /// What is known of the first and the second bot of the encounter now, if it moved their ratings.
    pub standings: Option<[Standing; 2]>,
    /// The bot that was disabled by this end, and why.
    pub disabled: Option<(BotId, String)>,
}

impl Store {
    /// Ends a game, in one transaction with all that its end changes. It is kept when this returns. A game
    /// that does not count becomes void, with the reason; nothing else is kept of it.
    ///
    /// # Errors
    /// It is not the record of that game; the database fails. If the [connection was
    /// lost](StoreError::is_lost), ask again: a game that was counted is not counted twice, and what follows
    /// is answered again.
    pub fn end_game(&mut self, end: &GameEnd, now_ms: i64) -> Result<Ended, StoreError> {
        self.db.write(|db| end_game(db, end, now_ms))
    }

    /// Takes a game out of all counts, whether it is over or goes on, and computes the ratings anew without
    /// its encounter; the record is kept. If the second game of the encounter has not begun, it never does.
    /// Says whether the game was not void before.
    ///
    /// # Errors
    /// There is no such game; the database fails.
    pub fn void_game(&mut self, game: GameId, why: &str, by: &By<'_>) -> Result<bool, StoreError> {
        self.void_games(&[game], why, by).map(|voided| voided == 1)
    }

    /// Takes games out of all counts, as [`void_game`](Self::void_game); says how many were not void before.
    ///
    /// # Errors
    /// One of the games is not there, and none becomes void; the database fails.
    pub fn void_games(&mut self, games: &[GameId], why: &str, by: &By<'_>) -> Result<u64, StoreError> {
        self.db.write(|db| {
            let (mut voided, mut pools) = (0, BTreeSet::new());
            for game in games {
                if void(db, *game, why, by, &mut pools)? {
                    voided += 1;
                    note(db, by, "games void", &game.to_string(), why)?;
                }
            }
            for pool in pools {
                rated::compute(db, pool)?;
            }
            Ok(voided)
        })
    }
}

fn end_game(db: &mut Db, end: &GameEnd, now_ms: i64) -> Result<Ended, StoreError> {
    let (id, played) = (end.id(), &end.played);
    if let Some(why) = &end.void {
        return void_end(db, id, why, now_ms);
    }
    let encounter = expect_record(db, played)?;
    let result = played.record.result.as_ref();
    let forfeit = played.forfeit.as_ref();
    let by = forfeit.map(|forfeit| bot(played, forfeit.player));
    let logs = Logs::Both(end.conversations.clone()).bounded();
    let (record, conversation) = (json(played), json(&logs));
    let changed = db.execute(
        "UPDATE game SET state = 'over', ended_ms = $2, half_points = $3, ended_by = $4, forfeit_bot = $5,
             forfeit_kind = $6, plies = $7, p1_version = $8, p2_version = $9, record = $10, conversation = $11
         WHERE id = $1 AND state = 'playing'",
        &[
            id.0.into(),
            now_ms.into(),
            (played.half_points(played.players[0].index) as u64).into(),
            result.map(|result| &result.by).into(),
            by.map(|bot| bot.0).into(),
            forfeit.map(|forfeit| forfeit.reason.kind.name()).into(),
            (played.record.moves.len() as u64).into(),
            played.players[0].build.as_ref().into(),
            played.players[1].build.as_ref().into(),
            (&record).into(),
            if logs.is_empty() { None } else { Some(&conversation) }.into(),
        ],
    )?;
    if changed == 0 {
        // The answer may have been lost with the connection: what follows is given again.
        let sql = "SELECT 1 FROM game WHERE id = $1 AND state = 'over'";
        let is_over = db.first(sql, &[id.0.into()])?.is_some();
        let next = if is_over && !id.is_second() { games::open(db, id.partner())? } else { None };
        return Ok(Ended { next, ..Ended::default() });
    }
    db.execute("DELETE FROM turn WHERE game = $1", &[id.0.into()])?;
    for entrant in &played.players {
        if let Some(version) = &entrant.build {
            accounts::note_version(db, BotId(entrant.index as u64), version, now_ms)?;
        }
    }
    let mut ended = Ended { counted: true, ..Ended::default() };
    for player in [Player::P1, Player::P2] {
        let bot = bot(played, player);
        if by == Some(bot) {
            ended.disabled = forfeited(db, bot, id, now_ms)?;
        } else if played.answers.iter().any(|answered| answered.player == player) {
            // One that was asked for nothing showed nothing: two mute bots would keep each other enabled.
            db.execute("UPDATE bot SET forfeits = 0 WHERE id = $1 AND forfeits > 0", &[bot.0.into()])?;
        }
    }
    if id.is_second() {
        ended.standings = count(db, encounter, now_ms)?;
    } else {
        let sql = "UPDATE game SET state = 'playing', begun_ms = $2 WHERE id = $1 AND state = 'waiting'";
        db.execute(sql, &[id.partner().0.into(), now_ms.into()])?;
        ended.next = games::open(db, id.partner())?;
    }
    Ok(ended)
}

/// Ends a game that does not count.
fn void_end(db: &mut Db, id: GameId, why: &str, now_ms: i64) -> Result<Ended, StoreError> {
    let is_played = db.first("SELECT 1 FROM game WHERE id = $1 AND state = 'playing'", &[id.0.into()])?;
    if is_played.is_none() {
        return Ok(Ended::default());
    }
    let by = By { who: LADDER, at_ms: now_ms };
    // None moved the ratings: it was not over.
    let counted = void(db, id, why, &by, &mut BTreeSet::new())?;
    note(db, &by, "games void", &id.to_string(), why)?;
    Ok(Ended { counted, ..Ended::default() })
}

/// The encounter of a record, if it is a record of a game of the ladder.
fn expect_record(db: &mut Db, played: &PlayedGame) -> Result<EncounterId, StoreError> {
    let id = GameId(played.number as u64);
    let refused = |what: &str| Err(StoreError::refused(format!("the record of game {id} {what}")));
    let sql = "SELECT g.encounter, g.p1, g.p2, e.seed FROM game g JOIN encounter e ON e.id = g.encounter
        WHERE g.id = $1";
    let Some(row) = db.first(sql, &[id.0.into()])? else {
        return Err(StoreError::refused(format!("there is no game {id}")));
    };
    if played.players.each_ref().map(|player| player.index as u64) != [row.count(1)?, row.count(2)?] {
        return refused("names other players");
    }
    if played.seed != games::seed(row.text(3)?)? {
        return refused("has another seed");
    }
    if played.record.result.is_none() {
        return refused("has no result");
    }
    Ok(EncounterId(row.count(0)?))
}

/// Who plays a side.
fn bot(played: &PlayedGame, player: Player) -> BotId {
    BotId(played.entrant(player).index as u64)
}

/// Counts a forfeit, and disables a bot that forfeits one game after the other.
fn forfeited(
    db: &mut Db,
    bot: BotId,
    game: GameId,
    now_ms: i64,
) -> Result<Option<(BotId, String)>, StoreError> {
    db.execute("UPDATE bot SET forfeits = forfeits + 1 WHERE id = $1", &[bot.0.into()])?;
    let known = accounts::expect(db, bot)?;
    // The house's own faults are the ladder's to mend.
    if known.forfeits < FORFEITS_IN_A_ROW || known.disabled.is_some() || known.owner.is_none() {
        return Ok(None);
    }
    let why = format!(
        "it forfeited {} games in a row, the last one was game {game}: see what it and the ladder said there, \
         mend it, and ask whoever runs the ladder to enable it",
        known.forfeits
    );
    accounts::disable(db, bot, &why, &By { who: LADDER, at_ms: now_ms })?;
    Ok(Some((bot, why)))
}

/// Lets an encounter whose second game just ended move the ratings, unless the first one is void.
fn count(db: &mut Db, id: EncounterId, now_ms: i64) -> Result<Option<[Standing; 2]>, StoreError> {
    let sql = "SELECT e.pool, e.first_bot, e.second_bot, a.half_points, b.half_points
        FROM encounter e JOIN game a ON a.id = 2 * e.id - 1 JOIN game b ON b.id = 2 * e.id
        WHERE e.id = $1 AND a.state = 'over' AND b.state = 'over'";
    let Some(row) = db.first(sql, &[id.0.into()])? else { return Ok(None) };
    let rated = db.next_id("rated")?;
    let values = [rated.into(), now_ms.into(), id.0.into()];
    db.execute("UPDATE encounter SET rated = $1, rated_ms = $2 WHERE id = $3", &values)?;
    let counted = Counted {
        id,
        players: [BotId(row.count(1)?), BotId(row.count(2)?)],
        half_points: (row.count(3)? + 2 - row.count(4)?) as usize,
        at_ms: now_ms,
    };
    rated::add(db, PoolId(row.count(0)?), &counted).map(Some)
}

/// Makes a game void, and notes the pool if its ratings are to be computed anew.
fn void(
    db: &mut Db,
    id: GameId,
    why: &str,
    by: &By<'_>,
    pools: &mut BTreeSet<PoolId>,
) -> Result<bool, StoreError> {
    let sql =
        "SELECT g.state, e.pool, e.rated FROM game g JOIN encounter e ON e.id = g.encounter WHERE g.id = $1";
    let row = db.first(sql, &[id.0.into()])?;
    let row = row.ok_or_else(|| StoreError::refused(format!("there is no game {id}")))?;
    if row.text(0)? == "void" {
        return Ok(false);
    }
    let sql =
        "UPDATE game SET state = 'void', void_why = $2, ended_ms = coalesce(ended_ms, $3) WHERE id = $1";
    db.execute(sql, &[id.0.into(), why.into(), by.at_ms.into()])?;
    db.execute("DELETE FROM turn WHERE game = $1", &[id.0.into()])?;
    let partner = "the first game of its pair is void";
    let sql =
        "UPDATE game SET state = 'void', void_why = $2, ended_ms = $3 WHERE id = $1 AND state = 'waiting'";
    db.execute(sql, &[id.partner().0.into(), partner.into(), by.at_ms.into()])?;
    if row.maybe_int(2)?.is_some() {
        let sql = "UPDATE encounter SET rated = NULL, rated_ms = NULL WHERE id = $1";
        db.execute(sql, &[id.encounter().0.into()])?;
        pools.insert(PoolId(row.count(1)?));
    }
    Ok(true)
}
