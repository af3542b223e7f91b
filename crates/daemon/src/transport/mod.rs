//! The ways in and out: standard streams, TCP and Unix sockets, and calls within the process; the same lines
//! on all of them, and WebSocket, where each line is a message.
//!
//! Transports move bytes. What a line means is decided elsewhere; here it is only found, stamped and decoded.

mod foreign;
mod http;
pub(super) mod local;
pub(super) mod net;
mod origin;
mod outgoing;
pub(super) mod stdio;
pub(super) mod web;
mod websocket;

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use plyd_protocol as wire;
use tokio::sync::Notify;

use super::Shared;
use super::conn::Taken;
use super::outbox::Numbered;
use super::session::Arrival;
use super::state::{ConnId, State};
use plyd_core::search::clock::now_ns;
use plyd_protocol::framing::Event;

use outgoing::Outgoing;

pub use origin::check_origin;

/// The bytes that a writer takes at a time.
const BATCH_BYTES: usize = 64 << 10;

/// Wakes a reader or a writer, or who waits for a connection's end.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    /// A thread.
    Thread(Arc<Parker>),
    /// A task.
    Task(Arc<Notify>),
}

impl Signal {
    /// Wakes it, now or when it next waits.
    pub(super) fn wake(&self) {
        match self {
            Self::Thread(parker) => parker.open(),
            Self::Task(notify) => notify.notify_one(),
        }
    }
}

/// Lets one thread wait for another. If it is opened first, the next wait returns at once.
#[derive(Debug, Default)]
pub(super) struct Parker {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Parker {
    /// Opens it.
    pub(super) fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_one();
    }

    /// Waits until it is open, and closes it.
    pub(super) fn wait(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = self.opened.wait_while(open, |open| !*open).unwrap_or_else(PoisonError::into_inner);
        *open = false;
    }
}

/// What a writer is to do next.
enum Next {
    /// Write this.
    Write(Outgoing),
    /// Wait.
    Wait,
    /// Close; all was written.
    Close,
    /// Give up.
    Gone,
}

/// How messages stand in what is written.
#[derive(Clone, Copy)]
enum Form {
    /// Each with a line end.
    Lines,
    /// Each as a text message of a WebSocket.
    Frames,
}

/// The next messages of a connection.
fn next_messages(shared: &Arc<Shared>, conn: ConnId, form: Form) -> Next {
    let batch = match shared.with(|state| state.take_messages(conn, BATCH_BYTES, now_ns())) {
        Taken::Batch(batch) => batch,
        Taken::Wait => return Next::Wait,
        Taken::Close => return Next::Close,
        Taken::Gone => return Next::Gone,
    };
    let mut outgoing = Outgoing::default();
    for Numbered { seq, item } in batch {
        let t_us = now_ns() / 1000;
        let line = item.stamp(seq, t_us);
        outgoing.put(&line, form);
        if let Some(transcript) = &shared.transcript {
            transcript.sent(conn, seq, t_us, line);
        }
    }
    Next::Write(outgoing)
}

/// The longest line that needs no room before it is decoded, and is decoded by the thread that reads it.
const SHORT_LINE: usize = 16 << 10;

/// A line as a reader gives it to the state.
struct Received {
    at: Arrival,
    content: Content,
}

enum Content {
    Request(Box<wire::Request>),
    Fault(wire::Fault),
    /// Longer than this many bytes.
    TooLong(usize),
}

impl Received {
    /// Decodes what a reader found: up to tens of milliseconds for a line of 1 MiB.
    fn decode(shared: &Shared, conn: ConnId, event: Event<'_>, received_ns: u64) -> Self {
        let mut weight = 0;
        let (number, content) = match event {
            Event::Line { number, bytes } => {
                if let Some(transcript) = &shared.transcript {
                    transcript.received(conn, number, received_ns / 1000, &bytes);
                }
                let content = match wire::decode(&bytes) {
                    Ok(request) => {
                        weight = request.heap_bytes();
                        Content::Request(Box::new(request))
                    }
                    Err(mut fault) => {
                        if fault.code == wire::ErrorCode::BadJson
                            && let Some(message) = foreign::request_message(&bytes)
                        {
                            fault.message = message;
                        }
                        Content::Fault(fault)
                    }
                };
                (number, content)
            }
            Event::TooLong { number, limit } => (number, Content::TooLong(limit)),
        };
        Self { at: Arrival { conn, line: number, received_ns, bytes: weight }, content }
    }

    /// Gives the line to the state, unless it must wait for room; it keeps its reserved room until then.
    fn apply_if_room(self, state: &mut State) -> Option<Self> {
        if let Content::Request(request) = &self.content
            && state.must_wait(&self.at, request)
        {
            return Some(self);
        }
        let conn = self.at.conn;
        self.apply(state);
        state.unreserve(conn);
        None
    }

    /// Gives the line to the state.
    fn apply(self, state: &mut State) {
        let now = now_ns();
        match self.content {
            Content::Request(request) => state.request(&self.at, *request, now),
            Content::Fault(fault) => state.bad_line(&self.at, fault, now),
            Content::TooLong(limit) => state.long_line(&self.at, limit, now),
        }
    }
}
