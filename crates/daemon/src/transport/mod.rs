//! The ways in and out: standard streams, TCP and Unix sockets, and calls within the process; the same lines
//! on all of them, and WebSocket, where each line is a message; TCP and WebSocket over TLS as well.
//!
//! Transports move bytes. What a line means is decided elsewhere; here it is only found, stamped and decoded.

pub(super) mod feed;
mod foreign;
mod http;
pub(super) mod local;
pub(super) mod net;
mod newcomers;
mod outgoing;
pub(super) mod probes;
mod reading;
pub(super) mod stdio;
pub(super) mod tls;
pub(super) mod web;
mod websocket;

use std::sync::Arc;

use plyd_protocol as wire;

use super::ids::SocketId;
use super::state::State;
use crate::runtime::Shared;
use crate::state::conn::Taken;
use crate::state::kept::fresh_token;
use crate::state::outbox::Numbered;
use crate::state::session::Arrival;
use plyd_core::search::clock::now_ns;
use plyd_protocol::framing::Event;

use outgoing::Outgoing;

/// The bytes that a writer takes at a time.
const BATCH_BYTES: usize = 64 << 10;

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

/// The next messages of the connection that a socket serves.
fn next_messages(shared: &Arc<Shared>, link: SocketId, form: Form) -> Next {
    let taken = shared.with_conn(link, |state, conn| state.take_messages(conn, BATCH_BYTES, now_ns()));
    let batch = match taken {
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
            transcript.sent(link.0, seq, t_us, line);
        }
    }
    Next::Write(outgoing)
}

/// The longest line that needs no room before it is decoded, and is decoded by the thread that reads it.
const SHORT_LINE: usize = 16 << 10;

/// A line as a reader gives it to the state.
struct Received {
    link: SocketId,
    /// The line, counted from 1 over those of the socket.
    number: u64,
    received_ns: u64,
    /// The bytes that the request occupies.
    bytes: usize,
    /// A token that nobody else has, if the request asks for one: it is drawn outside of the lock.
    fresh_token: Option<String>,
    content: Content,
}

enum Content {
    Request(Box<wire::Request>),
    Fault(wire::DecodeError),
    /// Longer than this many bytes.
    TooLong(usize),
}

impl Received {
    /// Decodes what a reader found: up to tens of milliseconds for a line of 1 MiB.
    fn decode(shared: &Shared, link: SocketId, event: Event<'_>, received_ns: u64) -> Self {
        let mut weight = 0;
        let mut token = None;
        let (number, content) = match event {
            Event::Line { number, bytes } => {
                if let Some(transcript) = &shared.transcript {
                    transcript.received(link.0, number, received_ns / 1000, &bytes);
                }
                let content = match wire::decode(&bytes) {
                    Ok(request) => {
                        weight = request.heap_bytes();
                        if let wire::Command::Hello(hello) = &request.command
                            && let Some(wire::Resume::Keep { .. }) = hello.resume
                        {
                            token = fresh_token();
                        }
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
        Self { link, number, received_ns, bytes: weight, fresh_token: token, content }
    }

    /// Where it arrives: only under the lock is it known which connection the socket serves.
    fn arrival(&mut self, state: &State) -> Arrival {
        let (bytes, fresh_token) = (self.bytes, self.fresh_token.take());
        Arrival { bytes, fresh_token, ..Arrival::of(state, self.link, self.number, self.received_ns) }
    }

    /// Gives the line to the state, unless it must wait for room, or until the peer has read what it was
    /// answered; it keeps its reserved room until then.
    fn apply_if_room(mut self, state: &mut State) -> Option<Self> {
        let at = self.arrival(state);
        // Others may wait for the room of one that has some.
        if !state.has_line_in_hand(at.conn) && state.is_backed_up(at.conn) {
            return Some(Self { fresh_token: at.fresh_token, ..self });
        }
        if let Content::Request(request) = &self.content
            && state.must_wait(&at, request)
        {
            return Some(Self { fresh_token: at.fresh_token, ..self });
        }
        self.content.give(&at, state);
        state.unreserve(at.conn);
        None
    }

    /// Gives the line to the state.
    fn apply(mut self, state: &mut State) {
        let at = self.arrival(state);
        self.content.give(&at, state);
    }
}

impl Content {
    fn give(self, at: &Arrival, state: &mut State) {
        let now = now_ns();
        match self {
            Self::Request(request) => state.request(at, *request, now),
            Self::Fault(fault) => state.bad_line(at, fault, now),
            Self::TooLong(limit) => state.long_line(at, limit, now),
        }
    }
}
