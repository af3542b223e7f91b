//! The messages of a player, of which the referee reads only what it needs: from a `bestmove` the id and the
//! move. Fields that serve statistics alone may be missing, and count as missing if they cannot be read, so
//! that no game is lost by them. Whether a server keeps the whole protocol is for the conformance suite to
//! check.

use std::time::Duration;

use plyd_protocol::{ErrorCode, ErrorMessage, Score, Timing, echo, kind_of};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Reply;

/// The longest name of an incident that is kept, in characters.
const INCIDENT: usize = 100;

/// The most characters that are kept of what an error says: it is recorded, and sent to the opponent.
const MESSAGE: usize = 500;

/// A message, by its type.
///
/// ```
/// use plyd_arena::referee::PlayerMessage;
///
/// // What a bot must say, and no more.
/// let said = PlayerMessage::read(br#"{"id":"7","type":"bestmove","move":"d4"}"#)?;
/// assert!(matches!(said, PlayerMessage::BestMove(_)));
/// assert_eq!(said.ends(), Some("7"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum PlayerMessage {
    /// A move.
    BestMove(Best),
    /// The answer to another request.
    Result(RequestResult),
    /// A request that failed.
    Error(Refused),
    /// The progress of a search.
    Info,
    /// A message that belongs to no request.
    Notice,
}

/// A line. Being flattened, it refuses a JSON array in the place of an object.
#[derive(Deserialize)]
struct Line {
    #[serde(flatten)]
    said: PlayerMessage,
}

/// A move, with what the player says about it.
#[derive(Debug, Deserialize)]
pub struct Best {
    id: String,
    #[serde(rename = "move")]
    mv: String,
    #[serde(default, deserialize_with = "readable")]
    lines: Vec<Variation>,
    #[serde(default, deserialize_with = "readable")]
    timing: Option<Timing>,
    #[serde(default, deserialize_with = "readable")]
    incident: Option<String>,
}

/// A variation, of which only the score is kept.
#[derive(Debug, Deserialize)]
struct Variation {
    #[serde(default, deserialize_with = "readable")]
    score: Option<Score>,
}

/// The result of a request other than `go`.
#[derive(Debug, Deserialize)]
pub struct RequestResult {
    id: String,
    #[serde(default)]
    of: Option<String>,
}

/// The end of a request that failed.
#[derive(Debug, Deserialize)]
pub struct Refused {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    code: Option<String>,
    #[serde(default, deserialize_with = "readable")]
    message: Option<String>,
    #[serde(default, deserialize_with = "readable")]
    pointer: Option<String>,
    #[serde(default, deserialize_with = "readable")]
    retry_ms: Option<u64>,
}

impl PlayerMessage {
    /// Reads a line.
    ///
    /// # Errors
    /// It is no message of the protocol, or lacks what the referee needs.
    pub fn read(line: &[u8]) -> Result<Self, serde_json::Error> {
        let read = serde_json::from_slice::<Line>(line).map(|line| line.said);
        read.map_err(|error| fault(line).map_or(error, serde::de::Error::custom))
    }

    /// The id of the request whose final message it is; none if it is not final, or an error without an id.
    #[must_use]
    pub fn ends(&self) -> Option<&str> {
        match self {
            Self::BestMove(best) => Some(&best.id),
            Self::Result(result) => Some(&result.id),
            Self::Error(refused) => refused.id.as_deref(),
            Self::Info | Self::Notice => None,
        }
    }
}

impl Best {
    /// The reply to a `go` that took `time` to answer.
    #[must_use]
    pub fn after(self, time: Duration) -> Reply {
        let own = self.own_time();
        let score = self.score();
        let incident = self.incident.map(|text| bounded(&text, INCIDENT));
        Reply { own, score, incident, ..Reply::new(self.mv, time) }
    }

    /// The score of the move, from the player's view.
    fn score(&self) -> Option<Score> {
        self.lines.first()?.score
    }

    /// How long it took from receiving the `go` to deciding.
    fn own_time(&self) -> Option<Duration> {
        let timing = self.timing?;
        Some(Duration::from_micros(timing.decided_us.saturating_sub(timing.received_us)))
    }
}

