//! The memory of requests in flight: how much one connection may hold, how much all may hold together, and
//! which must wait.
//!
//! A connection whose next request does not fit is read no further until something that it waits for is done.
//! Each connection has a small share that no other can take, so that ordinary requests never wait for large
//! ones; the rest is given out in the order in which it was asked for. A running search may have no end: a
//! request that would wait for searches alone is refused instead, so that the `stop` behind it is read.
//!
//! A long line asks for its room before it is decoded ([`State::reserve`]) and its request takes it over, so
//! that the reader of a decoded line never waits again. A line that may occupy more than half of everything
//! is decoded while no other such line is, and its request then waits in the queue for the room that it
//! needs.

use std::collections::{HashMap, VecDeque};

use plyd_protocol::ErrorCode;

use super::request_error::RequestError;
use super::shares::Shares;
use super::{Stage, State};
use crate::config::limits::Limits;
use crate::ids::{ConnId, TaskId};

/// What a connection's requests in flight occupy.
#[derive(Default)]
pub(crate) struct Held {
    requests: HashMap<String, Weight>,
    /// The bytes of requests whose final message was sent before the work on them was done.
    over: HashMap<TaskId, usize>,
    bytes: usize,
    /// Of these, the bytes of searches, which may not end by themselves.
    lasting: usize,
    /// Bytes kept free for a line that is being decoded.
    pub(crate) reserved: usize,
    /// Whether its reader waits for one of its own requests.
    waits: bool,
}

struct Weight {
    bytes: usize,
    lasts: bool,
    /// The work on the request, which holds what was decoded.
    task: TaskId,
}

impl Held {
    pub(super) fn total(&self) -> usize {
        self.bytes + self.reserved
    }
}

/// What all connections hold together.
pub(crate) struct Intake {
    /// What a connection may hold.
    most: usize,
    /// What all hold.
    all: Shares,
    /// What searches hold of it.
    lasting: Shares,
    /// Connections whose readers wait for room, the first come first.
    queue: VecDeque<ConnId>,
    /// Connections with a line too large to be waited for with the others: the first one's is decoded.
    large: VecDeque<ConnId>,
    /// The same with a line for which searches leave no room. Its request never waits, so that what is
    /// behind it is read.
    doomed: VecDeque<ConnId>,
}

/// Whether a request fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// It fits now.
    Free,
    /// It will fit later.
    Later,
    /// It may never fit: searches take the room.
    Never,
}

/// Whether a line can be decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reserved {
    /// It can: room is reserved for it.
    Now,
    /// It can later; the reader is woken then.
    Later,
    /// It will not be read: the connection takes no more lines.
    Unwanted,
}

/// When a client whose request found no room may ask again, in ms.
const ROOM_RETRY_MS: u64 = 200;

/// The refusal of a request for which there is no room.
pub(super) fn no_room() -> RequestError {
    let message = "the requests in flight use up the memory for them; stop one, or try again later";
    RequestError::new(ErrorCode::TooManyRequests, message).retry(ROOM_RETRY_MS)
}

impl Intake {
    /// Room, all of it free: by the limits, for this number of connections.
    pub(super) fn new(limits: &Limits, connections: usize) -> Self {
        let all = Shares::new(limits.request_bytes_in_all, limits.request_bytes, connections);
        Self {
            most: limits.request_bytes,
            lasting: all.clone(),
            all,
            queue: VecDeque::new(),
            large: VecDeque::new(),
            doomed: VecDeque::new(),
        }
    }
}

impl State {
    /// Whether a request of `bytes` fits; if it will fit later, the reader is woken then.
    fn room(&mut self, id: ConnId, bytes: usize) -> Room {
        let Self { conns, intake, .. } = self;
        let Some(held) = conns.get_mut(&id).map(|conn| &mut conn.held) else { return Room::Free };
        held.waits = false;
        let (old, new) = (held.total(), held.total() + bytes);
        if old > 0 && new > intake.most {
            held.waits = held.lasting == 0 || held.lasting + bytes <= intake.most;
            let room = if held.waits { Room::Later } else { Room::Never };
            self.leave_queue(id);
            return room;
        }
        let is_next = intake.queue.front().is_none_or(|first| *first == id);
        let room = match () {
            () if intake.all.is_own(old, new) => Room::Free,
            () if is_next && intake.all.fits(old, new) => Room::Free,
            // Whatever ends by itself will free its room.
            () if intake.lasting.fits(held.lasting, held.lasting + bytes) => Room::Later,
            () => Room::Never,
        };
        if room != Room::Later {
            self.leave_queue(id);
        } else if !intake.queue.contains(&id) {
            intake.queue.push_back(id);
        }
        room
    }

