//! The load at this moment: what `status` reports, and what a scrape copies.

use std::sync::atomic::Ordering::Relaxed;

use plyd_protocol as wire;

use super::State;
use super::job::Phase;
use super::tally::Tally;
use crate::log;

/// The phases of searches, by their names.
pub(crate) const PHASES: [&str; 5] = ["preparing", "waiting", "starting", "searching", "open"];

/// The states of connections, by their names.
pub(crate) const STATES: [&str; 4] = ["stranger", "open", "closing", "kept"];

/// The numbers of a moment: a copy, so that nobody waits while it is written.
pub(crate) struct Measured {
    pub(crate) status: wire::StatusResult,
    pub(crate) tally: Tally,
    /// Connections by their state, and searches by their phase.
    pub(crate) connections: [u64; STATES.len()],
    pub(crate) phases: [u64; PHASES.len()],
    pub(crate) connections_most: u64,
    pub(crate) cores: u64,
    pub(crate) hash_most: u64,
    pub(crate) unsent_bytes: u64,
    pub(crate) request_bytes: u64,
    pub(crate) session_bytes: u64,
    pub(crate) log_left_out: u64,
}

impl State {
    /// Copies all numbers. Takes microseconds, however much is searched: nothing is waited for.
    pub(crate) fn measure(&self, now_ns: u64) -> Measured {
        let mut tally = self.tally.clone();
        let mut phases = [0; PHASES.len()];
        for job in self.jobs.values() {
            tally.searched(job.game, job.control.stats().nodes);
            phases[match job.phase {
                Phase::Preparing => 0,
                Phase::Waiting => 1,
                Phase::Starting => 2,
                Phase::Searching(_) => 3,
                Phase::Open(_) => 4,
            }] += 1;
        }
        let mut connections = [0; STATES.len()];
        let (mut unsent, mut held, mut session) = (0, 0, 0);
        for (id, conn) in &self.conns {
            connections[conn.state() as usize] += 1;
            unsent += conn.outbox.unsent() as u64;
            held += conn.held.total() as u64;
            session += self.held_by_sessions(*id) as u64;
        }
        Measured {
            status: self.status(now_ns),
            tally,
            connections,
            phases,
            connections_most: self.limits.connections as u64,
            cores: self.limits.cores as u64,
            hash_most: self.memory.total(),
            unsent_bytes: unsent,
            request_bytes: held,
            session_bytes: session,
            log_left_out: log::left_out(),
        }
    }

    /// The load and the counters, as `status` reports them.
    pub(crate) fn status(&self, now_ns: u64) -> wire::StatusResult {
        let running: u64 = self.jobs.values().map(|job| job.control.stats().nodes).sum();
        wire::StatusResult {
            searches: self.jobs.len() as u64,
            sessions: self.conns.values().map(|conn| conn.sessions.len() as u64).sum(),
            threads: self.schedule.running() as u64,
            hash_bytes: self.memory.used(),
            uptime_ms: now_ns.saturating_sub(self.began_ns) / 1_000_000,
            counters: wire::Counters {
                nodes: self.counters.nodes + running,
                log_lost: log::lost(),
                transcript_lost: self.transcript_lost.load(Relaxed),
                ..self.counters
            },
        }
    }
}
