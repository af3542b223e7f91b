//! This very program as the server of its other commands.

use std::ffi::OsString;
use std::io;
use std::process::Command;

use crate::client::Program;

/// What starts it; what the environment says of a daemon is not meant for it.
pub(super) fn server() -> io::Result<Program> {
    let arguments = ["serve", "--no-env"].map(Into::into).to_vec();
    Ok(Program { path: path()?, arguments })
}

/// The path that starts this very program. After an upgrade in place its old path starts another build, which
/// would play under the name of this one.
pub(super) fn path() -> io::Result<OsString> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { Ok(std::env::current_exe()?.into()) }
}

/// What dials a ladder with plyd as the bot, for `plyd conform --dial`.
pub(super) fn dialer() -> io::Result<Program> {
    let arguments = ["connect", "{ladder}", "--token-file", "{token}"].map(Into::into).to_vec();
    Ok(Program { path: path()?, arguments })
}

/// The server as a command of the system.
pub(super) fn command() -> io::Result<Command> {
    let Program { path, arguments } = server()?;
    let mut command = Command::new(path);
    command.args(arguments);
    Ok(command)
}
