//! Everything that the daemon's one lock guards: connections, sessions, searches and whose turn it is,
//! timers.
//!
//! No I/O, no threads, no clock: time comes in as a number, and what is to happen outside goes out as
//! [`Effects`], which the caller carries out after it gave the lock back. Every method takes microseconds.

mod admission;
pub(crate) mod budget;
mod commit;
pub(crate) mod conn;
mod effects;
mod health;
pub(crate) mod holdings;
mod identity;
pub(crate) mod intake;
pub(crate) mod job;
pub(crate) mod kept;
mod news;
mod operate;
pub(crate) mod order;
pub(crate) mod outbox;
mod places;
mod promises;
mod reconfigure;
pub(crate) mod refusals;
pub(crate) mod request_error;
mod roles;
pub(crate) mod schedule;
mod searches;
pub(crate) mod session;
mod shares;
pub(crate) mod status;
pub(crate) mod tally;
pub(crate) mod task;
mod threads;
mod timers;
mod unread;
mod waiting;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use plyd_protocol as wire;
use tracing::Span;

use crate::config::limits::Limits;
use crate::ids::{ClientId, ConnId, JobId, SocketId, TaskId, WorkerId};
use crate::signal::Signal;
use crate::spans::Origin;
use plyd_core::engine::Entry;
use plyd_core::engine::settings::Renamed;

use budget::Memory;
use identity::Clients;
use intake::{Held, Intake};
use job::Job;
use kept::Promise;
use outbox::{Item, Outbox};
use places::Guesses;
use refusals::Refusal;
use schedule::Schedule;
use shares::Shares;
use tally::Tally;
use task::{Asks, Lane, Pending, SessionView, Task};
use threads::Worker;
use timers::{Timer, Timers};
use unread::Unread;
use waiting::Waiting;

pub(crate) use effects::Effects;

/// A session of a connection.
pub(super) struct Session {
    /// What the work on its requests needs to know.
    pub(super) view: SessionView,
    /// What the log says around its requests.
    pub(super) span: Span,
    /// The job that has the session.
    pub(super) current: Option<JobId>,
    /// Its thread, which keeps its engine.
    pub(super) worker: Option<WorkerId>,
    /// Whether the engine must forget before the next search.
    pub(super) forget: bool,
    /// The bytes of its rules, options and initial position.
    pub(super) bytes: usize,
    /// The bytes of the position that it remembers.
    pub(super) prefix_bytes: usize,
}

/// Why a connection ends before its client wants it.
#[derive(Clone, Debug)]
pub(super) enum Expulsion {
    /// An operator says so, whose connection has this span.
    ByOperator(Span),
    /// Its client is not on the list any more.
    Unlisted,
}

/// How a connection ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// It takes requests.
    Open,
    /// It takes none; it closes when those in flight are done, behind this message: the answer to `quit`, or
    /// the fatal error that ends it.
    Draining(Option<String>),
    /// It takes none, and waits for this answer to its wrong token.
    Late(String),
    /// It closes when its outbox is empty.
    Flushing,
}

