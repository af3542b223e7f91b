//! What is moved, as far as it is counted.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that peers sent and were sent. Whoever moves them counts them, without the lock.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
}

impl Traffic {
    pub(crate) fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Relaxed);
    }

    /// The bytes that peers sent, and those that they were sent.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.received.load(Relaxed), self.sent.load(Relaxed))
    }
}
