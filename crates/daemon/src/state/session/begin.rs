//! The begin of requests that take time: each becomes a task in its lane, and a `go` a job as well.

use plyd_protocol as wire;
use plyd_protocol::{Command, ErrorCode, Mode, Reason};

use super::Arrival;
use crate::ids::{ConnId, TaskId};
use crate::state::State;
use crate::state::intake::no_room;
use crate::state::job::{Job, Phase};
use crate::state::request_error::RequestError;
use crate::state::task::{Asks, Lane, Pending, Task, Work};
use crate::state::timers::Timer;
use plyd_core::effort::Interrupt;

impl State {
    /// Begins a request that takes time.
    pub(super) fn begin(&mut self, at: &Arrival, name: String, command: Command, now_ns: u64) {
        let session_of = |game: &wire::GameRef| match game {
            wire::GameRef::Session { session } => Some(session.clone()),
            wire::GameRef::Game { .. } => None,
        };
        let Some(conn) = self.conns.get(&at.conn) else { return };
        let (client, cmd) = (conn.client, command.name());
        let bytes = at.bytes + conn.defaults_bytes;
        let task = self.fresh_id();
        if !self.hold(at.conn, &name, task, bytes) {
            return self.refuse(at, &name, cmd, no_room(), now_ns);
        }
        let mut job = None;
        let mut interrupt = Interrupt::default();
        let (session, work) = match command {
            Command::Go(go) => {
                if go.mode == Mode::Move && go.clock.is_none() && go.limit.is_empty() {
                    let refusal = RequestError::new(
                        ErrorCode::MissingField,
                        "a search for a move needs a clock or a limit",
                    );
                    self.release(at.conn, &name);
                    return self.refuse(at, &name, cmd, refusal.at("/clock"), now_ns);
                }
                let id = self.fresh_id();
                let mut new = Job::new(at.conn, name.clone(), at.line, &go, at.received_ns);
                new.client = client;
                interrupt = new.interrupt.clone();
                self.jobs.insert(id, new);
                self.rearm_job(id);
                job = Some(id);
                (session_of(&go.game), Work::Go(id, go))
            }
            Command::NewGame(newgame) => (Some(newgame.session.clone()), Work::NewGame(newgame)),
            Command::SetOption(set) => (set.session.clone(), Work::SetOption(set)),
            Command::Close(close) => (Some(close.session.clone()), Work::Close(close)),
            Command::Inspect(inspect) => (session_of(&inspect.game), Work::Inspect(inspect)),
            Command::Describe(describe) => (None, Work::Describe(describe)),
            Command::Hello(_)
            | Command::Ping(_)
            | Command::Update(_)
            | Command::Stop(_)
            | Command::Status(_)
            | Command::Connections(_)
            | Command::Disconnect(_)
            | Command::Quit(_) => return,
        };
        let id = task;
        if let (Some(session), Work::Close(_) | Work::NewGame(_)) = (&session, &work) {
            self.end_preparations(at.conn, session, id, now_ns);
        }
        let quota = self.quota(at.conn);
        let Some(conn) = self.conns.get_mut(&at.conn) else {
            return;
        };
        let span = conn.span_of(&name, cmd, session.as_deref());
        if let Some(job) = job.and_then(|job| self.jobs.get_mut(&job)) {
            job.span = span.clone();
        }
        conn.inflight.insert(name.clone(), job);
        let defaults = conn.defaults.clone();
        let lane = match (&session, &work) {
            (Some(session), _) => Lane::Session(session.clone()),
            (None, Work::Go(..)) => Lane::Searches,
            (None, _) => Lane::Questions,
        };
        let pending = Pending {
            name: name.clone(),
            lane: lane.clone(),
            asks: match &work {
                Work::Go(..) => Asks::Search,
                Work::Close(_) => Asks::Close,
                Work::NewGame(_) | Work::SetOption(_) => Asks::Change,
                Work::Inspect(_) | Work::Describe(_) => Asks::Question,
            },
            interrupt: interrupt.clone(),
        };
        conn.tasks.insert(id, pending);
        let (conn_id, line) = (at.conn, at.line);
        let task = Task {
            id,
            interrupt,
            conn: conn_id,
            name,
            cmd,
            line,
            session,
            lane: lane.clone(),
            defaults,
            quota,
            work,
            span,
        };
        match conn.lanes.get_mut(&lane) {
            Some(waiting) => {
                waiting.push_back(task);
                if let Some(job) = job.filter(|job| self.jobs.get(job).is_some_and(Job::is_timed)) {
                    self.speed_up(job);
                }
            }
            None => {
                conn.lanes.insert(lane, std::collections::VecDeque::new());
                self.effects.tasks.push(task);
            }
        }
    }

    /// Hurries the requests of a session that came before the task that ends it: searches at once, questions
    /// after a grace period.
    fn end_preparations(&mut self, conn: ConnId, session: &str, task: TaskId, now_ns: u64) {
        let is_meant = |job: &Job| job.phase == Phase::Preparing && job.session.as_deref() == Some(session);
        let mut jobs = self.jobs_of(conn);
        jobs.retain(|job| self.jobs.get(job).is_some_and(is_meant));
        for job in jobs {
            self.stop_job(job, Reason::Closed, now_ns);
        }
        if self
            .conns
            .get(&conn)
            .is_some_and(|conn| conn.lanes.contains_key(&Lane::Session(session.to_owned())))
        {
            let grace = self.limits.preparation.as_nanos() as u64;
            self.set_timer(now_ns + grace, Timer::Lane(conn, task));
        }
    }
}
