//! Connections that outlive their sockets. One that has the promise to be kept does not end when its socket
//! breaks: its sessions, searches and messages stay for a while, and a client that comes over another socket
//! with the connection's token takes it up, as if nothing had happened in between.
//!
//! A socket has the number of the connection that it opened. What comes from a socket is for the connection
//! that it serves, which is found under the lock ([`State::conn_of`]): the one that it opened or another one
//! that it took up. Once that one has a later socket, the earlier one serves none any more, or in exchange
//! the one that the later socket opened, which only says goodbye. So whatever a socket that was given up
//! still says or does changes nothing.

use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::{ErrorCode, ResultBody, Resumable};
use rustix::rand::{GetRandomFlags, getrandom};

use super::clients::{TokenHash, mark_token};
use super::identity::ClientId;
use super::outbox::{Missed, Outbox};
use super::request_error::RequestError;
use super::session::{Arrival, Greeting};
use super::state::{Conn, ConnId, Stage, State};
use super::timers::Timer;
use super::transport::Signal;
use crate::log::{Quota, bounded};

/// Lines about connections that are kept and taken up.
static KEPT: Quota = Quota::new(200, Duration::from_millis(500));
/// Lines about those that end because too much waits for them.
static CROWDED: Quota = Quota::new(5, Duration::from_secs(10));

/// What a socket that serves no connection any more serves: a number that no connection has.
pub(super) const NOBODY: ConnId = 0;

/// A socket, or another way in, by the number of the connection that it opened.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct SocketId(pub(super) ConnId);

/// The promise to wait for a client whose socket breaks.
#[derive(Debug)]
pub(super) struct Promise {
    /// The hash of the token with which the client comes back.
    token: TokenHash,
    /// How long it is waited for.
    keep_ns: u64,
    /// Until when, if it is away.
    until_ns: Option<u64>,
}

/// A token that nobody can guess: 128 bits of the system's randomness, with the mark by which tokens are
/// found where they do not belong. None if the system has none to give.
pub(super) fn fresh_token() -> Option<String> {
    let mut bytes = [0; 16];
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                tracing::error!(%error, "the system gives no random bytes: a connection cannot be kept");
                return None;
            }
        }
    }
    Some(mark_token(&bytes))
}

/// Wakes nobody.
fn nobody() -> Signal {
    Signal::Task(Arc::default())
}

impl Conn {
    /// Whether it has lost its socket and waits for its client.
    pub(super) fn is_away(&self) -> bool {
        self.link.is_none()
    }
}

impl State {
    /// The connection that a socket serves.
    pub(super) fn conn_of(&self, link: SocketId) -> ConnId {
        let id = self.taken_up.get(&link).copied().unwrap_or(link.0);
        let is_served = self.conns.get(&id).is_some_and(|conn| conn.link == Some(link));
        if is_served { id } else { NOBODY }
    }

    /// Whether the server offers to keep a connection.
    pub(super) fn offers_resume(&self, id: ConnId) -> bool {
        !self.limits.resume.is_zero() && self.conns.get(&id).is_some_and(|conn| conn.remote)
    }

    /// Promises a connection to be kept for so long, if there is room for one more; `token` is a fresh one.
    pub(super) fn promise(
        &mut self,
        id: ConnId,
        keep_ms: u64,
        token: Option<&str>,
        lines: u64,
    ) -> Option<Resumable> {
        if !self.offers_resume(id) || !self.has_promise_left(id) {
            return None;
        }
        let (most, bytes) = (self.limits.resume.as_millis() as u64, self.limits.resume_bytes);
        let (conn, token) = (self.conns.get_mut(&id)?, token?);
        let keep_ms = keep_ms.min(most);
        let keep_ns = keep_ms.saturating_mul(1_000_000);
        conn.promise = Some(Promise { token: TokenHash::of(token), keep_ns, until_ns: None });
        conn.outbox.keep_sent(bytes);
        Some(Resumable { token: Some(token.to_owned()), keep_ms, lines })
    }

    /// Whether one more connection may have the promise, and this one in particular: nobody has more promises
    /// than are left for others. Clients without a name are distinguished by their addresses.
    fn has_promise_left(&self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get(&id) else { return false };
        let owner = |conn: &Conn| (conn.client, conn.network.filter(|_| conn.client.is_none()));
        let promised = self.conns.values().filter(|conn| conn.promise.is_some());
        let (all, own) = promised
            .fold((0, 0), |(all, own), other| (all + 1, own + usize::from(owner(other) == owner(conn))));
        own < self.limits.resume_connections.saturating_sub(all)
    }

