//! The thread that keeps every deadline, whatever the search threads do.
//!
//! It sleeps until the first timer of the state is due, and is woken when an earlier one is set.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::Shared;
use crate::log;
use plyd_core::search::clock::now_ns;

/// Keeps deadlines until the daemon ends.
pub(crate) fn watch(shared: &Arc<Shared>) {
    sleep_precisely();
    let mut state = shared.lock();
    while !shared.is_over() {
        shared.heartbeat.answer();
        let now = now_ns();
        match state.next_timer() {
            Some(at) if at <= now => {
                let hold = log::hold();
                state.tick(now);
                shared.release(state, now);
                drop(hold);
                state = shared.lock();
            }
            Some(at) => {
                let pause = Duration::from_nanos(at - now);
                let woken = shared.watchdog.wait_timeout(state, pause);
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
            }
            None => state = shared.watchdog.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

/// Asks the system not to delay this thread's timers in order to save power: 50 us by default.
#[cfg(target_os = "linux")]
fn sleep_precisely() {
    let slack = std::num::NonZeroU64::new(1);
    if let Err(error) = rustix::thread::set_current_timer_slack(slack) {
        tracing::debug!(target: log::targets::WATCHDOG, %error, "timers keep their slack");
    }
}

#[cfg(not(target_os = "linux"))]
fn sleep_precisely() {
    tracing::debug!(target: log::targets::WATCHDOG, "timers keep the slack that this system gives them");
}
