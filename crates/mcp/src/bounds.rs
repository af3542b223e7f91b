//! How much calls may take.

use std::time::Duration;

/// What the server allows at most.
///
/// ```
/// use std::time::Duration;
///
/// let bounds = plyd_mcp::Bounds { search: Duration::from_secs(5), ..Default::default() };
/// assert_eq!((bounds.games, bounds.calls), (256, 16));
/// ```
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Time of a search, and of the review of a game.
    pub search: Duration,
    /// Time of a search for which the caller gives no limit.
    pub usual_search: Duration,
    /// Time that anything else may take, and that a call may take beyond its search.
    pub other: Duration,
    /// Calls at once; further ones are refused.
    pub calls: usize,
    /// Reviews at once; each has a hash table of its own, beside those of the daemon.
    pub reviews: usize,
    /// Games kept at once.
    pub games: usize,
    /// Time after which a game that nobody asks for is forgotten.
    pub idle: Duration,
    /// Plies of a game.
    pub plies: usize,
    /// Moves, or lines of a search, in one answer.
    pub listed: usize,
    /// Bytes of a request over HTTP.
    pub request_bytes: usize,
    /// Connections at once over HTTP; requests over further ones are answered by status 503.
    pub connections: usize,
    /// Time after which a connection over HTTP is closed that brings no request, or takes nothing of an
    /// answer.
    pub silence: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            search: Duration::from_secs(60),
            usual_search: Duration::from_secs(1),
            other: Duration::from_secs(30),
            calls: 16,
            reviews: 1,
            games: 256,
            idle: Duration::from_secs(60 * 60),
            plies: plyd_core::review::MOST_PLIES,
            listed: 1000,
            request_bytes: 1 << 20,
            connections: 256,
            silence: Duration::from_secs(60),
        }
    }
}

impl Bounds {
    /// [`Bounds::search`] in milliseconds.
    pub(crate) fn search_ms(&self) -> u64 {
        u64::try_from(self.search.as_millis()).unwrap_or(u64::MAX)
    }
}