/// A connection.
pub(super) struct Conn {
    /// What the log says around all that it causes.
    pub(super) span: Span,
    /// Its messages.
    pub(crate) outbox: Outbox,
    /// Wakes its writer.
    pub(super) writer: Signal,
    /// Asks its reader to end.
    pub(super) reader: Signal,
    /// Wakes its reader if that waits for room.
    pub(super) room: Signal,
    /// The socket, or another way in, that serves it; none if that broke and it waits for its client.
    pub(super) link: Option<SocketId>,
    /// The promise to wait for its client.
    pub(super) promise: Option<Promise>,
    /// The bytes that wait for its client, as they are counted while it is away.
    pub(super) away_bytes: usize,
    /// What its unread messages occupy, as they are counted among those of all.
    pub(super) unread_bytes: usize,
    /// The lines that it has taken, over all its sockets, and what is added to their numbers on this one.
    pub(super) lines: u64,
    pub(super) lines_before: u64,
    /// What its requests in flight occupy.
    pub(crate) held: Held,
    /// Its peer's address, as limits count it.
    pub(super) network: Option<IpAddr>,
    /// Where it comes from.
    pub(super) origin: Origin,
    /// Who it is, if that is a client known by name.
    pub(super) client: Option<ClientId>,
    /// How its client calls itself, escaped and cut.
    pub(super) name: Option<String>,
    /// When it was opened.
    pub(super) opened_ns: u64,
    /// When a line last came or a message was last queued.
    pub(super) active_ns: u64,
    /// Whether `hello` must still come first.
    pub(super) needs_hello: bool,
    /// Whether `hello` came.
    pub(super) greeted: bool,
    /// How long it may be idle; 0: forever. A later limit is for connections that come later.
    pub(super) idle_ns: u64,
    /// Whether it came over a network socket, so that the peer may be a stranger.
    pub(super) remote: bool,
    /// Bad lines before `hello`.
    pub(super) bad_lines: u32,
    /// What becomes of searches at the end of input.
    pub(super) on_eof: wire::OnEof,
    /// Options of later sessions.
    pub(super) defaults: wire::Settings,
    /// The bytes of those.
    pub(super) defaults_bytes: usize,
    /// Open sessions by name.
    pub(super) sessions: HashMap<String, Session>,
    /// Requests in flight, with their job if they have one.
    pub(super) inflight: HashMap<String, Option<JobId>>,
    /// The last finished searches' ids, oldest first.
    pub(super) finished: VecDeque<String>,
    /// Requests that wait for an earlier one of their lane; an entry means that one is worked on.
    pub(crate) lanes: HashMap<Lane, VecDeque<Task>>,
    /// All that are worked on or wait for that, in the order of their arrival.
    pub(crate) tasks: BTreeMap<TaskId, Pending>,
    /// How far it is from its end.
    pub(super) stage: Stage,
    /// Whether a timer watches its writer.
    pub(super) watched: bool,
    /// Whether the reader writes the answers to the lines that it just read.
    pub(super) reader_writes: bool,
}

/// What the lock guards.
pub(super) struct State {
    /// The numbers.
    pub(super) limits: Limits,
    /// The registry.
    pub(super) games: &'static [&'static Entry],
    /// The token that remote connections must show.
    pub(super) token: Option<String>,
    /// Whether others than the users of this machine may be among those who show no token.
    pub(super) serves_others: bool,
    /// Whether it serves TLS.
    pub(super) serves_tls: bool,
    /// The clients that are known by name.
    pub(crate) clients: Clients,
    /// Open connections.
    pub(super) conns: BTreeMap<ConnId, Conn>,
    /// The connections that sockets serve which opened others.
    pub(super) taken_up: HashMap<SocketId, ConnId>,
    /// The connections that wait for their clients, the one that has waited longest first.
    pub(super) away: VecDeque<ConnId>,
    /// The bytes that wait for them.
    pub(super) away_bytes: usize,
    /// Connections that are to end before their clients want it.
    pub(super) to_expel: BTreeMap<ConnId, Expulsion>,
    /// Jobs that are not over, in the order of their arrival.
    pub(crate) jobs: BTreeMap<JobId, Job>,
    /// Search threads.
    pub(crate) workers: HashMap<WorkerId, Worker>,
    /// Threads without a session and without work.
    pub(super) idle: Vec<WorkerId>,
    /// Which searches run.
    pub(crate) schedule: Schedule,
    /// Who waits to be taken in.
    pub(crate) waiting: Waiting,
    /// What the sessions of all connections hold.
    pub(crate) session_bytes: Shares,
    /// Room for requests.
    pub(crate) intake: Intake,
    /// Messages that peers have not read.
    pub(crate) unread: Unread,
    /// Table memory.
    pub(super) memory: Memory,
    /// Wrong tokens.
    pub(crate) guesses: Guesses,
    /// What happened so far.
    pub(super) counters: wire::Counters,
    /// The same for operators, in more detail.
    pub(super) tally: Tally,
    /// Lines that are missing from the transcript, as their number grows.
    pub(super) transcript_lost: Arc<AtomicU64>,
    /// When the daemon began.
    pub(super) began_ns: u64,
    /// Whether no new work is taken.
    pub(super) shutting_down: bool,
    /// Whether a session or cores became free, so that a waiting job may start.
    pub(super) freed: bool,
    /// Searches that were taken in since the last time that turns were given out.
    pub(super) admitted: Vec<JobId>,
    /// What is to be done outside.
    pub(super) effects: Effects,
    /// The instant of the timer for turns.
    pub(super) turn_ns: Option<u64>,
    /// The timers.
    pub(crate) timers: Timers,
    last_id: u64,
}

