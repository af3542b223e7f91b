//! What the file of a transcript holds already.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// What reads a file that was opened to be written behind what it holds; none if it holds nothing that can be
/// read again.
///
/// # Errors
/// The file cannot be read.
pub(super) fn reader(path: &Path, written: &File) -> io::Result<Option<File>> {
    written.metadata()?.is_file().then(|| File::open(path)).transpose()
}

/// Whether a file's last line lacks its end, because the run that wrote it was killed, or a write failed.
///
/// # Errors
/// The file cannot be read.
pub(super) fn ends_within_a_line(mut file: &File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
