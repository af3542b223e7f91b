//! The admission of searches: which may start now, which wait, which are refused, and which make room.
//!
//! Part of the daemon's state, under its lock.

use std::sync::Arc;

use plyd_protocol::{ErrorCode, Mode, Reason};

use super::State;
use super::holdings::Named;
use super::intake::no_room;
use super::job::{Job, Phase, Prepared};
use super::request_error::RequestError;
use super::schedule::{Admission, Claim, Class, Plan};
use super::waiting::Kind;
use crate::ids::JobId;

/// When a client whose analysis found no core may try again.
const OVERLOADED_RETRY_MS: u64 = 1000;

impl State {
    /// Takes a job whose request proved valid: it starts, waits, or is refused.
    pub(super) fn admit(&mut self, id: JobId, prepared: Box<Prepared>, now_ns: u64) {
        let Some(job) = self.jobs.get_mut(&id) else {
            return self.effects.deferred_drops.push(prepared);
        };
        let threads = prepared.key.options.threads;
        job.game = self.games.iter().position(|entry| entry.name == prepared.game);
        job.hash = prepared.hash;
        job.forced = prepared.candidates.forced;
        job.best = Some(Arc::new(vec![prepared.fallback.clone()]));
        if job.queue {
            // Its clock begins with the search, which is now unless it has to wait.
            job.run_clock_from(now_ns);
        }
        let (conn, queue) = (job.conn, job.queue);
        let (session, name) = (job.session.clone(), job.name.clone());
        if !self.holds_search(conn, &name, prepared.heap_bytes()) {
            self.effects.deferred_drops.push(prepared);
            return self.fail(id, no_room(), now_ns);
        }
        for warning in &prepared.warnings {
            self.send_warning(conn, &name, warning, now_ns);
        }
        if prepared.is_lasting {
            let (start, root) = (prepared.start.clone(), Arc::clone(&prepared.root));
            let named = Named { start, root, bytes: prepared.position_bytes };
            self.remember(conn, session.as_deref(), named);
        }
        if let Some(job) = self.jobs.get_mut(&id) {
            job.prepared = Some(prepared);
            self.admitted.push(id);
        }
        match self.obstacle(id, threads).or_else(|| self.shortage(id, threads, now_ns)) {
            None => self.start(id, threads, now_ns),
            Some(_) if queue => {
                self.enqueue(id);
                match self.jobs.get(&id).and_then(|job| job.ending) {
                    Some(reason) => self.finish(id, reason, now_ns),
                    None => self.rearm_job(id),
                }
            }
            Some(refusal) => self.fail(id, refusal, now_ns),
        }
    }

    /// Why a prepared job cannot start now.
    fn obstacle(&self, id: JobId, threads: usize) -> Option<RequestError> {
        let job = self.jobs.get(&id)?;
        if self.is_session_busy(job) {
            return Some(
                RequestError::new(ErrorCode::SessionBusy, "the session searches a move").at("/session"),
            );
        }
        if !job.is_only_move()
            && job.ending.is_none()
            && let Err(refusal) = self.has_own_search(job, threads, self.current_id(job))
        {
            return Some(refusal);
        }
        let freed = self.current_id(job).map_or(0, |current| self.schedule.threads_of(current));
        if job.mode != Mode::Move && !self.schedule.fits(threads, freed) {
            return Some(
                RequestError::new(ErrorCode::Overloaded, "no core is free").retry(OVERLOADED_RETRY_MS),
            );
        }
        None
    }

    fn current_id(&self, job: &Job) -> Option<JobId> {
        self.conns.get(&job.conn)?.sessions.get(job.session.as_ref()?)?.current
    }

    fn is_session_busy(&self, job: &Job) -> bool {
        let current = self.current_id(job).and_then(|current| self.jobs.get(&current));
        current.is_some_and(|current| current.mode == Mode::Move)
    }

    /// Why the daemon cannot admit a search beside the admitted ones. Searches of connections that have more
    /// make room for it: those that have not begun for its minimum, if need be one that has for its slot.
    fn shortage(&mut self, id: JobId, threads: usize, now_ns: u64) -> Option<RequestError> {
        let mut displaced = Vec::new();
        match self.admission(id, threads, now_ns) {
            Admission::Fits => {}
            Admission::Displaces(others) => displaced = others,
            Admission::Refused => return Some(self.overloaded(now_ns)),
        }
        match self.places(id) {
            Admission::Fits => {}
            // A search that leaves to free cores frees a slot as well.
            Admission::Displaces(others) if displaced.is_empty() => displaced = others,
            Admission::Displaces(_) => {}
            Admission::Refused if displaced.is_empty() => {
                let message = "all slots for searches are taken";
                return Some(RequestError::new(ErrorCode::Overloaded, message).retry(OVERLOADED_RETRY_MS));
            }
            Admission::Refused => {}
        }
        if !displaced.is_empty() {
            let refusal = self.overloaded(now_ns);
            for id in displaced {
                self.displace(id, &refusal, now_ns);
            }
        }
        None
    }

