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
    pub(super) reserved: usize,
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
    /// It will once requests of its own connection are done.
    AfterOwn,
    /// It will once it is its connection's turn.
    InTurn,
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
    /// Whether a request of so many bytes fits.
    pub(super) fn room(&self, id: ConnId, bytes: usize) -> Room {
        let Self { conns, intake, .. } = self;
        let Some(held) = conns.get(&id).map(|conn| &conn.held) else { return Room::Free };
        // What is kept free for a line is there for its request.
        let (old, new) = (held.total(), held.bytes + bytes.max(held.reserved));
        if held.bytes > 0 && new > intake.most {
            return if held.ending > 0 { Room::AfterOwn } else { Room::Never };
        }
        let more = intake.beyond(new) - intake.beyond(old);
        let is_next = intake.queue.front().is_none_or(|first| *first == id);
        let fits = intake.used == 0 || intake.used + more <= intake.pool;
        match () {
            () if more == 0 || (is_next && fits) => Room::Free,
            // The first in the queue is woken when room may be free, and wakes the next.
            () if !is_next || intake.ending > 0 => Room::InTurn,
            () => Room::Never,
        }
    }

    /// Whether a request of so many bytes must wait; its reader is woken to ask again.
    pub(super) fn must_wait_for_room(&mut self, id: ConnId, bytes: usize) -> bool {
        let room = self.room(id, bytes);
        let Some(conn) = self.conns.get_mut(&id) else { return false };
        conn.held.waits = room == Room::AfterOwn;
        if room != Room::InTurn {
            self.leave_queue(id);
        } else if !self.intake.queue.contains(&id) {
            self.intake.queue.push_back(id);
        }
        matches!(room, Room::AfterOwn | Room::InTurn)
    }

    /// Keeps room for a line that is about to be decoded; false if it must wait for that.
    pub(super) fn reserve(&mut self, id: ConnId, bytes: usize) -> bool {
        let Some(conn) = self.conns.get(&id).filter(|conn| conn.stage == Stage::Open) else {
            // Nobody will look at the line.
            return true;
        };
        let bytes = bytes + conn.defaults_bytes;
        if self.must_wait_for_room(id, bytes) {
            return false;
        }
        // Without room for it the request will be refused, or prove to need none.
        if self.room(id, bytes) == Room::Free {
            if let Some(held) = self.change_held(id) {
                held.reserved = bytes;
            }
            self.count_held(id);
        }
        true
    }

    /// Gives back what was kept free for a line, which was taken or proved bad.
    pub(super) fn unreserve(&mut self, id: ConnId) {
        let Some(held) = self.change_held(id) else { return };
        let reserved = std::mem::take(&mut held.reserved);
        self.count_held(id);
        if reserved > 0 {
            self.wake_first();
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::Notify;

    use super::*;
    use crate::daemon::budget::Memory;
    use crate::daemon::conn::Origin;
    use crate::daemon::transport::Signal;

    /// Connections that may hold 500 bytes each, and 600 together beyond the 50 that are each one's own.
    struct Readers {
        state: State,
        resumes: Vec<(ConnId, Arc<Notify>)>,
    }

    impl Readers {
        fn new<const N: usize>() -> (Self, [ConnId; N]) {
            let limits =
                Limits { connections: 3, request_bytes: 500, request_bytes_in_all: 800, ..Limits::default() };
            let state = State::new(limits, &[], None, Memory::new(0), 0);
            let mut readers = Self { state, resumes: Vec::new() };
            let ids = [(); N].map(|()| {
                let resume = Arc::new(Notify::new());
                let signals = [Arc::default(), Arc::default(), Arc::clone(&resume)].map(Signal::Task);
                let id = readers.state.open_conn(Origin::Socket(None), signals, 0);
                readers.resumes.push((id, resume));
                id
            });
            (readers, ids)
        }

        /// The connections whose readers were woken since the last look, each once.
        fn woken(&mut self) -> Vec<ConnId> {
            let signals = self.state.settle(0).signals;
            let is_woken = |resume: &Arc<Notify>| {
                signals.iter().any(|signal| matches!(signal, Signal::Task(task) if Arc::ptr_eq(task, resume)))
            };
            self.resumes.iter().filter(|(_, resume)| is_woken(resume)).map(|(id, _)| *id).collect()
        }
    }

    #[test]
    fn a_connection_at_its_bound_waits_for_its_own_requests() {
        let (mut readers, [a, b]) = Readers::new();
        readers.state.hold(a, "first", 300);
        readers.state.hold(a, "second", 200);
        assert!(!readers.state.reserve(a, 1), "nothing is decoded beyond the bound");
        assert_eq!(readers.state.room(b, 200), Room::Free, "others do not wait for it");
        readers.woken();
        readers.state.release(a, "first");
        assert_eq!(readers.woken(), [a]);
        assert!(readers.state.reserve(a, 300));
        assert_eq!(readers.state.room(a, 300), Room::Free, "what was kept free for a line is its request's");
        assert_eq!(readers.state.room(a, 301), Room::AfterOwn);
        readers.state.release(a, "second");
        readers.state.unreserve(a);
        // One request may be larger than the bound, and none waits for searches, which need not end.
        assert_eq!(readers.state.room(a, 5000), Room::Free);
        readers.state.hold(a, "search", 500);
        readers.state.holds_search(a, "search");
        assert_eq!(readers.state.room(a, 1), Room::Never);
    }

    #[test]
    fn who_waits_for_room_that_others_take_gets_it_in_the_order_of_asking() {
        let (mut readers, [a, b, c, d]) = Readers::new();
        readers.state.hold(a, "large", 500);
        assert!(!readers.state.reserve(b, 300));
        assert!(!readers.state.reserve(c, 150), "there is room, but another asked before");
        assert!(readers.state.reserve(d, 50), "everybody has a share that nobody else can take");
        readers.woken();
        readers.state.release(a, "large");
        assert_eq!(readers.woken(), [b], "the first alone is woken");
        assert!(!readers.state.reserve(c, 150), "and whoever is quicker waits still");
        assert!(!readers.state.reserve(a, 150), "also who comes in between");
        assert!(readers.state.reserve(b, 300));
        assert_eq!(readers.woken(), [c]);
        assert!(readers.state.reserve(c, 150));
        assert_eq!(readers.woken(), [a]);
        assert!(readers.state.reserve(a, 150));
    }

    #[test]
    fn a_line_that_has_room_goes_before_those_that_wait_and_makes_way_if_it_is_bad() {
        let (mut readers, [a, b]) = Readers::new();
        assert!(readers.state.reserve(a, 500));
        assert!(!readers.state.reserve(b, 350));
        // It was decoded, and became a request.
        assert!(!readers.state.must_wait_for_room(a, 400), "it is decoded, so it must not wait uncounted");
        readers.state.hold(a, "large", 400);
        readers.state.unreserve(a);
        assert_eq!(readers.woken(), [b]);
        assert!(!readers.state.reserve(b, 350));
        readers.state.release(a, "large");
        assert!(readers.state.reserve(b, 350));
        assert!(!readers.state.reserve(a, 500));
        readers.woken();
        // It was no request.
        readers.state.unreserve(b);
        assert_eq!(readers.woken(), [a]);
        assert!(readers.state.reserve(a, 500));
    }

    #[test]
    fn who_leaves_while_it_waits_keeps_nobody_waiting() {
        let (mut readers, [a, b, c]) = Readers::new();
        readers.state.hold(a, "large", 500);
        assert!(!readers.state.reserve(b, 300));
        assert!(!readers.state.reserve(c, 150));
        readers.woken();
        readers.state.drop_conn(b, 0, false);
        assert!(readers.woken().contains(&c));
        assert!(readers.state.reserve(c, 150));
        readers.state.drop_conn(a, 0, false);
        readers.state.drop_conn(c, 0, false);
        assert_eq!((readers.state.intake.used, readers.state.intake.ending), (0, 0));
    }
}
