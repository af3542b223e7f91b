//! Readers of many connections that want room at once. As real ones do, each sleeps until it is woken.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use proptest::prelude::*;
use tokio::sync::Notify;

use super::*;
use crate::signal::Signal;
use crate::spans::Origin;
use crate::state::budget::Memory;
use crate::state::task::{Asks, Lane, Pending};
use plyd_core::effort::Interrupt;

const TOTAL: usize = 4000;
const MOST: usize = 1000;

/// A line: what it may occupy, what it does, and what it is.
#[derive(Clone, Copy, Debug)]
struct Line {
    bound: usize,
    bytes: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// It leaves nothing in memory: nonsense, or a padded ping.
    Passing,
    /// It is done some time later.
    Question,
    /// It stays until it is stopped.
    Search,
    /// As a question, but with a short line, so that no room is reserved for it.
    Short,
}

/// The state of a reader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Next,
    Decoded,
}

struct Reader {
    conn: ConnId,
    resume: Arc<Notify>,
    lines: Vec<Line>,
    at: At,
    sleeps: bool,
}

impl Reader {
    fn was_woken(&self) -> bool {
        pin!(self.resume.notified()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }
}

struct Scene {
    state: State,
    readers: Vec<Reader>,
    /// Requests that end by themselves.
    questions: Vec<(ConnId, String)>,
    /// Those that do not.
    searches: Vec<(ConnId, String)>,
    refused: Vec<Line>,
    taken: usize,
}

impl Scene {
    fn new(of_readers: Vec<Vec<Line>>) -> Self {
        let limits =
            Limits { connections: 7, request_bytes: MOST, request_bytes_in_all: TOTAL, ..Limits::default() };
        let mut state = State::new(limits, &[], None, Memory::new(0), 0);
        let readers = of_readers
            .into_iter()
            .map(|lines| {
                let resume = Arc::new(Notify::new());
                let nobody = || Signal::Task(Arc::default());
                let signals = [nobody(), nobody(), Signal::Task(Arc::clone(&resume))];
                let conn = state.open_conn(Origin::Stdio, signals, 0);
                Reader { conn, resume, lines, at: At::Next, sleeps: false }
            })
            .collect();
        let (questions, searches, refused) = Default::default();
        Self { state, readers, questions, searches, refused, taken: 0 }
    }

    /// Changes the limits.
    fn limit(&mut self, in_all: usize, of_one: usize) {
        let limits = self.state.limits.clone();
        let limits = Limits { request_bytes: of_one, request_bytes_in_all: in_all, ..limits };
        self.state.reconfigure(limits, None);
    }

    /// Raises the signals, and checks that no more is held than allowed.
    fn settle(&mut self, largest: usize) {
        self.state.settle(0).signals.iter().for_each(Signal::wake);
        let held: usize = self.state.conns.values().map(|conn| conn.held.total()).sum();
        assert!(held <= TOTAL + largest, "{held} bytes are held");
    }

