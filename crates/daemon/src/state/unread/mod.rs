//! The memory of messages that peers have not read: how much there may be, who is read no further until it
//! has read more, and who is cut off.
//!
//! Each connection has a small share that no other can take, so that whoever reads is never kept waiting by
//! those who do not; the rest is first come, first served. When that is taken, lines of connections beyond
//! their share wait: most messages answer a line. Others come by themselves, such as the ends of searches.
//! These are never refused, so if they are too much, the connection that holds most of them ends. News of
//! searches is bounded by itself: the newest wins.

use std::collections::VecDeque;

use plyd_protocol::ErrorCode;

use super::outbox::LARGE_MESSAGE;
use super::refusals::Refusal;
use super::request_error::RequestError;
use super::shares::Shares;
use super::{Conn, Stage, State};
use crate::config::limits::Limits;
use crate::ids::ConnId;

/// When a client may ask again whose answer was refused because too much is unread.
const UNREAD_RETRY_MS: u64 = 200;

/// The rate, in bytes a second, at which a client must read while others wait for the room that it takes.
const LEAST_RATE: usize = 256 << 10;

/// What the unread messages of all connections occupy. Those whose client is away have a bound of their own.
pub(crate) struct Unread {
    all: Shares,
    /// Connections with a line that waits until they have read more, the first come first.
    backlog: VecDeque<ConnId>,
    /// Whether it grew while there was no room.
    is_pressed: bool,
}

impl Unread {
    /// Room, all of it free: by the limits, for this number of connections.
    pub(super) fn new(limits: &Limits, connections: usize) -> Self {
        let all = Shares::new(limits.unsent_bytes_in_all, limits.unsent_bytes, connections);
        Self { all, backlog: VecDeque::new(), is_pressed: false }
    }
}

impl State {
    /// Counts anew what a connection's unread messages occupy.
    pub(super) fn count_unread(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        let now = if conn.is_away() { 0 } else { conn.outbox.occupied() };
        let before = std::mem::replace(&mut conn.unread_bytes, now);
        self.unread.all.change(before, now);
        if now > before {
            self.unread.is_pressed |= self.unread.all.is_full();
        } else if now < before {
            let is_freed = !self.unread.all.is_beyond(now) && self.is_in_backlog(id);
            let freed = self.conns.get(&id).filter(|_| is_freed);
            self.effects.signals.extend(freed.map(|conn| conn.room.clone()));
            self.wake_backlog();
        }
    }

    /// Forgets what the messages of a connection that is gone occupied.
    pub(super) fn forget_unread(&mut self, bytes: usize) {
        self.unread.all.change(bytes, 0);
        self.wake_backlog();
    }

    /// Whether the next line of a connection must wait until it has read more; then its reader is woken.
    pub(crate) fn is_backed_up(&mut self, id: ConnId) -> bool {
        let open = self.conns.get(&id).filter(|conn| conn.stage == Stage::Open);
        let all = &self.unread.all;
        if !all.is_full() || !open.is_some_and(|conn| all.is_beyond(conn.unread_bytes)) {
            self.leave_backlog(id);
            return false;
        }
        if !self.is_in_backlog(id) {
            self.unread.backlog.push_back(id);
            self.unread.is_pressed = true;
        }
        // Others may have the room that it waits for as well.
        self.cede_room(id);
        true
    }

    /// Whether a line of the connection waits until it has read more.
    pub(super) fn is_in_backlog(&self, id: ConnId) -> bool {
        self.unread.backlog.contains(&id)
    }

    /// Waits no longer for its client to read.
    pub(super) fn leave_backlog(&mut self, id: ConnId) {
        let waiting = self.unread.backlog.len();
        self.unread.backlog.retain(|other| *other != id);
        if self.unread.backlog.len() < waiting {
            self.wake_backlog();
        }
    }

    /// Wakes the first reader that waits if there is room.
    fn wake_backlog(&mut self) {
        if !self.unread.all.is_full()
            && let Some(conn) = self.unread.backlog.front().and_then(|first| self.conns.get(first))
        {
            self.effects.signals.push(conn.room.clone());
        }
    }

