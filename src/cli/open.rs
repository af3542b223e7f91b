//! Files that a user names, which may be pipes.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a file to read. Of a pipe that nobody writes to the end is read at once; opening it in the ordinary
/// way would wait for a writer.
pub(super) fn without_waiting(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}
