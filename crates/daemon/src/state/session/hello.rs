//! `hello`: what the server offers, and what becomes of the connection.

use plyd_protocol as wire;
use plyd_protocol::ErrorCode;
use tracing::Span;

use super::Arrival;
use crate::ids::ConnId;
use crate::spans;
use crate::state::State;
use crate::state::request_error::RequestError;

/// What the server can do beyond the protocol's core; the feature [`RESUME`] only where it is offered.
const FEATURES: [&str; 19] = [
    "actions",
    "analyse",
    "anytime",
    "book",
    "byte_limits",
    "decisive",
    "deterministic",
    "edits",
    "fair_share",
    "hard_ms",
    "log_lost",
    "multipv",
    "operate",
    "ponder",
    "preparation",
    "queue",
    RESUME,
    "svg",
    "websocket",
];

/// Connections outlive their sockets.
const RESUME: &str = "resume";

/// What a good `hello` comes to.
pub(crate) enum Greeting {
    /// The connection is open, and this is the answer.
    Opened(Box<wire::HelloResult>),
    /// The socket serves from now on the connection that its client takes up, and the answer is there.
    TakenUp,
    /// The connection that the client wants to take up has a request of the same id in flight.
    Duplicate,
}

impl State {
    /// Opens the connection, or lets its client take up another one.
    pub(super) fn hello(
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
    pub(crate) fn hello_result(
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
}
