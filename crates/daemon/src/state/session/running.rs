//! `stop` and `update`: requests about what is in flight.

use plyd_protocol as wire;
use plyd_protocol::{Effect, ErrorCode, Reason, ResultBody, StopTarget};

use super::Arrival;
use crate::ids::ConnId;
use crate::state::State;
use crate::state::job::Phase;
use crate::state::request_error::RequestError;

impl State {
    /// Ends what a `stop` names.
    pub(super) fn stop(&mut self, id: ConnId, name: &str, stop: &wire::Stop, now_ns: u64) {
        let Some(conn) = self.conns.get(&id) else { return };
        let (jobs, questions, finished) = match &stop.target {
            StopTarget::Go(target) => {
                let job = conn.inflight.get(target).copied().flatten();
                let mut questions = conn.questions();
                questions.retain(|(_, name)| name == target);
                (job.into_iter().collect(), questions, conn.finished.contains(target))
            }
            StopTarget::Session(session) => {
                let mut jobs = self.jobs_of(id);
                jobs.retain(|job| self.jobs[job].session.as_ref() == Some(session));
                (jobs, Vec::new(), conn.sessions.contains_key(session))
            }
            StopTarget::All => (self.jobs_of(id), conn.questions(), true),
        };
        let effect = match (jobs.is_empty() && questions.is_empty(), finished) {
            (false, _) => Effect::Stopping,
            (true, true) => Effect::AlreadyFinished,
            (true, false) => Effect::Unknown,
        };
        // Jobs and tasks are numbered together, in the order of their arrival.
        let mut targets: Vec<(u64, String)> =
            jobs.iter().map(|job| (*job, self.jobs[job].name.clone())).collect();
        targets.extend(questions.iter().cloned());
        targets.sort_unstable();
        let targets = targets.into_iter().map(|(_, name)| name).collect();
        self.send_result(id, name, ResultBody::Stop(wire::StopResult { effect, targets }), now_ns);
        for job in jobs {
            // If a search is to end already, the first decision stands.
            if stop.discard && self.jobs.get(&job).is_some_and(|job| job.announced_ending().is_none()) {
                self.cancel(job, now_ns);
            } else {
                self.stop_job(job, Reason::Stopped, now_ns);
            }
        }
        let Some(conn) = self.conns.get(&id) else { return };
        for pending in questions.iter().filter_map(|(task, _)| conn.tasks.get(task)) {
            pending.interrupt.hurry();
        }
        self.effects.hurried.extend(questions.iter().map(|(task, _)| (id, *task)));
    }

    /// Changes the search that an `update` names.
    pub(super) fn update(&mut self, at: &Arrival, name: &str, update: &wire::Update, now_ns: u64) {
        let Some(conn) = self.conns.get(&at.conn) else {
            return;
        };
        let target = conn.inflight.get(&update.target).copied().flatten();
        let effect = match target {
            Some(_) => Effect::Updated,
            None if conn.finished.contains(&update.target) => Effect::AlreadyFinished,
            None => Effect::Unknown,
        };
        if let Some(job) = target.and_then(|job| self.jobs.get(&job))
            && update.mode.is_some()
            && !job.would_end_after(update)
        {
            let refusal =
                RequestError::new(ErrorCode::MissingField, "a search for a move needs a clock or a limit");
            return self.refuse(at, name, "update", refusal.at("/clock"), now_ns);
        }
        self.send_result(at.conn, name, ResultBody::Update(wire::UpdateResult { effect }), now_ns);
        let Some((id, job)) = target.and_then(|id| Some((id, self.jobs.get_mut(&id)?))) else {
            return;
        };
        job.update(update, at.received_ns);
        let over = match job.phase {
            Phase::Open(end) => job.reason_of(end),
            Phase::Preparing => None,
            _ => job.is_only_move().then_some(Reason::OnlyMove),
        };
        let (class, deadline_ns) = (job.class(), job.deadline());
        match over {
            Some(reason) => self.finish(id, reason, now_ns),
            None => {
                match job.phase {
                    Phase::Waiting => self.enqueue(id),
                    // A clock may wait for it now.
                    Phase::Preparing => self.speed_up(id),
                    _ => {}
                }
                self.schedule.change(id, class, deadline_ns, now_ns);
                self.rearm_job(id);
            }
        }
    }
}
