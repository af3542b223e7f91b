//! What every search thread has: the look at its control, and the values of finished games.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::game::{Game, Outcome, Side};
use crate::score::{Score, Value};
use crate::search::gate::Gate;
use crate::search::time_manager::TimeManager;
use crate::search::{Control, End, Stats, UNLIMITED, clock};

/// Nodes between two looks at the clock and at limits that an update may change.
const LOOK_EVERY: u64 = 1024;

/// What one part of a search may spend, and the counters that it goes on from.
///
/// ```
/// use std::sync::atomic::AtomicU64;
///
/// use plyd_core::search::Control;
/// use plyd_core::search::thread::{SearchBudget, SearchThread};
///
/// let (control, shared) = (Control::default(), AtomicU64::new(0));
/// let budget = SearchBudget { until_nodes: 100, ..SearchBudget::whole(&control, &shared) };
/// let mut thread = SearchThread::first(&budget);
/// while !thread.tick() {}
/// assert_eq!(thread.nodes, 100);
/// ```
pub struct SearchBudget<'a> {
    /// What controls the search.
    pub control: &'a Control,
    /// The nodes of all other threads.
    pub shared: &'a AtomicU64,
    /// The nodes that the first thread visited so far, in earlier budgets too.
    pub nodes: u64,
    /// The number of these nodes at which the budget is spent.
    pub until_nodes: u64,
    /// When the budget is spent, as [`clock::now_ns`] counts.
    pub until_ns: u64,
    /// Raised by another thread to end the budget.
    pub wake: Option<&'a AtomicBool>,
    /// Whether the budget also ends when a search without a clock gets one.
    pub until_clocked: bool,
    /// How much of a plan that is made while the search runs is taken, in percent: then its iterations, which
    /// may be as long as it waited for a clock, are given up. None: they run to the hard deadline.
    pub late_percent: Option<u64>,
    /// How many threads it may use.
    pub threads: usize,
    /// What earlier budgets showed of depths and table.
    pub shown: Stats,
}

impl<'a> SearchBudget<'a> {
    /// A whole search by any number of threads, those but the first adding their nodes to `shared`.
    #[must_use]
    pub fn whole(control: &'a Control, shared: &'a AtomicU64) -> Self {
        Self {
            control,
            shared,
            nodes: 0,
            until_nodes: UNLIMITED,
            until_ns: UNLIMITED,
            wake: None,
            until_clocked: false,
            late_percent: None,
            threads: usize::MAX,
            shown: Stats::default(),
        }
    }

    /// The same, ending in the planned time even if its clock begins in the middle of it.
    pub(super) fn planned(control: &'a Control, shared: &'a AtomicU64) -> Self {
        let late_percent = (!control.deadlines().are_planned()).then_some(100);
        Self { late_percent, ..Self::whole(control, shared) }
    }

    /// Takes as much of such a plan as is known to be needed.
    pub(super) fn learn(&mut self, time: &TimeManager) {
        if let Some(percent) = &mut self.late_percent {
            *percent = time.percent(&self.control.deadlines());
        }
    }

    /// The nodes of all threads.
    pub(super) fn visited(&self) -> u64 {
        self.nodes + self.shared.load(Relaxed)
    }

    /// Keeps the first thread's counters, from which the next part of the search goes on.
    pub(super) fn take(&mut self, thread: &SearchThread<'_>) {
        self.nodes = thread.nodes;
        let SearchThread { depth, seldepth, hash_ppm, .. } = *thread;
        self.shown = Stats { nodes: 0, depth, seldepth, hash_ppm };
    }

    /// Takes over the counters of another part of the same search.
    pub(super) fn follow(&mut self, other: &SearchBudget<'_>) {
        (self.nodes, self.shown) = (other.nodes, other.shown);
    }
}