impl State {
    /// A daemon with no connection.
    pub(super) fn new(
        limits: Limits,
        games: &'static [&'static Entry],
        token: Option<String>,
        memory: Memory,
        now_ns: u64,
    ) -> Self {
        Self {
            schedule: Schedule::new(limits.cores),
            waiting: Waiting::default(),
            session_bytes: holdings::shares(&limits, limits.connections),
            intake: Intake::new(&limits, limits.connections),
            unread: Unread::new(&limits, limits.connections),
            memory,
            limits,
            games,
            token,
            serves_others: false,
            serves_tls: false,
            clients: Clients::default(),
            conns: BTreeMap::new(),
            taken_up: HashMap::new(),
            away: VecDeque::new(),
            away_bytes: 0,
            to_expel: BTreeMap::new(),
            jobs: BTreeMap::new(),
            workers: HashMap::new(),
            idle: Vec::new(),
            guesses: Guesses::default(),
            counters: wire::Counters::default(),
            tally: Tally::new(games),
            transcript_lost: Arc::default(),
            began_ns: now_ns,
            shutting_down: false,
            freed: false,
            effects: Effects::default(),
            turn_ns: None,
            timers: Timers::default(),
            admitted: Vec::new(),
            last_id: 0,
        }
    }

    /// A number that was never used before.
    pub(super) fn fresh_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Sets a timer.
    pub(crate) fn set_timer(&mut self, at_ns: u64, timer: Timer) {
        self.effects.rearm |= self.timers.set(at_ns, timer);
    }

    /// Cancels a timer.
    pub(crate) fn clear_timer(&mut self, at_ns: u64, timer: Timer) {
        self.timers.clear(at_ns, timer);
    }

    /// When the next timer is due.
    pub(super) fn next_timer(&self) -> Option<u64> {
        self.timers.first()
    }

    /// Fires the due timers. A timer that is set meanwhile waits for the next tick, however early it is.
    pub(super) fn tick(&mut self, now_ns: u64) {
        for (at, timer) in self.timers.due(now_ns) {
            if !self.timers.clear(at, timer) {
                // An earlier timer cancelled it.
                continue;
            }
            match timer {
                Timer::Job(job) => self.job_is_due(job, now_ns),
                Timer::Worker(worker) => self.abandon(worker),
                Timer::Writer(conn) => self.writer_is_due(conn, now_ns),
                Timer::Lane(conn, task) => self.end_questions(conn, Some(task)),
                Timer::Questions(conn) => self.end_questions(conn, None),
                Timer::Handshake(conn) => {
                    if self.conns.get(&conn).is_some_and(Conn::is_stranger) {
                        self.leave(conn, Refusal::HelloMs, "hello did not come in time", now_ns);
                    }
                }
                // The decision itself is [`State::settle`]'s.
                Timer::Turn => self.turn_ns = None,
                Timer::Late(conn) => self.late_answer_is_due(conn, now_ns),
                Timer::Idle(conn) => self.idle_is_due(conn, now_ns),
                Timer::Kept(conn) => self.kept_is_due(conn, now_ns),
                Timer::Expel => self.expel_some(now_ns),
            }
        }
    }

    /// Starts what can start, and returns what is to be done outside the lock.
    pub(super) fn settle(&mut self, now_ns: u64) -> Effects {
        self.bound_unread(now_ns);
        while self.freed || self.schedule.is_due(now_ns) {
            self.start_waiting(now_ns);
            self.take_turns(now_ns);
        }
        // A search gets its engine with its first turn: a waiting search holds no table.
        for id in std::mem::take(&mut self.admitted) {
            let prepared = self.jobs.get_mut(&id).and_then(|job| job.prepared.as_mut());
            if let Some(loaded) = prepared.and_then(|prepared| prepared.loaded.take()) {
                self.effects.deferred_drops.push(Box::new(loaded));
            }
        }
        self.effects.quiet = self.shutting_down && self.is_quiet();
        std::mem::take(&mut self.effects)
    }

    /// Moves a job's timer to its next deadline.
    pub(super) fn rearm_job(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let next = job.next_timer();
        let old = std::mem::replace(&mut job.timer_ns, next);
        if old != next {
            if let Some(at) = old {
                self.clear_timer(at, Timer::Job(id));
            }
            if let Some(at) = next {
                self.set_timer(at, Timer::Job(id));
            }
        }
    }

    /// Queues a message.
    pub(super) fn send(&mut self, conn: ConnId, item: Item, now_ns: u64) {
        if let Some(found) = self.conns.get_mut(&conn) {
            found.active_ns = now_ns;
            found.outbox.push(item, now_ns);
            self.watch_writer(conn, now_ns);
        }
    }

    /// Queues a message that is small enough to be serialised under the lock.
    pub(super) fn send_message(&mut self, conn: ConnId, message: &wire::Message, now_ns: u64) {
        self.send(conn, Item::body(message.to_body()), now_ns);
    }

    /// Queues a `result`.
    pub(super) fn send_result(&mut self, conn: ConnId, id: &str, body: wire::ResultBody, now_ns: u64) {
        let message = wire::Message::Result(Box::new(wire::ResultMessage { id: id.to_owned(), body }));
        self.send_message(conn, &message, now_ns);
    }

    /// Ends the questions of a connection: all, or those that came before a task and in its lane, if it still
    /// waits.
    fn end_questions(&mut self, id: ConnId, before: Option<TaskId>) {
        let Some(conn) = self.conns.get(&id) else { return };
        let (before, lane) = match before {
            None => (TaskId::MAX, None),
            Some(task) => match conn.tasks.get(&task) {
                Some(pending) => (task, Some(&pending.lane)),
                None => return,
            },
        };
        for (task, pending) in conn.tasks.range(..before) {
            if pending.asks == Asks::Question && lane.is_none_or(|lane| *lane == pending.lane) {
                pending.interrupt.end();
                // What waits for a thread is answered by the next one that is free.
                self.effects.hurried.push((id, *task));
            }
        }
    }

    /// Queues a `notice`, about the request of an id if there is one; none follows the last message.
    pub(super) fn send_notice(
        &mut self,
        conn: ConnId,
        kind: wire::NoticeKind,
        id: Option<String>,
        message: &str,
        now_ns: u64,
    ) {
        if self.conns.get(&conn).is_some_and(|conn| conn.stage == Stage::Flushing) {
            return;
        }
        let notice = wire::Notice { id, ..wire::Notice::new(kind, message) };
        self.send_message(conn, &wire::Message::Notice(notice), now_ns);
    }

    /// Queues a warning about a request.
    pub(super) fn send_warning(&mut self, conn: ConnId, id: &str, message: &str, now_ns: u64) {
        self.send_notice(conn, wire::NoticeKind::Warning, Some(id.to_owned()), message, now_ns);
    }

    /// Queues a warning about each name in a request that is another one today.
    pub(super) fn warn_of_renamed(&mut self, conn: ConnId, id: &str, renamed: &[Renamed], now_ns: u64) {
        for renamed in renamed {
            self.send_warning(conn, id, &renamed.to_string(), now_ns);
        }
    }

    /// The session of a connection.
    pub(super) fn session_mut(&mut self, conn: ConnId, name: &str) -> Option<&mut Session> {
        self.conns.get_mut(&conn)?.sessions.get_mut(name)
    }
}
