//! What one thread remembers of positions it has solved. A key is a whole position, so none is mistaken.

use super::board::Position;

/// Buckets of a table.
const BUCKETS: usize = 1 << 12;
/// Entries of a bucket.
const WAYS: usize = 4;

/// Solved positions, in 256 KiB. A larger table knows more, but is slower: it leaves the cache of the core.
pub(crate) struct Table {
    buckets: Box<[[u128; WAYS]]>,
}

/// A position as the lower 76 bits of an entry. The result is bit 76, and an empty entry is 0: no position
/// has both tokens on cell 0.
fn key(pos: &Position) -> u128 {
    u128::from(pos.open) | (u128::from(pos.mover) << 64) | (u128::from(pos.other) << 70)
}

/// The bit of an entry that says whether the player to move wins.
const WON: u128 = 1 << 76;
/// The bits of an entry that hold the position.
const KEY: u128 = WON - 1;

impl Default for Table {
    fn default() -> Self {
        Self { buckets: vec![[0; WAYS]; BUCKETS].into_boxed_slice() }
    }
}

impl Table {
    /// The bucket of a position.
    #[inline(always)]
    fn bucket(pos: &Position) -> usize {
        let tokens = u64::from(pos.mover) << 8 | u64::from(pos.other);
        let mixed =
            (pos.open ^ tokens.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed >> 52) as usize % BUCKETS
    }

    /// Whether the player to move wins, if the table knows.
    #[inline(always)]
    pub(crate) fn get(&self, pos: &Position) -> Option<bool> {
        let wanted = key(pos);
        let bucket = &self.buckets[Self::bucket(pos)];
        bucket.iter().find(|&&entry| entry & KEY == wanted).map(|entry| entry & WON != 0)
    }

    /// Keeps a result, in place of the smallest of the bucket's positions.
    #[inline(always)]
    pub(crate) fn put(&mut self, pos: &Position, won: bool) {
        let bucket = &mut self.buckets[Self::bucket(pos)];
        let open = |entry: u128| (entry as u64).count_ones();
        let mut worst = 0;
        for way in 1..WAYS {
            if open(bucket[way]) < open(bucket[worst]) {
                worst = way;
            }
        }
        bucket[worst] = key(pos) | if won { WON } else { 0 };
    }
}
