//! Unix sockets, which are files as well.

use std::fs::{FileType, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(crate) use tokio::net::UnixListener;

/// The longest path of a Unix socket, in bytes: the system's address has room for these and a zero.
pub(crate) const MAX_SOCKET_PATH: usize =
    if cfg!(any(target_os = "linux", target_os = "android")) { 107 } else { 103 };

/// A Unix socket that was handed over.
#[derive(Debug)]
pub(crate) struct HandedUnix(pub(super) std::os::unix::net::UnixListener);

impl HandedUnix {
    /// The socket with its path; within a runtime.
    pub(crate) fn listener(self) -> io::Result<(PathBuf, UnixListener)> {
        self.0.set_nonblocking(true)?;
        let address = self.0.local_addr()?;
        let path = address.as_pathname().unwrap_or(Path::new("an abstract name")).to_owned();
        Ok((path, UnixListener::from_std(self.0)?))
    }
}

/// Whether a file is a socket.
pub(crate) fn is_socket(found: FileType) -> bool {
    found.is_socket()
}

/// Removes a socket to which nobody listens. Any other file stays, so that binding fails.
pub(crate) fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return Ok(());
    };
    if found.file_type().is_socket()
        && let Err(error) = std::os::unix::net::UnixStream::connect(path)
        && error.kind() == io::ErrorKind::ConnectionRefused
    {
        return std::fs::remove_file(path);
    }
    Ok(())
}

/// Keeps a file for its owner alone.
pub(crate) fn keep_private(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(0o600))
}
