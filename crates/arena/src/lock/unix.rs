//! Unix: a lock on the open file.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Opens a file for reading and appending, made if there is none.
///
/// # Errors
/// It cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).open(path)
}

/// Keeps other processes from writing it.
///
/// # Errors
/// `WouldBlock`: another one writes it.
pub fn hold(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::NonBlockingLockExclusive)?)
}

/// Lets others write it. Closing the file would do so only once nobody has a copy of its descriptor any more,
/// and an engine that is just being started has one until it runs.
pub fn release(file: &File) {
    // Closing is what is left if this fails.
    let _ = flock(file, FlockOperation::Unlock);
}
