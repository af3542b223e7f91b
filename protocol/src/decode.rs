//! From a line to a [`Request`], or to the first fault of it. Only the line is judged here: what needs a
//! session, a game or the connection's state is left to the daemon.

use crate::fields::{Faults, Fields, any_text, flag, int, is_extension, is_name, list, name, object};
use crate::fields::{seed, settings, text, word};
use crate::json::{Value, parse};
use crate::*;
use serde::Deserialize;

/// Why a line is no request.
///
/// ```
/// use plyd_protocol::{ErrorCode, decode};
///
/// // What a server answers to a bad line, here to the third of a connection.
/// let answer = decode(br#"{"id":"a","cmd":"go"}"#).unwrap_err().into_message(3);
/// assert_eq!((answer.id.as_deref(), answer.code), (Some("a"), ErrorCode::MissingField));
/// assert_eq!(answer.line, 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The id of the request, if it could be read.
    pub id: Option<String>,
    /// What is wrong.
    pub code: ErrorCode,
    /// Where: a JSON pointer (RFC 6901) into the request.
    pub pointer: Option<String>,
    /// The fault in a sentence, for people.
    pub message: String,
}

impl DecodeError {
    /// The error that answers the line of this number.
    #[must_use]
    pub fn into_message(self, line: u64) -> ErrorMessage {
        let pointer = self.pointer;
        ErrorMessage { pointer, ..ErrorMessage::new(self.id, line, self.code, self.message) }
    }

    fn new(id: Option<&str>, code: ErrorCode, pointer: &str, message: impl Into<String>) -> Self {
        Self { id: id.map(str::to_owned), code, pointer: Some(pointer.to_owned()), message: message.into() }
    }

    fn missing(id: Option<&str>, name: &str) -> Self {
        Self::new(id, ErrorCode::MissingField, &pointer("", name), format!("missing field `{name}`"))
    }
}

/// Reads one line, with or without its line end. The line's length is for the reader of the lines to bound.
///
/// # Errors
/// The first fault by this order: JSON, id, cmd, unknown field, missing field, type, value; and of one kind
/// the first in the line.
///
/// ```
/// use plyd_protocol::{ErrorCode, decode};
///
/// let request = decode(br#"{"id":"1","cmd":"ping"}"#).unwrap();
/// assert_eq!((request.id.as_str(), request.command.name()), ("1", "ping"));
///
/// let fault = decode(br#"{"id":"2","cmd":"ping","ecco":"hi"}"#).unwrap_err();
/// assert_eq!((fault.code, fault.pointer.as_deref()), (ErrorCode::UnknownField, Some("/ecco")));
/// ```
pub fn decode(line: &[u8]) -> Result<Request, DecodeError> {
    let (id, command) = read(line, command)?;
    Ok(Request { id, command })
}

/// Reads the line with which a bot offers itself to a ladder, as [`decode`] reads those of clients: its id
/// and the offer.
///
/// # Errors
/// As [`decode`]; [`ErrorCode::UnknownCmd`] for any other request.
///
/// ```
/// use plyd_protocol::{ErrorCode, decode_offer};
///
/// let line = br#"{"id":"1","cmd":"offer","protocol":{"min":1,"max":1},"token":"plyd_0123"}"#;
/// let (id, offer) = decode_offer(line).unwrap();
/// assert_eq!((id.as_str(), offer.token.as_str(), offer.concurrency), ("1", "plyd_0123", 1));
///
/// let fault = decode_offer(br#"{"id":"1","cmd":"hello"}"#).unwrap_err();
/// assert_eq!(fault.code, ErrorCode::UnknownCmd);
/// ```
pub fn decode_offer(line: &[u8]) -> Result<(String, Offer), DecodeError> {
    read(line, |cmd, f| (cmd == "offer").then(|| offer(f)))
}

