//! Who plays: the program to start, its options and its limits.

use std::ffi::OsString;
use std::process::Command;
use std::time::Duration;

use plyd_protocol::{Clock, Limit, Settings};

/// A player of a match.
#[derive(Clone, PartialEq, Debug)]
pub struct Player {
    /// What the tables and records call it.
    pub name: String,
    /// The program that plays.
    pub program: Program,
    /// Its options, as `newgame` tells them.
    pub options: Settings,
    /// The time for each move; none: only the limits end a search.
    pub time: Option<Duration>,
    /// Limits of each search.
    pub limit: Limit,
}

/// A program that speaks the protocol on its standard streams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The executable.
    pub path: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Program {
    /// What starts it.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        command
    }
}

impl Player {
    /// The clock that a `go` carries.
    pub(super) fn clock(&self) -> Option<Clock> {
        self.time.map(|time| Clock::PerMove { ms: time.as_millis() as i64 })
    }
}
