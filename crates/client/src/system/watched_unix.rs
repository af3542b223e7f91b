//! Pipes and sockets, as tokio watches them on Unix.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{FileType, fstat};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};

/// A descriptor of its own for a stream. It is for waiting alone: the bytes go through the original.
#[derive(Debug)]
pub(crate) enum Watched {
    Input(Receiver),
    Output(Sender),
    /// Of whatever family: nothing is done with it that depends on that.
    Socket(UnixStream),
}

impl Watched {
    /// Watches a stream that is read; must be called within a runtime.
    pub(crate) fn input(stream: BorrowedFd<'_>) -> io::Result<Self> {
        let own = stream.try_clone_to_owned()?;
        if is_socket(stream)? {
            UnixStream::from_std(own.into()).map(Self::Socket)
        } else {
            Receiver::from_owned_fd(own).map(Self::Input)
        }
    }

    /// Watches a stream that is written; must be called within a runtime.
    pub(crate) fn output(stream: BorrowedFd<'_>) -> io::Result<Self> {
        let own = stream.try_clone_to_owned()?;
        if is_socket(stream)? {
            UnixStream::from_std(own.into()).map(Self::Socket)
        } else {
            Sender::from_owned_fd(own).map(Self::Output)
        }
    }

    /// Waits until tokio reports the stream as ready.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<()> {
        match self {
            Self::Input(pipe) => pipe.readable().await,
            Self::Output(pipe) => pipe.writable().await,
            Self::Socket(socket) => socket.ready(interest).await.map(drop),
        }
    }

    /// Looks at the stream; `WouldBlock` clears the readiness that tokio caches.
    pub(crate) fn try_io(
        &self,
        interest: Interest,
        look: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Input(pipe) => pipe.try_io(|| look(pipe.as_fd())),
            Self::Output(pipe) => pipe.try_io(|| look(pipe.as_fd())),
            Self::Socket(socket) => socket.try_io(interest, || look(socket.as_fd())),
        }
    }
}

fn is_socket(stream: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(stream)?.st_mode) == FileType::Socket)
}
