//! The bodies of `result` messages, one type per command; those of operators are in `operate`.

use crate::operate::{ConnectionsResult, DisconnectResult};
use crate::settings::is_default;
use crate::{Board, Hash, NamedClient, Outcome, Resumable, Seed, Settings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// The final answer to a request that is no `go`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResultMessage {
    /// The id of the request.
    pub id: String,
    /// What was asked for.
    #[serde(flatten)]
    pub body: ResultBody,
}

/// The body of a result, by the `cmd` of its request, which `of` repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "of", rename_all = "lowercase")]
pub enum ResultBody {
    /// Of `hello`.
    Hello(Box<HelloResult>),
    /// Of `ping`.
    Ping(PingResult),
    /// Of `describe`.
    Describe(DescribeResult),
    /// Of `newgame`.
    NewGame(NewGameResult),
    /// Of `setoption`.
    SetOption(SetOptionResult),
    /// Of `close`.
    Close(CloseResult),
    /// Of `inspect`.
    Inspect(Box<InspectResult>),
    /// Of `update`.
    Update(UpdateResult),
    /// Of `stop`.
    Stop(StopResult),
    /// Of `status`.
    Status(StatusResult),
    /// Of `connections`.
    Connections(ConnectionsResult),
    /// Of `disconnect`.
    Disconnect(DisconnectResult),
    /// Of `quit`.
    Quit(QuitResult),
}

/// The server and what it offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelloResult {
    /// The protocol version of this connection: the highest common one.
    pub protocol: u32,
    /// Who the server is.
    pub server: Server,
    /// What the server can do beyond the protocol's core.
    pub features: Vec<String>,
    /// The names of the games.
    pub games: Vec<String>,
    /// The server's limits.
    pub limits: Limits,
    /// That the connection is kept when it loses its socket, if it was asked for and there is room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resumable>,
}

/// Who a server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a server allows at most. The default holds the protocol's constants, and 0 where the machine decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Bytes of a line.
    pub line_bytes: u64,
    /// Nesting of objects and arrays.
    pub nesting: u32,
    /// Finished ids that are remembered.
    pub finished_ids: u32,
    /// Requests in flight on one connection.
    pub requests: u32,
    /// Sessions open on one connection.
    pub sessions: u32,
    /// Searches running at once, over all connections.
    pub searches: u32,
    /// Search threads, over all connections.
    pub threads: u32,
    /// Memory of all hash tables.
    pub hash_bytes: u64,
    /// Lines of one search.
    pub multipv: u32,
    /// Depth limit of one search.
    pub depth: u32,
    /// Unsent bytes at which the connection closes.
    pub unsent_bytes: u64,
    /// Time without progress of the unsent bytes at which the connection closes.
    pub stalled_ms: u64,
    /// Time that searches have to finish after the end of input.
    pub eof_ms: u64,
    /// Time that a shutdown takes at most, once searches may not go on.
    pub shutdown_ms: u64,
    /// Time that searches in flight may go on at a shutdown; 0: they answer at once.
    #[serde(default)]
    pub drain_ms: u64,
    /// Bytes that the requests in flight on one connection may occupy, as decoded.
    #[serde(default)]
    pub request_bytes: u64,
    /// The same of all connections.
    #[serde(default)]
    pub request_bytes_in_all: u64,
    /// Bytes that the sessions of one connection may hold.
    #[serde(default)]
    pub session_bytes: u64,
    /// The same of all connections.
    #[serde(default)]
    pub session_bytes_in_all: u64,
    /// Unsent bytes of all connections past which large answers are refused.
    #[serde(default)]
    pub unsent_bytes_in_all: u64,
    /// Greeted connections over sockets at once.
    #[serde(default)]
    pub connections: u32,
    /// Connections over sockets at once that have not said `hello`.
    #[serde(default)]
    pub strangers: u32,
    /// Connections of one address at once; 0: no limit.
    #[serde(default)]
    pub connections_per_address: u32,
    /// Time in which `hello` must come over a socket.
    #[serde(default)]
    pub hello_ms: u64,
    /// Bad lines before `hello` at which the connection closes.
    #[serde(default)]
    pub bad_lines: u32,
    /// Time without a line and without a request in flight at which a greeted connection over a socket
    /// closes; 0: none.
    #[serde(default)]
    pub idle_ms: u64,
    /// Silence of a peer over TCP after which the system asks whether it is still there (keepalive); 0:
    /// never.
    #[serde(default)]
    pub keepalive_ms: u64,
    /// Silence of a peer over WebSocket after which it is pinged, and as long again until it is cut off.
    #[serde(default)]
    pub silence_ms: u64,
    /// Peers that shake hands over TLS at once, of each listener; absent where TLS is not served.
    #[serde(default, skip_serializing_if = "is_default")]
    pub handshakes: u32,
    /// Time that such a handshake may take; absent where TLS is not served.
    #[serde(default, skip_serializing_if = "is_default")]
    pub handshake_ms: u64,
    /// Bytes that a peer may send in it; absent where TLS is not served.
    #[serde(default, skip_serializing_if = "is_default")]
    pub handshake_bytes: u64,
    /// Players with their memory at once: those of all searches in flight, and those that sessions keep
    /// between searches.
    #[serde(default)]
    pub engines: u32,
    /// The longest time that a connection is kept after it has lost its socket; 0, or absent: none is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resume_ms: u64,
    /// The connections at once that may be kept when they lose their sockets.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resume_connections: u32,
    /// The bytes of messages that each of them keeps to be sent again.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resume_bytes: u64,
    /// Who the client is and its own limits, if the server knows it by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Box<NamedClient>>,
    /// Delays that the server keeps while search threads leave one core free.
    pub guarantees: Guarantees,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: crate::MAX_LINE as u64,
            nesting: crate::MAX_DEPTH as u32,
            finished_ids: crate::FINISHED_IDS as u32,
            requests: 0,
            sessions: 0,
            searches: 0,
            threads: 0,
            hash_bytes: 0,
            multipv: crate::MAX_MULTIPV,
            depth: crate::MAX_SEARCH_DEPTH,
            unsent_bytes: crate::MAX_UNSENT as u64,
            stalled_ms: 10_000,
            eof_ms: 10_000,
            shutdown_ms: 5_000,
            drain_ms: 0,
            request_bytes: 0,
            request_bytes_in_all: 0,
            session_bytes: 0,
            session_bytes_in_all: 0,
            unsent_bytes_in_all: 0,
            connections: 0,
            strangers: 0,
            connections_per_address: 0,
            hello_ms: 0,
            bad_lines: 0,
            idle_ms: 0,
            keepalive_ms: 0,
            silence_ms: 0,
            handshakes: 0,
            handshake_ms: 0,
            handshake_bytes: 0,
            engines: 0,
            resume_ms: 0,
            resume_connections: 0,
            resume_bytes: 0,
            client: None,
            guarantees: Guarantees::default(),
        }
    }
}

