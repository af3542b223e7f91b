//! The daemon's numbers for operators, as a scrape shows them.
//!
//! What happens is counted in the state (`tally`) and beside it; here it is only copied and written ([`text`]).

mod process;
mod text;

use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use super::shared::Shared;
use super::status::Measured;

pub(crate) use text::exposition;

/// What a scrape shows.
pub(crate) struct Scrape {
    state: Measured,
    /// What is not under the lock.
    received_bytes: u64,
    sent_bytes: u64,
    incidents: u64,
    started: SystemTime,
}

impl Shared {
    /// The numbers of this moment.
    pub(crate) fn scrape(&self, now_ns: u64) -> Scrape {
        let state = self.lock().measure(now_ns);
        let (received_bytes, sent_bytes) = self.traffic.totals();
        let incidents = self.incidents.load(Relaxed);
        Scrape { state, received_bytes, sent_bytes, incidents, started: self.started }
    }
}
