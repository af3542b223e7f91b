//! How much one question may compute, and how the asker ends it early.
//!
//! The rules of a game look at an [`Effort`] when their work has no bound of its own. Knows no clock, no game
//! and no client: others decide when to raise an [`Interrupt`].

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Ends work on another thread. Clones share their flags, which are never taken back.
///
/// ```
/// use plyd_core::effort::{Effort, Interrupt};
///
/// let interrupt = Interrupt::default();
/// let effort = Effort::of_search(interrupt.clone());
/// assert!(effort.spend(1));
/// interrupt.hurry();
/// assert!(!effort.spend(1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    hurried: AtomicBool,
    ended: AtomicBool,
}

impl Interrupt {
    /// Asks for an answer soon: whatever can stay undecided is left undecided.
    pub fn hurry(&self) {
        self.0.hurried.store(true, Relaxed);
    }

    /// Ends the work, because nobody wants its answer any more.
    pub fn end(&self) {
        self.0.ended.store(true, Relaxed);
        self.hurry();
    }

    /// Whether the answer is wanted soon, or not at all.
    #[inline]
    #[must_use]
    pub fn is_hurried(&self) -> bool {
        self.0.hurried.load(Relaxed)
    }

    /// Whether nobody wants the answer.
    #[inline]
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.0.ended.load(Relaxed)
    }
}

/// The work that one question may take, in steps of about a microsecond: a node of a solver, or a move
/// played.
///
/// All atomics are relaxed: each number is meaningful alone, and one thread at a time works on a question.
#[derive(Debug)]
pub struct Effort {
    interrupt: Interrupt,
    /// The steps that are taken even in a hurry.
    assured: u64,
    /// The steps after which the work breaks off.
    most: u64,
    /// Whether a hurry breaks off even the work that cannot be left undecided.
    ends_in_hurry: bool,
    /// What is done between two pieces of the work.
    between: OnceLock<fn()>,
    taken: AtomicU64,
    granted: AtomicU64,
    is_cut: AtomicBool,
    is_broken_off: AtomicBool,
    is_undecided: AtomicBool,
}

impl Effort {
    /// Steps that each question is granted, however little time it has: a millisecond or two.
    pub const ASSURED: u64 = 1000;
    /// Steps of [`Effort::glance`]: some tenths of a millisecond.
    pub const GLANCE: u64 = 100;
    /// Steps of [`Effort::first_look`]: some milliseconds.
    pub const FIRST_LOOK: u64 = 4000;
    /// Steps of a piece of work.
    const PIECE: u64 = 50;
    /// Steps for all moves of a position together, when a request asks for the effect of each.
    pub const MOVES: u64 = 200_000;
    /// The same when their marks are drawn, which may leave some out.
    pub const MARKS: u64 = 20_000;

    /// Work without a limit: it ends when it is done.
    #[must_use]
    pub fn free() -> Arc<Self> {
        Self::new(Interrupt::default(), u64::MAX, u64::MAX, false)
    }

    /// Work on a question, which breaks off after [`Effort::ASSURED`] steps.
    #[must_use]
    pub fn brief(interrupt: Interrupt) -> Arc<Self> {
        Self::new(interrupt, Self::ASSURED, Self::ASSURED, false)
    }

    /// The same after [`Effort::GLANCE`] steps.
    #[must_use]
    pub fn glance(interrupt: Interrupt) -> Arc<Self> {
        Self::new(interrupt, Self::GLANCE, Self::GLANCE, false)
    }

    /// The same after [`Effort::FIRST_LOOK`] steps, for a first look at the moves of a position.
    #[must_use]
    pub fn first_look() -> Arc<Self> {
        Self::new(Interrupt::default(), Self::FIRST_LOOK, Self::FIRST_LOOK, false)
    }

    /// Work on the root position of a search: in a hurry it leaves undecided what it can and still does the
    /// rest.
    #[must_use]
    pub fn whole(interrupt: Interrupt) -> Arc<Self> {
        Self::new(interrupt, Self::ASSURED, u64::MAX, false)
    }

    /// Work on a question that breaks off in a hurry, because a partial answer is of no use.
    #[must_use]
    pub fn of_question(interrupt: Interrupt) -> Arc<Self> {
        Self::new(interrupt, Self::ASSURED, u64::MAX, true)
    }

    /// The same work in pieces of some ten microseconds, with a call of `between` after each; only the first
    /// `between` that is set counts.
    ///
    /// ```
    /// use plyd_core::effort::{Effort, Interrupt};
    ///
    /// // Others that wait for this core have their turn.
    /// let effort = Effort::of_question(Interrupt::default()).in_pieces(std::thread::yield_now);
    /// assert!(effort.spend(10_000));
    /// ```
    #[must_use]
    pub fn in_pieces(self: Arc<Self>, between: fn()) -> Arc<Self> {
        self.between.get_or_init(|| between);
        self
    }

    /// The rules' work within a search; it ends as soon as the search is told to end.
    #[must_use]
    pub fn of_search(interrupt: Interrupt) -> Arc<Self> {
        Self::new(interrupt, 0, u64::MAX, false)
    }

    fn new(interrupt: Interrupt, assured: u64, most: u64, ends_in_hurry: bool) -> Arc<Self> {
        Arc::new(Self {
            interrupt,
            assured,
            most,
            ends_in_hurry,
            between: OnceLock::new(),
            taken: AtomicU64::new(0),
            granted: AtomicU64::new(u64::MAX),
            is_cut: AtomicBool::new(false),
            is_broken_off: AtomicBool::new(false),
            is_undecided: AtomicBool::new(false),
        })
    }

