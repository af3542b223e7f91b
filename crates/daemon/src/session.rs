//! The protocol's state machine: what each request does, and in which order it is answered.
//!
//! Requests that take no time are answered as they arrive; the others become [`Task`]s, which keep their
//! order within a session. No I/O, no threads, no clock.

use plyd_protocol as wire;
use plyd_protocol::{Command, Effect, ErrorCode, Mode, Reason, ResultBody, StopTarget};
use tracing::Span;

use super::intake::no_room;
use super::job::{Job, Phase};
use super::kept::LinkId;
use super::prepare::{Lane, Task, TaskId, Work};
use super::refusals::Refusal;
use super::request_error::RequestError;
use super::spans;
use super::state::{Asks, Conn, ConnId, Pending, Stage, State};
use super::timers::Timer;
use plyd_bridge as bridge;
use plyd_core::effort::Interrupt;
use plyd_core::engine::settings;

/// What the server can do beyond the protocol's core; the feature [`RESUME`] only where it is offered.
const FEATURES: [&str; 14] = [
    "analyse",
    "anytime",
    "byte_limits",
    "deterministic",
    "fair_share",
    "hard_ms",
    "log_lost",
    "multipv",
    "operate",
    "ponder",
    "preparation",
    "queue",
    RESUME,
    "websocket",
];

/// Connections outlive their sockets.
const RESUME: &str = "resume";

/// Where and when a request came in.
#[derive(Debug)]
pub(super) struct Arrival {
    /// The connection.
    pub(super) conn: ConnId,
    /// The line, counted from 1 over all lines of the connection.
    pub(super) line: u64,
    /// When its last byte arrived.
    pub(super) received_ns: u64,
    /// The bytes that its request occupies.
    pub(super) bytes: usize,
    /// A token that nobody else has, if the request asks for one.
    pub(super) fresh_token: Option<String>,
}

impl Arrival {
    /// A line of a socket, by its number there, that holds no request; it is for the connection that the
    /// socket serves.
    pub(super) fn of(state: &State, link: LinkId, number: u64, received_ns: u64) -> Self {
        let conn = state.conn_of(link);
        let before = state.conns.get(&conn).map_or(0, |conn| conn.lines_before);
        Self { conn, line: number.wrapping_add(before), received_ns, bytes: 0, fresh_token: None }
    }
}

/// What a good `hello` comes to.
pub(super) enum Greeting {
    /// The connection is open, and this is the answer.
    Opened(Box<wire::HelloResult>),
    /// The socket serves from now on the connection that its client takes up, and the answer is there.
    TakenUp,
    /// The connection that the client wants to take up has a request of the same id in flight.
    Duplicate,
}

impl State {
    /// Takes a line that is no request.
    pub(super) fn bad_line(&mut self, at: &Arrival, fault: wire::Fault, now_ns: u64) {
        self.hear(at, now_ns);
        let Some(conn) = self.listening(at.conn) else {
            return;
        };
        let needs_hello = conn.needs_hello;
        let duplicate = fault.id.as_ref().filter(|id| conn.inflight.contains_key(*id)).cloned();
        match duplicate {
            Some(name) => self.send_duplicate(at.conn, name, at.line, now_ns),
            None => {
                let refusal =
                    RequestError { pointer: fault.pointer, ..RequestError::new(fault.code, fault.message) };
                self.send_error(at.conn, fault.id.as_deref(), at.line, refusal, now_ns);
            }
        }
        if needs_hello {
            self.bad_line_before_hello(at.conn, now_ns);
        }
    }

    /// Takes a line that was too long to be kept.
    pub(super) fn long_line(&mut self, at: &Arrival, limit: usize, now_ns: u64) {
        let message = format!("a line has at most {limit} bytes");
        let fault = wire::Fault { id: None, code: ErrorCode::LineTooLong, pointer: None, message };
        self.bad_line(at, fault, now_ns);
    }

