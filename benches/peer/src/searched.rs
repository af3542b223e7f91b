//! What one search took and found.

use std::time::{Duration, Instant};

use plyd::search::clock;
use serde::Serialize;

/// One search to a depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Searched {
    /// CPU time of the thread that was asked.
    pub(crate) cpu: Duration,
    /// Wall time.
    pub(crate) wall: Duration,
    /// Nodes as the search counts them.
    pub(crate) nodes: u64,
    /// The root's value in moves.
    pub(crate) value: i32,
}

impl Searched {
    /// The search that was faster, of two that were asked the same.
    pub(crate) fn faster(self, other: Self) -> Self {
        if other.wall < self.wall { other } else { self }
    }

    /// The wall time or the CPU time.
    pub(crate) fn time(&self, wall: bool) -> Duration {
        if wall { self.wall } else { self.cpu }
    }
}

/// Runs `work` and gives the CPU time and the wall time that it took on this thread.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, Duration, T) {
    let (began, cpu) = (Instant::now(), clock::thread_cpu_time());
    let result = work();
    (clock::thread_cpu_time() - cpu, began.elapsed(), result)
}
