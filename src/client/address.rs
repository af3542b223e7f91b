//! Where a server is found: a program to start, or an address to call.

use std::ffi::OsString;
use std::process::Command;

use super::{LineError, Lines};

/// Where somebody is found that speaks the protocol.
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

impl Address {
    /// Starts the program, or connects.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program, [`LineError::Connect`] if nobody listens there.
    pub fn lines(&self) -> Result<Lines, LineError> {
        match self {
            Self::Program(program) => Lines::spawn(program.command()),
            Self::Tcp(address) => Lines::connect(address),
        }
    }
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