    /// Takes the first bytes of a peer that speaks another protocol.
    pub(super) fn foreign(&mut self, at: &Arrival, refusal: Refusal, message: &str, now_ns: u64) {
        self.counters.lines += 1;
        self.counters.connections_dropped += 1;
        self.note_refusal(at.conn, refusal);
        if self.listening(at.conn).is_some() {
            self.send_fatal(at.conn, at.line, RequestError::new(ErrorCode::BadJson, message), now_ns);
        }
    }

    /// Whether a request must wait until others of its connection, or of all, are done.
    pub(super) fn must_wait(&mut self, at: &Arrival, request: &wire::Request) -> bool {
        let (max_requests, shutting_down) = (self.limits.requests, self.shutting_down);
        let is_forbidden = self.allow(at.conn, &request.command).is_err();
        let Some(conn) = self.listening(at.conn) else { return false };
        let is_answered_at_once = match &request.command {
            Command::SetOption(set) => set.session.is_none(),
            command => command.is_immediate(),
        };
        let is_refused = conn.needs_hello
            || conn.inflight.contains_key(&request.id)
            || conn.inflight.len() >= max_requests
            || shutting_down
            || is_forbidden;
        let bytes = at.bytes + conn.defaults_bytes;
        !is_answered_at_once && !is_refused && self.awaits_room(at.conn, bytes)
    }

    /// Takes a request.
    pub(super) fn request(&mut self, at: &Arrival, request: wire::Request, now_ns: u64) {
        self.hear(at, now_ns);
        self.tally.requested(request.command.name());
        let max_requests = self.limits.requests;
        if self.is_unlisted(at.conn) {
            // It is to end, and nothing of it counts until its turn comes.
            return self.end_unlisted(at.conn, now_ns);
        }
        let Some(conn) = self.listening(at.conn) else {
            return;
        };
        let wire::Request { id, command } = request;
        let cmd = command.name();
        if conn.inflight.contains_key(&id) {
            return self.send_duplicate(at.conn, id, at.line, now_ns);
        }
        let full = conn.inflight.len() >= max_requests;
        if conn.needs_hello && !matches!(command, Command::Hello(_)) {
            let refusal = RequestError::new(ErrorCode::HandshakeRequired, "hello must come first");
            return self.refuse(at, &id, cmd, refusal, now_ns);
        }
        if let Err(refusal) = self.allow(at.conn, &command) {
            return self.refuse(at, &id, cmd, refusal, now_ns);
        }
        let immediate = match command {
            Command::Hello(hello) => match self.hello(at, &id, &hello, now_ns) {
                Ok(Greeting::Opened(result)) => Ok(ResultBody::Hello(result)),
                Ok(Greeting::TakenUp) => return,
                Ok(Greeting::Duplicate) => return self.send_duplicate(at.conn, id, at.line, now_ns),
                Err(refusal) => Err(refusal),
            },
            Command::Ping(ping) => Ok(ResultBody::Ping(wire::PingResult { echo: ping.echo })),
            Command::Describe(wire::Describe { what: wire::DescribeWhat::Limits, .. }) => {
                self.limits_body(at.conn)
            }
            Command::Status(_) => Ok(ResultBody::Status(self.status(now_ns))),
            Command::Connections(asked) => Ok(ResultBody::Connections(self.connections(asked.after, now_ns))),
            Command::Close(wire::Close { session, connection: Some(connection) }) => {
                let closed = self.close_for_operator(at.conn, &session, connection, now_ns);
                let connection = Some(connection);
                closed.map(|()| ResultBody::Close(wire::CloseResult { session, connection }))
            }
            Command::Disconnect(disconnect) => match self.meant(&disconnect.target) {
                Ok(connections) => return self.disconnect_all(at.conn, &id, connections, now_ns),
                Err(refusal) => Err(refusal),
            },
            Command::SetOption(request) if request.session.is_none() => {
                self.set_defaults(at.conn, &id, &request.options, now_ns)
            }
            Command::Stop(stop) => return self.stop(at.conn, &id, &stop, now_ns),
            Command::Update(update) => return self.update(at, &id, &update, now_ns),
            Command::Quit(quit) => return self.quit(at.conn, id, quit.mode, now_ns),
            _ if self.shutting_down => {
                let message = "the server ends and takes no new work: connect again after its restart";
                Err(RequestError::new(ErrorCode::ShuttingDown, message))
            }
            _ if full => Err(RequestError::new(
                ErrorCode::TooManyRequests,
                format!("at most {max_requests} requests are in flight on a connection"),
            )),
            command => return self.begin(at, id, command, now_ns),
        };
        match immediate {
            Ok(body) => self.send_result(at.conn, &id, body, now_ns),
            Err(refusal) => self.refuse(at, &id, cmd, refusal, now_ns),
        }
    }

