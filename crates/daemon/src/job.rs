//! One `go`: what was asked, the best answer so far, and when it must end.
//!
//! No I/O and no lock: a job is a value in the daemon's state. Whatever ends it takes it out of the state, so
//! that a later event finds nothing to end.

use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::{Clock, InfoEvent, Limit, Mode, Reason};
use tracing::Span;

use super::budget::{Claim, Memory};
use super::holdings::POSITION_BYTES;
use super::identity::ClientId;
use super::news::News;
use super::promises::{Promises, due_after, until_flag_ms};
use super::schedule::{Class, Progress};
use super::state::{ConnId, WorkerId};
use plyd_core::effort::Interrupt;
use plyd_core::engine::{AnyRoot, Candidates, Engine, Fault};
use plyd_core::game::Rules;
use plyd_core::options::Options;
use plyd_core::search::clock::{TimePlan, margin_us};
use plyd_core::search::{Control, End, UNLIMITED};

/// The time between the watchdog's decision and the written answer: `hard_ms` is kept to the ms.
const WATCHDOG_MARGIN_US: i64 = 500;

/// What its client must know of a move that was not searched.
const NOT_BEGUN: &str = "its time was over before its search began: the move is legal, but not searched";
const NOT_COMPLETE: &str =
    "its time was over before its first iteration was complete: the move is legal, but not searched";

/// The phase that a job is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Its position is being read.
    Preparing,
    /// It is valid and waits for its session or for cores.
    Waiting,
    /// It has its session and waits for its first turn, or for the session's thread to come back from the
    /// last search.
    Starting,
    /// A thread has it.
    Searching(WorkerId),
    /// Its search has nothing more to find, but the client did not ask for an end.
    Open(End),
}

/// An engine with the memory that it takes.
pub(super) struct LoadedEngine {
    /// The key it was made from.
    pub(super) key: EngineKey,
    /// The player.
    pub(super) engine: Box<dyn Engine>,
    /// Its table's memory.
    _claim: Claim,
}

impl LoadedEngine {
    /// A new engine, with as much of the memory that its options ask for as there is.
    ///
    /// # Errors
    /// An option that the game's players cannot have.
    pub(super) fn new(root: &dyn AnyRoot, key: EngineKey, memory: &Memory) -> Result<Self, Fault> {
        let claim = memory.claim((key.options.hash_mb as u64) << 20);
        let options = Options { hash_mb: (claim.bytes() >> 20) as usize, ..key.options.clone() };
        Ok(Self { engine: root.engine(&options)?, key, _claim: claim })
    }
}

/// What an engine was made from; a search with the same key can use it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EngineKey {
    /// The player's options.
    pub(super) options: Options,
    /// The effective rules.
    pub(super) rules: Rules,
}

/// A search whose request is valid.
pub(super) struct Prepared {
    /// The game's name.
    pub(super) game: &'static str,
    /// The position.
    pub(super) root: Arc<dyn AnyRoot>,
    /// The `start` by which the client named it.
    pub(super) start: Option<String>,
    /// The bytes of the texts that name it.
    pub(super) position_bytes: usize,
    /// The moves to choose from.
    pub(super) candidates: Candidates,
    /// The lines to give.
    pub(super) multipv: usize,
    /// The position's hash.
    pub(super) hash: u64,
    /// A legal move, for a search that ends before it published one.
    pub(super) fallback: wire::Line,
    /// What the engine must be made from.
    pub(super) key: EngineKey,
    /// A new engine, unless the session's engine seemed to fit; the thread decides which one searches.
    pub(super) loaded: Option<LoadedEngine>,
    /// The notices about the request that the client gets before the answer.
    pub(super) warnings: Vec<String>,
    /// Whether the next request would read the same position: false if there was no time to read it fully.
    pub(super) is_lasting: bool,
}

impl Prepared {
    /// The heap bytes that it occupies beside those of its request, or a little more; without its engine,
    /// whose tables have a budget of their own.
    pub(super) fn heap_bytes(&self) -> usize {
        // The position keeps the texts of its moves.
        POSITION_BYTES + self.position_bytes + size_of_val(self.candidates.indexes.as_slice())
    }
}

/// When a job ends at the latest, as [`plyd_core::search::clock::now_ns`] counts.
#[derive(Clone, Copy, Debug, Default)]
struct Deadlines {
    /// The instant before which an early answer saves no time.
    clock_free: u64,
    clock_soft: Option<u64>,
    clock: Option<u64>,
    limit: Option<u64>,
    watchdog: Option<u64>,
    /// Ten seconds after the end of input.
    eof: Option<u64>,
    /// When a legal move is chosen for an ending search that has published none.
    first_move: Option<u64>,
    /// When an ending search whose position is still unknown ends without a move.
    unprepared: Option<u64>,
}

