//! The transposition table: what earlier visits to a position found, shared by the threads of a search.
//!
//! Two relaxed `AtomicU64` an entry, the key stored XORed with the data, so that a torn write reads as a miss
//! (Hyatt, Mann: "A lock-less transposition table implementation for parallel search", 2002). The table knows
//! neither game nor evaluation; moves are the numbers that [`Game::index`](crate::game::Game::index) gives.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use prefetch_index::prefetch_index;

use crate::score::{Score, Value};
use crate::search::Bound;

/// What the table knows of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TableEntry {
    /// The value, with the distance counted from the position itself.
    pub value: Value,
    /// On which side of the search's value it is.
    pub bound: Bound,
    /// The depth of the search that found it.
    pub depth: u8,
    /// The index of the best move; none at positions where no move was better than the others.
    pub best: Option<u16>,
}

impl TableEntry {
    /// Whether the value bounds a search to `depth` from below.
    #[inline]
    #[must_use]
    pub(super) fn lower(&self, depth: i32) -> bool {
        self.value.at_least || (self.bound != Bound::Upper && i32::from(self.depth) >= depth)
    }

    /// Whether the entry decides a search to `depth` with a window from `alpha` to `beta`, `score` being its
    /// own from the root's view.
    #[inline]
    #[must_use]
    pub(super) fn decides(&self, score: Score, depth: i32, alpha: Score, beta: Score) -> bool {
        let (lower, upper) = (self.lower(depth), self.upper(depth));
        (lower && (upper || score >= beta)) || (upper && score <= alpha)
    }

    /// Whether the value bounds a search to `depth` from above.
    #[inline]
    #[must_use]
    pub(super) fn upper(&self, depth: i32) -> bool {
        self.value.at_most || (self.bound != Bound::Lower && i32::from(self.depth) >= depth)
    }
}

const NO_MOVE: u16 = u16::MAX;

/// Data layout, from the low end: score 32, move 16, depth 8, bound 2, at_least 1, at_most 1, generation 4.
fn pack(entry: TableEntry, generation: u8) -> u64 {
    u64::from(entry.value.score.raw() as u32)
        | u64::from(entry.best.unwrap_or(NO_MOVE)) << 32
        | u64::from(entry.depth) << 48
        | (entry.bound as u64) << 56
        | u64::from(entry.value.at_least) << 58
        | u64::from(entry.value.at_most) << 59
        | u64::from(generation & 15) << 60
}

fn unpack(data: u64) -> TableEntry {
    let best = (data >> 32) as u16;
    TableEntry {
        value: Value {
            score: Score::from_raw(data as u32 as i32),
            at_least: data >> 58 & 1 != 0,
            at_most: data >> 59 & 1 != 0,
        },
        bound: match data >> 56 & 3 {
            0 => Bound::Exact,
            1 => Bound::Lower,
            _ => Bound::Upper,
        },
        depth: (data >> 48) as u8,
        best: (best != NO_MOVE).then_some(best),
    }
}

#[derive(Default)]
struct Slot {
    /// The key XOR the data.
    check: AtomicU64,
    data: AtomicU64,
}

/// Four entries in a cache line; a position may stand in any of them.
#[derive(Default)]
#[repr(align(64))]
struct Cluster([Slot; 4]);

const _: () = assert!(size_of::<Cluster>() == 64);

/// The smallest table, in clusters: what a search of milliseconds fills. Larger ones grow to their size.
const FIRST_CLUSTERS: usize = 1 << 13;
/// How many clusters come into a larger table at once: a small part of a search of milliseconds.
const MOVED_CLUSTERS: usize = 1 << 9;

/// A table of a fixed number of clusters, a power of two.
pub(super) struct Table {
    clusters: Vec<Cluster>,
    limit: usize,
    generation: AtomicU8,
    /// The next larger table, as far as it is made, and how many clusters of this one have come into it.
    /// Until that is done there is memory for both, up to half more than the limit.
    larger: Option<Box<Self>>,
    moved: usize,
}

impl Table {
    /// A table of at most `mebibytes`. It starts small, because zeroing memory costs a search its first
    /// milliseconds, and [`Table::grow`] enlarges it between iterations.
    #[must_use]
    pub(super) fn new(mebibytes: usize) -> Self {
        let clusters = (mebibytes.max(1) << 20) / size_of::<Cluster>();
        let limit = if clusters.is_power_of_two() { clusters } else { clusters.next_power_of_two() / 2 };
        Self::of(empty(limit.min(FIRST_CLUSTERS)), limit)
    }

    fn of(clusters: Vec<Cluster>, limit: usize) -> Self {
        Self { clusters, limit, generation: AtomicU8::new(0), larger: None, moved: 0 }
    }

