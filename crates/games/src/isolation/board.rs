//! Bit boards of knight Isolation: knight moves from one cell and from whole sets of cells.
//!
//! A board knows its size and nothing of tokens, turns or texts. Cell `row * width + column` is bit number
//! `row * width + column`, without padding, so that 7x7 fits a `u64` and everything else a `u128`.

use crate::bits::Bits;
use crate::flood::Step;

/// The smallest width and height.
pub(super) const MIN_SIDE: usize = 3;
/// The largest width and height.
pub(super) const MAX_SIDE: usize = 15;
/// The largest number of cells.
pub(super) const MAX_CELLS: usize = 128;
/// Where a token stands that is not on the board yet: it reaches every cell.
pub const UNPLACED: u8 = u8::MAX;

/// The offsets (columns, rows) of a knight's move, in ascending order of the cell reached.
pub(super) const JUMPS: [(isize, isize); 8] =
    [(-1, -2), (1, -2), (-2, -1), (2, -1), (-2, 1), (2, 1), (-1, 2), (1, 2)];

/// What a board's size fixes: its cells and the knight moves on it.
#[derive(PartialEq, Eq, Debug)]
pub struct Board<B> {
    width: u32,
    height: u32,
    /// All cells.
    full: B,
    /// The cells of the colour that the cell next to the corner has: every jump changes the colour.
    odd: B,
    /// The cells from which a jump of one column to the left stays on the board, and so on.
    left_1: B,
    left_2: B,
    right_1: B,
    right_2: B,
    /// What a token reaches from each cell, and all cells at [`UNPLACED`]; as long as a `u8` counts, so that
    /// no bound is checked.
    reach: [B; 256],
}

impl<B: Bits> Board<B> {
    /// The board of that size, which must be within [`MIN_SIDE`], [`MAX_SIDE`] and the capacity of `B`.
    #[must_use]
    pub(super) fn new(width: usize, height: usize) -> Self {
        assert!((MIN_SIDE..=MAX_SIDE).contains(&width) && (MIN_SIDE..=MAX_SIDE).contains(&height));
        assert!(width * height <= B::CAPACITY);
        let set_of = |keep: &dyn Fn(usize) -> bool| {
            let cells = (0..width * height).filter(|&cell| keep(cell));
            cells.fold(B::EMPTY, |set, cell| set | B::single(cell as u8))
        };
        let columns = |keep: &dyn Fn(usize) -> bool| set_of(&|cell| keep(cell % width));
        let full = set_of(&|_| true);
        let mut reach = [B::EMPTY; 256];
        reach[UNPLACED as usize] = full;
        for (cell, targets) in reach.iter_mut().enumerate().take(width * height) {
            for (columns, rows) in JUMPS {
                let column = (cell % width).checked_add_signed(columns).filter(|&column| column < width);
                let row = (cell / width).checked_add_signed(rows).filter(|&row| row < height);
                if let (Some(column), Some(row)) = (column, row) {
                    *targets |= B::single((row * width + column) as u8);
                }
            }
        }
        Self {
            width: width as u32,
            height: height as u32,
            full,
            odd: set_of(&|cell| (cell % width + cell / width) % 2 == 1),
            left_1: columns(&|column| column >= 1),
            left_2: columns(&|column| column >= 2),
            right_1: columns(&|column| column + 1 < width),
            right_2: columns(&|column| column + 2 < width),
            reach,
        }
    }

    /// The number of columns.
    #[inline]
    #[must_use]
    pub fn width(&self) -> usize {
        self.width as usize
    }

    /// The number of rows.
    #[inline]
    #[must_use]
    pub fn height(&self) -> usize {
        self.height as usize
    }

    /// The number of cells.
    #[inline]
    #[must_use]
    pub(super) fn cells(&self) -> usize {
        self.width() * self.height()
    }

    /// All cells.
    #[inline]
    #[must_use]
    pub(super) fn full(&self) -> B {
        self.full
    }

    /// Every other cell, as on a chess board: a jump goes from one colour to the other.
    #[inline]
    #[must_use]
    pub fn odd(&self) -> B {
        self.odd
    }

    /// The cells a knight's move away from `cell`; all cells from [`UNPLACED`].
    #[inline]
    #[must_use]
    pub fn reach(&self, cell: u8) -> B {
        self.reach[cell as usize]
    }

    /// The cells a knight's move away from any cell of the set.
    #[inline]
    #[must_use]
    pub(super) fn knights(&self, set: B) -> B {
        let one = ((set & self.left_1) >> 1) | ((set & self.right_1) << 1);
        let two = ((set & self.left_2) >> 2) | ((set & self.right_2) << 2);
        // Widths are at most 15: with this hint the compiler shifts a u128 without the case of 64 and more.
        let row = self.width & 15;
        let rows = 2 * row;
        ((one << rows) | (one >> rows) | (two << row) | (two >> row)) & self.full
    }

    /// The cells a knight's move away from at least two cells of the set.
    #[inline]
    #[must_use]
    pub(super) fn knights_twice(&self, set: B) -> B {
        let (left_1, right_1) = ((set & self.left_1) >> 1, (set & self.right_1) << 1);
        let (left_2, right_2) = ((set & self.left_2) >> 2, (set & self.right_2) << 2);
        let (one, both_1) = (left_1 | right_1, left_1 & right_1);
        let (two, both_2) = (left_2 | right_2, left_2 & right_2);
        let row = self.width & 15;
        let rows = 2 * row;
        let (down_1, up_1, down_2, up_2) = (one << rows, one >> rows, two << row, two >> row);
        let both = (both_1 << rows) | (both_1 >> rows) | (both_2 << row) | (both_2 >> row);
        (both | (down_1 & up_1) | (down_2 & up_2) | ((down_1 | up_1) & (down_2 | up_2))) & self.full
    }

