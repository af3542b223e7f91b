//! Who may be connected. Strangers and greeted clients have separate places, so that peers that never say
//! `hello` keep out no client that does; peers that guess tokens wait for their answers.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use plyd_protocol as wire;
use plyd_protocol::ErrorCode;

use super::refusals::Refusal;
use super::request_error::RequestError;
use super::timers::Timer;
use super::{Conn, Stage, State};
use crate::ids::ConnId;
use crate::log::targets;

/// When a client that found no place may try again.
const PLACE_RETRY_MS: u64 = 1000;
/// How long the answer to the first wrong token of a network waits; twice as long each time.
const FIRST_DELAY_MS: u64 = 100;
const LONGEST_DELAY_MS: u64 = 5000;
/// A network's count restarts after this time without a wrong token.
const FORGET_NS: u64 = 60_000_000_000;
/// The most networks that are counted apart.
const NETWORKS: usize = 1024;
/// At most one line of log about wrong tokens in this time.
const LOG_NS: u64 = 10_000_000_000;

/// Wrong tokens so far.
#[derive(Default)]
pub(crate) struct Guesses {
    by_network: HashMap<Option<IpAddr>, Guess>,
    unlogged: u64,
    logged_ns: Option<u64>,
}

struct Guess {
    count: u32,
    last_ns: u64,
}

impl Guesses {
    /// Notes a wrong token; how long its answer waits.
    fn note(&mut self, network: Option<IpAddr>, now_ns: u64) -> u64 {
        if self.by_network.len() >= NETWORKS {
            self.by_network.retain(|_, guess| guess.last_ns + FORGET_NS > now_ns);
        }
        let is_known = self.by_network.len() + 1 < NETWORKS || self.by_network.contains_key(&network);
        // Networks beyond the limit share one entry, under an address that no peer can have.
        let guess =
            self.by_network.entry(if is_known { network } else { Some(Ipv6Addr::UNSPECIFIED.into()) });
        let guess = guess.or_insert(Guess { count: 0, last_ns: now_ns });
        if guess.last_ns + FORGET_NS <= now_ns {
            guess.count = 0;
        }
        guess.last_ns = now_ns;
        let delay_ms = FIRST_DELAY_MS.checked_shl(guess.count.min(16)).unwrap_or(LONGEST_DELAY_MS);
        guess.count += 1;
        self.unlogged += 1;
        if self.logged_ns.is_none_or(|logged| logged + LOG_NS <= now_ns) {
            self.logged_ns = Some(now_ns);
            let count = std::mem::take(&mut self.unlogged);
            let last_from = network.map_or_else(|| "unix".to_owned(), |network| network.to_string());
            tracing::warn!(target: targets::PLACES, count, last_from, "wrong tokens");
        }
        delay_ms.min(LONGEST_DELAY_MS) * 1_000_000
    }
}

impl Conn {
    pub(super) fn is_stranger(&self) -> bool {
        self.remote && self.needs_hello && self.stage != Stage::Flushing
    }

    fn is_greeted(&self) -> bool {
        self.remote && self.greeted && self.stage != Stage::Flushing
    }
}

impl State {
    /// Cuts off a connection whose last messages are not read if too many are so: as many may be as there are
    /// places, and of an address as many as it may have connections. It is the one that has read nothing for
    /// longest, but not the one that ended just now.
    pub(super) fn bound_flushing(&mut self, ended: ConnId, now_ns: u64) {
        let Some(network) = self.conns.get(&ended).map(|conn| conn.network) else { return };
        let limits = &self.limits;
        let slowest_of = |most: usize, is_meant: &dyn Fn(&Conn) -> bool| {
            let waits = |(id, conn): (&ConnId, &Conn)| {
                let is_flushing = conn.remote && conn.stage == Stage::Flushing && is_meant(conn);
                Some((conn.outbox.waiting_since().filter(|_| is_flushing)?, *id))
            };
            let all: Vec<_> = self.conns.iter().filter_map(waits).collect();
            let others = all.iter().filter(|(_, id)| *id != ended);
            if all.len() > most { others.min().map(|(_, id)| *id) } else { None }
        };
        let of_network = network
            .filter(|_| limits.connections_per_address > 0)
            .and_then(|_| slowest_of(limits.connections_per_address, &|conn| conn.network == network));
        let slowest = of_network.or_else(|| slowest_of(limits.connections + limits.strangers, &|_| true));
        if let Some(slowest) = slowest {
            self.note_refusal(slowest, Refusal::SlowReader);
            self.drop_conn(slowest, now_ns, true);
        }
    }

