//! Games between calls: bounded in number, and forgotten when nobody asks for them.
//!
//! A game is known by a name that nobody can guess, so that agents which share a server do not meet by
//! chance.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plyd_protocol::{ErrorCode, Settings};
use serde_json::{Value, json};

use crate::bounds::Bounds;
use crate::error::{ToolError, internal};

/// When a full server is asked again.
const RETRY_MS: u64 = 60_000;

/// A game so far.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Game {
    pub(crate) name: String,
    /// The rules in force, all of them.
    pub(crate) rules: Settings,
    /// The position's text at the start.
    pub(crate) start: String,
    pub(crate) moves: Vec<String>,
}

impl Game {
    /// A request about the game after some further moves.
    pub(crate) fn request(&self, cmd: &str, more: &[String]) -> Value {
        let moves: Vec<&String> = self.moves.iter().chain(more).collect();
        json!({
            "cmd": cmd, "game": self.name, "rules": self.rules,
            "position": { "start": self.start, "moves": moves },
        })
    }
}

struct Kept {
    game: Game,
    asked: Instant,
}

/// All of them.
pub(crate) struct Games {
    most: usize,
    idle: Duration,
    kept: Mutex<BTreeMap<String, Kept>>,
}

impl Games {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self { most: bounds.games, idle: bounds.idle, kept: Mutex::default() }
    }

    /// Those that are not forgotten.
    fn alive(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, game| game.asked.elapsed() < self.idle);
        kept
    }

    /// Keeps a new game; returns its name.
    ///
    /// # Errors
    /// There are too many.
    pub(crate) fn add(&self, game: Game) -> Result<String, ToolError> {
        let mut kept = self.alive();
        if kept.len() >= self.most {
            let message = format!("{} games are kept, which is the most: end one with end_game", self.most);
            return Err(ToolError::new(ErrorCode::TooManySessions, message).retry(RETRY_MS));
        }
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| internal(error.to_string()))?;
        let id = bytes.iter().fold("g".to_owned(), |id, byte| format!("{id}{byte:02x}"));
        kept.insert(id.clone(), Kept { game, asked: Instant::now() });
        Ok(id)
    }

    /// The game of that name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn get(&self, id: &str) -> Result<Game, ToolError> {
        let mut kept = self.alive();
        let found = kept.get_mut(id).ok_or_else(|| unknown(id))?;
        found.asked = Instant::now();
        Ok(found.game.clone())
    }

    /// Adds plies to a game that had these before.
    ///
    /// # Errors
    /// There is no such game, or somebody else has moved meanwhile.
    pub(crate) fn extend(&self, id: &str, before: &Game, plies: Vec<String>) -> Result<(), ToolError> {
        let mut kept = self.alive();
        let found = kept.get_mut(id).ok_or_else(|| unknown(id))?;
        if found.game != *before {
            let message = "the game has changed meanwhile: another call has moved";
            return Err(ToolError::new(ErrorCode::SessionBusy, message).at("/game_id"));
        }
        found.asked = Instant::now();
        found.game.moves.extend(plies);
        Ok(())
    }

    /// Forgets a game.
    ///
    /// # Errors
    /// There is none of that name.
    pub(crate) fn remove(&self, id: &str) -> Result<(), ToolError> {
        self.alive().remove(id).map(|_| ()).ok_or_else(|| unknown(id))
    }
}

fn unknown(id: &str) -> ToolError {
    let message = format!("there is no game `{}`: new_game begins one", plyd_protocol::echo(id));
    ToolError::new(ErrorCode::SessionUnknown, message).at("/game_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game() -> Game {
        Game { name: "nim".into(), rules: Settings::new(), start: "21 1".into(), moves: Vec::new() }
    }

    #[test]
    fn games_are_bounded_in_number() {
        let games = Games::new(&Bounds { games: 2, ..Bounds::default() });
        let first = games.add(game()).unwrap();
        games.add(game()).unwrap();
        assert_eq!(games.add(game()).unwrap_err().code, ErrorCode::TooManySessions);
        games.remove(&first).unwrap();
        assert!(games.add(game()).is_ok());
        assert_eq!(games.get(&first).unwrap_err().code, ErrorCode::SessionUnknown);
    }

    #[test]
    fn games_are_forgotten() {
        let games = Games::new(&Bounds { games: 1, idle: Duration::ZERO, ..Bounds::default() });
        let id = games.add(game()).unwrap();
        assert!(games.get(&id).is_err() && games.add(game()).is_ok());
    }

    #[test]
    fn of_two_moves_at_once_one_counts() {
        let games = Games::new(&Bounds::default());
        let id = games.add(game()).unwrap();
        games.extend(&id, &game(), vec!["3".into()]).unwrap();
        let late = games.extend(&id, &game(), vec!["2".into()]).unwrap_err();
        assert_eq!(late.code, ErrorCode::SessionBusy);
        assert_eq!(games.get(&id).unwrap().moves, ["3"]);
    }
}
