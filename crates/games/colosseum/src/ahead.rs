//! Who walks where sooner: the flood that the evaluations and the order of moves count.

use plyd_core::bits::{Bits, Part};
use plyd_core::flood::{Step, Walk as Spread, by_colour};

/// After how many steps it is looked whether the walk is over, which no processor predicts: an even number.
const STEPS_AT_ONCE: usize = 4;

/// The cells that each of two sides reaches before the other, both walking a step at a time.
pub(super) struct Ahead<B> {
    /// A step sooner or more.
    pub first: [B; 2],
    /// Two steps sooner or more.
    pub far: [B; 2],
}

impl<B: Bits> Ahead<B> {
    /// Lets both sides walk until nothing can change.
    #[inline]
    #[must_use]
    pub(super) fn new(board: &impl Step<B>, own: B, opp: B) -> Self {
        if B::COLOURS > 1 { Self::chase(board, own, opp) } else { Self::together(board, own, opp) }
    }

    /// Each side goes no further where the other is two steps ahead.
    #[inline]
    fn chase(board: &impl Step<B>, own: B, opp: B) -> Self {
        let chase = Chase { board, unseen: [!own, !opp], unseen_before: [!B::EMPTY; 2], first: [own, opp] };
        by_colour(own, opp, chase)
    }

    /// Each side goes everywhere: in one word that takes fewer instructions than to keep it out, and the
    /// compiler moves the words of both sides with one instruction. Not inlined, because it no longer does
    /// that where it sees what the words of a caller hold.
    #[inline(never)]
    fn together(board: &impl Step<B>, own: B, opp: B) -> Self {
        // The cells that each side reaches in just so many steps, going back and forth where it has time.
        let mut at = [own, opp];
        // A step of both: the cells where each has been then, and the other has not.
        let mut step = || {
            let next = at.map(|cells| board.step(cells));
            let seen = [next[0] | at[0], next[1] | at[1]];
            at = next;
            [seen[0] & !seen[1], seen[1] & !seen[0]]
        };
        // These cells, after all even numbers of steps and after all odd ones. A side that is one step sooner
        // in a cell is alone there after one step, and one that is two steps sooner after two or more.
        let (mut even, mut odd) = ([own, opp], [B::EMPTY; 2]);
        let mut new = [B::EMPTY; 2];
        loop {
            for _ in 0..STEPS_AT_ONCE / 2 {
                let alone = step();
                odd = [odd[0] | alone[0], odd[1] | alone[1]];
                let alone = step();
                new = [alone[0] & !(even[0] | odd[0]), alone[1] & !(even[1] | odd[1])];
                even = [even[0] | alone[0], even[1] | alone[1]];
            }
            // Whoever is first in a cell came from one in which it was first a step before.
            if new == [B::EMPTY; 2] {
                return Self {
                    first: [even[0] | odd[0], even[1] | odd[1]],
                    far: [even[0] & odd[0], even[1] & odd[1]],
                };
            }
        }
    }
}

/// Both sides on their way. If one is two steps ahead of the other in a cell, it is so in every cell beyond
/// it, so that the other is not followed any further.
struct Chase<'a, B, S> {
    board: &'a S,
    /// The cells that each side has not reached, and those that it had not reached a step before.
    unseen: [B; 2],
    unseen_before: [B; 2],
    /// The cells that each side reached first.
    first: [B; 2],
}

impl<B: Bits, S: Step<B>> Chase<'_, B, S> {
    /// A step of both sides from the cells that they reached in the last one.
    #[inline]
    fn step<P: Part<B>, Q: Part<B>>(&mut self, edge_1: P, edge_2: Q) -> (P::Next, Q::Next) {
        let new_1 =
            self.board.step(edge_1) & P::Next::of(self.unseen[0]) & P::Next::of(self.unseen_before[1]);
        let new_2 =
            self.board.step(edge_2) & Q::Next::of(self.unseen[1]) & Q::Next::of(self.unseen_before[0]);
        edge_1.take_from(&mut self.unseen_before[0]);
        edge_2.take_from(&mut self.unseen_before[1]);
        new_1.take_from(&mut self.unseen[0]);
        new_2.take_from(&mut self.unseen[1]);
        (new_1 & P::Next::of(self.unseen[1])).put_into(&mut self.first[0]);
        (new_2 & Q::Next::of(self.unseen[0])).put_into(&mut self.first[1]);
        (new_1, new_2)
    }

    /// A side that reached a cell to which the other did not follow is two steps ahead there.
    #[inline]
    fn ahead(self) -> Ahead<B> {
        let [own, opp] = self.unseen;
        Ahead { first: self.first, far: [opp & !own, own & !opp] }
    }
}

impl<B: Bits, S: Step<B>> Spread<B> for Chase<'_, B, S> {
    type Found = Ahead<B>;

    #[inline]
    fn go(mut self, mut own: B, mut opp: B) -> Ahead<B> {
        while !(own.is_empty() && opp.is_empty()) {
            (own, opp) = self.step(own, opp);
        }
        self.ahead()
    }

    #[inline]
    fn go_by_colour<P, Q>(mut self, mut own: P, mut opp: Q) -> Ahead<B>
    where
        P: Part<B, Next: Part<B, Next = P>>,
        Q: Part<B, Next: Part<B, Next = Q>>,
    {
        while !(own.is_empty() && opp.is_empty()) {
            let (own_next, opp_next) = self.step(own, opp);
            (own, opp) = self.step(own_next, opp_next);
        }
        self.ahead()
    }
}

#[cfg(test)]
mod tests {
    use super::super::board::Board;
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    #[test]
    fn both_ways_to_walk_find_the_same() {
        let mut random = SplitMix64::new(11);
        let (mut apart, mut together) = (0, 0);
        for round in 0..4000 {
            let board = Board::<u64>::new(5 + round % 4);
            let mut open = board.bare();
            let one_in = 1 + random.below(4);
            for wall in board.walls() {
                if random.below(1 + one_in) == 0 {
                    open.toggle(wall);
                }
            }
            let [own, opp] = [(); 2].map(|()| random.below(board.numbers()) as u8);
            if own == opp {
                continue;
            }
            let is_apart = board.zone_without(&open, own, opp).is_some();
            *(if is_apart { &mut apart } else { &mut together }) += 1;
            let (paths, own, opp) = (board.paths(&open), u64::single(own), u64::single(opp));
            let (one, other) = (Ahead::together(&paths, own, opp), Ahead::chase(&paths, own, opp));
            assert_eq!((one.first, one.far), (other.first, other.far), "{open:?} {own:x} {opp:x}");
        }
        assert!(apart > 500 && together > 500, "{apart} {together}");
    }
}
