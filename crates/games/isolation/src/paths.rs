//! How far a token can still go in a region that it has for itself: bounds, and the exact longest path.
//!
//! A path never enters a cell twice and changes the colour with each move; a cell with one way in has no way
//! out and can only be its end. Both together bound a path from above; always entering the cell with the
//! fewest ways out (Warnsdorff's rule) gives one from below. If the two differ and it matters, branch and
//! bound decides.

use super::board::Jumps;
use plyd_core::bits::Bits;
use plyd_core::search::thread::SearchThread;

/// Longest paths that were found before, by region and cell: a power of two.
const REMEMBERED: usize = 1 << 11;

/// An upper bound of the longest path, from colours and dead ends.
#[inline]
pub(super) fn at_most<B: Bits, const WIDTH: u32>(board: Jumps<'_, B, WIDTH>, region: B, cell: u8) -> u32 {
    let ends = region & !board.knights_twice(region | B::single(cell));
    let (near, far) = if board.odd().has(cell) {
        (region & !board.odd(), region & board.odd())
    } else {
        (region & board.odd(), region & !board.odd())
    };
    // Cells of the colour entered first and of the other, without dead ends; whether each has dead ends.
    let (near_through, far_through) = ((near & !ends).len(), (far & !ends).len());
    let (near_end, far_end) = (u32::from(!(near & ends).is_empty()), u32::from(!(far & ends).is_empty()));
    let odd =
        if near_through + near_end == 0 { 0 } else { 2 * (near_through + near_end - 1).min(far_through) + 1 };
    odd.max(2 * near_through.min(far_through + far_end))
}

/// A lower bound of the longest path: the length of the one that Warnsdorff's rule finds.
pub(super) fn at_least<B: Bits, const WIDTH: u32>(
    board: Jumps<'_, B, WIDTH>,
    mut region: B,
    mut cell: u8,
) -> u32 {
    let mut length = 0;
    loop {
        let onward = board.reach(cell) & region;
        if onward.is_empty() {
            return length;
        }
        // Dead ends come last; of equals, the smallest cell.
        let ways_out = |next: &u8| (board.reach(*next) & region).len().wrapping_sub(1);
        cell = onward.cells().min_by_key(ways_out).expect("there is a way");
        region &= !B::single(cell);
        length += 1;
    }
}

/// Whether the mover, whose token stands on `own`, has the longer path, if the bounds decide that.
#[inline]
pub(super) fn outlasts_at_sight<B: Bits, const WIDTH: u32>(
    board: Jumps<'_, B, WIDTH>,
    mine: B,
    own: u8,
    theirs: B,
    opp: u8,
) -> Option<bool> {
    let (most, their_most) = (at_most(board, mine, own), at_most(board, theirs, opp));
    // Only a path through the region that allows the longer one can be longer than any through the other.
    if most > their_most {
        (at_least(board, mine, own) > their_most).then_some(true)
    } else {
        (at_least(board, theirs, opp) >= most).then_some(false)
    }
}

/// The exact search for longest paths, with what it found before. It belongs to one board.
#[derive(Clone, Debug)]
pub(super) struct Paths<B> {
    /// Region, cell, length.
    found: Vec<(B, u8, u8)>,
    steps: Vec<Step<B>>,
}

/// A move that may lead to a longer path.
#[derive(Clone, Copy, Debug)]
struct Step<B> {
    at_most: u32,
    ways_out: u32,
    cell: u8,
    /// What can be reached after the move.
    region: B,
}

impl<B: Bits> Paths<B> {
    pub(super) fn new() -> Self {
        Self { found: vec![(B::EMPTY, 0, 0); REMEMBERED], steps: Vec::with_capacity(512) }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.found.fill((B::EMPTY, 0, 0));
    }

    /// The length of the longest path from `cell` through `region`, all of which can be reached; none if the
    /// thread ended first.
    pub(super) fn longest<const WIDTH: u32>(
        &mut self,
        board: Jumps<'_, B, WIDTH>,
        region: B,
        cell: u8,
        thread: &mut SearchThread<'_>,
    ) -> Option<u32> {
        let place = place(region, cell);
        if self.found[place].0 == region && self.found[place].1 == cell {
            return Some(self.found[place].2.into());
        }
        let length = self.best(board, region, cell, 0, at_most(board, region, cell), thread)?;
        self.found[place] = (region, cell, length as u8);
        Some(length)
    }

