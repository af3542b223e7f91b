//! Unix.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Makes a folder for this user alone, and those above it, unless they are there.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Opens an empty file for a program that this user alone may run.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn new_program(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o700).open(path)
}
