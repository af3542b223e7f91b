//! The daemon's numbers for operators, as a scrape shows them.
//!
//! What happens is counted in the state (`tally`) and beside it; here it is only copied, and written by
//! [`text`].

mod process;
mod text;

use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use crate::runtime::Shared;
use crate::state::status::Measured;

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

/// The numbers of this moment.
pub(crate) fn scrape(shared: &Shared, now_ns: u64) -> Scrape {
    let state = shared.lock().measure(now_ns);
    let (received_bytes, sent_bytes) = shared.traffic.totals();
    let incidents = shared.incidents.load(Relaxed);
    Scrape { state, received_bytes, sent_bytes, incidents, started: shared.started }
}
