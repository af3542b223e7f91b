//! What an operator asks for: who is connected and what each does, and the end of it.
//!
//! Nothing here knows who may ask, nor what becomes of what is ended.

#[cfg(feature = "schema")]
use std::borrow::Cow;

use crate::open::shown_as_on_the_wire;
use crate::settings::is_default;
#[cfg(feature = "schema")]
use crate::{MAX_INT, MAX_TEXT};
use crate::{Mode, OpenWord, Role, Stats};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Asks who is connected, page by page.
///
/// ```
/// use plyd_protocol::{Command, Connections};
///
/// let next = Command::Connections(Connections { after: 40 });
/// assert_eq!(serde_json::to_string(&next)?, r#"{"cmd":"connections","after":40}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Connections {
    /// Only connections with larger numbers: the `next` of the page before.
    #[serde(default, skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_INT)))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub after: u64,
}

/// Ends connections, those of others too.
///
/// ```
/// use plyd_protocol::{Command, Disconnect, DisconnectTarget};
///
/// let target = DisconnectTarget::Client("alice".to_owned());
/// let end = Command::Disconnect(Disconnect { target });
/// assert_eq!(serde_json::to_string(&end)?, r#"{"cmd":"disconnect","client":"alice"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Disconnect {
    /// Which.
    #[serde(flatten)]
    pub target: DisconnectTarget,
}

/// Which connections [`Disconnect`] ends. Flat in the request: `connection` or `client`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DisconnectTarget {
    /// The connection of this number.
    Connection(u64),
    /// All of the client that the server knows by this name.
    Client(String),
}

#[cfg(feature = "schema")]
impl JsonSchema for DisconnectTarget {
    fn schema_name() -> Cow<'static, str> {
        "DisconnectTarget".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "connection": {
                    "description": "The number of a connection.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_INT,
                },
                "client": {
                    "description": "A client that the server knows by name: all its connections.",
                    "type": "string",
                    "maxLength": MAX_TEXT,
                },
            },
            "oneOf": [
                { "required": ["connection"], "properties": { "client": false } },
                { "required": ["client"], "properties": { "connection": false } },
            ],
        })
    }
}

/// A page of the connections.
///
/// ```
/// use plyd_protocol::{ConnectionState, ConnectionsResult};
///
/// let page: ConnectionsResult = serde_json::from_str(
///     r#"{"count":1,"connections":[{"connection":3,"transport":"tcp","state":"open","age_ms":60,
///         "idle_ms":5,"requests":0,"unsent_bytes":0,"sessions":[],"searches":[]}]}"#,
/// )?;
/// assert_eq!(page.connections[0].state, ConnectionState::Open);
/// assert!(page.next.is_none(), "this is the last page");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ConnectionsResult {
    /// How many connections there are, on all pages together.
    pub count: u64,
    /// Those of this page, in the order of their numbers.
    pub connections: Vec<ConnectionInfo>,
    /// The `after` of the next page; absent: this is the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A connection and what it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ConnectionInfo {
    /// Its number, which no other connection of this server gets.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub connection: u64,
    /// How it came: `stdio`, `process`, `unix`, `tcp`, `websocket`, `tls` (TCP) or `wss` (WebSocket).
    pub transport: String,
    /// The peer's address, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// How far it is.
    pub state: OpenWord<ConnectionState>,
    /// The name by which the server knows its client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// How its client calls itself, escaped and cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What its client may ask for; absent before `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<OpenWord<Role>>,
    /// Time since it was opened.
    pub age_ms: u64,
    /// Time since its last line came or its last message was queued.
    pub idle_ms: u64,
    /// Requests in flight, searches among them.
    pub requests: u64,
    /// Bytes that its client has not read.
    pub unsent_bytes: u64,
    /// Its open sessions, by name.
    pub sessions: Vec<SessionInfo>,
    /// Its searches in flight, in the order of their arrival.
    pub searches: Vec<SearchInfo>,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ConnectionState {
    /// `hello` is still to come.
    Stranger,
    /// It takes requests.
    Open,
    /// It takes none any more and is about to close.
    Closing,
    /// Its socket broke, and it waits for its client.
    Kept,
}

shown_as_on_the_wire!(ConnectionState);

/// An open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SessionInfo {
    /// Its name, which belongs to its connection.
    pub session: String,
    /// Its game.
    pub game: String,
}

/// A search in flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SearchInfo {
    /// The id of the `go`.
    pub id: String,
    /// Its session, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Its game, once its position is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    /// What it is for.
    pub mode: OpenWord<Mode>,
    /// How far it is.
    pub state: OpenWord<SearchState>,
    /// Its threads, once its position is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Time since its line arrived.
    pub age_ms: u64,
    /// Time until its answer is due; absent: no time was given, or its clock does not run yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_ms: Option<u64>,
    /// The work done so far.
    pub stats: Stats,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SearchState {
    /// Its position is being read.
    Preparing,
    /// It waits by `queue`, for its session or for cores.
    Waiting,
    /// It waits for its first turn.
    Starting,
    /// It is searched, in turns if there are more searches than cores.
    Searching,
    /// There is nothing more to find, and its client has not stopped it yet.
    Open,
}

shown_as_on_the_wire!(SearchState);

/// The connections that a `disconnect` ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DisconnectResult {
    /// Their numbers, in order.
    pub connections: Vec<u64>,
}
