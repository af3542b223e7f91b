//! Who a connection is, what its client may ask for, and what that client holds over all its connections.
//!
//! Part of the daemon's state, under its lock. A connection holds the number of its client and nothing else
//! of it: role and limits are looked up at each request, so that new ones count from the next request on.

use std::collections::{BTreeMap, BTreeSet};

use plyd_protocol as wire;
use plyd_protocol::ErrorCode;

use super::budget::{Memory, Quota};
use super::job::Job;
use super::request_error::RequestError;
use super::roles::{is_about_others, least_role};
use super::{Conn, Expulsion, Stage, State};
use crate::config::clients::{Client, TokenHash, is_same_secret};
use crate::ids::{ClientId, ConnId, JobId};
use crate::log::targets;

/// When a client may ask again if its own searches take all that it may have.
const OWN_RETRY_MS: u64 = 1000;

/// The clients that are known by name.
#[derive(Default)]
pub(crate) struct Clients {
    /// Whether whoever connects must be one of them, or show the token of the server.
    is_required: bool,
    known: BTreeMap<ClientId, KnownClient>,
}

struct KnownClient {
    client: Client,
    /// Whether it is in the configuration still.
    is_listed: bool,
    /// The memory of its tables, a part of that of all.
    memory: Memory,
    /// The bytes that its requests in flight occupy.
    requests: usize,
    /// The bytes that its sessions hold.
    sessions: usize,
}

impl KnownClient {
    /// Whether its sessions and requests may hold `bytes` together.
    fn fits(&self, bytes: usize) -> bool {
        self.client.limits.memory_bytes.is_none_or(|most| bytes as u64 <= most)
    }
}

/// The memory of tables that a client may have.
fn table_bytes(client: &Client) -> u64 {
    client.limits.memory_bytes.unwrap_or(u64::MAX)
}

impl State {
    /// Puts another list of clients in force. Whoever is on it as before keeps its connections, with the role
    /// and the limits of the new list; the connections of the others end.
    pub(crate) fn set_clients(&mut self, clients: Option<Vec<Client>>, now_ns: u64) {
        let mut known = std::mem::take(&mut self.clients.known);
        let ids: BTreeMap<(String, TokenHash), ClientId> =
            known.iter().map(|(id, known)| ((known.client.name.clone(), known.client.token), *id)).collect();
        known.values_mut().for_each(|known| known.is_listed = false);
        self.clients.is_required = clients.is_some();
        for client in clients.into_iter().flatten() {
            let old = ids.get(&(client.name.clone(), client.token));
            if let Some(old) = old.and_then(|id| known.get_mut(id)) {
                old.memory.set_total(table_bytes(&client));
                old.client = client;
                old.is_listed = true;
            } else {
                let memory = self.memory.part(table_bytes(&client));
                let fresh = KnownClient { client, is_listed: true, memory, requests: 0, sessions: 0 };
                known.insert(self.fresh_id(), fresh);
            }
        }
        let connected: BTreeSet<ClientId> = self.conns.values().filter_map(|conn| conn.client).collect();
        known.retain(|id, known| known.is_listed || connected.contains(id));
        self.clients.known = known;
        let left: Vec<ConnId> = self.conns.keys().copied().filter(|id| self.is_unlisted(*id)).collect();
        self.expel_all(left.into_iter().map(|id| (id, Expulsion::Unlisted)), now_ns);
        // Searches that wait for a limit of their client look again.
        self.freed = true;
    }

    /// Whether an open connection is one of a client that is not on the list any more.
    pub(super) fn is_unlisted(&self, id: ConnId) -> bool {
        let is_open = |conn: &Conn| conn.stage == Stage::Open;
        self.conns.get(&id).is_some_and(is_open) && self.known(id).is_some_and(|known| !known.is_listed)
    }

    /// Ends a connection whose client is not on the list any more, unless it has come back meanwhile; what is
    /// in flight is answered first.
    pub(super) fn end_unlisted(&mut self, id: ConnId, now_ns: u64) {
        if !self.is_unlisted(id) {
            return;
        }
        tracing::info!(target: targets::IDENTITY, parent: &self.span(id), "the client is not known any more");
        let message = "the token of this connection is not valid any more";
        self.dismiss(id, RequestError::new(ErrorCode::AuthFailed, message), now_ns);
    }