/// One `go`.
pub(super) struct Job {
    /// The connection.
    pub(super) conn: ConnId,
    /// The client of that connection, if it is known by name.
    pub(super) client: Option<ClientId>,
    /// The request's id.
    pub(super) name: String,
    /// The request's line.
    pub(super) line: u64,
    /// The session, if it has one.
    pub(super) session: Option<String>,
    /// The mode; `update` can change it.
    pub(super) mode: Mode,
    /// Whether it may wait.
    pub(super) queue: bool,
    /// What ends the reading of its position.
    pub(super) interrupt: Interrupt,
    /// What the running search looks at.
    pub(super) control: Arc<Control>,
    /// Its phase.
    pub(super) phase: Phase,
    /// When the line arrived.
    pub(super) received_ns: u64,
    /// When the search began.
    pub(super) started_ns: Option<u64>,
    /// What the search needs, until a thread takes it.
    pub(super) prepared: Option<Box<Prepared>>,
    /// The game's place in the registry, once the request is known to be valid.
    pub(super) game: Option<usize>,
    /// The hash of the position, once it is known.
    pub(super) hash: u64,
    /// Whether the position has a single legal move.
    pub(super) forced: bool,
    /// The best lines so far: nothing while it is prepared, then a legal move until the search publishes.
    pub(super) best: Option<Arc<Vec<wire::Line>>>,
    /// Whether `best` was published by the search.
    pub(super) published: bool,
    /// Why it is to end as soon as it has a move.
    pub(super) ending: Option<Reason>,
    /// The key of its timer.
    pub(super) timer_ns: Option<u64>,
    /// What its client hears of it while it runs.
    pub(super) news: News,
    /// What the log says around it.
    pub(super) span: Span,
    clock: Option<Clock>,
    limit: Limit,
    hard_ms: Option<u64>,
    elapsed_ms: u64,
    overhead_ms: u64,
    deadlines: Deadlines,
    promises: Promises,
}

impl Job {
    /// A job at its arrival.
    pub(super) fn new(conn: ConnId, name: String, line: u64, go: &wire::Go, received_ns: u64) -> Self {
        let session = match &go.game {
            wire::GameRef::Session { session } => Some(session.clone()),
            wire::GameRef::Game { .. } => None,
        };
        let mut job = Self {
            conn,
            client: None,
            name,
            line,
            session,
            mode: go.mode,
            queue: go.queue,
            interrupt: Interrupt::default(),
            control: Arc::new(Control::default()),
            phase: Phase::Preparing,
            received_ns,
            started_ns: None,
            prepared: None,
            game: None,
            hash: 0,
            forced: false,
            best: None,
            published: false,
            ending: None,
            timer_ns: None,
            news: News::new(&go.info),
            span: Span::none(),
            clock: go.clock,
            limit: go.limit,
            hard_ms: go.hard_ms,
            elapsed_ms: go.elapsed_ms,
            overhead_ms: go.overhead_ms,
            deadlines: Deadlines::default(),
            promises: Promises::default(),
        };
        job.control.set_limits(job.limit.nodes, job.limit.depth);
        job.run_clock_from(received_ns);
        job
    }

    /// Starts all its times at `base_ns`.
    pub(super) fn run_clock_from(&mut self, base_ns: u64) {
        self.plan_clock(base_ns);
        self.plan_limit(base_ns);
        self.plan_watchdog(base_ns);
        self.arm_control();
    }

