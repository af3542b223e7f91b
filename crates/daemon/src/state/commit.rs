//! The end of requests that take time: what their work changes in the state, and what it needs of it.
//!
//! Part of the daemon's state, under its lock.

use plyd_protocol::{ErrorCode, Reason};

use super::job::{Job, Phase};
use super::outbox::Item;
use super::request_error::RequestError;
use super::task::{Context, Output, Task, Work};
use super::{Session, State};
use crate::ids::{ConnId, JobId};
use crate::spans;
use plyd_core::engine::settings::Renamed;

impl State {
    /// Forgets a task that is done, and gives the next request of its lane.
    pub(crate) fn next_in_lane(&mut self, done: &Task) -> Option<Task> {
        let conn = self.conns.get_mut(&done.conn)?;
        conn.tasks.remove(&done.id);
        let mut next = conn.lanes.get_mut(&done.lane).and_then(|waiting| waiting.pop_front());
        match &mut next {
            // Its session is another one than when it came.
            Some(next) if matches!(done.work, Work::NewGame(_) | Work::Close(_)) => {
                next.span = conn.span_of(&next.name, next.cmd, next.session.as_deref());
                if let Work::Go(job, _) = next.work
                    && let Some(job) = self.jobs.get_mut(&job)
                {
                    job.span = next.span.clone();
                }
            }
            Some(_) => {}
            None => drop(conn.lanes.remove(&done.lane)),
        }
        self.release_task(done.conn, done.id);
        next
    }

    /// What the work on a request needs to know of the state.
    pub(crate) fn context(&self, task: &Task) -> Result<Context, RequestError> {
        let gone = || RequestError::new(ErrorCode::Internal, "the connection is gone");
        let conn = self.conns.get(&task.conn).ok_or_else(gone)?;
        let (Some(name), false) = (&task.session, matches!(task.work, Work::NewGame(_))) else {
            return Ok(Context::Free);
        };
        let unknown =
            || RequestError::new(ErrorCode::SessionUnknown, "no session of that name is open").at("/session");
        let session = conn.sessions.get(name).ok_or_else(unknown)?;
        Ok(Context::Session(Box::new(session.view.clone())))
    }

    /// Whether a clock or a client's stop waits for the reading of a `go`, or a clock for what comes behind
    /// it in its lane. Without either nothing ends that work, which would keep others waiting.
    pub(crate) fn is_urgent(&self, task: &Task) -> bool {
        let Work::Go(id, _) = &task.work else { return false };
        let Some(job) = self.jobs.get(id) else { return false };
        job.is_timed() || task.interrupt.is_hurried() || self.is_awaited(task)
    }

    /// Whether a search with a clock waits behind a task in its lane.
    fn is_awaited(&self, task: &Task) -> bool {
        let lane = self.conns.get(&task.conn).and_then(|conn| conn.lanes.get(&task.lane));
        lane.into_iter().flatten().any(|behind| match &behind.work {
            Work::Go(id, _) => self.jobs.get(id).is_some_and(Job::is_timed),
            _ => false,
        })
    }

    /// Notes that a request takes longer than the quick threads have. The slow ones work below the priority
    /// of searches, so on a machine without a core to spare they may not work at all: the reading of a `go`
    /// is bounded in time.
    pub(crate) fn takes_longer(&mut self, task: &Task, now_ns: u64) {
        let Work::Go(id, _) = &task.work else { return };
        let at = now_ns + self.limits.reading.as_nanos() as u64;
        if let Some(job) = self.jobs.get_mut(id) {
            job.read_until(at);
            self.rearm_job(*id);
        }
    }

