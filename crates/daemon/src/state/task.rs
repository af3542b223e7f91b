//! The requests that take time: what is asked, what the work on them needs to know of the state, and what
//! comes of it.

use std::sync::Arc;

use plyd_protocol as wire;
use tracing::Span;

use super::Session;
use super::budget::Quota;
use super::holdings::Named;
use super::job::{EngineKey, Prepared};
use super::request_error::RequestError;
use crate::ids::{ConnId, JobId, TaskId};
use plyd_core::effort::Interrupt;
use plyd_core::engine::settings::Renamed;
use plyd_core::engine::{AnyRoot, Entry};
use plyd_core::game::Rules;

/// A request that takes time.
#[derive(Debug)]
pub(crate) struct Task {
    /// Which it is.
    pub(crate) id: TaskId,
    /// Ends the work on it.
    pub(crate) interrupt: Interrupt,
    /// The connection.
    pub(crate) conn: ConnId,
    /// The request's id.
    pub(crate) name: String,
    /// What it asks for, as the wire has it.
    pub(super) cmd: &'static str,
    /// The request's line.
    pub(super) line: u64,
    /// The session.
    pub(super) session: Option<String>,
    /// Requests of one lane are worked on one after the other.
    pub(super) lane: Lane,
    /// The connection's default options when the request arrived.
    pub(crate) defaults: wire::Settings,
    /// What its search may have; none for a client that is not known by name.
    pub(crate) quota: Option<Quota>,
    /// What is asked.
    pub(crate) work: Work,
    /// What the log says around the work on it.
    pub(crate) span: Span,
}

/// A group of a connection's requests that keep their order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Lane {
    /// Those of a session.
    Session(String),
    /// Searches without a session.
    Searches,
    /// Questions without a session.
    Questions,
}

/// The kind of a request in progress or queued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asks {
    /// `go`, which has timers of its own.
    Search,
    /// `close`, which takes microseconds and ends what came before it.
    Close,
    /// `newgame` or `setoption`, which take microseconds: a `stop` names them, and nothing ends them.
    Change,
    /// `inspect` or `describe`: a question that may keep the rules busy for long, and changes nothing.
    Question,
}

/// A request in progress or queued.
pub(crate) struct Pending {
    /// The request's id.
    pub(crate) name: String,
    /// The requests that it keeps its order with.
    pub(super) lane: Lane,
    /// What kind of request it is.
    pub(super) asks: Asks,
    /// Ends the work on it.
    pub(crate) interrupt: Interrupt,
}

/// What a task asks.
#[derive(Debug)]
pub(crate) enum Work {
    /// `go`.
    Go(JobId, Box<wire::Go>),
    /// `newgame`.
    NewGame(wire::NewGame),
    /// `setoption` of a session.
    SetOption(wire::SetOption),
    /// `close`.
    Close(wire::Close),
    /// `inspect`.
    Inspect(wire::Inspect),
    /// `describe`.
    Describe(wire::Describe),
}

/// A copy of what a task needs to know of the state.
pub(crate) enum Context {
    /// The task names no session, or opens it.
    Free,
    /// The task's session.
    Session(Box<SessionView>),
}

/// A session as the work on its requests sees it; a game without a session looks the same.
#[derive(Clone)]
pub(crate) struct SessionView {
    /// The game.
    pub(crate) entry: &'static Entry,
    /// The rules that were given, and its seed if they take one.
    pub(crate) rules: Rules,
    /// The options that were given.
    pub(crate) options: wire::Settings,
    /// The seed of its players' own choices, unless an option gives one.
    pub(crate) seed: u64,
    /// The initial position.
    pub(crate) base: Arc<dyn AnyRoot>,
    /// The last position that was searched or looked at, with the `start` by which it was named.
    pub(crate) prefix: Option<(Option<String>, Arc<dyn AnyRoot>)>,
    /// The key of its latest engine: a hint for preparation.
    pub(crate) engine: Option<EngineKey>,
}

/// The output of a task.
pub(crate) enum Output {
    /// A `result`, serialised.
    Body(String),
    /// A session to open, those of its options whose names have changed, and its `result`.
    Opened(Box<Session>, Vec<Renamed>, String),
    /// A session's new options, those of them whose names have changed, and the `result`.
    Options(wire::Settings, Vec<Renamed>, String),
    /// The `result` of closing the session.
    Close(String),
    /// The `result` of looking at a position, which the session remembers.
    Looked(String, Named),
    /// A search that can begin.
    Valid(Box<Prepared>),
    /// The request is refused.
    Refused(RequestError),
}