    /// The socket of a connection broke: the connection waits for its client if that was promised, else it is
    /// cut off. `count` says whether it counts as one that the server closed.
    pub(super) fn lose_conn(&mut self, id: ConnId, now_ns: u64, count: bool) {
        let Some(conn) = self.conns.get(&id) else { return };
        let is_kept = conn.promise.is_some() && conn.stage == Stage::Open && !self.shutting_down;
        if !is_kept || conn.is_away() {
            return self.drop_conn(id, now_ns, count);
        }
        self.part_from_link(id, now_ns);
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let Some(promise) = &mut conn.promise else { return };
        let until_ns = now_ns.saturating_add(promise.keep_ns);
        promise.until_ns = Some(until_ns);
        let keep_ms = promise.keep_ns / 1_000_000;
        let span = &conn.span;
        bounded!(KEPT, INFO, parent: span, keep_ms, "the socket broke; the connection waits for its client");
        self.set_timer(until_ns, Timer::Kept(id));
        self.away.push_back(id);
        self.bound_kept(id, now_ns);
    }

    /// The line that the reader of a connection has in hand is lost with its socket, and so is the place that
    /// this line waits for.
    fn give_up_line(&mut self, id: ConnId) {
        self.unreserve(id);
        self.leave_queues(id);
    }

    /// Takes the socket from a connection. Both of its tasks find that they serve nobody, and end.
    fn part_from_link(&mut self, id: ConnId, now_ns: u64) {
        self.give_up_line(id);
        let Some(conn) = self.conns.get_mut(&id) else { return };
        if let Some(link) = conn.link.take() {
            self.taken_up.remove(&link);
        }
        conn.outbox.lose_writer(now_ns);
        for signal in [&mut conn.writer, &mut conn.reader, &mut conn.room] {
            self.effects.signals.push(std::mem::replace(signal, nobody()));
        }
    }

    /// The client of a connection that waits was not there in time.
    pub(super) fn kept_is_due(&mut self, id: ConnId, now_ns: u64) {
        let Some(conn) = self.conns.get(&id).filter(|conn| conn.is_away()) else { return };
        bounded!(KEPT, INFO, parent: &conn.span, "the client did not come back in time");
        self.drop_conn(id, now_ns, true);
    }

    /// Cuts off the connections that wait for their clients: nobody can come back to a server that ends.
    pub(super) fn drop_kept(&mut self, now_ns: u64) {
        for id in std::mem::take(&mut self.away) {
            self.drop_conn(id, now_ns, false);
        }
    }

    /// Counts what waits for the client of a connection that is away, and ends such connections if more waits
    /// for all of them together than may: first the one that has waited longest. None ends that has no more
    /// than its share.
    pub(super) fn bound_kept(&mut self, id: ConnId, now_ns: u64) {
        if let Some(conn) = self.conns.get_mut(&id) {
            let before = std::mem::replace(&mut conn.away_bytes, conn.outbox.unsent());
            self.away_bytes = self.away_bytes - before + conn.away_bytes;
        }
        let share = self.limits.resume_bytes;
        let most = share.saturating_mul(self.limits.resume_connections);
        while self.away_bytes > most {
            let is_large = |id: &ConnId| self.conns.get(id).is_some_and(|conn| conn.away_bytes > share);
            // There is one, unless more connections have the promise than today's settings allow.
            let Some(id) = self.away.iter().copied().find(is_large) else { return };
            let (bytes, span) = (self.away_bytes, self.span(id));
            bounded!(CROWDED, WARN, parent: &span, bytes, "too much waits for clients that are away");
            self.drop_conn(id, now_ns, true);
        }
    }

