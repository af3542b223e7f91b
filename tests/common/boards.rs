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
        let solution = solved(&mut random);
        let filled = CELLS * (41 + random.below(5)) / 100;
        Self::cut(solution, filled, &mut random)
    }

    /// A board that is filled by so many percent, cut from a solution.
    pub(crate) fn filled(seed: u64, percent: usize) -> Self {
        let mut random = Random::new(seed);
        let solution = solved(&mut random);
        Self::cut(solution, CELLS * percent / 100, &mut random)
    }

    /// One of values that were drawn and fit beside each other, by so many percent or as many as were found:
    /// whether it has a solution nobody knows.
    pub(crate) fn drawn(seed: u64, percent: usize) -> Self {
        let mut random = Random::new(seed);
        let mut values = vec![0; CELLS];
        let mut cells = shuffled(CELLS, &mut random);
        cells.truncate(CELLS * percent / 100);
        for cell in cells {
            let value = random.below(SIDE) as u8 + 1;
            let mut following = (0..SIDE as u8).map(|more| (value - 1 + more) % SIDE as u8 + 1);
            values[cell] = following.find(|value| fits(&values, cell, *value)).unwrap_or(0);
        }
        Self::with_move(values, &[0; CELLS], &mut random)
    }

    /// What stays of a solution if all but so many cells are emptied.
    fn cut(solution: Vec<u8>, filled: usize, random: &mut Random) -> Self {
        let mut values = solution.clone();
        let mut cells: Vec<usize> = (0..CELLS).collect();
        while cells.len() > filled {
            values[cells.swap_remove(random.below(cells.len()))] = 0;
        }
        Self::with_move(values, &solution, random)
    }

    /// The board with a move that fits there and is not the solution's.
    fn with_move(values: Vec<u8>, solution: &[u8], random: &mut Random) -> Self {
        loop {
            let (cell, value) = (random.below(CELLS), random.below(SIDE) as u8 + 1);
            if values[cell] == 0 && solution[cell] != value && fits(&values, cell, value) {
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

/// Whether no cell that shares a row, a column or a block has the value.
fn fits(values: &[u8], cell: usize, value: u8) -> bool {
    (0..CELLS).all(|other| values[other] != value || !share(cell, other))
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
