//! The memory of transposition tables, which all engines share.
//!
//! It is counted by [`Claim`]s that travel with the engines, so that it stays counted for as long as an
//! engine lives, wherever that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The memory that transposition tables may take together.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    used: Arc<AtomicU64>,
    total: u64,
}

/// The least that an engine gets, if it asks for as much.
const SMALLEST: u64 = 1 << 20;

impl Memory {
    /// `total` bytes, none in use.
    pub(super) fn new(total: u64) -> Self {
        Self { used: Arc::new(AtomicU64::new(0)), total }
    }

    /// The bytes in use.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The bytes that there are.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Takes `bytes` or less: at most half of what is left, so that something is left for the next claim, and
    /// at least [`SMALLEST`], even past the total. A search is never refused for want of
    /// memory.
    pub(super) fn claim(&self, bytes: u64) -> Claim {
        let share = |used: u64| bytes.min(self.total.saturating_sub(used) / 2).max(SMALLEST.min(bytes));
        let mut taken = 0;
        let take = |used: u64| {
            taken = share(used);
            used.checked_add(taken)
        };
        if self.used.fetch_update(Relaxed, Relaxed, take).is_err() {
            taken = 0;
        }
        Claim { used: Arc::clone(&self.used), bytes: taken }
    }
}

/// Table memory in use, given back when dropped.
#[derive(Debug)]
pub(super) struct Claim {
    used: Arc<AtomicU64>,
    bytes: u64,
}

impl Claim {
    /// The claimed bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_with_the_claim() {
        let memory = Memory::new(100 * SMALLEST);
        let first = memory.claim(40 * SMALLEST);
        let second = memory.claim(40 * SMALLEST);
        assert_eq!((first.bytes(), second.bytes()), (40 * SMALLEST, 30 * SMALLEST));
        drop(first);
        assert_eq!(memory.used(), second.bytes());
        drop(second);
        assert_eq!(memory.used(), 0);
    }

    #[test]
    fn hoarders_leave_something_for_everyone() {
        let memory = Memory::new(100 * SMALLEST);
        let claims: Vec<Claim> = (0..200).map(|_| memory.claim(u64::MAX)).collect();
        assert_eq!(claims[0].bytes(), 50 * SMALLEST);
        assert!(claims.iter().all(|claim| claim.bytes() >= SMALLEST));
        assert_eq!(memory.claim(7).bytes(), 7);
    }
}
