//! What follows from a board of 3x3, computed with bit sets: the inference of the [solver](super::solver) for
//! its most frequent board.
//!
//! The three rows of a band are 27 bits of a word, so that a value's places on the board are three words. In
//! a band, a value stands in each of the three rows once and in each of the three blocks once: one of six
//! permutations. So a table of all 512 sets of pieces says which of the nine pieces of three cells (a row
//! within a block) may have it, and likewise for the columns within the blocks of a stack. That finds hidden
//! singles and locked candidates; naked singles are looked for in all cells of a band at once. The idea is
//! that of fsss and JCZSolve by zhouyundong and champagne (forum.enjoysudoku.com, 2013).

use std::ops::ControlFlow;

use super::run::Run;

/// Solves boards of 3x3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bands;

/// The values.
const SIDE: usize = 9;
/// The cells of a band.
const BAND: usize = 27;
/// A band, a row of it, and that for its nine pieces: as many sets as have 9 members.
const ALL: u32 = (1 << BAND) - 1;
const FULL: [u32; 4] = [ALL, ALL, ALL, 0];
const ROW: u32 = (1 << SIDE) - 1;
const SETS: usize = 1 << SIDE;
/// A cell of each row of a band.
const COLUMN: u32 = 1 | 1 << SIDE | 1 << (2 * SIDE);

/// Of nine things in three groups, such as rows and blocks of a band, those that are part of a way to take
/// one of each row and one of each group, if there are only these.
const MATCHED: [u16; SETS] = {
    const WAYS: [u16; 6] =
        [0b100_010_001, 0b010_100_001, 0b100_001_010, 0b001_100_010, 0b010_001_100, 0b001_010_100];
    let mut sets = [0; SETS];
    let mut set = 0;
    while set < SETS {
        let mut at = 0;
        while at < WAYS.len() {
            if set as u16 & WAYS[at] == WAYS[at] {
                sets[set] |= WAYS[at];
            }
            at += 1;
        }
        set += 1;
    }
    sets
};

/// The same of the pieces of a band, each with its three cells.
const PIECES: [u32; SETS] = {
    let mut sets = [0; SETS];
    let mut set = 0;
    while set < SETS {
        let mut piece = 0;
        while piece < SIDE {
            if MATCHED[set] >> piece & 1 != 0 {
                sets[set] |= 0b111 << (3 * piece);
            }
            piece += 1;
        }
        set += 1;
    }
    sets
};

/// The thirds of a row that have some of its cells, as three bits.
const THIRDS: [u8; SETS] = thirds(false);
/// The thirds that have several.
const CROWDED: [u8; SETS] = thirds(true);

const fn thirds(several: bool) -> [u8; SETS] {
    let mut sets = [0; SETS];
    let mut set = 0;
    while set < SETS {
        let mut third = 0;
        while third < 3 {
            let cells = set >> (3 * third) & 0b111;
            if cells & (cells.wrapping_sub(1)) != 0 || (cells != 0 && !several) {
                sets[set] |= 1 << third;
            }
            third += 1;
        }
        set += 1;
    }
    sets
}

/// The cells of a band that are in blocks, of which there are three.
const BLOCKS: [u32; 8] = {
    let mut sets = [0; 8];
    let mut set = 0;
    while set < 8 {
        let mut block = 0;
        while block < 3 {
            if set >> block & 1 != 0 {
                sets[set] |= (0b111 << (3 * block)) * COLUMN;
            }
            block += 1;
        }
        set += 1;
    }
    sets
};

/// The cells of a band that cannot have the value of a cell: the others of its row and of its block.
const PEERS: [u32; BAND] = {
    let mut peers = [0; BAND];
    let mut cell = 0;
    while cell < BAND {
        let row = ROW << (cell / SIDE * SIDE);
        peers[cell] = (row | BLOCKS[1 << (cell % SIDE / 3)]) & !(1 << cell);
        cell += 1;
    }
    peers
};

/// What the cells may still be.
#[derive(Clone, Copy)]
struct State {
    /// For each value and band, the cells that may have it; of a block that has it, one.
    places: [[u32; 4]; SIDE],
    /// The cells whose value is not decided, or not yet taken from those of the others.
    open: [u32; 4],
}

impl Bands {
    /// Runs through the solutions of a board until the run breaks off.
    pub(super) fn search(self, board: &[u8], mut run: Run<'_>) -> ControlFlow<()> {
        let mut state = State { places: [FULL; SIDE], open: FULL };
        let mut changed = 0;
        for (cell, &value) in board.iter().enumerate().filter(|&(_, &value)| value != 0) {
            let value = usize::from(value) - 1;
            if !state.put(cell / BAND, cell % BAND, value) {
                return ControlFlow::Continue(());
            }
            changed |= 1 << value;
        }
        state.deepen(changed, &mut run)
    }
}

impl State {
    /// Leaves a value this place in its row within the band and in its block; false if that place is taken
    /// already.
    #[inline]
    fn put(&mut self, band: usize, cell: usize, value: usize) -> bool {
        let places = &mut self.places[value][band];
        *places &= !PEERS[cell];
        *places >> cell & 1 != 0
    }

