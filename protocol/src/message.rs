//! What the server sends. The types carry no sequence number and no time stamp: a daemon serialises a message
//! early and stamps it when it is written ([`splice`], [`Envelope`]).

use crate::{ErrorCode, Hash, InfoEvent, Line, Outcome, ResultMessage, Stats, Timing};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message, by `type`.
///
/// ```
/// use plyd_protocol::{Envelope, Message};
///
/// let line = r#"{"seq":4,"t_us":90,"type":"notice","kind":"going_away","message":"restart"}"#;
/// match Envelope::read(line.as_bytes())?.message {
///     Message::BestMove(best) => println!("{} plays {}", best.id, best.mv),
///     Message::Info(info) => println!("{} has {} nodes", info.id, info.stats.nodes),
///     Message::Result(result) => println!("{} is answered", result.id),
///     Message::Error(error) => println!("{:?} failed: {}", error.id, error.message),
///     Message::Notice(notice) => assert_eq!(notice.message, "restart"),
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Message {
    /// The final answer to a request that is no `go`.
    Result(Box<ResultMessage>),
    /// News of a running search.
    Info(Info),
    /// The final answer to a `go`.
    BestMove(Box<BestMove>),
    /// The final answer to a request that failed.
    Error(Box<ErrorMessage>),
    /// Something that no request asked for.
    Notice(Notice),
}

impl Message {
    /// The message as JSON, without `seq` and `t_us`.
    #[must_use]
    pub fn to_body(&self) -> String {
        serde_json::to_string(self).expect("messages hold only text keys and finite integers")
    }

    /// The message as a line, without its line end.
    ///
    /// ```
    /// use plyd_protocol::{Message, Notice, NoticeKind};
    ///
    /// let notice = Message::Notice(Notice::new(NoticeKind::GoingAway, "good night"));
    /// let line = notice.to_line(7, 1500);
    /// assert!(line.starts_with(r#"{"seq":7,"t_us":1500,"type":"notice","kind":"going_away""#), "{line}");
    /// ```
    #[must_use]
    pub fn to_line(&self, seq: u64, t_us: u64) -> String {
        splice(&self.to_body(), seq, t_us)
    }
}

/// Stamps the body of a message: `{...}` becomes `{"seq":..,"t_us":..,...}`.
///
/// ```
/// assert_eq!(plyd_protocol::splice(r#"{"type":"x"}"#, 1, 20), r#"{"seq":1,"t_us":20,"type":"x"}"#);
/// ```
#[must_use]
pub fn splice(body: &str, seq: u64, t_us: u64) -> String {
    let (head, rest) = stamp(body, seq, t_us);
    head + rest
}

/// The same without a copy of the body: what the line begins with, and the part of the body that follows.
#[must_use]
pub fn stamp(body: &str, seq: u64, t_us: u64) -> (String, &str) {
    let rest = body.strip_prefix('{').unwrap_or(body);
    let comma = if rest.starts_with('}') { "" } else { "," };
    (format!("{{\"seq\":{seq},\"t_us\":{t_us}{comma}"), rest)
}

/// A message as it stands on the line.
///
/// ```
/// use plyd_protocol::{Envelope, Message, Notice, NoticeKind};
///
/// let message = Message::Notice(Notice::new(NoticeKind::Warning, "slow down"));
/// let line = serde_json::to_string(&Envelope { seq: 1, t_us: 250, message })?;
/// assert!(line.starts_with(r#"{"seq":1,"t_us":250,"type":"notice""#), "{line}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Counts the messages of the connection, from 1 and without gaps.
    pub seq: u64,
    /// When the message was written: microseconds of a monotonic clock whose zero is the server's.
    pub t_us: u64,
    /// The message.
    #[serde(flatten)]
    pub message: Message,
}

impl Envelope {
    /// Reads a line, with or without its end.
    ///
    /// ```
    /// use plyd_protocol::{Envelope, Message};
    ///
    /// let line = br#"{"seq":1,"t_us":250,"type":"notice","kind":"warning","message":"slow down"}"#;
    /// assert!(matches!(Envelope::read(line)?.message, Message::Notice(_)));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// It is no message of the protocol.
    pub fn read(line: &[u8]) -> Result<Self, serde_json::Error> {
        // Not generic, so that crates that read messages do not compile the deserialization anew.
        serde_json::from_slice(line)
    }
}