/// Delays in microseconds, less those of a thread that sleeps to the same instants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Guarantees {
    /// From a `go` to its first `best`, at most.
    pub first_best_us: u64,
    /// From a `stop` to the final message, median.
    pub stop_p50_us: u64,
    /// From a `stop` to the final message, 99th percentile.
    pub stop_p99_us: u64,
    /// From a `ping` to its result, 99th percentile.
    pub ping_p99_us: u64,
    /// Past `hard_ms`, 99.9th percentile.
    pub hard_p999_us: u64,
}

impl Default for Guarantees {
    fn default() -> Self {
        Self {
            first_best_us: 10_000,
            stop_p50_us: 100,
            stop_p99_us: 4_000,
            ping_p99_us: 1_000,
            hard_p999_us: 4_000,
        }
    }
}

/// A sign of life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PingResult {
    /// The `echo` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<String>,
}

/// What the server can do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DescribeResult {
    /// The description; its shape depends on `what`.
    pub body: serde_json::Value,
}

/// An open session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewGameResult {
    /// The session's name.
    pub session: String,
    /// The game.
    pub game: String,
    /// The rules in force, all of them.
    pub rules: Settings,
    /// The options in force, all of them.
    pub options: Settings,
    /// The seed given or drawn.
    pub seed: Seed,
    /// Who moves first.
    pub to_move: ToMove,
}

/// Options after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetOptionResult {
    /// The session; absent: the connection's defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The options in force.
    pub options: Settings,
}

/// A closed session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CloseResult {
    /// The session's name.
    pub session: String,
    /// The connection whose session it was, if the request named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<u64>,
}

