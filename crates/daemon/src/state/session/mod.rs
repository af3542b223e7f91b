//! The protocol's state machine: what each request does, and in which order it is answered.
//!
//! Requests that take no time are answered as they arrive; the others become tasks
//! ([`Task`](super::task::Task)), which keep their order within a session. No I/O, no threads, no clock.

mod begin;
mod hello;
mod running;

use plyd_protocol as wire;
use plyd_protocol::{Command, ErrorCode, ResultBody};

use super::refusals::Refusal;
use super::request_error::RequestError;
use super::{Conn, Stage, State};
use crate::ids::{ConnId, SocketId};
use crate::spans;
use plyd_bridge as bridge;
use plyd_core::engine::settings;

pub(super) use hello::Greeting;

/// Where and when a request came in.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The connection.
    pub(crate) conn: ConnId,
    /// The line, counted from 1 over all lines of the connection.
    pub(crate) line: u64,
    /// When its last byte arrived.
    pub(crate) received_ns: u64,
    /// The bytes that its request occupies.
    pub(crate) bytes: usize,
    /// A token that nobody else has, if the request asks for one.
    pub(crate) fresh_token: Option<String>,
}

impl Arrival {
    /// A line of a socket, by its number there, that holds no request; it is for the connection that the
    /// socket serves.
    pub(crate) fn of(state: &State, link: SocketId, number: u64, received_ns: u64) -> Self {
        let conn = state.conn_of(link);
        let before = state.conns.get(&conn).map_or(0, |conn| conn.lines_before);
        Self { conn, line: number.wrapping_add(before), received_ns, bytes: 0, fresh_token: None }
    }
}

impl State {
    /// Takes a line that is no request.
    pub(crate) fn bad_line(&mut self, at: &Arrival, fault: wire::DecodeError, now_ns: u64) {
        self.hear(at, now_ns);
        let Some(conn) = self.listening(at.conn) else {
            return;
        };
        let needs_hello = conn.needs_hello;
        let duplicate = fault.id.as_ref().filter(|id| conn.inflight.contains_key(*id)).cloned();
        match duplicate {
            Some(name) => self.send_duplicate(at.conn, name, at.line, now_ns),
            None => {
                let refusal =
                    RequestError { pointer: fault.pointer, ..RequestError::new(fault.code, fault.message) };
                self.send_error(at.conn, fault.id.as_deref(), at.line, refusal, now_ns);
            }
        }
        if needs_hello {
            self.bad_line_before_hello(at.conn, now_ns);
        }
    }

    /// Takes a line that was too long to be kept.
    pub(crate) fn long_line(&mut self, at: &Arrival, limit: usize, now_ns: u64) {
        let message = format!("a line has at most {limit} bytes");
        let fault = wire::DecodeError { id: None, code: ErrorCode::LineTooLong, pointer: None, message };
        self.bad_line(at, fault, now_ns);
    }

    /// Takes the first bytes of a peer that speaks another protocol.
    pub(crate) fn foreign(&mut self, at: &Arrival, refusal: Refusal, message: &str, now_ns: u64) {
        self.counters.lines += 1;
        self.counters.connections_dropped += 1;
        self.note_refusal(at.conn, refusal);
        if self.listening(at.conn).is_some() {
            self.send_fatal(at.conn, at.line, RequestError::new(ErrorCode::BadJson, message), now_ns);
        }
    }

    /// Whether a request must wait until others of its connection, or of all, are done.
    pub(crate) fn must_wait(&mut self, at: &Arrival, request: &wire::Request) -> bool {
        let (max_requests, shutting_down) = (self.limits.requests, self.shutting_down);
        let is_forbidden = self.allow(at.conn, &request.command).is_err();
        let Some(conn) = self.listening(at.conn) else { return false };
        let is_answered_at_once = match &request.command {
            Command::SetOption(set) => set.session.is_none(),
            command => command.is_immediate(),
        };
        let is_refused = conn.needs_hello
            || conn.inflight.contains_key(&request.id)
            || conn.inflight.len() >= max_requests
            || shutting_down
            || is_forbidden;
        let bytes = at.bytes + conn.defaults_bytes;
        !is_answered_at_once && !is_refused && self.awaits_room(at.conn, bytes)
    }

