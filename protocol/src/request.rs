//! What a client sends: one type per command, those about searches in `search`, those of operators in
//! `operate`. The types do not check
//! themselves; [`decode`](crate::decode) does, and a client that fills them by hand is answered by the
//! daemon's checks. Fields at their default are not written.

use crate::operate::{Connections, Disconnect};
#[cfg(feature = "schema")]
use crate::position::NAME_PATTERN;
use crate::position::{GameRef, Position};
use crate::resume::Resume;
use crate::search::{Go, Stop, Update};
use crate::settings::is_default;
#[cfg(feature = "schema")]
use crate::{MAX_INT, MAX_TEXT, MAX_TOKEN, MAX_VERSION};
use crate::{Seed, Settings};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request: a line from the client.
///
/// ```
/// use plyd_protocol::{Command, Ping, Request, decode};
///
/// let request = Request { id: "1".to_owned(), command: Command::Ping(Ping::default()) };
/// let line = serde_json::to_string(&request)?;
/// assert_eq!(line, r#"{"id":"1","cmd":"ping"}"#);
/// assert_eq!(decode(line.as_bytes()), Ok(request));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Request {
    /// Names the request within its connection: 1-64 of `[A-Za-z0-9._:-]`.
    pub id: String,
    /// What is asked.
    #[serde(flatten)]
    pub command: Command,
}

/// The commands, by the `cmd` of the request.
///
/// ```
/// use plyd_protocol::{Command, decode};
///
/// let request = decode(br#"{"id":"1","cmd":"status"}"#).unwrap();
/// assert!(matches!(request.command, Command::Status(_)));
/// assert!(request.command.is_immediate(), "no search delays it");
/// assert!(Command::NAMES.contains(&request.command.name()));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "cmd", rename_all = "lowercase")]
pub enum Command {
    /// Opens the connection and agrees on a version.
    Hello(Hello),
    /// Asks for a sign of life.
    Ping(Ping),
    /// Asks what the server can do.
    Describe(Describe),
    /// Opens or resets a session.
    NewGame(NewGame),
    /// Sets options.
    SetOption(SetOption),
    /// Closes a session.
    Close(Close),
    /// Asks the rules about a position.
    Inspect(Inspect),
    /// Searches a position.
    Go(Box<Go>),
    /// Changes the clock or the mode of a running search.
    Update(Update),
    /// Ends searches early.
    Stop(Stop),
    /// Asks for the server's load and counters.
    Status(Status),
    /// Asks who is connected and what each does.
    Connections(Connections),
    /// Ends connections.
    Disconnect(Disconnect),
    /// Ends the connection.
    Quit(Quit),
}

impl Command {
    /// The `cmd` of every command, in the order of the specification.
    pub const NAMES: [&'static str; 14] = [
        "hello",
        "ping",
        "describe",
        "newgame",
        "setoption",
        "close",
        "inspect",
        "go",
        "update",
        "stop",
        "status",
        "connections",
        "disconnect",
        "quit",
    ];

    /// Whether it is answered at once, so that it never waits for another request. (`setoption` is if it
    /// names no session.)
    #[must_use]
    pub fn is_immediate(&self) -> bool {
        match self {
            Self::Hello(_)
            | Self::Ping(_)
            | Self::Update(_)
            | Self::Stop(_)
            | Self::Status(_)
            | Self::Connections(_)
            | Self::Disconnect(_)
            | Self::Quit(_) => true,
            Self::Close(close) => close.connection.is_some(),
            Self::Describe(_) | Self::NewGame(_) | Self::SetOption(_) | Self::Inspect(_) | Self::Go(_) => {
                false
            }
        }
    }

    /// The `cmd` of this command.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "hello",
            Self::Ping(_) => "ping",
            Self::Describe(_) => "describe",
            Self::NewGame(_) => "newgame",
            Self::SetOption(_) => "setoption",
            Self::Close(_) => "close",
            Self::Inspect(_) => "inspect",
            Self::Go(_) => "go",
            Self::Update(_) => "update",
            Self::Stop(_) => "stop",
            Self::Status(_) => "status",
            Self::Connections(_) => "connections",
            Self::Disconnect(_) => "disconnect",
            Self::Quit(_) => "quit",
        }
    }
}

