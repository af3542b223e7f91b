//! The tiles on a square board, as bit planes, and what a slide makes of them.
//!
//! A word of 64 bits is one bit for each cell, ten for each row of up to six cells. Four words hold the
//! letters' numbers in binary, a fifth their cases, so that a slide moves and merges the tiles of all lines
//! at once: lines are compressed as in Warren, "Hacker's Delight", 2002, section 7-4, but along the board
//! instead of along the word. Knows neither players nor turns.

use plyd_core::zobrist::mix;

/// Cells from one row to the next: wide enough that what a shift takes out of a row reaches no further than
/// the first or last cell of its neighbour.
pub(super) const STRIDE: u32 = 10;
/// The smallest board.
pub(super) const MIN_SIZE: usize = 2;
/// The largest board.
pub(super) const MAX_SIZE: usize = 6;
/// Numbers of cells are below this.
pub(super) const CELL_LIMIT: usize = (MAX_SIZE - 1) * STRIDE as usize + MAX_SIZE;
/// The number of the letter `K`, whose tile ends games; `A` has 1, an empty cell 0.
pub(super) const K: u8 = 11;
/// The number of the last letter, `O`. Two of them do not merge: no game gets there, as the mass of a board
/// grows by one a move, and `O` is 16,384.
pub(super) const LAST: u8 = 15;

/// A set of cells: bit `10 * row + column`, counted from the top left.
pub(super) type Cells = u64;

/// Whose a tile is: `A` is upper case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Case {
    /// The case of the first player, `+`.
    Upper,
    /// The case of the second player, `-`.
    Lower,
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
pub(super) struct Tile {
    /// The letter's number: 1 for `A`.
    pub letter: u8,
    /// The letter's case.
    pub case: Case,
}

/// The tiles on a board of up to 6 by 6 cells; functions that need its size take it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub(super) struct Board {
    /// The letters' numbers in binary, the lowest digit first.
    letters: [Cells; 4],
    /// The cells with lower-case tiles.
    lower: Cells,
}

/// The cells of a square board.
#[must_use]
pub(super) const fn square(size: usize) -> Cells {
    let row = (1 << size) - 1;
    let mut cells = 0;
    let mut y = 0;
    while y < size {
        cells |= row << (y * STRIDE as usize);
        y += 1;
    }
    cells
}

impl Board {
    /// The cells with tiles.
    #[inline]
    #[must_use]
    pub(super) const fn occupied(&self) -> Cells {
        let [one, two, four, eight] = self.letters;
        one | two | four | eight
    }

    /// The cells with tiles of a case.
    #[inline]
    #[must_use]
    pub(super) const fn of(&self, case: Case) -> Cells {
        match case {
            Case::Upper => self.occupied() & !self.lower,
            Case::Lower => self.lower,
        }
    }

    /// The cells with a `K` or a `k`.
    #[inline]
    #[must_use]
    pub(super) const fn ks(&self) -> Cells {
        let [one, two, four, eight] = self.letters;
        one & two & !four & eight
    }

    /// The highest letter of a case; 0 if there is no tile.
    #[inline]
    #[must_use]
    pub(super) const fn highest(&self, case: Case) -> u8 {
        let mut tiles = self.of(case);
        let mut letter = 0;
        let mut digit = 4;
        while digit > 0 {
            digit -= 1;
            let high = tiles & self.letters[digit];
            if high != 0 {
                tiles = high;
                letter |= 1 << digit;
            }
        }
        letter
    }

    /// By how much the letters are below one that none is above, in binary, the lowest digit first; anything
    /// on empty cells.
    #[inline]
    #[must_use]
    pub(super) const fn below(&self, letter: u8) -> [Cells; 4] {
        let mut digits = self.letters;
        let (mut borrow, mut digit) = (0, 0);
        while digit < 4 {
            let own = self.letters[digit];
            let whole = ((letter as u64) >> digit & 1).wrapping_neg();
            digits[digit] = whole ^ own ^ borrow;
            borrow = (!whole & (own | borrow)) | (own & borrow);
            digit += 1;
        }
        digits
    }