    /// Takes `steps` for work whose result may stay undecided; false if it has to be left undecided now.
    #[inline]
    pub fn spend(&self, steps: u64) -> bool {
        let goes_on = if self.assured == 0 {
            !self.interrupt.is_hurried()
        } else {
            let taken = self.take_steps(steps);
            let is_due = taken > self.assured && self.interrupt.is_hurried();
            taken <= self.most && !is_due && !self.interrupt.is_ended()
        };
        if !goes_on {
            self.is_cut.store(true, Relaxed);
        }
        goes_on
    }

    /// Takes `steps` for work that is done even in a hurry; false if all steps were taken before.
    #[inline]
    pub fn spend_anyway(&self, steps: u64) -> bool {
        let goes_on = self.most == u64::MAX || self.take_steps(steps) <= self.most;
        if !goes_on {
            self.is_cut.store(true, Relaxed);
        }
        goes_on
    }

    /// Takes `steps` for work without which there is no answer; false if the work breaks off.
    #[inline]
    pub fn proceed(&self, steps: u64) -> bool {
        let taken = self.take_steps(steps);
        let is_due = self.ends_in_hurry && taken > self.assured && self.interrupt.is_hurried();
        let goes_on = taken <= self.most && !is_due && !self.interrupt.is_ended();
        if !goes_on {
            self.is_broken_off.store(true, Relaxed);
        }
        goes_on
    }

    /// Counts `steps`, and gives how many were taken so far.
    #[inline]
    fn take_steps(&self, steps: u64) -> u64 {
        let before = self.taken.fetch_add(steps, Relaxed);
        let taken = before.saturating_add(steps);
        if let Some(between) = self.between.get()
            && before / Self::PIECE != taken / Self::PIECE
        {
            between();
        }
        taken
    }

    /// Grants `nodes` to all following positions together, in place of what the rules grant to each; once
    /// they are used up, the rest stays undecided. None takes the grant back.
    pub fn grant(&self, nodes: Option<u64>) {
        self.granted.store(nodes.unwrap_or(u64::MAX), Relaxed);
    }

    /// The nodes that are left of a grant, if there is one.
    #[must_use]
    pub fn granted(&self) -> Option<u64> {
        Some(self.granted.load(Relaxed)).filter(|&nodes| nodes != u64::MAX)
    }

    /// Takes nodes from the grant, if there is one.
    pub fn take(&self, nodes: u64) {
        self.grant(self.granted().map(|granted| granted.saturating_sub(nodes)));
    }

    /// Whether something was left undecided for want of time or steps: another attempt may decide it.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        self.is_cut.load(Relaxed)
    }

    /// Whether the work broke off before there was an answer.
    #[must_use]
    pub fn was_broken_off(&self) -> bool {
        self.is_broken_off.load(Relaxed)
    }

    /// Notes that the rules left something undecided, for whatever reason.
    pub fn leave_undecided(&self) {
        self.is_undecided.store(true, Relaxed);
    }

    /// Whether the rules left something undecided.
    #[must_use]
    pub fn has_undecided(&self) -> bool {
        self.is_undecided.load(Relaxed)
    }

    /// What ends the work early.
    #[must_use]
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn assured_steps_are_taken_in_a_hurry_and_none_after_the_end() {
        let interrupt = Interrupt::default();
        let effort = Effort::whole(interrupt.clone());
        interrupt.hurry();
        assert!(effort.spend(Effort::ASSURED) && !effort.was_cut());
        assert!(!effort.spend(1) && effort.was_cut());
        assert!(effort.proceed(1) && !effort.was_broken_off(), "a hurry breaks nothing off");
        let question = Effort::of_question(interrupt.clone());
        assert!(question.proceed(Effort::ASSURED) && !question.was_broken_off());
        assert!(!question.proceed(1) && question.was_broken_off(), "but a question");
        interrupt.end();
        assert!(!effort.proceed(1) && effort.was_broken_off());
        assert!(!Effort::whole(interrupt).spend(1));
    }

    #[test]
    fn work_in_pieces_does_something_else_between_them() {
        thread_local! {
            static COUNT: Cell<u64> = const { Cell::new(0) };
        }
        let count = || COUNT.set(COUNT.get() + 1);
        let effort = Effort::whole(Interrupt::default()).in_pieces(count);
        for _ in 0..Effort::PIECE {
            assert!(effort.spend(1) && effort.proceed(1));
        }
        assert_eq!(COUNT.get(), 2);
        // A large step ends one piece.
        assert!(effort.spend(10 * Effort::PIECE) && effort.spend(1));
        assert_eq!(COUNT.get(), 3);
        assert!(Effort::whole(Interrupt::default()).spend(10 * Effort::PIECE));
        assert_eq!(COUNT.get(), 3, "whoever does not ask for it works on");
    }

    #[test]
    fn brief_work_breaks_off() {
        let effort = Effort::brief(Interrupt::default());
        assert!(effort.spend(Effort::ASSURED - 1) && effort.proceed(1));
        assert!(!effort.spend(1) && !effort.proceed(1));
        let effort = Effort::glance(Interrupt::default());
        assert!(effort.spend(Effort::GLANCE) && !effort.spend(1));
        let look = Effort::first_look();
        assert!(look.spend(Effort::FIRST_LOOK - 1) && look.spend_anyway(1) && !look.was_cut());
        assert!(!look.spend_anyway(1) && look.was_cut());
        let search = Effort::of_search(Interrupt::default());
        assert!(search.spend(u64::MAX));
        search.interrupt().hurry();
        assert!(!search.spend(1) && search.spend_anyway(u64::MAX));
    }
}
