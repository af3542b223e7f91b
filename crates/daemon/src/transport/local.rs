//! A connection within the process, for a translator in front of the daemon: lines are handed over, and no
//! stream or thread stands between.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plyd_protocol as wire;
use plyd_protocol::{Envelope, ErrorMessage, Message};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tracing::Span;

use super::{Form, Next, Received, next_messages};
use crate::ids::{ConnId, SocketId};
use crate::runtime::Shared;
use crate::signal::{Parker, Signal};
use crate::spans::{self, Origin};
use plyd_core::search::clock::now_ns;
use plyd_protocol::framing::Event;

/// A connection to a daemon of this process; as on the standard streams, `hello` is optional. It may be
/// shared: one thread sends, one receives.
///
/// ```
/// use plyd_core::engine::Entry;
/// use plyd_core::search::clock::now_ns;
/// use plyd_daemon::{Config, Daemon};
///
/// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
///
/// let daemon = Daemon::start(&Config::default(), GAMES)?;
/// let connection = daemon.connect();
/// connection.send(br#"{"id":"1","cmd":"ping"}"#, now_ns());
/// let said = connection.receive().expect("the connection is open");
/// assert!(String::from_utf8_lossy(&said).contains(r#""of":"ping""#));
/// // The input ends, and then the connection.
/// connection.finish_input();
/// assert_eq!(connection.receive(), None);
/// # Ok::<(), plyd_daemon::ServeError>(())
/// ```
pub struct Connection {
    shared: Arc<Shared>,
    conn: ConnId,
    span: Span,
    /// Wakes the thread that receives.
    parker: Arc<Parker>,
    /// Counts the lines sent.
    lines: AtomicU64,
}

impl Connection {
    pub(crate) fn open(shared: &Arc<Shared>) -> Self {
        let parker = Arc::new(Parker::default());
        // There is no reader to wake here; lines are taken whether there is room or not.
        let nobody = || Signal::Thread(Arc::default());
        let signals = [Signal::Thread(Arc::clone(&parker)), nobody(), nobody()];
        let (conn, span) = shared.with(|state| {
            let conn = state.open_conn(Origin::Process, signals, now_ns());
            (conn, state.span(conn))
        });
        spans::opened(&span);
        Self { shared: Arc::clone(shared), conn, span, parker, lines: AtomicU64::new(0) }
    }

    /// Takes a line, without its end, that arrived at `arrived_ns`, an instant of [`now_ns`] from which
    /// answers and clocks count.
    pub fn send(&self, line: &[u8], arrived_ns: u64) {
        let _within = self.span.enter();
        let number = self.lines.fetch_add(1, Relaxed) + 1;
        self.shared.traffic.received(line.len() + 1);
        let event = if line.len() > wire::MAX_LINE {
            Event::TooLong { number, limit: wire::MAX_LINE }
        } else {
            Event::Line { number, bytes: Cow::Borrowed(line) }
        };
        let received = Received::decode(&self.shared, SocketId(self.conn), event, arrived_ns);
        self.shared.with(|state| received.apply(state));
    }

    /// Sends a line with a request, as [`Connection::send`] does, and waits for the message that answers it,
    /// as `T` reads it; `meanwhile` gets what else the daemon says until then. It is for a caller that has
    /// nothing else under way here, so the first final message is the answer.
    ///
    /// ```
    /// use plyd_core::search::clock::now_ns;
    /// # use plyd_core::engine::Entry;
    /// use plyd_daemon::{AskError, Config, Daemon};
    /// use plyd_protocol::{BestMove, ErrorCode};
    ///
    /// # static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
    /// let daemon = Daemon::start(&Config::default(), GAMES)?;
    /// let connection = daemon.connect();
    /// let go = br#"{"id":"1","cmd":"go","game":"nim","position":{},"limit":{"depth":9}}"#;
    /// let best: BestMove = connection.ask(go, now_ns(), |_| {}).expect("a move");
    /// assert_eq!(best.id, "1");
    /// let refused = connection.ask::<BestMove>(br#"{"id":"2","cmd":"fly"}"#, now_ns(), |_| {});
    /// assert!(matches!(refused, Err(AskError::Refused(error)) if error.code == ErrorCode::UnknownCmd));
    /// # Ok::<(), plyd_daemon::ServeError>(())
    /// ```
    ///
    /// # Errors
    /// The daemon refuses the request, the connection is over, or the answer is not what `T` reads.
    pub fn ask<T: DeserializeOwned>(
        &self,
        line: &[u8],
        arrived_ns: u64,
        mut meanwhile: impl FnMut(Message),
    ) -> Result<T, AskError> {
        self.send(line, arrived_ns);
        while let Some(lines) = self.receive() {
            let mut answer = None;
            for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                match serde_json::from_slice::<Kind>(line)?.kind.as_str() {
                    "error" => answer = Some(Err(AskError::Refused(serde_json::from_slice(line)?))),
                    "result" | "bestmove" => answer = Some(Ok(serde_json::from_slice(line)?)),
                    _ => meanwhile(Envelope::read(line)?.message),
                }
            }
            if let Some(answer) = answer {
                return answer;
            }
        }
        Err(AskError::Ended)
    }

    /// Ends the input: what is under way is answered as `on_eof` says, and then the connection is over.
    pub fn finish_input(&self) {
        self.shared.with(|state| state.input_ended(self.conn, now_ns()));
    }

    /// Waits for lines, each with its end; none when the connection is over.
    #[must_use]
    pub fn receive(&self) -> Option<Vec<u8>> {
        loop {
            match next_messages(&self.shared, SocketId(self.conn), Form::Lines) {
                Next::Write(lines) => {
                    self.shared.traffic.sent(lines.len());
                    return Some(lines.into_bytes());
                }
                Next::Wait => self.parker.wait(),
                Next::Close | Next::Gone => return None,
            }
        }
    }
}

/// Why [`Connection::ask`] has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The daemon refuses the request.
    #[error("{}", .0.message)]
    Refused(Box<ErrorMessage>),
    /// The connection is over.
    #[error("the engine has ended")]
    Ended,
    /// The answer is not what the caller expects.
    #[error("no such message: {0}")]
    Unread(#[from] serde_json::Error),
}

/// What distinguishes messages.
#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: String,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.with(|state| state.drop_conn(self.conn, now_ns(), false));
    }
}
