//! The rules: positions as sets of bits, moves, and how a game ends.
//!
//! A column takes seven bits, from its bottom up, of which the last is always free. So no row of discs goes
//! on from the top of a column to the bottom of the next, and a set that is shifted by the distance of two
//! neighbours in a direction lies on itself where discs are in a row.

use plyd_core::game::{Game, Outcome, Side, Turn};
use plyd_core::zobrist::mix;

/// The columns of the board.
pub const COLUMNS: usize = 7;
/// The cells of a column.
pub const ROWS: usize = 6;
/// The bits of a column.
pub(super) const HEIGHT: usize = ROWS + 1;
/// The distances of neighbours: up, to the right, and along both diagonals.
pub(super) const DIRECTIONS: [usize; 4] = [1, HEIGHT, HEIGHT + 1, HEIGHT - 1];
/// The cells of the first column.
const COLUMN: u64 = (1 << ROWS) - 1;

/// What stays the same during a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// How many discs in a row win.
    pub row: usize,
}

/// A position: the discs of each side. The first side moves if both have as many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Board {
    /// The discs of the first side and of the second, a bit each.
    pub discs: [u64; 2],
}

impl Board {
    /// The side whose turn it is.
    #[must_use]
    pub fn mover(self) -> Side {
        if self.discs[0].count_ones() == self.discs[1].count_ones() { Side::First } else { Side::Second }
    }

    /// The cells with a disc.
    pub(super) fn taken(self) -> u64 {
        self.discs[0] | self.discs[1]
    }

    /// The discs in a column.
    pub(super) fn filled(self, column: usize) -> usize {
        (self.taken() >> (HEIGHT * column) & COLUMN).count_ones() as usize
    }
}

impl Rules {
    /// Whether these discs have a row that is long enough.
    pub(super) fn has_row(self, discs: u64) -> bool {
        DIRECTIONS.iter().any(|&by| (1..self.row).fold(discs, |rows, _| rows & rows >> by & discs) != 0)
    }
}

impl Game for Rules {
    type Position = Board;
    /// The column, from 0.
    type Move = u8;
    type Undo = Board;

    fn side(&self, board: &Board) -> Side {
        board.mover()
    }

    fn turn(&self, board: &Board) -> Turn {
        let last = board.mover().other();
        if self.has_row(board.discs[last.index()]) {
            Turn::Over(Outcome { winner: Some(last), by: "row", scores: None })
        } else if board.taken().count_ones() as usize == COLUMNS * ROWS {
            Turn::Over(Outcome { winner: None, by: "full", scores: None })
        } else {
            Turn::Move
        }
    }

    fn moves(&self, board: &Board, out: &mut Vec<u8>) {
        out.extend((0..COLUMNS as u8).filter(|&column| self.is_legal(board, column)));
    }

    fn is_legal(&self, board: &Board, column: u8) -> bool {
        board.filled(usize::from(column)) < ROWS
    }

    fn play(&self, board: &mut Board, column: u8) -> Board {
        let before = *board;
        let column = usize::from(column);
        board.discs[before.mover().index()] |= 1 << (HEIGHT * column + before.filled(column));
        before
    }

    fn undo(&self, board: &mut Board, _column: u8, before: Board) {
        *board = before;
    }

    fn hash(&self, board: &Board) -> u64 {
        mix(board.discs[0] ^ mix(board.discs[1]))
    }

    fn index(&self, column: u8) -> usize {
        usize::from(column)
    }

    fn index_len(&self) -> usize {
        COLUMNS
    }

    /// The middle first: most rows go through it.
    fn order(&self, _board: &Board, column: u8) -> i32 {
        -i32::from(column.abs_diff(COLUMNS as u8 / 2))
    }

    fn images(&self, board: &Board) -> Vec<Board> {
        let column = |discs: u64, column: usize| discs >> (HEIGHT * column) & COLUMN;
        let mirror = |discs: u64| {
            (0..COLUMNS).map(|at| column(discs, at) << (HEIGHT * (COLUMNS - 1 - at))).sum::<u64>()
        };
        vec![Board { discs: board.discs.map(mirror) }]
    }
}
