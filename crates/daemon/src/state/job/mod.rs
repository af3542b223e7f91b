//! One `go`: what was asked, the best answer so far, and when it must end.
//!
//! No I/O and no lock: a job is a value in the daemon's state. Whatever ends it takes it out of the state, so
//! that a later event finds nothing to end.

mod deadlines;
mod prepared;

use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::{Clock, InfoEvent, Limit, Mode, Reason};
use tracing::Span;

use super::news::News;
use super::promises::Promises;
use super::schedule::{Class, Progress};
use crate::ids::{ClientId, ConnId, WorkerId};
use plyd_core::effort::Interrupt;
use plyd_core::search::{Control, End};

use deadlines::JobDeadlines;
pub(crate) use prepared::{EngineKey, LoadedEngine, Prepared};

/// What its client must know of a move that was not searched.
const NOT_BEGUN: &str = "its time was over before its search began: the move is legal, but not searched";
const NOT_COMPLETE: &str =
    "its time was over before its first iteration was complete: the move is legal, but not searched";

/// The phase that a job is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
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

/// One `go`.
pub(crate) struct Job {
    /// The connection.
    pub(super) conn: ConnId,
    /// The client of that connection, if it is known by name.
    pub(super) client: Option<ClientId>,
    /// The request's id.
    pub(crate) name: String,
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
    pub(crate) phase: Phase,
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
    deadlines: JobDeadlines,
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
            deadlines: JobDeadlines::default(),
            promises: Promises::default(),
        };
        job.control.set_limits(job.limit.nodes, job.limit.depth);
        job.run_clock_from(received_ns);
        job
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

    /// How it is scheduled.
    pub(super) fn class(&self) -> Class {
        let ends_by_itself = self.deadline().is_some() || self.is_limited();
        if self.mode == Mode::Move && ends_by_itself { Class::Move } else { Class::Endless }
    }

    /// Whether it is a search for a move that some time ends, so that a clock waits for it.
    pub(super) fn is_timed(&self) -> bool {
        self.mode == Mode::Move && self.deadline().is_some()
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

    /// Waits for its session or for cores, its clocks stopped: a deadline that passed before does not count.
    pub(super) fn enqueue(&mut self) {
        self.phase = Phase::Waiting;
        self.ending = self.announced_ending();
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
}

/// Whether clients hear of an end for this reason at the moment it is decided.
fn is_announced(reason: Reason) -> bool {
    matches!(reason, Reason::Stopped | Reason::Closed | Reason::Shutdown)
}
