//! Windows, where files have the rights of their folder. It compiles, and nobody has tested it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes a folder, and those above it, unless they are there.
///
/// # Errors
/// It cannot be made.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Opens an empty file for a program.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn new_program(path: &Path) -> io::Result<File> {
    File::create(path)
}
