//! Unix.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::process::{Pid, kill_process};

use super::Signal;

/// Sends a process a signal.
///
/// # Errors
/// It is gone.
pub(crate) fn send(signal: Signal, process: u32) -> io::Result<()> {
    let signal = match signal {
        Signal::Term => rustix::process::Signal::TERM,
        Signal::Int => rustix::process::Signal::INT,
        Signal::Hup => rustix::process::Signal::HUP,
    };
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(kill_process(process, signal)?)
}

/// Makes a new file that its owner alone reads.
///
/// # Errors
/// It is there, or cannot be made.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