    /// The connection of a client that is kept under this token, or would be if its socket broke; `new` is
    /// the connection over which the client asks.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn kept_under(
        &self,
        new: ConnId,
        token: &str,
        client: Option<ClientId>,
    ) -> Result<ConnId, RequestError> {
        let hash = TokenHash::of(token);
        let mut found = None;
        // All are compared, whichever it is.
        for (id, conn) in &self.conns {
            let is_it = conn.promise.as_ref().is_some_and(|promise| promise.token.is_same(&hash));
            if is_it && conn.client == client && conn.stage == Stage::Open {
                found = Some(*id);
            }
        }
        // Standard streams are no sockets that could break, and may have sessions of their own by now.
        let is_remote = self.conns.get(&new).is_some_and(|new| new.remote);
        found.filter(|_| is_remote).ok_or_else(|| {
            let message = "no connection of this client is kept under this token: the token is wrong, or the \
                           time is over";
            RequestError::new(ErrorCode::ResumeUnknown, message).at("/resume/token")
        })
    }

    /// Lets the client that said `hello` take up that connection, behind the message `seq`, and answers
    /// there.
    ///
    /// # Errors
    /// What it missed cannot be sent again, or its address has no place for it. Nothing has changed then.
    pub(super) fn take_up(
        &mut self,
        kept: ConnId,
        at: &Arrival,
        name: &str,
        hello: &wire::Hello,
        seq: Option<u64>,
        now_ns: u64,
    ) -> Result<Greeting, RequestError> {
        let gone = || RequestError::new(ErrorCode::Internal, "the connection is gone");
        let conn = self.conns.get(&kept).ok_or_else(gone)?;
        let new = self.conns.get(&at.conn).ok_or_else(gone)?;
        if conn.inflight.contains_key(name) {
            return Ok(Greeting::Duplicate);
        }
        let again = conn.outbox.missed(seq).map_err(not_sent_again)?;
        if conn.network != new.network {
            self.find_place_of_address(new.network)?;
        }
        let span = new.span.clone();
        self.exchange_links(kept, at.conn, again, now_ns);
        let conn = self.conns.get_mut(&kept).ok_or_else(gone)?;
        conn.on_eof = hello.on_eof;
        conn.active_ns = now_ns;
        // This `hello` is the next line of the connection.
        let lines = conn.lines;
        conn.lines += 1;
        conn.lines_before = conn.lines.wrapping_sub(at.line);
        let promise = conn.promise.as_mut();
        let keep_ms = promise.as_ref().map_or(0, |promise| promise.keep_ns / 1_000_000);
        if let Some(until_ns) = promise.and_then(|promise| promise.until_ns.take()) {
            self.clear_timer(until_ns, Timer::Kept(kept));
        }
        let result = self.hello_result(kept, hello, &span, Some(Resumable { token: None, keep_ms, lines }));
        bounded!(KEPT, INFO, parent: &span, connection = kept, again, "the client takes its connection up");
        self.send_result(kept, name, ResultBody::Hello(Box::new(result)), now_ns);
        Ok(Greeting::TakenUp)
    }

    /// Gives a connection the socket of another one, `new`, which has not said `hello`. That one ends: with
    /// the socket that the connection may still have, whose peer hears why, behind what is on its way there.
    fn exchange_links(&mut self, kept: ConnId, new: ConnId, again: usize, now_ns: u64) {
        self.give_up_line(kept);
        let Some(mut other) = self.conns.remove(&new) else { return };
        let Some(conn) = self.conns.get_mut(&kept) else { return };
        let hears_why = conn.link.is_some();
        let farewell = Outbox::behind(&conn.outbox);
        conn.outbox.lose_writer(now_ns);
        conn.outbox.go_on(std::mem::replace(&mut other.outbox, farewell), again, now_ns);
        for (own, others) in [
            (&mut conn.writer, &mut other.writer),
            (&mut conn.reader, &mut other.reader),
            (&mut conn.room, &mut other.room),
        ] {
            std::mem::swap(own, others);
        }
        std::mem::swap(&mut conn.link, &mut other.link);
        std::mem::swap(&mut conn.network, &mut other.network);
        std::mem::swap(&mut conn.origin, &mut other.origin);
        self.taken_up.extend(conn.link.map(|link| (link, kept)));
        self.taken_up.extend(other.link.map(|link| (link, new)));
        self.away.retain(|id| *id != kept);
        self.away_bytes -= std::mem::take(&mut conn.away_bytes);
        self.conns.insert(new, other);
        if hears_why {
            let message = "the client has taken this connection up over another socket";
            let refusal = RequestError::new(ErrorCode::Disconnected, message);
            // It is no failure, and not counted as one.
            let message = wire::Message::Error(Box::new(refusal.into_message(None, 0, None, true)));
            self.drain(new, Some(message.to_body()), wire::OnEof::Stop, now_ns);
        } else {
            self.drop_conn(new, now_ns, false);
        }
    }
}