    /// Lets a reader do one step; false if it has nothing to do.
    fn step(&mut self, index: usize) -> bool {
        let reader = &mut self.readers[index];
        if reader.sleeps && !reader.was_woken() {
            return false;
        }
        reader.sleeps = false;
        let (conn, at) = (reader.conn, reader.at);
        let Some(&line) = reader.lines.last() else { return false };
        let Line { bound, bytes, kind } = line;
        if at == At::Next && kind != Kind::Short {
            match self.state.reserve(conn, bound) {
                Reserved::Now => self.readers[index].at = At::Decoded,
                Reserved::Later => self.readers[index].sleeps = true,
                Reserved::Unwanted => panic!("nobody left"),
            }
            return true;
        }
        if kind != Kind::Passing {
            if self.state.awaits_room(conn, bytes) {
                self.readers[index].sleeps = true;
                return true;
            }
            let name = format!("{}", self.taken);
            self.taken += 1;
            if !self.state.hold(conn, &name, self.taken as u64, bytes) {
                self.refused.push(line);
            } else if kind == Kind::Search {
                assert!(self.state.holds_search(conn, &name, 0));
                self.searches.push((conn, name));
            } else {
                self.questions.push((conn, name));
            }
        }
        if kind != Kind::Short {
            self.state.unreserve(conn);
        }
        self.readers[index].at = At::Next;
        self.readers[index].lines.pop();
        true
    }
}

fn lines() -> impl Strategy<Value = Vec<Vec<Line>>> {
    const KINDS: &[Kind] = &[Kind::Passing, Kind::Question, Kind::Question, Kind::Search, Kind::Short];
    let line =
        (1..5000_usize, 1..100_usize, proptest::sample::select(KINDS)).prop_map(|(bound, part, kind)| {
            let bound = if kind == Kind::Short { bound / 50 + 1 } else { bound };
            Line { bound, bytes: (bound * part / 100).max(1), kind }
        });
    proptest::collection::vec(proptest::collection::vec(line, 0..8), 1..7)
}

proptest! {
    /// A reader that waits for room is woken once there is some, whatever the others do and however the
    /// limits change, and requests are refused only because of searches.
    #[test]
    fn everybody_gets_room_in_the_end(
        of_readers in lines(),
        choices in proptest::collection::vec(any::<u16>(), 64),
        mut changes in proptest::collection::vec((1..=TOTAL, 1..=MOST), 0..8),
    ) {
        let largest = of_readers.iter().flatten().map(|line| line.bytes).max().unwrap_or(0);
        let has_searches = of_readers.iter().flatten().any(|line| line.kind == Kind::Search);
        let mut scene = Scene::new(of_readers);
        let mut choices = choices.into_iter().cycle().map(usize::from);
        loop {
            scene.settle(largest);
            let first = choices.next().unwrap_or(0);
            let count = scene.readers.len();
            if first % 5 == 4 && let Some((in_all, of_one)) = changes.pop() {
                scene.limit(in_all, of_one);
                continue;
            }
            if first % 3 > 0 && (0..count).any(|offset| scene.step((first + offset) % count)) {
                continue;
            }
            if !scene.questions.is_empty() {
                let (conn, name) = scene.questions.swap_remove(first % scene.questions.len());
                scene.state.release(conn, &name);
            } else if !(0..count).any(|index| scene.step(index)) {
                break;
            }
        }
        let waiting: Vec<_> = scene.readers.iter().filter(|reader| !reader.lines.is_empty()).collect();
        prop_assert!(waiting.is_empty(), "{} readers sleep for ever", waiting.len());
        prop_assert!(has_searches || scene.refused.is_empty(), "refused without need: {:?}", scene.refused);
        for (conn, name) in std::mem::take(&mut scene.searches) {
            scene.state.release(conn, &name);
        }
        let (all, lasting) = (&scene.state.intake.all, &scene.state.intake.lasting);
        prop_assert!(all.is_unused() && lasting.is_unused(), "{all:?} {lasting:?}");
    }
}

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
            let id = readers.state.open_conn(Origin::Unix, signals, 0);
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

    fn reserves(&mut self, id: ConnId, bytes: usize) -> bool {
        self.state.reserve(id, bytes) == Reserved::Now
    }

    fn holds(&mut self, id: ConnId, name: &str, bytes: usize) {
        assert!(self.state.hold(id, name, 0, bytes));
    }
}

#[test]
fn a_connection_at_its_bound_waits_for_its_own_requests() {
    let (mut readers, [a, b]) = Readers::new();
    readers.holds(a, "first", 300);
    readers.holds(a, "second", 200);
    assert!(!readers.reserves(a, 1), "nothing is decoded beyond the bound");
    assert!(!readers.state.awaits_room(b, 200), "others do not wait for it");
    readers.woken();
    readers.state.release(a, "first");
    assert_eq!(readers.woken(), [a]);
    assert!(readers.reserves(a, 300));
    assert!(!readers.state.awaits_room(a, 300), "what was kept free for a line is its request's");
    assert!(readers.state.awaits_room(a, 301));
    readers.state.release(a, "second");
    readers.state.unreserve(a);
    // One request may be larger than the bound, and none waits for searches, which need not end.
    assert!(!readers.state.awaits_room(a, 5000));
    readers.holds(a, "search", 500);
    assert!(readers.state.holds_search(a, "search", 0));
    assert!(!readers.state.awaits_room(a, 1));
    assert!(!readers.state.hold(a, "more", 0, 1));
}

#[test]
fn a_search_needs_room_for_its_position_unless_it_is_alone() {
    let (mut readers, [a]) = Readers::new();
    readers.holds(a, "large", 100);
    readers.holds(a, "other", 100);
    assert!(!readers.state.holds_search(a, "large", 5000));
    assert_eq!(readers.state.held_bytes(a, "large"), 100);
    readers.state.release(a, "other");
    assert!(readers.state.holds_search(a, "large", 5000));
    assert_eq!(readers.state.held_bytes(a, "large"), 5100);
    readers.state.release(a, "large");
    readers.holds(a, "next", 100);
}

