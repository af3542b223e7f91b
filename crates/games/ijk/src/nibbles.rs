//! The tiles on a board of 4 by 4 cells, four bits each, and what a slide makes of them.
//!
//! The letters' numbers fill one word, row by row from its low end, and a second one holds the cases. So all
//! cells of a plane move in one shift, all pairs of neighbours are compared in one step, and a merge adds one
//! to a letter, without a branch.

use super::board::{Board, Case, Cells, K, Slide, Tile};

/// Rows and columns of the board.
pub(super) const SIZE: usize = 4;
/// Every cell: the lowest bit of its nibble.
pub(super) const CELLS: Cells = 0x1111_1111_1111_1111;
/// From a cell to the next one in its row, and in its column.
const ROW: u32 = 4;
const COLUMN: u32 = 16;

/// The tiles on a board of 4 by 4 cells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Nibbles {
    /// The letters' numbers.
    letters: u64,
    /// The cells with lower-case tiles.
    lower: Cells,
}

/// The nibbles that hold anything.
#[inline(always)]
pub(super) const fn filled(nibbles: u64) -> Cells {
    let pairs = nibbles | nibbles >> 2;
    (pairs | pairs >> 1) & CELLS
}

/// All bits of some cells.
#[inline(always)]
pub(super) const fn whole(cells: Cells) -> u64 {
    (cells << 4).wrapping_sub(cells)
}

/// A nibble in each cell.
#[inline(always)]
pub(super) const fn everywhere(nibble: u8) -> u64 {
    CELLS * nibble as u64
}

impl Nibbles {
    /// The letters' numbers, a nibble for each cell.
    #[inline]
    #[must_use]
    pub(super) const fn letters(&self) -> u64 {
        self.letters
    }

    /// Slides along lines whose neighbours are `STEP` apart, to their first cells if `FIRST`, else to their
    /// last.
    #[inline(always)]
    fn slide_along<const STEP: u32, const FIRST: bool>(&mut self, mover: Case) -> i32 {
        // From the last gap to the first: what is before a gap stays where it is.
        let gaps = CELLS ^ filled(self.letters);
        let board = self
            .close::<STEP, FIRST>(behind::<STEP, FIRST, 2>(gaps))
            .close::<STEP, FIRST>(behind::<STEP, FIRST, 1>(gaps))
            .close::<STEP, FIRST>(behind::<STEP, FIRST, 0>(gaps));

        // Of two neighbours with one letter the inner one. A nibble whose bits are all alike is an empty cell
        // or `LAST`.
        let letters = board.letters;
        let changes = letters ^ letters >> 1;
        let merging = changes | changes >> 1 | changes >> 2;
        let differs = filled(letters ^ inward::<STEP, FIRST>(letters));
        let equal = merging & !differs & const { CELLS & !lane::<STEP, FIRST>(3) };
        // Of overlapping pairs every other one from the wall.
        let next = outward::<STEP, FIRST>(equal);
        let third = equal & next;
        let merged = (equal & !next) | (third & outward::<STEP, FIRST>(third));

        let cross = merged & (board.lower ^ inward::<STEP, FIRST>(board.lower));
        // No two of them are neighbours in a line: two nibbles of a line become one, and one lookup takes two
        // lines, or the two ends of one.
        let taken = letters & whole(cross);
        let taken = taken | taken >> STEP;
        let (pairs, at) = if STEP == ROW {
            (taken & 0x000f_000f_000f_000f | taken >> 4 & 0x00f0_00f0_00f0_00f0, [0, 16, 32, 48])
        } else {
            (taken, [0, 8, 32, 40])
        };
        let won = at.iter().map(|at| i32::from(MASSES[(pairs >> at & 0xff) as usize])).sum();
        let lower = match mover {
            Case::Upper => board.lower & !cross,
            Case::Lower => board.lower | cross,
        };
        let gone = outward::<STEP, FIRST>(merged);
        let stay = !whole(gone);
        let merged = Self { letters: (letters + merged) & stay, lower: lower & stay };
        // With two pairs in a line nothing is left behind the second.
        *self = merged.close::<STEP, FIRST>(behind::<STEP, FIRST, 1>(gone) | behind::<STEP, FIRST, 2>(gone));
        won
    }

    /// Moves the tiles on some cells by one to the wall.
    #[inline(always)]
    const fn close<const STEP: u32, const FIRST: bool>(self, cells: u64) -> Self {
        let [letters, lower] = [self.letters & cells, self.lower & cells];
        Self {
            letters: (self.letters ^ letters) | inward::<STEP, FIRST>(letters),
            lower: (self.lower ^ lower) | inward::<STEP, FIRST>(lower),
        }
    }
}

/// Moves cells by one to the wall.
#[inline(always)]
const fn inward<const STEP: u32, const FIRST: bool>(cells: u64) -> u64 {
    if FIRST { cells >> STEP } else { cells << STEP }
}

/// Moves cells by one from the wall.
#[inline(always)]
const fn outward<const STEP: u32, const FIRST: bool>(cells: u64) -> u64 {
    if FIRST { cells << STEP } else { cells >> STEP }
}

