//! The search threads: spawned when they are needed, kept by their session, replaced when they do not come
//! back.
//!
//! Part of the daemon's state, under its lock; what the threads do is in `worker`.

use std::sync::Arc;
use std::sync::mpsc::channel;

use plyd_protocol as wire;
use plyd_protocol::Reason;

use super::job::{Phase, Prepared};
use super::outbox::JobId;
use super::state::{ConnId, State, Worker, WorkerId};
use super::timers::Timer;
use super::worker::{Order, Run};
use plyd_core::search::End;

/// How a search came back from its thread.
pub(super) enum Return {
    /// It ended by itself, or because it was stopped.
    Ended(Vec<wire::Line>, End),
    /// It broke; the log has more under the incident's name.
    Failed {
        /// The incident's name.
        incident: String,
    },
}

impl State {
    /// Gives a search thread that is idle, or a new one; if no slot is left, it takes the place of the engine
    /// that a session has kept unused the longest.
    pub(super) fn acquire_worker(&mut self, owner: Option<(ConnId, String)>) -> WorkerId {
        if self.idle.is_empty() && self.workers.len() >= self.limits.engines {
            self.forget_oldest();
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

    /// Takes the engine from the session that has kept one without a search for the longest time.
    fn forget_oldest(&mut self) {
        let resting = self.workers.iter().filter(|(_, worker)| worker.busy.is_none());
        let oldest =
            resting.filter_map(|(id, worker)| Some((worker.rested_ns, *id, worker.owner.clone()?))).min();
        let Some((_, id, (conn, name))) = oldest else { return };
        if let Some(session) = self.session_mut(conn, &name).filter(|session| session.worker == Some(id)) {
            session.worker = None;
            session.view.engine = None;
        }
        self.release_worker(id);
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
        let Some(worker) = self.workers.get_mut(&worker_id) else {
            return;
        };
        let Some(job) = self.jobs.get_mut(&id) else { return };
        if worker.busy.is_some() {
            debug_assert!(false, "a search is ready once its thread is free");
            return;
        }
        let Some(prepared) = job.prepared.take() else {
            return;
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
            forget: false,
        };
        let (conn, session) = (job.conn, job.session.clone());
        if let Some(session) = session.and_then(|name| self.session_mut(conn, &name)) {
            run.forget = std::mem::take(&mut session.forget);
            session.view.engine = Some(key);
        }
        self.counters.searches += 1;
        if let Some(worker) = self.workers.get_mut(&worker_id) {
            worker.busy = Some(id);
            if let Err(unsent) = worker.orders.send(Order::Search(Box::new(run))) {
                self.effects.deferred_drops.push(Box::new(unsent));
                tracing::error!(worker = worker_id, "a search thread ended unasked");
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
    pub(super) fn came_back(&mut self, worker_id: WorkerId, id: JobId, returned: Return, now_ns: u64) {
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
        let next = self.session_mut(conn, &name).and_then(|session| session.current);
        if let Some(next) = next
            && self.jobs.get(&next).is_some_and(|job| job.phase == Phase::Starting)
        {
            self.schedule.ready(next);
        }
    }

    /// Gives up on a thread that does not come back: its session gets another one.
    pub(super) fn abandon(&mut self, worker_id: WorkerId) {
        let Some(worker) = self.workers.remove(&worker_id) else {
            return;
        };
        self.counters.abandoned += 1;
        tracing::warn!(worker = worker_id, "abandoned a search thread that does not yield");
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
        let Some(next) = session.current else { return };
        if self.jobs.get(&next).is_some_and(|job| job.phase == Phase::Starting) {
            self.schedule.ready(next);
        }
    }

    /// A thread could not be started: its search ends with the best move so far.
    pub(super) fn lost(&mut self, worker_id: WorkerId, now_ns: u64) {
        let Some(worker) = self.workers.remove(&worker_id) else {
            return;
        };
        if let Some(job) = worker.busy {
            self.end(job, Reason::Failed, None, Some("thread".to_owned()), now_ns);
        }
        self.replace(worker_id, worker.owner);
    }
}
