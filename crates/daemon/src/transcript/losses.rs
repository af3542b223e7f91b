//! Lines that are missing from a transcript: the thread that drops one counts and logs it. The thread that
//! writes could not: it is the one that hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plyd_core::search::clock::now_ns;

/// At most one line of log in this time.
const LOG_NS: u64 = 10_000_000_000;

/// The lines lost so far.
#[derive(Default)]
pub(super) struct Losses {
    total: Arc<AtomicU64>,
    unlogged: AtomicU64,
    /// When the count was last logged; 0: never.
    logged_ns: AtomicU64,
}

impl Losses {
    /// Counts lost lines, and logs them: the first at once, later ones together.
    pub(super) fn note(&self, lines: u64) {
        if lines == 0 {
            return;
        }
        self.total.fetch_add(lines, Relaxed);
        self.unlogged.fetch_add(lines, Relaxed);
        let (now, last) = (now_ns().max(1), self.logged_ns.load(Relaxed));
        let is_due = last == 0 || last.saturating_add(LOG_NS) <= now;
        // Another thread that drops lines logs it for all.
        if is_due && self.logged_ns.compare_exchange(last, now, Relaxed, Relaxed).is_ok() {
            self.report();
        }
    }

    /// Logs what was lost since that was last logged.
    pub(super) fn report(&self) {
        let lines = self.unlogged.swap(0, Relaxed);
        if lines > 0 {
            tracing::warn!(lines, "lines are missing from the transcript");
        }
    }

    /// The count, as it grows.
    pub(super) fn total(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::accepting::Log;

    #[test]
    fn the_first_loss_is_logged_at_once_and_later_ones_together() {
        let log = Log::default();
        let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
        let _logging = tracing::subscriber::set_default(subscriber);
        let losses = Losses::default();
        losses.note(0);
        assert_eq!(log.text(), "");
        losses.note(1);
        assert!(log.text().contains("lines are missing from the transcript lines=1"), "{}", log.text());
        for _ in 0..9 {
            // As if the last line of log were fresh, however slow the machine is.
            losses.logged_ns.store(u64::MAX, Relaxed);
            losses.note(1);
        }
        assert_eq!(log.text().lines().count(), 1, "{}", log.text());
        losses.report();
        losses.report();
        let text = log.text();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("lines=9"), "{text}");
        assert_eq!(losses.total().load(Relaxed), 10);
    }
}
