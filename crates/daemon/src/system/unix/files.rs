//! Files for their owner alone, and what may be done with them.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Access, OFlags, access, fcntl_getfl, fcntl_setfl, fstat};

/// Opens a file behind what an earlier run wrote, or a new one that its owner alone may read. A pipe is
/// opened if somebody reads it: opening one would otherwise wait for that without end.
///
/// # Errors
/// It cannot be opened, or nobody reads it.
pub(crate) fn open_transcript(path: &Path) -> io::Result<File> {
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
pub(crate) fn are_same(one: impl AsFd, other: impl AsFd) -> bool {
    // A stream that is closed is no file.
    let (Ok(one), Ok(other)) = (fstat(one), fstat(other)) else { return false };
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Whether a file may be written.
///
/// # Errors
/// It may not.
pub(crate) fn may_write(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::WRITE_OK)?)
}

/// Whether files may be made in a folder.
///
/// # Errors
/// They may not.
pub(crate) fn may_change_folder(folder: &Path) -> io::Result<()> {
    Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}