    /// Applies an `update`, whose times run from its arrival.
    pub(super) fn update(&mut self, update: &wire::Update, base_ns: u64) {
        if update.clock.is_some()
            || update.hard_ms.is_some()
            || !update.limit.is_empty()
            || update.mode.is_some()
        {
            // The time that the client spent before the `go` does not count for times that begin now.
            self.elapsed_ms = 0;
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
    pub(super) fn would_end_after(&self, update: &wire::Update) -> bool {
        update.clock.or(self.clock).is_some() || !update.limit.is_empty() || !self.limit.is_empty()
    }

    /// Limits the job to its time after the end of input (ten seconds by default).
    pub(super) fn end_with_input(&mut self, at_ns: u64) {
        self.deadlines.eof = Some(at_ns);
    }

    /// Gives the search until `at_ns` to publish a move.
    pub(super) fn await_first_move(&mut self, at_ns: u64) {
        let at_ns = self.deadlines.first_move.map_or(at_ns, |old| old.min(at_ns));
        self.deadlines.first_move = Some(at_ns);
    }

    /// Asks for its position to be read at once, and given up at `at_ns`.
    pub(super) fn hurry(&mut self, at_ns: u64) {
        self.interrupt.hurry();
        self.deadlines.unprepared.get_or_insert(at_ns);
    }

    /// Whether its position was not read in time.
    pub(super) fn is_unprepared(&self, now_ns: u64) -> bool {
        self.phase == Phase::Preparing && self.deadlines.unprepared.is_some_and(|at| at <= now_ns)
    }

    /// Notes why it is to end. A reason that its client hears of, such as a stop, overrides a deadline.
    pub(super) fn end_for(&mut self, reason: Reason) {
        if self.ending.is_none() || (self.announced_ending().is_none() && is_announced(reason)) {
            self.ending = Some(reason);
        }
    }

    /// Why it is to end, if its client heard of that.
    pub(super) fn announced_ending(&self) -> Option<Reason> {
        self.ending.filter(|reason| is_announced(*reason))
    }

    /// Whether nothing but the client or a proof ends it.
    pub(super) fn is_open_ended(&self) -> bool {
        let timed = [self.deadlines.clock, self.deadlines.limit, self.deadlines.watchdog];
        self.ending.is_none() && timed.iter().all(Option::is_none) && self.limit.is_empty()
    }

    /// Whether the only legal move can be answered without a search. With a limit the search is wanted.
    pub(super) fn is_only_move(&self) -> bool {
        self.forced && self.mode == Mode::Move && !self.is_limited()
    }

    /// Whether the request set a limit of nodes, depth or time.
    pub(super) fn is_limited(&self) -> bool {
        !self.limit.is_empty()
    }

    /// When it answers at the latest, by its clock, its limit or `hard_ms`.
    pub(super) fn deadline(&self) -> Option<u64> {
        let Deadlines { clock, limit, watchdog, .. } = self.deadlines;
        [clock, limit, watchdog].into_iter().flatten().min()
    }

    /// Until when its client counts on the answer.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.promises.due_ns()
    }

    /// How it is scheduled.
    pub(super) fn class(&self) -> Class {
        let ends_by_itself = self.deadline().is_some() || self.is_limited();
        if self.mode == Mode::Move && ends_by_itself { Class::Move } else { Class::Endless }
    }

    /// How far its search has come.
    pub(super) fn progress(&self) -> Progress {
        Progress { is_searched: self.control.stats().depth > 0, cpu_ns: self.control.cpu_ns() }
    }

    /// What its client must know of an answer that it gives now for this reason, if its time was over before
    /// its move was searched.
    pub(super) fn unsearched(&self, reason: Reason, now_ns: u64) -> Option<&'static str> {
        let is_over = match reason {
            Reason::Clock | Reason::Deadline => true,
            // A limit of nodes leaves a search all that was asked for.
            Reason::Limit => self.deadlines.limit.is_some_and(|at| at <= now_ns),
            _ => false,
        };
        let line = self.best.as_ref()?.first()?;
        let is_proven = line.score.is_some_and(|score| score.proof.is_some());
        if !is_over || line.depth > 0 || is_proven {
            return None;
        }
        Some(if self.started_ns.is_some() { NOT_COMPLETE } else { NOT_BEGUN })
    }

    /// Whether the clock had already expired when it started.
    pub(super) fn has_flagged(&self, now_ns: u64) -> bool {
        self.deadlines.clock.is_some_and(|at| at <= now_ns)
    }

    /// Why the job must end by now, if it must: the earliest deadline's reason.
    pub(super) fn due(&self, now_ns: u64) -> Option<Reason> {
        self.ends().filter(|(at, _)| *at <= now_ns).min_by_key(|(at, _)| *at).map(|(_, reason)| reason)
    }

