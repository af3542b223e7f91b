//! The state of a game: values, owners, points, and what was declared.
//!
//! Knows no rules and no solver. The position carries the witness, the rules maintain it.

use super::grid::Grid;
use plyd_core::game::Side;
use plyd_core::zobrist::mix;

/// A value for a cell: a move. It fills the cell, or is declared taboo.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fill {
    /// The cell, by rows from the top left.
    pub cell: u16,
    /// The value, from 1.
    pub value: u8,
}

impl Fill {
    /// Its number among all moves.
    #[inline]
    pub(super) fn number(self, grid: &Grid) -> usize {
        usize::from(self.cell) * grid.side() + usize::from(self.value) - 1
    }

    /// A move for each of some values, which are bits from the lowest, into a cell; the smallest first.
    #[inline]
    pub(super) fn all(cell: usize, mut values: u32) -> impl Iterator<Item = Self> {
        std::iter::from_fn(move || {
            let value = (values != 0).then(|| values.trailing_zeros() as u8 + 1)?;
            values &= values - 1;
            Some(Self { cell: cell as u16, value })
        })
    }
}

/// A cell of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Square {
    /// Its value; 0 while it is empty.
    pub value: u8,
    /// Its value in a solution of the puzzle.
    pub witness: u8,
    /// Whose value it is; nobody's in `classic`, and of the clues of a start.
    pub owner: Option<Side>,
    /// The values that were declared taboo here, as bits from the lowest.
    pub taboo: u32,
    /// Whether each player may play here once it is empty.
    pub(super) reached: [bool; 2],
}

/// A state of the game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Position {
    pub(super) squares: Vec<Square>,
    /// The values in each row, column and block, as bits from the lowest.
    pub(super) used: Vec<u32>,
    /// Empty cells that each player may play.
    pub(super) playable: [u16; 2],
    pub(super) empty: u16,
    pub(super) scores: [i32; 2],
    pub(super) mover: Side,
    pub(super) hash: u64,
    pub(super) history: Vec<Fill>,
    /// The solver's nodes so far, from the start on.
    pub(super) nodes: u64,
    /// Whether they did not suffice: the board may have no solution, and the witness may solve nothing.
    pub(super) is_undecided: bool,
}

/// What a move changed.
#[derive(Clone, Debug)]
pub struct Undo {
    pub(super) mover: Side,
    pub(super) change: Change,
    /// The solution that was the witness, if it changed.
    pub(super) witness: Option<Vec<u8>>,
    pub(super) nodes: u64,
    pub(super) is_undecided: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Taboo,
    /// Points, and which of the neighbours were reached anew, as bits in the grid's order.
    Filled {
        points: i32,
        reached: u8,
    },
}

/// What a position is made from, each list by cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Setup {
    /// The values; 0 for empty cells.
    pub values: Vec<u8>,
    /// A solution; anything if it is undecided whether there is one.
    pub witness: Vec<u8>,
    /// The owners of values.
    pub owners: Vec<Option<Side>>,
    /// The moves that were declared taboo.
    pub taboo: Vec<Fill>,
    /// The points of both players.
    pub scores: [i32; 2],
    /// The player to move, unless that one has no cell to play.
    pub mover: Side,
    /// The moves that led here, as far as they are known.
    pub history: Vec<Fill>,
    /// The nodes that the solver took for it.
    pub nodes: u64,
    /// Whether these did not suffice.
    pub is_undecided: bool,
}

impl Position {
    /// A cell.
    #[inline]
    #[must_use]
    pub fn square(&self, cell: usize) -> &Square {
        &self.squares[cell]
    }

    /// All cells, by rows from the top left.
    #[must_use]
    pub fn squares(&self) -> &[Square] {
        &self.squares
    }

    /// The points of both players.
    #[must_use]
    pub fn scores(&self) -> [i32; 2] {
        self.scores
    }

    /// The side to move.
    #[inline]
    #[must_use]
    pub fn mover(&self) -> Side {
        self.mover
    }

    /// The number of empty cells.
    #[must_use]
    pub fn empty(&self) -> usize {
        self.empty.into()
    }

    /// Whether a player may play a cell: it is empty, and allowed or beside an own one.
    #[inline]
    #[must_use]
    pub fn is_playable(&self, cell: usize, side: Side) -> bool {
        let square = &self.squares[cell];
        square.value == 0 && square.reached[side.index()]
    }

    /// The moves that led here, taboo ones too: those of the start as far as its text listed them, and those
    /// played since.
    #[must_use]
    pub fn history(&self) -> &[Fill] {
        &self.history
    }

    /// Whether a value stands in none of the cell's regions.
    #[inline]
    pub(super) fn fits(&self, grid: &Grid, mv: Fill) -> bool {
        let [row, column, block] = grid.regions_of(mv.cell.into()).map(|region| self.used[region]);
        (row | column | block) >> (mv.value - 1) & 1 == 0
    }

    /// The values that stand in none of an empty cell's regions, as bits from the lowest; none for a full
    /// cell.
    #[inline]
    #[must_use]
    pub(super) fn candidates(&self, grid: &Grid, cell: usize) -> u32 {
        if self.squares[cell].value != 0 {
            return 0;
        }
        let [row, column, block] = grid.regions_of(cell).map(|region| self.used[region]);
        grid.all_values() & !(row | column | block)
    }

    /// The [candidates](Self::candidates) of a cell that were not declared taboo there.
    #[inline]
    #[must_use]
    pub(super) fn open_values(&self, grid: &Grid, cell: usize) -> u32 {
        self.candidates(grid, cell) & !self.squares[cell].taboo
    }

    /// The empty cells of a region.
    #[inline]
    #[must_use]
    pub(super) fn missing(&self, grid: &Grid, region: usize) -> u32 {
        grid.side() as u32 - self.used[region].count_ones()
    }

    pub(super) fn set_witness(&mut self, witness: &[u8]) {
        for (square, &value) in self.squares.iter_mut().zip(witness) {
            square.witness = value;
        }
    }

    /// The values of the board, then their solution.
    pub(super) fn boards(&self) -> (Vec<u8>, Vec<u8>) {
        self.squares.iter().map(|square| (square.value, square.witness)).unzip()
    }
}

/// Keys of a fact about a cell and a value; with `kind` apart, 2^20 of each.
pub(super) const fn key(kind: u64, fact: usize) -> u64 {
    mix((kind << 20 | fact as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x7375_646f_6b75)
}

pub(super) const VALUE: u64 = 1;
pub(super) const TABOO: u64 = 2;
pub(super) const OWNER: u64 = 3;
pub(super) const ALLOWED: u64 = 4;
pub(super) const SHAPE: u64 = 5;
pub(super) const SECOND: u64 = key(6, 0);