    /// Who a connection is that says `hello` with this token; nobody in particular if it shows the token of
    /// the server or needs none.
    ///
    /// # Errors
    /// `AuthRequired` or `AuthFailed`.
    pub(super) fn identify(
        &self,
        conn: &Conn,
        token: Option<&str>,
    ) -> Result<Option<ClientId>, RequestError> {
        if !conn.remote || self.token.is_none() && !self.clients.is_required {
            return Ok(None);
        }
        let Some(given) = token else {
            return Err(RequestError::new(ErrorCode::AuthRequired, "a token is required").at("/token"));
        };
        // Compares with all of them, so that the time does not depend on which one matches.
        let is_servers =
            self.token.as_ref().is_some_and(|token| is_same_secret(given.as_bytes(), token.as_bytes()));
        let hash = TokenHash::of(given);
        let mut found = None;
        for (id, known) in &self.clients.known {
            if known.client.token.is_same(&hash) && known.is_listed {
                found = Some(*id);
            }
        }
        if found.is_none() && !is_servers {
            return Err(RequestError::new(ErrorCode::AuthFailed, "the token is wrong").at("/token"));
        }
        Ok(found)
    }

    /// Whether a client may have one more connection.
    ///
    /// # Errors
    /// `TooManyConnections`.
    pub(super) fn find_own_place(&self, client: Option<ClientId>) -> Result<(), RequestError> {
        let limits = client.and_then(|id| self.clients.known.get(&id)).map(|known| &known.client.limits);
        let Some(most) = limits.and_then(|limits| limits.connections) else { return Ok(()) };
        let own = self.conns.values().filter(|conn| conn.client == client && conn.stage != Stage::Flushing);
        if own.count() < most as usize {
            return Ok(());
        }
        let message = format!("at most {most} connections of this client may be open");
        let refusal = RequestError::new(ErrorCode::TooManyConnections, message).retry(OWN_RETRY_MS);
        Err(refusal.limit("client.connections"))
    }

    /// Whether the role of a connection's client allows a request.
    ///
    /// # Errors
    /// `Forbidden`.
    pub(super) fn allow(&self, conn: ConnId, command: &wire::Command) -> Result<(), RequestError> {
        let (least, field) = least_role(command);
        let message = match self.known(conn).map(|known| known.client.role) {
            Some(role) if role >= least => return Ok(()),
            Some(role) => format!("this needs the role `{least}`, and the client has the role `{role}`"),
            None if !is_about_others(command) || self.is_trusted(conn) => return Ok(()),
            None => format!("this needs a client that is known by name and has the role `{least}`"),
        };
        Err(RequestError::new(ErrorCode::Forbidden, message).at(field))
    }

    /// Whether a connection without a named client comes from where nobody is kept out: from the process that
    /// started the daemon, from its user, or from this machine if nobody else can come without a token.
    pub(super) fn is_trusted(&self, conn: ConnId) -> bool {
        let is_called = self.conns.get(&conn).is_some_and(|conn| conn.origin.peer().is_some());
        !is_called || self.token.is_none() && !self.clients.is_required && !self.serves_others
    }

    /// Whether the client of a connection may have one more session.
    ///
    /// # Errors
    /// `TooManySessions`.
    pub(super) fn has_own_session(&self, conn: ConnId) -> Result<(), RequestError> {
        let Some(most) = self.known(conn).and_then(|known| known.client.limits.sessions) else {
            return Ok(());
        };
        let open: usize = self.conns_of_client(conn).map(|(_, conn)| conn.sessions.len()).sum();
        if open < most as usize {
            return Ok(());
        }
        let message = format!("at most {most} sessions of this client are open");
        Err(RequestError::new(ErrorCode::TooManySessions, message))
    }

