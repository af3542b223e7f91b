//! What a server allows at most, and which delays it keeps.

use crate::NamedClient;
use crate::settings::is_default;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server allows at most. The default holds the protocol's constants, and 0 where the machine decides.
///
/// ```
/// use plyd_protocol::Limits;
///
/// let limits: Limits = serde_json::from_value(serde_json::to_value(Limits::default())?)?;
/// assert_eq!((limits.line_bytes, limits.multipv), (1 << 20, 1000));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
    /// What the unsent messages of all connections may occupy.
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