    /// The tile on a cell.
    #[must_use]
    pub(super) fn tile(&self, cell: u8) -> Option<Tile> {
        let letter =
            (0..4).fold(0, |letter, digit| letter | ((self.letters[digit] >> cell & 1) as u8) << digit);
        let case = if self.lower >> cell & 1 == 1 { Case::Lower } else { Case::Upper };
        (letter > 0).then_some(Tile { letter, case })
    }

    /// Puts a tile on an empty cell.
    #[inline]
    pub(super) const fn put(&mut self, cell: u8, tile: Tile) {
        let mut digit = 0;
        while digit < 4 {
            self.letters[digit] |= (tile.letter as u64 >> digit & 1) << cell;
            digit += 1;
        }
        if matches!(tile.case, Case::Lower) {
            self.lower |= 1 << cell;
        }
    }

    /// Flips the case of the tile on a cell, if there is one.
    pub(super) const fn flip(&mut self, cell: u8) {
        self.lower ^= self.occupied() & (1 << cell);
    }

    /// The mass of the tiles on some cells, which all hold one: an `A` weighs 1, each further letter twice as
    /// much.
    #[inline]
    #[must_use]
    pub(super) const fn mass(&self, mut cells: Cells) -> i32 {
        let [one, two, four, eight] = self.letters;
        let mut mass = 0;
        while cells != 0 {
            let cell = cells.trailing_zeros();
            let low = one >> cell & 1 | (two >> cell & 1) << 1;
            let high = four >> cell & 1 | (eight >> cell & 1) << 1;
            mass += 1 << (low | high << 2) >> 1;
            cells &= cells - 1;
        }
        mass
    }

    /// A hash of the tiles.
    #[inline]
    #[must_use]
    pub(super) const fn hash(&self) -> u64 {
        let [one, two, four, eight] = self.letters;
        mix(one.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ two.wrapping_mul(0xd1b5_4a32_d192_ed03).rotate_left(13)
            ^ four.wrapping_mul(0xaef1_7502_108e_f2d9).rotate_left(27)
            ^ eight.wrapping_mul(0xf135_7aea_2e62_a9c5).rotate_left(41)
            ^ self.lower.wrapping_mul(0x8cb9_2ba7_2f3d_8dd7).rotate_left(53))
    }

    /// The board of a size under one of the eight symmetries of a square.
    #[must_use]
    pub(super) fn image(&self, size: usize, symmetry: u8) -> Self {
        let mirror = |by: u8, at: usize| if symmetry & by == 0 { at } else { size - 1 - at };
        let mut image = Self::default();
        for (row, column) in (0..size).flat_map(|row| (0..size).map(move |column| (row, column))) {
            let (y, x) = (mirror(1, row), mirror(2, column));
            let (y, x) = if symmetry & 4 == 0 { (y, x) } else { (x, y) };
            if let Some(tile) = self.tile((y * STRIDE as usize + x) as u8) {
                image.put((row * STRIDE as usize + column) as u8, tile);
            }
        }
        image
    }

    /// Slides all tiles of a board with these cells and merges them; tiles that merge across cases get the
    /// case of `mover`. Gives the mass that came to the mover from the other side's tiles.
    ///
    /// Compress toward the wall, one greedy pass from the wall over pairs of neighbours with one letter,
    /// compress again: no tile merges twice.
    #[inline]
    pub(super) fn slide(&mut self, slide: Slide, cells: Cells, mover: Case) -> i32 {
        match slide {
            Slide::Up => self.slide_along::<STRIDE, true>(cells, mover),
            Slide::Down => self.slide_along::<STRIDE, false>(cells, mover),
            Slide::Left => self.slide_along::<1, true>(cells, mover),
            Slide::Right => self.slide_along::<1, false>(cells, mover),
        }
    }