/// In each line, the cell that is `from_wall` cells from the wall.
const fn lane<const STEP: u32, const FIRST: bool>(from_wall: u32) -> Cells {
    let at = if FIRST { from_wall } else { 3 - from_wall };
    if STEP == ROW { 0x0001_0001_0001_0001 << (ROW * at) } else { 0x1111 << (COLUMN * at) }
}

/// All bits of the cells behind those of `cells` that are `FROM_WALL` cells from the wall.
#[inline(always)]
const fn behind<const STEP: u32, const FIRST: bool, const FROM_WALL: u32>(cells: Cells) -> u64 {
    let cells = cells & const { lane::<STEP, FIRST>(FROM_WALL) };
    let count = 3 - FROM_WALL;
    // A cell times this is itself and the cells that follow.
    let spread = const {
        let (mut spread, mut at) = (0, 0);
        while at < 3 - FROM_WALL {
            spread |= 15 << (STEP * at);
            at += 1;
        }
        spread
    };
    let first = if FIRST { cells << STEP } else { cells >> (STEP * count) };
    first.wrapping_mul(spread)
}

/// Arbitrary odd numbers for the hash.
const LETTERS_KEY: u64 = 0xd1b5_4a32_d192_ed03;
const CASES_KEY: u64 = 0x8cb9_2ba7_2f3d_8dd7;
const CASES_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The factor of a hash that depends on the cases.
#[inline(always)]
const fn cases_key(lower: Cells) -> u64 {
    lower.wrapping_mul(CASES_FACTOR) ^ CASES_KEY
}

/// The mass of two tiles, or of one if the other nibble is 0.
static MASSES: [u16; 256] = {
    let mut masses = [0; 256];
    let mut tiles = 0;
    while tiles < 256 {
        masses[tiles] = (1 << (tiles & 15) >> 1) + (1 << (tiles >> 4) >> 1);
        tiles += 1;
    }
    masses
};

impl Board for Nibbles {
    const STEPS: [usize; 2] = [ROW as usize, COLUMN as usize];
    const IS_QUICK: bool = true;

    #[inline]
    fn occupied(&self) -> Cells {
        filled(self.letters)
    }

    #[inline]
    fn lower(&self) -> Cells {
        self.lower
    }

    #[inline]
    fn digit(&self, digit: usize) -> Cells {
        self.letters >> digit
    }

    #[inline]
    fn ks(&self) -> Cells {
        CELLS & !filled(self.letters ^ const { everywhere(K) })
    }

    #[inline]
    fn tile(&self, cell: u8) -> Option<Tile> {
        let letter = (self.letters >> cell & 15) as u8;
        let case = if self.lower >> cell & 1 == 1 { Case::Lower } else { Case::Upper };
        (letter > 0).then_some(Tile { letter, case })
    }

    #[inline]
    fn put(&mut self, cell: u8, tile: Tile) {
        self.letters |= u64::from(tile.letter) << cell;
        self.lower |= u64::from(tile.case == Case::Lower) << cell;
    }

    #[inline]
    fn nth(cells: Cells, before: u32) -> u8 {
        // In each nibble, how many of the cells there are up to it, without the fifth binary digit, which
        // only the last can have.
        let counts = cells.wrapping_mul(CELLS);
        let others = filled(counts ^ CELLS.wrapping_mul(u64::from((before + 1) & 15)));
        (CELLS ^ others).trailing_zeros() as u8
    }

    fn flip(&mut self, cell: u8) {
        self.lower ^= self.occupied() & 1 << cell;
    }

    #[inline]
    fn mass(&self, mut cells: Cells) -> i32 {
        let mut mass = 0;
        while cells != 0 {
            mass += 1 << (self.letters >> cells.trailing_zeros() & 15) >> 1;
            cells &= cells - 1;
        }
        mass
    }

    #[inline]
    fn key(&self, state: u64) -> u64 {
        // Both halves of a product, as in wyhash (Wang Yi). Neither factor is 0: the second never is, and no
        // game comes to the letters of `LETTERS_KEY`, of which several are beyond a `K`.
        let cases = cases_key(self.lower);
        let product = u128::from(self.letters ^ LETTERS_KEY) * u128::from(cases);
        product as u64 ^ (product >> 64) as u64 ^ state
    }

