//! A table of won and lost positions whose keys are the positions themselves, so that no hash collision can
//! make it wrong.

use super::board::UNPLACED;
use plyd_core::bits::Bits;

/// Boards of more cells have no table: a key holds the open cells in 112 bits and both tokens.
const MOST_CELLS: usize = 112;
/// Entries that share a place. Of the two oldest, the one with fewer open cells is replaced: it took less
/// work.
const WAYS: usize = 4;
/// A table of this size, 256 KiB, stays in a core's own cache, also where that has 512 KiB: there one of
/// 1 MiB saves 2 % of the nodes on 7x7, and takes more time.
const MOST_ENTRIES: usize = 1 << 14;
/// The entries with which a table begins, so that a session that solves little uses little memory; it grows
/// fourfold.
const FIRST_ENTRIES: usize = 1 << 10;

/// A position's key: the open cells from bit 16 on, then the mover's token, the other's, and two free bits.
pub(super) type Key = u128;

/// The key's bit for a won position.
const WON: u128 = 2;
/// The key's bit for an entry that is in use.
const USED: u128 = 1;

/// What was decided, on one board.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    /// A power of two of them; none if the board is too large.
    entries: Vec<u128>,
    /// How many entries are in use.
    used: usize,
}

impl Decided {
    /// An empty table for a board of `cells` cells.
    pub(super) fn new(cells: usize) -> Self {
        Self { entries: vec![0; if cells <= MOST_CELLS { FIRST_ENTRIES } else { 0 }], used: 0 }
    }

    /// The key of a position with the mover's token on `own` and the other on `opp`. Cells of `open` that
    /// neither can reach should not be in it: then more positions are the same.
    #[inline]
    pub(super) fn key<B: Bits>(open: B, own: u8, opp: u8) -> Key {
        let token = |cell: u8| u128::from(cell & (UNPLACED >> 1));
        open.packed() << 16 | token(own) << 9 | token(opp) << 2
    }

    /// Whether the mover wins, if it was decided before.
    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<bool> {
        if self.entries.is_empty() {
            return None;
        }
        let place = self.place(key);
        let known = self.entries[place..place + WAYS].iter().find(|&&entry| entry & !WON == key | USED);
        known.map(|entry| entry & WON != 0)
    }

    /// Keeps whether the mover wins.
    #[inline]
    pub(super) fn put(&mut self, key: Key, won: bool) {
        if self.entries.is_empty() {
            return;
        }
        if 2 * self.used >= self.entries.len() && self.entries.len() < MOST_ENTRIES {
            self.grow();
        }
        self.insert(key | USED | if won { WON } else { 0 });
    }

    /// Puts an entry before the others in its place.
    #[inline]
    fn insert(&mut self, entry: u128) {
        let place = self.place(entry);
        let ways = &mut self.entries[place..place + WAYS];
        let open_cells = |entry: u128| (entry >> 16).count_ones();
        let kept = if open_cells(ways[WAYS - 1]) > open_cells(ways[WAYS - 2]) { WAYS - 2 } else { WAYS - 1 };
        self.used += usize::from(ways[kept] == 0);
        ways.copy_within(..kept, 1);
        ways[0] = entry;
    }

    /// Makes room, and keeps what is known.
    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; 4 * self.entries.len()];
        let known = std::mem::replace(&mut self.entries, larger);
        self.used = 0;
        // The oldest of a place first, so that they stay in order.
        for ways in known.chunks(WAYS) {
            ways.iter().rev().filter(|&&entry| entry != 0).for_each(|&entry| self.insert(entry));
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.entries = vec![0; self.entries.len().min(FIRST_ENTRIES)];
        self.used = 0;
    }

    /// Where a position stands, whatever the two low bits say.
    #[inline]
    fn place(&self, key: Key) -> usize {
        let folded = (key >> 64) as u64 ^ (key as u64 >> 2).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - self.entries.len().trailing_zeros())) as usize & !(WAYS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    #[test]
    fn a_position_is_found_or_forgotten_but_never_mistaken() {
        let mut random = SplitMix64::new(1);
        let mut table = Decided::new(99);
        let position = |random: &mut SplitMix64| {
            let open = (u128::from(random.next()) << 64 | u128::from(random.next())) >> (128 - 99);
            (open, random.below(99) as u8, random.below(99) as u8)
        };
        let positions: Vec<_> = (0..100_000).map(|_| position(&mut random)).collect();
        let won = |(open, own, opp): (u128, u8, u8)| (open.count_ones() + u32::from(own ^ opp)) % 2 == 0;
        for &(open, own, opp) in &positions {
            let key = Decided::key(open, own, opp);
            assert_eq!(table.get(key), None);
            table.put(key, won((open, own, opp)));
            assert_eq!(table.get(key), Some(won((open, own, opp))));
        }
        let kept: Vec<bool> = positions
            .iter()
            .filter_map(|&position| {
                let known = table.get(Decided::key(position.0, position.1, position.2))?;
                Some(known == won(position))
            })
            .collect();
        assert!(kept.len() > MOST_ENTRIES / 2 && kept.iter().all(|&right| right));
        let (open, own, opp) = positions[99_999];
        for near in [(open ^ 1, own, opp), (open, own ^ 1, opp), (open, own, opp ^ 1), (open, opp, own)] {
            assert_eq!(table.get(Decided::key(near.0, near.1, near.2)), None);
        }
        table.clear();
        assert_eq!(table.get(Decided::key(open, own, opp)), None);
    }

    #[test]
    fn boards_too_large_for_exact_keys_have_no_table() {
        let mut table = Decided::new(MOST_CELLS + 1);
        table.put(Decided::key(1_u128, 3, 4), true);
        assert_eq!(table.get(Decided::key(1_u128, 3, 4)), None);
    }
}
