//! A stream whose peer has to take what is written to it: one that never reads would keep its place, and the
//! memory of what waits for it, for ever.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream on which writing fails once the peer has taken nothing for a time.
///
/// ```
/// use plyd_protocol::write_timeout::WriteTimeout;
/// use std::time::Duration;
/// use tokio::io::AsyncWriteExt;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let (ours, _nobody_reads) = tokio::io::duplex(8);
/// let mut ours = WriteTimeout::new(ours, Duration::from_millis(1));
/// let error = ours.write_all(b"more than its buffer holds").await.unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct WriteTimeout<S> {
    stream: S,
    longest: Duration,
    /// Since the peer last took something, while something waits for it.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    /// A stream whose peer may take nothing for so long.
    pub fn new(stream: S, longest: Duration) -> Self {
        Self { stream, longest, waits: None }
    }

    /// What comes of writing: an error, if it has had to wait for too long.
    fn bounded<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(self.longest)));
        match waits.as_mut().poll(cx) {
            Poll::Ready(()) => {
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.bounded(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.bounded(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.bounded(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.bounded(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const LONGEST: Duration = Duration::from_secs(10);
    const TEXT: &[u8] = b"more than the other end takes at once";

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_slowly_gets_all_and_one_that_stops_ends_it() {
        let (ours, mut theirs) = duplex(4);
        let mut ours = WriteTimeout::new(ours, LONGEST);
        let reading = tokio::spawn(async move {
            let mut taken = Vec::new();
            while taken.len() < TEXT.len() {
                sleep(LONGEST * 9 / 10).await;
                let mut some = [0; 4];
                let count = theirs.read(&mut some).await.unwrap();
                taken.extend_from_slice(&some[..count]);
            }
            (taken, theirs)
        });
        ours.write_all(TEXT).await.expect("it reads, if slowly");
        let (taken, _theirs) = reading.await.unwrap();
        assert_eq!(taken, TEXT);
        let begun = tokio::time::Instant::now();
        let error = ours.write_all(TEXT).await.expect_err("nobody reads any more");
        assert_eq!((error.kind(), begun.elapsed()), (io::ErrorKind::TimedOut, LONGEST));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_read_may_take_any_time() {
        let (ours, mut theirs) = duplex(4);
        let mut ours = WriteTimeout::new(ours, LONGEST);
        let reading = tokio::spawn(async move { ours.read_u8().await });
        sleep(LONGEST * 100).await;
        theirs.write_u8(7).await.unwrap();
        assert_eq!(reading.await.unwrap().unwrap(), 7);
    }
}
