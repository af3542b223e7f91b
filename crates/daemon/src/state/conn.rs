//! The life of a connection: opening, the writer's side, draining, closing.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::newcomers::network;
use plyd_protocol::{ConnectionState, OnEof, QuitMode, Reason};
use tracing::Span;

use super::intake::Held;
use super::outbox::{Item, Numbered, Outbox};
use super::refusals::Refusal;
use super::request_error::RequestError;
use super::task::Asks;
use super::timers::Timer;
use super::{Conn, Stage, State};
use crate::ids::{ConnId, JobId, SocketId, TaskId};
use crate::log::targets;
use crate::signal::Signal;
use crate::spans::{self, Origin};

/// The size from which freeing takes milliseconds: a megabyte may be ten thousands of small texts.
const LARGE_DROP: usize = 1 << 20;

/// What a writer finds in its connection's outbox.
pub(crate) enum Taken {
    /// Messages to write.
    Batch(Vec<Numbered>),
    /// Nothing yet.
    Wait,
    /// Nothing more: the connection is over, and all was written.
    Close,
    /// The connection was cut off.
    Gone,
}

impl Conn {
    /// What operators see of it.
    pub(super) fn state(&self) -> ConnectionState {
        match self.stage {
            _ if self.is_away() => ConnectionState::Kept,
            Stage::Open if self.needs_hello => ConnectionState::Stranger,
            Stage::Open => ConnectionState::Open,
            Stage::Draining(_) | Stage::Late(_) | Stage::Flushing => ConnectionState::Closing,
        }
    }

    /// The requests in progress or queued that a `stop` can end besides searches, in the order of their
    /// arrival.
    pub(super) fn questions(&self) -> Vec<(TaskId, String)> {
        // One that is answered, and whose thread has not said so yet, may have left its id to a later one.
        let mut latest: HashMap<&str, TaskId> = HashMap::new();
        for (&task, pending) in &self.tasks {
            let is_listed = matches!(pending.asks, Asks::Question | Asks::Change);
            if is_listed && self.inflight.get(&pending.name) == Some(&None) {
                latest.insert(&pending.name, task);
            }
        }
        let mut questions: Vec<(TaskId, String)> =
            latest.into_iter().map(|(name, task)| (task, name.to_owned())).collect();
        questions.sort_unstable();
        questions
    }

    /// The span of a request: within that of its session, if it names one that is open. What opens a session
    /// anew is no part of the one before.
    pub(super) fn span_of(&self, id: &str, cmd: &str, session: Option<&str>) -> Span {
        match session.filter(|_| cmd != "newgame").and_then(|name| self.sessions.get(name)) {
            Some(open) => spans::request(&open.span, id, cmd),
            None => spans::request_for(&self.span, id, cmd, session),
        }
    }
}

impl State {
    /// The span of a connection.
    pub(crate) fn span(&self, id: ConnId) -> Span {
        self.conns.get(&id).map_or_else(Span::none, |conn| conn.span.clone())
    }

    /// Opens a connection.
    pub(crate) fn open_conn(
        &mut self,
        origin: Origin,
        [writer, reader, room]: [Signal; 3],
        now_ns: u64,
    ) -> ConnId {
        let id = self.fresh_id();
        let remote = origin.is_remote();
        let conn = Conn {
            span: spans::connection(id, origin),
            outbox: Outbox::default(),
            writer,
            reader,
            room,
            link: Some(SocketId(id)),
            promise: None,
            away_bytes: 0,
            unread_bytes: 0,
            lines: 0,
            lines_before: 0,
            held: Held::default(),
            network: origin.peer().map(|peer| network(peer.ip())),
            origin,
            client: None,
            name: None,
            opened_ns: now_ns,
            active_ns: now_ns,
            needs_hello: remote,
            greeted: false,
            idle_ns: 0,
            remote,
            bad_lines: 0,
            on_eof: OnEof::default(),
            defaults: wire::Settings::new(),
            defaults_bytes: 0,
            sessions: HashMap::new(),
            inflight: HashMap::new(),
            finished: VecDeque::new(),
            lanes: HashMap::new(),
            tasks: BTreeMap::new(),
            stage: Stage::Open,
            watched: false,
            reader_writes: false,
        };
        self.conns.insert(id, conn);
        self.counters.connections += 1;
        self.tally.opened(origin);
        if remote {
            self.set_timer(now_ns + self.limits.handshake.as_nanos() as u64, Timer::Handshake(id));
            self.make_place(id, now_ns);
        }
        id
    }

