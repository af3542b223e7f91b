//! Windows. Reading and writing a stream may block, and the system cannot say so beforehand; there are no
//! Unix sockets, and no service manager that plyd could speak with.
//!
//! It compiles, and nobody has tested it.

use std::ffi::OsStr;
use std::fs::{File, FileType};
use std::io::{self, Read, Write};
use std::os::windows::io::{AsSocket, BorrowedSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Handed;

/// The longest path of a Unix socket, in bytes, as long as there is none.
pub(crate) const MAX_SOCKET_PATH: usize = 107;

/// What can be read by several threads.
pub(crate) trait Input {
    /// Reads what there is, and waits for it.
    fn take(&self, buffer: &mut [u8]) -> io::Result<usize>;
}

impl<T> Input for T
where
    for<'a> &'a T: Read,
{
    fn take(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(buffer)
    }
}

/// What can be written by several threads.
pub(crate) trait Output {
    /// Writes a part, and waits until that is possible.
    fn put(&self, bytes: &[u8]) -> io::Result<usize>;
}

impl<T> Output for T
where
    for<'a> &'a T: Write,
{
    fn put(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut output = self;
        let count = output.write(bytes)?;
        // The standard output keeps what follows the last end of a line.
        output.flush()?;
        Ok(count)
    }
}

/// Reads what there is, and waits for it.
pub(crate) fn read(input: &impl Input, buffer: &mut [u8]) -> io::Result<usize> {
    uninterrupted(|| input.take(buffer))
}

/// Writes a part, and waits until that is possible.
pub(crate) fn write(output: &impl Output, bytes: &[u8]) -> io::Result<usize> {
    uninterrupted(|| output.put(bytes))
}

/// The same: nothing [is known to be ready](is_ready).
pub(crate) fn write_once(output: &impl Output, bytes: &[u8]) -> io::Result<usize> {
    output.put(bytes)
}

fn uninterrupted(mut io: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match io() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// The system cannot say of any output when a write would block.
pub(crate) fn is_pipe(_: &impl Output) -> bool {
    false
}

/// The system cannot say of any output when a write would block.
pub(crate) fn is_ready(_: &impl Output) -> bool {
    false
}

/// What stands for a Unix socket that listens: there is none.
#[derive(Debug)]
pub(crate) enum UnixListener {}

impl UnixListener {
    pub(crate) fn bind(_: &Path) -> io::Result<Self> {
        Err(absent("plyd has no Unix sockets on this system; listen on TCP or WebSocket"))
    }

    pub(crate) async fn accept(&self) -> io::Result<(tokio::net::TcpStream, ())> {
        match *self {}
    }
}

impl AsSocket for UnixListener {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        match *self {}
    }
}

/// What stands for one that was handed over.
#[derive(Debug)]
pub(crate) enum HandedUnix {}

impl HandedUnix {
    pub(crate) fn listener(self) -> io::Result<(PathBuf, UnixListener)> {
        match self {}
    }
}

/// No file is a socket.
pub(crate) fn is_socket(_: FileType) -> bool {
    false
}

/// There are no sockets to be removed.
pub(crate) fn remove_stale(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Files have the rights of their folder.
pub(crate) fn keep_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens a file behind what an earlier run wrote, or a new one, which has the rights of its folder.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn open_transcript(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}

/// The system cannot say whether two handles belong to one file.
pub(crate) fn are_same(_: &File, _: impl Sized) -> bool {
    false
}

/// Whether a file may be written, as far as that is known beforehand.
///
/// # Errors
/// It may not.
pub(crate) fn may_write(path: &Path) -> io::Result<()> {
    if path.metadata()?.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

/// Whether files may be made in a folder, as far as that is known beforehand: whether there is one.
///
/// # Errors
/// There is none.
pub(crate) fn may_change_folder(folder: &Path) -> io::Result<()> {
    if folder.metadata()?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

/// What stands for the socket of a service manager: there is none.
#[derive(Debug)]
pub(crate) enum NotifySocket {}

impl NotifySocket {
    pub(crate) fn at(_: &OsStr, _: Duration) -> io::Result<Self> {
        Err(absent("plyd speaks with no service manager on this system; unset NOTIFY_SOCKET"))
    }

    pub(crate) fn send(&self, _: &str) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn now_us(&self) -> i128 {
        match *self {}
    }
}

/// Nobody hands sockets over.
///
/// # Errors
/// The environment says that somebody did.
pub(crate) fn handed() -> Result<Vec<Handed>, String> {
    Err("plyd takes over no sockets on this system; unset LISTEN_FDS".to_owned())
}

/// The system does not say.
pub(crate) fn cpu_seconds() -> Option<f64> {
    None
}

/// The system has no such limit.
pub(crate) fn max_fds() -> Option<f64> {
    None
}

fn absent(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, message)
}