/// Counts a thread's nodes and decides when it must stop.
///
/// ```
/// use plyd_core::search::Control;
/// use plyd_core::search::thread::SearchThread;
///
/// let control = Control::default();
/// let mut thread = SearchThread::alone(&control);
/// assert!(!thread.tick());
/// control.stop();
/// assert!(thread.tick());
/// ```
pub struct SearchThread<'a> {
    control: &'a Control,
    until_nodes: u64,
    until_ns: u64,
    wake: Option<&'a AtomicBool>,
    until_clocked: bool,
    /// [`SearchBudget::late_percent`].
    pub(super) late_percent: Option<u64>,
    /// The nodes of all helpers so far: they add to it, the first thread reads it.
    shared: &'a AtomicU64,
    /// What the thread obeys at each node: that of the first thread for its helpers, the control's for all
    /// others.
    gate: &'a Gate,
    role: Role,
    /// Whether it is the thread that was asked, which shows the counters.
    shows: bool,
    /// Nodes visited by this thread, in this iteration and before.
    pub nodes: u64,
    /// How many of these are counted elsewhere: in the budget before, and in `shared`.
    counted: u64,
    /// How many of these were in the budget before.
    base: u64,
    /// The longest line that was looked at.
    pub seldepth: u32,
    /// The last depth that was searched whole.
    pub depth: u32,
    /// How full the table is.
    pub hash_ppm: u32,
    next_look: u64,
    over: bool,
    reached: Option<Reached>,
}

/// What a thread is to a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// It searches what is asked.
    First,
    /// It searches the same as the first thread, as long as that does.
    Helper,
    /// It searches a part of what is asked, and keeps the limits itself.
    Partner,
}

/// Which limit a search reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reached {
    /// The node limit.
    Nodes,
    /// The hard deadline, or the end of a plan that came late.
    Clock,
    /// The end of the budget.
    Budget,
}

impl From<Reached> for End {
    fn from(reached: Reached) -> Self {
        match reached {
            Reached::Clock => Self::Clock,
            Reached::Nodes | Reached::Budget => Self::Limit,
        }
    }
}

impl<'a> SearchThread<'a> {
    /// The only thread of a search that begins.
    #[must_use]
    pub fn alone(control: &'a Control) -> Self {
        static NOBODY: AtomicU64 = AtomicU64::new(0);
        Self::first(&SearchBudget::whole(control, &NOBODY))
    }

    /// The first thread of a budget.
    #[must_use]
    pub fn first(budget: &SearchBudget<'a>) -> Self {
        let SearchBudget {
            control,
            shared,
            nodes,
            until_nodes,
            until_ns,
            wake,
            until_clocked,
            late_percent,
            shown,
            ..
        } = *budget;
        Self {
            control,
            until_nodes,
            until_ns,
            wake,
            until_clocked,
            late_percent,
            shared,
            gate: control.gate(),
            role: Role::First,
            shows: true,
            nodes,
            counted: nodes,
            base: nodes,
            seldepth: shown.seldepth,
            depth: shown.depth,
            hash_ppm: shown.hash_ppm,
            next_look: control.nodes_limit().min(until_nodes).min(nodes + LOOK_EVERY),
            over: false,
            reached: None,
        }
    }

    /// The first of several threads that share what is asked, each of which adds its nodes to the shared
    /// ones.
    #[must_use]
    pub(super) fn first_partner(budget: &SearchBudget<'a>) -> Self {
        Self { role: Role::Partner, ..Self::first(budget) }
    }

    /// Another one of these threads.
    #[must_use]
    pub(super) fn partner(budget: &SearchBudget<'a>) -> Self {
        Self { shows: false, ..Self::first_partner(budget) }
    }