    // Inlined into a loop over moves, all four slides would be computed before the loop, whichever are
    // played.
    #[inline(never)]
    fn slide(&mut self, slide: Slide, _cells: Cells, mover: Case) -> i32 {
        match slide {
            Slide::Up => self.slide_along::<COLUMN, true>(mover),
            Slide::Down => self.slide_along::<COLUMN, false>(mover),
            Slide::Left => self.slide_along::<ROW, true>(mover),
            Slide::Right => self.slide_along::<ROW, false>(mover),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::super::board::{LAST, places, square};
    use super::super::planes::Planes;
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    /// The same tiles as bit planes, whose slides the second program of the rules checks on every size.
    fn planes(board: &Nibbles) -> Planes {
        Planes::from_tiles(SIZE, |row, column| board.tile(Nibbles::cell(row, column)))
    }

    /// The rows and columns of some cells.
    fn listed<B: Board>(cells: Cells) -> Vec<(usize, usize)> {
        (0..64).filter(|cell| cells >> cell & 1 == 1).map(B::place).collect()
    }

    fn compare(board: &Nibbles) {
        let other = planes(board);
        assert_eq!(listed::<Nibbles>(board.occupied()), listed::<Planes>(other.occupied()));
        assert_eq!(listed::<Nibbles>(board.ks()), listed::<Planes>(other.ks()));
        for case in [Case::Upper, Case::Lower] {
            assert_eq!(listed::<Nibbles>(board.of(case)), listed::<Planes>(other.of(case)));
            assert_eq!(board.highest(case), other.highest(case), "{board:x?}");
            assert_eq!(board.mass(board.of(case)), other.mass(other.of(case)), "{board:x?}");
            for slide in Slide::ALL {
                let (mut after, mut expected) = (*board, other);
                let won = after.slide(slide, square::<Nibbles>(SIZE), case);
                let expected_won = expected.slide(slide, square::<Planes>(SIZE), case);
                assert_eq!((planes(&after), won), (expected, expected_won), "{slide:?} of {board:x?}");
            }
        }
    }

    fn tile(number: usize) -> Option<Tile> {
        let case = if number & 1 == 0 { Case::Lower } else { Case::Upper };
        (number > 0).then_some(Tile { letter: number.div_ceil(2) as u8, case })
    }

    /// A board of any density, with few letters, which merge often, or many.
    fn random_board(random: &mut SplitMix64) -> Nibbles {
        let (letters, tiles) = (1 + random.below(usize::from(LAST)), random.below(17));
        let lowest = 1 + random.below(usize::from(LAST) + 1 - letters);
        let mut numbers = [[0; SIZE]; SIZE];
        for (row, column) in places(SIZE) {
            if random.below(16) < tiles {
                numbers[row][column] = 2 * (lowest + random.below(letters)) - random.below(2);
            }
        }
        Nibbles::from_tiles(SIZE, |row, column| tile(numbers[row][column]))
    }

    #[test]
    fn any_board_is_like_its_planes() {
        let mut random = SplitMix64::new(4);
        for _ in 0..20_000 {
            compare(&random_board(&mut random));
        }
    }

    #[test]
    fn cells_are_numbered_as_by_a_loop() {
        let mut random = SplitMix64::new(6);
        for round in 0..2000 {
            let cells = CELLS & if round == 0 { CELLS } else { random.next() };
            for before in 0..cells.count_ones() {
                assert_eq!(Nibbles::nth(cells, before), Planes::nth(cells, before), "{before} of {cells:x}");
            }
        }
    }

    #[test]
    fn the_factor_of_the_cases_is_never_zero() {
        for cells in 0..1_u64 << (SIZE * SIZE) {
            let lower = (0..16).fold(0, |lower, cell| lower | (cells >> cell & 1) << (4 * cell));
            assert_ne!(cases_key(lower), 0, "{lower:x}");
        }
    }

    #[test]
    fn different_boards_have_different_keys_in_all_bits() {
        let mut random = SplitMix64::new(9);
        let mut keys = HashMap::new();
        for _ in 0..20_000 {
            let mut board = random_board(&mut random);
            for _ in 0..2 {
                assert_eq!(*keys.entry(board.key(0)).or_insert(board), board);
                assert_eq!(board.key(0) ^ 77, board.key(77));
                // Then the same tiles with one case changed, if there is a tile.
                board.flip(random.below(16) as u8 * 4);
            }
        }
        // Each 16 bits of the keys take as many values as those of random numbers would.
        let count = keys.len() as f64;
        let expected = 65_536.0 * (1.0 - (-count / 65_536.0).exp());
        for end in [0, 16, 32, 48] {
            let ends: HashSet<u64> = keys.keys().map(|key| key >> end & 0xffff).collect();
            assert!(
                (0.98..1.02).contains(&(ends.len() as f64 / expected)),
                "{end}: {} of {expected}",
                ends.len()
            );
        }
    }

    #[test]
    fn every_line_slides_like_its_planes() {
        // Two letters, and the last one, which does not merge.
        let states = [0, 1, 2, 3, 4, 29, 30];
        let mut random = SplitMix64::new(5);
        for line in 0..states.len().pow(SIZE as u32) {
            let cell = |at: usize| tile(states[line / states.len().pow(at as u32) % states.len()]);
            let (others, at) = (random_board(&mut random), random.below(SIZE));
            for is_row in [false, true] {
                compare(&Nibbles::from_tiles(SIZE, |row, column| {
                    let (line, place) = if is_row { (row, column) } else { (column, row) };
                    if line == at { cell(place) } else { others.tile(Nibbles::cell(row, column)) }
                }));
            }
        }
    }
}
