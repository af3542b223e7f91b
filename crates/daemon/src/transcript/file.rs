//! The file of a transcript: opened without waiting for anybody, for its owner alone.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl, fstat};

/// Opens a file behind what an earlier run wrote, or a new one that its owner alone may read. A pipe is
/// opened if somebody reads it: opening one would otherwise wait for that without end.
///
/// # Errors
/// It cannot be opened, or nobody reads it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let without_blocking = OFlags::NONBLOCK.bits().cast_signed();
    let opened =
        File::options().create(true).append(true).mode(0o600).custom_flags(without_blocking).open(path);
    let file = opened.map_err(|error| {
        if is_pipe(path) && error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
            return io::Error::other("nobody reads this pipe; open it for reading before the server starts");
        }
        error
    })?;
    // The writer waits for a slow reader.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

fn is_pipe(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

/// Whether two descriptors are of one file, however it was opened.
pub(super) fn are_same(one: impl AsFd, other: impl AsFd) -> bool {
    // A stream that is closed is no file.
    let (Ok(one), Ok(other)) = (fstat(one), fstat(other)) else { return false };
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

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
