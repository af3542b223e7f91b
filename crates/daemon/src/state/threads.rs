//! The search threads: spawned when they are needed, kept by their session, replaced when they do not come
//! back.
//!
//! Part of the daemon's state, under its lock; what the threads do is in `runtime::worker`.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use plyd_protocol::Reason;

use super::State;
use super::job::{Phase, Prepared};
use super::order::{Order, Return, Run};
use super::timers::Timer;
use crate::ids::{ConnId, JobId, WorkerId};
use crate::log::targets;

/// A search thread.
pub(crate) struct Worker {
    /// The channel of its commands; dropping it ends the thread.
    pub(super) orders: Sender<Order>,
    /// The job that it has, over or not.
    pub(crate) busy: Option<JobId>,
    /// The session whose engine it keeps.
    pub(super) owner: Option<(ConnId, String)>,
    /// When it is abandoned, if its job is over and it has not come back.
    pub(super) abandon_ns: Option<u64>,
    /// When its last search came back.
    pub(super) rested_ns: u64,
}

impl State {
    /// Gives a search thread that is idle, or a new one; if no slot is left, it takes the place of the engine
    /// that a session has kept unused the longest.
    pub(super) fn acquire_worker(&mut self, owner: Option<(ConnId, String)>) -> WorkerId {
        if self.idle.is_empty() && self.workers.len() >= self.limits.engines {
            self.forget_engines(1);
        }
        if let Some(id) = self.idle.pop()
            && let Some(worker) = self.workers.get_mut(&id)
        {
            worker.owner = owner;
            return id;
        }
        let id = self.fresh_id();
        let (orders, receiver) = channel();
        self.workers.insert(id, Worker { orders, busy: None, owner, abandon_ns: None, rested_ns: 0 });
        self.effects.spawns.push((id, receiver));
        id
    }

    /// Takes engines from sessions that keep them without a search until there are no more than slots.
    pub(super) fn trim_engines(&mut self) {
        let taken = self.workers.len() - self.idle.len();
        self.forget_engines(taken.saturating_sub(self.limits.engines));
    }

    /// Takes `count` engines from sessions that keep one without a search: first from those that have done so
    /// for the longest time, and last from those whose search waits for its turn.
    fn forget_engines(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        let resting = self.workers.iter().filter(|(_, worker)| worker.busy.is_none());
        let ranked = resting.filter_map(|(id, worker)| {
            let (conn, name) = worker.owner.as_ref()?;
            Some((self.starting(*conn, name).is_some(), worker.rested_ns, *id))
        });
        let mut ranked: Vec<(bool, u64, WorkerId)> = ranked.collect();
        ranked.sort_unstable();
        for (_, _, id) in ranked.into_iter().take(count) {
            self.forget_engine(id);
        }
    }

    fn forget_engine(&mut self, id: WorkerId) {
        let owner = self.workers.get(&id).and_then(|worker| worker.owner.clone());
        let session = owner.and_then(|(conn, name)| self.session_mut(conn, &name));
        if let Some(session) = session.filter(|session| session.worker == Some(id)) {
            session.worker = None;
            session.view.engine = None;
        }
        self.release_worker(id);
    }

    /// The search of a session that waits for its first turn.
    fn starting(&self, conn: ConnId, name: &str) -> Option<JobId> {
        let id = self.conns.get(&conn)?.sessions.get(name)?.current?;
        (self.jobs.get(&id)?.phase == Phase::Starting).then_some(id)
    }

    /// Takes a thread that has no work from its session: it forgets its engine and is kept for others, or
    /// ends.
    pub(super) fn release_worker(&mut self, id: WorkerId) {
        let Some(worker) = self.workers.get_mut(&id) else {
            return;
        };
        worker.owner = None;
        if worker.busy.is_some() {
            return;
        }
        // A thread that ended because it failed is not kept.
        let alive = worker.orders.send(Order::Forget).is_ok();
        if alive && self.idle.len() < self.limits.idle_workers {
            self.idle.push(id);
        } else {
            self.workers.remove(&id);
        }
    }

