//! Sudoku boards of 25x25 that the rules have much to find out about: filled by 41 to 45 %, with a move that
//! may leave no solution. For tests and for `benches/`.

use super::random::Random;

/// Rows and columns of a block.
const BLOCK: usize = 5;
/// Rows and columns of the board, and values.
const SIDE: usize = BLOCK * BLOCK;
/// Cells of the board.
const CELLS: usize = SIDE * SIDE;

/// A start and a move that fits there.
#[derive(Clone)]
pub(crate) struct Board {
    /// The values by rows; 0 for empty cells.
    pub(crate) values: Vec<u8>,
    /// The cell of the move.
    pub(crate) cell: usize,
    /// Its value, which is not the one that the cell had before it was emptied.
    pub(crate) value: u8,
}

/// Seeds of boards whose start is solved within 15,000 nodes of the solver, and whose move takes it more than
/// a million.
pub(crate) const SLOW: [u64; 12] = [194, 414, 416, 624, 674, 905, 1141, 1677, 1691, 2195, 2235, 2421];

impl Board {
    /// The board of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut values = solved(&mut random);
        let solution = values.clone();
        let filled = CELLS * (41 + random.below(5)) / 100;
        let mut cells: Vec<usize> = (0..CELLS).collect();
        while cells.len() > filled {
            values[cells.swap_remove(random.below(cells.len()))] = 0;
        }
        loop {
            let (cell, value) = (random.below(CELLS), random.below(SIDE) as u8 + 1);
            let is_seen = (0..CELLS).any(|other| values[other] == value && share(cell, other));
            if values[cell] == 0 && solution[cell] != value && !is_seen {
                return Self { values, cell, value };
            }
        }
    }

    /// The start as a position's text.
    pub(crate) fn start(&self) -> String {
        let values: Vec<String> = self.values.iter().map(u8::to_string).collect();
        format!("{BLOCK} {BLOCK} {}", values.join(" "))
    }

    /// The move's text.
    pub(crate) fn mv(&self) -> String {
        format!("{},{},{}", self.cell / SIDE, self.cell % SIDE, self.value)
    }
}

/// Whether two cells share a row, a column or a block.
fn share(cell: usize, other: usize) -> bool {
    let place = |cell: usize| (cell / SIDE, cell % SIDE);
    let ((row, column), (other_row, other_column)) = (place(cell), place(other));
    row == other_row
        || column == other_column
        || (row / BLOCK, column / BLOCK) == (other_row / BLOCK, other_column / BLOCK)
}

/// A full board: each row is the one above moved by a block's width, or by one more; values, rows, columns,
/// bands and stacks are shuffled.
fn solved(random: &mut Random) -> Vec<u8> {
    let values = shuffled(SIDE, random);
    let [rows, columns] = [(); 2].map(|()| lines(random));
    let value = |cell: usize| {
        let (row, column) = (rows[cell / SIDE], columns[cell % SIDE]);
        values[(row % BLOCK * BLOCK + row / BLOCK + column) % SIDE] as u8 + 1
    };
    (0..CELLS).map(value).collect()
}

/// The rows or the columns, in an order that leaves those of a band or a stack together.
fn lines(random: &mut Random) -> Vec<usize> {
    let groups = shuffled(BLOCK, random);
    let lines = groups.into_iter().flat_map(|group| {
        let within = shuffled(BLOCK, random);
        within.into_iter().map(move |line| BLOCK * group + line)
    });
    lines.collect()
}

fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let mut all: Vec<usize> = (0..count).collect();
    for at in 0..count {
        let other = at + random.below(count - at);
        all.swap(at, other);
    }
    all
}
