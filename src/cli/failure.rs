//! How a command ends badly: what is said on stderr and the exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use super::styled::shown;
use crate::bridge;
use crate::client::ClientError;
use crate::daemon::ServeError;
use crate::daemon::log::{self, Form};
use crate::engine::Fault;
use plyd_protocol::ErrorCode;

/// Why a command did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The arguments make no sense; the text says what to give instead. Exit code 2.
    #[error("{0}")]
    Usage(String),
    /// It was tried and did not work. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The engine or a server refused it by this code. Exit code 1 if no argument is to blame, else 2.
    #[error("{message}")]
    Refused { code: ErrorCode, message: String },
    /// The output reported it already. Exit code 1.
    #[error("")]
    Reported,
    /// A command that this one ran failed, and said so itself. The exit code is that command's.
    #[error("")]
    Passed(u8),
    /// Output or a file broke. Exit code 1.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Failure {
    /// Says on stderr what failed, unless that is said already; if the log is JSON, by a line of it.
    pub(crate) fn report(&self) {
        if matches!(self, Self::Reported | Self::Passed(_)) || self.is_early_end() {
            return;
        }
        match log::form() {
            Form::Text => {
                let _nobody_reads = writeln!(io::stderr(), "error: {}{}", self.shown(), self.further());
            }
            Form::Json => {
                tracing::error!(target: "plyd", "{self}");
                log::flush();
            }
        }
    }

    /// What another program refused, and the place in the request.
    pub(crate) fn refused(code: ErrorCode, pointer: &str, message: &str) -> Self {
        Self::Refused { code, message: format!("{message}{}", place(pointer)) }
    }

    /// What the process exits with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            _ if self.is_early_end() => ExitCode::SUCCESS,
            Self::Refused {
                code: ErrorCode::GameOver | ErrorCode::Internal | ErrorCode::Overloaded, ..
            } => ExitCode::FAILURE,
            Self::Usage(_) | Self::Refused { .. } => ExitCode::from(2),
            Self::Passed(code) => ExitCode::from(*code),
            Self::Failed(_) | Self::Reported | Self::Io(_) => ExitCode::FAILURE,
        }
    }

    /// Whether the reader of our output, such as `head`, had enough, which is no failure.
    fn is_early_end(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Where there is more to read about it: a line, in the manner of clap's.
    fn further(&self) -> String {
        let Self::Refused { code, .. } = self else { return String::new() };
        // Each has a section there, but for those of newer servers.
        if !ErrorCode::ALL.contains(code) {
            return String::new();
        }
        format!("\n\nFor more information, try '{} explain {code}'.", super::program())
    }

    /// The text without what a terminal would obey: parts of it may come from a file or a peer.
    fn shown(&self) -> String {
        self.to_string().chars().map(|c| if c == '\n' { c } else { shown(c) }).collect()
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let pointer = bridge::pointer(&fault.place).unwrap_or_default();
        Self::refused(bridge::error_code(fault.code), &pointer, &fault.message)
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::TranscriptOnStdio { .. } => Self::Usage(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// The place in a request as a place on the command line, in brackets.
fn place(pointer: &str) -> String {
    match pointer.trim_start_matches('/').split('/').collect::<Vec<_>>()[..] {
        ["position", "start"] => " (in --position)".into(),
        ["position", "moves", index] => match index.parse::<usize>() {
            Ok(index) => format!(" (move {} of --moves)", index + 1),
            Err(_) => " (in --moves)".into(),
        },
        ["rules", name] => format!(" (in --rules {name}=...)"),
        ["options", name] => format!(" (in --option {name}=...)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_cannot_command_the_terminal() {
        let failure = Failure::Failed("no record: \x1b[2J\r\nline 2\u{202e}".into());
        assert_eq!(failure.shown(), "no record: \u{fffd}[2J\u{fffd}\nline 2\u{fffd}");
    }

    #[test]
    fn places_in_requests_become_places_on_the_command_line() {
        for (pointer, text) in [
            ("", ""),
            ("/position/start", " (in --position)"),
            ("/position/moves/2", " (move 3 of --moves)"),
            ("/rules/width", " (in --rules width=...)"),
            ("/options/depth", " (in --option depth=...)"),
            ("/clock", ""),
        ] {
            assert_eq!(place(pointer), text);
        }
    }
}