    /// Refuses a request that is not worked on.
    fn refuse(&mut self, at: &Arrival, id: &str, cmd: &str, refusal: RequestError, now_ns: u64) {
        let span = spans::refused(&self.span(at.conn), id, cmd);
        let _within = span.enter();
        self.send_error(at.conn, Some(id), at.line, refusal, now_ns);
    }

    /// Notes that a line came.
    fn hear(&mut self, at: &Arrival, now_ns: u64) {
        self.counters.lines += 1;
        if let Some(conn) = self.conns.get_mut(&at.conn) {
            conn.active_ns = now_ns;
            conn.lines = at.line;
        }
    }

    /// The connection, if it still takes requests.
    fn listening(&mut self, id: ConnId) -> Option<&mut Conn> {
        self.conns.get_mut(&id).filter(|conn| conn.stage == Stage::Open)
    }

    fn bad_line_before_hello(&mut self, id: ConnId, now_ns: u64) {
        let max = self.limits.bad_lines;
        let Some(conn) = self.listening(id) else { return };
        conn.bad_lines += 1;
        if conn.bad_lines >= max {
            self.counters.connections_dropped += 1;
            self.note_refusal(id, Refusal::BadLines);
            let message = "too many bad lines before hello";
            let notice = wire::Notice::new(wire::NoticeKind::ProtocolAbuse, message);
            let notice = wire::Notice { limit: Some("bad_lines".to_owned()), ..notice };
            self.send_message(id, &wire::Message::Notice(notice), now_ns);
            self.end_conn(id, now_ns);
        }
    }

    /// Opens the connection, or lets its client take up another one.
    fn hello(
        &mut self,
        at: &Arrival,
        name: &str,
        hello: &wire::Hello,
        now_ns: u64,
    ) -> Result<Greeting, RequestError> {
        let id = at.conn;
        let Some(conn) = self.conns.get(&id) else {
            return Err(RequestError::new(ErrorCode::Internal, "the connection is gone"));
        };
        if conn.greeted {
            return Err(RequestError::new(ErrorCode::HandshakeRepeated, "hello came before"));
        }
        if !(hello.protocol.min..=hello.protocol.max).contains(&wire::VERSION) {
            let message = format!("this server speaks version {}", wire::VERSION);
            return Err(RequestError::new(ErrorCode::VersionUnsupported, message).at("/protocol"));
        }
        let client = self.identify(conn, hello.token.as_deref())?;
        let features = self.features(id);
        // A promise holds also where no new one is given any more.
        let takes_up = matches!(hello.resume, Some(wire::Resume::Take { .. }));
        let is_there = |wanted: &String| features.contains(wanted) || takes_up && wanted == RESUME;
        if let Some(index) = hello.require.iter().position(|wanted| !is_there(wanted)) {
            let refusal = RequestError::new(ErrorCode::FeatureUnsupported, "this server lacks the feature");
            return Err(refusal.at(&format!("/require/{index}")));
        }
        let keep_ms = match &hello.resume {
            Some(wire::Resume::Take { token, seq }) => {
                let kept = self.kept_under(id, token, client)?;
                return self.take_up(kept, at, name, hello, *seq, now_ns);
            }
            Some(wire::Resume::Keep { keep_ms }) => Some(*keep_ms),
            None => None,
        };
        self.find_place(id)?;
        self.find_own_place(client)?;
        let Some(conn) = self.conns.get_mut(&id) else {
            return Err(RequestError::new(ErrorCode::Internal, "the connection is gone"));
        };
        conn.client = client;
        conn.name = hello.client.as_ref().and_then(|client| client.name.as_deref()).map(wire::echo);
        conn.greeted = true;
        conn.needs_hello = false;
        conn.on_eof = hello.on_eof;
        let span = conn.span.clone();
        let (token, lines) = (at.fresh_token.as_deref(), at.line.saturating_sub(1));
        let resume = keep_ms.and_then(|keep_ms| self.promise(id, keep_ms, token, lines));
        self.watch_idle(id, now_ns);
        Ok(Greeting::Opened(Box::new(self.hello_result(id, hello, &span, resume))))
    }

