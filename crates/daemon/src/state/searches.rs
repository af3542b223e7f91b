//! The life of searches that were admitted: how they start, whose turn it is, and how each ends in exactly
//! one final message.
//!
//! Part of the daemon's state, under its lock: whatever ends a search (its own return, a stop, a deadline, a
//! newer search, the end of the connection) takes the job out of the state and queues the final message in
//! one step. Whoever comes second finds no job.

use std::sync::Arc;
use std::time::Duration;

use plyd_protocol as wire;
use plyd_protocol::{ErrorCode, InfoEvent, Mode, Reason};
use tracing::Span;

use super::State;
use super::admission::claim;
use super::job::{Job, Phase};
use super::outbox::Item;
use super::request_error::RequestError;
use super::schedule::{Changes, Class};
use super::task::Asks;
use super::timers::Timer;
use crate::ids::{ConnId, JobId, TaskId};
use crate::log::targets;
use plyd_core::search::End;

/// A search that was answered, and whose line of log is wanted. The line is made when it is dropped: that
/// takes about as long as the answer itself.
pub(crate) struct Answered {
    span: Span,
    reason: Reason,
    nodes: u64,
}

impl Drop for Answered {
    fn drop(&mut self) {
        tracing::debug!(
            target: targets::SEARCHES, parent: &self.span, reason = ?self.reason, nodes = self.nodes,
            "search"
        );
    }
}

impl State {
    /// A session has no search any more: looks at the searches that wait for it.
    pub(super) fn free_session(&mut self, conn: ConnId, name: &str) {
        if let Some(session) = self.session_mut(conn, name) {
            session.current = None;
        }
        self.waiting.session_is_free(conn, name);
        self.freed = true;
    }

    /// Starts a job: ends what it supersedes, and lines it up for its first turn.
    pub(super) fn start(&mut self, id: JobId, threads: usize, now_ns: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.phase == Phase::Waiting {
            // The clock of a job that waited begins now.
            job.run_clock_from(now_ns);
            self.waiting.leave(id);
        }
        job.phase = Phase::Starting;
        let (conn, mode, name, session) = (job.conn, job.mode, job.name.clone(), job.session.clone());
        let superseded = session.as_deref().and_then(|session| self.session_mut(conn, session)?.current);
        if let Some(superseded) = superseded {
            self.supersede(superseded, conn, &name, now_ns);
        }
        let Some(job) = self.jobs.get(&id) else { return };
        if job.is_only_move() {
            return self.finish(id, Reason::OnlyMove, now_ns);
        }
        if job.watchdog_is_due(now_ns) || job.ending == Some(Reason::Deadline) {
            return self.finish(id, Reason::Deadline, now_ns);
        }
        if mode == Mode::Move {
            self.make_room(threads, conn, &name, now_ns);
        }
        let first_move = self.limits.first_move.as_nanos() as u64;
        let worker = session.as_deref().and_then(|name| self.session_mut(conn, name)?.worker);
        let is_busy = worker.and_then(|id| self.workers.get(&id)).is_some_and(|worker| worker.busy.is_some());
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.ending.is_some() || job.has_flagged(now_ns) {
            // No time is left to search, except on a core that no other search wants.
            let reason = *job.ending.get_or_insert(Reason::Clock);
            if is_busy || !self.schedule.has_idle(threads) {
                return self.finish(id, reason, now_ns);
            }
            job.control.stop();
            job.await_first_move(now_ns + first_move);
        }
        let is_endless = job.class() == Class::Endless;
        self.schedule.enter(id, claim(job, threads), now_ns);
        if let Some(session) = session.as_deref().and_then(|name| self.session_mut(conn, name)) {
            session.current = Some(id);
        }
        if !is_busy {
            self.schedule.ready(id);
            if is_endless {
                self.take_turns(now_ns);
                self.announce(id, now_ns);
            }
        }
        self.rearm_job(id);
    }

    /// Reports a search that must wait for its first turn as started, with a legal move.
    fn announce(&mut self, id: JobId, now_ns: u64) {
        if self.jobs.get(&id).is_some_and(|job| job.phase == Phase::Starting && job.started_ns.is_none())
            && self.search_began(id, now_ns)
            && let Some(best) = self.jobs.get(&id).and_then(|job| job.best.clone())
        {
            self.publish(id, best, now_ns);
        }
    }

