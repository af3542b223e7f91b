//! This very program as the server of its other commands.

use std::io;
use std::process::Command;

use crate::client::Program;

/// What starts it; what the environment says of a daemon is not meant for it.
pub(super) fn server() -> io::Result<Program> {
    let arguments = ["serve", "--no-env"].map(Into::into).to_vec();
    Ok(Program { path: std::env::current_exe()?.into(), arguments })
}

/// What dials a ladder with plyd as the bot, for `plyd conform --dial`.
pub(super) fn dialer() -> io::Result<Program> {
    let arguments = ["connect", "{ladder}", "--token-file", "{token}"].map(Into::into).to_vec();
    Ok(Program { path: std::env::current_exe()?.into(), arguments })
}

/// The server as a command of the system.
pub(super) fn command() -> io::Result<Command> {
    let Program { path, arguments } = server()?;
    let mut command = Command::new(path);
    command.args(arguments);
    Ok(command)
}
