//! What a line of Botzone's input says: a game so far, or what happened since the last answer.
//!
//! Knows no game and no daemon. Positions and moves are texts; what they say is the daemon's to judge, and
//! each move keeps the place in the input that it came from, so that an error can name it.

use plyd_protocol::{ErrorCode, Settings, echo};
use serde::Deserialize;
use serde_json::Value;

/// What a request can say.
const FIELDS: &str = "a request has `move` or `moves`, and the first one `position` and `rules` as well";

/// A mistake in the input.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{code}{}: {message}", if pointer.is_empty() { String::new() } else { format!(" at {pointer}") })]
pub(super) struct InputError {
    pub(super) code: ErrorCode,
    /// A JSON pointer (RFC 6901) into the line; empty: the whole line.
    pub(super) pointer: String,
    pub(super) message: String,
}

impl InputError {
    pub(super) fn new(code: ErrorCode, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, pointer: pointer.into(), message: message.into() }
    }
}

/// A move, and where in the line it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ply {
    pub(super) text: String,
    pub(super) pointer: String,
}

/// A line.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Input {
    /// The whole game so far: the first line of a process.
    Game(Game),
    /// The plies since the last answer: each further line, if the process is kept running.
    Next(Vec<Ply>),
}

/// A game so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Game {
    /// Rules that the judge sets.
    pub(super) rules: Settings,
    /// Where the judge begins.
    pub(super) start: Option<String>,
    /// What was played, our own answers included.
    pub(super) plies: Vec<Ply>,
    /// Whether this is the first answer of the game.
    pub(super) is_first: bool,
    /// What the platform keeps for us; it is given back as it was.
    pub(super) data: Option<Value>,
    pub(super) globaldata: Option<Value>,
}

/// The line of a process that begins. The platform may add fields, which are not ours to refuse.
#[derive(Deserialize)]
struct Envelope {
    requests: Vec<Value>,
    #[serde(default)]
    responses: Vec<Value>,
    data: Option<Value>,
    globaldata: Option<Value>,
}

/// What a request says.
#[derive(Default)]
struct Request {
    plies: Vec<Ply>,
    start: Option<String>,
    rules: Settings,
}

impl Input {
    /// Reads a line.
    ///
    /// # Errors
    /// It is no JSON, or not of that form.
    pub(super) fn parse(line: &[u8]) -> Result<Self, InputError> {
        let text = std::str::from_utf8(line)
            .map_err(|error| InputError::new(ErrorCode::BadUtf8, "", error.to_string()))?;
        let value: Value = serde_json::from_str(text)
            .map_err(|error| InputError::new(ErrorCode::BadJson, "", error.to_string()))?;
        if value.get("requests").is_none() && value.get("responses").is_none() {
            return Ok(Self::Next(Request::read(value, "", false)?.plies));
        }
        let envelope: Envelope = serde_json::from_value(value)
            .map_err(|error| InputError::new(ErrorCode::WrongType, "", error.to_string()))?;
        Game::of(envelope).map(Self::Game)
    }
}

impl Game {
    fn of(envelope: Envelope) -> Result<Self, InputError> {
        let Envelope { requests, responses, data, globaldata } = envelope;
        if requests.len() != responses.len() + 1 {
            let message = format!(
                "{} requests want {} responses, not {}",
                requests.len(),
                requests.len().saturating_sub(1),
                responses.len()
            );
            return Err(InputError::new(ErrorCode::OutOfRange, "/responses", message));
        }
        let mut game = Self { is_first: responses.is_empty(), data, globaldata, ..Self::default() };
        let mut responses = responses.into_iter().enumerate();
        for (at, request) in requests.into_iter().enumerate() {
            let Request { plies, start, rules } =
                Request::read(request, &format!("/requests/{at}"), at == 0)?;
            if at == 0 {
                (game.start, game.rules) = (start, rules);
            }
            game.plies.extend(plies);
            if let Some((at, response)) = responses.next() {
                game.plies.push(ply(response, format!("/responses/{at}"))?);
            }
        }
        Ok(game)
    }
}

impl Request {
    /// Reads the request at that place; only the first one sets up the game.
    fn read(value: Value, at: &str, is_first: bool) -> Result<Self, InputError> {
        let mut request = Self::default();
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let pointer = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                    request.set(&name, value, pointer, is_first)?;
                }
            }
            value => request.plies = plies(value, at.to_owned())?,
        }
        Ok(request)
    }

    fn set(&mut self, name: &str, value: Value, pointer: String, is_first: bool) -> Result<(), InputError> {
        match (name, value) {
            ("move" | "moves", _) if !self.plies.is_empty() => {
                let message = "give `move` or `moves`, not both";
                return Err(InputError::new(ErrorCode::UnknownField, pointer, message));
            }
            ("move", value @ (Value::Null | Value::String(_))) | ("moves", value @ Value::Array(_)) => {
                self.plies = plies(value, pointer)?;
            }
            ("position", Value::String(text)) if is_first => self.start = Some(text),
            ("rules", value @ Value::Object(_)) if is_first => {
                self.rules = serde_json::from_value(value)
                    .map_err(|error| InputError::new(ErrorCode::WrongType, pointer, error.to_string()))?;
            }
            ("move", _) => return Err(InputError::new(ErrorCode::WrongType, pointer, "a move is a text")),
            ("moves", _) => {
                return Err(InputError::new(ErrorCode::WrongType, pointer, "this is an array of moves"));
            }
            ("position", _) if is_first => {
                return Err(InputError::new(ErrorCode::WrongType, pointer, "a position is a text"));
            }
            ("rules", _) if is_first => {
                return Err(InputError::new(ErrorCode::WrongType, pointer, "this is an object of rules"));
            }
            (other, _) => {
                let message = format!("`{}` is not known here: {FIELDS}", echo(other));
                return Err(InputError::new(ErrorCode::UnknownField, pointer, message));
            }
        }
        Ok(())
    }
}