/// Opens the connection; optional on stdio, first elsewhere.
///
/// ```
/// use plyd_protocol::{Command, Hello, OnEof, Versions};
///
/// let protocol = Versions { min: 1, max: 1 };
/// let hello = Command::Hello(Hello { protocol, on_eof: OnEof::Stop, ..Hello::default() });
/// assert_eq!(
///     serde_json::to_string(&hello)?,
///     r#"{"cmd":"hello","protocol":{"min":1,"max":1},"on_eof":"stop"}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Hello {
    /// The protocol versions that the client speaks.
    pub protocol: Versions,
    /// Who the client is, for the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<ClientInfo>,
    /// The token of a server that wants one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_TOKEN)))]
    pub token: Option<String>,
    /// Features without which the client cannot work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(length(max = MAX_TEXT))))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub require: Vec<String>,
    /// What becomes of running searches when the input ends.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "finish")))]
    pub on_eof: OnEof,
    /// Whether the connection outlives its socket, or is one that has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// A range of protocol versions, `min <= max`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Versions {
    /// The lowest version.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_VERSION)))]
    pub min: u32,
    /// The highest version.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_VERSION)))]
    pub max: u32,
}

/// Who a client is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema), schemars(rename = "Client"))]
pub struct ClientInfo {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_TEXT)))]
    pub name: Option<String>,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_TEXT)))]
    pub version: Option<String>,
}

/// What becomes of running searches when the input ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnEof {
    /// Searches with a clock or a limit finish, within 10 s; the others answer their best.
    #[default]
    Finish,
    /// All answer their best at once.
    Stop,
    /// All end with the error `cancelled`.
    Cancel,
}

/// Asks for a sign of life, which no search delays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Ping {
    /// Comes back in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_TEXT)))]
    pub echo: Option<String>,
}

/// Asks what the server can do.
///
/// ```
/// use plyd_protocol::{Command, Describe, DescribeWhat};
///
/// let game = Some("isolation".to_owned());
/// let describe = Command::Describe(Describe { what: DescribeWhat::Game, game });
/// assert_eq!(serde_json::to_string(&describe)?, r#"{"cmd":"describe","what":"game","game":"isolation"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend(
    "if" = { "required": ["what"], "properties": { "what": { "const": "game" } } },
    "then" = { "required": ["game"] },
)))]
pub struct Describe {
    /// The topic.
    pub what: DescribeWhat,
    /// The game; required with `what` `game`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
}

/// The topic of [`Describe`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DescribeWhat {
    /// The games, each in short.
    #[default]
    Games,
    /// One game in full: rules, grammar, score unit, evaluators, players.
    Game,
    /// The options, of one game or of all.
    Options,
    /// The JSON Schema of requests and messages.
    Schema,
    /// The limits, as in the result of `hello`.
    Limits,
}

/// Opens a session, or resets the open one of that name.
///
/// ```
/// use plyd_protocol::{Command, NewGame, Seed, Settings};
///
/// let new_game = Command::NewGame(NewGame {
///     session: "s".to_owned(),
///     game: "l-game".to_owned(),
///     options: Settings::from_iter([("level", 3)]),
///     seed: Some(Seed(0xfe)),
///     ..NewGame::default()
/// });
/// assert_eq!(
///     serde_json::to_string(&new_game)?,
///     r#"{"cmd":"newgame","session":"s","game":"l-game","options":{"level":3},"seed":"fe"}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NewGame {
    /// The session's name: 1-64 of `[A-Za-z0-9._:-]`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = NAME_PATTERN)))]
    pub session: String,
    /// The game.
    pub game: String,
    /// Its rules.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = {})))]
    pub rules: Settings,
    /// Options of the session, over the connection's.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = {})))]
    pub options: Settings,
    /// The default of `rules.seed` and `options.seed`; drawn when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