/// Reads a line whose fields are those of the commands that `command` knows: the id and what it makes of
/// them.
fn read<T>(
    line: &[u8],
    command: impl FnOnce(&str, &mut Fields<'_>) -> Option<T>,
) -> Result<(String, T), DecodeError> {
    let fields = parse(line).map_err(|malformed| DecodeError {
        id: None,
        code: malformed.code,
        pointer: None,
        message: malformed.message,
    })?;
    let faults = Faults::default();
    let mut f = Fields::new(&fields, 0, String::new(), &faults);
    f.known("id");
    f.known("cmd");

    let id = match f.value("id") {
        Some(Value::String(id)) if is_name(id) => id,
        Some(_) => {
            let message = format!("the id is no string of 1-{MAX_ID} of [A-Za-z0-9._:-]");
            return Err(DecodeError::new(None, ErrorCode::BadId, "/id", message));
        }
        None => return Err(DecodeError::missing(None, "id")),
    };
    let cmd = match f.value("cmd") {
        Some(Value::String(cmd)) => cmd,
        Some(other) => {
            let message = format!("expected a string, found {}", other.kind());
            return Err(DecodeError::new(Some(id), ErrorCode::WrongType, "/cmd", message));
        }
        None => return Err(DecodeError::missing(Some(id), "cmd")),
    };
    let Some(command) = command(cmd, &mut f) else {
        let message = format!("unknown command `{}`", echo(cmd));
        return Err(DecodeError::new(Some(id), ErrorCode::UnknownCmd, "/cmd", message));
    };
    f.finish();

    match faults.take_first() {
        Some(first) => Err(DecodeError::new(Some(id), first.code, &first.pointer, first.message)),
        None => Ok((id.clone(), command)),
    }
}

/// Reads the fields of a command; `None` if there is no such command.
fn command(cmd: &str, f: &mut Fields<'_>) -> Option<Command> {
    Some(match cmd {
        "hello" => Command::Hello(hello(f)),
        "ping" => Command::Ping(Ping { echo: f.optional("echo", text(MAX_TEXT)) }),
        "describe" => Command::Describe(describe(f)),
        "newgame" => Command::NewGame(new_game(f)),
        "setoption" => Command::SetOption(set_option(f)),
        "close" => Command::Close(close(f)),
        "inspect" => Command::Inspect(inspect(f)),
        "go" => Command::Go(Box::new(go(f))),
        "update" => Command::Update(update(f)),
        "stop" => Command::Stop(Stop { target: stop_target(f), discard: f.or("discard", false, flag) }),
        "status" => Command::Status(Status {}),
        "connections" => Command::Connections(Connections { after: f.or("after", 0, int(0, MAX_INT)) }),
        "disconnect" => Command::Disconnect(Disconnect { target: disconnect_target(f) }),
        "quit" => Command::Quit(Quit { mode: f.or("mode", QuitMode::Finish, word) }),
        _ => return None,
    })
}

fn hello(f: &mut Fields<'_>) -> Hello {
    Hello {
        protocol: f.required("protocol", object(versions)),
        client: f.optional("client", object(client)),
        token: f.optional("token", text(MAX_TOKEN)),
        require: f.or("require", Vec::new(), list(text(MAX_TEXT))),
        on_eof: f.or("on_eof", OnEof::Finish, word),
        resume: f.optional("resume", object(resume)),
    }
}

/// The token of a connection that is taken up, or else the time that this one is to be kept.
fn resume(f: &mut Fields<'_>) -> Resume {
    if f.has("token") {
        f.excluded("keep_ms", "token");
        let token = f.required("token", text(MAX_TOKEN));
        return Resume::Take { token, seq: f.optional("seq", int(0, MAX_INT)) };
    }
    if !f.has("keep_ms") {
        f.missing_any("keep_ms", "missing `keep_ms`, or `token` (and `seq`)");
        f.known("seq");
    }
    Resume::Keep { keep_ms: f.or("keep_ms", 1, int(1, MAX_INT)) }
}

fn versions(f: &mut Fields<'_>) -> Versions {
    let versions = Versions {
        min: f.required("min", int(0, MAX_VERSION.into())),
        max: f.required("max", int(0, MAX_VERSION.into())),
    };
    if versions.min > versions.max {
        f.misfit("max", "`max` is below `min`");
    }
    versions
}

fn client(f: &mut Fields<'_>) -> ClientInfo {
    ClientInfo { name: f.optional("name", text(MAX_TEXT)), version: f.optional("version", text(MAX_TEXT)) }
}

fn offer(f: &mut Fields<'_>) -> Offer {
    let usual = Offer::new();
    Offer {
        protocol: f.required("protocol", object(versions)),
        token: f.required("token", text(MAX_TOKEN)),
        client: f.optional("client", object(client)),
        engine: f.optional("engine", object(client)),
        games: f.or("games", usual.games, list(object(offered_game))),
        clocks: f.or("clocks", usual.clocks, list(clock)),
        concurrency: f.or("concurrency", usual.concurrency, int(0, u32::MAX.into())),
        legal: f.or("legal", usual.legal, flag),
    }
}

fn offered_game(f: &mut Fields<'_>) -> OfferedGame {
    OfferedGame {
        game: f.required("game", text(MAX_TEXT)),
        presets: f.or("presets", Vec::new(), list(text(MAX_TEXT))),
    }
}

fn describe(f: &mut Fields<'_>) -> Describe {
    let what = f.required("what", word);
    if what == DescribeWhat::Game && !f.has("game") {
        f.missing("game");
    }
    Describe { what, game: f.optional("game", any_text) }
}

fn new_game(f: &mut Fields<'_>) -> NewGame {
    NewGame {
        session: f.required("session", name),
        game: f.required("game", any_text),
        rules: f.or("rules", Settings::new(), settings),
        options: f.or("options", Settings::new(), settings),
        seed: f.optional("seed", seed),
    }
}

fn set_option(f: &mut Fields<'_>) -> SetOption {
    SetOption { options: f.required("options", settings), session: f.optional("session", name) }
}

fn close(f: &mut Fields<'_>) -> Close {
    Close { session: f.required("session", name), connection: f.optional("connection", int(1, MAX_INT)) }
}

fn inspect(f: &mut Fields<'_>) -> Inspect {
    Inspect {
        game: game_ref(f),
        position: f.required("position", object(position)),
        want: f.or("want", Want::usual(), list(word)),
        draft: f.optional("draft", any_text),
    }
}

fn go(f: &mut Fields<'_>) -> Go {
    let go = Go {
        game: game_ref(f),
        position: f.required("position", object(position)),
        mode: f.or("mode", Mode::Move, word),
        clock: f.optional("clock", clock),
        limit: f.or("limit", Limit::default(), object(limit)),
        hard_ms: f.optional("hard_ms", int(0, MAX_INT)),
        elapsed_ms: f.or("elapsed_ms", 0, int(0, MAX_INT)),
        overhead_ms: f.or("overhead_ms", 0, int(0, MAX_INT)),
        multipv: f.or("multipv", 1, int(1, MAX_MULTIPV.into())),
        searchmoves: f.or("searchmoves", Vec::new(), list(any_text)),
        excludemoves: f.or("excludemoves", Vec::new(), list(any_text)),
        info: f.or("info", InfoRequest::default(), object(info)),
        options: f.or("options", Settings::new(), settings),
        queue: f.or("queue", false, flag),
    };
    if is_unbounded_move(f) {
        f.missing_any("clock", MISSING_CLOCK);
    }
    go
}

/// What a search for a move without a clock and a limit lacks.
const MISSING_CLOCK: &str =
    "mode `move` needs a `clock` or a `limit`; `\"mode\":\"analyse\"` needs neither and runs until `stop`";

/// Whether a `go` asks for a move but has neither clock nor limit. Judged by what is there, right or wrong: a
/// limit of a wrong type is not a missing clock.
fn is_unbounded_move(f: &Fields<'_>) -> bool {
    let asks_for_move = match f.value("mode") {
        None => true,
        Some(Value::String(mode)) => mode == "move",
        Some(_) => false,
    };
    let limited = match f.value("limit") {
        None => false,
        Some(Value::Object(fields)) => fields.iter().any(|(name, _)| !is_extension(name)),
        Some(_) => true,
    };
    asks_for_move && !limited && !f.has("clock")
}

fn update(f: &mut Fields<'_>) -> Update {
    Update {
        target: f.required("target", name),
        clock: f.optional("clock", clock),
        limit: f.or("limit", Limit::default(), object(limit)),
        hard_ms: f.optional("hard_ms", int(0, MAX_INT)),
        mode: f.optional("mode", word),
    }
}

fn game_ref(f: &mut Fields<'_>) -> GameRef {
    if f.has("session") {
        f.excluded("game", "session");
        f.excluded("rules", "session");
        return GameRef::Session { session: f.required("session", name) };
    }
    if !f.has("game") {
        f.missing_any("session", "missing `session`, or `game` (and its `rules`)");
    }
    GameRef::Game {
        game: f.or("game", String::new(), any_text),
        rules: f.or("rules", Settings::new(), settings),
    }
}

/// The first of the three ways to name a target that is there; another one beside it is a fault.
fn stop_target(f: &mut Fields<'_>) -> StopTarget {
    let all = f.or("all", false, flag);
    if f.has("target") {
        f.excluded("session", "target");
        if all {
            f.excluded("all", "target");
        }
        return StopTarget::Go(f.required("target", name));
    }
    if f.has("session") {
        if all {
            f.excluded("all", "session");
        }
        return StopTarget::Session(f.required("session", name));
    }
    if matches!(f.value("all"), None | Some(Value::Bool(false))) {
        f.missing_any("target", "give `target`, `session` or `\"all\":true`");
    }
    f.known("target");
    f.known("session");
    StopTarget::All
}

/// The first of the two ways to name connections that is there; the other one beside it is a fault.
fn disconnect_target(f: &mut Fields<'_>) -> DisconnectTarget {
    if f.has("connection") {
        f.excluded("client", "connection");
        return DisconnectTarget::Connection(f.required("connection", int(1, MAX_INT)));
    }
    if !f.has("client") {
        f.missing_any("connection", "give `connection` or `client`");
    }
    DisconnectTarget::Client(f.or("client", String::new(), text(MAX_TEXT)))
}

fn position(f: &mut Fields<'_>) -> Position {
    Position { start: f.optional("start", any_text), moves: f.or("moves", Vec::new(), list(any_text)) }
}

fn limit(f: &mut Fields<'_>) -> Limit {
    Limit {
        nodes: f.optional("nodes", int(1, MAX_INT)),
        depth: f.optional("depth", int(1, MAX_SEARCH_DEPTH.into())),
        time_ms: f.optional("time_ms", int(0, MAX_INT)),
    }
}

fn info(f: &mut Fields<'_>) -> InfoRequest {
    let usual = InfoRequest::default();
    InfoRequest {
        events: f.or("events", usual.events, list(word)),
        min_interval_ms: f.or("min_interval_ms", usual.min_interval_ms, int(0, MAX_INT)),
    }
}

/// The words of a clock's `kind`.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    PerMove,
    Increment,
    Delay,
    Bank,
    Anytime,
    None,
}