    /// Whether there is a place for the engine of a search.
    fn places(&self, id: JobId) -> Admission {
        match self.jobs.get(&id) {
            Some(job) if self.needs_place(job) => self.schedule.room(job.conn, self.limits.engines),
            _ => Admission::Fits,
        }
    }

    fn needs_place(&self, job: &Job) -> bool {
        let supersedes = self.current_id(job).is_some_and(|current| self.schedule.holds(current));
        !supersedes && !job.is_only_move() && job.ending.is_none()
    }

    fn admission(&self, id: JobId, threads: usize, now_ns: u64) -> Admission {
        match self.jobs.get(&id) {
            Some(job) if needs_minimum(job) => self.schedule.admission(&claim(job, threads), now_ns),
            _ => Admission::Fits,
        }
    }

    /// Makes a search wait, or changes what it waits for.
    pub(super) fn enqueue(&mut self, id: JobId) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.enqueue();
        let kind = match job.mode {
            Mode::Move if needs_minimum(job) => Kind::Minimum,
            Mode::Move => Kind::Session,
            Mode::Analyse | Mode::Ponder => Kind::Core,
        };
        self.waiting.enter(id, job.conn, kind);
        // An update changes what it waits for, and may let it start; nothing else may happen for long.
        self.freed = true;
    }

    /// Displaces a search: it ends if it has sent a move; otherwise it waits, if it may, or is refused.
    fn displace(&mut self, id: JobId, refusal: &RequestError, now_ns: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if job.started_ns.is_some() || matches!(job.phase, Phase::Searching(_)) {
            return self.finish(id, Reason::Superseded, now_ns);
        }
        if !job.queue {
            return self.fail(id, refusal.clone(), now_ns);
        }
        let (conn, session) = (job.conn, job.session.clone());
        self.enqueue(id);
        self.schedule.leave(id, now_ns);
        if let Some(session) = session {
            self.free_session(conn, &session);
        }
        self.freed = true;
        self.rearm_job(id);
    }

    fn overloaded(&self, now_ns: u64) -> RequestError {
        let retry_ms = self.schedule.backlog_ns(now_ns).div_ceil(1_000_000).max(1);
        let message = "the cores are taken by searches for moves that must answer soon";
        RequestError::new(ErrorCode::Overloaded, message).retry(retry_ms)
    }

    /// Starts the searches that wait for a session, for cores or for a slot and can start now. Those of one
    /// connection that wait for the same thing start in the order of their arrival.
    pub(super) fn start_waiting(&mut self, now_ns: u64) {
        while std::mem::take(&mut self.freed) {
            let mut is_short = false;
            // The debts stay the same until one more search is admitted.
            let mut plan = None;
            let mut heads = self.waiting.heads();
            while let Some((id, kind, conn)) = heads.pop_first() {
                if self.leaves_line(id, &mut plan, now_ns) {
                    heads.extend(self.waiting.head(kind, conn).map(|next| (next, kind, conn)));
                } else {
                    is_short |= kind == Kind::Minimum;
                }
            }
            self.schedule.await_minimums(is_short);
        }
    }

    /// Starts a search that waits, or sets it aside for its session; false if it stays, and with it those
    /// behind it.
    fn leaves_line(&mut self, id: JobId, plan: &mut Option<Plan>, now_ns: u64) -> bool {
        let Some(job) = self.jobs.get_mut(&id) else { return false };
        let Some(threads) = job.prepared.as_ref().map(|prepared| prepared.key.options.threads) else {
            return false;
        };
        // Its clock would begin now.
        job.run_clock_from(now_ns);
        let Some(job) = self.jobs.get(&id) else { return false };
        if let Some(session) = &job.session
            && self.is_session_busy(job)
        {
            self.waiting.set_aside(id, session);
            return true;
        }
        let has_place = !self.needs_place(job) || self.schedule.has_place(self.limits.engines);
        if !has_place || self.obstacle(id, threads).is_some() {
            return false;
        }
        if needs_minimum(job) {
            let plan = plan.get_or_insert_with(|| self.schedule.plan(now_ns));
            if !plan.fits(&claim(job, threads)) {
                return false;
            }
        }
        *plan = None;
        self.start(id, threads, now_ns);
        true
    }
}

/// Whether a search is admitted only if it can have its minimum.
pub(super) fn needs_minimum(job: &Job) -> bool {
    let has_deadline = job.class() == Class::Move && job.deadline().is_some();
    has_deadline && !job.is_only_move() && job.ending.is_none()
}

/// What a search asks of the cores.
pub(super) fn claim(job: &Job, threads: usize) -> Claim {
    let Job { conn, client, .. } = *job;
    Claim { conn, client, threads, class: job.class(), deadline_ns: job.deadline() }
}
