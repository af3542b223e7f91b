//! The memory of transposition tables, which all engines share.
//!
//! It is counted by [`MemoryClaim`]s that travel with the engines, so that it stays counted for as long as an
//! engine lives, wherever that is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The memory that transposition tables may take together.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    used: Arc<AtomicU64>,
    total: Arc<AtomicU64>,
    /// The memory of which this is a part.
    whole: Option<Box<Memory>>,
}

/// What one search may have at most.
#[derive(Clone, Debug)]
pub(crate) struct Quota {
    /// Its threads.
    pub(crate) threads: usize,
    /// The memory that its table is taken from.
    pub(crate) memory: Memory,
}

/// The least that an engine gets, if it asks for as much.
const SMALLEST: u64 = 1 << 20;

impl Memory {
    /// `total` bytes, none in use.
    pub(crate) fn new(total: u64) -> Self {
        Self { used: Arc::default(), total: Arc::new(AtomicU64::new(total)), whole: None }
    }

    /// A part of it, of at most `total` bytes and with none in use: what is claimed of the part is claimed of
    /// the whole.
    pub(super) fn part(&self, total: u64) -> Self {
        Self { whole: Some(Box::new(self.clone())), ..Self::new(total) }
    }

    /// The bytes in use.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Relaxed)
    }

    /// The bytes that there are.
    pub(crate) fn total(&self) -> u64 {
        let whole = self.whole.as_ref().map_or(u64::MAX, |whole| whole.total());
        self.total.load(Relaxed).min(whole)
    }

    /// Changes the total. What is claimed stays claimed, even past a smaller one.
    pub(super) fn set_total(&self, total: u64) {
        self.total.store(total, Relaxed);
    }

    /// Takes `bytes` or less: at most half of what is left, so that something is left for the next claim, and
    /// at least [`SMALLEST`], even past the total. A search is never refused for want of
    /// memory.
    pub(super) fn claim(&self, bytes: u64) -> MemoryClaim {
        let mut own = self.claim_own(bytes);
        if let Some(whole) = &self.whole {
            let of_whole = whole.claim(own.bytes);
            self.used.fetch_sub(own.bytes - of_whole.bytes, Relaxed);
            own.bytes = of_whole.bytes;
            own.of_whole = Some(Box::new(of_whole));
        }
        own
    }

    fn claim_own(&self, bytes: u64) -> MemoryClaim {
        let total = self.total.load(Relaxed);
        let share = |used: u64| bytes.min(total.saturating_sub(used) / 2).max(SMALLEST.min(bytes));
        let mut taken = 0;
        let take = |used: u64| {
            taken = share(used);
            used.checked_add(taken)
        };
        if self.used.fetch_update(Relaxed, Relaxed, take).is_err() {
            taken = 0;
        }
        MemoryClaim { used: Arc::clone(&self.used), bytes: taken, of_whole: None }
    }
}

/// Table memory in use, given back when dropped.
#[derive(Debug)]
pub(super) struct MemoryClaim {
    used: Arc<AtomicU64>,
    bytes: u64,
    /// The same bytes of what the memory is a part of, given back with it.
    of_whole: Option<Box<MemoryClaim>>,
}

impl MemoryClaim {
    /// The claimed bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for MemoryClaim {
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
    fn a_smaller_total_binds_later_claims_alone() {
        let memory = Memory::new(100 * SMALLEST);
        let first = memory.claim(40 * SMALLEST);
        memory.set_total(10 * SMALLEST);
        assert_eq!(
            (first.bytes(), memory.used(), memory.total()),
            (40 * SMALLEST, 40 * SMALLEST, 10 * SMALLEST)
        );
        assert_eq!(memory.claim(40 * SMALLEST).bytes(), SMALLEST, "a search is never refused for it");
        drop(first);
        assert_eq!(memory.clone().claim(40 * SMALLEST).bytes(), 5 * SMALLEST);
        memory.set_total(100 * SMALLEST);
        assert_eq!(memory.claim(40 * SMALLEST).bytes(), 40 * SMALLEST);
    }

    #[test]
    fn what_a_part_holds_the_whole_holds_and_neither_gives_more_than_it_has() {
        let whole = Memory::new(100 * SMALLEST);
        let (part, free) = (whole.part(8 * SMALLEST), whole.part(u64::MAX));
        assert_eq!((part.total(), free.total()), (8 * SMALLEST, 100 * SMALLEST));
        let first = part.claim(40 * SMALLEST);
        assert_eq!((first.bytes(), part.used(), whole.used()), (4 * SMALLEST, 4 * SMALLEST, 4 * SMALLEST));
        let large = free.claim(90 * SMALLEST);
        assert_eq!((large.bytes(), free.used(), whole.used()), (48 * SMALLEST, 48 * SMALLEST, 52 * SMALLEST));
        drop(first);
        assert_eq!((part.used(), whole.used()), (0, 48 * SMALLEST));
        whole.set_total(49 * SMALLEST);
        let last = part.claim(40 * SMALLEST);
        assert_eq!((last.bytes(), part.used(), whole.used()), (SMALLEST, SMALLEST, 49 * SMALLEST));
        part.set_total(0);
        drop((large, last));
        assert_eq!((part.used(), free.used(), whole.used()), (0, 0, 0));
        assert_eq!(part.claim(40 * SMALLEST).bytes(), SMALLEST, "a search is never refused for it");
    }

    #[test]
    fn hoarders_leave_something_for_everyone() {
        let memory = Memory::new(100 * SMALLEST);
        let claims: Vec<MemoryClaim> = (0..200).map(|_| memory.claim(u64::MAX)).collect();
        assert_eq!(claims[0].bytes(), 50 * SMALLEST);
        assert!(claims.iter().all(|claim| claim.bytes() >= SMALLEST));
        assert_eq!(memory.claim(7).bytes(), 7);
    }
}
