//! What operators see of the connections, and what they end.
//!
//! Part of the daemon's state, under its lock. A page of the list is bounded by what is looked at for it, so
//! that the lock is held for microseconds however many are connected. Whoever loses a session or a connection
//! hears of it, and each of its requests gets its final message.

use plyd_protocol as wire;
use plyd_protocol::{DisconnectTarget, ErrorCode, Reason, ResultBody, Role, SearchState};
use tracing::Span;

use super::job::{Job, Phase};
use super::request_error::RequestError;
use super::timers::Timer;
use super::{Conn, Expulsion, Session, Stage, State};
use crate::ids::{ConnId, JobId};
use crate::log::targets;

/// The most connections on a page.
const PAGE: usize = 32;
/// A page ends once it has this number of sessions and requests in flight.
const PAGE_ITEMS: usize = 128;
/// The most connections that are ended before others have their turn.
const PIECE: usize = 32;

impl State {
    /// The connections whose numbers are above `after`, as many as fit on a page.
    pub(super) fn connections(&self, after: ConnId, now_ns: u64) -> wire::ConnectionsResult {
        let mut rest = self.conns.range(after.saturating_add(1)..).peekable();
        let mut connections = Vec::new();
        let mut items = 0;
        while connections.len() < PAGE
            && items < PAGE_ITEMS
            && let Some((&id, conn)) = rest.next()
        {
            items += conn.sessions.len() + conn.inflight.len();
            connections.push(self.connection(id, conn, now_ns));
        }
        let next = rest.peek().and_then(|_| connections.last()).map(|last| last.connection);
        wire::ConnectionsResult { count: self.conns.len() as u64, connections, next }
    }

    fn connection(&self, id: ConnId, conn: &Conn, now_ns: u64) -> wire::ConnectionInfo {
        let since_ms = |then_ns: u64| now_ns.saturating_sub(then_ns) / 1_000_000;
        let known = self.known_client(conn);
        // Whoever is nobody by name may do everything that is about itself.
        let nameless = if self.is_trusted(id) { Role::Operate } else { Role::Analyse };
        let role = known.map_or(nameless, |client| client.role);
        let session = |(name, session): (&String, &Session)| wire::SessionInfo {
            session: name.clone(),
            game: session.view.entry.name.to_owned(),
        };
        let mut sessions: Vec<wire::SessionInfo> = conn.sessions.iter().map(session).collect();
        sessions.sort_unstable_by(|one, other| one.session.cmp(&other.session));
        let jobs = self.jobs_of(id).into_iter().filter_map(|id| Some((id, self.jobs.get(&id)?)));
        wire::ConnectionInfo {
            connection: id,
            transport: conn.origin.name().to_owned(),
            peer: conn.origin.peer().map(|peer| peer.to_string()),
            state: conn.state().into(),
            client: known.map(|client| client.name.clone()),
            name: conn.name.clone(),
            role: (!conn.needs_hello).then(|| role.into()),
            age_ms: since_ms(conn.opened_ns),
            idle_ms: since_ms(conn.active_ns),
            requests: conn.inflight.len() as u64,
            unsent_bytes: conn.outbox.unsent() as u64,
            sessions,
            searches: jobs.map(|(id, job)| self.search(id, job, now_ns)).collect(),
        }
    }

    fn search(&self, id: JobId, job: &Job, now_ns: u64) -> wire::SearchInfo {
        let state = match job.phase {
            Phase::Preparing => SearchState::Preparing,
            Phase::Waiting => SearchState::Waiting,
            Phase::Starting => SearchState::Starting,
            Phase::Searching(_) => SearchState::Searching,
            Phase::Open(_) => SearchState::Open,
        };
        let wanted = job.prepared.as_ref().map(|prepared| prepared.key.options.threads);
        let held = Some(self.schedule.threads_of(id)).filter(|threads| *threads > 0);
        let due_ns = job.due_ns().filter(|_| state != SearchState::Waiting);
        wire::SearchInfo {
            id: job.name.clone(),
            session: job.session.clone(),
            game: job.game.map(|game| self.games[game].name.to_owned()),
            mode: job.mode.into(),
            state: state.into(),
            threads: held.or(wanted).map(|threads| threads as u64),
            age_ms: now_ns.saturating_sub(job.received_ns) / 1_000_000,
            due_ms: due_ns.map(|due_ns| due_ns.saturating_sub(now_ns) / 1_000_000),
            stats: job.stats(now_ns),
        }
    }

