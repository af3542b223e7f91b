//! The promise that a connection is kept: who may have it, and the token that proves it.

use plyd_protocol::Resumable;

use crate::config::clients::{TokenHash, mark_token};
use crate::ids::ConnId;
use crate::log::targets;
use crate::state::{Conn, State};

/// The promise to wait for a client whose socket breaks.
#[derive(Debug)]
pub(crate) struct Promise {
    /// The hash of the token with which the client comes back.
    pub(super) token: TokenHash,
    /// How long the connection is kept.
    pub(super) keep_ns: u64,
    /// Until when, if it is away.
    pub(super) until_ns: Option<u64>,
}

/// A token that nobody can guess: 128 bits of the system's randomness, with the mark by which tokens are
/// found where they do not belong. None if the system has none to give.
pub(crate) fn fresh_token() -> Option<String> {
    let mut bytes = [0; 16];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tracing::error!(
            target: targets::KEPT_PROMISE, %error,
            "the system gives no random bytes: a connection cannot be kept"
        );
        return None;
    }
    Some(mark_token(&bytes))
}

impl State {
    /// Whether the server offers to keep a connection.
    pub(crate) fn offers_resume(&self, id: ConnId) -> bool {
        !self.limits.resume.is_zero() && self.conns.get(&id).is_some_and(|conn| conn.remote)
    }

    /// Promises to keep a connection, if there is room for one more; `token` is a fresh one.
    pub(crate) fn promise(
        &mut self,
        id: ConnId,
        keep_ms: u64,
        token: Option<&str>,
        lines: u64,
    ) -> Option<Resumable> {
        if !self.offers_resume(id) || !self.has_promise_left(id) {
            return None;
        }
        let (most, bytes) = (self.limits.resume.as_millis() as u64, self.limits.resume_bytes);
        let (conn, token) = (self.conns.get_mut(&id)?, token?);
        let keep_ms = keep_ms.min(most);
        let keep_ns = keep_ms.saturating_mul(1_000_000);
        conn.promise = Some(Promise { token: TokenHash::of(token), keep_ns, until_ns: None });
        conn.outbox.keep_sent(bytes);
        Some(Resumable { token: Some(token.to_owned()), keep_ms, lines })
    }

    /// Whether one more connection may have the promise, and this one in particular: nobody has more promises
    /// than are left for others. Clients without a name are distinguished by their addresses.
    fn has_promise_left(&self, id: ConnId) -> bool {
        let Some(conn) = self.conns.get(&id) else { return false };
        let owner = |conn: &Conn| (conn.client, conn.network.filter(|_| conn.client.is_none()));
        let promised = self.conns.values().filter(|conn| conn.promise.is_some());
        let (all, own) = promised
            .fold((0, 0), |(all, own), other| (all + 1, own + usize::from(owner(other) == owner(conn))));
        own < self.limits.resume_connections.saturating_sub(all)
    }
}