/// What the rules say about a position: the fields that were wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InspectResult {
    /// Who is to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_move: Option<ToMove>,
    /// The outcome; null while the game goes on.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(schema_with = "nullable_outcome")]
    pub outcome: Option<Option<Outcome>>,
    /// The legal moves' texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<String>>,
    /// The legal moves, each with what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<MoveInfo>>,
    /// The chance outcomes; empty where a player is to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<Vec<ChanceInfo>>,
    /// The board to be drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The position's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The position's hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// The static evaluation in thousandths, from the mover's view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<i64>,
    /// The game so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// The position as the game's own referee writes it, where that is another text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

/// Who is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToMove {
    /// The player who moves first by the rules.
    P1,
    /// The other one.
    P2,
    /// Neither: a chance outcome comes next.
    Chance,
}

/// A legal move and what follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MoveInfo {
    /// The move's text.
    #[serde(rename = "move")]
    pub mv: String,
    /// The text of the position after it.
    pub text: String,
    /// The static evaluation after it in thousandths, from the view of the one who makes the move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<i64>,
    /// The outcome, if the move ends the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// A chance outcome and its probability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChanceInfo {
    /// The outcome's text, with its `~`.
    #[serde(rename = "move")]
    pub mv: String,
    /// Its probability in ppm; together 1,000,000, the remainder on the first.
    #[schemars(range(max = 1_000_000))]
    pub ppm: u32,
}

/// A game as JSON text: enough to play it through again. Later versions add fields and change none.
///
/// `start` and `moves` can be sent as the `position` of a request, `game` and `rules` beside them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The version of the record's form, 1.
    pub record: u32,
    /// The game.
    pub game: String,
    /// The rules in force, all of them.
    pub rules: Settings,
    /// The position's text at the start, written even where it is the rules' own.
    pub start: String,
    /// The plies since, chance plies included.
    pub moves: Vec<String>,
    /// The outcome; null while the game goes on.
    pub result: Option<Outcome>,
}

impl Record {
    /// The version of the record's form.
    pub const VERSION: u32 = 1;
}

/// What an `update` or a `stop` did. An ordinary race is one of these, never an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The search goes on with what was set.
    Updated,
    /// The search ends; its final message follows.
    Stopping,
    /// The final message came before.
    AlreadyFinished,
    /// The target is neither running nor among the last 1,024 finished.
    Unknown,
}

/// The effect of an `update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UpdateResult {
    /// `updated`, `already_finished` or `unknown`.
    pub effect: Effect,
}

/// The effect of a `stop`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StopResult {
    /// `stopping`, `already_finished` or `unknown`.
    pub effect: Effect,
    /// The ids of the searches and questions that this `stop` ends, in the order of their arrival.
    pub targets: Vec<String>,
}

/// The server's load and counters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusResult {
    /// Searches running, over all connections.
    pub searches: u64,
    /// Sessions open, over all connections.
    pub sessions: u64,
    /// Search threads in use.
    pub threads: u64,
    /// Memory of the hash tables in use.
    pub hash_bytes: u64,
    /// Time since the server's start.
    pub uptime_ms: u64,
    /// What happened since the server's start.
    pub counters: Counters,
}

/// What happened since the server's start, over all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Connections accepted.
    pub connections: u64,
    /// Connections closed by the server: by limits, for abuse, by operators, or because no client came back.
    pub connections_dropped: u64,
    /// Lines read.
    pub lines: u64,
    /// Errors sent.
    pub errors: u64,
    /// Searches begun.
    pub searches: u64,
    /// Searches that ended `cancelled`.
    pub cancelled: u64,
    /// Searches that broke (reason `failed`).
    pub failed: u64,
    /// Searches whose thread did not yield to the watchdog and was replaced.
    pub abandoned: u64,
    /// Nodes searched.
    pub nodes: u64,
    /// `info` messages replaced by newer ones before they were sent.
    pub info_skipped: u64,
    /// Lines of the server's log that were lost, since nobody read them or there was no room for them; from a
    /// server with the feature `log_lost`.
    #[serde(default)]
    pub log_lost: u64,
    /// Lines that are missing from the server's transcript, since its file did not take them in time or at
    /// all; servers may leave it out.
    #[serde(default)]
    pub transcript_lost: u64,
}

/// The last message of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuitResult {}

/// Distinguishes a field that is there and null (`Some(None)`) from one that is not there (`None`).
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The schema of an outcome that can be null, not only absent.
fn nullable_outcome(generator: &mut SchemaGenerator) -> Schema {
    let outcome = generator.subschema_for::<Outcome>();
    json_schema!({ "oneOf": [outcome, { "type": "null" }] })
}
