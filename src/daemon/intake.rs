//! What requests in flight occupy: how much a connection may hold, how much all may hold together, and who has to wait.
//!
//! A connection whose next request does not fit is read no further until something that it waits for is done. Each
//! has a small share of its own that no other can take, so that whoever sends requests of an ordinary size never waits
//! for those who send large ones; the rest is given out in the order in which it was asked for. Running searches end
//! when they like: a request that would have to wait for them alone is refused instead, so that the `stop` behind it is
//! read.

use std::collections::{HashMap, VecDeque};

use super::limits::Limits;
use super::state::{ConnId, Stage, State};

/// What a connection's requests in flight occupy.
#[derive(Default)]
pub(super) struct Held {
    requests: HashMap<String, Weight>,
    bytes: usize,
    /// Bytes kept free for a line that is being decoded.
    reserved: usize,
    /// Requests that end by themselves: all but searches that are prepared.
    ending: usize,
    /// Whether its reader waits for one of its own requests.
    waits: bool,
}

struct Weight {
    bytes: usize,
    ends: bool,
}

impl Held {
    fn total(&self) -> usize {
        self.bytes + self.reserved
    }
}

/// What all connections hold together.
pub(super) struct Intake {
    /// What a connection may hold.
    most: usize,
    /// What each may hold in any case.
    share: usize,
    /// What all may hold together beyond their shares.
    pool: usize,
    used: usize,
    /// Requests and lines over all connections that end by themselves.
    ending: usize,
    /// Connections whose readers wait for room in the pool, the first come first.
    queue: VecDeque<ConnId>,
}

/// Whether a request fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Room {
    /// It does.
    Free,
    /// It will.
    Later,
    /// It may never: what takes the room are searches.
    Never,
}

impl Intake {
    /// Room as the limits say, with nothing in it.
    pub(super) fn new(limits: &Limits) -> Self {
        let places = limits.connections.max(1) + 1;
        let share = (limits.request_bytes_in_all / 4 / places).min(limits.request_bytes);
        let pool = limits.request_bytes_in_all - share * places;
        Self { most: limits.request_bytes, share, pool, used: 0, ending: 0, queue: VecDeque::new() }
    }

    fn beyond(&self, bytes: usize) -> usize {
        bytes.saturating_sub(self.share)
    }
}

impl State {
    /// Whether a request of so many bytes fits; if it will later, the reader is woken then.
    pub(super) fn room(&mut self, id: ConnId, bytes: usize) -> Room {
        let Self { conns, intake, .. } = self;
        let Some(held) = conns.get_mut(&id).map(|conn| &mut conn.held) else { return Room::Free };
        held.waits = false;
        let (old, new) = (held.total(), held.total() + bytes);
        if old > 0 && new > intake.most {
            held.waits = held.ending > 0;
            return if held.waits { Room::Later } else { Room::Never };
        }
        let more = intake.beyond(new) - intake.beyond(old);
        let is_next = intake.queue.front().is_none_or(|first| *first == id);
        let is_alone = intake.used == 0;
        let room = match () {
            () if more == 0 => Room::Free,
            () if is_next && (is_alone || intake.used + more <= intake.pool) => Room::Free,
            () if intake.ending > 0 => Room::Later,
            () => Room::Never,
        };
        let waits = intake.queue.contains(&id);
        if room == Room::Later && !waits {
            intake.queue.push_back(id);
        } else if room != Room::Later && waits {
            self.leave_queue(id);
        }
        room
    }

    /// Keeps room for a line that is about to be decoded; false if it must wait for that.
    pub(super) fn reserve(&mut self, id: ConnId, bytes: usize) -> bool {
        if self.conns.get(&id).is_none_or(|conn| conn.stage != Stage::Open) {
            // Nobody will look at the line.
            return true;
        }
        match self.room(id, bytes) {
            Room::Later => return false,
            // The request will be refused, or prove to need no room.
            Room::Never => {}
            Room::Free => {
                if let Some(held) = self.change_held(id) {
                    held.reserved = bytes;
                }
                self.count_held(id);
            }
        }
        true
    }

    /// Gives back what was kept free for a line.
    pub(super) fn unreserve(&mut self, id: ConnId) {
        if let Some(held) = self.change_held(id) {
            held.reserved = 0;
        }
        self.count_held(id);
    }

    /// Counts a request that is taken.
    pub(super) fn hold(&mut self, id: ConnId, name: &str, bytes: usize) {
        if let Some(held) = self.change_held(id) {
            held.bytes += bytes;
            held.ending += 1;
            held.requests.insert(name.to_owned(), Weight { bytes, ends: true });
        }
        self.count_held(id);
    }

    /// Notes that a request became a search, which may not end by itself.
    pub(super) fn holds_search(&mut self, id: ConnId, name: &str) {
        if let Some(held) = self.change_held(id)
            && let Some(weight) = held.requests.get_mut(name)
        {
            held.ending -= usize::from(weight.ends);
            weight.ends = false;
        }
        self.count_held(id);
        self.wake_waiting(id);
    }

    /// Forgets a request that has its final message.
    pub(super) fn release(&mut self, id: ConnId, name: &str) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.inflight.remove(name);
        }
        if let Some(held) = self.change_held(id)
            && let Some(weight) = held.requests.remove(name)
        {
            held.bytes -= weight.bytes;
            held.ending -= usize::from(weight.ends);
        }
        self.count_held(id);
        self.wake_waiting(id);
    }

    /// Forgets what a connection that is gone held.
    pub(super) fn release_all(&mut self, id: ConnId) {
        if let Some(held) = self.change_held(id) {
            *held = Held::default();
        }
        self.leave_queue(id);
        self.wake_waiting(id);
    }

    /// What a request of a connection occupies.
    pub(super) fn held_bytes(&self, id: ConnId, name: &str) -> usize {
        let held = self.conns.get(&id).and_then(|conn| conn.held.requests.get(name));
        held.map_or(0, |weight| weight.bytes)
    }

    /// What a connection holds, taken out of the sums; [`count_held`](Self::count_held) puts it back.
    fn change_held(&mut self, id: ConnId) -> Option<&mut Held> {
        let held = &mut self.conns.get_mut(&id)?.held;
        self.intake.used -= self.intake.beyond(held.total());
        self.intake.ending -= held.ending + usize::from(held.reserved > 0);
        Some(held)
    }

    fn count_held(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get(&id) else { return };
        self.intake.used += self.intake.beyond(conn.held.total());
        self.intake.ending += conn.held.ending + usize::from(conn.held.reserved > 0);
    }

    /// Lets look again who may find room now.
    fn wake_waiting(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(&id)
            && std::mem::take(&mut conn.held.waits)
        {
            self.effects.signals.push(conn.resume.clone());
        }
        self.wake_first();
    }

    fn wake_first(&mut self) {
        if let Some(conn) = self.intake.queue.front().and_then(|first| self.conns.get(first)) {
            self.effects.signals.push(conn.resume.clone());
        }
    }

    /// Waits for room no longer.
    pub(super) fn leave_queue(&mut self, id: ConnId) {
        let was_first = self.intake.queue.front() == Some(&id);
        self.intake.queue.retain(|waiting| *waiting != id);
        if was_first {
            self.wake_first();
        }
    }
}