    /// Takes a request.
    pub(crate) fn request(&mut self, at: &Arrival, request: wire::Request, now_ns: u64) {
        self.hear(at, now_ns);
        self.tally.requested(request.command.name());
        let max_requests = self.limits.requests;
        if self.is_unlisted(at.conn) {
            // It is to end, and nothing of it counts until its turn comes.
            return self.end_unlisted(at.conn, now_ns);
        }
        let Some(conn) = self.listening(at.conn) else {
            return;
        };
        let wire::Request { id, command } = request;
        let cmd = command.name();
        if conn.inflight.contains_key(&id) {
            return self.send_duplicate(at.conn, id, at.line, now_ns);
        }
        let full = conn.inflight.len() >= max_requests;
        if conn.needs_hello && !matches!(command, Command::Hello(_)) {
            let refusal = RequestError::new(ErrorCode::HandshakeRequired, "hello must come first");
            return self.refuse(at, &id, cmd, refusal, now_ns);
        }
        if let Err(refusal) = self.allow(at.conn, &command) {
            return self.refuse(at, &id, cmd, refusal, now_ns);
        }
        let immediate = match command {
            Command::Hello(hello) => match self.hello(at, &id, &hello, now_ns) {
                Ok(Greeting::Opened(result)) => Ok(ResultBody::Hello(result)),
                Ok(Greeting::TakenUp) => return,
                Ok(Greeting::Duplicate) => return self.send_duplicate(at.conn, id, at.line, now_ns),
                Err(refusal) => Err(refusal),
            },
            Command::Ping(ping) => Ok(ResultBody::Ping(wire::PingResult { echo: ping.echo })),
            Command::Describe(wire::Describe { what: wire::DescribeWhat::Limits, .. }) => {
                self.limits_body(at.conn)
            }
            Command::Status(_) => Ok(ResultBody::Status(self.status(now_ns))),
            Command::Connections(asked) => Ok(ResultBody::Connections(self.connections(asked.after, now_ns))),
            Command::Close(wire::Close { session, connection: Some(connection) }) => {
                let closed = self.close_for_operator(at.conn, &session, connection, now_ns);
                let connection = Some(connection);
                closed.map(|()| ResultBody::Close(wire::CloseResult { session, connection }))
            }
            Command::Disconnect(disconnect) => match self.meant(&disconnect.target) {
                Ok(connections) => return self.disconnect_all(at.conn, &id, connections, now_ns),
                Err(refusal) => Err(refusal),
            },
            Command::SetOption(request) if request.session.is_none() => {
                self.set_defaults(at.conn, &id, &request.options, now_ns)
            }
            Command::Stop(stop) => return self.stop(at.conn, &id, &stop, now_ns),
            Command::Update(update) => return self.update(at, &id, &update, now_ns),
            Command::Quit(quit) => return self.quit(at.conn, id, quit.mode, now_ns),
            _ if self.shutting_down => {
                let message = "the server ends and takes no new work: connect again after its restart";
                Err(RequestError::new(ErrorCode::ShuttingDown, message))
            }
            _ if full => Err(RequestError::new(
                ErrorCode::TooManyRequests,
                format!("at most {max_requests} requests are in flight on a connection"),
            )),
            command => return self.begin(at, id, command, now_ns),
        };
        match immediate {
            Ok(body) => self.send_result(at.conn, &id, body, now_ns),
            Err(refusal) => self.refuse(at, &id, cmd, refusal, now_ns),
        }
    }

    /// Refuses a request that is not worked on.
    fn refuse(&mut self, at: &Arrival, id: &str, cmd: &str, refusal: RequestError, now_ns: u64) {
        let span = spans::request(&self.span(at.conn), id, cmd);
        let _within = span.enter();
        self.send_error(at.conn, Some(id), at.line, refusal, now_ns);
    }

    /// Notes that a line came.
    fn hear(&mut self, at: &Arrival, now_ns: u64) {
        self.counters.lines += 1;
        if let Some(conn) = self.conns.get_mut(&at.conn) {
            conn.active_ns = now_ns;
            conn.lines = at.line;
        }
    }

    /// The connection, if it still takes requests.
    fn listening(&mut self, id: ConnId) -> Option<&mut Conn> {
        self.conns.get_mut(&id).filter(|conn| conn.stage == Stage::Open)
    }

    fn bad_line_before_hello(&mut self, id: ConnId, now_ns: u64) {
        let max = self.limits.bad_lines;
        let Some(conn) = self.listening(id) else { return };
        conn.bad_lines += 1;
        if conn.bad_lines >= max {
            self.counters.connections_dropped += 1;
            self.note_refusal(id, Refusal::BadLines);
            let message = "too many bad lines before hello";
            let notice = wire::Notice::new(wire::NoticeKind::ProtocolAbuse, message);
            let notice = wire::Notice { limit: Some("bad_lines".to_owned()), ..notice };
            self.send_message(id, &wire::Message::Notice(notice), now_ns);
            self.end_conn(id, now_ns);
        }
    }

    fn limits_body(&self, id: ConnId) -> Result<ResultBody, RequestError> {
        let body = serde_json::to_value(self.limits_of(id))
            .map_err(|error| RequestError::new(ErrorCode::Internal, error.to_string()))?;
        Ok(ResultBody::Describe(wire::DescribeResult { body }))
    }

    fn set_defaults(
        &mut self,
        id: ConnId,
        name: &str,
        options: &wire::Settings,
        now_ns: u64,
    ) -> Result<ResultBody, RequestError> {
        let options = bridge::given(options);
        let renamed = settings::check_any_options(self.games, &options)?;
        self.warn_of_renamed(id, name, &renamed, now_ns);
        let Some(conn) = self.conns.get_mut(&id) else {
            return Err(RequestError::new(ErrorCode::Internal, "the connection is gone"));
        };
        conn.defaults = bridge::settings(&settings::layered(&bridge::given(&conn.defaults), &options));
        conn.defaults_bytes = conn.defaults.heap_bytes();
        let options = conn.defaults.clone();
        Ok(ResultBody::SetOption(wire::SetOptionResult { session: None, options }))
    }
}
