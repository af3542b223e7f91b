//! A known solution: while there is one, most moves need no solver.

use super::grid::Grid;

/// A solution of the empty board: each row is the one above moved by a block's width, or by one more.
#[must_use]
pub(super) fn pattern(grid: &Grid) -> Vec<u8> {
    let (m, n, side) = (grid.m(), grid.n(), grid.side());
    let value = |cell: usize| {
        let (row, column) = grid.place(cell);
        ((row % m * n + row / m + column) % side + 1) as u8
    };
    (0..grid.cells()).map(value).collect()
}

/// Makes another solution of the board that has a value in a cell, by exchanging two values; false, and the
/// same solution, if that does not suffice.
///
/// The cells of both values that must change with this cell are those that rows, columns and blocks link to
/// it (a Kempe chain); all of them must be empty on the board.
pub(super) fn exchange(grid: &Grid, values: &[u8], witness: &mut [u8], cell: usize, value: u8) -> bool {
    let pair = [witness[cell], value];
    let mut chain = vec![cell];
    let mut at = 0;
    while let Some(&cell) = chain.get(at) {
        at += 1;
        let other = if witness[cell] == pair[0] { pair[1] } else { pair[0] };
        for region in grid.regions_of(cell) {
            let linked = grid.regions()[region]
                .iter()
                .map(|&cell| usize::from(cell))
                .find(|&cell| witness[cell] == other)
                .expect("a solution has every value in every region");
            if values[linked] != 0 {
                return false;
            }
            if !chain.contains(&linked) {
                chain.push(linked);
            }
        }
    }
    for cell in chain {
        witness[cell] = if witness[cell] == pair[0] { pair[1] } else { pair[0] };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    fn is_solution(grid: &Grid, values: &[u8]) -> bool {
        let all = grid.all_values() << 1;
        grid.regions()
            .iter()
            .all(|region| region.iter().fold(0, |seen, &cell| seen | 1 << values[usize::from(cell)]) == all)
    }

    #[test]
    fn patterns_and_their_exchanges_are_solutions() {
        for (m, n) in [(2, 2), (2, 3), (3, 2), (3, 3), (3, 4), (4, 4), (5, 5)] {
            let grid = Grid::new(m, n);
            let mut random = SplitMix64::new(m as u64);
            let mut witness = pattern(&grid);
            assert!(is_solution(&grid, &witness), "{m} {n}");
            let mut values = vec![0; grid.cells()];
            let mut done = [0; 2];
            for _ in 0..200 {
                let cell = random.below(grid.cells());
                let value = random.below(grid.side()) as u8 + 1;
                if values[cell] != 0 || witness[cell] == value {
                    continue;
                }
                let before = witness.clone();
                let is_done = exchange(&grid, &values, &mut witness, cell, value);
                done[usize::from(is_done)] += 1;
                assert!(is_solution(&grid, &witness));
                assert!(values.iter().zip(&witness).all(|(&value, &known)| value == 0 || value == known));
                assert_eq!(is_done, witness[cell] == value);
                assert!(is_done || witness == before);
                values[random.below(grid.cells())] = 0;
                values[cell] = witness[cell];
            }
            assert!(done[0] > 2 && done[1] > 2, "{done:?}");
        }
    }
}