    /// The deadlines that count now. Both the timer and the check of what is due use them, so that no timer
    /// fires for nothing.
    fn ends(&self) -> impl Iterator<Item = (u64, Reason)> {
        let Deadlines { clock, limit, watchdog, eof, first_move, unprepared, .. } = self.deadlines;
        let ending = self.ending.unwrap_or(Reason::Stopped);
        let (timed, watched, last) = match self.phase {
            // It ends as soon as a legal move is known, or its position is given up.
            Phase::Preparing if self.ending.is_some() => (false, false, false),
            // Its clocks have not begun to run.
            Phase::Waiting => (false, false, true),
            _ => (self.ending.is_none(), true, true),
        };
        [
            (clock.filter(|_| timed), Reason::Clock),
            (limit.filter(|_| timed), Reason::Limit),
            (watchdog.filter(|_| watched), Reason::Deadline),
            (eof.filter(|_| last), ending),
            (first_move.filter(|_| last), ending),
            (unprepared.filter(|_| self.phase == Phase::Preparing), ending),
        ]
        .into_iter()
        .filter_map(|(at, reason)| Some((at?, reason)))
    }

    /// Waits for its session or for cores, its clocks stopped: a deadline that passed before does not count.
    pub(super) fn enqueue(&mut self) {
        self.phase = Phase::Waiting;
        self.ending = self.announced_ending();
    }

    /// Whether `hard_ms` is over.
    pub(super) fn watchdog_is_due(&self, now_ns: u64) -> bool {
        self.deadlines.watchdog.is_some_and(|at| at <= now_ns)
    }

    /// When the watchdog must look at the job next.
    pub(super) fn next_timer(&self) -> Option<u64> {
        self.ends().map(|(at, _)| at).chain(self.news.next_ns(self.is_shown())).min()
    }

    /// Why a search that ended by itself ends the job, or nothing if the job stays open.
    pub(super) fn reason_of(&self, end: End) -> Option<Reason> {
        match end {
            End::Proven => Some(Reason::Proven),
            End::Limit if self.mode != Mode::Move && !self.is_limited() => None,
            End::Limit => Some(Reason::Limit),
            End::Clock | End::Stopped => Some(self.ending.unwrap_or_else(|| self.nearest_end())),
        }
    }

    /// The search begins; `reminder` is the time after which `progress` is sent for the first time.
    pub(super) fn began(&mut self, now_ns: u64, reminder: Duration) {
        self.started_ns = Some(now_ns);
        self.news.began(now_ns, reminder);
    }

    /// The kinds of news that have waited long enough.
    pub(super) fn overdue_news(&self, now_ns: u64) -> Vec<InfoEvent> {
        self.news.overdue(now_ns, self.is_shown())
    }

    /// Whether there is progress to report.
    fn is_shown(&self) -> bool {
        self.published && matches!(self.phase, Phase::Searching(_))
    }

    /// How far the search has come, in wire types.
    pub(super) fn stats(&self, now_ns: u64) -> wire::Stats {
        let stats = self.control.stats();
        let spent_ns = self.started_ns.map_or(0, |started| now_ns.saturating_sub(started));
        let nps = u128::from(stats.nodes) * 1_000_000_000 / u128::from(spent_ns.max(1));
        wire::Stats {
            nodes: stats.nodes,
            nps: if spent_ns == 0 { 0 } else { nps.min(wire::MAX_INT as u128) as u64 },
            time_ms: spent_ns / 1_000_000,
            depth: stats.depth,
            seldepth: stats.seldepth,
            hash_ppm: stats.hash_ppm,
        }
    }

    /// The job's times on the clock of `t_us`.
    pub(super) fn timing(&self, decided_ns: u64) -> wire::Timing {
        wire::Timing {
            received_us: self.received_ns / 1000,
            started_us: self.started_ns.unwrap_or(decided_ns) / 1000,
            decided_us: decided_ns / 1000,
        }
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
        let Deadlines { clock_free, clock_soft, clock, limit, .. } = self.deadlines;
        let hard = clock.unwrap_or(UNLIMITED).min(limit.unwrap_or(UNLIMITED));
        self.control.set_free(clock_free);
        self.control.set_deadlines(clock_soft.unwrap_or(UNLIMITED).min(hard), hard);
    }

    /// The reason of the deadline that comes first: why a search that saw one ended.
    fn nearest_end(&self) -> Reason {
        let Deadlines { clock, limit, .. } = self.deadlines;
        match (clock, limit) {
            (Some(clock), Some(limit)) if limit < clock => Reason::Limit,
            (None, Some(_)) => Reason::Limit,
            (Some(_), _) => Reason::Clock,
            (None, None) => Reason::Limit,
        }
    }
}

/// Whether clients hear of an end for this reason at the moment it is decided.
fn is_announced(reason: Reason) -> bool {
    matches!(reason, Reason::Stopped | Reason::Closed | Reason::Shutdown)
}
