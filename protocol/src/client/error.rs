//! Why a connection cannot go on.

use std::io;

use crate::MAX_LINE;

/// Why no line can be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The program does not start.
    #[error("cannot start `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// Nobody answers at the address.
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    /// The peer closed the connection or ended.
    #[error("the connection is closed")]
    Closed,
    /// The deadline passed.
    #[error("no answer in time")]
    TimedOut,
    /// The peer left what was sent unread for too long.
    #[error("it does not read what it is sent")]
    Unread,
    /// A line is longer than the protocol allows.
    #[error("a line of more than {MAX_LINE} bytes")]
    TooLong,
    /// TLS ended the connection: one end does not trust the other, or does not understand it.
    #[error("TLS: {0}")]
    Tls(String),
    /// The peer breaks the rules of WebSocket.
    #[error("the WebSocket breaks a rule: {0}")]
    Frames(&'static str),
}

/// Why a client cannot go on.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use plyd_protocol::client::{Client, ClientError, LineError};
///
/// let mut server = Client::spawn(std::process::Command::new("true"))?;
/// let error = server.next(Instant::now() + Duration::from_secs(60)).unwrap_err();
/// assert!(matches!(error, ClientError::Line(LineError::Closed { .. })), "{error}");
/// # Ok::<(), ClientError>(())
/// ```
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection failed.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line is no message of the protocol.
    #[error("no message of the protocol: {error}, in `{line}`")]
    Garbled {
        /// The line, cut for display.
        line: String,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}
