//! The end of a game in which no cell is within reach of both tokens: who can walk longer, wins.

use super::board::{Cells, each};
use super::spread::Spread;

/// A token that walks alone: the moves of its longest path count.
#[derive(Clone, Copy)]
pub(crate) struct Walker {
    /// The open cells within its reach, all of them.
    pub(crate) region: Cells,
    /// The cells of `region` a knight's move away from it.
    pub(crate) moves: Cells,
}

impl Walker {
    /// A length that no path exceeds: colours alternate, and each cell serves once.
    #[inline(always)]
    pub(crate) fn most<const W: usize>(&self) -> u32 {
        let light = (self.region & Spread::<W>::LIGHT).count_ones();
        let dark = self.region.count_ones() - light;
        let (next, later) = if self.moves & Spread::<W>::LIGHT != 0 { (light, dark) } else { (dark, light) };
        if next > later { 2 * later + 1 } else { 2 * next }
    }

    /// The length of one path: always on to the cell with the fewest moves onward.
    fn some(&self, jumps: &[Cells; 64]) -> u32 {
        let (mut open, mut moves, mut length) = (self.region, self.moves, 0);
        while moves != 0 {
            let onward = |cell: &usize| {
                let count = (jumps[*cell] & open).count_ones();
                if count == 0 { 9 } else { count }
            };
            let Some(cell) = each(moves).min_by_key(onward) else { break };
            open &= !(1 << cell);
            moves = jumps[cell] & open;
            length += 1;
        }
        length
    }

    /// Whether there is a path of at least `length` moves.
    fn reaches<const W: usize>(&self, jumps: &[Cells; 64], length: u32) -> bool {
        if length <= 1 {
            return length == 0 || self.moves != 0;
        }
        if self.most::<W>() < length {
            return false;
        }
        let mut left = self.moves;
        while left != 0 {
            let onward = |cell: &usize| (jumps[*cell] & self.region).count_ones();
            let Some(cell) = each(left).min_by_key(onward) else { break };
            left &= !(1 << cell);
            let open = self.region & !(1 << cell);
            let moves = jumps[cell] & open;
            let region = Spread::<W>::reach(open, moves);
            if (Self { region, moves }).reaches::<W>(jumps, length - 1) {
                return true;
            }
        }
        false
    }

    /// The length of the longest path, or `cap` if it is longer.
    fn longest<const W: usize>(&self, jumps: &[Cells; 64], cap: u32) -> u32 {
        let most = self.most::<W>().min(cap);
        let mut length = self.some(jumps).min(most);
        while length < most && self.reaches::<W>(jumps, length + 1) {
            length += 1;
        }
        length
    }
}

/// Whether the player to move wins: its longest path has to be longer than the other's.
pub(crate) fn wins<const W: usize>(jumps: &[Cells; 64], mover: &Walker, other: &Walker) -> bool {
    let (mover_most, other_most) = (mover.most::<W>(), other.most::<W>());
    let other_some = other.some(jumps);
    if mover_most <= other_some {
        return false;
    }
    if mover.some(jumps) > other_most {
        return true;
    }
    if mover_most <= other_most {
        let length = mover.longest::<W>(jumps, other_most + 1);
        length > other_some && !other.reaches::<W>(jumps, length)
    } else {
        let length = other.longest::<W>(jumps, mover_most);
        mover.reaches::<W>(jumps, length + 1)
    }
}
