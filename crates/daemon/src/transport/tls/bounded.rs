//! A TCP stream under TLS that gives a peer its turn and no more.
//!
//! Records may be empty, and a whole flood of them is one read of the stream above: so turns are counted
//! here, in the bytes that the system gives.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::config::limits::HANDSHAKE_BYTES;
use crate::transport::newcomers::Progress;
use crate::transport::reading::READ_BYTES;

/// A handshake has too many bytes.
#[derive(Debug, thiserror::Error)]
#[error("it has more than {HANDSHAKE_BYTES} bytes")]
pub(super) struct TooLong;

/// A stream that lets others have their turn.
#[derive(Debug)]
pub(crate) struct Bounded {
    stream: TcpStream,
    /// The bytes that may be read before others have their turn.
    turn: usize,
    /// The handshake; none once it is done.
    handshake: Option<Handshake>,
}

#[derive(Debug)]
struct Handshake {
    /// The bytes that it may still take.
    left: usize,
    /// When the peer gets on: what it sent is answered.
    progress: Progress,
}

impl Bounded {
    pub(super) fn new(stream: TcpStream, progress: Progress) -> Self {
        Self { stream, turn: READ_BYTES, handshake: Some(Handshake { left: HANDSHAKE_BYTES, progress }) }
    }

    /// The handshake is done.
    pub(super) fn unbind(&mut self) {
        self.handshake = None;
    }

    pub(super) fn into_inner(self) -> TcpStream {
        self.stream
    }

    /// What is written while the peer shakes hands is an answer to it.
    fn note(&self, written: &Poll<io::Result<usize>>) {
        if let (Some(handshake), Poll::Ready(Ok(_))) = (&self.handshake, written) {
            handshake.progress.note();
        }
    }
}

impl AsyncRead for Bounded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.turn == 0 {
            self.turn = READ_BYTES;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let room = self.turn.min(buffer.remaining());
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        let read = Pin::new(&mut self.stream).poll_read(context, &mut part);
        let count = part.filled().len();
        if read.is_pending() {
            // The others have their turn now.
            self.turn = READ_BYTES;
        }
        ready!(read)?;
        self.turn -= count;
        if let Some(Handshake { left, .. }) = &mut self.handshake {
            let too_long = || io::Error::new(io::ErrorKind::InvalidData, TooLong);
            *left = left.checked_sub(count).ok_or_else(too_long)?;
        }
        buffer.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.note(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    /// A stream to which a peer has written so many bytes, and its end.
    async fn written(bytes: usize) -> Bounded {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        tokio::spawn(async move { peer.write_all(&vec![b'x'; bytes]).await });
        Bounded::new(stream, Progress::default())
    }

    fn run<F: Future>(test: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
    }

    #[test]
    fn others_have_their_turn_however_much_there_is_to_read() {
        run(async {
            let mut stream = written(64 * READ_BYTES).await;
            stream.unbind();
            let turns = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&turns);
            tokio::spawn(async move {
                loop {
                    counted.fetch_add(1, Relaxed);
                    tokio::task::yield_now().await;
                }
            });
            let mut read = Vec::new();
            stream.read_to_end(&mut read).await.unwrap();
            assert_eq!(read.len(), 64 * READ_BYTES);
            assert!(turns.load(Relaxed) >= 63, "{turns:?} turns");
        });
    }

    #[test]
    fn a_handshake_has_few_bytes() {
        run(async {
            let mut read = Vec::new();
            let error = written(HANDSHAKE_BYTES + 1).await.read_to_end(&mut read).await.unwrap_err();
            assert!(error.get_ref().is_some_and(|cause| cause.is::<TooLong>()), "{error}");
            written(HANDSHAKE_BYTES).await.read_to_end(&mut Vec::new()).await.unwrap();
        });
    }
}