fn clock(item: fields::Item<'_>) -> Option<Clock> {
    object(clock_fields)(item)?
}

/// Reads a clock. Each kind knows its own fields only; with no readable kind no field is held to be unknown.
fn clock_fields(f: &mut Fields<'_>) -> Option<Clock> {
    if !f.has("kind") {
        f.missing("kind");
    }
    Some(match f.optional("kind", word) {
        Some(Kind::PerMove) => Clock::PerMove { ms: f.required("ms", int(-MAX_INT, MAX_INT)) },
        Some(Kind::Increment) => Clock::Increment {
            me_ms: f.required("me_ms", int(-MAX_INT, MAX_INT)),
            opp_ms: f.optional("opp_ms", int(-MAX_INT, MAX_INT)),
            inc_ms: f.required("inc_ms", int(0, MAX_INT)),
            opp_inc_ms: f.optional("opp_inc_ms", int(0, MAX_INT)),
            moves_to_go: f.optional("moves_to_go", int(1, MAX_MOVES_TO_GO.into())),
        },
        Some(Kind::Delay) => Clock::Delay {
            me_ms: f.required("me_ms", int(-MAX_INT, MAX_INT)),
            opp_ms: f.optional("opp_ms", int(-MAX_INT, MAX_INT)),
            delay_ms: f.required("delay_ms", int(0, MAX_INT)),
        },
        Some(Kind::Bank) => Clock::Bank {
            turn_ms: f.required("turn_ms", int(-MAX_INT, MAX_INT)),
            bank_ms: f.required("bank_ms", int(-MAX_INT, MAX_INT)),
        },
        Some(Kind::Anytime) => Clock::Anytime { hint_ms: f.optional("hint_ms", int(0, MAX_INT)) },
        Some(Kind::None) => Clock::None,
        None => {
            CLOCK_FIELDS.into_iter().for_each(|name| f.known(name));
            return None;
        }
    })
}

/// The fields of all kinds of clock.
const CLOCK_FIELDS: [&str; 10] = [
    "ms",
    "me_ms",
    "opp_ms",
    "inc_ms",
    "opp_inc_ms",
    "moves_to_go",
    "delay_ms",
    "turn_ms",
    "bank_ms",
    "hint_ms",
];
