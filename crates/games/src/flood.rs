//! Two sides flooding a board at the same time: who reaches which cell first, and whether they meet.
//!
//! Knows no game: the board defines a step.

use crate::bits::Bits;

/// A board on which sets of cells move a step at a time: [`Flood`] has an example.
pub trait Step<B> {
    /// The cells that are a step away from any cell of the set.
    fn step(&self, set: B) -> B;
}

/// What each side floods when a cell that one side flooded bars the other.
///
/// ```
/// use plyd_games::flood::{Flood, Step};
///
/// /// Cells in a row.
/// struct Row;
///
/// impl Step<u64> for Row {
///     fn step(&self, cells: u64) -> u64 {
///         cells << 1 | cells >> 1
///     }
/// }
///
/// let flood = Flood::new(&Row, 0b11_1111, 0b1, 0b10_0000);
/// assert_eq!((flood.first, flood.second), (0b111, 0b11_1000));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flood<B> {
    /// The cells that the first of the two reaches first, or in the same step as the second.
    pub first: B,
    /// The cells that the second of the two reaches first, or in the same step as the first.
    pub second: B,
}

impl<B: Bits> Flood<B> {
    /// Floods the open cells from those that each side is given.
    #[inline]
    #[must_use]
    pub fn new(board: &impl Step<B>, open: B, first: B, second: B) -> Self {
        let (mut edge_1, mut edge_2) = (first, second);
        let mut free = open & !(edge_1 | edge_2);
        let (mut first, mut second) = (first, second);
        while !(edge_1 | edge_2).is_empty() && !free.is_empty() {
            edge_1 = board.step(edge_1) & free;
            edge_2 = board.step(edge_2) & free;
            free &= !(edge_1 | edge_2);
            first |= edge_1;
            second |= edge_2;
        }
        Self { first, second }
    }

    /// Every cell that a side can ever reach.
    #[inline]
    #[must_use]
    pub(crate) fn all(&self) -> B {
        self.first | self.second
    }

    /// Whether no cell can ever be reached by both: from then on each plays alone.
    #[inline]
    #[must_use]
    pub(crate) fn is_apart(&self, board: &impl Step<B>) -> bool {
        ((self.first | board.step(self.first)) & self.second).is_empty()
    }
}

/// Every cell that can be reached from `from` by any number of steps through open cells, `from` included.
#[inline]
#[must_use]
pub(crate) fn reachable<B: Bits>(board: &impl Step<B>, open: B, from: B) -> B {
    let (mut all, mut edge) = (from, from);
    while !edge.is_empty() {
        edge = board.step(edge) & open & !all;
        all |= edge;
    }
    all
}
