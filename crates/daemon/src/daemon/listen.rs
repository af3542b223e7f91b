//! What listening takes: accepting that goes on whatever happens, socket files that leave with their daemon,
//! and advice where the system refuses.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fd::AsFd;
use tokio::sync::watch;

use crate::log::targets;
use crate::system::{MAX_SOCKET_PATH, is_socket};

/// The pause before a task that accepts connections is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(100);

/// How many connections may wait to be accepted. Libraries ask for 128, and the system drops what comes
/// beyond that: a client that connects in a burst of others would wait a second until its system tries again.
const BACKLOG: i32 = 1024;

/// The target of the log lines that name what a daemon listens on. They are `info`, and worth showing even if
/// nothing else below a warning is: a person who starts a daemon wants to know that it runs, and nobody can
/// connect to a port of the system's choice without them.
pub const LISTENING: &str = "plyd::listening";

/// Removes a Unix socket's file when dropped.
#[derive(Debug)]
pub struct SocketFile(pub(super) PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::debug!(
                target: targets::LISTEN, path = %self.0.display(), %error,
                "the socket is gone already"
            );
        }
    }
}

/// Runs a task that accepts connections until the listeners close, and starts it again should it end, which
/// only a panic makes it do: a port that listens and never answers is worse than one that is closed.
pub(crate) fn keep_accepting<F>(
    at: String,
    mut closing: watch::Receiver<bool>,
    mut start: impl FnMut() -> F + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let accept = async move {
        loop {
            // If this future is dropped, the task is dropped with its set.
            let mut accepting = tokio::task::JoinSet::new();
            accepting.spawn(start());
            match accepting.join_next().await {
                // The runtime ends.
                Some(Err(error)) if error.is_cancelled() => return,
                ended => {
                    let error =
                        ended.and_then(Result::err).map_or_else(String::new, |error| error.to_string());
                    tracing::error!(
                        target: targets::LISTEN, at, error,
                        "accepting connections broke off and is started again"
                    );
                }
            }
            tokio::time::sleep(RESTART_PAUSE).await;
        }
    };
    tokio::spawn(async move {
        tokio::select! {
            () = accept => {}
            // An error means that the daemon is gone.
            _closed = closing.wait_for(|is_closing| *is_closing) => {}
        }
    });
}

/// Sets the [`BACKLOG`] of a socket that listens already: calling `listen` again changes only that number.
/// The system may have a smaller limit of its own.
pub(super) fn take_bursts(listener: impl AsFd) -> io::Result<()> {
    Ok(rustix::net::listen(listener, BACKLOG)?)
}

/// Whether no other machine can reach an address.
///
/// ```
/// use plyd_daemon::is_local;
///
/// assert!(is_local("127.0.0.1:7117".parse()?) && is_local("[::1]:7117".parse()?));
/// assert!(!is_local("0.0.0.0:7117".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn is_local(address: SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// The system's error for a TCP address, with advice on what to do about it.
pub(super) fn listen_advice(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::AddrInUse {
        return error;
    }
    let advice = "another server may run there, or a plyd that has not ended yet: wait for that one, or \
                  choose another port (0 for any free one)";
    io::Error::new(error.kind(), format!("{error}: {advice}"))
}

/// What is wrong with the path of a Unix socket: the system's error is the same for any kind of file there.
pub(super) fn path_advice(path: &Path, error: io::Error) -> io::Error {
    if let Err(error) = check_length(path) {
        return error;
    }
    let found = std::fs::symlink_metadata(path).map(|found| found.file_type());
    let Some(found) = found.ok().filter(|_| error.kind() == io::ErrorKind::AddrInUse) else {
        return error;
    };
    let what = if is_socket(found) {
        "another server listens there"
    } else if found.is_dir() {
        "a directory is there; choose a name in it that is free"
    } else {
        "a file is there that is no socket; choose another path, or remove it"
    };
    io::Error::new(error.kind(), what)
}

/// Whether a path is short enough for a Unix socket.
///
/// # Errors
/// It is not.
pub(super) fn check_length(path: &Path) -> io::Result<()> {
    let length = path.as_os_str().len();
    if length <= MAX_SOCKET_PATH {
        return Ok(());
    }
    let message = format!("the path of a socket has at most {MAX_SOCKET_PATH} bytes, this one has {length}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}
