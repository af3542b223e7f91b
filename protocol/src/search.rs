//! The requests about searches (`go`, `update`, `stop`) with their clocks and limits. Nothing here computes a
//! time.

use crate::open::shown_as_on_the_wire;
#[cfg(feature = "schema")]
use crate::position::NAME_PATTERN;
use crate::settings::is_default;
use crate::{GameRef, Position, Settings};
#[cfg(feature = "schema")]
use crate::{MAX_INT, MAX_MOVES_TO_GO, MAX_MULTIPV, MAX_SEARCH_DEPTH};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
#[cfg(feature = "schema")]
use std::borrow::Cow;

/// Searches a position. Times are in ms and run from the arrival of the line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "required": ["clock"] },
    { "required": ["limit"], "properties": { "limit": { "anyOf": [
        { "required": ["nodes"] }, { "required": ["depth"] }, { "required": ["time_ms"] },
    ] } } },
    { "required": ["mode"], "properties": { "mode": { "enum": ["analyse", "ponder"] } } },
])))]
pub struct Go {
    /// The rules.
    #[serde(flatten)]
    pub game: GameRef,
    /// The position.
    pub position: Position,
    /// What the search is for.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "move")))]
    pub mode: Mode,
    /// The clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Limits; the first one reached ends the search.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limit: Limit,
    /// A watchdog answers after this time even if the search does not yield.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
    pub hard_ms: Option<u64>,
    /// Time already spent on this move when the line was sent.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub elapsed_ms: u64,
    /// The answer is written this much early.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub overhead_ms: u64,
    /// The number of best moves to report a line for.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_MULTIPV)))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 1)))]
    pub multipv: u32,
    /// Only these moves are searched; none: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub searchmoves: Vec<String>,
    /// These moves are not searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub excludemoves: Vec<String>,
    /// Which `info` messages are sent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub info: InfoRequest,
    /// Options of this search only.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = {})))]
    pub options: Settings,
    /// Whether the request waits for its session or for cores, its clock starting then.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub queue: bool,
}

impl Go {
    /// A search of `position` with all else at its default. It still needs a clock or a limit.
    ///
    /// ```
    /// use plyd_protocol::{Clock, GameRef, Go, Limit, Position, Settings};
    ///
    /// let rules = Settings::from_iter([("preset", "7x7")]);
    /// let game = GameRef::Game { game: "isolation".into(), rules };
    /// let position = Position { moves: vec!["d4".into(), "b3".into()], ..Position::default() };
    /// let go = Go {
    ///     clock: Some(Clock::PerMove { ms: 250 }),
    ///     limit: Limit { nodes: Some(1_000_000), ..Limit::default() },
    ///     ..Go::new(game, position)
    /// };
    /// // What is at its default is not sent.
    /// let sent = serde_json::to_value(&go)?;
    /// assert_eq!(sent["clock"], serde_json::json!({ "kind": "per_move", "ms": 250 }));
    /// assert!(sent.get("multipv").is_none());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn new(game: GameRef, position: Position) -> Self {
        Self {
            game,
            position,
            mode: Mode::default(),
            clock: None,
            limit: Limit::default(),
            hard_ms: None,
            elapsed_ms: 0,
            overhead_ms: 0,
            multipv: 1,
            searchmoves: Vec::new(),
            excludemoves: Vec::new(),
            info: InfoRequest::default(),
            options: Settings::new(),
            queue: false,
        }
    }
}

/// What a search is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A move to play.
    #[default]
    Move,
    /// Knowledge about the position, until stopped.
    Analyse,
    /// Thinking in the opponent's time, until `update` or `stop`.
    Ponder,
}

shown_as_on_the_wire!(Mode);

