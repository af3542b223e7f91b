//! The board and the rules of knight Isolation. Nothing here searches, and nothing here reads a file.
//!
//! A set of cells is one `u64`: the bit of a cell is its number, `row * width + column`, from the top left.

/// A set of cells.
pub(crate) type Cells = u64;

/// A board without holes, of 3 to 15 columns and rows and at most 64 cells.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    width: usize,
    height: usize,
    jumps: [Cells; 64],
}

impl Board {
    /// Makes a board of `width` columns and `height` rows.
    ///
    /// # Errors
    /// A sentence that says which limit the size breaks.
    pub(crate) fn new(width: usize, height: usize) -> Result<Self, String> {
        if !(3..=15).contains(&width) || !(3..=15).contains(&height) {
            return Err(format!("a board of {width}x{height} is not between 3x3 and 15x15"));
        }
        if width * height > 64 {
            return Err(format!("a board of {width}x{height} has more than 64 cells"));
        }
        let mut board = Self { width, height, jumps: [0; 64] };
        for cell in 0..width * height {
            board.jumps[cell] = board.jumps_from(cell);
        }
        Ok(board)
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// The number of cells.
    pub(crate) fn size(&self) -> usize {
        self.width * self.height
    }

    /// All cells of the board.
    pub(crate) fn all(&self) -> Cells {
        u64::MAX >> (64 - self.size())
    }

    /// The cells a knight's move away from each cell; a cell outside the board has none.
    pub(crate) fn jumps(&self) -> &[Cells; 64] {
        &self.jumps
    }

    /// Whether two cells have the same colour on a chess board.
    pub(crate) fn same_colour(&self, one: usize, other: usize) -> bool {
        let colour = |cell: usize| (cell / self.width + cell % self.width) % 2;
        colour(one) == colour(other)
    }

    /// The name of a cell, such as `a1` for cell 0 and `b1` for cell 1.
    pub(crate) fn name(&self, cell: usize) -> String {
        let column = char::from(b'a' + (cell % self.width) as u8);
        format!("{column}{}", cell / self.width + 1)
    }

    /// The cell of a name; `None` if it is no name, or of no cell of this board.
    pub(crate) fn cell(&self, name: &str) -> Option<usize> {
        (0..self.size()).find(|&cell| self.name(cell) == name)
    }

    /// Every image of a pair of cells under the symmetries of the board, with repetitions.
    pub(crate) fn images(&self, first: usize, second: usize) -> Vec<(usize, usize)> {
        let turns = if self.width == self.height { 8 } else { 4 };
        (0..turns).map(|turn| (self.image(first, turn), self.image(second, turn))).collect()
    }

    /// The image of a cell: bit 0 of `turn` mirrors the columns, bit 1 the rows, bit 2 swaps both.
    fn image(&self, cell: usize, turn: usize) -> usize {
        let (mut row, mut column) = (cell / self.width, cell % self.width);
        if turn & 1 != 0 {
            column = self.width - 1 - column;
        }
        if turn & 2 != 0 {
            row = self.height - 1 - row;
        }
        if turn & 4 != 0 {
            (row, column) = (column, row);
        }
        row * self.width + column
    }

    /// The cells a knight's move away from one cell, computed by the rule.
    fn jumps_from(&self, cell: usize) -> Cells {
        let apart = |other: usize| {
            let rows = (cell / self.width).abs_diff(other / self.width);
            let columns = (cell % self.width).abs_diff(other % self.width);
            (rows, columns)
        };
        (0..self.size())
            .filter(|&other| matches!(apart(other), (1, 2) | (2, 1)))
            .map(|other| 1 << other)
            .sum()
    }
}

/// A position after both placements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    /// The cells that were never occupied.
    pub(crate) open: Cells,
    /// The cell of the token of the player to move.
    pub(crate) mover: u8,
    /// The cell of the token of the other player.
    pub(crate) other: u8,
}

impl Position {
    /// The position after both placements, with player 1 to move.
    pub(crate) fn placed(board: &Board, first: usize, second: usize) -> Self {
        let open = board.all() & !(1 << first) & !(1 << second);
        Self { open, mover: first as u8, other: second as u8 }
    }

    /// The cells to which the player to move may jump.
    pub(crate) fn moves(&self, board: &Board) -> Cells {
        board.jumps()[usize::from(self.mover)] & self.open
    }

    /// The position after the player to move has jumped to `cell`.
    pub(crate) fn after(&self, cell: usize) -> Self {
        Self { open: self.open & !(1 << cell), mover: self.other, other: cell as u8 }
    }
}

/// The cells of a set in ascending order.
pub(crate) fn each(mut cells: Cells) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (cells != 0).then(|| {
            let cell = cells.trailing_zeros() as usize;
            cells &= cells - 1;
            cell
        })
    })
}
