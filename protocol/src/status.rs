//! What `status` answers: a server's load, and what happened since its start.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The server's load and counters.
///
/// ```
/// use plyd_protocol::StatusResult;
///
/// let mut status = StatusResult { searches: 2, threads: 2, ..StatusResult::default() };
/// status.counters.nodes = 1_000_000;
/// let text = serde_json::to_string(&status)?;
/// assert_eq!(serde_json::from_str::<StatusResult>(&text)?, status);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
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
