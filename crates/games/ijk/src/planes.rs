//! The tiles on a square board of any size, as bit planes, and what a slide makes of them.
//!
//! A word of 64 bits is one bit for each cell, ten for each row of up to six cells. Four words hold the
//! letters' numbers in binary, a fifth their cases, so that a slide moves and merges the tiles of all lines
//! at once: lines are compressed as in Warren, "Hacker's Delight", 2002, section 7-4, but along the board
//! instead of along the word.

use super::board::{Board, Case, Cells, Slide, Tile};
use plyd_core::zobrist::mix;

/// Cells from one row to the next: wide enough that what a shift takes out of a row reaches no further than
/// the first or last cell of its neighbour.
const STRIDE: u32 = 10;

/// The tiles on a board of up to 6 by 6 cells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Planes {
    /// The letters' numbers in binary, the lowest digit first.
    letters: [Cells; 4],
    /// The cells with lower-case tiles.
    lower: Cells,
}

impl Planes {
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

impl Board for Planes {
    const STEPS: [usize; 2] = [1, STRIDE as usize];
    const IS_QUICK: bool = false;

    #[inline]
    fn occupied(&self) -> Cells {
        let [one, two, four, eight] = self.letters;
        one | two | four | eight
    }

    #[inline]
    fn lower(&self) -> Cells {
        self.lower
    }

    #[inline]
    fn digit(&self, digit: usize) -> Cells {
        self.letters[digit]
    }

    #[inline]
    fn ks(&self) -> Cells {
        let [one, two, four, eight] = self.letters;
        one & two & !four & eight
    }

    fn tile(&self, cell: u8) -> Option<Tile> {
        let letter =
            (0..4).fold(0, |letter, digit| letter | ((self.letters[digit] >> cell & 1) as u8) << digit);
        let case = if self.lower >> cell & 1 == 1 { Case::Lower } else { Case::Upper };
        (letter > 0).then_some(Tile { letter, case })
    }

    #[inline]
    fn put(&mut self, cell: u8, tile: Tile) {
        for (digit, plane) in self.letters.iter_mut().enumerate() {
            *plane |= (u64::from(tile.letter) >> digit & 1) << cell;
        }
        self.lower |= u64::from(tile.case == Case::Lower) << cell;
    }

    fn flip(&mut self, cell: u8) {
        self.lower ^= self.occupied() & (1 << cell);
    }

    #[inline]
    fn mass(&self, mut cells: Cells) -> i32 {
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

    #[inline]
    fn key(&self, state: u64) -> u64 {
        let [one, two, four, eight] = self.letters;
        mix(one.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ two.wrapping_mul(0xd1b5_4a32_d192_ed03).rotate_left(13)
            ^ four.wrapping_mul(0xaef1_7502_108e_f2d9).rotate_left(27)
            ^ eight.wrapping_mul(0xf135_7aea_2e62_a9c5).rotate_left(41)
            ^ self.lower.wrapping_mul(0x8cb9_2ba7_2f3d_8dd7).rotate_left(53))
            ^ state
    }

    #[inline]
    fn slide(&mut self, slide: Slide, cells: Cells, mover: Case) -> i32 {
        match slide {
            Slide::Up => self.slide_along::<STRIDE, true>(cells, mover),
            Slide::Down => self.slide_along::<STRIDE, false>(cells, mover),
            Slide::Left => self.slide_along::<1, true>(cells, mover),
            Slide::Right => self.slide_along::<1, false>(cells, mover),
        }
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

/// The cells with an odd number of these cells from the wall up to and including themselves; bits off the
/// board and next to the wall may be set, too.
#[inline(always)]
const fn parity<const STEP: u32, const FIRST: bool>(cells: Cells) -> Cells {
    let pairs = cells ^ outward::<STEP, FIRST>(cells, 1);
    pairs ^ outward::<STEP, FIRST>(pairs, 2) ^ outward::<STEP, FIRST>(pairs, 4)
}
