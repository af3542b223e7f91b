//! Connections whose clients read, slowly or not at all, and lines that wait for them.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use tokio::sync::Notify;

use super::*;
use crate::signal::Signal;
use crate::spans::Origin;
use crate::state::budget::Memory;
use crate::state::conn::Taken;
use crate::state::outbox::Item;

const TOTAL: usize = 1 << 20;
const SECOND: u64 = 1_000_000_000;

struct Scene {
    state: State,
    rooms: Vec<(ConnId, Arc<Notify>)>,
}

impl Scene {
    fn new(connections: usize) -> Self {
        let limits = Limits { connections, unsent_bytes_in_all: TOTAL, ..Limits::default() };
        let mut state = State::new(limits, &[], None, Memory::new(0), 0);
        let rooms = (0..connections).map(|_| {
            let room = Arc::new(Notify::new());
            let nobody = || Signal::Task(Arc::default());
            let signals = [nobody(), nobody(), Signal::Task(Arc::clone(&room))];
            (state.open_conn(Origin::Unix, signals, 0), room)
        });
        let rooms = rooms.collect();
        Self { state, rooms }
    }

    fn id(&self, at: usize) -> ConnId {
        self.rooms[at].0
    }

    /// Queues a message of about so many bytes.
    fn send(&mut self, at: usize, bytes: usize, now_ns: u64) {
        let body = format!("{{\"pad\":\"{}\"}}", "x".repeat(bytes));
        self.state.send(self.id(at), Item::body(body), now_ns);
        self.settle(now_ns);
    }

    /// Lets a client read all that waits for it.
    fn reads(&mut self, at: usize, now_ns: u64) {
        let id = self.id(at);
        while let Taken::Batch(_) = self.state.take_messages(id, 64 << 10, now_ns) {}
        self.settle(now_ns);
    }

    fn settle(&mut self, now_ns: u64) {
        let effects = self.state.settle(now_ns);
        effects.signals.iter().for_each(Signal::wake);
    }

    /// Whether the next line of a connection must wait.
    fn waits(&mut self, at: usize) -> bool {
        let waits = self.state.is_backed_up(self.id(at));
        self.settle(0);
        waits
    }

