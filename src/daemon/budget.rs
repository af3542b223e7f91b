//! What all searches share: slots for search threads, and the memory of transposition tables.
//!
//! Slots are counted under the daemon's lock. Table memory is counted by [`Claim`]s that travel with the
//! engines, so that it stays counted for as long as an engine lives, wherever that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Search threads over all sessions.
#[derive(Debug)]
pub(super) struct Slots {
    total: usize,
    used: usize,
}

impl Slots {
    /// `total` slots, all free.
    pub(super) fn new(total: usize) -> Self {
        Self { total: total.max(1), used: 0 }
    }

    /// How many are taken; more than there are when searches run oversubscribed.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Whether `threads` more fit, once `freed` are given back.
    pub(super) fn fit(&self, threads: usize, freed: usize) -> bool {
        self.used.saturating_sub(freed) + threads <= self.total
    }

    /// Takes slots, whether they are free or not.
    pub(super) fn take(&mut self, threads: usize) {
        self.used += threads;
    }

    /// Gives slots back.
    pub(super) fn give_back(&mut self, threads: usize) {
        debug_assert!(threads <= self.used, "slots are given back once");
        self.used = self.used.saturating_sub(threads);
    }
}

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

    /// Takes `bytes`, or what can be had: never more than half of what is left, so that something is left for the
    /// next, and at least [`SMALLEST`], past the total if need be. A search is never refused for want of memory.
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
    /// The bytes that were had.
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
    fn slots_oversubscribe_and_recover() {
        let mut slots = Slots::new(2);
        assert!(slots.fit(2, 0) && !slots.fit(3, 0));
        slots.take(2);
        assert!(!slots.fit(1, 0) && slots.fit(1, 1));
        slots.take(1);
        assert_eq!(slots.used(), 3);
        assert!(!slots.fit(1, 1), "one freed of three leaves two of two");
        slots.give_back(3);
        assert!(slots.fit(2, 0));
    }

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