    /// Searches what is left after the places of some values have changed.
    fn deepen(mut self, changed: u32, run: &mut Run<'_>) -> ControlFlow<()> {
        if !self.settle(changed) {
            return ControlFlow::Continue(());
        }
        if self.open == [0; 4] {
            return run.show(&self.solution());
        }
        let (band, cell) = self.choose(run);
        let first = run.order.value(BAND * band + cell, SIDE);
        for value in (first..SIDE).chain(0..first) {
            if self.places[value][band] >> cell & 1 != 0 {
                run.guess()?;
                let mut next = self;
                next.put(band, cell, value);
                next.deepen(1 << value, run)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Infers from the changed places of some values until nothing more follows; false if a value or a cell
    /// has no choice left.
    fn settle(&mut self, mut changed: u32) -> bool {
        while changed != 0 {
            while changed != 0 {
                let Some(next) = self.decide(changed) else { return false };
                changed = next;
            }
            let [some, several] = self.at_least();
            if some != FULL {
                return false;
            }
            for band in 0..3 {
                let mut single = self.open[band] & !several[band];
                while single != 0 {
                    let cell = single.trailing_zeros() as usize;
                    single &= single - 1;
                    // Of two cells that have the same value alone, the second has none now.
                    let value = self.places.iter().position(|places| places[band] >> cell & 1 != 0);
                    let Some(value) = value else { return false };
                    self.put(band, cell, value);
                    changed |= 1 << value;
                }
            }
        }
        true
    }

    /// Narrows the places of values that have changed, and takes the cells that this decides from the other
    /// values. Returns which of them have changed; none if a value has no place somewhere, or two must stand
    /// in one cell.
    #[inline]
    fn decide(&mut self, mut changed: u32) -> Option<u32> {
        let mut decided = [[0; 4]; SIDE];
        let mut taken = [0; 4];
        while changed != 0 {
            let value = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            if !narrow(&mut self.places[value]) {
                return None;
            }
            for band in 0..3 {
                let alone = alone_in_block(self.places[value][band]) & self.open[band];
                if alone & taken[band] != 0 {
                    return None;
                }
                decided[value][band] = alone;
                taken[band] |= alone;
            }
        }
        if taken != [0; 4] {
            for (open, taken) in self.open.iter_mut().zip(taken) {
                *open &= !taken;
            }
            for (value, (places, decided)) in self.places.iter_mut().zip(decided).enumerate() {
                let mut lost = 0;
                for band in 0..4 {
                    let others = taken[band] & !decided[band];
                    lost |= places[band] & others;
                    places[band] &= !others;
                }
                changed |= u32::from(lost != 0) << value;
            }
        }
        Some(changed)
    }

    /// The cells with at least one value left, with at least two, and so on.
    #[inline]
    fn at_least<const MOST: usize>(&self) -> [[u32; 4]; MOST] {
        let mut cells = [[0; 4]; MOST];
        for places in &self.places {
            for at in (1..MOST).rev() {
                for band in 0..4 {
                    cells[at][band] |= cells[at - 1][band] & places[band];
                }
            }
            for band in 0..4 {
                cells[0][band] |= places[band];
            }
        }
        cells
    }

    /// The band and the place within it of an open cell with the fewest values, from four on of any.
    fn choose(&self, run: &mut Run<'_>) -> (usize, usize) {
        let start = run.order.start(3);
        let [_, _, three, four] = self.at_least();
        for but in [three, four, [0; 4]] {
            for band in (start..3).chain(0..start) {
                let cells = self.open[band] & !but[band];
                if cells != 0 {
                    return (band, cells.trailing_zeros() as usize);
                }
            }
        }
        unreachable!("only boards with an open cell are guessed at")
    }

    /// The values of the cells, once all are decided.
    fn solution(&self) -> [u8; SIDE * SIDE] {
        let mut solution = [0; SIDE * SIDE];
        for (value, places) in (1..).zip(&self.places) {
            for (band, &places) in places.iter().enumerate() {
                let mut cells = places;
                while cells != 0 {
                    solution[BAND * band + cells.trailing_zeros() as usize] = value;
                    cells &= cells - 1;
                }
            }
        }
        solution
    }
}

/// Removes a value's impossible places, given where it may stand in each band and in each stack; false if it
/// has no place left somewhere.
#[inline]
fn narrow(places: &mut [u32; 4]) -> bool {
    loop {
        let mut columns = [0; 4];
        for (places, columns) in places[..3].iter_mut().zip(&mut columns) {
            let rows = [*places & ROW, *places >> SIDE & ROW, *places >> (2 * SIDE) & ROW];
            let thirds = rows.map(|row| usize::from(THIRDS[row as usize]));
            *places &= PIECES[thirds[0] | thirds[1] << 3 | thirds[2] << 6];
            *columns = (*places | *places >> SIDE | *places >> (2 * SIDE)) & ROW;
        }
        let mut kept = [0; 4];
        for stack in [0, 3, 6] {
            let pieces = columns.map(|columns| columns >> stack & 0b111);
            let matched = u32::from(MATCHED[(pieces[0] | pieces[1] << 3 | pieces[2] << 6) as usize]);
            if matched == 0 {
                return false;
            }
            for (band, kept) in kept[..3].iter_mut().enumerate() {
                *kept |= (matched >> (3 * band) & 0b111) << stack;
            }
        }
        if kept == columns {
            return true;
        }
        for (places, kept) in places.iter_mut().zip(kept) {
            *places &= kept * COLUMN;
        }
    }
}

/// The places of a value in a band that are the only ones in their blocks.
#[inline]
fn alone_in_block(places: u32) -> u32 {
    let rows = [places & ROW, places >> SIDE & ROW, places >> (2 * SIDE) & ROW];
    let some = rows[0] | rows[1] | rows[2];
    let several = (rows[0] & rows[1]) | ((rows[0] | rows[1]) & rows[2]);
    // A block's cells are alone if they are in one column, and one there.
    let crowded = CROWDED[some as usize] | THIRDS[several as usize];
    places & BLOCKS[usize::from(!crowded & 0b111)]
}
