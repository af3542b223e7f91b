//! Both tokens flooding the open cells at the same time: who reaches which cell first, and whether they meet.

use super::board::{Bits, Board};

/// What each side floods, a knight's move a step, when a cell that one side flooded bars the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood<B> {
    /// The cells that the first of the two reaches first, or in the same step as the second.
    pub first: B,
    /// The cells that the second of the two reaches first, or in the same step as the first.
    pub second: B,
}

impl<B: Bits> Flood<B> {
    /// Floods the open cells from the cells that each side can move to now.
    #[inline]
    #[must_use]
    pub fn new(board: &Board<B>, open: B, first: B, second: B) -> Self {
        let (mut edge_1, mut edge_2) = (first, second);
        let mut free = open & !(edge_1 | edge_2);
        let (mut first, mut second) = (first, second);
        while !(edge_1 | edge_2).is_empty() {
            edge_1 = board.knights(edge_1) & free;
            edge_2 = board.knights(edge_2) & free;
            free &= !(edge_1 | edge_2);
            first |= edge_1;
            second |= edge_2;
        }
        Self { first, second }
    }

    /// Every cell that a token can ever reach.
    #[inline]
    #[must_use]
    pub fn all(&self) -> B {
        self.first | self.second
    }

    /// Whether no cell can ever be reached by both: from then on each plays alone.
    #[inline]
    #[must_use]
    pub fn is_apart(&self, board: &Board<B>) -> bool {
        ((self.first | board.knights(self.first)) & self.second).is_empty()
    }
}

/// Every cell that a token can reach by any number of moves through open cells, whose next move is into `from`.
#[inline]
#[must_use]
pub fn reachable<B: Bits>(board: &Board<B>, open: B, from: B) -> B {
    let (mut all, mut edge) = (from, from);
    while !edge.is_empty() {
        edge = board.knights(edge) & open & !all;
        all |= edge;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::oracle::random_games;
    use super::super::rules::Isolation;
    use super::*;
    use crate::game::Side;

    #[test]
    fn floods_cover_what_is_reachable_and_tell_tokens_apart() {
        let mut apart = 0;
        for (width, height) in [(3, 3), (5, 4), (7, 7)] {
            let game = Isolation::<u128>::new(width, height);
            random_games(width as i32, height as i32, 30, |_, oracle| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                let [a, b] = [Side::First, Side::Second].map(|side| game.targets(&pos, side));
                let flood = Flood::new(game.board(), pos.open(), a, b);
                let [all_a, all_b] = [a, b].map(|from| reachable(game.board(), pos.open(), from));
                assert_eq!(flood.all(), all_a | all_b, "{}", oracle.text());
                assert_eq!(flood.is_apart(game.board()), (all_a & all_b).is_empty(), "{}", oracle.text());
                apart += u32::from((all_a & all_b).is_empty());
            });
        }
        assert!(apart > 50, "{apart}");
    }
}
