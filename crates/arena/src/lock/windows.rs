//! Windows: a file is open for one writer from the beginning. It compiles, and nobody has tested it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

/// Others may read it (`FILE_SHARE_READ`).
const SHARE_READ: u32 = 1;

/// Another process has it open otherwise (`ERROR_SHARING_VIOLATION`).
const SHARING_VIOLATION: i32 = 32;

/// Opens a file for reading and writing, made if there is none. What is open for appending alone lacks the
/// right `FILE_WRITE_DATA`, without which the system refuses to cut a file.
///
/// # Errors
/// It cannot be opened; `WouldBlock`: another process writes it.
pub fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).share_mode(SHARE_READ);
    options.open(path).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => io::ErrorKind::WouldBlock.into(),
        _ => error,
    })
}

/// Nobody else writes it since it was opened.
///
/// # Errors
/// Never.
pub fn hold(_: &File) -> io::Result<()> {
    Ok(())
}

/// Closing it is enough.
pub fn release(_: &File) {}