impl RequestResult {
    /// Whether it is the result of that command; one that names no command may be.
    #[must_use]
    pub fn is_of(&self, command: &str) -> bool {
        self.of.as_deref().is_none_or(|of| of == command)
    }
}

impl Refused {
    /// Whether it says that its server is overloaded.
    pub(crate) fn is_overload(&self) -> bool {
        self.code.as_deref().and_then(ErrorCode::named) == Some(ErrorCode::Overloaded)
    }

    /// Whether it names no request.
    pub(crate) fn is_about_no_request(&self) -> bool {
        self.id.is_none()
    }
}

impl From<Refused> for ErrorMessage {
    /// An error whose code the protocol does not know becomes `Internal`. Long texts are cut.
    fn from(refused: Refused) -> Self {
        let Refused { id, code, message, pointer, retry_ms } = refused;
        let known = code.as_deref().and_then(ErrorCode::named);
        let message = message.or(code).unwrap_or_else(|| "without a code".to_owned());
        let message = bounded(&message, MESSAGE);
        let pointer = pointer.map(|pointer| bounded(&pointer, MESSAGE));
        Self { pointer, retry_ms, ..Self::new(id, 0, known.unwrap_or(ErrorCode::Internal), message) }
    }
}

/// What keeps a line of JSON from being a message, in words for whoever wrote the player; none if it is
/// something else than a field that is missing or of the wrong kind.
fn fault(line: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let Some(fields) = message.as_object() else {
        return Some(format!("expected an object, found {}", kind_of(&message)));
    };
    let (needed, others): (&[_], &[_]) = match fields.get("type").map(Value::as_str) {
        Some(Some("bestmove")) => (&["id", "move"], &[]),
        Some(Some("result")) => (&["id"], &["of"]),
        Some(Some("error")) => (&[], &["id", "code"]),
        Some(Some("info" | "notice")) => (&[], &[]),
        Some(Some(other)) => {
            return Some(format!(
                "expected `bestmove`, `result` or `error` at /type, found `{}`",
                echo(other)
            ));
        }
        _ => (&["type"], &[]),
    };
    let is_lacking = |name: &&&str| !fields.contains_key(**name);
    if let Some(name) = needed.iter().find(is_lacking) {
        let what = match *name {
            "id" => ": the id of the request that it answers",
            "type" => ": `bestmove` in the answer to a `go`",
            _ => "",
        };
        return Some(format!("missing field `{name}`{what}"));
    }
    let wrong = |name: &&str| match fields.get(*name)? {
        Value::String(_) => None,
        Value::Null if others.contains(name) => None,
        other => Some(format!("expected a string at /{name}, found {}", kind_of(other))),
    };
    needed.iter().chain(others).find_map(wrong)
}

