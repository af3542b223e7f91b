//! What a daemon holds when it rests, before and after a load.

use std::thread;
use std::time::{Duration, Instant};

use plyd::cli::columns::{Columns, grouped};
use plyd_protocol::StatusResult;

use crate::server::{Outcome, Server, TIMEOUT};

/// Search threads that the daemon may keep for later.
const KEPT_THREADS: u64 = 4;
/// What an allocator may keep.
const KEPT_MEMORY_KIB: u64 = 32 * 1024;

/// What the process holds.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    status: StatusResult,
    threads: u64,
    descriptors: u64,
    memory_kib: u64,
}

impl Level {
    /// The level at rest: once no search runs and no session is open.
    pub(crate) fn at_rest(server: &Server) -> Outcome<Self> {
        let mut peer = server.connect()?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let status = peer.status()?;
            if (status.searches == 0 && status.sessions == 0) || Instant::now() > deadline {
                return Ok(Self {
                    status,
                    threads: server.proc_status("Threads:")?,
                    descriptors: server.descriptors()?,
                    memory_kib: server.proc_status("VmRSS:")?,
                });
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The level at rest once it has come down to what it was before, or does not within some time: idle
    /// threads end on their own time.
    pub(crate) fn settled(server: &Server, before: &Self) -> Outcome<Self> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let after = Self::at_rest(server)?;
            if after.leaks(before).is_empty() || Instant::now() > deadline {
                return Ok(after);
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// What is above the level before.
    pub(crate) fn leaks(&self, before: &Self) -> Vec<String> {
        let allowed_kib = before.memory_kib + before.memory_kib / 4 + KEPT_MEMORY_KIB;
        [
            ("searches", self.status.searches, 0),
            ("sessions", self.status.sessions, 0),
            ("busy search threads", self.status.threads, 0),
            ("table bytes", self.status.hash_bytes, 0),
            ("threads", self.threads, before.threads + KEPT_THREADS),
            ("file descriptors", self.descriptors, before.descriptors),
            ("memory in KiB", self.memory_kib, allowed_kib),
            ("abandoned searches", self.status.counters.abandoned, 0),
            ("failed searches", self.status.counters.failed, 0),
        ]
        .into_iter()
        .filter(|(_, level, allowed)| level > allowed)
        .map(|(name, level, allowed)| format!("{name}: {level}, allowed are {allowed}"))
        .collect()
    }

    /// Levels in the order of their time, each with what its row begins with.
    pub(crate) fn history(heading: &[&str], levels: &[(Vec<String>, Self)]) -> Columns {
        const NUMBERS: [&str; 8] = [
            "memory in KiB",
            "threads",
            "descriptors",
            "connections so far",
            "searches so far",
            "failed",
            "abandoned",
            "cut off",
        ];
        let mut table = Columns::new([heading, &NUMBERS].concat());
        for (beginning, level) in levels {
            let counters = &level.status.counters;
            let numbers = [
                level.memory_kib,
                level.threads,
                level.descriptors,
                counters.connections,
                counters.searches,
                counters.failed,
                counters.abandoned,
                counters.connections_dropped,
            ];
            table.row(beginning.iter().cloned().chain(numbers.map(grouped)));
        }
        table
    }

    /// Both levels side by side.
    pub(crate) fn table(before: &Self, after: &Self) -> Columns {
        let mut table = Columns::new(["at rest", "before", "after"]);
        let mut row = |name: &str, pick: fn(&Self) -> u64| {
            table.row([name.to_owned(), grouped(pick(before)), grouped(pick(after))]);
        };
        row("searches", |level| level.status.searches);
        row("sessions", |level| level.status.sessions);
        row("busy search threads", |level| level.status.threads);
        row("table bytes", |level| level.status.hash_bytes);
        row("threads", |level| level.threads);
        row("file descriptors", |level| level.descriptors);
        row("memory in KiB", |level| level.memory_kib);
        row("connections so far", |level| level.status.counters.connections);
        row("searches so far", |level| level.status.counters.searches);
        row("errors so far", |level| level.status.counters.errors);
        row("failed searches", |level| level.status.counters.failed);
        row("abandoned searches", |level| level.status.counters.abandoned);
        row("connections cut off", |level| level.status.counters.connections_dropped);
        table
    }
}
