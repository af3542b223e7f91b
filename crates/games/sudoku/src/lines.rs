//! Sets of cells that are numbered as the grid numbers them: which cells are beside those of a set, for all
//! of them at once.

use super::grid::Grid;
use crate::words::Words;

/// The edges of a grid whose cells fit a set.
pub(super) struct Lines<const C: usize> {
    side: usize,
    /// The cells of the first and of the last column.
    edges: [Words<C>; 2],
}

impl<const C: usize> Lines<C> {
    /// The lines of a grid.
    #[must_use]
    pub(super) fn new(grid: &Grid) -> Self {
        let side = grid.side();
        let column = |at: usize| (at..grid.cells()).step_by(side).collect();
        Self { side, edges: [column(0), column(side - 1)] }
    }

    /// The cells that a king's move reaches from those of a set, and the set itself; there may be numbers
    /// past the last cell among them.
    #[inline]
    #[must_use]
    pub(super) fn around(&self, cells: Words<C>) -> Words<C> {
        let [first, last] = self.edges;
        let rows = cells | (cells & !last).up(1) | (cells & !first).down(1);
        rows | rows.up(self.side) | rows.down(self.side)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    #[test]
    fn around_a_set_are_the_cells_near_each_of_its_cells() {
        let mut random = SplitMix64::new(1);
        for (m, n) in [(2, 2), (3, 4), (4, 4), (4, 5), (5, 5)] {
            let grid = Grid::new(m, n);
            let lines = Lines::<10>::new(&grid);
            for count in [1, 1, 1, 2, 10, 100] {
                let set: Words<10> = (0..count).map(|_| random.below(grid.cells())).collect();
                let near = set.iter().flat_map(|cell| grid.near(cell)).map(|&cell| cell.into());
                let expected: Words<10> = near.chain(set.iter()).collect();
                assert_eq!(lines.around(set) & Words::below(grid.cells()), expected, "{m} {n}");
            }
        }
    }
}
