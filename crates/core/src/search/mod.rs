//! Searching: what a search is asked, how it is controlled while it runs, and what it finds.
//!
//! No I/O, no JSON, no knowledge of any game or client. The searches are generic over [`Game`] and
//! [`Evaluator`](crate::game::Evaluator); [`erased`] evaluations share one copy of a search. A [`Control`] is
//! the only thing that a running search shares with the rest of the process, and [`clock`] the only reader of
//! time.
//!
//! In reading order: [`thread`] and [`gate`] (what every search thread has, and what interrupts it);
//! [`iterate`], the strongest search, on `alpha_beta`, `horizon` (its last plies), `chance`, `ordering`,
//! `table`, `helpers` (its threads), `time_manager` and `announced` (wins that it has to keep); [`ensemble`],
//! such searches averaged for games of chance; [`tree`] (PUCT); [`proving`] and [`prover_player`], a solver
//! beside a search or alone, with `proven_roots`; [`plain`] and [`published`] (the textbook's players and
//! published agents) and [`one_ply`]; [`strength`] (levels); [`players`], all of them by name.

mod alpha_beta;
mod announced;
mod chance;
pub mod clock;
pub mod ensemble;
pub mod erased;
mod first_look;
pub mod gate;
mod helpers;
mod horizon;
pub mod iterate;
#[cfg(test)]
mod late_plan;
pub mod one_ply;
mod ordering;
pub mod plain;
pub mod players;
#[cfg(test)]
mod probed;
mod proven_roots;
pub mod prover_player;
pub mod proving;
pub mod published;
mod roots;
pub(crate) mod sort;
pub mod strength;
mod table;
pub mod thread;
mod time_manager;
pub mod tree;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::effort::Interrupt;
use crate::game::{Game, Root};
use crate::score::{Score, Value};
use crate::search::gate::Gate;
use crate::search::time_manager::Deadlines;

/// Stands for "no limit" in each limit of [`Control`].
pub const UNLIMITED: u64 = u64::MAX;
/// How often a search reads the CPU time of its first thread.
const READ_CPU_EVERY_NS: u64 = 250_000;

/// What reaches a running search from outside, and the counters that it shows.
///
/// All numbers are relaxed atomics: each is meaningful alone, and none guards other memory.
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
///
/// use plyd_core::search::Control;
///
/// let control = Arc::new(Control::default());
/// control.set_limits(Some(1_000_000), Some(20));
/// let other = Arc::clone(&control);
/// thread::spawn(move || other.stop()).join().expect("nothing panics");
/// assert!(control.stopped());
/// ```
#[derive(Debug)]
pub struct Control {
    gate: Gate,
    /// What [`Control::stop`] ends of the rules' own work.
    rules: Interrupt,
    // The four of `Deadlines`.
    armed_ns: AtomicU64,
    free_ns: AtomicU64,
    soft_ns: AtomicU64,
    hard_ns: AtomicU64,
    watched: AtomicBool,
    nodes_limit: AtomicU64,
    nodes_cap: AtomicU64,
    depth_limit: AtomicU32,
    nodes: AtomicU64,
    depth: AtomicU32,
    seldepth: AtomicU32,
    hash_ppm: AtomicU32,
    /// The CPU time of the search's first thread before the search.
    cpu_before_ns: AtomicU64,
    /// The CPU time of that thread since then, and when it was read.
    cpu_ns: AtomicU64,
    cpu_read_ns: AtomicU64,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            gate: Gate::default(),
            rules: Interrupt::default(),
            armed_ns: AtomicU64::new(0),
            free_ns: AtomicU64::new(0),
            soft_ns: AtomicU64::new(UNLIMITED),
            hard_ns: AtomicU64::new(UNLIMITED),
            watched: AtomicBool::new(false),
            nodes_limit: AtomicU64::new(UNLIMITED),
            nodes_cap: AtomicU64::new(UNLIMITED),
            depth_limit: AtomicU32::new(u32::MAX),
            nodes: AtomicU64::new(0),
            depth: AtomicU32::new(0),
            seldepth: AtomicU32::new(0),
            hash_ppm: AtomicU32::new(0),
            cpu_before_ns: AtomicU64::new(0),
            cpu_ns: AtomicU64::new(0),
            cpu_read_ns: AtomicU64::new(0),
        }
    }
}

impl Control {
    /// Asks the search to end as soon as it can; it cannot be taken back.
    pub fn stop(&self) {
        self.rules.hurry();
        self.gate.end();
    }