/// The plies of a text, of an array of texts, or none of what is empty.
fn plies(value: Value, pointer: String) -> Result<Vec<Ply>, InputError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::Array(values) => {
            values.into_iter().enumerate().map(|(at, value)| ply(value, format!("{pointer}/{at}"))).collect()
        }
        value => Ok(vec![ply(value, pointer)?]),
    }
}

fn ply(value: Value, pointer: String) -> Result<Ply, InputError> {
    match value {
        Value::String(text) => Ok(Ply { text, pointer }),
        _ => Err(InputError::new(ErrorCode::WrongType, pointer, "a move is a text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(plies: &[Ply]) -> Vec<(&str, &str)> {
        plies.iter().map(|ply| (ply.text.as_str(), ply.pointer.as_str())).collect()
    }

    #[test]
    fn requests_and_responses_make_a_game_in_turns() {
        let line = br#"{"requests":[{"position":"x","rules":{"width":5}},"b",["c","~d"],{"move":"e"}],
            "responses":["A","B","C"],"data":{"k":1},"globaldata":"g","time_limit":"1","memory_limit":256}"#;
        let Ok(Input::Game(game)) = Input::parse(line) else { panic!() };
        assert_eq!(
            texts(&game.plies),
            [
                ("A", "/responses/0"),
                ("b", "/requests/1"),
                ("B", "/responses/1"),
                ("c", "/requests/2/0"),
                ("~d", "/requests/2/1"),
                ("C", "/responses/2"),
                ("e", "/requests/3/move"),
            ]
        );
        assert_eq!((game.start.as_deref(), game.rules.len(), game.is_first), (Some("x"), 1, false));
        assert_eq!(game.data, Some(serde_json::json!({"k": 1})));
        assert_eq!(game.globaldata, Some(serde_json::json!("g")));
    }

    #[test]
    fn what_says_nothing_is_no_move() {
        for nothing in ["null", "\"\"", "[]", "{}", r#"{"move":null}"#, r#"{"move":""}"#, r#"{"moves":[]}"#] {
            let line = format!(r#"{{"requests":[{nothing}],"responses":[]}}"#);
            let Ok(Input::Game(game)) = Input::parse(line.as_bytes()) else { panic!("{nothing}") };
            assert!(game.plies.is_empty() && game.is_first, "{nothing}");
            assert_eq!(Input::parse(nothing.as_bytes()), Ok(Input::Next(Vec::new())), "{nothing}");
        }
        let Ok(Input::Next(next)) = Input::parse(br#"{"moves":["a","~b"]}"#) else { panic!() };
        assert_eq!(texts(&next), [("a", "/moves/0"), ("~b", "/moves/1")]);
    }

    #[test]
    fn mistakes_are_pointed_at() {
        for (line, code, pointer) in [
            (&b"\xff"[..], ErrorCode::BadUtf8, ""),
            (b"{", ErrorCode::BadJson, ""),
            (br#"{"requests":"a"}"#, ErrorCode::WrongType, ""),
            (br#"{"responses":["a"]}"#, ErrorCode::WrongType, ""),
            (br#"{"requests":[],"responses":[]}"#, ErrorCode::OutOfRange, "/responses"),
            (br#"{"requests":["",""],"responses":[]}"#, ErrorCode::OutOfRange, "/responses"),
            (br#"{"requests":[7]}"#, ErrorCode::WrongType, "/requests/0"),
            (br#"{"requests":[["a",7]]}"#, ErrorCode::WrongType, "/requests/0/1"),
            (br#"{"requests":["",""],"responses":[null]}"#, ErrorCode::WrongType, "/responses/0"),
            (br#"{"requests":[{"move":["a"]}]}"#, ErrorCode::WrongType, "/requests/0/move"),
            (br#"{"requests":[{"moves":"a"}]}"#, ErrorCode::WrongType, "/requests/0/moves"),
            (br#"{"requests":[{"move":"a","moves":["b"]}]}"#, ErrorCode::UnknownField, "/requests/0/moves"),
            (br#"{"requests":[{"position":7}]}"#, ErrorCode::WrongType, "/requests/0/position"),
            (br#"{"requests":[{"rules":[]}]}"#, ErrorCode::WrongType, "/requests/0/rules"),
            (br#"{"requests":[{"rules":{"a":[]}}]}"#, ErrorCode::WrongType, "/requests/0/rules"),
            (
                br#"{"requests":["",{"position":"a"}],"responses":["b"]}"#,
                ErrorCode::UnknownField,
                "/requests/1/position",
            ),
            (br#"{"requests":[{"x/~":1}]}"#, ErrorCode::UnknownField, "/requests/0/x~1~0"),
            (br#"{"x":-1,"y":-1}"#, ErrorCode::UnknownField, "/x"),
            (b"7", ErrorCode::WrongType, ""),
        ] {
            let error = Input::parse(line).unwrap_err();
            assert_eq!((error.code, error.pointer.as_str()), (code, pointer), "{error}");
        }
    }
}