    /// Hands messages to the writer.
    pub(crate) fn take_messages(&mut self, id: ConnId, bytes: usize, now_ns: u64) -> Taken {
        let Some(conn) = self.conns.get_mut(&id) else {
            return Taken::Gone;
        };
        let batch = conn.outbox.take(bytes, now_ns);
        let is_flushing = conn.stage == Stage::Flushing;
        self.count_unread(id);
        if !batch.is_empty() {
            self.tally.taken(&batch, now_ns);
            return Taken::Batch(batch);
        }
        if is_flushing {
            self.drop_conn(id, now_ns, false);
            return Taken::Close;
        }
        Taken::Wait
    }

    /// Notes that a writer made progress; returns false if its connection was cut off.
    pub(crate) fn writer_progress(&mut self, id: ConnId, now_ns: u64) -> bool {
        let Some(conn) = self.conns.get_mut(&id) else { return false };
        conn.outbox.note_progress(now_ns);
        true
    }

    /// Notes that all that was taken is written.
    pub(crate) fn all_written(&mut self, id: ConnId, now_ns: u64) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.outbox.confirm(now_ns);
            self.count_unread(id);
        }
    }

    /// Wakes the writer and watches it; cuts off a reader that is too slow.
    pub(super) fn watch_writer(&mut self, id: ConnId, now_ns: u64) {
        self.count_unread(id);
        let Some(conn) = self.conns.get_mut(&id) else {
            return;
        };
        if !conn.reader_writes {
            self.effects.signals.push(conn.writer.clone());
        }
        if conn.outbox.unsent_small() >= self.limits.unsent_bytes {
            self.note_refusal(id, Refusal::SlowReader);
            self.drop_conn(id, now_ns, true);
            return;
        }
        if conn.is_away() {
            return self.bound_kept(id, now_ns);
        }
        if !conn.watched {
            conn.watched = true;
            self.set_timer(now_ns + self.limits.stalled.as_nanos() as u64, Timer::Writer(id));
        }
    }

    /// Leaves the writer asleep: the reader is about to write what its lines are answered with.
    pub(crate) fn hold_writer(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.reader_writes = true;
        }
    }

    /// Wakes the writer for what the reader left, from now on at every message.
    pub(crate) fn release_writer(&mut self, id: ConnId) {
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.reader_writes = false;
            if conn.outbox.has_waiting() {
                self.effects.signals.push(conn.writer.clone());
            }
        }
    }

    /// Checks whether a writer made progress.
    pub(super) fn writer_is_due(&mut self, id: ConnId, now_ns: u64) {
        let stalled = self.limits.stalled.as_nanos() as u64;
        let Some(conn) = self.conns.get_mut(&id) else {
            return;
        };
        match conn.outbox.waiting_since() {
            None => conn.watched = false,
            Some(_) if conn.is_away() => conn.watched = false,
            Some(since) if since + stalled <= now_ns => {
                conn.watched = false;
                self.note_refusal(id, Refusal::SlowReader);
                self.lose_conn(id, now_ns, true);
            }
            Some(since) => self.set_timer(since + stalled, Timer::Writer(id)),
        }
    }

    /// The input ended.
    pub(crate) fn input_ended(&mut self, id: ConnId, now_ns: u64) {
        let Some(conn) = self.conns.get(&id) else { return };
        if conn.stage == Stage::Open {
            let on_eof = conn.on_eof;
            self.drain(id, None, on_eof, now_ns);
        }
    }

    /// The client wants to leave.
    pub(super) fn quit(&mut self, id: ConnId, name: String, mode: QuitMode, now_ns: u64) {
        let mode = match mode {
            QuitMode::Finish => OnEof::Finish,
            QuitMode::Stop => OnEof::Stop,
        };
        let result = wire::ResultMessage { id: name, body: wire::ResultBody::Quit(wire::QuitResult {}) };
        self.drain(id, Some(wire::Message::Result(Box::new(result)).to_body()), mode, now_ns);
    }

    /// Takes no more requests, ends searches as `mode` says, and closes behind `last` when all is done.
    pub(super) fn drain(&mut self, id: ConnId, last: Option<String>, mode: OnEof, now_ns: u64) {
        let Some(conn) = self.conns.get_mut(&id) else {
            return;
        };
        if conn.is_away() {
            // Nobody would hear the answers.
            return self.drop_conn(id, now_ns, false);
        }
        conn.stage = Stage::Draining(last);
        self.effects.signals.extend([conn.reader.clone(), conn.room.clone()]);
        self.leave_queues(id);
        let end_ns = now_ns + self.limits.eof.as_nanos() as u64;
        if self.conns.get(&id).is_some_and(|conn| !conn.tasks.is_empty()) {
            self.set_timer(end_ns, Timer::Questions(id));
        }
        for job in self.jobs_of(id) {
            match mode {
                OnEof::Cancel => self.cancel(job, now_ns),
                OnEof::Stop => self.stop_job(job, Reason::Stopped, now_ns),
                OnEof::Finish => {
                    let Some(found) = self.jobs.get_mut(&job) else {
                        continue;
                    };
                    if found.is_open_ended() {
                        self.stop_job(job, Reason::Stopped, now_ns);
                    } else {
                        found.end_with_input(end_ns);
                        self.rearm_job(job);
                    }
                }
            }
        }
        self.close_if_done(id, now_ns);
    }

    /// Ends a connection with a fatal error that answers no line; what is in flight is answered first.
    pub(super) fn dismiss(&mut self, id: ConnId, refusal: RequestError, now_ns: u64) {
        self.counters.connections_dropped += 1;
        let message = self.error(None, 0, refusal, None, true);
        self.drain(id, Some(message.to_body()), OnEof::Stop, now_ns);
    }

    /// Closes a draining connection whose requests are all answered.
    pub(super) fn close_if_done(&mut self, id: ConnId, now_ns: u64) {
        let Some(conn) = self.conns.get_mut(&id) else {
            return;
        };
        if !conn.inflight.is_empty() {
            return;
        }
        if let Stage::Draining(last) = &mut conn.stage {
            if let Some(body) = last.take() {
                self.send(id, Item::body(body), now_ns);
            }
            self.end_conn(id, now_ns);
        }
    }

    /// Ends a connection once its outbox is empty; its searches are cancelled without a word.
    pub(crate) fn end_conn(&mut self, id: ConnId, now_ns: u64) {
        for job in self.jobs_of(id) {
            self.discard(job, now_ns);
        }
        self.end_tasks(id);
        if let Some(conn) = self.conns.get_mut(&id) {
            conn.stage = Stage::Flushing;
            self.effects.signals.extend([conn.writer.clone(), conn.room.clone()]);
        }
        self.leave_queues(id);
        self.bound_flushing(id, now_ns);
    }

    /// Ends all tasks of a connection. The next thread gives up those that wait for one, and with them what
    /// they hold.
    fn end_tasks(&mut self, id: ConnId) {
        let Some(conn) = self.conns.get(&id) else { return };
        for (task, pending) in &conn.tasks {
            pending.interrupt.end();
            self.effects.hurried.push((id, *task));
        }
    }

    /// Cuts a connection off: the peer is gone and not waited for, too slow, or all was written.
    pub(crate) fn drop_conn(&mut self, id: ConnId, now_ns: u64, count: bool) {
        for job in self.jobs_of(id) {
            self.discard(job, now_ns);
        }
        let held_bytes = self.conns.get(&id).map_or(0, |conn| conn.held.total());
        self.release_all(id);
        let held = self.held_by_sessions(id);
        self.count_own_sessions(id, held, 0);
        self.end_tasks(id);
        let Some(conn) = self.conns.remove(&id) else {
            return;
        };
        self.timers.forget(id);
        self.forget_unread(conn.unread_bytes);
        match conn.link {
            Some(link) => {
                self.taken_up.remove(&link);
            }
            None => self.away.retain(|away| *away != id),
        }
        self.away_bytes -= conn.away_bytes;
        self.count_sessions(id, held);
        self.counters.connections_dropped += u64::from(count);
        for worker in conn.sessions.values().filter_map(|session| session.worker) {
            self.release_worker(worker);
        }
        self.effects.signals.extend([&conn.writer, &conn.reader, &conn.room].map(Clone::clone));
        tracing::debug!(target: targets::CONN, parent: &conn.span, "connection closed");
        if held_bytes.max(conn.outbox.unsent() + conn.outbox.kept()) > LARGE_DROP {
            self.effects.large_drops.push(Box::new(conn));
        } else {
            self.effects.deferred_drops.push(Box::new(conn));
        }
    }

    /// Announces the daemon's end to every client and takes no new work. What is in flight goes on, and may
    /// do so for `drain`.
    pub(crate) fn announce_end(&mut self, drain: Duration, now_ns: u64) {
        self.shutting_down = true;
        let message = match drain.as_millis() {
            0 => "the server shuts down".to_owned(),
            ms => format!("the server shuts down: searches in flight may go on for {ms} ms, no others begin"),
        };
        self.drop_kept(now_ns);
        let conns: Vec<ConnId> = self.conns.keys().copied().collect();
        for id in conns {
            self.send_notice(id, wire::NoticeKind::GoingAway, None, &message, now_ns);
            self.late_answer_is_due(id, now_ns);
        }
    }

    /// Lets every search answer; questions may take a moment longer.
    pub(crate) fn end_searches(&mut self, now_ns: u64) {
        let busy = self.conns.iter().filter(|(_, conn)| !conn.tasks.is_empty());
        let busy: Vec<ConnId> = busy.map(|(id, _)| *id).collect();
        let grace = self.limits.preparation.as_nanos() as u64;
        for id in busy {
            self.set_timer(now_ns + grace, Timer::Questions(id));
        }
        let jobs: Vec<JobId> = self.jobs.keys().copied().collect();
        for job in jobs {
            self.stop_job(job, Reason::Shutdown, now_ns);
        }
    }

    /// Cuts every connection off and ends every thread.
    pub(crate) fn close_all(&mut self, now_ns: u64) {
        let conns: Vec<ConnId> = self.conns.keys().copied().collect();
        for id in conns {
            self.drop_conn(id, now_ns, false);
        }
        self.idle.clear();
        self.workers.clear();
    }

    /// Whether a shutdown has nothing more to wait for.
    pub(super) fn is_quiet(&self) -> bool {
        self.jobs.is_empty()
            && self.conns.values().all(|conn| conn.outbox.is_drained() && conn.inflight.is_empty())
    }

    /// Queues the final message of a request that is no `go`, and forgets the request.
    pub(super) fn answer(&mut self, id: ConnId, name: &str, item: Item, now_ns: u64) {
        self.release(id, name);
        self.send(id, item, now_ns);
        self.close_if_done(id, now_ns);
    }

    /// The jobs of a connection in the order of their arrival.
    pub(super) fn jobs_of(&self, id: ConnId) -> Vec<JobId> {
        let inflight = self.conns.get(&id).into_iter().flat_map(|conn| conn.inflight.values());
        let mut jobs: Vec<JobId> = inflight.copied().flatten().collect();
        jobs.sort_unstable();
        jobs
    }
}
