//! Sudoku boards of 25 by 25 that are solvable and take long to be solved.

use plyd::zobrist::SplitMix64;

/// Rows and columns of a block.
const BLOCK: usize = 5;
const SIDE: usize = BLOCK * BLOCK;

/// A board with a solution, 41 to 45 % of its cells filled.
pub(crate) fn slow(random: &mut SplitMix64) -> String {
    let (rows, columns, values) = (lines(random), lines(random), shuffled(SIDE, random));
    let cells = SIDE * SIDE;
    let filled = cells * (410 + random.below(41)) / 1000;
    let mut kept = vec![false; cells];
    for cell in shuffled(cells, random).into_iter().take(filled) {
        kept[cell] = true;
    }
    let mut text = format!("{BLOCK} {BLOCK}");
    for (cell, is_kept) in kept.into_iter().enumerate() {
        let (row, column) = (rows[cell / SIDE], columns[cell % SIDE]);
        // The usual solution: each row is the one above it, shifted by a block, and by one more in the next
        // band.
        let value = values[(row % BLOCK * BLOCK + row / BLOCK + column) % SIDE] + 1;
        text += &if is_kept { format!(" {value}") } else { " .".to_owned() };
    }
    text
}

/// Rows or columns in an order that leaves each in a band with its neighbours.
fn lines(random: &mut SplitMix64) -> Vec<usize> {
    let bands = shuffled(BLOCK, random);
    bands
        .into_iter()
        .flat_map(|band| shuffled(BLOCK, random).into_iter().map(move |line| band * BLOCK + line))
        .collect()
}

fn shuffled(count: usize, random: &mut SplitMix64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, random.below(at + 1));
    }
    order
}