    /// Keeps room for a line that is about to be decoded.
    pub(crate) fn reserve(&mut self, id: ConnId, bytes: usize) -> Reserved {
        if self.is_backed_up(id) {
            return Reserved::Later;
        }
        let Some(conn) = self.conns.get(&id).filter(|conn| conn.stage == Stage::Open) else {
            return Reserved::Unwanted;
        };
        // What a request takes over from the connection's defaults counts as the request's.
        let bytes = bytes + conn.defaults_bytes;
        let is_doomed = self.intake.doomed.contains(&id);
        if bytes > self.intake.all.pool() / 2 && !is_doomed {
            // It may wait with the others since before the limits changed, or the other way round.
            self.leave_queue(id);
            return take_turn(&mut self.intake.large, id);
        }
        if !is_doomed {
            self.leave_turns(id);
        }
        match if is_doomed { Room::Never } else { self.room(id, bytes) } {
            Room::Later => Reserved::Later,
            Room::Free => {
                self.change_held(id, |held| held.reserved = bytes);
                Reserved::Now
            }
            // It will be refused, or prove to need less.
            Room::Never => take_turn(&mut self.intake.doomed, id),
        }
    }

    /// Makes room as new limits say. What is held stays held, even past smaller ones; readers that wait look
    /// again.
    pub(super) fn resize_intake(&mut self) {
        let shared_by = self.shared_by();
        let Self { conns, intake, effects, limits, .. } = self;
        let Intake { most, all, lasting, .. } = Intake::new(limits, shared_by);
        (intake.most, intake.all, intake.lasting) = (most, all, lasting);
        for conn in conns.values() {
            intake.all.change(0, conn.held.total());
            intake.lasting.change(0, conn.held.lasting);
            effects.signals.push(conn.room.clone());
        }
    }

    /// Gives back what was kept free for a line, which was taken or proved bad.
    pub(crate) fn unreserve(&mut self, id: ConnId) {
        let mut reserved = 0;
        self.change_held(id, |held| reserved = std::mem::take(&mut held.reserved));
        if reserved > 0 {
            self.wake_first();
        }
        self.leave_turns(id);
    }

    /// Whether a decoded request of `bytes` must wait for room. With reserved room it need not.
    pub(super) fn awaits_room(&mut self, id: ConnId, bytes: usize) -> bool {
        let has_reserved = self.conns.get(&id).is_some_and(|conn| conn.held.reserved >= bytes);
        !has_reserved && !self.intake.doomed.contains(&id) && self.room(id, bytes) == Room::Later
    }

    /// Counts a request that is taken, in the room that was reserved for its line; false if there is none.
    pub(super) fn hold(&mut self, id: ConnId, name: &str, task: TaskId, bytes: usize) -> bool {
        if !self.has_own_room(id, bytes) {
            return false;
        }
        let Some(held) = self.conns.get(&id).map(|conn| &conn.held) else { return true };
        let (old, new) = (held.total(), held.total() + bytes);
        // The turn was checked before.
        let fits = (old == 0 || new <= self.intake.most) && self.intake.all.fits(old, new);
        if held.reserved < bytes && !fits {
            return false;
        }
        self.change_held(id, |held| {
            // The rest of it is given back with the line.
            held.reserved = held.reserved.saturating_sub(bytes);
            held.bytes += bytes;
            held.requests.insert(name.to_owned(), Weight { bytes, lasts: false, task });
        });
        true
    }

    /// Notes that a request became a search, which may not end by itself and occupies `more` bytes on top;
    /// false if there is no room for these. A connection's only request always has room.
    pub(super) fn holds_search(&mut self, id: ConnId, name: &str, more: usize) -> bool {
        let Some(held) = self.conns.get(&id).map(|conn| &conn.held) else { return true };
        let (old, new) = (held.total(), held.total() + more);
        let fits = more == 0
            || new <= self.intake.most && self.intake.all.fits(old, new) && self.has_own_room(id, more);
        if held.requests.len() > 1 && !fits {
            return false;
        }
        self.change_held(id, |held| {
            if let Some(weight) = held.requests.get_mut(name).filter(|weight| !weight.lasts) {
                weight.lasts = true;
                weight.bytes += more;
                held.bytes += more;
                held.lasting += weight.bytes;
            }
        });
        self.wake_waiting(id);
        true
    }