    /// A helper of this thread, which ends when `gate` says so, or at some time.
    #[must_use]
    pub(super) fn helper<'b>(&self, gate: &'b Gate, until_ns: u64) -> SearchThread<'b>
    where
        'a: 'b,
    {
        let first =
            SearchThread::first(&SearchBudget { until_ns, ..SearchBudget::whole(self.control, self.shared) });
        SearchThread { gate, role: Role::Helper, shows: false, next_look: LOOK_EVERY, ..first }
    }

    /// Counts a node; true when the search must end, from then on at every node.
    #[inline]
    pub fn tick(&mut self) -> bool {
        if self.nodes >= self.next_look || self.gate.has_orders() {
            self.look();
        }
        self.nodes += u64::from(!self.over);
        self.over
    }

    #[cold]
    fn look(&mut self) {
        if self.control.gate().is_closed() {
            if self.shows {
                self.show();
            }
            self.control.gate().wait();
        }
        if self.role != Role::First {
            self.leave();
        }
        if self.gate.is_ended() {
            self.over = true;
        } else if self.role == Role::Helper {
            self.next_look = self.nodes + LOOK_EVERY;
            self.over = self.until_ns != UNLIMITED && clock::now_ns() >= self.until_ns;
        } else {
            let (limit, now) = (self.control.nodes_limit(), clock::now_ns());
            self.next_look = (self.nodes + LOOK_EVERY).min(limit.min(self.until_nodes).max(self.nodes));
            if self.total() >= limit {
                self.reached = Some(Reached::Nodes);
            } else if now >= self.end_ns() {
                self.reached = Some(Reached::Clock);
            } else if self.nodes >= self.until_nodes
                || now >= self.until_ns
                || (self.until_clocked && self.control.soft_ns() != UNLIMITED)
                || self.wake.is_some_and(|wake| wake.load(Relaxed))
            {
                self.reached = Some(Reached::Budget);
            }
            self.over |= self.reached.is_some();
            if self.shows {
                self.show();
                self.control.read_cpu(now);
            }
        }
    }

    /// When the running iteration is given up.
    fn end_ns(&self) -> u64 {
        let late = self.late_percent.map(|percent| self.control.deadlines().end_ns(percent));
        late.unwrap_or_else(|| self.control.hard_ns())
    }

    /// The nodes of all threads, as far as they are known here.
    fn total(&self) -> u64 {
        self.base + (self.nodes - self.counted) + self.shared.load(Relaxed)
    }

    /// Adds the nodes of a helper or a partner that are not counted in `shared` yet; also when it ends.
    pub(super) fn leave(&mut self) {
        self.shared.fetch_add(self.nodes - self.counted, Relaxed);
        self.counted = self.nodes;
    }

    /// A depth was searched whole.
    pub(super) fn complete(&mut self, depth: u32) {
        self.depth = depth;
        if self.shows {
            self.show();
        }
    }

    /// Shows the counters to the rest of the process.
    pub(super) fn show(&self) {
        self.control.show(Stats {
            nodes: self.total(),
            depth: self.depth,
            seldepth: self.seldepth,
            hash_ppm: self.hash_ppm,
        });
    }

    /// Whether the last tick said that the search must end.
    #[inline]
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// What ends the search whatever it found: a stop or a limit.
    #[must_use]
    pub(super) fn end(&self) -> Option<End> {
        if self.control.stopped() { Some(End::Stopped) } else { self.reached.map(End::from) }
    }

    /// The limit that was reached, if any.
    #[must_use]
    pub(super) fn reached(&self) -> Option<Reached> {
        self.reached
    }
}

/// Orders the threads behind a gate to end when it goes out of scope, on a panic too: a scope waits for them.
pub(super) struct EndOnDrop<'a>(pub &'a Gate);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// The value of a finished game from `side`'s view, `distance` moves after the root.
#[must_use]
pub fn final_value<G: Game>(outcome: &Outcome, side: Side, distance: u32) -> Value {
    if let (true, Some(scores)) = (G::SCORED, outcome.scores) {
        let margin = (scores[side.index()] - scores[side.other().index()]).saturating_mul(1000);
        return Value::proven(Score::eval(margin.saturating_add(margin.signum() * G::WIN_BONUS)));
    }
    Value::proven(match outcome.winner {
        None => Score::DRAW,
        Some(winner) if winner == side => Score::win_in(distance),
        Some(_) => Score::loss_in(distance),
    })
}

/// Whether a score says that the game is won: by a win with a distance, or by [`Game::WIN_BONUS`].
#[inline]
#[must_use]
pub fn is_won<G: Game>(score: Score) -> bool {
    score.is_win() || (G::WIN_BONUS > 0 && score.raw() > G::WIN_BONUS)
}

/// Whether a score says that the game is lost.
#[inline]
#[must_use]
pub fn is_lost<G: Game>(score: Score) -> bool {
    is_won::<G>(-score)
}

/// Whether a proven value settles everything that the game's rules optimise: the margin in games that score,
/// the winner in others.
#[must_use]
pub(super) fn is_settled<G: Game>(value: Value) -> bool {
    if G::SCORED { value.is_exact() } else { value.is_decided() }
}