    /// Closes a session of any connection for an operator. Its client gets a notice, and its searches answer
    /// as at its own `close`; only those whose position is still being read end without a move.
    ///
    /// # Errors
    /// `ConnectionUnknown` or `SessionUnknown`.
    pub(super) fn close_for_operator(
        &mut self,
        operator: ConnId,
        name: &str,
        connection: ConnId,
        now_ns: u64,
    ) -> Result<(), RequestError> {
        let Some(conn) = self.conns.get(&connection) else {
            return Err(unknown("no connection of that number is open", "/connection"));
        };
        if !conn.sessions.contains_key(name) {
            let message = "no session of that name is open on that connection";
            return Err(RequestError::new(ErrorCode::SessionUnknown, message).at("/session"));
        }
        let span = self.span(operator);
        tracing::info!(
            target: targets::OPERATE, parent: &span, connection, session = name,
            "an operator closes a session"
        );
        if connection != operator {
            let message = format!("an operator closed the session `{name}`");
            self.send_notice(connection, wire::NoticeKind::Warning, None, &message, now_ns);
        }
        // The work on them needs the session, and finds it gone.
        let is_unread = |job: &&JobId| {
            let job = &self.jobs[*job];
            job.phase == Phase::Preparing && job.session.as_deref() == Some(name)
        };
        let jobs = self.jobs_of(connection);
        let unread: Vec<JobId> = jobs.iter().filter(is_unread).copied().collect();
        for job in unread {
            self.fail(job, RequestError::unprepared(), now_ns);
        }
        self.close_session(connection, name, now_ns);
        Ok(())
    }

    /// The connections that an operator wants to end.
    ///
    /// # Errors
    /// `ConnectionUnknown` if there are none.
    pub(super) fn meant(&self, target: &DisconnectTarget) -> Result<Vec<ConnId>, RequestError> {
        match target {
            DisconnectTarget::Connection(id) if self.conns.contains_key(id) => Ok(vec![*id]),
            DisconnectTarget::Connection(_) => {
                Err(unknown("no connection of that number is open", "/connection"))
            }
            DisconnectTarget::Client(name) => {
                let is_meant = |conn: &Conn| {
                    matches!(conn.stage, Stage::Open | Stage::Draining(_))
                        && self.known_client(conn).is_some_and(|client| client.name == *name)
                };
                let meant = self.conns.iter().filter(|(_, conn)| is_meant(conn)).map(|(id, _)| *id);
                let meant: Vec<ConnId> = meant.collect();
                if meant.is_empty() {
                    return Err(unknown("no connection of a client of that name is open", "/client"));
                }
                Ok(meant)
            }
        }
    }

    /// Answers the request of an operator to end connections, and begins to end them.
    pub(super) fn disconnect_all(
        &mut self,
        operator: ConnId,
        request: &str,
        connections: Vec<ConnId>,
        now_ns: u64,
    ) {
        // First the answer: the operator's own connection may be among them.
        let body = ResultBody::Disconnect(wire::DisconnectResult { connections: connections.clone() });
        self.send_result(operator, request, body, now_ns);
        let span = self.span(operator);
        let expulsion = Expulsion::ByOperator(span);
        self.expel_all(connections.into_iter().map(|id| (id, expulsion.clone())), now_ns);
    }

    /// Begins to end connections, each for its reason; one that is to end already ends for the earlier one.
    pub(super) fn expel_all(
        &mut self,
        connections: impl IntoIterator<Item = (ConnId, Expulsion)>,
        now_ns: u64,
    ) {
        for (id, expulsion) in connections {
            self.to_expel.entry(id).or_insert(expulsion);
        }
        self.expel_some(now_ns);
    }

    /// Ends the next of the connections that are to end. A client may have thousands: the rest has its turn
    /// as soon as the lock was free.
    pub(super) fn expel_some(&mut self, now_ns: u64) {
        for _ in 0..PIECE {
            match self.to_expel.pop_first() {
                Some((id, Expulsion::ByOperator(span))) => self.disconnect(&span, id, now_ns),
                Some((id, Expulsion::Unlisted)) => self.end_unlisted(id, now_ns),
                None => return,
            }
        }
        if !self.to_expel.is_empty() {
            self.set_timer(now_ns, Timer::Expel);
        }
    }

