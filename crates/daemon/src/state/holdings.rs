//! The memory of sessions: what they were opened with, and the positions that they remember.
//!
//! A position is remembered only for speed. So if a new session needs the room, the server forgets its
//! client's positions first, then those of connections that hold more than their share.

use std::sync::Arc;

use super::shares::Shares;
use super::{Session, State};
use crate::config::limits::Limits;
use crate::ids::ConnId;
use plyd_core::engine::AnyRoot;

/// What a session of a large board holds before its first request.
const SESSION_BYTES: usize = 16 << 10;
/// What a position of the largest board holds beside its texts.
pub(super) const POSITION_BYTES: usize = 16 << 10;

impl Session {
    fn held(&self) -> usize {
        self.bytes + self.prefix_bytes
    }
}

/// Room, all of it free, for what sessions hold: by the limits, for this number of connections.
pub(super) fn shares(limits: &Limits, connections: usize) -> Shares {
    Shares::new(limits.session_bytes_in_all, limits.session_bytes, connections)
}

/// A position, the `start` by which it was named, and the bytes of the texts that name it.
pub(crate) struct Named {
    pub(crate) start: Option<String>,
    pub(crate) root: Arc<dyn AnyRoot>,
    pub(crate) bytes: usize,
}

impl State {
    /// Lets a session remember the position that it searched or looked at, unless that is too large.
    pub(super) fn remember(&mut self, conn: ConnId, session: Option<&str>, named: Named) {
        let Named { start, root, bytes } = named;
        // The position keeps the texts of its moves, and what each did.
        let bytes = POSITION_BYTES + 2 * bytes;
        let held = session.and_then(|name| self.session_mut(conn, name)).map(|found| found.prefix_bytes);
        let fits = held.is_some_and(|held| self.fits_sessions(conn, held, bytes));
        let before = self.held_by_sessions(conn);
        let dropped = match session.and_then(|name| self.session_mut(conn, name)) {
            Some(session) if fits => {
                session.prefix_bytes = bytes;
                session.view.prefix.replace((start, root))
            }
            Some(_) | None => Some((start, root)),
        };
        self.count_sessions(conn, before);
        self.effects.deferred_drops.push(Box::new(dropped));
    }

    /// Makes room for a session whose request has `asked_in` bytes; returns the bytes that the session holds,
    /// or none if it may not be opened.
    pub(super) fn room_for_session(&mut self, conn: ConnId, name: &str, asked_in: usize) -> Option<usize> {
        let bytes = SESSION_BYTES + asked_in;
        let is_room = |state: &mut Self| {
            let replaced = state.session_mut(conn, name).map_or(0, |old| old.held());
            state.fits_sessions(conn, replaced, bytes)
        };
        if is_room(self) {
            return Some(bytes);
        }
        let mut own: Vec<ConnId> = self.conns_of_client(conn).map(|(id, _)| id).collect();
        own.push(conn);
        own.into_iter().for_each(|own| self.forget_positions(own));
        let replaced = self.session_mut(conn, name).map_or(0, |old| old.held());
        if self.held_by_sessions(conn) - replaced + bytes > self.limits.session_bytes
            || !self.fits_own_sessions(conn, replaced, bytes)
        {
            // Memory of others does not help a connection, or a client, at its own bound.
            return None;
        }
        // The connection that frees most comes first, as long as one frees anything.
        while !is_room(self) {
            let holders = self.conns.keys().map(|id| (self.remembered_beyond(*id), *id));
            let (freed, id) = holders.max()?;
            if freed == 0 {
                return None;
            }
            self.forget_positions(id);
        }
        Some(bytes)
    }

    /// How many bytes beyond its share a connection would free if its sessions remembered no position.
    fn remembered_beyond(&self, id: ConnId) -> usize {
        let Some(conn) = self.conns.get(&id) else { return 0 };
        let held = self.held_by_sessions(id);
        let remembered: usize = conn.sessions.values().map(|session| session.prefix_bytes).sum();
        self.session_bytes.freed(held, held - remembered)
    }

    fn forget_positions(&mut self, id: ConnId) {
        let before = self.held_by_sessions(id);
        let Some(conn) = self.conns.get_mut(&id) else { return };
        for session in conn.sessions.values_mut() {
            session.prefix_bytes = 0;
            self.effects
                .deferred_drops
                .extend(session.view.prefix.take().map(|prefix| Box::new(prefix) as _));
        }
        self.count_sessions(id, before);
    }

    /// Makes room as new limits say. What is held stays held, even past smaller ones.
    pub(super) fn resize_sessions(&mut self) {
        self.session_bytes = shares(&self.limits, self.shared_by());
        let held: Vec<usize> = self.conns.keys().map(|id| self.held_by_sessions(*id)).collect();
        held.into_iter().for_each(|held| self.session_bytes.change(0, held));
    }

    /// What the sessions of a connection hold.
    pub(super) fn held_by_sessions(&self, conn: ConnId) -> usize {
        self.conns.get(&conn).map_or(0, |conn| conn.sessions.values().map(Session::held).sum())
    }

    /// Whether a connection's sessions may hold `new` bytes in the place of `old`.
    fn fits_sessions(&self, conn: ConnId, old: usize, new: usize) -> bool {
        let before = self.held_by_sessions(conn);
        let after = before - old + new;
        after <= self.limits.session_bytes
            && self.session_bytes.fits_bounded(before, after)
            && self.fits_own_sessions(conn, old, new)
    }

    /// Counts anew what a connection's sessions hold; `before` is what they held.
    pub(super) fn count_sessions(&mut self, conn: ConnId, before: usize) {
        let after = self.held_by_sessions(conn);
        self.session_bytes.change(before, after);
        self.count_own_sessions(conn, before, after);
    }
}
