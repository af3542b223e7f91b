//! Why a connection cannot go on.

use std::io;

use plyd_protocol::{ErrorCode, ErrorMessage};

/// Why no line can be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The program does not start.
    #[error("cannot start `{program}`: {error}{}", advice(.error))]
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
    /// A line has more than so many bytes, which is all that is [read](crate::Lines::set_longest).
    #[error("a line of more than {0} bytes")]
    TooLong(usize),
    /// TLS ended the connection: one end does not trust the other, or does not understand it.
    #[error("TLS: {0}")]
    Tls(String),
    /// The peer breaks the rules of WebSocket.
    #[error("the WebSocket breaks a rule: {0}")]
    Frames(&'static str),
}

/// A hint for a script that the system does not start as a program.
fn advice(error: &io::Error) -> &'static str {
    // By its number, for which there is no kind: the file has no first line that names an interpreter.
    let is_no_program = cfg!(unix) && error.raw_os_error() == Some(8);
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; is it executable? Try `chmod +x FILE`, or name its interpreter, such as `python3 FILE`"
        }
        _ if is_no_program => "; name its interpreter, such as `python3 FILE`",
        _ => "",
    }
}

/// Why a client cannot go on.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use plyd_client::{Client, ClientError, LineError};
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

/// Why a request to an engine has no answer.
///
/// ```
/// use plyd_client::Error;
/// use plyd_protocol::{ErrorCode, ErrorMessage};
///
/// let mut message = ErrorMessage::new(Some("7".into()), 3, ErrorCode::IllegalMove, "no such cell");
/// message.pointer = Some("/position/moves/0".into());
/// let error = Error::Refused(Box::new(message));
/// assert_eq!(error.code(), Some(ErrorCode::IllegalMove));
/// assert_eq!(error.pointer(), Some("/position/moves/0"));
/// assert_eq!(error.to_string(), "illegal_move at /position/moves/0: no such cell");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server cannot be started or reached, is gone or silent, or does not speak the protocol.
    #[error(transparent)]
    Connection(#[from] ClientError),
    /// The server refused the request.
    #[error("{}", refusal(.0))]
    Refused(Box<ErrorMessage>),
    /// The answer does not fit the request: it is of another kind, or cannot be read.
    #[error("the server gave an answer that was not asked for")]
    Unasked,
}

impl Error {
    /// The code with which the server refused the request.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(error) => Some(error.code),
            Self::Connection(_) | Self::Unasked => None,
        }
    }

    /// The field of the request that is wrong, as a JSON pointer.
    #[must_use]
    pub fn pointer(&self) -> Option<&str> {
        match self {
            Self::Refused(error) => error.pointer.as_deref(),
            Self::Connection(_) | Self::Unasked => None,
        }
    }
}

impl From<LineError> for Error {
    fn from(error: LineError) -> Self {
        Self::Connection(error.into())
    }
}

fn refusal(error: &ErrorMessage) -> String {
    let ErrorMessage { code, pointer, message, .. } = error;
    match pointer {
        Some(pointer) => format!("{code} at {pointer}: {message}"),
        None => format!("{code}: {message}"),
    }
}
