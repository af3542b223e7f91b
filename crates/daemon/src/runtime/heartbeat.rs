//! Signs of life for the service manager. Each is sent only once all vital parts have answered since the last
//! one, so that a daemon that hangs is restarted.
//!
//! The vital parts are the thread of the network, on which this runs; the one lock, which is taken; and the
//! thread that keeps the deadlines, which is asked under the lock. Search threads and those that read
//! positions may be busy for long, and have limits of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;

use super::Shared;
use crate::service::ServiceManager;

/// The question to the thread that keeps the deadlines.
#[derive(Default)]
pub(crate) struct Heartbeat {
    is_asked: AtomicBool,
    answered: Notify,
}

impl Heartbeat {
    /// Answers if there was a question; called under the lock.
    pub(super) fn answer(&self) {
        if self.is_asked.swap(false, Relaxed) {
            self.answered.notify_one();
        }
    }
}

impl Shared {
    /// Returns once all have answered.
    async fn pulse(&self) {
        {
            // Under the lock, so that the thread either has yet to look or waits already, and misses nothing.
            let _state = self.lock();
            self.heartbeat.is_asked.store(true, Relaxed);
        }
        self.watchdog.notify_one();
        self.heartbeat.answered.notified().await;
    }

    /// What is going on, in a line.
    pub(crate) fn summary(&self) -> String {
        let state = self.lock();
        let count = |number: usize, what: &str, what_many: &str| {
            format!("{number} {}", if number == 1 { what } else { what_many })
        };
        let connections = count(state.conns.len(), "connection", "connections");
        let searches = count(state.jobs.len(), "search", "searches");
        let end = if state.shutting_down { "ending: " } else { "" };
        format!("{end}{connections}, {searches}")
    }
}

/// Sends signs of life for as long as the runtime lives.
pub(crate) async fn keep_alive(shared: Arc<Shared>, manager: Arc<ServiceManager>, interval: Duration) {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut said = String::new();
    loop {
        ticks.tick().await;
        shared.pulse().await;
        manager.alive();
        let summary = shared.summary();
        if summary != said {
            manager.status(&summary);
            said = summary;
        }
    }
}
