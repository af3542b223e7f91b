//! Connections that outlive their sockets. One that has the promise to be kept does not end when its socket
//! breaks: its sessions, searches and messages stay for a while, and a client that comes over another socket
//! with the connection's token takes it up, as if nothing had happened in between.
//!
//! A socket has the number of the connection that it opened. What comes from a socket is for the connection
//! that it serves, which is found under the lock ([`State::conn_of`]): the one that it opened or another one
//! that it took up. Once that one has a later socket, the earlier one serves none any more, or in exchange
//! the one that the later socket opened, which only says goodbye. So whatever a socket that was given up
//! still says or does changes nothing.

mod promise;
mod take_up;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use super::timers::Timer;
use super::{Conn, Stage, State};
use crate::ids::{ConnId, NOBODY, SocketId};
use crate::log::{Quota, bounded, targets};
use crate::signal::Signal;

pub(crate) use promise::{Promise, fresh_token};

/// Lines about connections that are kept and taken up.
static KEPT: Quota = Quota::new(200, Duration::from_millis(500));
/// Lines about those that end because too much waits for them.
static CROWDED: Quota = Quota::new(5, Duration::from_secs(10));

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
    pub(crate) fn conn_of(&self, link: SocketId) -> ConnId {
        let id = self.taken_up.get(&link).copied().unwrap_or(link.0);
        let is_served = self.conns.get(&id).is_some_and(|conn| conn.link == Some(link));
        if is_served { id } else { NOBODY }
    }

    /// The socket of a connection broke: the connection waits for its client if that was promised, else it is
    /// cut off. `count` says whether it counts as one that the server closed.
    pub(crate) fn lose_conn(&mut self, id: ConnId, now_ns: u64, count: bool) {
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
        bounded!(
            KEPT, INFO, target: targets::KEPT, parent: span, keep_ms,
            "the socket broke; the connection waits for its client"
        );
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
        self.count_unread(id);
        let Some(conn) = self.conns.get_mut(&id) else { return };
        for signal in [&mut conn.writer, &mut conn.reader, &mut conn.room] {
            self.effects.signals.push(std::mem::replace(signal, nobody()));
        }
    }

    /// The client of a connection that waits was not there in time.
    pub(super) fn kept_is_due(&mut self, id: ConnId, now_ns: u64) {
        let Some(conn) = self.conns.get(&id).filter(|conn| conn.is_away()) else { return };
        bounded!(
            KEPT, INFO, target: targets::KEPT, parent: &conn.span,
            "the client did not come back in time"
        );
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
            bounded!(
                CROWDED, WARN, target: targets::KEPT, parent: &span, bytes,
                "too much waits for clients that are away"
            );
            self.drop_conn(id, now_ns, true);
        }
    }
}
