//! Waiting as a task of tokio.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::fs::{FileType, fstat};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::time::timeout_at;

use crate::LineError;
use crate::lines::is_ready;

/// What the server writes, as tokio watches it.
#[derive(Debug)]
pub(crate) struct OnTokio {
    input: Watched,
}

/// A descriptor of its own for a stream. It is for waiting alone: the bytes go through the original.
#[derive(Debug)]
enum Watched {
    Input(Receiver),
    Output(Sender),
    /// Of whatever family: nothing is done with it that depends on that.
    Socket(UnixStream),
}

impl OnTokio {
    /// Watches a server's output; within a runtime.
    pub(crate) fn watch(input: BorrowedFd<'_>) -> io::Result<Self> {
        let own = input.try_clone_to_owned()?;
        let input = if is_socket(input)? {
            Watched::socket(own.into())?
        } else {
            Watched::Input(Receiver::from_owned_fd(own)?)
        };
        Ok(Self { input })
    }

    pub(crate) async fn readable(&self, deadline: Instant) -> Result<(), LineError> {
        self.input.wait(PollFlags::IN, deadline).await
    }

    /// Servers read, so that this is rare; and a descriptor that is kept would keep a program's input open.
    pub(crate) async fn writable(output: BorrowedFd<'_>, deadline: Instant) -> Result<(), LineError> {
        let watch = || {
            let own = output.try_clone_to_owned()?;
            let is_socket = is_socket(output)?;
            if is_socket {
                Watched::socket(own.into())
            } else {
                Sender::from_owned_fd(own).map(Watched::Output)
            }
        };
        watch().map_err(|_| LineError::Closed)?.wait(PollFlags::OUT, deadline).await
    }
}

impl Watched {
    fn socket(stream: StdUnixStream) -> io::Result<Self> {
        UnixStream::from_std(stream).map(Self::Socket)
    }

    async fn wait(&self, flags: PollFlags, deadline: Instant) -> Result<(), LineError> {
        let interest = if flags == PollFlags::IN { Interest::READABLE } else { Interest::WRITABLE };
        loop {
            timeout_at(deadline.into(), self.ready(interest)).await.map_err(|_| LineError::TimedOut)??;
            // Tokio remembers that a stream is ready until it is told otherwise, and hears of changes alone:
            // it may forget only what the system denies.
            if self.is_still_ready(interest, flags)? {
                return Ok(());
            }
        }
    }

    async fn ready(&self, interest: Interest) -> Result<(), LineError> {
        let ready = match self {
            Self::Input(pipe) => pipe.readable().await,
            Self::Output(pipe) => pipe.writable().await,
            Self::Socket(socket) => socket.ready(interest).await.map(drop),
        };
        ready.map_err(|_| LineError::Closed)
    }

    fn is_still_ready(&self, interest: Interest, flags: PollFlags) -> Result<bool, LineError> {
        let look = |stream: BorrowedFd<'_>| match is_ready(stream, flags, Instant::now()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(io::ErrorKind::WouldBlock.into()),
            Err(error) => Err(io::Error::other(error)),
        };
        let looked = match self {
            Self::Input(pipe) => pipe.try_io(|| look(pipe.as_fd())),
            Self::Output(pipe) => pipe.try_io(|| look(pipe.as_fd())),
            Self::Socket(socket) => socket.try_io(interest, || look(socket.as_fd())),
        };
        match looked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(_) => Err(LineError::Closed),
        }
    }
}

fn is_socket(stream: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(stream)?.st_mode) == FileType::Socket)
}
