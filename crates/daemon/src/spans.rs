//! What the log says around everything that a peer causes: which connection it is, which of its sessions, and
//! which of its requests.
//!
//! The spans have the highest level, so that filters keep them even around the gravest event; whatever else
//! an event needs is in its own fields. A connection's span is entered by whoever serves its transport, a
//! request's by the thread that works on it: a line of the log is in the right spans wherever it is written.
//! A session's span is entered by nobody; it stands around those of its requests.

use std::net::SocketAddr;
use std::time::Duration;

use tracing::Span;
use tracing::field::{self, Empty};

use super::ids::ConnId;
use crate::log::{Quota, bounded};

/// Lines about connections that come and go.
static OPENED: Quota = Quota::new(200, Duration::from_millis(500));
static BROKEN: Quota = Quota::new(200, Duration::from_millis(500));

/// Where a connection comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// The process that started the daemon: `hello` is optional and no token is wanted.
    Stdio,
    /// This process; the same holds.
    Process,
    /// A Unix socket.
    Unix,
    /// A peer's TCP connection.
    Tcp(SocketAddr),
    /// The same, once it speaks WebSocket.
    WebSocket(SocketAddr),
    /// TLS over TCP.
    Tls(SocketAddr),
    /// The same, once it speaks WebSocket.
    SecureWebSocket(SocketAddr),
}

impl Origin {
    /// The names of all, as the log and the metrics have them.
    pub(super) const NAMES: [&str; 7] = ["stdio", "process", "unix", "tcp", "websocket", "tls", "wss"];

    /// Its place among the names.
    pub(super) fn index(self) -> usize {
        match self {
            Self::Stdio => 0,
            Self::Process => 1,
            Self::Unix => 2,
            Self::Tcp(_) => 3,
            Self::WebSocket(_) => 4,
            Self::Tls(_) => 5,
            Self::SecureWebSocket(_) => 6,
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        Self::NAMES[self.index()]
    }

    /// The peer's address, if it has one.
    pub(super) fn peer(self) -> Option<SocketAddr> {
        match self {
            Self::Stdio | Self::Process | Self::Unix => None,
            Self::Tcp(peer) | Self::WebSocket(peer) | Self::Tls(peer) | Self::SecureWebSocket(peer) => {
                Some(peer)
            }
        }
    }

    /// Whether the peer may be a stranger.
    pub(super) fn is_remote(self) -> bool {
        !matches!(self, Self::Stdio | Self::Process)
    }
}

/// The most characters of a client's name that the log shows, and of other texts of peers.
const NAME: usize = 64;
const TEXT: usize = 200;

/// The beginning of what a peer wrote.
pub(super) fn short(text: &str) -> &str {
    cut(text, TEXT)
}

fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// The span of a connection; its client's name comes with `hello`.
pub(super) fn connection(id: ConnId, origin: Origin) -> Span {
    tracing::error_span!(
        "connection",
        id,
        transport = origin.name(),
        peer = origin.peer().map(field::display),
        client = Empty
    )
}

/// The span of a session, from the answer to its `newgame` to its end.
pub(super) fn session(connection: &Span, id: &str, game: &str) -> Span {
    tracing::error_span!(parent: connection, "session", id, game)
}

/// The span of a request, within that of its connection or of its session.
pub(super) fn request(within: &Span, id: &str, cmd: &str) -> Span {
    tracing::error_span!(parent: within, "request", id, cmd)
}

/// The span of a request that may name a session, which has no span.
pub(super) fn request_for(connection: &Span, id: &str, cmd: &str, session: Option<&str>) -> Span {
    tracing::error_span!(parent: connection, "request", id, cmd, session)
}

/// Names the client of a connection, as it calls itself.
pub(super) fn name(connection: &Span, client: &str) {
    connection.record("client", cut(client, NAME));
}

/// Logs that a connection begins, in its span.
pub(super) fn opened(connection: &Span) {
    bounded!(OPENED, INFO, parent: connection, "connection");
}

/// Logs that a connection ended otherwise than it should, within its span.
pub(super) fn broke(what: &str) {
    bounded!(BROKEN, INFO, "{what}");
}
