//! Bit boards of knight Isolation: knight moves from one cell and from whole sets of cells.
//!
//! A board knows its size and nothing of tokens, turns or texts. Cell `row * width + column` is bit number
//! `row * width + column`, without padding, so that 7x7 fits a `u64`. Of larger boards those of an odd width
//! have the cells of the two colours of a chess board in words of their own, because the parity of a cell's
//! number is its colour there; those of an even width fit a `u128`.

use std::ops::Deref;

use plyd_core::bits::{Bits, Part};
use plyd_core::flood::Step;

/// The smallest width and height.
pub(super) const MIN_SIDE: usize = 3;
/// The largest width and height.
pub(super) const MAX_SIDE: usize = 15;
/// The largest number of cells.
pub(super) const MAX_CELLS: usize = 128;
/// The cell of a token that is not on the board yet: it reaches every cell.
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
    /// What a token reaches from each cell, and all cells at [`UNPLACED`]; 256 entries, so that an index of
    /// type `u8` needs no bounds check.
    reach: [B; 256],
}

impl<B: Bits> Board<B> {
    /// The board of that size, which must be within [`MIN_SIDE`], [`MAX_SIDE`] and the capacity of `B`.
    #[must_use]
    pub(super) fn new(width: usize, height: usize) -> Self {
        assert!((MIN_SIDE..=MAX_SIDE).contains(&width) && (MIN_SIDE..=MAX_SIDE).contains(&height));
        assert!(width * height <= B::CAPACITY && (B::COLOURS == 1 || width % 2 == 1));
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

/// A board whose width is the constant `WIDTH`, unless that is 0: then only the board knows it, and jumps
/// take longer.
#[derive(Debug)]
pub(super) struct Jumps<'a, B, const WIDTH: u32>(pub(super) &'a Board<B>);

impl<B, const WIDTH: u32> Clone for Jumps<'_, B, WIDTH> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B, const WIDTH: u32> Copy for Jumps<'_, B, WIDTH> {}

impl<B, const WIDTH: u32> Deref for Jumps<'_, B, WIDTH> {
    type Target = Board<B>;

    #[inline]
    fn deref(&self) -> &Board<B> {
        self.0
    }
}

impl<B: Bits, const WIDTH: u32> Jumps<'_, B, WIDTH> {
    /// How far apart two cells in a column are, one below the other.
    #[inline]
    fn row(self) -> u32 {
        // Widths are at most 15, and odd where colours are apart: with these hints the compiler shifts a u128
        // without the case of 64 and more, and knows by how many bits two colours differ.
        if WIDTH > 0 {
            WIDTH
        } else if B::COLOURS > 1 {
            self.width & 15 | 1
        } else {
            self.width & 15
        }
    }

    /// The cells a knight's move away from any cell of the part; it may have bits beyond the board.
    #[inline]
    #[must_use]
    pub(super) fn knights<P: Part<B>>(self, part: P) -> P::Next {
        let one = (part & P::of(self.left_1)).down(1) | (part & P::of(self.right_1)).up(1);
        let two = (part & P::of(self.left_2)).down_even(2) | (part & P::of(self.right_2)).up_even(2);
        let (row, rows) = (self.row(), 2 * self.row());
        one.up_even(rows) | one.down_even(rows) | two.up(row) | two.down(row)
    }

    /// The cells a knight's move away from at least two cells of the set.
    #[inline]
    #[must_use]
    pub(super) fn knights_twice(self, set: B) -> B {
        let (left_1, right_1) = ((set & self.left_1).down(1), (set & self.right_1).up(1));
        let (left_2, right_2) = ((set & self.left_2).down_even(2), (set & self.right_2).up_even(2));
        let (one, both_1) = (left_1 | right_1, left_1 & right_1);
        let (two, both_2) = (left_2 | right_2, left_2 & right_2);
        let (row, rows) = (self.row(), 2 * self.row());
        let (down_1, up_1, down_2, up_2) =
            (one.up_even(rows), one.down_even(rows), two.up(row), two.down(row));
        let both = both_1.up_even(rows) | both_1.down_even(rows) | both_2.up(row) | both_2.down(row);
        (both | (down_1 & up_1) | (down_2 & up_2) | ((down_1 | up_1) & (down_2 | up_2))) & self.full
    }

    /// The cells a knight's move away from at least two cells of the part, and those from at least four. Both
    /// may have bits beyond the board.
    #[inline]
    #[must_use]
    pub(super) fn knights_twice_and_four_times<P: Part<B>>(self, part: P) -> (P::Next, P::Next) {
        if B::COLOURS > 1 { self.counted_apart(part) } else { self.counted(part) }
    }

    /// The same in a function that writes both words of a set to memory: only then does the compiler treat
    /// both with one instruction.
    #[inline(never)]
    fn counted_apart<P: Part<B>>(self, part: P) -> (P::Next, P::Next) {
        self.counted(part)
    }

    #[inline]
    fn counted<P: Part<B>>(self, part: P) -> (P::Next, P::Next) {
        let (left_1, right_1) = ((part & P::of(self.left_1)).down(1), (part & P::of(self.right_1)).up(1));
        let left_2 = (part & P::of(self.left_2)).down_even(2);
        let right_2 = (part & P::of(self.right_2)).up_even(2);
        let (row, rows) = (self.row(), 2 * self.row());
        // Binary digits of the counts, columns first and rows then.
        let one =
            both_ways(left_1 ^ right_1, left_1 & right_1, |set| (set.down_even(rows), set.up_even(rows)));
        let two = both_ways(left_2 ^ right_2, left_2 & right_2, |set| (set.down(row), set.up(row)));
        let (twos, carry) = full_adder(one.1, two.1, one.0 & two.0);
        let four = one.2 | two.2 | carry;
        (twos | four, four)
    }
}