/// News of a running search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Info {
    /// The id of the `go`.
    pub id: String,
    /// The occasion.
    pub event: InfoEvent,
    /// The best move so far; absent with `started`.
    #[serde(rename = "move", default, skip_serializing_if = "Option::is_none")]
    pub mv: Option<String>,
    /// The best lines so far, by rank.
    pub lines: Vec<Line>,
    /// The work done so far.
    pub stats: Stats,
    /// The messages of this event that were replaced by newer ones since the last one sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u64,
}

/// The final answer to a `go`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BestMove {
    /// The id of the `go`.
    pub id: String,
    /// Why the search ended.
    pub reason: Reason,
    /// The best move, always a legal one.
    #[serde(rename = "move")]
    pub mv: String,
    /// The reply expected; absent when a chance ply comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ponder: Option<String>,
    /// The hash of the searched position.
    pub hash: Hash,
    /// The best lines, by rank.
    pub lines: Vec<Line>,
    /// The work done.
    pub stats: Stats,
    /// When things happened.
    pub timing: Timing,
    /// The id of the `go` that superseded this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The name under which the server's log reports what broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incident: Option<String>,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// All lines asked for are proven, with what the rules optimise.
    Proven,
    /// Its time by the clock is spent.
    Clock,
    /// A limit is reached.
    Limit,
    /// There is only one move; with mode `move` only.
    OnlyMove,
    /// A `stop`, `quit` or the end of input.
    Stopped,
    /// Another `go` took its session or its cores.
    Superseded,
    /// The watchdog of `hard_ms`.
    Deadline,
    /// Its session was closed or reset.
    Closed,
    /// The search broke; the move is the last one published.
    Failed,
    /// The server shuts down.
    Shutdown,
    /// A reason that this version does not know: the list is open. The move is as good as ever.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Other,
}

/// A request that failed.
///
/// ```
/// use plyd_protocol::{ErrorCode, ErrorMessage};
///
/// let text = r#"{
///     "id": "g", "line": 7, "code": "illegal_move", "message": "no", "pointer": "/position/moves/2",
///     "fatal": false
/// }"#;
/// let error: ErrorMessage = serde_json::from_str(text)?;
/// assert_eq!((error.code, error.pointer.as_deref()), (ErrorCode::IllegalMove, Some("/position/moves/2")));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ErrorMessage {
    /// The id of the request; null if it could not be read, or if it is in use.
    pub id: Option<String>,
    /// The request's line, counted from 1 over all lines of the connection.
    pub line: u64,
    /// What went wrong.
    pub code: ErrorCode,
    /// The same for people; its wording is no part of the protocol.
    pub message: String,
    /// A JSON pointer (RFC 6901) into the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The id that `duplicate_id` is about.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// When to try again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// The field of `limits` for which the connection closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The outcome, with `game_over`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Whether the connection closes after this message.
    pub fatal: bool,
}

impl ErrorMessage {
    /// An error with what every error has; it is fatal if its code is.
    #[must_use]
    pub fn new(id: Option<String>, line: u64, code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            id,
            line,
            code,
            message: message.into(),
            pointer: None,
            reference: None,
            retry_ms: None,
            limit: None,
            outcome: None,
            fatal: code.fatal(),
        }
    }
}

/// Something that no request asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Notice {
    /// Its kind.
    pub kind: NoticeKind,
    /// The request that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The same for people; its wording is no part of the protocol.
    pub message: String,
    /// The field of `limits` for which the connection closes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
}

impl Notice {
    /// A notice with nothing but its kind and a message.
    #[must_use]
    pub fn new(kind: NoticeKind, message: impl Into<String>) -> Self {
        Self { kind, id: None, message: message.into(), limit: None }
    }
}

/// The kind of a [`Notice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// The server shuts down and takes no new work.
    GoingAway,
    /// Something the client's author should know.
    Warning,
    /// The client keeps breaking the protocol and may be cut off.
    ProtocolAbuse,
    /// A kind that this version does not know: the list is open. The message is for people.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Other,
}

fn is_zero(value: &u64) -> bool {
    *value == 0
}
