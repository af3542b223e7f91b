//! What bots and the ladder said in games.

use plyd_protocol::Player;
use serde::{Deserialize, Serialize};

use super::Store;
use super::audit::{By, note};
use super::error::StoreError;
use super::row::Row;
use crate::GameId;
use crate::game::Line;

/// The logs of a game, as they are kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Logs {
    /// Those of p1 and of p2.
    Both([Vec<Line>; 2]),
    /// That of the bot that forfeited the game: older ladders kept no more.
    Forfeiter(Vec<Line>),
}

impl Default for Logs {
    fn default() -> Self {
        Self::Both([const { Vec::new() }; 2])
    }
}

impl Logs {
    /// Those of p1 and p2 within their bounds.
    pub(super) fn bounded(&self) -> Self {
        match self {
            Self::Both(logs) => Self::Both(logs.each_ref().map(|log| Line::bounded(log))),
            Self::Forfeiter(log) => Self::Forfeiter(Line::bounded(log)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Both(logs) => logs.iter().all(Vec::is_empty),
            Self::Forfeiter(log) => log.is_empty(),
        }
    }

    /// That of a player; the other one may have forfeited the game.
    fn of(self, player: Player, forfeit: Option<Player>) -> Vec<Line> {
        match (self, player) {
            (Self::Both([log, _]), Player::P1) | (Self::Both([_, log]), Player::P2) => log,
            (Self::Forfeiter(log), _) if forfeit == Some(player) => log,
            (Self::Forfeiter(_), _) => Vec::new(),
        }
    }
}

impl Store {
    /// What the ladder and the bot that forfeited a game said before; empty if nobody did.
    ///
    /// # Errors
    /// The database fails.
    pub fn conversation(&mut self, id: GameId) -> Result<Vec<Line>, StoreError> {
        let found = self.logs(id)?;
        Ok(found.and_then(|(logs, forfeit)| Some(logs.of(forfeit?, forfeit))).unwrap_or_default())
    }

    /// What the ladder and a player said in a game that ended, within the bounds of [`Line`]; empty if
    /// nothing of it is kept, or the house played.
    ///
    /// # Errors
    /// The database fails.
    pub fn log(&mut self, id: GameId, player: Player) -> Result<Vec<Line>, StoreError> {
        let found = self.logs(id)?;
        Ok(found.map(|(logs, forfeit)| logs.of(player, forfeit)).unwrap_or_default())
    }

    /// Drops the logs of the games that ended before that time, in milliseconds since 1970; their records and
    /// results stay. Says of how many games.
    ///
    /// # Errors
    /// The database fails.
    pub fn drop_logs(&mut self, before_ms: i64, by: &By<'_>) -> Result<u64, StoreError> {
        self.db.write(|db| {
            let sql = "UPDATE game SET conversation = NULL WHERE conversation IS NOT NULL AND ended_ms < $1";
            let dropped = db.execute(sql, &[before_ms.into()])?;
            if dropped > 0 {
                let why = format!("the logs of {dropped} games that ended before {before_ms} ms");
                note(db, by, "games drop-logs", "", &why)?;
            }
            Ok(dropped)
        })
    }

    /// The logs of a game, and who forfeited it.
    fn logs(&mut self, id: GameId) -> Result<Option<(Logs, Option<Player>)>, StoreError> {
        let sql = "SELECT conversation, forfeit_bot, p1 FROM game WHERE id = $1 AND conversation IS NOT NULL";
        let row = self.db.first(sql, &[id.0.into()])?;
        row.map(|row| Ok((read(&row, 0)?, forfeit(&row)?))).transpose()
    }
}

/// The logs in a column; none: they are empty.
pub(super) fn read(row: &Row, at: usize) -> Result<Logs, StoreError> {
    Ok(row.maybe_text(at)?.map(|_| row.json(at)).transpose()?.unwrap_or_default())
}

fn forfeit(row: &Row) -> Result<Option<Player>, StoreError> {
    let (by, p1) = (row.maybe_count(1)?, row.count(2)?);
    Ok(by.map(|by| if by == p1 { Player::P1 } else { Player::P2 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Speaker;

    #[test]
    fn logs_of_older_ladders_are_those_of_the_bot_that_forfeited() {
        let line = |at_ms| Line { by: Speaker::Bot, at_ms, text: "x".into() };
        let old = serde_json::to_string(&[line(1), line(2)]).unwrap();
        let logs: Logs = serde_json::from_str(&old).unwrap();
        assert_eq!(serde_json::to_string(&logs).unwrap(), old);
        for (player, forfeit, lines) in [
            (Player::P1, Some(Player::P1), 2),
            (Player::P2, Some(Player::P1), 0),
            (Player::P2, Some(Player::P2), 2),
            (Player::P1, None, 0),
        ] {
            assert_eq!(logs.clone().of(player, forfeit).len(), lines, "{player:?} {forfeit:?}");
        }
        for both in [[vec![line(1)], vec![]], [vec![], vec![line(1), line(2)]], [vec![], vec![]]] {
            let logs = Logs::Both(both.clone());
            let again: Logs = serde_json::from_str(&serde_json::to_string(&logs).unwrap()).unwrap();
            assert_eq!(again, logs);
            assert_eq!(again.is_empty(), both.concat().is_empty());
            for (player, own) in [Player::P1, Player::P2].into_iter().zip(both) {
                assert_eq!(logs.clone().of(player, None), own);
            }
        }
    }
}
