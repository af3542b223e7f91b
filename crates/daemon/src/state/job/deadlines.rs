//! When a job must end: its deadlines, planned from its clock, its limit and `hard_ms`, and which of them
//! count in which phase.

use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::{Clock, Mode, Reason};

use super::{Job, Phase};
use crate::state::promises::{due_after, until_flag_ms};
use plyd_core::search::UNLIMITED;
use plyd_core::search::clock::{TimePlan, margin_us};

/// The time between the watchdog's decision and the written answer: `hard_ms` is kept to the ms.
const WATCHDOG_MARGIN_US: i64 = 500;

/// When a job ends at the latest, as [`plyd_core::search::clock::now_ns`] counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JobDeadlines {
    /// The instant before which an early answer saves no time.
    clock_free: u64,
    clock_soft: Option<u64>,
    pub(super) clock: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) watchdog: Option<u64>,
    /// Ten seconds after the end of input.
    eof: Option<u64>,
    /// When a legal move is chosen for an ending search that has published none.
    first_move: Option<u64>,
    /// When a position that is still being read has taken too long.
    reading: Option<u64>,
    /// When the `go` ends without a move if its position is still unknown.
    unprepared: Option<u64>,
}

impl Job {
    /// Starts all its times at `base_ns`.
    pub(crate) fn run_clock_from(&mut self, base_ns: u64) {
        self.plan_clock(base_ns);
        self.plan_limit(base_ns);
        self.plan_watchdog(base_ns);
        self.arm_control();
    }

    /// Applies an `update`, whose times run from its arrival.
    pub(crate) fn update(&mut self, update: &wire::Update, base_ns: u64) {
        if update.clock.is_some()
            || update.hard_ms.is_some()
            || !update.limit.is_empty()
            || update.mode.is_some()
        {
            // The time that the client spent before the `go` does not count for times that begin now.
            self.elapsed_ms = 0;
            // Nor does an end by the old times, of which nobody heard.
            if self.phase == Phase::Preparing && self.announced_ending().is_none() {
                self.ending = None;
                self.deadlines.unprepared = None;
            }
        }
        if !update.limit.is_empty() {
            self.limit = update.limit;
            self.control.set_limits(self.limit.nodes, self.limit.depth);
            self.plan_limit(base_ns);
        }
        if update.hard_ms.is_some() {
            self.hard_ms = update.hard_ms;
            self.plan_watchdog(base_ns);
        }
        let ponderhit = update.mode.is_some() && self.mode != Mode::Move;
        if ponderhit {
            self.mode = Mode::Move;
        }
        if update.clock.is_some() || ponderhit {
            self.clock = update.clock.or(self.clock);
            self.plan_clock(base_ns);
        }
        self.arm_control();
    }

    /// Whether a search for a move would have a clock or a limit after this `update`.
    pub(crate) fn would_end_after(&self, update: &wire::Update) -> bool {
        update.clock.or(self.clock).is_some() || !update.limit.is_empty() || !self.limit.is_empty()
    }

    /// Limits the job to its time after the end of input (ten seconds by default).
    pub(crate) fn end_with_input(&mut self, at_ns: u64) {
        self.deadlines.eof = Some(at_ns);
    }

    /// Gives the search until `at_ns` to publish a move.
    pub(crate) fn await_first_move(&mut self, at_ns: u64) {
        let at_ns = self.deadlines.first_move.map_or(at_ns, |old| old.min(at_ns));
        self.deadlines.first_move = Some(at_ns);
    }

    /// Gives the reading of its position until `at_ns`, if it has no such time yet.
    pub(crate) fn read_until(&mut self, at_ns: u64) {
        if !self.interrupt.is_hurried() {
            self.deadlines.reading.get_or_insert(at_ns);
        }
    }

    /// Whether the time for reading its position is over, and it was not hurried for that.
    pub(crate) fn is_read_too_long(&self, now_ns: u64) -> bool {
        self.phase == Phase::Preparing && self.deadlines.reading.is_some_and(|at| at <= now_ns)
    }

    /// Asks for its position to be read at once, and given up at `at_ns`.
    pub(crate) fn hurry(&mut self, at_ns: u64) {
        self.interrupt.hurry();
        self.deadlines.reading = None;
        let at_ns = self.deadlines.unprepared.map_or(at_ns, |old| old.min(at_ns));
        self.deadlines.unprepared = Some(at_ns);
    }

    /// Whether its position was not read in time.
    pub(crate) fn is_unprepared(&self, now_ns: u64) -> bool {
        self.phase == Phase::Preparing && self.deadlines.unprepared.is_some_and(|at| at <= now_ns)
    }

    /// When it answers at the latest, by its clock, its limit or `hard_ms`.
    pub(crate) fn deadline(&self) -> Option<u64> {
        let JobDeadlines { clock, limit, watchdog, .. } = self.deadlines;
        [clock, limit, watchdog].into_iter().flatten().min()
    }

    /// Until when its client counts on the answer.
    pub(crate) fn due_ns(&self) -> Option<u64> {
        self.promises.due_ns()
    }

    /// Whether the clock had already expired when it started.
    pub(crate) fn has_flagged(&self, now_ns: u64) -> bool {
        self.deadlines.clock.is_some_and(|at| at <= now_ns)
    }

    /// Why the job must end by now, if it must: the earliest deadline's reason.
    pub(crate) fn due(&self, now_ns: u64) -> Option<Reason> {
        self.ends().filter(|(at, _)| *at <= now_ns).min_by_key(|(at, _)| *at).map(|(_, reason)| reason)
    }