    /// Ends a connection for an operator: what is in flight is answered first, searches with the best move so
    /// far.
    fn disconnect(&mut self, operator: &Span, id: ConnId, now_ns: u64) {
        let Some(conn) = self.conns.get(&id) else { return };
        tracing::info!(
            target: targets::OPERATE, parent: operator, connection = id,
            "an operator ends a connection"
        );
        match conn.stage {
            Stage::Open => {
                let message = "an operator ended this connection";
                self.dismiss(id, RequestError::new(ErrorCode::Disconnected, message), now_ns);
            }
            // It is about to end, behind a message of its own.
            Stage::Draining(_) => {
                for job in self.jobs_of(id) {
                    self.stop_job(job, Reason::Stopped, now_ns);
                }
            }
            Stage::Late(_) | Stage::Flushing => {}
        }
    }
}

fn unknown(message: &str, pointer: &str) -> RequestError {
    RequestError::new(ErrorCode::ConnectionUnknown, message).at(pointer)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::clients::{Client, ClientLimits, TokenHash};
    use crate::config::limits::Limits;
    use crate::signal::Signal;
    use crate::spans::Origin;
    use crate::state::budget::Memory;
    use crate::state::session::Arrival;
    use wire::Command;

    /// Opens so many connections of one client.
    fn with_connections(state: &mut State, many: usize) -> (Client, Vec<ConnId>) {
        let (name, token) = ("alice".to_owned(), TokenHash::of("token"));
        let alice = Client { name, token, role: Role::Operate, limits: ClientLimits::default() };
        let ids = (0..many).map(|_| {
            let nobody = || Signal::Task(Arc::default());
            let id = state.open_conn(Origin::Unix, [nobody(), nobody(), nobody()], 0);
            state.become_client(id, alice.clone());
            id
        });
        let ids = ids.collect();
        (alice, ids)
    }

    #[test]
    fn others_have_their_turn_while_many_connections_end() {
        const MANY: usize = 3 * PIECE + 1;
        let limits = Limits { strangers: 2 * MANY, ..Limits::default() };
        let mut state = State::new(limits, &[], None, Memory::new(0), 0);
        let (_, ids) = with_connections(&mut state, MANY);
        let meant = state.meant(&DisconnectTarget::Client("alice".to_owned())).unwrap();
        assert_eq!(meant, ids);
        // The operator is one of them, and named them twice.
        state.disconnect_all(ids[0], "d", [&meant[..], &meant].concat(), 1);
        assert_eq!(state.to_expel.len(), MANY - PIECE);
        let mut pieces = Vec::new();
        while pieces.last() != Some(&MANY) {
            let ended = state.conns.values().filter(|conn| conn.stage == Stage::Flushing).count();
            let before = pieces.last().copied().unwrap_or(0);
            assert!(ended > before && ended <= before + PIECE, "{ended} after {pieces:?}");
            pieces.push(ended);
            state.tick(1);
        }
        assert_eq!(pieces.len(), 4);
        assert!(state.meant(&DisconnectTarget::Client("alice".to_owned())).is_err(), "they are ending");
        assert!(state.next_timer().is_none_or(|at| at > 1), "nothing is left to be done");
    }

    #[test]
    fn others_have_their_turn_while_many_clients_are_taken_off_the_list() {
        const MANY: usize = 3 * PIECE + 1;
        let limits = Limits { strangers: 2 * MANY, ..Limits::default() };
        let mut state = State::new(limits, &[], None, Memory::new(0), 0);
        let (alice, ids) = with_connections(&mut state, MANY);
        let ended = |state: &State| state.conns.values().filter(|conn| conn.stage == Stage::Flushing).count();
        state.set_clients(Some(Vec::new()), 1);
        assert_eq!((ended(&state), state.to_expel.len()), (PIECE, MANY - PIECE));
        // What one of the others asks for before its turn is not done any more.
        let last = ids[MANY - 1];
        let command =
            Command::Disconnect(wire::Disconnect { target: DisconnectTarget::Connection(ids[PIECE]) });
        let at = Arrival { conn: last, line: 2, received_ns: 1, bytes: 0, fresh_token: None };
        state.request(&at, wire::Request { id: "d".to_owned(), command }, 1);
        assert_eq!((ended(&state), &state.conns[&last].stage), (PIECE + 1, &Stage::Flushing));
        assert_eq!(state.conns[&ids[PIECE]].stage, Stage::Open);
        state.tick(1);
        assert_eq!(ended(&state), 2 * PIECE + 1);
        // Whoever is on the list again before its turn comes stays.
        state.set_clients(Some(vec![alice]), 1);
        while !state.to_expel.is_empty() {
            state.tick(1);
        }
        assert_eq!(ended(&state), 2 * PIECE + 1);
        assert!(ids[2 * PIECE..MANY - 1].iter().all(|id| state.conns[id].stage == Stage::Open));
    }
}