    /// The cells a knight's move away from at least two cells of the set, and those from at least four: what
    /// [`Board::knights_twice`] gives, and little more work.
    #[inline]
    #[must_use]
    pub(super) fn knights_twice_and_four_times(&self, set: B) -> (B, B) {
        let (left_1, right_1) = ((set & self.left_1) >> 1, (set & self.right_1) << 1);
        let (left_2, right_2) = ((set & self.left_2) >> 2, (set & self.right_2) << 2);
        let row = self.width & 15;
        // Binary digits of the counts, columns first and rows then.
        let one = both_ways(left_1 ^ right_1, left_1 & right_1, 2 * row);
        let two = both_ways(left_2 ^ right_2, left_2 & right_2, row);
        let (twos, carry) = full_adder(one.1, two.1, one.0 & two.0);
        let four = one.2 | two.2 | carry;
        ((twos | four) & self.full, four & self.full)
    }

    /// How many symmetries the board has, the identity included.
    #[must_use]
    pub(super) fn symmetries(&self) -> usize {
        if self.width == self.height { 8 } else { 4 }
    }

    /// Where a symmetry takes a cell: 0 is the identity; 1, 2, 3, 4 and 7 are their own inverses. An
    /// [`UNPLACED`] token stays so.
    #[must_use]
    pub(super) fn image(&self, symmetry: usize, cell: u8) -> u8 {
        if cell == UNPLACED {
            return UNPLACED;
        }
        let (width, height) = (self.width(), self.height());
        let (mut column, mut row) = (usize::from(cell) % width, usize::from(cell) / width);
        if symmetry & 1 != 0 {
            column = width - 1 - column;
        }
        if symmetry & 2 != 0 {
            row = height - 1 - row;
        }
        if symmetry & 4 != 0 {
            (column, row) = (row, column);
        }
        (row * width + column) as u8
    }

    /// Where a symmetry takes a set of cells.
    #[must_use]
    pub(super) fn image_of(&self, symmetry: usize, set: B) -> B {
        set.cells().fold(B::EMPTY, |image, cell| image | B::single(self.image(symmetry, cell)))
    }
}

impl<B: Bits> Step<B> for Board<B> {
    #[inline]
    fn step(&self, set: B) -> B {
        self.knights(set)
    }
}

/// A number of two binary digits in each cell, moved so many bits up and down and added: three digits.
#[inline]
fn both_ways<B: Bits>(ones: B, twos: B, bits: u32) -> (B, B, B) {
    let (up, down) = (ones >> bits, ones << bits);
    let (sum, carry) = full_adder(twos >> bits, twos << bits, up & down);
    (up ^ down, sum, carry)
}

/// The sum of three binary digits in each cell, and its carry.
#[inline]
fn full_adder<B: Bits>(a: B, b: B, c: B) -> (B, B) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    #[test]
    fn a_set_jumps_like_its_cells() {
        let mut random = SplitMix64::new(5);
        for width in MIN_SIDE..=MAX_SIDE {
            for height in MIN_SIDE..=MAX_SIDE.min(MAX_CELLS / width) {
                let board = Board::<u128>::new(width, height);
                for _ in 0..20 {
                    let word = u128::from(random.next()) << 64 | u128::from(random.next());
                    let set = word & board.full();
                    let expected = set.cells().fold(0, |union, cell| union | board.reach(cell));
                    assert_eq!(board.knights(set), expected, "{width}x{height} {set:b}");
                    let twice = |cell: &u8| (board.reach(*cell) & set).len() >= 2;
                    let expected =
                        board.full().cells().filter(twice).fold(0, |union, cell| union | 1 << cell);
                    assert_eq!(board.knights_twice(set), expected, "{width}x{height} {set:b}");
                    let four_times = |cell: &u8| (board.reach(*cell) & set).len() >= 4;
                    let four =
                        board.full().cells().filter(four_times).fold(0, |union, cell| union | 1 << cell);
                    assert_eq!(
                        board.knights_twice_and_four_times(set),
                        (expected, four),
                        "{width}x{height} {set:b}"
                    );
                }
            }
        }
    }

    #[test]
    fn both_words_agree() {
        let (small, large) = (Board::<u64>::new(8, 8), Board::<u128>::new(8, 8));
        for cell in 0..64 {
            assert_eq!(u128::from(small.reach(cell)), large.reach(cell));
            assert_eq!(small.knights(1 << cell), small.reach(cell));
        }
        assert_eq!(u128::from(small.full()), large.full());
    }

    #[test]
    fn a_jump_changes_the_colour_and_symmetries_keep_jumps() {
        for (width, height) in [(7, 7), (11, 9), (4, 9)] {
            let board = Board::<u128>::new(width, height);
            for cell in board.full().cells() {
                let colours = if board.odd().has(cell) { !board.odd() } else { board.odd() };
                assert_eq!(board.reach(cell) & colours, board.reach(cell));
                for symmetry in 0..board.symmetries() {
                    let image = board.image(symmetry, cell);
                    assert_eq!(board.image_of(symmetry, board.reach(cell)), board.reach(image));
                    if [0, 1, 2, 3, 4, 7].contains(&symmetry) {
                        assert_eq!(board.image(symmetry, image), cell);
                    }
                }
            }
        }
    }

    #[test]
    fn jumps_are_listed_in_ascending_order() {
        let board = Board::<u64>::new(7, 7);
        let reached: Vec<u8> = board.reach(24).cells().collect();
        let listed: Vec<u8> = JUMPS.iter().map(|&(dx, dy)| (24 + dy * 7 + dx) as u8).collect();
        assert_eq!(reached, listed);
    }
}