    /// Whether a path from `cell` through `region` has at least `target` moves; none if the thread ended
    /// first.
    pub(super) fn reaches<const WIDTH: u32>(
        &mut self,
        board: Jumps<'_, B, WIDTH>,
        region: B,
        cell: u8,
        target: u32,
        thread: &mut SearchThread<'_>,
    ) -> Option<bool> {
        if target == 0 || at_most(board, region, cell) < target {
            return Some(target == 0);
        }
        let known = self.found[place(region, cell)];
        if known.0 == region && known.1 == cell {
            return Some(u32::from(known.2) >= target);
        }
        Some(self.best(board, region, cell, target - 1, target, thread)? >= target)
    }

    /// The longest path, if it is longer than `least`; one of `enough` moves ends the search.
    fn best<const WIDTH: u32>(
        &mut self,
        board: Jumps<'_, B, WIDTH>,
        region: B,
        cell: u8,
        least: u32,
        enough: u32,
        thread: &mut SearchThread<'_>,
    ) -> Option<u32> {
        self.steps.clear();
        let mut goal = Goal { best: least, enough };
        self.extend(board, region, cell, 0, &mut goal, thread)?;
        Some(goal.best)
    }

    fn extend<const WIDTH: u32>(
        &mut self,
        board: Jumps<'_, B, WIDTH>,
        region: B,
        cell: u8,
        length: u32,
        goal: &mut Goal,
        thread: &mut SearchThread<'_>,
    ) -> Option<()> {
        if thread.tick() {
            return None;
        }
        goal.best = goal.best.max(length);
        let base = self.steps.len();
        for next in (board.reach(cell) & region).cells() {
            let rest = region & !B::single(next);
            let onward = board.reach(next) & rest;
            let region = plyd_core::flood::reachable(&board, rest, onward);
            let at_most = length + 1 + at_most(board, region, next);
            if at_most > goal.best {
                self.steps.push(Step { at_most, ways_out: onward.len(), cell: next, region });
            }
        }
        self.steps[base..].sort_unstable_by_key(|step| (u32::MAX - step.at_most, step.ways_out, step.cell));
        for at in base..self.steps.len() {
            let Step { at_most, cell, region, .. } = self.steps[at];
            if at_most <= goal.best || goal.best >= goal.enough {
                break;
            }
            self.extend(board, region, cell, length + 1, goal, thread)?;
        }
        self.steps.truncate(base);
        Some(())
    }
}

struct Goal {
    best: u32,
    enough: u32,
}

/// Where a region's longest path is remembered: multiplicative hashing (Knuth, volume 3, 6.4).
fn place<B: Bits>(region: B, cell: u8) -> usize {
    let word = region.packed();
    let folded = (word as u64).wrapping_mul(0xd6e8_feb8_6659_fd93) ^ (word >> 64) as u64;
    let mixed = (folded ^ u64::from(cell) << 56).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - REMEMBERED.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::search::Control;
    use plyd_core::zobrist::SplitMix64;

    /// Tries every path.
    fn slow<B: Bits>(board: &Board<B>, region: B, cell: u8) -> u32 {
        let onward = board.reach(cell) & region;
        onward.cells().map(|next| 1 + slow(board, region & !B::single(next), next)).max().unwrap_or(0)
    }

    fn check<B: Bits>() {
        let mut random = SplitMix64::new(7);
        let control = Control::default();
        let mut thread = SearchThread::alone(&control);
        let (mut loose, mut short) = (0, 0);
        for (width, height, keep) in [(5, 5, 70), (7, 7, 45), (11, 9, 25)] {
            let board = Board::<B>::new(width, height);
            let jumps = Jumps::<B, 0>(&board);
            let mut paths = Paths::new();
            for _ in 0..300 {
                let open = board.full().cells().filter(|_| random.below(100) < keep);
                let open = open.fold(B::EMPTY, |set, cell| set | B::single(cell));
                let cell = random.below(board.cells()) as u8;
                let open = open & !B::single(cell);
                let region = plyd_core::flood::reachable(&board, open, board.reach(cell) & open);
                let expected = slow(&board, region, cell);
                assert_eq!(
                    paths.longest(jumps, region, cell, &mut thread),
                    Some(expected),
                    "{region:?} {cell}"
                );
                for target in expected.saturating_sub(1)..=expected + 2 {
                    let reached = Paths::new().reaches(jumps, region, cell, target, &mut thread);
                    assert_eq!(reached, Some(target <= expected), "{region:?} {cell} {target}");
                }
                let (low, high) = (at_least(jumps, region, cell), at_most(jumps, region, cell));
                assert!(low <= expected && expected <= high, "{low} {expected} {high}: {region:?} {cell}");
                loose += u32::from(high > expected);
                short += u32::from(low < expected);
            }
        }
        assert!(loose > 20 && short > 20, "the bounds alone would do: {loose} {short}");
    }

    #[test]
    fn the_longest_path_is_exact_and_its_bounds_hold() {
        check::<u128>();
        check::<Colours<u64>>();
    }
}