    /// Closes strangers, the oldest first, to make room for a new one: those of its own address if that has
    /// too many connections, else any.
    pub(super) fn make_place(&mut self, newcomer: ConnId, now_ns: u64) {
        let most = self.limits.connections_per_address;
        let network = self.conns.get(&newcomer).and_then(|conn| conn.network);
        let of_network = |conn: &Conn| conn.network == network;
        if most > 0 && network.is_some() {
            let count = self.conns.values().filter(|conn| of_network(conn) && conn.stage != Stage::Flushing);
            if count.count() > most {
                self.oldest_leaves(newcomer, Refusal::ConnectionsPerAddress, of_network, now_ns);
            }
        }
        if self.conns.values().filter(|conn| conn.is_stranger()).count() > self.limits.strangers {
            self.oldest_leaves(newcomer, Refusal::Strangers, |_| true, now_ns);
        }
    }

    fn oldest_leaves(
        &mut self,
        newcomer: ConnId,
        limit: Refusal,
        is_meant: impl Fn(&Conn) -> bool,
        now_ns: u64,
    ) {
        let mut strangers = self.conns.iter().filter(|(_, conn)| conn.is_stranger() && is_meant(conn));
        let oldest = strangers.find(|(id, _)| **id != newcomer).map(|(id, _)| *id);
        if let Some(oldest) = oldest {
            self.leave(oldest, limit, "another connection came before this one said hello", now_ns);
        }
    }

    /// Ends a connection because of a limit, which the error names.
    pub(super) fn leave(&mut self, id: ConnId, limit: Refusal, message: &str, now_ns: u64) {
        self.note_refusal(id, limit);
        let refusal = match limit {
            Refusal::HelloMs | Refusal::IdleMs => RequestError::new(ErrorCode::TimedOut, message),
            _ => RequestError::new(ErrorCode::TooManyConnections, message).retry(PLACE_RETRY_MS),
        };
        self.dismiss(id, refusal.limit(limit.name()), now_ns);
    }

    /// Whether a stranger whose `hello` is good may stay.
    ///
    /// # Errors
    /// All places, or all those of its address, are taken.
    pub(super) fn find_place(&self, id: ConnId) -> Result<(), RequestError> {
        let Some(conn) = self.conns.get(&id).filter(|conn| conn.remote) else { return Ok(()) };
        if self.conns.values().filter(|conn| conn.is_greeted()).count() >= self.limits.connections {
            let message = format!("at most {} connections may be open", self.limits.connections);
            let refusal = RequestError::new(ErrorCode::TooManyConnections, message).retry(PLACE_RETRY_MS);
            return Err(refusal.limit("connections"));
        }
        self.find_place_of_address(conn.network)
    }

    /// Whether an address, if it is one, may have one more connection that has said `hello`.
    ///
    /// # Errors
    /// All its places are taken.
    pub(super) fn find_place_of_address(&self, network: Option<IpAddr>) -> Result<(), RequestError> {
        let most = self.limits.connections_per_address;
        let here = self.conns.values().filter(|conn| conn.is_greeted() && conn.network == network);
        if most == 0 || network.is_none() || here.count() < most {
            return Ok(());
        }
        let message = format!("at most {most} connections may be open from one address");
        let refusal = RequestError::new(ErrorCode::TooManyConnections, message).retry(PLACE_RETRY_MS);
        Err(refusal.limit(Refusal::ConnectionsPerAddress.name()))
    }

    /// Keeps back the answer to a wrong token, and whatever else comes from that peer.
    pub(super) fn answer_late(&mut self, id: ConnId, body: String, now_ns: u64) {
        let Some(conn) = self.conns.get_mut(&id) else { return };
        conn.stage = Stage::Late(body);
        let delay = self.guesses.note(conn.network, now_ns);
        if self.shutting_down {
            // Nobody can come back with another guess.
            return self.late_answer_is_due(id, now_ns);
        }
        self.set_timer(now_ns + delay, Timer::Late(id));
    }

    /// Whether the answer to a connection's wrong token is kept back.
    pub(crate) fn is_late(&self, id: ConnId) -> bool {
        self.conns.get(&id).is_some_and(|conn| matches!(conn.stage, Stage::Late(_)))
    }

    /// Gives the answer that was kept back.
    pub(super) fn late_answer_is_due(&mut self, id: ConnId, now_ns: u64) {
        // It may have left by a limit meanwhile.
        if let Some(conn) = self.conns.get_mut(&id)
            && let Stage::Late(body) = &mut conn.stage
        {
            let body = std::mem::take(body);
            self.drain(id, Some(body), wire::OnEof::Stop, now_ns);
        }
    }

    /// Starts the idle timer of a greeted client.
    pub(super) fn watch_idle(&mut self, id: ConnId, now_ns: u64) {
        let most = self.limits.idle.as_nanos() as u64;
        let Some(conn) = self.conns.get_mut(&id).filter(|conn| conn.remote && most > 0) else { return };
        conn.idle_ns = most;
        self.set_timer(now_ns.saturating_add(most), Timer::Idle(id));
    }

