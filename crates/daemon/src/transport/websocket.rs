//! WebSocket connections: the same lines as on TCP, each in a text message. As there, each connection has two
//! tasks.
//!
//! A message goes through the same framing as a stream, with its end as the line end, so that lines are
//! counted, bounded and dropped alike; a line feed inside a message is white space, not an end. There is no
//! half-closed state: a close frame, like the end of the stream, ends the connection and its searches.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use plyd_protocol as wire;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tracing::Instrument;
use tungstenite::protocol::frame::coding::CloseCode;

use super::net::{self, TimeSlice, receive, receive_of_stranger, write_all};
use super::outgoing::Outgoing;
use super::reading::{LINGER, READ_BYTES, drain};
use super::{Form, Next, next_messages};
use crate::ids::SocketId;
use crate::runtime::Shared;
use crate::signal::Signal;
use crate::spans::{self, Origin};
use crate::state::refusals::Refusal;
use plyd_core::search::clock::now_ns;
use plyd_protocol::frames::{self, ControlFrame, Frames, Piece, Violation, Writer, close_status};
use plyd_protocol::framing::{Event, Framing};

/// What both tasks of a socket know.
struct WebSocketConn {
    shared: Arc<Shared>,
    id: SocketId,
    /// Wakes the writer.
    wake: Arc<Notify>,
    controls: Mutex<Controls>,
}

/// The control frames that the reader wants to be written.
#[derive(Default)]
struct Controls {
    /// The payload of the last ping that was not answered: only the last needs an answer.
    pong: Option<Vec<u8>>,
    ping: bool,
    /// The close frame that ends the connection, if one is to be sent.
    close: Option<(CloseCode, &'static str)>,
}

/// Opens a connection over a stream that became a WebSocket; `early` is what the peer sent already.
pub(super) fn connect<R, W>(shared: &Arc<Shared>, input: R, output: W, early: Vec<u8>, origin: Origin)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (wake, hang_up, room) = <(Arc<Notify>, Arc<Notify>, Arc<Notify>)>::default();
    let signals = [&wake, &hang_up, &room].map(|notify| Signal::Task(Arc::clone(notify)));
    let (conn, span) = shared.with(|state| {
        let conn = state.open_conn(origin, signals, now_ns());
        (conn, state.span(conn))
    });
    spans::opened(&span);
    let id = SocketId(conn);
    let link = Arc::new(WebSocketConn { shared: Arc::clone(shared), id, wake, controls: Mutex::default() });
    let input_link = net::SocketReader { shared: Arc::clone(shared), id, room };
    let reader = Reader::new(Arc::clone(&link), input_link);
    tokio::spawn(reader.run(input, early, hang_up).instrument(span.clone()));
    tokio::spawn(link.write(output).instrument(span));
}

/// Finds lines in a peer's frames.
struct Reader {
    link: Arc<WebSocketConn>,
    /// The state that is common to the readers of all sockets.
    input: net::SocketReader,
    frames: Frames,
    framing: Framing,
    /// Whether the peer has said hello.
    greeted: bool,
}

impl Reader {
    fn new(link: Arc<WebSocketConn>, input: net::SocketReader) -> Self {
        let framing = Framing::new(wire::MAX_FIRST_LINE);
        Self { link, input, frames: Frames::of(Writer::Client), framing, greeted: false }
    }

    /// Reads until the connection ends.
    async fn run(mut self, mut input: impl AsyncRead + Unpin, mut early: Vec<u8>, hang_up: Arc<Notify>) {
        let silence = self.link.shared.lock().limits.silence;
        let mut buffer = vec![0; READ_BYTES];
        let mut pinged = false;
        self.link.shared.traffic.received(early.len());
        let mut flow = self.take(&mut early).await;
        while flow.is_continue() {
            let count = tokio::select! {
                count = input.read(&mut buffer) => count,
                () = hang_up.notified() => break,
                () = tokio::time::sleep(silence) => {
                    if pinged {
                        self.link.refuse(Refusal::Silent);
                        return self.link.lose_conn(true);
                    }
                    pinged = true;
                    self.link.control(|controls| controls.ping = true);
                    continue;
                }
            };
            match count {
                Ok(count) if count > 0 => {
                    pinged = false;
                    self.link.shared.traffic.received(count);
                    flow = self.take(&mut buffer[..count]).await;
                    tokio::task::yield_now().await;
                }
                Ok(_) | Err(_) => {
                    spans::broke("the peer is gone without a farewell");
                    return self.link.lose_conn(false);
                }
            }
        }
        drain(&self.link.shared, input).await;
    }