    /// Forgets a request that has its final message, or was not taken.
    pub(super) fn release(&mut self, id: ConnId, name: &str) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.inflight.remove(name);
        let is_done =
            conn.held.requests.get(name).is_none_or(|weight| !conn.tasks.contains_key(&weight.task));
        self.change_held(id, |held| {
            let Some(Weight { bytes, lasts, task }) = held.requests.remove(name) else { return };
            held.lasting -= if lasts { bytes } else { 0 };
            if is_done {
                held.bytes -= bytes;
            } else {
                // A search can be over while its request waits to be read, which holds its memory until then.
                held.over.insert(task, bytes);
            }
        });
        self.wake_waiting(id);
    }

    /// Forgets the work on a request, which is done.
    pub(super) fn release_task(&mut self, id: ConnId, task: TaskId) {
        let mut freed = None;
        self.change_held(id, |held| {
            freed = held.over.remove(&task);
            held.bytes -= freed.unwrap_or(0);
        });
        if freed.is_some() {
            self.wake_waiting(id);
        }
    }

    /// Forgets what a connection that is gone held.
    pub(super) fn release_all(&mut self, id: ConnId) {
        self.change_held(id, |held| *held = Held::default());
        self.leave_queues(id);
        self.wake_first();
    }

    /// Whether the reader of a connection waits for room, or has a line that is being decoded.
    pub(super) fn is_taking(&self, id: ConnId) -> bool {
        let held = self.conns.get(&id).map(|conn| &conn.held);
        held.is_some_and(|held| held.waits || held.reserved > 0)
            || self.is_in_backlog(id)
            || self.intake.queue.contains(&id)
            || self.intake.large.contains(&id)
            || self.intake.doomed.contains(&id)
    }

    /// What a request of a connection occupies.
    pub(super) fn held_bytes(&self, id: ConnId, name: &str) -> usize {
        let held = self.conns.get(&id).and_then(|conn| conn.held.requests.get(name));
        held.map_or(0, |weight| weight.bytes)
    }

    fn change_held(&mut self, id: ConnId, change: impl FnOnce(&mut Held)) {
        let Self { conns, intake, .. } = self;
        let Some(held) = conns.get_mut(&id).map(|conn| &mut conn.held) else { return };
        let (total, lasting, bytes) = (held.total(), held.lasting, held.bytes);
        change(held);
        intake.all.change(total, held.total());
        intake.lasting.change(lasting, held.lasting);
        let now = held.bytes;
        self.count_own_requests(id, bytes, now);
    }

    /// Wakes the readers that may find room now.
    fn wake_waiting(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(&id)
            && std::mem::take(&mut conn.held.waits)
        {
            self.effects.signals.push(conn.room.clone());
        }
        self.wake_first();
    }

    fn wake_first(&mut self) {
        if let Some(conn) = self.intake.queue.front().and_then(|first| self.conns.get(first)) {
            self.effects.signals.push(conn.room.clone());
        }
    }

    /// Waits for room no longer.
    fn leave_queue(&mut self, id: ConnId) {
        let was_first = self.intake.queue.front() == Some(&id);
        self.intake.queue.retain(|waiting| *waiting != id);
        if was_first {
            self.wake_first();
        }
    }

    /// Admits the next of the lines that are decoded one at a time.
    fn leave_turns(&mut self, id: ConnId) {
        let Self { conns, intake, effects, .. } = self;
        for turns in [&mut intake.large, &mut intake.doomed] {
            let was_first = turns.front() == Some(&id);
            turns.retain(|waiting| *waiting != id);
            if let Some(conn) = turns.front().filter(|_| was_first).and_then(|next| conns.get(next)) {
                effects.signals.push(conn.room.clone());
            }
        }
    }

    /// Waits for nothing any more: no more lines are taken from its reader.
    pub(super) fn leave_queues(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.held.waits = false;
        }
        self.leave_backlog(id);
        self.leave_queue(id);
        self.leave_turns(id);
    }

    /// Leaves the queues for room, while it waits for its client to read.
    pub(super) fn cede_room(&mut self, id: ConnId) {
        self.leave_queue(id);
        self.leave_turns(id);
    }

    /// Whether a line of the connection has room or a turn that others wait for.
    pub(crate) fn has_line_in_hand(&self, id: ConnId) -> bool {
        let is_first = |turns: &VecDeque<ConnId>| turns.front() == Some(&id);
        self.conns.get(&id).is_some_and(|conn| conn.held.reserved > 0)
            || is_first(&self.intake.large)
            || is_first(&self.intake.doomed)
    }
}

/// Whether it is a connection's turn among those whose lines are decoded one at a time.
fn take_turn(turns: &mut VecDeque<ConnId>, id: ConnId) -> Reserved {
    if !turns.contains(&id) {
        turns.push_back(id);
    }
    if turns.front() == Some(&id) { Reserved::Now } else { Reserved::Later }
}

#[cfg(test)]
mod tests;
