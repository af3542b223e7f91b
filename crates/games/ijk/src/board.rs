//! What holds the tiles of a square board: the trait that the rules and evaluations are generic over.
//!
//! Knows neither players nor turns. `planes` holds boards of any size, `nibbles` those of 4 by 4.

use std::fmt::Debug;
use std::hash::Hash;

use plyd_core::game::Side;

/// The smallest board.
pub(super) const MIN_SIZE: usize = 2;
/// The largest board.
pub(super) const MAX_SIZE: usize = 6;
/// The number of the letter `K`, whose tile ends games; `A` has 1, an empty cell 0.
pub(super) const K: u8 = 11;
/// The number of the last letter, `O`. Two of them do not merge: no game gets there, as the mass of a board
/// grows by one a move, and `O` is 16,384.
pub(super) const LAST: u8 = 15;

/// A set of cells: the bits of their numbers, which each kind of board counts in its own way, row by row from
/// the top left.
pub(super) type Cells = u64;

/// Whose a tile is: `A` is upper case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    /// The case of the first player, `+`.
    Upper,
    /// The case of the second player, `-`.
    Lower,
}

impl Case {
    /// The side that has this case.
    #[must_use]
    pub(super) const fn side(self) -> Side {
        match self {
            Self::Upper => Side::First,
            Self::Lower => Side::Second,
        }
    }
}

/// A way that tiles slide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slide {
    /// To the first row.
    Up,
    /// To the last row.
    Down,
    /// To the first column.
    Left,
    /// To the last column.
    Right,
}

impl Slide {
    /// Every slide.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];
}

/// A tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    /// The letter's number: 1 for `A`.
    pub letter: u8,
    /// The letter's case.
    pub case: Case,
}

/// The tiles on a square board; functions that need its size take it.
pub trait Board: Copy + Eq + Hash + Debug + Default + Send + Sync + 'static {
    /// The differences between the number of a cell and those of its neighbours to the right and below.
    const STEPS: [usize; 2];
    /// Whether a slide takes less time than waiting for memory.
    const IS_QUICK: bool;

    /// The cells with tiles.
    fn occupied(&self) -> Cells;
    /// The cells with lower-case tiles.
    fn lower(&self) -> Cells;
    /// The cells whose letter's number has this binary digit; other bits may be set, too.
    fn digit(&self, digit: usize) -> Cells;
    /// The cells with a `K` or a `k`.
    fn ks(&self) -> Cells;
    /// The tile on a cell.
    fn tile(&self, cell: u8) -> Option<Tile>;
    /// Puts a tile on an empty cell.
    fn put(&mut self, cell: u8, tile: Tile);
    /// Flips the case of the tile on a cell, if there is one.
    fn flip(&mut self, cell: u8);
    /// The mass of the tiles on some cells, which all hold one: an `A` weighs 1, each further letter twice as
    /// much.
    fn mass(&self, cells: Cells) -> i32;
    /// A hash of the tiles, XORed with `state`.
    fn key(&self, state: u64) -> u64;
    /// Slides all tiles of a board with these cells and merges them; tiles that merge across cases get the
    /// case of `mover`. Gives the mass that came to the mover from the other side's tiles.
    ///
    /// Compress toward the wall, one greedy pass from the wall over pairs of neighbours with one letter,
    /// compress again: no tile merges twice.
    fn slide(&mut self, slide: Slide, cells: Cells, mover: Case) -> i32;

    /// The cells with tiles of a case.
    #[inline]
    #[must_use]
    fn of(&self, case: Case) -> Cells {
        match case {
            Case::Upper => self.occupied() & !self.lower(),
            Case::Lower => self.lower(),
        }
    }

    /// The highest letter of a case; 0 if there is no tile.
    #[inline]
    #[must_use]
    fn highest(&self, case: Case) -> u8 {
        let mut tiles = self.of(case);
        let mut letter = 0;
        for digit in (0..4).rev() {
            let high = tiles & self.digit(digit);
            if high != 0 {
                tiles = high;
                letter |= 1 << digit;
            }
        }
        letter
    }

    /// The one of some cells before which there are `before` of them.
    #[inline]
    #[must_use]
    fn nth(mut cells: Cells, before: u32) -> u8 {
        for _ in 0..before {
            cells &= cells - 1;
        }
        cells.trailing_zeros() as u8
    }

    /// The number of the cell in a row and a column.
    #[must_use]
    fn cell(row: usize, column: usize) -> u8 {
        let [right, below] = Self::STEPS;
        (row * below + column * right) as u8
    }

    /// The row and the column of a cell.
    #[must_use]
    fn place(cell: u8) -> (usize, usize) {
        let [right, below] = Self::STEPS;
        (usize::from(cell) / below, usize::from(cell) % below / right)
    }

    /// The tiles of a square board of some size, held in this way.
    #[must_use]
    fn from_tiles(size: usize, tile: impl Fn(usize, usize) -> Option<Tile>) -> Self {
        let mut board = Self::default();
        for (row, column) in places(size) {
            if let Some(tile) = tile(row, column) {
                board.put(Self::cell(row, column), tile);
            }
        }
        board
    }

    /// The board of a size under one of the eight symmetries of a square.
    #[must_use]
    fn image(&self, size: usize, symmetry: u8) -> Self {
        let mirror = |by: u8, at: usize| if symmetry & by == 0 { at } else { size - 1 - at };
        Self::from_tiles(size, |row, column| {
            let (y, x) = (mirror(1, row), mirror(2, column));
            let (y, x) = if symmetry & 4 == 0 { (y, x) } else { (x, y) };
            self.tile(Self::cell(y, x))
        })
    }
}

/// The rows and columns of all cells of a square board, row by row.
pub(super) fn places(size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..size).flat_map(move |row| (0..size).map(move |column| (row, column)))
}

/// The cells of a square board.
#[must_use]
pub(super) fn square<B: Board>(size: usize) -> Cells {
    places(size).fold(0, |cells, (row, column)| cells | 1 << B::cell(row, column))
}
