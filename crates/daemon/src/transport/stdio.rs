//! The standard streams, each with a thread of its own: reading standard input cannot be cancelled.
//!
//! Answers that a line gets at once (`pong`, `stopping` and its `bestmove`) are written by the thread that
//! read the line, as long as that cannot block: handing them to the other thread costs a wake-up, which on a
//! machine whose cores all search may wait for a time slice of milliseconds.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use plyd_protocol as wire;
use tokio::sync::Notify;

use super::outgoing::Outgoing;
use super::{Form, Next, Received, SHORT_LINE, next_messages};
use crate::ids::{ConnId, SocketId};
use crate::log;
use crate::runtime::Shared;
use crate::signal::{Parker, Signal};
use crate::spans::{self, Origin};
use crate::state::intake::Reserved;
use crate::system::{self, Input, Output};
use plyd_core::search::clock::now_ns;
use plyd_protocol::framing::{Event, Framing};

const READ_BYTES: usize = 64 << 10;

/// What a pipe that is ready for writing takes without blocking (`PIPE_BUF`).
const PIPE_BYTES: usize = 4096;

/// What both threads know.
struct StdioConn<O> {
    shared: Arc<Shared>,
    conn: ConnId,
    output: O,
    /// Whether the output is a pipe: only for a pipe is it known when a write would block.
    is_pipe: bool,
    /// Lines that were taken and not written yet; the writing thread holds the lock.
    pending: Mutex<Outgoing>,
    /// Wakes the thread that may block.
    parker: Arc<Parker>,
    /// Wakes the reading thread if it waits for room.
    room: Arc<Parker>,
}

/// Opens a connection over two streams, such as the standard ones; the future ends with the connection: all
/// is written, or the peer is gone or does not read. It does not wait for the threads, which may hang in the
/// system.
///
/// # Errors
/// A thread cannot be started.
pub(crate) fn serve<I, O>(
    shared: &Arc<Shared>,
    input: I,
    output: O,
) -> io::Result<impl Future<Output = ()> + use<I, O>>
where
    I: Input + Send + 'static,
    O: Output + Send + Sync + 'static,
{
    let (parker, over) = (Arc::new(Parker::default()), Arc::new(Notify::new()));
    let room = Arc::new(Parker::default());
    let signals = [
        Signal::Thread(Arc::clone(&parker)),
        Signal::Task(Arc::clone(&over)),
        Signal::Thread(Arc::clone(&room)),
    ];
    let (conn, span) = shared.with(|state| {
        let conn = state.open_conn(Origin::Stdio, signals, now_ns());
        (conn, state.span(conn))
    });
    spans::opened(&span);
    let is_pipe = system::is_pipe(&output);
    let shared = Arc::clone(shared);
    let link = Arc::new(StdioConn { shared, conn, output, is_pipe, pending: Mutex::default(), parker, room });
    let (writer, reader) = (Arc::clone(&link), Arc::clone(&link));
    let writing = span.clone();
    std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
        let _within = writing.enter();
        let _end = OutputEnd(&writer);
        writer.write();
    })?;
    std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
        let _within = span.enter();
        let _end = InputEnd(&reader);
        reader.read(&input);
    })?;
    let shared = Arc::clone(&link.shared);
    Ok(async move {
        while shared.lock().conns.contains_key(&conn) {
            over.notified().await;
        }
    })
}

/// Ends the input when dropped, also by a panic.
struct InputEnd<'a, O>(&'a StdioConn<O>);

impl<O> Drop for InputEnd<'_, O> {
    fn drop(&mut self) {
        let conn = self.0.conn;
        self.0.shared.with(|state| {
            state.release_writer(conn);
            state.input_ended(conn, now_ns());
        });
    }
}

/// Ends the connection when dropped, also by a panic: nothing would write its messages.
struct OutputEnd<'a, O>(&'a StdioConn<O>);

impl<O> Drop for OutputEnd<'_, O> {
    fn drop(&mut self) {
        self.0.shared.with(|state| state.drop_conn(self.0.conn, now_ns(), false));
    }
}