    /// Whether [`Control::stop`] was called.
    #[inline]
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.gate.is_ended()
    }

    /// The orders that the search's threads obey: to end, and to wait for their turn.
    #[must_use]
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Waits for the search's turn; true if the search is over by then: stopped, or past its hard deadline.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.gate.wait();
        self.stopped() || clock::now_ns() >= self.hard_ns()
    }

    /// What [`Control::stop`] raises for the rules' own work.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.rules
    }

    /// Sets when to start no further iteration and when to give up the running one ([`UNLIMITED`]: never).
    /// A search that deepens and began without such a plan gives up the running one when it would start no
    /// further one.
    ///
    /// The search may end before or after the soft deadline, unless that is the hard one.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use plyd_core::search::Control;
    /// use plyd_core::search::clock::{TimePlan, now_ns};
    ///
    /// let control = Control::default();
    /// let plan = TimePlan::increment(60_000, 1000, None, 0);
    /// let now = now_ns();
    /// let at = |offset: Option<Duration>| offset.map_or(u64::MAX, |offset| now + offset.as_nanos() as u64);
    /// control.set_deadlines(at(plan.soft), at(plan.hard));
    /// assert!(now < control.soft_ns() && control.soft_ns() < control.hard_ns());
    /// ```
    pub fn set_deadlines(&self, soft_ns: u64, hard_ns: u64) {
        self.armed_ns.store(clock::now_ns(), Relaxed);
        self.soft_ns.store(soft_ns, Relaxed);
        self.hard_ns.store(hard_ns, Relaxed);
    }

    /// Sets until when time is free, so that answering sooner saves none.
    pub fn set_free(&self, free_ns: u64) {
        self.free_ns.store(free_ns, Relaxed);
    }

    /// When the search is to end.
    #[must_use]
    pub(crate) fn deadlines(&self) -> Deadlines {
        // In another order than they are set in, so that a new plan is not taken to be as old as the last.
        let (hard_ns, soft_ns) = (self.hard_ns(), self.soft_ns());
        let (free_ns, armed_ns) = (self.free_ns.load(Relaxed), self.armed_ns.load(Relaxed));
        Deadlines { armed_ns, free_ns, soft_ns, hard_ns }
    }

    /// When to start no further iteration.
    #[must_use]
    pub fn soft_ns(&self) -> u64 {
        self.soft_ns.load(Relaxed)
    }

    /// When to give up the running iteration.
    #[must_use]
    pub fn hard_ns(&self) -> u64 {
        self.hard_ns.load(Relaxed)
    }

    /// Sets whether somebody else stops the search at some time, as a deadline of its own would.
    pub fn set_watched(&self, watched: bool) {
        self.watched.store(watched, Relaxed);
    }

    /// Whether the search has a deadline, its own or somebody else's.
    ///
    /// ```
    /// use plyd_core::search::{Control, UNLIMITED};
    ///
    /// let control = Control::default();
    /// assert!(!control.is_timed());
    /// control.set_watched(true);
    /// assert!(control.is_timed() && control.hard_ns() == UNLIMITED);
    /// ```
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.soft_ns() != UNLIMITED || self.hard_ns() != UNLIMITED || self.watched.load(Relaxed)
    }

    /// Limits nodes and depth.
    pub fn set_limits(&self, nodes: Option<u64>, depth: Option<u32>) {
        self.nodes_limit.store(nodes.unwrap_or(UNLIMITED), Relaxed);
        self.depth_limit.store(depth.unwrap_or(u32::MAX), Relaxed);
    }

    /// Limits the nodes that the player itself spends, beside [`Control::set_limits`], which a client may
    /// call again while the search runs.
    pub(super) fn cap_nodes(&self, nodes: u64) {
        self.nodes_cap.store(nodes, Relaxed);
    }

    /// The largest number of nodes to search.
    #[inline]
    #[must_use]
    pub fn nodes_limit(&self) -> u64 {
        self.nodes_limit.load(Relaxed).min(self.nodes_cap.load(Relaxed))
    }

    /// The largest depth to search to.
    #[must_use]
    pub fn depth_limit(&self) -> u32 {
        self.depth_limit.load(Relaxed)
    }

    /// Shows how far the search has come.
    pub fn show(&self, stats: Stats) {
        self.nodes.store(stats.nodes, Relaxed);
        self.depth.store(stats.depth, Relaxed);
        self.seldepth.store(stats.seldepth, Relaxed);
        self.hash_ppm.store(stats.hash_ppm, Relaxed);
    }

    /// What [`Control::show`] showed last.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats {
            nodes: self.nodes.load(Relaxed),
            depth: self.depth.load(Relaxed),
            seldepth: self.seldepth.load(Relaxed),
            hash_ppm: self.hash_ppm.load(Relaxed),
        }
    }

    /// Counts the CPU time of the calling thread, which is about to search, from now on.
    ///
    /// ```
    /// use plyd_core::search::Control;
    ///
    /// let control = Control::default();
    /// control.count_cpu();
    /// assert_eq!(control.cpu_ns(), 0);
    /// ```
    pub fn count_cpu(&self) {
        self.cpu_before_ns.store(clock::thread_cpu_time().as_nanos() as u64, Relaxed);
    }

    /// The CPU time in nanoseconds that the search's first thread has used since [`Control::count_cpu`], as
    /// it was shown last: every quarter of a millisecond, or less often where the rules compute long.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns.load(Relaxed)
    }

    /// Shows that CPU time.
    pub fn show_cpu(&self, cpu_ns: u64) {
        self.cpu_ns.store(cpu_ns, Relaxed);
    }

    /// Shows the CPU time of the calling thread, the search's first one, unless it did so just before:
    /// reading it takes a system call.
    pub(super) fn read_cpu(&self, now_ns: u64) {
        if now_ns.saturating_sub(self.cpu_read_ns.load(Relaxed)) >= READ_CPU_EVERY_NS {
            self.cpu_read_ns.store(now_ns, Relaxed);
            let cpu_ns = clock::thread_cpu_time().as_nanos() as u64;
            self.show_cpu(cpu_ns.saturating_sub(self.cpu_before_ns.load(Relaxed)));
        }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Positions visited.
    pub nodes: u64,
    /// The last depth that was searched whole.
    pub depth: u32,
    /// The longest line that was looked at.
    pub seldepth: u32,
    /// How full the table is, in parts per million.
    pub hash_ppm: u32,
}