    /// Takes bytes; breaks when no more are wanted.
    async fn take(&mut self, bytes: &mut [u8]) -> ControlFlow<()> {
        let (time, mut turn) = (now_ns(), TimeSlice::begin());
        let mut rest = bytes;
        loop {
            match self.frames.next(&mut rest) {
                Ok(None) => return ControlFlow::Continue(()),
                Ok(Some(Piece::Text { bytes, is_last })) => {
                    if bytes.contains(&b'\n') {
                        self.lines(&without_line_feeds(bytes), time, &mut turn).await?;
                    } else {
                        self.lines(bytes, time, &mut turn).await?;
                    }
                    if is_last {
                        self.lines(b"\n", time, &mut turn).await?;
                    }
                }
                Ok(Some(Piece::Control(ControlFrame::Ping(payload)))) => {
                    self.link.control(|controls| controls.pong = Some(payload));
                }
                Ok(Some(Piece::Control(ControlFrame::Pong(_)))) => {}
                Ok(Some(Piece::Control(ControlFrame::Close(payload)))) => {
                    self.link.close(close_status(&payload).unwrap_or(CloseCode::Normal), "");
                    return ControlFlow::Break(());
                }
                Err(violation) => return self.link.fail(violation),
            }
        }
    }

    /// Takes bytes of a message.
    async fn lines(&mut self, mut bytes: &[u8], time: u64, turn: &mut TimeSlice) -> ControlFlow<()> {
        while let Some(event) = self.framing.next(&mut bytes) {
            let is_text = match &event {
                Event::Line { bytes, .. } => std::str::from_utf8(bytes).is_ok(),
                Event::TooLong { .. } => true,
            };
            let is_stranger = if self.greeted {
                receive(&self.input, event, time, turn).await;
                false
            } else {
                receive_of_stranger(&self.input, event, time, turn).await
            };
            if !is_text {
                // The line has had its answer; the standard wants the connection to fail.
                let reason = "a text message is UTF-8";
                return self.link.fail(Violation { code: CloseCode::Invalid, reason });
            }
            if !self.greeted && !is_stranger {
                self.greeted = true;
                self.framing.set_limit(wire::MAX_LINE);
            }
        }
        ControlFlow::Continue(())
    }
}

/// The same bytes with a carriage return for each line feed: JSON takes both between tokens, and neither in a
/// string.
fn without_line_feeds(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|&byte| if byte == b'\n' { b'\r' } else { byte }).collect()
}

impl WebSocketConn {
    /// Changes what is to be written, and wakes the writer.
    fn control(&self, change: impl FnOnce(&mut Controls)) {
        change(&mut self.controls.lock().unwrap_or_else(PoisonError::into_inner));
        self.wake.notify_one();
    }

    /// Ends the connection after the messages that wait.
    fn close(&self, code: CloseCode, reason: &'static str) {
        self.control(|controls| controls.close = Some((code, reason)));
        self.shared.with_conn(self.id, |state, conn| state.end_conn(conn, now_ns()));
    }

    /// Ends the connection of a peer that broke the rules.
    fn fail(&self, violation: Violation) -> ControlFlow<()> {
        self.refuse(Refusal::ProtocolViolation);
        self.shared.with(|state| state.counters.connections_dropped += 1);
        self.close(violation.code, violation.reason);
        ControlFlow::Break(())
    }

    /// Notes why the connection is ended.
    fn refuse(&self, refusal: Refusal) {
        self.shared.with_conn(self.id, |state, conn| state.note_refusal(conn, refusal));
    }

    fn lose_conn(&self, count: bool) {
        self.shared.with_conn(self.id, |state, conn| state.lose_conn(conn, now_ns(), count));
    }

    /// The waiting control frames, except the close.
    fn controls(&self) -> Vec<u8> {
        let mut controls = self.controls.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = Vec::new();
        if let Some(payload) = controls.pong.take() {
            frames::put_pong(&mut bytes, &payload);
        }
        if std::mem::take(&mut controls.ping) {
            frames::put_ping(&mut bytes);
        }
        bytes
    }

    /// Writes until the connection is over.
    async fn write(self: Arc<Self>, mut output: impl AsyncWrite + Unpin) {
        loop {
            let mut bytes = self.controls();
            let mut outgoing = match next_messages(&self.shared, self.id, Form::Frames) {
                Next::Write(mut messages) => {
                    messages.put_first(bytes);
                    messages
                }
                Next::Wait if bytes.is_empty() => {
                    self.wake.notified().await;
                    continue;
                }
                Next::Wait => Outgoing::from(bytes),
                Next::Close => {
                    let close = self.controls.lock().unwrap_or_else(PoisonError::into_inner).close;
                    let (code, reason) = close.unwrap_or((CloseCode::Normal, ""));
                    frames::put_close(&mut bytes, code, reason);
                    let farewell = async {
                        output.write_all(&bytes).await?;
                        output.shutdown().await
                    };
                    // The peer may have closed first, or not read any more.
                    let _sent_or_not = tokio::time::timeout(LINGER, farewell).await;
                    return;
                }
                Next::Gone => return,
            };
            if write_all(&self.shared, self.id, &mut output, &mut outgoing, &self.wake).await.is_break() {
                return;
            }
        }
    }
}