    /// Resumes the searches whose turn it is, and pauses the others.
    pub(super) fn take_turns(&mut self, now_ns: u64) {
        while self.schedule.is_due(now_ns) {
            let progress = |id| self.jobs.get(&id).map(Job::progress).unwrap_or_default();
            let Changes { begun, resumed, paused } = self.schedule.decide(now_ns, progress);
            for job in paused.iter().filter_map(|id| self.jobs.get(id)) {
                job.control.gate().close();
            }
            for job in resumed.iter().filter_map(|id| self.jobs.get(id)) {
                job.control.gate().open();
                self.effects.wakes.push(Arc::clone(&job.control));
            }
            for id in begun {
                self.launch(id, now_ns);
            }
            // A search that waits for cores may find them now.
            self.freed = true;
        }
        let next = self.schedule.next_ns();
        let old = std::mem::replace(&mut self.turn_ns, next);
        if old != next {
            if let Some(at) = old {
                self.clear_timer(at, Timer::Turn);
            }
            if let Some(at) = next {
                self.set_timer(at, Timer::Turn);
            }
        }
    }

    /// Gives a search its first turn: a thread takes it.
    fn launch(&mut self, id: JobId, now_ns: u64) {
        let Some(job) = self.jobs.get(&id) else { return };
        let (conn, session) = (job.conn, job.session.clone());
        let worker = match session {
            None => self.acquire_worker(None),
            Some(name) => {
                let kept = self.session_mut(conn, &name).and_then(|session| session.worker);
                let kept = kept.filter(|worker| self.workers.contains_key(worker));
                let worker = kept.unwrap_or_else(|| self.acquire_worker(Some((conn, name.clone()))));
                if let Some(session) = self.session_mut(conn, &name) {
                    session.worker = Some(worker);
                }
                worker
            }
        };
        self.give(worker, id, now_ns);
    }

    /// Ends analyses and ponders until `threads` cores are free, as far as there are any to end.
    fn make_room(&mut self, threads: usize, conn: ConnId, name: &str, now_ns: u64) {
        while !self.schedule.fits(threads, 0) {
            // Those of the same connection yield first, then the most recent ones.
            let yielding =
                self.jobs.iter().filter(|(id, job)| job.mode != Mode::Move && self.schedule.holds(**id));
            let Some((_, id)) = yielding.map(|(id, job)| (job.conn == conn, *id)).max() else { return };
            self.supersede(id, conn, name, now_ns);
        }
    }

    fn supersede(&mut self, id: JobId, conn: ConnId, by: &str, now_ns: u64) {
        let own = self.jobs.get(&id).is_some_and(|job| job.conn == conn);
        self.end(id, Reason::Superseded, own.then(|| by.to_owned()), None, now_ns);
    }

    /// A thread begins to search; false if there is nothing to search any more.
    pub(crate) fn search_began(&mut self, id: JobId, now_ns: u64) -> bool {
        let reminder = self.limits.progress;
        let Some(job) = self.jobs.get_mut(&id) else {
            return false;
        };
        if job.started_ns.is_some() {
            return true;
        }
        job.began(now_ns, reminder);
        if job.news.wants(InfoEvent::Started) {
            self.send_info(id, InfoEvent::Started, now_ns);
        }
        true
    }

