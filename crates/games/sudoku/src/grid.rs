//! The grid: blocks of m rows and n columns, and which cells share a row, a column or a block.
//!
//! Knows neither values nor players. Cells are numbered by rows from the top left.

/// The shape of a board, with what is looked up about it.
///
/// ```
/// use plyd_core::game::Rules;
/// use plyd_sudoku::presets::Choice;
/// use plyd_sudoku::rules::Sudoku;
///
/// let game = Sudoku::new(Choice::new(&Rules::default(), None).unwrap());
/// assert_eq!((game.grid().side(), game.grid().cells(), game.grid().place(10)), (9, 81, (1, 1)));
/// ```
#[derive(Clone, Debug)]
pub struct Grid {
    m: usize,
    n: usize,
    regions: Vec<Vec<u16>>,
    of: Vec<[u8; 3]>,
    near: Vec<Vec<u16>>,
}

impl Grid {
    /// The fewest and the most rows and columns of a block.
    pub(super) const BLOCK: std::ops::RangeInclusive<usize> = 2..=5;

    /// The grid with blocks of `m` rows and `n` columns, both within [`Grid::BLOCK`].
    #[must_use]
    pub(super) fn new(m: usize, n: usize) -> Self {
        let side = m * n;
        let of = |cell: usize| {
            let (row, column) = (cell / side, cell % side);
            [row, side + column, 2 * side + row / m * m + column / n].map(|region| region as u8)
        };
        let of: Vec<[u8; 3]> = (0..side * side).map(of).collect();
        let within = |region: usize| {
            (0..of.len()).filter(|&cell| of[cell].contains(&(region as u8))).map(|cell| cell as u16).collect()
        };
        let near = |cell: usize| {
            let (row, column) = (cell / side, cell % side);
            let is_near = |&other: &usize| {
                other != cell && (other / side).abs_diff(row) <= 1 && (other % side).abs_diff(column) <= 1
            };
            (0..of.len()).filter(is_near).map(|cell| cell as u16).collect()
        };
        Self {
            m,
            n,
            regions: (0..3 * side).map(within).collect(),
            near: (0..of.len()).map(near).collect(),
            of,
        }
    }

    /// Rows of a block.
    #[must_use]
    pub fn m(&self) -> usize {
        self.m
    }

    /// Columns of a block.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Rows of the board, which are as many as columns, as values, and as the cells of a region.
    #[inline]
    #[must_use]
    pub fn side(&self) -> usize {
        self.m * self.n
    }

    /// The number of cells.
    #[inline]
    #[must_use]
    pub fn cells(&self) -> usize {
        self.of.len()
    }

    /// The rows, then the columns, then the blocks, each with its cells.
    #[inline]
    #[must_use]
    pub(super) fn regions(&self) -> &[Vec<u16>] {
        &self.regions
    }

    /// The numbers of the row, the column and the block of a cell.
    #[inline]
    #[must_use]
    pub(super) fn regions_of(&self, cell: usize) -> [usize; 3] {
        self.of[cell].map(usize::from)
    }

    /// The cells that a king's move reaches.
    #[inline]
    #[must_use]
    pub(super) fn near(&self, cell: usize) -> &[u16] {
        &self.near[cell]
    }

    /// The row and the column of a cell.
    #[must_use]
    pub fn place(&self, cell: usize) -> (usize, usize) {
        (cell / self.side(), cell % self.side())
    }

    /// All values, as bits from the lowest.
    #[inline]
    #[must_use]
    pub(super) fn all_values(&self) -> u32 {
        (1 << self.side()) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_m_rows_by_n_columns() {
        let grid = Grid::new(2, 3);
        assert_eq!(grid.regions()[12], [0, 1, 2, 6, 7, 8]);
        assert_eq!(grid.regions()[17], [27, 28, 29, 33, 34, 35]);
        assert_eq!(grid.regions_of(14), [2, 6 + 2, 12 + 2]);
        assert_eq!(grid.near(0), [1, 6, 7]);
        assert_eq!(grid.near(14).len(), 8);
        for (m, n) in [(2, 2), (3, 4), (4, 3), (5, 5)] {
            let grid = Grid::new(m, n);
            assert!(grid.regions().iter().all(|region| region.len() == m * n));
            let listed: usize = grid.regions().iter().map(Vec::len).sum();
            assert_eq!(listed, 3 * grid.cells());
        }
    }
}