#[test]
fn who_waits_for_room_that_others_take_gets_it_in_the_order_of_asking() {
    let (mut readers, [a, b, c, d]) = Readers::new();
    readers.holds(a, "large", 500);
    assert!(!readers.reserves(b, 300));
    assert!(!readers.reserves(c, 150), "there is room, but another asked before");
    assert!(readers.reserves(d, 50), "everybody has a share that nobody else can take");
    readers.woken();
    readers.state.release(a, "large");
    assert_eq!(readers.woken(), [b], "the first alone is woken");
    assert!(!readers.reserves(c, 150), "and whoever is quicker waits still");
    assert!(!readers.reserves(a, 150), "also who comes in between");
    assert!(readers.reserves(b, 300));
    assert_eq!(readers.woken(), [c]);
    assert!(readers.reserves(c, 150));
    assert_eq!(readers.woken(), [a]);
    assert!(readers.reserves(a, 150));
}

#[test]
fn a_line_that_has_room_goes_before_those_that_wait_and_makes_way_if_it_is_bad() {
    let (mut readers, [a, b, c]) = Readers::new();
    assert!(readers.reserves(a, 300) && readers.reserves(b, 300));
    assert!(!readers.reserves(c, 250));
    // It was decoded, and became a request.
    assert!(!readers.state.awaits_room(a, 290), "it is decoded, so it must not wait uncounted");
    readers.holds(a, "large", 290);
    readers.state.unreserve(a);
    assert_eq!(readers.woken(), [c]);
    assert!(!readers.reserves(c, 250));
    readers.state.release(a, "large");
    assert!(readers.reserves(c, 250));
    assert!(!readers.reserves(a, 300));
    readers.woken();
    // It was no request.
    readers.state.unreserve(b);
    assert_eq!(readers.woken(), [a]);
    assert!(readers.reserves(a, 300));
}

#[test]
fn lines_that_may_be_very_large_are_decoded_one_at_a_time() {
    let (mut readers, [a, b, c]) = Readers::new();
    assert!(readers.reserves(a, 301));
    assert!(!readers.reserves(b, 5000));
    assert!(readers.reserves(c, 300), "they keep no other waiting");
    // It proved small.
    readers.holds(a, "small", 10);
    readers.state.unreserve(a);
    assert_eq!(readers.woken(), [b]);
    assert!(readers.reserves(b, 5000));
    assert!(readers.state.awaits_room(b, 4000), "it is as large as it looked");
    readers.state.unreserve(c);
    assert_eq!(readers.woken(), [b]);
    readers.holds(b, "alone", 4000);
}

#[test]
fn who_leaves_while_it_waits_keeps_nobody_waiting() {
    let (mut readers, [a, b, c]) = Readers::new();
    readers.holds(a, "large", 500);
    assert!(!readers.reserves(b, 300));
    assert!(!readers.reserves(c, 150));
    readers.woken();
    readers.state.drop_conn(b, 0, false);
    assert!(readers.woken().contains(&c));
    assert!(readers.reserves(c, 150));
    readers.state.drop_conn(a, 0, false);
    readers.state.drop_conn(c, 0, false);
    assert!(readers.state.intake.all.is_unused());
}

#[test]
fn a_request_that_is_over_counts_until_the_work_on_it_is_done() {
    let (mut readers, [a, b]) = Readers::new();
    assert!(readers.state.hold(a, "go", 7, 500));
    let pending = Pending {
        name: "go".to_owned(),
        lane: Lane::Searches,
        asks: Asks::Search,
        interrupt: Interrupt::default(),
    };
    readers.state.conns.get_mut(&a).unwrap().tasks.insert(7, pending);
    readers.state.release(a, "go");
    assert!(!readers.reserves(a, 10), "its text waits in its lane");
    assert!(!readers.reserves(b, 250));
    readers.woken();
    readers.state.conns.get_mut(&a).unwrap().tasks.remove(&7);
    readers.state.release_task(a, 7);
    assert_eq!(readers.woken(), [a, b]);
    assert!(readers.reserves(a, 10) && readers.reserves(b, 250));
}

#[test]
fn what_searches_leave_no_room_for_waits_for_no_large_line() {
    let (mut readers, [a, b, c]) = Readers::new();
    readers.holds(b, "search", 500);
    assert!(readers.state.holds_search(b, "search", 0));
    assert!(readers.reserves(a, 400));
    assert!(readers.reserves(b, 20), "it is decoded to be refused");
    assert!(!readers.state.awaits_room(b, 20));
    assert!(!readers.state.hold(b, "more", 0, 20));
    readers.state.unreserve(b);
    // A connection that ends while it waits keeps no other waiting.
    assert!(!readers.reserves(c, 400));
    readers.state.end_conn(a, 0);
    assert!(readers.woken().contains(&c));
    assert!(readers.reserves(c, 400));
}
