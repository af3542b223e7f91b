//! Searches, within the bounds.

use std::time::Duration;

use plyd_protocol::ErrorCode;
use serde_json::{Value, json};

use crate::bounds::Bounds;
use crate::engine::Conversation;
use crate::error::ToolError;
use crate::kept::Game;

/// How much longer than its limit a search may take until it is broken off.
const GRACE_MS: u64 = 1000;

/// A search as an agent asks for it.
pub(crate) struct Asked {
    /// As in the protocol, with a time within the bounds.
    pub(crate) limit: Limit,
    pub(crate) lines: u64,
    pub(crate) level: Option<Value>,
}

/// A limit with the time that it allows.
pub(crate) struct Limit {
    given: Value,
    time_ms: u64,
}

impl Limit {
    /// The limit that is given, or the usual one.
    ///
    /// # Errors
    /// It allows more time than the bounds.
    pub(crate) fn new(given: Option<Value>, bounds: &Bounds) -> Result<Self, ToolError> {
        let most = bounds.search_ms();
        let usual = u64::try_from(bounds.usual_search.as_millis()).map_or(most, |usual| usual.min(most));
        let mut given = given.unwrap_or_else(|| json!({ "time_ms": usual }));
        // What is no limit at all is refused by the daemon.
        let Some(fields) = given.as_object_mut() else { return Ok(Self { given, time_ms: usual }) };
        // Nodes or a depth may take for ever.
        let time = fields.entry("time_ms").or_insert_with(|| json!(most));
        let time_ms = time.as_u64().unwrap_or(usual);
        if time_ms > most {
            let message = format!("a search may take {most} ms at most");
            return Err(ToolError::new(ErrorCode::OutOfRange, message).at("/limit/time_ms"));
        }
        Ok(Self { given, time_ms })
    }

    /// How long the call may take.
    pub(crate) fn call(&self, bounds: &Bounds) -> Duration {
        Duration::from_millis(self.time_ms) + bounds.other
    }
}

/// Searches a game's last position; the answer has the best move, the lines and the work done.
///
/// # Errors
/// The game is over, or there is no such level or limit.
pub(crate) fn search(talk: &Conversation, game: &Game, asked: Asked) -> Result<Value, ToolError> {
    let Asked { limit: Limit { given, time_ms }, lines, level } = asked;
    let mut session = json!({ "cmd": "newgame", "session": "game", "game": game.name, "rules": game.rules });
    if let Some(level) = level {
        session["options"] = json!({ "level": level });
    }
    talk.ask(session).map_err(|error| error.renamed("/options/level", "/level"))?;
    let mut said = talk
        .ask(json!({
            "cmd": "go", "session": "game", "position": { "start": game.start, "moves": game.moves },
            "limit": given, "hard_ms": time_ms + GRACE_MS, "multipv": lines, "info": { "events": [] },
        }))
        .map_err(|error| error.renamed("/multipv", "/lines").renamed("/position", "/game_id"))?;
    let mut answer = json!({});
    for field in ["move", "reason", "ponder", "lines", "stats"] {
        if !said[field].is_null() {
            answer[field] = said[field].take();
        }
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_time_within_the_bounds() {
        let bounds = Bounds { search: Duration::from_secs(2), ..Bounds::default() };
        let time =
            |given: Option<Value>| Limit::new(given, &bounds).map(|limit| limit.given["time_ms"].clone());
        assert_eq!(time(None).unwrap(), json!(1000));
        assert_eq!(time(Some(json!({"depth": 3}))).unwrap(), json!(2000));
        assert_eq!(time(Some(json!({"time_ms": 2000}))).unwrap(), json!(2000));
        let refused = time(Some(json!({"time_ms": 2001}))).unwrap_err();
        assert_eq!(
            (refused.code, refused.pointer.as_deref()),
            (ErrorCode::OutOfRange, Some("/limit/time_ms"))
        );
    }
}