    /// Gives a job whose turn it is to its thread, if that is free.
    pub(super) fn give(&mut self, worker_id: WorkerId, id: JobId, now_ns: u64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let is_free = self.workers.get(&worker_id).is_some_and(|worker| worker.busy.is_none());
        let prepared = job.prepared.take().filter(|_| is_free);
        let Some(prepared) = prepared else {
            debug_assert!(false, "a search whose turn it is has a free thread, and is prepared");
            tracing::error!(
                target: targets::THREADS, worker = worker_id, is_free,
                "a search cannot be given to its thread"
            );
            return self.end(id, Reason::Failed, None, Some("turn".to_owned()), now_ns);
        };
        let Prepared { root, candidates, multipv, key, loaded, .. } = *prepared;
        job.phase = Phase::Searching(worker_id);
        let mut run = Run {
            job: id,
            root,
            candidates,
            multipv,
            control: Arc::clone(&job.control),
            key: key.clone(),
            loaded,
            memory: self.memory.clone(),
            forget: false,
            span: job.span.clone(),
        };
        let (conn, session, game) = (job.conn, job.session.clone(), job.game);
        let waited_ns = now_ns.saturating_sub(job.received_ns);
        if let Some(quota) = self.quota(conn) {
            run.memory = quota.memory;
        }
        if let Some(session) = session.and_then(|name| self.session_mut(conn, &name)) {
            run.forget = std::mem::take(&mut session.forget);
            session.view.engine = Some(key);
        }
        self.tally.began(game, waited_ns);
        self.counters.searches += 1;
        if let Some(worker) = self.workers.get_mut(&worker_id) {
            worker.busy = Some(id);
            if let Err(unsent) = worker.orders.send(Order::Search(Box::new(run))) {
                self.effects.deferred_drops.push(Box::new(unsent));
                tracing::error!(
                    target: targets::THREADS, worker = worker_id,
                    "a search thread ended unasked"
                );
                return self.came_back(
                    worker_id,
                    id,
                    Return::Failed { incident: "thread".to_owned() },
                    now_ns,
                );
            }
        }
        self.rearm_job(id);
    }

    /// A thread came back from a search, whose job may long be over.
    pub(crate) fn came_back(&mut self, worker_id: WorkerId, id: JobId, returned: Return, now_ns: u64) {
        if self.jobs.get(&id).is_some_and(|job| job.phase == Phase::Searching(worker_id)) {
            match returned {
                Return::Ended(lines, end) => self.search_ended(id, lines, end, now_ns),
                Return::Failed { incident } => self.end(id, Reason::Failed, None, Some(incident), now_ns),
            }
        }
        let Some(worker) = self.workers.get_mut(&worker_id) else {
            return;
        };
        worker.busy = None;
        worker.rested_ns = now_ns;
        let abandon_ns = worker.abandon_ns.take();
        let owner = worker.owner.clone();
        if let Some(at) = abandon_ns {
            self.clear_timer(at, Timer::Worker(worker_id));
        }
        let Some((conn, name)) = owner else {
            return self.release_worker(worker_id);
        };
        match self.starting(conn, &name) {
            Some(next) => self.schedule.ready(next),
            // The limit may have fallen meanwhile.
            None => self.trim_engines(),
        }
    }

    /// Gives up on a thread that does not come back: its session gets another one.
    pub(super) fn abandon(&mut self, worker_id: WorkerId) {
        let Some(worker) = self.workers.remove(&worker_id) else {
            return;
        };
        self.counters.abandoned += 1;
        tracing::warn!(
            target: targets::THREADS, worker = worker_id,
            "abandoned a search thread that does not yield"
        );
        self.replace(worker_id, worker.owner);
    }

    /// Gives another thread to the search that waits for one that is gone.
    fn replace(&mut self, worker_id: WorkerId, owner: Option<(ConnId, String)>) {
        let Some((conn, name)) = owner else { return };
        let Some(session) = self.session_mut(conn, &name) else {
            return;
        };
        if session.worker != Some(worker_id) {
            return;
        }
        session.worker = None;
        session.view.engine = None;
        if let Some(next) = self.starting(conn, &name) {
            self.schedule.ready(next);
        }
    }

    /// A thread could not be started: its search ends with the best move so far.
    pub(crate) fn lost(&mut self, worker_id: WorkerId, now_ns: u64) {
        let Some(worker) = self.workers.remove(&worker_id) else {
            return;
        };
        if let Some(job) = worker.busy {
            self.end(job, Reason::Failed, None, Some("thread".to_owned()), now_ns);
        }
        self.replace(worker_id, worker.owner);
    }
}