    /// Takes the output of the work on a request.
    pub(crate) fn commit(&mut self, task: &Task, output: Output, now_ns: u64) {
        if !self.conns.contains_key(&task.conn) {
            return self.effects.deferred_drops.push(Box::new(output));
        }
        match (output, &task.work) {
            (Output::Refused(refusal), Work::Go(job, _)) => self.fail(*job, refusal, now_ns),
            (Output::Refused(refusal), _) => {
                self.release(task.conn, &task.name);
                self.send_error(task.conn, Some(&task.name), task.line, refusal, now_ns);
                self.close_if_done(task.conn, now_ns);
            }
            (Output::Valid(prepared), Work::Go(job, _)) => self.admit(*job, prepared, now_ns),
            (Output::Opened(opened, renamed, body), _) => {
                self.open_session(task, opened, &renamed, body, now_ns);
            }
            (Output::Looked(body, named), _) => {
                self.remember(task.conn, task.session.as_deref(), named);
                if let Some(refusal) = self.no_room_for_answer(task.conn, body.len(), now_ns) {
                    self.effects.deferred_drops.push(Box::new(body));
                    return self.commit(task, Output::Refused(refusal), now_ns);
                }
                self.answer(task.conn, &task.name, Item::body(body), now_ns);
            }
            (Output::Options(options, renamed, body), _) => {
                self.warn_of_renamed(task.conn, &task.name, &renamed, now_ns);
                if let Some(name) = &task.session
                    && let Some(session) = self.session_mut(task.conn, name)
                {
                    session.view.options = options;
                }
                self.answer(task.conn, &task.name, Item::body(body), now_ns);
            }
            (Output::Close(body), _) => {
                if let Some(name) = &task.session {
                    self.close_session(task.conn, name, now_ns);
                }
                self.answer(task.conn, &task.name, Item::body(body), now_ns);
            }
            (Output::Body(body), _) => self.answer(task.conn, &task.name, Item::body(body), now_ns),
            (Output::Valid(_), _) => debug_assert!(false, "only a go is prepared"),
        }
    }

    fn open_session(
        &mut self,
        task: &Task,
        mut opened: Box<Session>,
        renamed: &[Renamed],
        body: String,
        now_ns: u64,
    ) {
        let Some(name) = &task.session else { return };
        let max = self.limits.sessions;
        let Some(conn) = self.conns.get(&task.conn) else {
            return;
        };
        if !conn.sessions.contains_key(name) && conn.sessions.len() >= max {
            let message = format!("at most {max} sessions may be open on a connection: close one");
            let refusal = RequestError::new(ErrorCode::TooManySessions, message);
            self.effects.deferred_drops.push(opened);
            return self.commit(task, Output::Refused(refusal), now_ns);
        }
        let is_new = !conn.sessions.contains_key(name);
        if let Err(refusal) = self.has_own_session(task.conn)
            && is_new
        {
            self.effects.deferred_drops.push(opened);
            return self.commit(task, Output::Refused(refusal), now_ns);
        }
        let Some(bytes) = self.room_for_session(task.conn, name, self.held_bytes(task.conn, &task.name))
        else {
            let message = "the sessions that are open hold as much memory as they may";
            self.effects.deferred_drops.push(opened);
            let refusal = RequestError::new(ErrorCode::TooManySessions, message);
            return self.commit(task, Output::Refused(refusal), now_ns);
        };
        opened.bytes = bytes;
        self.close_jobs(task.conn, name, now_ns);
        let held = self.held_by_sessions(task.conn);
        let Some(conn) = self.conns.get_mut(&task.conn) else {
            return self.effects.deferred_drops.push(opened);
        };
        let mut old = conn.sessions.remove(name);
        if let Some(old) = &mut old {
            // The thread and its engine stay, if the engine can be used again; what it learned does not.
            opened.worker = old.worker;
            opened.view.engine = old.view.engine.take();
            opened.forget = opened.view.engine.is_some();
        }
        opened.span = spans::session(&conn.span, name, opened.view.entry.name);
        conn.sessions.insert(name.clone(), *opened);
        self.count_sessions(task.conn, held);
        self.effects.deferred_drops.push(Box::new(old));
        self.warn_of_renamed(task.conn, &task.name, renamed, now_ns);
        self.answer(task.conn, &task.name, Item::body(body), now_ns);
    }

    /// Closes a session; its searches answer first.
    pub(super) fn close_session(&mut self, id: ConnId, name: &str, now_ns: u64) {
        self.close_jobs(id, name, now_ns);
        let held = self.held_by_sessions(id);
        let closed = self.conns.get_mut(&id).and_then(|conn| conn.sessions.remove(name));
        self.count_sessions(id, held);
        if let Some(worker) = closed.as_ref().and_then(|session| session.worker) {
            self.release_worker(worker);
        }
        self.effects.deferred_drops.push(Box::new(closed));
    }

    /// Ends the searches of a session. Those that are being prepared came later and are not meant.
    fn close_jobs(&mut self, id: ConnId, name: &str, now_ns: u64) {
        let jobs: Vec<JobId> = self
            .jobs
            .iter()
            .filter(|(_, job)| job.conn == id && job.session.as_deref() == Some(name))
            .filter(|(_, job)| job.phase != Phase::Preparing)
            .map(|(id, _)| *id)
            .collect();
        for job in jobs {
            self.finish(job, Reason::Closed, now_ns);
        }
    }
}