    /// Ends a connection that was idle for too long: no line came, nothing was sent, nothing is in flight.
    /// One that waits for its client has a time of its own.
    pub(super) fn idle_is_due(&mut self, id: ConnId, now_ns: u64) {
        let Some(conn) = self.conns.get(&id).filter(|conn| conn.stage == Stage::Open) else { return };
        let most = conn.idle_ns;
        let is_busy = conn.is_away() || !conn.inflight.is_empty() || self.is_taking(id);
        let since = if is_busy { now_ns } else { conn.active_ns };
        if since + most <= now_ns {
            self.leave(id, Refusal::IdleMs, "nothing came for too long", now_ns);
        } else {
            self.set_timer(since + most, Timer::Idle(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::limits::Limits;
    use crate::signal::Signal;
    use crate::spans::Origin;
    use crate::state::budget::Memory;

    /// Opens connections from addresses, each of which is sent something that it does not read.
    fn unread(state: &mut State, peers: &[[u8; 4]]) -> Vec<ConnId> {
        let nobody = || Signal::Task(Arc::default());
        let open = |peer: &[u8; 4]| {
            let origin = Origin::Tcp((*peer, 1).into());
            let id = state.open_conn(origin, [nobody(), nobody(), nobody()], 0);
            let conn = state.conns.get_mut(&id).unwrap();
            (conn.needs_hello, conn.greeted) = (false, true);
            state.send_notice(id, wire::NoticeKind::Warning, None, "unread", id);
            id
        };
        peers.iter().map(open).collect()
    }

    #[test]
    fn those_that_do_not_read_their_last_messages_hold_as_many_sockets_as_there_are_places() {
        let limits = Limits { connections: 3, strangers: 2, connections_per_address: 2, ..Limits::default() };
        let mut state = State::new(limits, &[], None, Memory::new(0), 0);
        let (own, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        let ids = unread(&mut state, &[own, other, own, own]);
        ids.iter().for_each(|id| state.end_conn(*id, 10));
        let left = |state: &State| ids.iter().map(|id| state.conns.contains_key(id)).collect::<Vec<_>>();
        assert_eq!(left(&state), [false, true, true, true], "the address has two, and the first leaves");
        // One that reads a little stays before one that reads nothing.
        state.writer_progress(ids[1], 20);
        let many: Vec<[u8; 4]> = (3..7).map(|host| [192, 0, 2, host]).collect();
        let more = unread(&mut state, &many);
        more.iter().for_each(|id| state.end_conn(*id, 30));
        assert_eq!(left(&state), [false, true, false, false], "five are left in all");
        assert!(more.iter().all(|id| state.conns.contains_key(id)));
    }

    #[test]
    fn a_wrong_token_is_answered_at_once_while_the_server_ends() {
        let nobody = || Signal::Task(Arc::default());
        let mut state = State::new(Limits::default(), &[], Some("secret".to_owned()), Memory::new(0), 0);
        let id = state.open_conn(Origin::Unix, [nobody(), nobody(), nobody()], 0);
        state.announce_end(std::time::Duration::from_secs(1), 1);
        state.answer_late(id, "{}".to_owned(), 2);
        assert_eq!(state.conns[&id].stage, Stage::Flushing);
        assert!(!state.is_quiet(), "the answer is not written yet");
    }

    #[test]
    fn a_wrong_token_opens_nothing_when_its_answer_comes_after_the_end() {
        let nobody = || Signal::Task(Arc::default());
        let token = Some("secret".to_owned());
        let mut state = State::new(Limits::default(), &[], token, Memory::new(0), 0);
        let id = state.open_conn(Origin::Unix, [nobody(), nobody(), nobody()], 0);
        state.answer_late(id, "{}".to_owned(), 0);
        state.leave(id, Refusal::HelloMs, "hello did not come in time", 1);
        state.late_answer_is_due(id, 2);
        let conn = &state.conns[&id];
        assert_eq!((&conn.stage, conn.greeted), (&Stage::Flushing, false));
        assert!(conn.outbox.has_waiting(), "the peer has not read");
    }

    #[test]
    fn answers_to_guesses_come_later_and_later_and_networks_are_bounded() {
        let mut guesses = Guesses::default();
        let delays: Vec<u64> = (0..8).map(|_| guesses.note(None, 0) / 1_000_000).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        for n in 0..3000_u32 {
            guesses.note(Some(IpAddr::V4(n.into())), 1);
        }
        assert!(guesses.by_network.len() <= NETWORKS);
        // An honest client that mistyped is not punished for ever.
        assert_eq!(guesses.note(None, FORGET_NS * 2), 100_000_000);
    }
}
