//! Who plays: the program to start or the address to call, its options, its clock and its limits.

use std::ffi::OsString;
use std::process::Command;

use plyd_protocol::{Limit, Settings};

use super::TimeControl;

/// A player of a match.
#[derive(Clone, PartialEq, Debug)]
pub struct Player {
    /// What the tables and records call it.
    pub name: String,
    /// Where it is found.
    pub address: Address,
    /// What tells its program from another build of it; none where that cannot be told.
    pub build: Option<String>,
    /// Its options, as `newgame` tells them.
    pub options: Settings,
    /// Its clock.
    pub time: TimeControl,
    /// Limits of each search.
    pub limit: Limit,
}

/// Where a player is found that speaks the protocol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// On the standard streams of a program, which is started.
    Program(Program),
    /// Over TCP, as `HOST:PORT`: a server that runs already.
    Tcp(String),
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
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        command
    }
}