/// What a search is asked: which of the legal moves it may choose from, and how many lines to give.
///
/// ```
/// use plyd_core::game::Game;
/// use plyd_core::nim::{Heap, Nim};
/// use plyd_core::search::SearchParams;
///
/// // The best two of all moves.
/// let mut params = SearchParams { moves: Vec::new(), multipv: 2 };
/// Nim { most: 3 }.moves(&Heap::of(21), &mut params.moves);
/// assert_eq!(params.moves, [1, 2, 3]);
/// ```
#[derive(Clone, Debug)]
pub struct SearchParams<M> {
    /// The legal moves to choose from: at least one, in the order of [`Game::moves`].
    pub moves: Vec<M>,
    /// How many lines to give (from 1); never more than there are moves.
    pub multipv: usize,
}

/// Which side of the truth a score is on, as far as the search knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Bound {
    /// The search's own value.
    #[default]
    Exact,
    /// The search's value is at least this.
    Lower,
    /// The search's value is at most this.
    Upper,
}

impl Bound {
    /// What a search with a window from `alpha` to `beta` that gave `score` knows of the value.
    pub(super) fn of(score: Score, alpha: Score, beta: Score) -> Self {
        if score >= beta {
            Self::Lower
        } else if score <= alpha {
            Self::Upper
        } else {
            Self::Exact
        }
    }
}

/// One way that the game may go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variation<M> {
    /// The moves from the root on, at least one; chance outcomes are among them.
    pub pv: Vec<M>,
    /// The depth to which this line was searched.
    pub depth: u32,
    /// The value from the root mover's view; none for players that do not score.
    pub value: Option<(Value, Bound)>,
}

/// Why a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Every line asked for is proven with what the rules optimise.
    Proven,
    /// A node or depth limit was reached, or the player has nothing more to think about.
    Limit,
    /// A deadline was reached.
    Clock,
    /// [`Control::stop`] was called.
    Stopped,
}

/// What a search found: its lines, best first.
///
/// ```
/// use plyd_core::score::{Score, Value};
/// use plyd_core::search::SearchResult;
///
/// let found = SearchResult::one("e4", 1, Some(Value::guess(Score::eval(300))));
/// assert_eq!((found.lines[0].pv[0], found.lines[0].depth), ("e4", 1));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchResult<M> {
    /// The lines, best first: at least one, at most as many as were asked for.
    pub lines: Vec<Variation<M>>,
}

impl<M> SearchResult<M> {
    /// An answer of one line with one move.
    #[must_use]
    pub fn one(mv: M, depth: u32, value: Option<Value>) -> Self {
        let value = value.map(|value| (value, Bound::Exact));
        Self { lines: vec![Variation { pv: vec![mv], depth, value }] }
    }
}

/// A way to choose moves in a game. It may keep what it learned (tables, trees) for the next search.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::options::Options;
/// use plyd_core::search::iterate::Iterate;
/// use plyd_core::search::{Control, SearchParams, Searcher};
///
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(21)));
/// let mut searcher = Iterate::new(&nim, Rest, &Options::default());
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let (found, _end) = searcher.search(&nim, &root, &params, &Control::default(), &mut |_| ());
/// assert_eq!(found.lines[0].pv[0], 1);
/// ```
pub trait Searcher<G: Game>: Send {
    /// Searches until the control says stop, a limit is reached or the result is proven; calls `publish` with
    /// each better answer at once, and returns the last one.
    ///
    /// `root.pos` awaits a move of a player. Equal calls on a fresh searcher with one thread and no time
    /// limit give equal answers.
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End);

    /// Forgets everything learned in earlier searches.
    fn clear(&mut self);
}
