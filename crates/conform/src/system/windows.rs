//! Windows. It compiles, and nobody has tested it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::Signal;

/// There are no signals to be sent.
///
/// # Errors
/// Always, `Unsupported`.
pub(crate) fn send(signal: Signal, _: u32) -> io::Result<()> {
    let message = format!("this system has no signal {signal:?} to send");
    Err(io::Error::new(io::ErrorKind::Unsupported, message))
}

/// Makes a new file, which has the rights of the folder; that of temporary files is the user's own.
///
/// # Errors
/// It is there, or cannot be made.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