    /// A search found something better, or the same at a greater depth; returns whether its client gets news.
    pub(crate) fn publish(&mut self, id: JobId, lines: Arc<Vec<wire::Line>>, now_ns: u64) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        if lines.is_empty() {
            return false;
        }
        let changed = !job.published || job.best.as_ref().is_none_or(|best| *best != lines);
        let whole = job.control.stats().depth;
        let depth = lines[0].depth.max(whole);
        let first = !job.published;
        job.best = Some(lines);
        job.published = true;
        let news = job.news.of(changed, depth);
        for &event in &news {
            self.send_info(id, event, now_ns);
        }
        if whole > 0 {
            self.schedule.advanced(id);
        }
        let Some(job) = self.jobs.get(&id) else { return true };
        if let Some(reason) = job.ending {
            self.finish(id, reason, now_ns);
            return true;
        }
        if first {
            self.rearm_job(id);
        }
        !news.is_empty()
    }

    /// Queues news of a job, unless the client wants them later.
    fn send_info(&mut self, id: JobId, event: InfoEvent, now_ns: u64) {
        let reminder = self.limits.progress;
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let Some(skipped) = job.news.pass(event, now_ns, reminder) else {
            return self.rearm_job(id);
        };
        let lines = match event {
            InfoEvent::Started => Arc::default(),
            InfoEvent::Best | InfoEvent::Progress => job.best.clone().unwrap_or_default(),
        };
        let info = wire::Info {
            id: job.name.clone(),
            event,
            mv: lines.first().map(|line| line.mv.clone()),
            lines: Vec::new(),
            stats: job.stats(now_ns),
            skipped,
        };
        let conn = job.conn;
        if let Some(found) = self.conns.get_mut(&conn) {
            let replaced = found.outbox.push_info(id, info, lines, now_ns);
            self.counters.info_skipped += replaced + skipped;
            self.watch_writer(conn, now_ns);
        }
        if event == InfoEvent::Progress {
            self.rearm_job(id);
        }
    }

    /// A search ended by itself while its job was still open.
    pub(super) fn search_ended(&mut self, id: JobId, lines: Vec<wire::Line>, end: End, now_ns: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let changed = !lines.is_empty() && job.best.as_ref().is_none_or(|best| **best != lines);
        if changed {
            job.best = Some(Arc::new(lines));
        }
        if let Some(reason) = job.reason_of(end) {
            // The final message has the last lines, so an event with them would be redundant.
            return self.finish(id, reason, now_ns);
        }
        job.phase = Phase::Open(end);
        self.schedule.leave(id, now_ns);
        self.freed = true;
        let news = self.jobs.get_mut(&id).map(|job| job.news.of(changed, 0)).unwrap_or_default();
        for event in news {
            self.send_info(id, event, now_ns);
        }
        self.rearm_job(id);
    }

    /// Ends a job with the best move so far.
    pub(super) fn finish(&mut self, id: JobId, reason: Reason, now_ns: u64) {
        self.end(id, reason, None, None, now_ns);
    }

    /// Ends a job with the best move so far and the details of its end.
    pub(super) fn end(
        &mut self,
        id: JobId,
        reason: Reason,
        superseded_by: Option<String>,
        incident: Option<String>,
        now_ns: u64,
    ) {
        if self.jobs.get(&id).is_some_and(|job| job.best.is_none()) {
            let span = self.jobs.get(&id).map_or_else(Span::none, |job| job.span.clone());
            tracing::error!(
                target: targets::SEARCHES, parent: &span, ?reason,
                "a search ended before its position was read"
            );
            return self.fail(
                id,
                RequestError::new(ErrorCode::Internal, "the search ended without a move"),
                now_ns,
            );
        }
        let Some(mut job) = self.take_job(id, now_ns) else {
            return;
        };
        // An announced ending holds, whatever else came while a move was awaited.
        let (reason, superseded_by) = match job.announced_ending() {
            Some(announced) if reason != Reason::Failed => (announced, None),
            _ => (reason, superseded_by),
        };
        if let Some(warning) = job.unsearched(reason, now_ns) {
            self.tally.unsearched();
            self.send_warning(job.conn, &job.name, warning, now_ns);
        }
        let lines = job.best.take().unwrap_or_default();
        self.counters.failed += u64::from(reason == Reason::Failed);
        let first = lines.first();
        let ponder = first.and_then(|line| line.pv.get(1)).filter(|ply| !ply.starts_with('~')).cloned();
        let bestmove = wire::BestMove {
            id: job.name.clone(),
            reason,
            mv: first.map(|line| line.mv.clone()).unwrap_or_default(),
            ponder,
            hash: wire::Hash(job.hash),
            lines: Vec::new(),
            stats: job.stats(now_ns),
            timing: job.timing(now_ns),
            superseded_by,
            incident,
        };
        let nodes = bestmove.stats.nodes;
        if tracing::enabled!(target: targets::SEARCHES, tracing::Level::DEBUG) {
            self.effects.answered.push(Answered { span: job.span.clone(), reason, nodes });
        }
        let took_ns = job.started_ns.map(|started_ns| now_ns.saturating_sub(started_ns));
        self.tally.answered(job.game, reason, took_ns);
        let item = Item::BestMove(Box::new(bestmove), lines, job.due_ns());
        self.answer(job.conn, &job.name, item, now_ns);
        self.effects.deferred_drops.push(Box::new(job));
    }

    /// Ends a job with an error.
    pub(super) fn fail(&mut self, id: JobId, refusal: RequestError, now_ns: u64) {
        let Some(job) = self.take_job(id, now_ns) else {
            return;
        };
        self.release(job.conn, &job.name);
        let span = job.span.clone();
        let _within = span.enter();
        self.send_error(job.conn, Some(&job.name), job.line, refusal, now_ns);
        self.close_if_done(job.conn, now_ns);
        self.effects.deferred_drops.push(Box::new(job));
    }

    /// Ends a job with `cancelled`, as its client asked.
    pub(super) fn cancel(&mut self, id: JobId, now_ns: u64) {
        if self.jobs.contains_key(&id) {
            self.counters.cancelled += 1;
            self.fail(id, RequestError::new(ErrorCode::Cancelled, "the search was cancelled"), now_ns);
        }
    }

    /// Ends a job without a word: nobody is there to hear it.
    pub(super) fn discard(&mut self, id: JobId, now_ns: u64) {
        if let Some(job) = self.take_job(id, now_ns) {
            self.counters.cancelled += 1;
            self.release(job.conn, &job.name);
            self.effects.deferred_drops.push(Box::new(job));
        }
    }

    /// Takes a job out of the state: from here on it is over. Its thread is called back.
    fn take_job(&mut self, id: JobId, now_ns: u64) -> Option<Job> {
        if self.jobs.get(&id)?.phase == Phase::Preparing {
            // A task that waits for a thread is given up by the next one that is free: its lane goes on.
            self.effects.hurried.extend(self.task_of(id));
        }
        let job = self.jobs.remove(&id)?;
        job.control.stop();
        job.interrupt.end();
        if let Some(at) = job.timer_ns {
            self.clear_timer(at, Timer::Job(id));
        }
        self.schedule.leave(id, now_ns);
        self.waiting.leave(id);
        let nodes = job.control.stats().nodes;
        self.counters.nodes += nodes;
        self.tally.searched(job.game, nodes);
        self.freed = true;
        if let Some(name) = &job.session
            && self.session_mut(job.conn, name).is_some_and(|session| session.current == Some(id))
        {
            self.free_session(job.conn, name);
        }
        if let Phase::Searching(worker_id) = job.phase
            && let Some(worker) = self.workers.get_mut(&worker_id)
            && worker.busy == Some(id)
        {
            let at = now_ns + self.limits.abandon.as_nanos() as u64;
            worker.abandon_ns = Some(at);
            self.set_timer(at, Timer::Worker(worker_id));
        }
        if let Some(conn) = self.conns.get_mut(&job.conn) {
            conn.finished.push_back(job.name.clone());
            if conn.finished.len() > wire::FINISHED_IDS {
                conn.finished.pop_front();
            }
        }
        Some(job)
    }

    /// Ends a job as soon as it has a move: at once if it has one that its search published, or if no search
    /// of it runs; otherwise with the first one that is published.
    pub(super) fn stop_job(&mut self, id: JobId, reason: Reason, now_ns: u64) {
        let first_move = self.limits.first_move.as_nanos() as u64;
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match job.phase {
            Phase::Preparing => {
                job.end_for(reason);
                self.hurry_job(id, self.limits.preparation, now_ns);
            }
            Phase::Searching(_) if !job.published => {
                job.end_for(reason);
                job.control.stop();
                job.await_first_move(now_ns + first_move);
                self.rearm_job(id);
            }
            Phase::Searching(_) | Phase::Waiting | Phase::Starting | Phase::Open(_) => {
                self.finish(id, reason, now_ns);
            }
        }
    }

    /// Asks for a job's position to be read at once, because the job is to end or has waited for long; after
    /// `grace` the reading is given up.
    fn hurry_job(&mut self, id: JobId, grace: Duration, now_ns: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.hurry(now_ns + grace.as_nanos() as u64);
        self.effects.hurried.extend(self.task_of(id));
        self.rearm_job(id);
    }

    /// Has the task that prepares a job, and the search that is first in its lane, change to the threads that
    /// suit them by now.
    pub(super) fn speed_up(&mut self, id: JobId) {
        let Some((conn, task)) = self.task_of(id) else { return };
        let tasks = &self.conns[&conn].tasks;
        let lane = &tasks[&task].lane;
        let first = tasks.iter().find(|(_, pending)| pending.lane == *lane);
        let first = first.filter(|(first, pending)| **first != task && pending.asks == Asks::Search);
        self.effects.hurried.extend(first.map(|(first, _)| (conn, *first)));
        self.effects.hurried.push((conn, task));
    }

    /// The task that prepares a job.
    pub(super) fn task_of(&self, id: JobId) -> Option<(ConnId, TaskId)> {
        let job = self.jobs.get(&id)?;
        let mut tasks = self.conns.get(&job.conn)?.tasks.iter().rev();
        let (task, _) = tasks.find(|(_, pending)| pending.name == job.name)?;
        Some((job.conn, *task))
    }

    /// Does what a job's timer was set for.
    pub(super) fn job_is_due(&mut self, id: JobId, now_ns: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.timer_ns = None;
        for event in job.overdue_news(now_ns) {
            self.send_info(id, event, now_ns);
        }
        let Some(job) = self.jobs.get_mut(&id) else { return };
        match job.due(now_ns) {
            None => self.rearm_job(id),
            Some(_) if job.is_unprepared(now_ns) => self.fail(id, RequestError::unprepared(), now_ns),
            // Nothing else is due before the timer fires again.
            Some(_) if job.is_read_too_long(now_ns) => self.hurry_job(id, self.limits.reading, now_ns),
            Some(reason) if job.best.is_none() => {
                // Still being prepared: it ends as soon as a legal move is known.
                job.end_for(reason);
                self.hurry_job(id, self.limits.preparation, now_ns);
            }
            Some(reason) => {
                self.tally.watchdog_answered();
                self.finish(id, reason, now_ns);
            }
        }
    }
}