    /// Makes room as new limits say. What is unread stays so, even past smaller ones; readers that wait look
    /// again.
    pub(super) fn resize_unread(&mut self) {
        let fresh = Unread::new(&self.limits, self.shared_by());
        let Self { conns, unread, effects, .. } = self;
        let backlog = std::mem::take(&mut unread.backlog);
        *unread = Unread { backlog, is_pressed: true, ..fresh };
        for conn in conns.values() {
            unread.all.change(0, conn.unread_bytes);
            effects.signals.push(conn.room.clone());
        }
    }

    /// If unread messages take all room: cuts off those that read too slowly and, if what came by itself is
    /// too much as well, those that hold most of it.
    pub(super) fn bound_unread(&mut self, now_ns: u64) {
        if !std::mem::take(&mut self.unread.is_pressed) || !self.unread.all.is_full() {
            return;
        }
        // One that is alone is in nobody's way.
        let holders = self.conns.values().filter(|conn| self.unread.all.is_beyond(conn.unread_bytes));
        if holders.count() < 2 {
            return;
        }
        self.cut_slow_readers(now_ns);
        let small = |conn: &Conn| conn.unread_bytes.saturating_sub(conn.outbox.unsent_large());
        let mut of_all: usize = self.conns.values().map(small).sum();
        while of_all > self.limits.unsent_bytes_in_all {
            let beyond = self.conns.iter().filter(|(_, conn)| self.unread.all.is_beyond(small(conn)));
            let Some((id, bytes, held)) =
                beyond.map(|(id, conn)| (*id, small(conn), conn.unread_bytes)).max_by_key(|most| most.1)
            else {
                return;
            };
            if self.unread.all.is_alone(held) {
                return;
            }
            of_all -= bytes;
            self.note_refusal(id, Refusal::SlowReader);
            self.drop_conn(id, now_ns, true);
        }
    }

    /// Why an answer of so many bytes cannot be queued: large ones go one at a time unless they fit
    /// together, and the total that peers leave unread is bounded. Others are never refused.
    pub(super) fn no_room_for_answer(
        &mut self,
        id: ConnId,
        bytes: usize,
        now_ns: u64,
    ) -> Option<RequestError> {
        if bytes <= LARGE_MESSAGE {
            return None;
        }
        let large = self.conns.get(&id)?.outbox.unsent_large();
        if large == 0 || large + bytes <= self.limits.unsent_bytes {
            if self.fits_unsent(bytes) {
                return None;
            }
            self.cut_slow_readers(now_ns);
            if self.fits_unsent(bytes) {
                return None;
            }
        }
        let message = format!("the answer has {bytes} bytes, and others wait to be read: ask again");
        Some(RequestError::new(ErrorCode::Overloaded, message).retry(UNREAD_RETRY_MS))
    }

    fn fits_unsent(&self, bytes: usize) -> bool {
        // What waits for those who are away has a bound of its own, and so has what is sent once more.
        let unsent: usize = self.conns.values().map(|conn| conn.unread_bytes).sum();
        unsent == 0 || unsent + bytes <= self.limits.unsent_bytes_in_all
    }

    /// Cuts off clients that read so slowly that others get nothing.
    fn cut_slow_readers(&mut self, now_ns: u64) {
        let grace = self.limits.stalled;
        let is_slow = |conn: &Conn| {
            let is_beyond = self.unread.all.is_beyond(conn.unread_bytes);
            conn.outbox.is_slow(grace, LEAST_RATE, now_ns)
                || is_beyond && conn.outbox.is_behind(grace, LEAST_RATE, now_ns)
        };
        let slow = self.conns.iter().filter(|(_, conn)| !conn.is_away() && is_slow(conn));
        let slow: Vec<ConnId> = slow.map(|(id, _)| *id).collect();
        for id in slow {
            self.note_refusal(id, Refusal::SlowReader);
            self.drop_conn(id, now_ns, true);
        }
    }
}

#[cfg(test)]
mod tests;