/// Sets options: all of them, or none if one is wrong.
///
/// ```
/// use plyd_protocol::{Command, SetOption, Settings};
///
/// let options = Settings::from_iter([("hash_mb", 64), ("threads", 2)]);
/// let set = Command::SetOption(SetOption { options, session: Some("s".to_owned()) });
/// assert_eq!(
///     serde_json::to_string(&set)?,
///     r#"{"cmd":"setoption","options":{"hash_mb":64,"threads":2},"session":"s"}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SetOption {
    /// The options.
    pub options: Settings,
    /// The session; without it, the defaults of the connection's later sessions are set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = NAME_PATTERN)))]
    pub session: Option<String>,
}

/// Closes a session.
///
/// ```
/// use plyd_protocol::{Close, Command};
///
/// let close = Command::Close(Close { session: "s".to_owned(), connection: None });
/// assert_eq!(serde_json::to_string(&close)?, r#"{"cmd":"close","session":"s"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Close {
    /// The session's name.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = NAME_PATTERN)))]
    pub session: String,
    /// The number of the connection whose session it is; absent: this one. For operators.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_INT)))]
    pub connection: Option<u64>,
}

/// Asks the rules about a position; nothing is searched.
///
/// ```
/// use plyd_protocol::{Command, GameRef, Inspect, Position, Settings, Want};
///
/// let game = GameRef::Game { game: "l-game".to_owned(), rules: Settings::new() };
/// let want = vec![Want::Legal, Want::Board];
/// let inspect = Command::Inspect(Inspect { game, position: Position::default(), want, draft: None });
/// assert_eq!(
///     serde_json::to_string(&inspect)?,
///     r#"{"cmd":"inspect","game":"l-game","position":{},"want":["legal","board"]}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Inspect {
    /// The rules.
    #[serde(flatten)]
    pub game: GameRef,
    /// The position.
    pub position: Position,
    /// What the result holds.
    #[serde(default = "Want::usual", skip_serializing_if = "Want::is_usual")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = ["to_move", "outcome", "legal"])))]
    pub want: Vec<Want>,
    /// The text that `edits` is about, which need be no position; absent: the position's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
}

/// What [`Inspect`] can ask for: fields of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// Who is to move.
    ToMove,
    /// The outcome, null while the game goes on.
    Outcome,
    /// The legal moves' texts.
    Legal,
    /// The legal moves, each with the position that follows.
    Moves,
    /// The chance outcomes and their probabilities.
    Chance,
    /// The board to be drawn.
    Board,
    /// The position's text.
    Text,
    /// The position's hash.
    Hash,
    /// The static evaluation, from the mover's view.
    Eval,
    /// The game so far as a record.
    Record,
    /// The position as the game's own referee writes it.
    State,
    /// The board as a picture.
    Svg,
    /// The legal moves as numbers.
    Actions,
    /// The advantage with which most games are won.
    Decisive,
    /// What the game's book of solved positions says.
    Book,
    /// What can be changed by hand in the draft.
    Edits,
}

impl Want {
    /// What a request without `want` asks for.
    #[must_use]
    pub fn usual() -> Vec<Self> {
        vec![Self::ToMove, Self::Outcome, Self::Legal]
    }

    fn is_usual(want: &[Self]) -> bool {
        want == Self::usual()
    }
}

/// Asks for the server's load and counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Status {}

/// Ends the connection after its searches.
///
/// ```
/// use plyd_protocol::{Command, Quit, QuitMode};
///
/// let quit = Command::Quit(Quit { mode: QuitMode::Stop });
/// assert_eq!(serde_json::to_string(&quit)?, r#"{"cmd":"quit","mode":"stop"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Quit {
    /// What becomes of running searches.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "finish")))]
    pub mode: QuitMode,
}

/// What becomes of running searches at [`Quit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QuitMode {
    /// Searches with a clock or a limit finish, within 10 s; the others answer their best.
    #[default]
    Finish,
    /// All answer their best at once.
    Stop,
}