    /// Starts a new search: entries of older ones are replaced first.
    pub(super) fn next_generation(&self) {
        self.generation.fetch_add(1, Relaxed);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        *self = Self::of(empty(self.clusters.len().min(FIRST_CLUSTERS)), self.limit);
    }

    /// Enlarges the table fourfold, within its limit, when more than a quarter is in use; keeps the entries.
    ///
    /// That takes longer than a search of milliseconds, so it polls `is_enough`, and if that is set leaves
    /// the table as it is; the next call goes on. What a search learns in between may be lost.
    pub(super) fn grow(&mut self, is_enough: &dyn Fn() -> bool) {
        if self.clusters.len() >= self.limit || self.used_ppm() < 250_000 {
            return;
        }
        let size = (self.clusters.len() * 4).min(self.limit);
        let limit = self.limit;
        let larger = self.larger.get_or_insert_with(|| Box::new(Self::of(Vec::with_capacity(size), limit)));
        while larger.clusters.len() < size {
            if is_enough() {
                return;
            }
            let more = (larger.clusters.len() + FIRST_CLUSTERS).min(size);
            larger.clusters.resize_with(more, Cluster::default);
        }
        larger.generation.store(self.generation.load(Relaxed), Relaxed);
        for chunk in self.clusters[self.moved..].chunks(MOVED_CLUSTERS) {
            if is_enough() {
                return;
            }
            for slot in chunk.iter().flat_map(|cluster| &cluster.0) {
                let data = slot.data.load(Relaxed);
                if data != 0 {
                    larger.store(slot.check.load(Relaxed) ^ data, unpack(data));
                }
            }
            self.moved += chunk.len();
        }
        if let Some(larger) = self.larger.take() {
            *self = *larger;
        }
    }

    /// The number of a position's cluster. The length is a power of two, so the mask stays inside.
    #[inline]
    fn place(&self, key: u64) -> usize {
        key as usize & (self.clusters.len() - 1)
    }

    #[inline]
    fn cluster(&self, key: u64) -> &Cluster {
        &self.clusters[self.place(key)]
    }

    /// Prefetches the memory of a position, for a probe that follows.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch_index(&self.clusters, self.place(key));
    }

    /// What is known of the position with this key.
    #[inline]
    #[must_use]
    pub(super) fn get(&self, key: u64) -> Option<TableEntry> {
        self.cluster(key).0.iter().find_map(|slot| {
            let data = slot.data.load(Relaxed);
            (slot.check.load(Relaxed) ^ data == key && data != 0).then(|| unpack(data))
        })
    }

    /// Keeps an entry: in the place of the same position, else of the shallowest entry, older searches'
    /// first.
    #[inline]
    pub(super) fn store(&self, key: u64, mut entry: TableEntry) {
        let generation = self.generation.load(Relaxed) & 15;
        let mut place = &self.cluster(key).0[0];
        let mut lowest = i32::MAX;
        for slot in &self.cluster(key).0 {
            let data = slot.data.load(Relaxed);
            if data == 0 || slot.check.load(Relaxed) ^ data == key {
                if data != 0 {
                    let old = unpack(data);
                    // A proven value is not given up for a guess, and a known best move stays.
                    if old.value.is_exact() && !entry.value.is_exact() {
                        return;
                    }
                    entry.best = entry.best.or(old.best);
                }
                place = slot;
                break;
            }
            let age = i32::from((generation.wrapping_sub((data >> 60) as u8)) & 15);
            let worth = i32::from((data >> 48) as u8) - 8 * age;
            if worth < lowest {
                lowest = worth;
                place = slot;
            }
        }
        let data = pack(entry, generation);
        place.data.store(data, Relaxed);
        place.check.store(key ^ data, Relaxed);
    }

    /// How full the table is, in parts per million, by a sample of its first clusters.
    #[must_use]
    pub(super) fn used_ppm(&self) -> u32 {
        let sample = &self.clusters[..self.clusters.len().min(256)];
        let slots = sample.iter().flat_map(|cluster| &cluster.0);
        let used = slots.filter(|slot| slot.data.load(Relaxed) != 0).count();
        (used * 1_000_000 / (sample.len() * 4)) as u32
    }
}