impl<O: Output> StdioConn<O> {
    /// Reads until the input ends.
    fn read(&self, input: &impl Input) {
        let mut framing = Framing::new(wire::MAX_LINE);
        let mut buffer = vec![0; READ_BYTES];
        loop {
            match system::read(input, &mut buffer[..]) {
                Err(error) => {
                    spans::broke(&format!("standard input: {error}"));
                    self.shared.with(|state| state.drop_conn(self.conn, now_ns(), false));
                    return;
                }
                Ok(0) => {
                    let time = now_ns();
                    return framing.finish().into_iter().for_each(|event| self.receive(event, time));
                }
                Ok(count) => {
                    let (time, mut rest) = (now_ns(), &buffer[..count]);
                    self.shared.traffic.received(count);
                    while let Some(event) = framing.next(&mut rest) {
                        self.receive(event, time);
                    }
                }
            }
        }
    }

    /// Takes a line, and writes what answers it at once.
    fn receive(&self, event: Event<'_>, time: u64) {
        let long = match &event {
            Event::Line { bytes, .. } if bytes.len() > SHORT_LINE => Some(wire::decoded_bound(bytes)),
            Event::Line { .. } | Event::TooLong { .. } => None,
        };
        while let Some(room) = long {
            match self.shared.with(|state| state.reserve(self.conn, room)) {
                Reserved::Now => break,
                Reserved::Later => self.room.wait(),
                Reserved::Unwanted => return,
            }
        }
        // The log has its turn behind the answer.
        let mut hold = log::hold();
        // While this decodes, the other thread writes the searches' messages.
        let mut waits = Some(Received::decode(&self.shared, SocketId(self.conn), event, time));
        while let Some(received) = waits {
            waits = self.shared.with(|state| {
                state.hold_writer(self.conn);
                let waits = received.apply_if_room(state);
                if waits.is_some() {
                    state.release_writer(self.conn);
                }
                waits
            });
            if waits.is_some() {
                drop(hold);
                self.room.wait();
                hold = log::hold();
            }
        }
        if self.write_without_blocking().is_break() {
            self.parker.open();
        }
        self.shared.with(|state| state.release_writer(self.conn));
        drop(hold);
    }

    /// Writes what waits, as far as that cannot block; breaks if the other thread must go on. What comes
    /// meanwhile is left to it, so that searches with many messages do not keep this thread from reading.
    fn write_without_blocking(&self) -> ControlFlow<()> {
        if !self.is_pipe {
            return ControlFlow::Break(());
        }
        let mut pending = match self.pending.try_lock() {
            Ok(pending) => pending,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // The other thread writes, and looks for more before it waits.
            Err(TryLockError::WouldBlock) => return ControlFlow::Break(()),
        };
        if !pending.is_empty() || !system::is_ready(&self.output) {
            return ControlFlow::Break(());
        }
        match next_messages(&self.shared, SocketId(self.conn), Form::Lines) {
            Next::Write(lines) => *pending = lines,
            Next::Wait => return ControlFlow::Continue(()),
            Next::Close | Next::Gone => return ControlFlow::Break(()),
        }
        if pending.len() <= PIPE_BYTES
            && let Ok(count) = system::write_once(&self.output, pending.piece())
        {
            pending.advance(count);
            self.shared.traffic.sent(count);
        }
        if !pending.is_empty() {
            return ControlFlow::Break(());
        }
        self.shared.with(|state| state.all_written(self.conn, now_ns()));
        ControlFlow::Continue(())
    }

    /// Writes until the connection is over.
    fn write(&self) {
        loop {
            let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
            if pending.is_empty() {
                match next_messages(&self.shared, SocketId(self.conn), Form::Lines) {
                    Next::Write(lines) => *pending = lines,
                    Next::Wait => {
                        drop(pending);
                        self.parker.wait();
                        continue;
                    }
                    Next::Close | Next::Gone => return,
                }
            }
            while !pending.is_empty() {
                match system::write(&self.output, pending.piece()) {
                    Err(error) => {
                        spans::broke(&format!("standard output: {error}"));
                        return;
                    }
                    Ok(count) => {
                        pending.advance(count);
                        self.shared.traffic.sent(count);
                        if !self.shared.with(|state| state.writer_progress(self.conn, now_ns())) {
                            return;
                        }
                    }
                }
            }
        }
    }
}
