//! How a conversation waits: by blocking its thread, or as a task of tokio. All else is the same for both.

use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fd::BorrowedFd;

use crate::LineError;
use crate::lines::is_ready;
#[cfg(feature = "tokio")]
use crate::on_tokio::OnTokio;

/// A way to wait.
#[derive(Debug)]
pub(crate) enum Wait {
    /// Blocks: what is awaited here is always ready at once.
    OnThread,
    /// Lets other tasks run.
    #[cfg(feature = "tokio")]
    OnTokio(OnTokio),
}

impl Wait {
    /// Waits until the server has written something, or has ended.
    pub(crate) async fn readable(&self, input: BorrowedFd<'_>, deadline: Instant) -> Result<(), LineError> {
        match self {
            Self::OnThread => on_thread(input, PollFlags::IN, deadline),
            #[cfg(feature = "tokio")]
            Self::OnTokio(tokio) => tokio.readable(deadline).await,
        }
    }

    /// Waits until the server reads on, or has ended.
    pub(crate) async fn writable(&self, output: BorrowedFd<'_>, deadline: Instant) -> Result<(), LineError> {
        match self {
            Self::OnThread => on_thread(output, PollFlags::OUT, deadline),
            #[cfg(feature = "tokio")]
            Self::OnTokio(_) => OnTokio::writable(output, deadline).await,
        }
    }

    /// Lets time pass.
    pub(crate) async fn pause(&self, time: Duration) {
        match self {
            Self::OnThread => std::thread::sleep(time),
            #[cfg(feature = "tokio")]
            Self::OnTokio(_) => tokio::time::sleep(time).await,
        }
    }

    /// Lets other tasks run now and then, even if a server always has more to read.
    pub(crate) async fn breathe(&self) {
        match self {
            Self::OnThread => {}
            #[cfg(feature = "tokio")]
            Self::OnTokio(_) => tokio::task::consume_budget().await,
        }
    }
}

fn on_thread(stream: BorrowedFd<'_>, ready: PollFlags, deadline: Instant) -> Result<(), LineError> {
    if is_ready(stream, ready, deadline)? { Ok(()) } else { Err(LineError::TimedOut) }
}