/// A clock, by `kind`. A clock at 0 or less means: answer at once.
///
/// ```
/// use plyd_protocol::Clock;
///
/// let (opp_ms, opp_inc_ms, moves_to_go) = (None, None, None);
/// let clock = Clock::Increment { me_ms: 60_000, opp_ms, inc_ms: 500, opp_inc_ms, moves_to_go };
/// assert_eq!(serde_json::to_string(&clock)?, r#"{"kind":"increment","me_ms":60000,"inc_ms":500}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Clock {
    /// A fixed time for this move.
    #[cfg_attr(feature = "schema", schemars(title = "PerMoveClock"))]
    PerMove {
        /// The time for this move.
        #[cfg_attr(feature = "schema", schemars(range(min = -MAX_INT, max = MAX_INT)))]
        ms: i64,
    },
    /// A time for the game (or for some moves) that grows with each move.
    #[cfg_attr(feature = "schema", schemars(title = "IncrementClock"))]
    Increment {
        /// The mover's time left.
        #[cfg_attr(feature = "schema", schemars(range(min = -MAX_INT, max = MAX_INT)))]
        me_ms: i64,
        /// The opponent's time left.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = -MAX_INT, max = MAX_INT)))]
        opp_ms: Option<i64>,
        /// Added to the mover's time after each of the mover's moves.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
        inc_ms: u64,
        /// Added to the opponent's time; absent: the same as `inc_ms`.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
        opp_inc_ms: Option<u64>,
        /// The mover's moves to the next time control; absent: the time is for the whole game.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_MOVES_TO_GO)))]
        moves_to_go: Option<u32>,
    },
    /// A time for the game that starts to run a delay after the opponent's move.
    #[cfg_attr(feature = "schema", schemars(title = "DelayClock"))]
    Delay {
        /// The mover's time left.
        #[cfg_attr(feature = "schema", schemars(range(min = -MAX_INT, max = MAX_INT)))]
        me_ms: i64,
        /// The opponent's time left.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = -MAX_INT, max = MAX_INT)))]
        opp_ms: Option<i64>,
        /// The free time of each move; what is left of it is lost.
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
        delay_ms: u64,
    },
    /// A time for each turn, and a reserve for the game that turns may draw on.
    #[cfg_attr(feature = "schema", schemars(title = "BankClock"))]
    Bank {
        /// The free time of this turn.
        #[cfg_attr(feature = "schema", schemars(range(min = -MAX_INT, max = MAX_INT)))]
        turn_ms: i64,
        /// The reserve left.
        #[cfg_attr(feature = "schema", schemars(range(min = -MAX_INT, max = MAX_INT)))]
        bank_ms: i64,
    },
    /// The deadline is unknown: each better move is sent at once, until `stop` or the end of the connection.
    #[cfg_attr(feature = "schema", schemars(title = "AnytimeClock"))]
    Anytime {
        /// A guess of the time there will be.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
        hint_ms: Option<u64>,
    },
    /// No clock: the search runs until it is proven, limited or stopped.
    #[default]
    #[cfg_attr(feature = "schema", schemars(title = "NoClock"))]
    None,
}

/// Limits of a search; the first one reached ends it. Empty: none.
///
/// ```
/// use plyd_protocol::Limit;
///
/// let limit = Limit { nodes: Some(1_000_000), depth: Some(12), ..Limit::default() };
/// assert_eq!(serde_json::to_string(&limit)?, r#"{"nodes":1000000,"depth":12}"#);
/// assert!(!limit.is_empty() && Limit::default().is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Limit {
    /// Nodes searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_INT)))]
    pub nodes: Option<u64>,
    /// Depth completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_SEARCH_DEPTH)))]
    pub depth: Option<u32>,
    /// Time spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
    pub time_ms: Option<u64>,
}

impl Limit {
    /// Whether nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Which `info` messages a search sends.
///
/// ```
/// use plyd_protocol::{InfoEvent, InfoRequest};
///
/// let info = InfoRequest { events: vec![InfoEvent::Progress], min_interval_ms: 100 };
/// assert_eq!(serde_json::to_string(&info)?, r#"{"events":["progress"],"min_interval_ms":100}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InfoRequest {
    /// The events; empty: none.
    #[serde(default = "usual_events", skip_serializing_if = "is_usual_events")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = ["best"])))]
    pub events: Vec<InfoEvent>,
    /// The least time between two messages of one event; the newest waits, older ones are skipped and
    /// counted.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub min_interval_ms: u64,
}

