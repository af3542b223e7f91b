//! Waiting as a task of tokio.

use std::io;
use std::time::Instant;

use rustix::event::PollFlags;
use rustix::fd::BorrowedFd;
use tokio::io::Interest;
use tokio::time::timeout_at;

use crate::LineError;
use crate::lines::is_ready;
use crate::system::Watched;

/// What the server writes, as tokio watches it.
#[derive(Debug)]
pub(crate) struct OnTokio {
    input: Watched,
}

impl OnTokio {
    /// Watches a server's output; must be called within a runtime.
    pub(crate) fn watch(input: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self { input: Watched::input(input)? })
    }

    pub(crate) async fn readable(&self, deadline: Instant) -> Result<(), LineError> {
        wait(&self.input, PollFlags::IN, deadline).await
    }

    /// Registers the output for each wait: waits are rare, since servers read, and a descriptor that is kept
    /// would keep a program's input open.
    pub(crate) async fn writable(output: BorrowedFd<'_>, deadline: Instant) -> Result<(), LineError> {
        let output = Watched::output(output).map_err(|_| LineError::Closed)?;
        wait(&output, PollFlags::OUT, deadline).await
    }
}

async fn wait(stream: &Watched, flags: PollFlags, deadline: Instant) -> Result<(), LineError> {
    let interest = if flags == PollFlags::IN { Interest::READABLE } else { Interest::WRITABLE };
    loop {
        let ready = timeout_at(deadline.into(), stream.ready(interest)).await;
        ready.map_err(|_| LineError::TimedOut)?.map_err(|_| LineError::Closed)?;
        // Tokio caches readiness and reports changes alone. So the cached state may be cleared only when the
        // system denies it.
        if is_still_ready(stream, interest, flags)? {
            return Ok(());
        }
    }
}

fn is_still_ready(stream: &Watched, interest: Interest, flags: PollFlags) -> Result<bool, LineError> {
    let looked = stream.try_io(interest, |stream| match is_ready(stream, flags, Instant::now()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::ErrorKind::WouldBlock.into()),
        Err(error) => Err(io::Error::other(error)),
    });
    match looked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(_) => Err(LineError::Closed),
    }
}