/// Why messages that a client missed cannot be sent again, as it hears it.
fn not_sent_again(missed: Missed) -> RequestError {
    let (code, message) = match missed {
        Missed::Gap(gone) => (
            ErrorCode::ResumeGap,
            format!("the messages up to {gone} are not kept any more: without `seq` the rest is sent"),
        ),
        Missed::Ahead(last) => (ErrorCode::OutOfRange, format!("the last message was {last}")),
    };
    RequestError::new(code, message).at("/resume/seq")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Memory;
    use crate::conn::Taken;
    use crate::limits::Limits;
    use crate::outbox::Item;
    use crate::spans::Origin;

    const MS: u64 = 1_000_000;
    const TOKEN: &str = "plyd_00112233445566778899aabbccddeeff";

    fn state() -> State {
        let limits = Limits { resume: Duration::from_secs(1), resume_connections: 2, ..Limits::default() };
        State::new(limits, &[], None, Memory::new(0), 0)
    }

    /// Opens a connection.
    fn open(state: &mut State) -> ConnId {
        state.open_conn(Origin::Unix, [nobody(), nobody(), nobody()], 0)
    }

    /// Takes a line of a socket: a `hello` with that `resume`.
    fn hello(state: &mut State, socket: ConnId, number: u64, resume: &str, now_ns: u64) {
        let line =
            format!(r#"{{"id":"h{number}","cmd":"hello","protocol":{{"min":1,"max":1}},"resume":{resume}}}"#);
        let at = Arrival::of(state, SocketId(socket), number, now_ns);
        let at = Arrival { fresh_token: Some(TOKEN.to_owned()), ..at };
        state.request(&at, wire::decode(line.as_bytes()).unwrap(), now_ns);
    }

    fn take(seq: u64) -> String {
        format!(r#"{{"token":"{TOKEN}","seq":{seq}}}"#)
    }

    /// The numbers of the messages that a socket is given.
    fn taken(state: &mut State, socket: ConnId) -> Vec<u64> {
        match state.take_messages(state.conn_of(SocketId(socket)), usize::MAX, 0) {
            Taken::Batch(batch) => batch.into_iter().map(|numbered| numbered.seq).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn a_socket_serves_what_it_opened_or_took_up_and_then_nobody() {
        let mut state = state();
        let first = open(&mut state);
        hello(&mut state, first, 1, r#"{"keep_ms":500}"#, 0);
        assert_eq!(taken(&mut state, first), [1]);
        state.all_written(first, 0);
        let at_second = open(&mut state);
        hello(&mut state, at_second, 3, &take(0), 0);
        assert_eq!(state.conn_of(SocketId(at_second)), first);
        // The old socket says goodbye, and nothing else.
        assert_eq!(state.conn_of(SocketId(first)), at_second);
        assert_eq!(state.conns[&at_second].stage, Stage::Flushing);
        state.input_ended(state.conn_of(SocketId(first)), 1);
        assert_eq!(taken(&mut state, first), [2], "its numbers go on");
        assert_eq!(taken(&mut state, at_second), [1, 2]);
        assert_eq!(taken(&mut state, first), [0; 0]);
        assert_eq!((state.conn_of(SocketId(first)), state.conns.len()), (NOBODY, 1));
        // The next line on the new socket is the connection's third.
        assert_eq!(Arrival::of(&state, SocketId(at_second), 4, 0).line, 3);
        // Whatever the old socket still reports changes nothing.
        state.lose_conn(state.conn_of(SocketId(first)), 1, false);
        state.input_ended(state.conn_of(SocketId(first)), 1);
        assert!(!state.conns[&first].is_away() && state.conns.len() == 1);
        assert_eq!(state.counters.errors, 0, "it failed in nothing");
        // One whose writer has something in hand hears it behind that, and what it has in hand is counted
        // until it is written.
        let in_hand = state.conns[&first].outbox.unsent();
        assert!(in_hand > 0);
        let at_third = open(&mut state);
        hello(&mut state, at_third, 1, &take(2), 2);
        assert_eq!(taken(&mut state, at_third), [3]);
        assert_eq!(state.conn_of(SocketId(at_second)), at_third);
        assert!(state.conns[&at_third].outbox.unsent() > in_hand);
        assert_eq!(taken(&mut state, at_second), [3]);
        assert!(state.conns[&at_third].outbox.unsent() < in_hand);
        assert_eq!(taken(&mut state, at_second), [0; 0]);
        assert_eq!((state.conn_of(SocketId(at_second)), state.conns.len()), (NOBODY, 1));
        // One that does not take it is not waited for longer than others.
        let at_fourth = open(&mut state);
        hello(&mut state, at_fourth, 1, &take(3), 3);
        taken(&mut state, at_fourth);
        state.all_written(first, 3);
        let stalled_ns = state.limits.stalled.as_nanos() as u64;
        state.tick(stalled_ns + 2);
        assert_eq!(state.conn_of(SocketId(at_third)), at_fourth);
        state.tick(stalled_ns + 3);
        assert_eq!((state.conn_of(SocketId(at_third)), state.conns.len()), (NOBODY, 1));
        state.drop_conn(first, 3, false);
        assert_eq!(state.conn_of(SocketId(at_fourth)), NOBODY);
        assert!(state.taken_up.is_empty() && state.conns.is_empty() && state.next_timer().is_none());
    }

    #[test]
    fn a_connection_waits_as_long_as_promised_and_holds_no_room_for_a_line_that_is_lost() {
        for (asked, until_ms) in [(500, 510), (5000, 1010)] {
            let mut state = state();
            let id = open(&mut state);
            hello(&mut state, id, 1, &format!(r#"{{"keep_ms":{asked}}}"#), 0);
            taken(&mut state, id);
            state.reserve(id, 100_000);
            assert!(state.conns[&id].held.total() > 0);
            state.lose_conn(id, 10 * MS, false);
            // Another break, such as the writer's, is none.
            state.lose_conn(state.conn_of(SocketId(id)), 20 * MS, false);
            assert!(state.conns[&id].is_away() && state.conns[&id].held.total() == 0);
            state.tick(until_ms * MS - 1);
            assert!(state.conns.contains_key(&id), "{asked}");
            state.tick(until_ms * MS);
            assert!(state.conns.is_empty() && state.next_timer().is_none(), "{asked}");
        }
    }

    #[test]
    fn a_connection_that_is_taken_up_waits_the_whole_time_again() {
        let mut state = state();
        let id = open(&mut state);
        hello(&mut state, id, 1, r#"{"keep_ms":500}"#, 0);
        taken(&mut state, id);
        state.lose_conn(id, 0, false);
        let next = open(&mut state);
        hello(&mut state, next, 1, &take(1), 400 * MS);
        assert_eq!(taken(&mut state, next), [2]);
        state.tick(600 * MS);
        assert!(!state.conns[&id].is_away());
        state.lose_conn(state.conn_of(SocketId(next)), 700 * MS, false);
        state.tick(1199 * MS);
        assert!(state.conns[&id].is_away());
        state.tick(1200 * MS);
        assert!(state.conns.is_empty());
    }

    /// A connection that has the promise, and whose answer to `hello` is written.
    fn kept(state: &mut State) -> ConnId {
        let id = open(state);
        hello(state, id, 1, r#"{"keep_ms":500}"#, 0);
        taken(state, id);
        state.all_written(id, 0);
        assert!(state.conns[&id].promise.is_some());
        id
    }

    /// Queues a message that is counted with so many bytes.
    fn send(state: &mut State, id: ConnId, bytes: usize) {
        let before = state.conns[&id].outbox.unsent();
        state.send(id, Item::body("x".repeat(bytes - 64)), 0);
        let after = state.conns.get(&id).map(|conn| conn.outbox.unsent());
        assert!(after.is_none_or(|after| after == before + bytes));
    }

    #[test]
    fn what_waits_for_all_who_are_away_is_bounded_and_nobody_loses_its_share() {
        let mut state = state();
        (state.limits.resume_connections, state.limits.resume_bytes) = (8, 1000);
        let ids = [0; 3].map(|_| kept(&mut state));
        for (id, bytes) in ids.into_iter().zip([900, 4000, 3000]) {
            state.lose_conn(id, 0, false);
            send(&mut state, id, bytes);
        }
        assert_eq!(state.away, ids);
        send(&mut state, ids[0], 100);
        assert_eq!(state.away, ids, "8000 bytes may wait");
        send(&mut state, ids[2], 100);
        assert_eq!(state.away, [ids[0], ids[2]], "the first one has its share");
        send(&mut state, ids[2], 5000);
        assert_eq!(state.away, [ids[0]], "the others have more than theirs");
        assert_eq!((state.conns.len(), state.counters.connections_dropped), (1, 2));
        // What is there when the socket breaks counts at once.
        let id = kept(&mut state);
        send(&mut state, id, 7001);
        assert!(state.conns.contains_key(&id));
        state.lose_conn(id, 0, false);
        assert_eq!(state.away, [ids[0]]);
        assert!(!state.conns.contains_key(&id));
        // What came and went is not counted on.
        let next = open(&mut state);
        hello(&mut state, next, 1, &take(1), 0);
        assert_eq!((state.away.len(), state.away_bytes), (0, 0));
    }

    #[test]
    fn what_waits_for_who_is_away_keeps_no_answer_from_others() {
        let mut state = state();
        state.limits.unsent_bytes_in_all = 3 << 20;
        state.limits.resume_bytes = 4 << 20;
        let (away, other) = (kept(&mut state), open(&mut state));
        send(&mut state, other, 100);
        send(&mut state, away, 2 << 20);
        assert!(state.no_room_for_answer(other, 2 << 20, 0).is_some());
        state.lose_conn(away, 0, false);
        assert!(state.no_room_for_answer(other, 2 << 20, 0).is_none());
        assert!(state.no_room_for_answer(other, 4 << 20, u64::MAX).is_some());
        assert!(state.conns[&away].is_away(), "it is no slow reader");
        // What comes once more is among what is kept; what nobody has had yet counts again.
        state.drop_conn(away, 0, false);
        let sent = kept(&mut state);
        send(&mut state, sent, 2 << 20);
        taken(&mut state, sent);
        state.lose_conn(sent, 0, false);
        let next = open(&mut state);
        hello(&mut state, next, 1, &take(0), 0);
        assert!(state.conns[&sent].outbox.unsent() > 2 << 20);
        assert!(state.no_room_for_answer(other, 2 << 20, 0).is_none());
        send(&mut state, sent, 2 << 20);
        assert!(state.no_room_for_answer(other, 2 << 20, 0).is_some());
    }

    #[test]
    fn nobody_has_more_promises_than_are_left_for_others() {
        let limits = Limits { resume: Duration::from_secs(1), resume_connections: 8, ..Limits::default() };
        let mut state = State::new(limits, &[], None, Memory::new(0), 0);
        let mut given = |host: u8, client: Option<ClientId>| {
            let origin = Origin::Tcp(([192, 0, 2, host], 7).into());
            (0..9)
                .filter(|_| {
                    let id = state.open_conn(origin, [nobody(), nobody(), nobody()], 0);
                    state.conns.get_mut(&id).unwrap().client = client;
                    state.promise(id, 500, Some(TOKEN), 0).is_some()
                })
                .count()
        };
        let all = [given(1, None), given(1, Some(1)), given(2, Some(1)), given(2, None), given(3, None)];
        assert_eq!(all, [4, 2, 0, 1, 1], "a name is one wherever it calls from");
        assert_eq!(given(4, None), 0);
    }

    #[test]
    fn without_the_promise_or_after_the_end_a_break_is_the_end() {
        for (resume, ends) in [("", ""), (r#"{"keep_ms":500}"#, "quit"), (r#"{"keep_ms":500}"#, "shutdown")] {
            let mut state = state();
            let id = open(&mut state);
            if resume.is_empty() {
                state.limits.resume = Duration::ZERO;
            }
            hello(&mut state, id, 1, r#"{"keep_ms":500}"#, 0);
            match ends {
                "quit" => state.quit(id, "q".to_owned(), wire::QuitMode::Stop, 0),
                "shutdown" => state.announce_end(Duration::from_secs(9), 0),
                _ => {}
            }
            state.lose_conn(id, 1, false);
            assert!(state.conns.is_empty() && state.next_timer().is_none(), "{resume} {ends}");
        }
        // One that waits when the end begins is not waited for.
        let mut state = state();
        let id = open(&mut state);
        hello(&mut state, id, 1, r#"{"keep_ms":500}"#, 0);
        state.lose_conn(id, 0, false);
        assert!(state.conns[&id].is_away());
        state.announce_end(Duration::from_secs(9), 1);
        assert!(state.conns.is_empty());
    }
}