impl Default for InfoRequest {
    fn default() -> Self {
        Self { events: usual_events(), min_interval_ms: 0 }
    }
}

/// The occasion of an `info` message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InfoEvent {
    /// The search begins.
    Started,
    /// The best move or its line changed.
    Best,
    /// A depth was completed, or time passed.
    Progress,
}

/// Changes a running search; what is absent stays.
///
/// ```
/// use plyd_protocol::{Clock, Command, Update, UpdateMode};
///
/// // The opponent played the move that the search `g` ponders on.
/// let hit = Command::Update(Update {
///     target: "g".to_owned(),
///     clock: Some(Clock::PerMove { ms: 250 }),
///     mode: Some(UpdateMode::Move),
///     ..Update::default()
/// });
/// assert_eq!(
///     serde_json::to_string(&hit)?,
///     r#"{"cmd":"update","target":"g","clock":{"kind":"per_move","ms":250},"mode":"move"}"#,
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Update {
    /// The id of the `go`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = NAME_PATTERN)))]
    pub target: String,
    /// A fresh clock, which runs from the arrival of this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Fresh limits, instead of the old.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limit: Limit,
    /// A fresh watchdog, from the arrival of this line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
    pub hard_ms: Option<u64>,
    /// `move`: the ponder or analysis becomes a search for a move (UCI's `ponderhit`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<UpdateMode>,
}

/// The mode that [`Update`] can set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UpdateMode {
    /// A move to play.
    #[default]
    Move,
}

/// Ends searches early.
///
/// ```
/// use plyd_protocol::{Command, Stop, StopTarget};
///
/// let stop = Command::Stop(Stop { target: StopTarget::Go("g".to_owned()), discard: false });
/// assert_eq!(serde_json::to_string(&stop)?, r#"{"cmd":"stop","target":"g"}"#);
/// let all = Command::Stop(Stop::default());
/// assert_eq!(serde_json::to_string(&all)?, r#"{"cmd":"stop","all":true}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Stop {
    /// Which ones.
    #[serde(flatten)]
    pub target: StopTarget,
    /// Whether they end with the error `cancelled` instead of a `bestmove`.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub discard: bool,
}

/// Which searches [`Stop`] ends. Flat in the request: `target`, `session` or `all:true`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StopTarget {
    /// The `go` of this id.
    Go(String),
    /// The searches of this session.
    Session(String),
    /// All of this connection.
    #[default]
    All,
}

impl Serialize for StopTarget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Go(id) => map.serialize_entry("target", id)?,
            Self::Session(session) => map.serialize_entry("session", session)?,
            Self::All => map.serialize_entry("all", &true)?,
        }
        map.end()
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for StopTarget {
    fn schema_name() -> Cow<'static, str> {
        "StopTarget".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "target": {
                    "description": "The id of a `go`.",
                    "type": "string",
                    "pattern": NAME_PATTERN,
                },
                "session": {
                    "description": "A session: its searches.",
                    "type": "string",
                    "pattern": NAME_PATTERN,
                },
                "all": {
                    "description": "All searches of this connection; `false` is the same as absent.",
                    "type": "boolean",
                    "default": false,
                },
            },
            "oneOf": [
                { "required": ["target"], "properties": { "session": false, "all": { "const": false } } },
                { "required": ["session"], "properties": { "target": false, "all": { "const": false } } },
                { "required": ["all"], "properties": { "target": false, "session": false, "all": { "const": true } } },
            ],
        })
    }
}

#[cfg(feature = "schema")]
fn one() -> u32 {
    1
}

fn is_one(value: &u32) -> bool {
    *value == 1
}

fn usual_events() -> Vec<InfoEvent> {
    vec![InfoEvent::Best]
}

fn is_usual_events(events: &[InfoEvent]) -> bool {
    events == usual_events()
}