impl<B: Bits, const WIDTH: u32> Step<B> for Jumps<'_, B, WIDTH> {
    #[inline]
    fn step<P: Part<B>>(&self, part: P) -> P::Next {
        self.knights(part)
    }
}

impl<B: Bits> Step<B> for Board<B> {
    #[inline]
    fn step<P: Part<B>>(&self, part: P) -> P::Next {
        Jumps::<B, 0>(self).knights(part)
    }
}

/// Evaluates an expression with the [`Jumps`] of a board: those of a constant width on the boards that are
/// played most.
macro_rules! by_width {
    ($bits:ty, $board:expr, $jumps:ident => $found:expr) => {{
        let board = $board;
        macro_rules! with {
            ($width:expr) => {{
                let $jumps = Jumps::<$bits, $width>(board);
                $found
            }};
        }
        if const { <$bits>::COLOURS > 1 } {
            match board.width() {
                9 => with!(9),
                11 => with!(11),
                _ => with!(0),
            }
        } else if const { <$bits>::CAPACITY == 64 } {
            match board.width() {
                7 => with!(7),
                8 => with!(8),
                _ => with!(0),
            }
        } else {
            with!(0)
        }
    }};
}
pub(super) use by_width;

/// A number of two binary digits in each cell, moved both ways and added: three digits.
#[inline]
fn both_ways<B, P: Part<B>, Q: Part<B>>(ones: P, twos: P, moved: impl Fn(P) -> (Q, Q)) -> (Q, Q, Q) {
    let (up, down) = moved(ones);
    let (twos_up, twos_down) = moved(twos);
    let (sum, carry) = full_adder(twos_up, twos_down, up & down);
    (up ^ down, sum, carry)
}

/// The sum of three binary digits in each cell, and its carry.
#[inline]
fn full_adder<B, P: Part<B>>(a: P, b: P, c: P) -> (P, P) {
    let half = a ^ b;
    (half ^ c, (a & b) | (half & c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::zobrist::SplitMix64;

    fn union<B: Bits>(sets: impl Iterator<Item = B>) -> B {
        sets.fold(B::EMPTY, |union, set| union | set)
    }

    /// Whether a part is the same as a set on the board.
    fn same<B: Bits, P: Part<B>>(board: &Board<B>, part: P, set: B) -> bool {
        let mut cells = B::EMPTY;
        part.put_into(&mut cells);
        cells & board.full() == set
    }

    /// Compares the jumps of a set and of its parts with those of its cells.
    fn check<B: Bits>(width: usize, height: usize, random: &mut SplitMix64) {
        let board = Board::<B>::new(width, height);
        for _ in 0..10 {
            let set = union(board.full().cells().filter(|_| random.below(2) == 0).map(B::single));
            let context = format!("{width}x{height} {set:?}");
            let from = |set: B| union(set.cells().map(|cell| board.reach(cell)));
            let jumps = Jumps::<B, 0>(&board);
            assert!(same(&board, jumps.knights(set), from(set)), "{context}");
            let (mut even, mut odd) = (B::EMPTY, B::EMPTY);
            B::Even::of(set).put_into(&mut even);
            B::Odd::of(set).put_into(&mut odd);
            assert_eq!((even | odd, from(even) | from(odd)), (set, from(set)), "{context}");
            assert!(same(&board, jumps.knights(B::Even::of(set)), from(even)), "{context}");
            assert!(same(&board, jumps.knights(B::Odd::of(set)), from(odd)), "{context}");
            let [twice, four_times] = [2, 4].map(|least| {
                let jumps = |cell: &u8| (board.reach(*cell) & set).len() >= least;
                union(board.full().cells().filter(jumps).map(B::single))
            });
            assert_eq!(jumps.knights_twice(set), twice, "{context}");
            let counted = jumps.knights_twice_and_four_times(B::All::of(set));
            assert!(same(&board, counted.0, twice) && same(&board, counted.1, four_times), "{context}");
            let by_constants = by_width!(B, &board, jumps => {
                let counted = jumps.knights_twice_and_four_times(B::All::of(set));
                assert!(same(&board, counted.0, twice) && same(&board, counted.1, four_times), "{context}");
                (jumps.knights(set), jumps.knights_twice(set))
            });
            assert!(same(&board, by_constants.0, from(set)), "{context}");
            assert_eq!(by_constants.1, twice, "{context}");
        }
    }

    #[test]
    fn a_set_jumps_like_its_cells() {
        let mut random = SplitMix64::new(5);
        for width in MIN_SIDE..=MAX_SIDE {
            for height in MIN_SIDE..=MAX_SIDE.min(MAX_CELLS / width) {
                check::<u128>(width, height, &mut random);
                if width % 2 == 1 {
                    check::<Colours<u64>>(width, height, &mut random);
                }
                if width * height <= 64 {
                    check::<u64>(width, height, &mut random);
                }
            }
        }
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