    /// What the server can do for a connection.
    fn features(&self, id: ConnId) -> Vec<String> {
        let is_promised = self.conns.get(&id).is_some_and(|conn| conn.promise.is_some());
        let resumes = is_promised || self.offers_resume(id);
        let features = FEATURES.into_iter().filter(|feature| resumes || *feature != RESUME);
        features.map(str::to_owned).collect()
    }

    /// What answers a good `hello`; the name that the client gives is noted in the span of its socket.
    pub(super) fn hello_result(
        &self,
        id: ConnId,
        hello: &wire::Hello,
        span: &Span,
        resume: Option<wire::Resumable>,
    ) -> wire::HelloResult {
        let limits = self.limits_of(id);
        // How it calls itself counts only where nothing better is known.
        let name = match &limits.client {
            Some(client) => Some(client.name.as_str()),
            None => hello.client.as_ref().and_then(|client| client.name.as_deref()),
        };
        if let Some(name) = name {
            spans::name(span, name);
        }
        wire::HelloResult {
            protocol: wire::VERSION,
            server: wire::Server { name: "plyd".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            features: self.features(id),
            games: self.games.iter().map(|entry| entry.name.to_owned()).collect(),
            limits,
            resume,
        }
    }

    fn limits_body(&self, id: ConnId) -> Result<ResultBody, RequestError> {
        let body = serde_json::to_value(self.limits_of(id))
            .map_err(|error| RequestError::new(ErrorCode::Internal, error.to_string()))?;
        Ok(ResultBody::Describe(wire::DescribeResult { body }))
    }

    fn set_defaults(
        &mut self,
        id: ConnId,
        name: &str,
        options: &wire::Settings,
        now_ns: u64,
    ) -> Result<ResultBody, RequestError> {
        let options = bridge::given(options);
        let renamed = settings::check_any_options(self.games, &options)?;
        self.warn_of_renamed(id, name, &renamed, now_ns);
        let Some(conn) = self.conns.get_mut(&id) else {
            return Err(RequestError::new(ErrorCode::Internal, "the connection is gone"));
        };
        conn.defaults = bridge::settings(&settings::layered(&bridge::given(&conn.defaults), &options));
        conn.defaults_bytes = conn.defaults.heap_bytes();
        let options = conn.defaults.clone();
        Ok(ResultBody::SetOption(wire::SetOptionResult { session: None, options }))
    }

    fn stop(&mut self, id: ConnId, name: &str, stop: &wire::Stop, now_ns: u64) {
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

    fn update(&mut self, at: &Arrival, name: &str, update: &wire::Update, now_ns: u64) {
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
                    Phase::Preparing => self.effects.hurried.extend(self.task_of(id)),
                    _ => {}
                }
                self.schedule.change(id, class, deadline_ns, now_ns);
                self.rearm_job(id);
            }
        }
    }

    /// Begins a request that takes time.
    fn begin(&mut self, at: &Arrival, name: String, command: Command, now_ns: u64) {
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
            Some(waiting) => waiting.push_back(task),
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