    fn was_woken(&self, at: usize) -> bool {
        pin!(self.rooms[at].1.notified()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    fn is_there(&self, at: usize) -> bool {
        self.state.conns.contains_key(&self.id(at))
    }
}

#[test]
fn lines_wait_only_for_those_who_do_not_read_and_only_while_all_is_taken() {
    let mut scene = Scene::new(4);
    // 50 KiB are the share of one: the rest goes to whoever comes.
    (0..7).for_each(|_| scene.send(0, 100_000, 0));
    assert!(!scene.waits(0), "it is in nobody's way");
    scene.send(1, 200_000, 0);
    assert_eq!([0, 1, 2].map(|at| scene.waits(at)), [true, true, false]);
    // Whoever reads is not kept waiting by the others, nor by having been.
    scene.send(2, 40_000, 0);
    assert!(!scene.waits(2));
    assert!(!scene.was_woken(0) && !scene.was_woken(1));
    scene.reads(1, 0);
    assert!(scene.was_woken(1) && !scene.waits(1));
    assert!(scene.was_woken(0) && !scene.waits(0), "there is room again");
    assert!(!scene.state.is_in_backlog(scene.id(0)) && !scene.state.is_in_backlog(scene.id(1)));
}

#[test]
fn whoever_waits_is_woken_by_the_end_of_another_and_one_after_the_other() {
    let mut scene = Scene::new(4);
    for at in [0, 1, 2] {
        scene.send(at, 330_000, 0);
    }
    assert_eq!([2, 1, 0].map(|at| scene.waits(at)), [true; 3]);
    let gone = scene.id(1);
    scene.state.drop_conn(gone, 0, false);
    scene.settle(0);
    assert_eq!([0, 2].map(|at| scene.was_woken(at)), [false, true], "the first come");
    assert!(!scene.waits(2));
    assert!(scene.was_woken(0) && !scene.waits(0));
    // One that takes no more lines has nothing to wait for.
    scene.send(3, 330_000, 0);
    assert!(scene.waits(0));
    let ended = scene.id(0);
    scene.state.input_ended(ended, 0);
    scene.settle(0);
    assert!(scene.was_woken(0) && !scene.waits(0));
}

#[test]
fn what_comes_by_itself_ends_the_connection_that_holds_most_of_it() {
    let mut scene = Scene::new(8);
    for at in [0, 1, 2, 3] {
        scene.send(at, 200_000, 0);
    }
    scene.send(4, 220_000, 0);
    assert_eq!([0, 1, 2, 3, 4].map(|at| scene.is_there(at)), [true; 5], "it is within the bound");
    // It is not the last one that is too much.
    scene.send(5, 30_000, 0);
    assert_eq!([0, 1, 2, 3, 4, 5].map(|at| scene.is_there(at)), [true, true, true, true, false, true]);
    // One that has all for itself is bounded as it ever was.
    let mut scene = Scene::new(8);
    (0..7).for_each(|_| scene.send(0, 1_000_000, 0));
    scene.send(1, 1000, 0);
    assert!(scene.is_there(0) && scene.is_there(1));
    scene.send(0, 1_000_000, 0);
    scene.send(0, 1_000_000, 0);
    assert!(!scene.is_there(0) && scene.is_there(1), "more than 8 MiB");
}

#[test]
fn whoever_reads_too_slowly_leaves_when_others_wait() {
    let mut scene = Scene::new(4);
    (0..80).for_each(|_| scene.send(0, 11_000, 0));
    // A little is taken now and then: it makes progress, and is never done.
    for second in 1..30 {
        let id = scene.id(0);
        scene.state.take_messages(id, 1, second * SECOND);
        scene.send(0, 10, second * SECOND);
        scene.settle(second * SECOND);
    }
    assert!(scene.is_there(0), "nobody else wants its room");
    scene.send(1, 400_000, 30 * SECOND);
    assert!(!scene.is_there(0) && scene.is_there(1));
}

#[test]
fn small_messages_count_with_what_they_occupy() {
    let mut scene = Scene::new(2);
    (0..2000).for_each(|_| scene.send(0, 10, 0));
    let conn = &scene.state.conns[&scene.id(0)];
    let (occupied, unsent) = (conn.outbox.occupied(), conn.outbox.unsent());
    assert!(occupied > 3 * unsent && occupied > 2000 * 300, "{occupied} for {unsent}");
    scene.reads(0, 0);
    assert_eq!(scene.state.conns[&scene.id(0)].outbox.occupied(), 0);
    assert!(!scene.state.unread.all.is_full() && scene.state.conns[&scene.id(0)].unread_bytes == 0);
}

#[test]
fn new_limits_bind_from_then_on_and_free_those_that_wait() {
    let mut scene = Scene::new(4);
    scene.send(0, 500_000, 0);
    scene.send(1, 500_000, 0);
    assert!(scene.waits(0));
    scene.state.limits.unsent_bytes_in_all = 4 * TOTAL;
    scene.state.resize_unread();
    scene.settle(0);
    assert!(scene.was_woken(0) && !scene.waits(0));
    scene.state.limits.unsent_bytes_in_all = TOTAL;
    scene.state.resize_unread();
    assert!(scene.waits(0));
    scene.reads(0, 0);
    scene.reads(1, 0);
    assert!(!scene.waits(0) && !scene.waits(1));
    // With no room at all each waits for its last answer, and no longer.
    scene.state.limits.unsent_bytes_in_all = 0;
    scene.state.resize_unread();
    assert!(!scene.waits(0));
    scene.send(0, 10, 0);
    assert!(scene.waits(0));
    scene.reads(0, 0);
    assert!(scene.was_woken(0) && !scene.waits(0));
}