/// The first characters of a text, at most so many.
fn bounded(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// A field, or its default if it has the wrong shape.
fn readable<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(of: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(of)?).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<PlayerMessage, serde_json::Error> {
        PlayerMessage::read(line.as_bytes())
    }

    #[test]
    fn a_move_needs_an_id_and_itself() {
        let score = r#""score":{"bound":"exact","eval":7}"#;
        for (more, eval, own_us) in [
            (String::new(), None, None),
            (
                format!(
                    r#","lines":[{{{score}}}],"timing":{{"received_us":5,"started_us":6,"decided_us":9}}"#
                ),
                Some(7),
                Some(4),
            ),
            // Fields that serve statistics alone need not be readable.
            (format!(r#","lines":[{{"rank":"first",{score}}}],"timing":0.5"#), Some(7), None),
            (r#","lines":[{"score":{"bound":"about","eval":7}}],"stats":[],"hash":null"#.into(), None, None),
            (r#","lines":"none","seq":-1,"reason":"felt like it","incident":{}"#.into(), None, None),
            (r#","timing":{"decided_us":9}"#.into(), None, None),
        ] {
            let line = format!(r#"{{"id":"3","type":"bestmove","move":"d4"{more}}}"#);
            let Ok(PlayerMessage::BestMove(best)) = read(&line) else { panic!("{line}") };
            assert_eq!((&*best.id, &*best.mv, &best.incident), ("3", "d4", &None), "{line}");
            assert_eq!(best.score().and_then(|score| score.eval), eval, "{line}");
            assert_eq!(best.own_time(), own_us.map(Duration::from_micros), "{line}");
        }
    }

    #[test]
    fn what_is_no_message_is_none() {
        for (line, why) in [
            (r#"{"id":"3","type":"bestmove"}"#, "missing field `move`"),
            (
                r#"{"type":"bestmove","move":"d4"}"#,
                "missing field `id`: the id of the request that it answers",
            ),
            (r#"{"id":3,"type":"bestmove","move":"d4"}"#, "expected a string at /id, found a number"),
            (r#"{"id":null,"type":"bestmove","move":"d4"}"#, "expected a string at /id, found null"),
            (r#"{"id":"3","type":"bestmove","move":["d4"]}"#, "expected a string at /move, found an array"),
            (r#"{"id":"3","type":"bestmove","move":"d4","move":"d5"}"#, "duplicate field `move`"),
            (
                r#"{"id":"3","type":"move","move":"d4"}"#,
                "expected `bestmove`, `result` or `error` at /type, found `move`",
            ),
            (r#"{"id":"3","move":"d4"}"#, "missing field `type`: `bestmove` in the answer to a `go`"),
            (r#"{"id":"3","type":7}"#, "expected a string at /type, found a number"),
            (r#"["bestmove","3","d4"]"#, "expected an object, found an array"),
            (
                r#"{"type":"result","of":"newgame"}"#,
                "missing field `id`: the id of the request that it answers",
            ),
            (r#"{"type":"result","id":"1","of":true}"#, "expected a string at /of, found a boolean"),
            (r#"{"type":"error","id":7}"#, "expected a string at /id, found a number"),
            ("d4", "expected value at line 1 column 1"),
            ("", "EOF while parsing a value at line 1 column 0"),
        ] {
            let error = read(line).unwrap_err().to_string();
            assert!(error.starts_with(why), "{line}: {error}");
        }
        for line in [r#"{"type":"info","id":7}"#, r#"{"type":"notice"}"#] {
            assert_eq!(read(line).unwrap().ends(), None, "{line}");
        }
    }

    #[test]
    fn of_long_texts_the_beginning_is_kept() {
        for length in [1, 99, 100, 101, 499, 500, 501, 1 << 19] {
            // Of two bytes each.
            let text = "é".repeat(length);
            let line = format!(r#"{{"id":"3","type":"bestmove","move":"d4","incident":"{text}"}}"#);
            let Ok(PlayerMessage::BestMove(best)) = read(&line) else { panic!("{length}") };
            let incident = best.after(Duration::ZERO).incident.unwrap();
            assert_eq!(incident.chars().count(), length.min(INCIDENT));
            assert!(text.starts_with(&incident));
            for field in ["message", "code", "pointer"] {
                let line = format!(r#"{{"id":"3","type":"error","{field}":"{text}"}}"#);
                let Ok(PlayerMessage::Error(refused)) = read(&line) else { panic!("{length}") };
                let error = ErrorMessage::from(refused);
                let kept = if field == "pointer" { error.pointer.unwrap() } else { error.message };
                assert_eq!(kept.chars().count(), length.min(MESSAGE), "{field}");
                assert!(text.starts_with(&kept), "{field}");
            }
        }
    }

    #[test]
    fn an_error_needs_a_code_to_be_understood() {
        for (line, code, message) in [
            (r#"{"id":"1","type":"error","code":"unknown_cmd"}"#, ErrorCode::UnknownCmd, "unknown_cmd"),
            (r#"{"id":"1","type":"error","code":"tired","message":"no"}"#, ErrorCode::Internal, "no"),
            (r#"{"id":"1","type":"error"}"#, ErrorCode::Internal, "without a code"),
        ] {
            let Ok(PlayerMessage::Error(refused)) = read(line) else { panic!("{line}") };
            let error = ErrorMessage::from(refused);
            assert_eq!((error.id.as_deref(), error.code, &*error.message), (Some("1"), code, message));
        }
    }
}