    /// The deadlines that count now. Both the timer and the check of what is due use them, so that no timer
    /// fires for nothing.
    fn ends(&self) -> impl Iterator<Item = (u64, Reason)> {
        let JobDeadlines { clock, limit, watchdog, eof, first_move, reading, unprepared, .. } =
            self.deadlines;
        let is_being_read = self.phase == Phase::Preparing;
        let ending = self.ending.unwrap_or(Reason::Stopped);
        let (timed, watched, last) = match self.phase {
            // It ends as soon as a legal move is known, or its position is given up.
            Phase::Preparing if self.ending.is_some() => (false, false, false),
            // With `queue` the clocks run from the start of the search.
            Phase::Preparing if self.queue => (false, false, true),
            Phase::Waiting => (false, false, true),
            _ => (self.ending.is_none(), true, true),
        };
        [
            (clock.filter(|_| timed), Reason::Clock),
            (limit.filter(|_| timed), Reason::Limit),
            (watchdog.filter(|_| watched), Reason::Deadline),
            (eof.filter(|_| last), ending),
            (first_move.filter(|_| last), ending),
            (reading.filter(|_| is_being_read), ending),
            (unprepared.filter(|_| is_being_read), ending),
        ]
        .into_iter()
        .filter_map(|(at, reason)| Some((at?, reason)))
    }

    /// Whether `hard_ms` is over.
    pub(crate) fn watchdog_is_due(&self, now_ns: u64) -> bool {
        self.deadlines.watchdog.is_some_and(|at| at <= now_ns)
    }

    /// When the watchdog must look at the job next.
    pub(crate) fn next_timer(&self) -> Option<u64> {
        self.ends().map(|(at, _)| at).chain(self.news.next_ns(self.is_shown())).min()
    }

    fn plan_clock(&mut self, base_ns: u64) {
        if matches!(self.clock, Some(Clock::Anytime { .. })) {
            self.news.want_every_move();
        }
        let spent = self.spent_ms();
        let plan = match self.clock {
            // A clock that comes with an analysis or a ponder is kept until `update` starts it.
            _ if self.mode != Mode::Move => TimePlan::unlimited(),
            None | Some(Clock::None | Clock::Anytime { .. }) => TimePlan::unlimited(),
            Some(Clock::PerMove { ms }) => TimePlan::per_move(ms, spent),
            Some(Clock::Increment { me_ms, inc_ms, moves_to_go, .. }) => {
                TimePlan::increment(me_ms, inc_ms, moves_to_go, spent)
            }
            Some(Clock::Delay { me_ms, delay_ms, .. }) => TimePlan::delay(me_ms, delay_ms, spent),
            Some(Clock::Bank { turn_ms, bank_ms }) => TimePlan::bank(turn_ms, bank_ms, spent),
        };
        let at =
            |offset: Option<Duration>| offset.map(|offset| base_ns.saturating_add(offset.as_nanos() as u64));
        let clock = self.clock.filter(|_| self.mode == Mode::Move);
        self.promises.clock = due_after(base_ns, until_flag_ms(clock), spent);
        self.deadlines.clock_free = base_ns.saturating_add(plan.free.as_nanos() as u64);
        self.deadlines.clock_soft = at(plan.soft);
        self.deadlines.clock = at(plan.hard);
    }

    /// The time that was spent before its request came, and that its answer takes to its client.
    fn spent_ms(&self) -> u64 {
        self.elapsed_ms.saturating_add(self.overhead_ms)
    }

    fn plan_limit(&mut self, base_ns: u64) {
        self.promises.limit = due_after(base_ns, self.limit.time_ms, self.spent_ms());
        self.deadlines.limit = self.limit.time_ms.map(|ms| self.offset(base_ns, ms, margin_us));
    }

    fn plan_watchdog(&mut self, base_ns: u64) {
        let margin = |total_us: i64| WATCHDOG_MARGIN_US.min(total_us / 4);
        self.promises.watchdog = due_after(base_ns, self.hard_ms, self.spent_ms());
        self.deadlines.watchdog = self.hard_ms.map(|ms| self.offset(base_ns, ms, margin));
    }

    /// `ms` after `base_ns`, less what is spent and the margin for writing.
    fn offset(&self, base_ns: u64, ms: u64, margin: impl Fn(i64) -> i64) -> u64 {
        let left_us =
            i64::try_from(ms.saturating_sub(self.spent_ms())).unwrap_or(i64::MAX).saturating_mul(1000);
        let left_us = (left_us - margin(left_us)).max(0) as u64;
        base_ns.saturating_add(left_us.saturating_mul(1000))
    }

    /// Gives the running search its deadlines. `hard_ms` is the watchdog's alone.
    fn arm_control(&self) {
        let JobDeadlines { clock_free, clock_soft, clock, limit, watchdog, .. } = self.deadlines;
        let hard = clock.unwrap_or(UNLIMITED).min(limit.unwrap_or(UNLIMITED));
        self.control.set_free(clock_free);
        self.control.set_watched(watchdog.is_some());
        self.control.set_deadlines(clock_soft.unwrap_or(UNLIMITED).min(hard), hard);
    }

    /// The reason of the deadline that comes first: why a search that saw one ended.
    pub(super) fn nearest_end(&self) -> Reason {
        let JobDeadlines { clock, limit, .. } = self.deadlines;
        match (clock, limit) {
            (Some(clock), Some(limit)) if limit < clock => Reason::Limit,
            (None, Some(_)) => Reason::Limit,
            (Some(_), _) => Reason::Clock,
            (None, None) => Reason::Limit,
        }
    }
}