    /// Slides along lines whose neighbours are `STEP` apart, to their first cells if `FIRST`, else to their
    /// last.
    #[inline(always)]
    fn slide_along<const STEP: u32, const FIRST: bool>(&mut self, cells: Cells, mover: Case) -> i32 {
        let off_wall = cells & outward::<STEP, FIRST>(cells, 1);
        let gaps = cells & !self.occupied();
        let board = self.compress::<STEP, FIRST>(outward::<STEP, FIRST>(gaps, 1) & off_wall, off_wall);

        // Bit by bit the cells that hold the same as their outer neighbour; `LAST` stays as it is.
        let occupied = board.occupied();
        let [one, two, four, eight] = board.letters;
        let differs = board.letters.map(|plane| plane ^ inward::<STEP, FIRST>(plane, 1));
        let differs = differs[0] | differs[1] | differs[2] | differs[3];
        let inner = occupied & inward::<STEP, FIRST>(occupied & off_wall, 1);
        let equal = inner & !differs & !(one & two & four & eight);
        if equal == 0 {
            *self = board;
            return 0;
        }
        // Of neighbouring pairs every other one from the wall: a run is at most five long.
        let second = equal & outward::<STEP, FIRST>(equal, 1);
        let first = equal & !second;
        let third = outward::<STEP, FIRST>(first, 2) & second;
        let merged = first | third | (outward::<STEP, FIRST>(third, 2) & second);

        let cross = merged & (board.lower ^ inward::<STEP, FIRST>(board.lower, 1));
        let won = if cross == 0 { 0 } else { board.mass(cross) };
        let gone = outward::<STEP, FIRST>(merged, 1);
        let lower = match mover {
            Case::Upper => board.lower & !cross,
            Case::Lower => board.lower | cross,
        };
        // One more in binary: the carry runs through the digits that are set.
        let carry = [merged, merged & one, merged & one & two, merged & one & two & four];
        let digit = |i: usize| (board.letters[i] ^ carry[i]) & !gone;
        let merged = Self { letters: [digit(0), digit(1), digit(2), digit(3)], lower: lower & !gone };
        *self = merged.compress::<STEP, FIRST>(outward::<STEP, FIRST>(gone, 1) & off_wall, off_wall);
        won
    }

    /// Moves all tiles over the gaps before them; `behind` are the cells next to a gap, on its outer side,
    /// and `off_wall` all that are not next to the wall.
    #[inline(always)]
    fn compress<const STEP: u32, const FIRST: bool>(self, behind: Cells, off_wall: Cells) -> Self {
        // Tiles with an odd number of gaps before them move by one; then every other gap is left, twice as
        // wide.
        let one = parity::<STEP, FIRST>(behind) & off_wall;
        let mut board = self.moved::<STEP, FIRST>(one, 1);
        let behind = behind & !one;
        if behind != 0 {
            let two = parity::<STEP, FIRST>(behind) & off_wall;
            board = board.moved::<STEP, FIRST>(two, 2);
            let behind = behind & !two;
            if behind != 0 {
                let four = parity::<STEP, FIRST>(behind) & off_wall;
                board = board.moved::<STEP, FIRST>(four, 4);
            }
        }
        board
    }

    /// Moves the tiles on some cells by a distance to the wall.
    #[inline(always)]
    fn moved<const STEP: u32, const FIRST: bool>(self, from: Cells, distance: u32) -> Self {
        let plane = |plane: Cells| plane & !from | inward::<STEP, FIRST>(plane & from, distance);
        Self { letters: self.letters.map(plane), lower: plane(self.lower) }
    }
}

/// Moves cells by a distance to the wall.
#[inline(always)]
const fn inward<const STEP: u32, const FIRST: bool>(cells: Cells, distance: u32) -> Cells {
    if FIRST { cells >> (STEP * distance) } else { cells << (STEP * distance) }
}

/// Moves cells by a distance from the wall.
#[inline(always)]
const fn outward<const STEP: u32, const FIRST: bool>(cells: Cells, distance: u32) -> Cells {
    if FIRST { cells << (STEP * distance) } else { cells >> (STEP * distance) }
}

/// The cells with an odd number of these cells between the wall and themselves, their own included; and
/// others, off the board and next to the wall.
#[inline(always)]
const fn parity<const STEP: u32, const FIRST: bool>(cells: Cells) -> Cells {
    let pairs = cells ^ outward::<STEP, FIRST>(cells, 1);
    pairs ^ outward::<STEP, FIRST>(pairs, 2) ^ outward::<STEP, FIRST>(pairs, 4)
}