    /// Whether the client of a search may have one more, with `threads`, in the place of the one that it
    /// supersedes.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(super) fn has_own_search(
        &self,
        job: &Job,
        threads: usize,
        superseded: Option<JobId>,
    ) -> Result<(), RequestError> {
        let Some(known) = job.client.and_then(|client| self.clients.known.get(&client)) else {
            return Ok(());
        };
        let limits = &known.client.limits;
        let mut held = self.schedule.held_by(job.client);
        if let Some(superseded) = superseded.filter(|id| self.schedule.holds(*id)) {
            held.searches -= 1;
            held.threads -= self.schedule.threads_of(superseded);
        }
        let message = match (limits.searches, limits.threads) {
            (Some(most), _) if held.searches >= most as usize => {
                format!("at most {most} searches of this client run at once")
            }
            // One that was read when more were allowed runs when no other does.
            (_, Some(most)) if held.threads + threads.min(most as usize) > most as usize => {
                format!("at most {most} threads search for this client at once")
            }
            _ => return Ok(()),
        };
        Err(RequestError::new(ErrorCode::Overloaded, message).retry(OWN_RETRY_MS))
    }

    /// What one search of a connection's client may have; none for a client that is not known by name.
    pub(super) fn quota(&self, conn: ConnId) -> Option<Quota> {
        let known = self.known(conn)?;
        let threads = known.client.limits.threads.map_or(usize::MAX, |threads| threads as usize);
        Some(Quota { threads, memory: known.memory.clone() })
    }

    /// Whether the client of a connection has room for a request of `bytes`. A request that is alone always
    /// has room.
    pub(super) fn has_own_room(&self, conn: ConnId, bytes: usize) -> bool {
        self.known(conn)
            .is_none_or(|known| known.requests == 0 || known.fits(known.requests + known.sessions + bytes))
    }

    /// Whether the sessions of a connection's client may hold `new` bytes in the place of `old`.
    pub(super) fn fits_own_sessions(&self, conn: ConnId, old: usize, new: usize) -> bool {
        self.known(conn)
            .is_none_or(|known| new <= old || known.fits(known.requests + known.sessions - old + new))
    }

    /// Counts that the requests of a connection occupy other bytes than before.
    pub(super) fn count_own_requests(&mut self, conn: ConnId, before: usize, after: usize) {
        if let Some(known) = self.known_mut(conn) {
            known.requests = known.requests - before + after;
        }
    }

    /// Counts that the sessions of a connection hold other bytes than before.
    pub(super) fn count_own_sessions(&mut self, conn: ConnId, before: usize, after: usize) {
        if let Some(known) = self.known_mut(conn) {
            known.sessions = known.sessions - before + after;
        }
    }

    /// The connections of the same client.
    pub(super) fn conns_of_client(&self, conn: ConnId) -> impl Iterator<Item = (ConnId, &Conn)> {
        let client = self.conns.get(&conn).and_then(|conn| conn.client);
        let own = self.conns.iter().filter(move |(_, conn)| client.is_some() && conn.client == client);
        own.map(|(id, conn)| (*id, conn))
    }

    /// The limits of the server and of a connection's client, as `hello` and `describe` announce them.
    pub(super) fn limits_of(&self, conn: ConnId) -> wire::Limits {
        let client = self.known(conn).map(|known| Box::new(known.client.to_wire()));
        let limits = if self.serves_tls { self.limits.to_wire_over_tls() } else { self.limits.to_wire() };
        let limits = wire::Limits { client, ..limits };
        if self.offers_resume(conn) {
            return limits;
        }
        wire::Limits { resume_ms: 0, resume_connections: 0, resume_bytes: 0, ..limits }
    }

    /// The client of a connection, if it is known by name.
    pub(super) fn known_client(&self, conn: &Conn) -> Option<&Client> {
        Some(&self.clients.known.get(&conn.client?)?.client)
    }

    /// Makes a connection one of this client, as its `hello` does.
    #[cfg(test)]
    pub(crate) fn become_client(&mut self, conn: ConnId, client: Client) {
        self.set_clients(Some(vec![client]), 0);
        let id = self.clients.known.keys().next().copied();
        self.conns.get_mut(&conn).expect("it is open").client = id;
    }

    /// Whether no client holds anything.
    #[cfg(test)]
    pub(crate) fn clients_hold_nothing(&self) -> bool {
        let holds = |id: ClientId| self.schedule.held_by(Some(id)).searches > 0;
        self.clients.known.iter().all(|(id, known)| known.requests + known.sessions == 0 && !holds(*id))
    }

    fn known(&self, conn: ConnId) -> Option<&KnownClient> {
        self.clients.known.get(&self.conns.get(&conn)?.client?)
    }

    fn known_mut(&mut self, conn: ConnId) -> Option<&mut KnownClient> {
        self.clients.known.get_mut(&self.conns.get(&conn)?.client?)
    }
}
