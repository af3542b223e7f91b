//! What boards of one shape have in common, worked out once for all of them.

use std::sync::OnceLock;

use super::grid::Grid;
use super::solver::Solver;

/// A grid and its solver: some hundred kilobytes for the largest.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) grid: Grid,
    pub(super) solver: Solver,
}

const SMALLEST: usize = *Grid::BLOCK.start();
const SIZES: usize = *Grid::BLOCK.end() - SMALLEST + 1;

impl Shape {
    /// The shape with blocks of `m` rows and `n` columns, both within [`Grid::BLOCK`]. However many games
    /// are open, it is in memory once.
    pub(super) fn of(m: usize, n: usize) -> &'static Self {
        static SHAPES: [[OnceLock<Shape>; SIZES]; SIZES] =
            [const { [const { OnceLock::new() }; SIZES] }; SIZES];
        SHAPES[m - SMALLEST][n - SMALLEST].get_or_init(|| {
            let grid = Grid::new(m, n);
            Self { solver: Solver::new(&grid), grid }
        })
    }
}