fn empty(clusters: usize) -> Vec<Cluster> {
    let mut table = Vec::new();
    table.resize_with(clusters, Cluster::default);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zobrist::SplitMix64;

    fn entry(score: Score, depth: u8) -> TableEntry {
        let value = Value { score, at_least: true, at_most: false };
        TableEntry { value, bound: Bound::Lower, depth, best: Some(77) }
    }

    #[test]
    fn entries_come_back_whole() {
        let table = Table::new(1);
        for (i, score) in
            [Score::win_in(3), Score::loss_in(9), Score::eval(-12_345), Score::DRAW].into_iter().enumerate()
        {
            for bound in [Bound::Exact, Bound::Lower, Bound::Upper] {
                for flags in 0..4 {
                    let value = Value { score, at_least: flags & 1 != 0, at_most: flags & 2 != 0 };
                    let kept = TableEntry { value, bound, depth: 255, best: Some(i as u16) };
                    assert_eq!(unpack(pack(kept, 7)), kept);
                }
            }
        }
        table.store(99, entry(Score::win_in(3), 4));
        assert_eq!(table.get(99), Some(entry(Score::win_in(3), 4)));
        assert_eq!(table.get(98), None);
    }

    #[test]
    fn the_shallowest_makes_room_and_a_new_search_displaces_the_old() {
        let table = Table::new(1);
        let clash = |i: u64| 5 + (i << 40);
        for i in 0..4 {
            table.store(clash(i), entry(Score::DRAW, 10 + i as u8));
        }
        table.store(clash(4), entry(Score::DRAW, 1));
        assert!(table.get(clash(0)).is_none() && table.get(clash(4)).is_some());
        table.next_generation();
        table.store(clash(5), entry(Score::DRAW, 1));
        assert!(table.get(clash(4)).is_none() && table.get(clash(3)).is_some());
    }

    #[test]
    fn growing_keeps_what_is_known() {
        let mut table = Table::new(8);
        let mut random = SplitMix64::new(3);
        let keys: Vec<u64> = (0..9000).map(|_| random.next()).collect();
        for &key in &keys {
            table.store(key, entry(Score::eval((key >> 50) as i32), 3));
        }
        let before: Vec<_> = keys.iter().filter_map(|&key| table.get(key)).collect();
        let small = table.clusters.len();
        table.grow(&|| true);
        assert_eq!(table.clusters.len(), small, "a stop comes first");
        table.grow(&|| false);
        assert_eq!(table.clusters.len(), small * 4);
        assert_eq!(keys.iter().filter_map(|&key| table.get(key)).collect::<Vec<_>>(), before);
        assert!(before.len() > 8900);
    }

    /// Calls that are cut off again and again after one step enlarge the table nevertheless.
    #[test]
    fn growing_goes_on_where_it_was_cut() {
        let mut table = Table::new(8);
        let mut random = SplitMix64::new(4);
        let keys: Vec<u64> = (0..9000).map(|_| random.next()).collect();
        for &key in &keys {
            table.store(key, entry(Score::eval((key >> 50) as i32), 3));
        }
        let before: Vec<_> = keys.iter().filter_map(|&key| table.get(key)).collect();
        let small = table.clusters.len();
        let mut calls = 0;
        while table.clusters.len() == small {
            let steps = std::cell::Cell::new(0);
            table.grow(&|| steps.replace(steps.get() + 1) == 1);
            assert_eq!(keys.iter().filter_map(|&key| table.get(key)).collect::<Vec<_>>(), before);
            calls += 1;
            assert!(calls < 30, "no call begins anew");
        }
        assert!(calls > 3, "each call was cut");
        assert_eq!(table.clusters.len(), small * 4);
    }

    #[test]
    fn what_is_cleared_does_not_come_back_by_growing() {
        let mut table = Table::new(8);
        let fill = |table: &Table, seed: u64| -> Vec<u64> {
            let mut random = SplitMix64::new(seed);
            let keys: Vec<u64> = (0..9000).map(|_| random.next()).collect();
            keys.iter().for_each(|&key| table.store(key, entry(Score::DRAW, 3)));
            keys
        };
        let old = fill(&table, 5);
        let steps = std::cell::Cell::new(0);
        table.grow(&|| steps.replace(steps.get() + 1) == 8);
        assert!(table.moved > 0, "some are in the larger table");
        table.clear();
        let new = fill(&table, 6);
        table.grow(&|| false);
        assert!(old.iter().all(|&key| table.get(key).is_none()));
        assert!(new.iter().filter(|&&key| table.get(key).is_some()).count() > 8900);
    }

    #[test]
    fn proofs_hold_at_every_depth() {
        let proven = entry(Score::win_in(3), 2);
        assert!(proven.lower(30) && !proven.upper(2));
        let guess =
            TableEntry { value: Value::guess(Score::DRAW), bound: Bound::Exact, depth: 5, best: None };
        assert!(guess.lower(5) && guess.upper(5) && !guess.lower(6) && !guess.upper(6));
    }
}
