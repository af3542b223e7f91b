//! Where a server is found: a program to start, or an address to call.

use std::ffi::OsString;
use std::process::Command;
use std::sync::Arc;

use super::{Launch, LineError, Reaper};

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

impl Program {
    /// What starts it, and has the reaper end it if this process is killed; without one it sees the end of its input.
    ///
    /// # Errors
    /// [`LineError::Start`] if there is no such program.
    pub fn launch(&self, reaper: Option<&Arc<Reaper>>) -> Result<Launch, LineError> {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        let Some(reaper) = reaper else {
            return Ok(command.into());
        };
        let program = self.path.display().to_string();
        reaper.launch(&command).map_err(|error| LineError::Start { program, error })
    }
}
