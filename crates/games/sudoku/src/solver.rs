//! Solutions of a puzzle, found exactly and fast: which there are, or that there is none.
//!
//! Knows no game. [`counts`](super::counts) decides what can be inferred from a board, and what to guess
//! then, for boards of any shape, and [`bands`](super::bands) for those of 3x3, in a fraction of the time;
//! [`run`](super::run) is what they are handed. This file decides when to restart.

use std::ops::ControlFlow;

use super::bands::Bands;
use super::counts::Tables;
use super::grid::Grid;
use super::run::{Order, Run};
use plyd_core::effort::Effort;
use plyd_core::zobrist::SplitMix64;

/// Solves boards of one shape; it chooses arrays that fit the shape.
///
/// ```
/// use plyd_core::effort::Effort;
/// use plyd_core::game::Rules;
/// use plyd_sudoku::Solved;
/// use plyd_sudoku::presets::Choice;
/// use plyd_sudoku::rules::Sudoku;
///
/// let game = Sudoku::new(Choice::new(&Rules::default(), None).unwrap());
/// let solve = |board: &[u8]| game.solver().solve(board, &[], &mut 100_000, &Effort::free());
/// // Rows of 9 cells, 0 if they are empty: 1 to 8 stand in the first one.
/// let mut board = [0; 81];
/// (1..9).for_each(|value| board[value - 1] = value as u8);
/// assert!(matches!(solve(&board), Solved::By(solution) if solution[8] == 9));
/// // The ninth column has its 9 elsewhere.
/// board[8 + 5 * 9] = 9;
/// assert_eq!(solve(&board), Solved::Never);
/// ```
#[derive(Clone, Debug)]
pub struct Solver(Sized);

#[derive(Clone, Debug)]
enum Sized {
    Six(Tables<36, 6, 18>),
    Eight(Tables<64, 8, 24>),
    Bands(Bands),
    Twelve(Tables<144, 12, 36>),
    Sixteen(Tables<256, 16, 48>),
    TwentyFive(Tables<625, 25, 75>),
}

/// Whether a board was searched completely.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Searched {
    /// Every solution was shown.
    Whole,
    /// The visitor or the limit of guesses ended the search.
    Partly,
}

impl Solver {
    /// A solver for boards of a shape.
    #[must_use]
    pub(super) fn new(grid: &Grid) -> Self {
        Self(match grid.side() {
            0..=6 => Sized::Six(Tables::new(grid)),
            7..=8 => Sized::Eight(Tables::new(grid)),
            9 => Sized::Bands(Bands),
            10..=12 => Sized::Twelve(Tables::new(grid)),
            13..=16 => Sized::Sixteen(Tables::new(grid)),
            _ => Sized::TwentyFive(Tables::new(grid)),
        })
    }

    /// A solution of a board (0 for empty cells), if there is one; `hint` is a board that it may be near to,
    /// or empty.
    ///
    /// A search that guessed wrong early on may take hours for what another order finds at once (Gomes,
    /// Selman, Crato, Kautz, "Heavy-tailed phenomena in satisfiability and constraint satisfaction problems",
    /// 2000). So it restarts in another order after some guesses, then after twice as many, until it finds a
    /// solution or has tried everything. `nodes` limits all of them together, and keeps what is left: each
    /// guess is a node, and setting up a board counts as many nodes as take that long. Equal limits give
    /// equal answers, unless the effort ends the work before.
    pub fn solve(&self, board: &[u8], hint: &[u8], nodes: &mut u64, effort: &Effort) -> Solved {
        let mut found = None;
        let mut restart_after = FIRST_RESTART;
        let clues = board.iter().filter(|&&value| value != 0).count() as u64;
        let set_up = 1 + clues / CLUES_A_NODE;
        for attempt in 0.. {
            *nodes = nodes.saturating_sub(set_up);
            if *nodes == 0 || !effort.spend(set_up) {
                return Solved::Unknown;
            }
            let guesses = &mut *nodes;
            let mut rest = restart_after.min(*guesses);
            let given = rest;
            let order = Order { hint, random: (attempt > 0).then(|| SplitMix64::new(attempt)) };
            let searched = self.run(board, order, &mut rest, effort, &mut |solution| {
                found = Some(solution.to_vec());
                ControlFlow::Break(())
            });
            *guesses -= given - rest;
            if let Some(solution) = found.take() {
                return Solved::By(solution);
            }
            if searched == Searched::Whole {
                return Solved::Never;
            }
            if *guesses == 0 || effort.was_cut() {
                return Solved::Unknown;
            }
            restart_after = restart_after.saturating_mul(2);
        }
        unreachable!("the restart limit grows past every limit")
    }

    /// Shows the solutions of a board (0 for empty cells), those near the hint first, until the visitor
    /// breaks off or `guesses` is used up, from which each guess is taken, or the effort ends it.
    pub(super) fn search(
        &self,
        board: &[u8],
        hint: &[u8],
        guesses: &mut u64,
        effort: &Effort,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Searched {
        self.run(board, Order { hint, random: None }, guesses, effort, visit)
    }

    fn run(
        &self,
        board: &[u8],
        order: Order<'_>,
        guesses: &mut u64,
        effort: &Effort,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Searched {
        let run = Run { order, guesses, effort, visit };
        let flow = match &self.0 {
            Sized::Six(tables) => tables.search(board, run),
            Sized::Eight(tables) => tables.search(board, run),
            Sized::Bands(bands) => bands.search(board, run),
            Sized::Twelve(tables) => tables.search(board, run),
            Sized::Sixteen(tables) => tables.search(board, run),
            Sized::TwentyFive(tables) => tables.search(board, run),
        };
        if flow.is_continue() { Searched::Whole } else { Searched::Partly }
    }
}

/// The guesses after which a search restarts for the first time.
const FIRST_RESTART: u64 = 100;

/// Clues that are placed in the time of a guess, when a board is set up: 3 to 10, by the size of the board.
const CLUES_A_NODE: u64 = 4;

/// What [`Solver::solve`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solved {
    /// A solution.
    By(Vec<u8>),
    /// The board has no solution.
    Never,
    /// Neither was found within the nodes.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, values};
    use super::super::oracle;
    use super::super::shape::Shape;
    use super::*;
    use plyd_core::effort::Interrupt;
    use plyd_core::engine::conformance::is_whole;

    /// The number of solutions, up to a limit.
    fn count(m: usize, n: usize, board: &[u8], limit: usize) -> usize {
        let grid = Grid::new(m, n);
        let mut found = std::collections::HashSet::new();
        Solver::new(&grid).search(board, &[], &mut u64::MAX.clone(), &Effort::free(), &mut |solution| {
            assert!(board.iter().zip(solution).all(|(&clue, &value)| clue == 0 || clue == value));
            for region in grid.regions() {
                let values = region.iter().fold(0, |values, &cell| values | 1 << solution[usize::from(cell)]);
                assert_eq!(values, grid.all_values() << 1, "each value once");
            }
            assert!(found.insert(solution.to_vec()), "a solution twice");
            if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        found.len()
    }

    #[test]
    fn boards_have_their_solutions() {
        for board in BOARDS {
            let (m, n, values) = values(board.text);
            let limit = board.solutions.unwrap_or(500);
            assert_eq!(count(m, n, &values, limit + 1).min(limit), limit, "{}", board.name);
            if let Some(solutions) = board.solutions {
                assert_eq!(count(m, n, &values, usize::MAX), solutions, "{}", board.name);
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_oracle() {
        oracle::random_boards(|m, n, board| {
            assert_eq!(count(m, n, board, 400), oracle::solutions(m, n, board, 400), "{m} {n} {board:?}");
        });
    }

    /// On boards of 3x3 with few clues, some of them wrong, the two inferences show the same solutions.
    #[test]
    fn bands_infer_what_counts_do() {
        let grid = Grid::new(3, 3);
        let tables = Tables::<81, 9, 27>::new(&grid);
        let (mut unsolvable, mut several) = (0, 0);
        for seed in 0..300 {
            let mut random = SplitMix64::new(seed);
            let mut board = oracle::solved(3, 3, &mut random);
            let mut cells: Vec<usize> = (0..81).collect();
            while cells.len() > 22 + seed as usize % 24 {
                board[cells.swap_remove(random.below(cells.len()))] = 0;
            }
            if seed % 3 == 0 {
                board[cells[0]] = random.below(9) as u8 + 1;
            }
            let mut found = [Vec::new(), Vec::new()];
            for (by_bands, found) in [true, false].into_iter().zip(&mut found) {
                let mut visit = |solution: &[u8]| {
                    found.push(solution.to_vec());
                    if found.len() < 2000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
                };
                let order = Order { hint: &[], random: None };
                let (guesses, effort) = (&mut u64::MAX.clone(), &Effort::free());
                let run = Run { order, guesses, effort, visit: &mut visit };
                let _flow = if by_bands { Bands.search(&board, run) } else { tables.search(&board, run) };
                found.sort_unstable();
            }
            assert_eq!(found[0].len(), found[1].len(), "{board:?}");
            assert!(found[0].len() == 2000 || found[0] == found[1], "{board:?}");
            unsolvable += usize::from(found[0].is_empty());
            several += usize::from((2..2000).contains(&found[0].len()));
        }
        assert!(unsolvable > 20 && several > 50, "{unsolvable} {several}");
    }

    /// However few nodes there are, and whenever the work is cut short, decisions equal those without a
    /// bound, and take as many nodes.
    #[test]
    fn bounded_work_decides_rightly_or_not_at_all() {
        let (mut decided, mut unknown) = ([0; 2], 0);
        for seed in 0..60 {
            let (m, n) = [(2, 2), (2, 3), (3, 3), (3, 4), (4, 4)][seed as usize % 5];
            let mut random = SplitMix64::new(seed);
            let mut board = oracle::solved(m, n, &mut random);
            let hint = board.clone();
            let mut cells: Vec<usize> = (0..board.len()).collect();
            while cells.len() > board.len() * (30 + seed as usize % 20) / 100 {
                board[cells.swap_remove(random.below(cells.len()))] = 0;
            }
            // A value that may be wrong, and breaks no rule at sight.
            let grid = Grid::new(m, n);
            let (cell, value) = (random.below(board.len()), random.below(m * n) as u8 + 1);
            let regions = grid.regions_of(cell).map(|region| &grid.regions()[region]);
            if regions.into_iter().flatten().all(|&other| board[usize::from(other)] != value) {
                board[cell] = value;
            }
            let solver = Solver::new(&grid);
            let most = 50_000;
            let solve = |mut nodes: u64, effort: &Effort| {
                let given = nodes;
                (solver.solve(&board, &hint, &mut nodes, effort), given - nodes)
            };
            let (whole, taken) = solve(most, &Effort::free());
            if whole == Solved::Unknown {
                continue;
            }
            decided[usize::from(whole == Solved::Never)] += 1;
            for at in 0..40 {
                let nodes = if at < 20 { taken * at / 20 } else { taken + 1 + random.below(200) as u64 };
                let (found, spent) = solve(nodes, &Effort::free());
                assert!(found == whole || (found == Solved::Unknown && nodes <= taken), "{nodes} of {taken}");
                assert!(found == Solved::Unknown || spent == taken, "{spent} of {taken}");
                assert!(spent <= nodes, "{spent} of {nodes}");
                unknown += usize::from(found == Solved::Unknown);
                // A brief effort ends it, too, and another attempt then decides it.
                let effort = Effort::brief(Interrupt::default());
                effort.spend(Effort::ASSURED - nodes.min(Effort::ASSURED));
                let (found, _) = solve(most, &effort);
                assert!(
                    found == whole || (found == Solved::Unknown && effort.was_cut()),
                    "{nodes} of {taken}"
                );
            }
        }
        assert!(decided.iter().all(|&some| some > 3) && unknown > 200, "{decided:?} {unknown}");
    }

    /// Boards that clients could craft: cut out of a solution, with one value changed, and filled at random.
    #[test]
    fn the_largest_boards_are_decided_rightly_within_their_nodes_or_not_at_all() {
        const NODES: u64 = 30_000;
        let shape = Shape::of(5, 5);
        let (side, cells) = (shape.grid.side(), shape.grid.cells());
        let others = |cell: usize| shape.grid.regions_of(cell).map(|region| &shape.grid.regions()[region]);
        let fits = |board: &[u8], cell: usize, value: u8| {
            others(cell).into_iter().flatten().all(|&other| board[usize::from(other)] != value)
        };
        let mut found = [0; 3];
        // Each kind of board with each share of cells, twice if whole.
        for seed in 0..if is_whole() { 42 } else { 21 } {
            let mut random = SplitMix64::new(seed);
            let mut board = oracle::solved(5, 5, &mut random);
            let filled = cells * (30 + 5 * (seed as usize % 7)) / 100;
            let mut order: Vec<usize> = (0..cells).collect();
            while order.len() > filled {
                board[order.swap_remove(random.below(order.len()))] = 0;
            }
            match seed / 7 % 3 {
                0 => {}
                1 => {
                    let empty: Vec<usize> = (0..cells).filter(|&cell| board[cell] == 0).collect();
                    let cell = empty[random.below(empty.len())];
                    board[cell] = (1..=side as u8).find(|&value| fits(&board, cell, value)).unwrap_or(0);
                }
                _ => {
                    board.fill(0);
                    for &cell in &order {
                        let first = random.below(side);
                        let values = (0..side).map(|step| ((first + step) % side + 1) as u8);
                        board[cell] =
                            values.into_iter().find(|&value| fits(&board, cell, value)).unwrap_or(0);
                    }
                }
            }
            let solve = || {
                let mut nodes = NODES;
                (shape.solver.solve(&board, &[], &mut nodes, &Effort::free()), nodes)
            };
            let (solved, left) = solve();
            assert_eq!((&solved, left), (&solve().0, solve().1), "equal boards have equal answers");
            match solved {
                Solved::By(solution) => {
                    found[0] += 1;
                    assert!(board.iter().zip(&solution).all(|(given, value)| [0, *value].contains(given)));
                    for region in shape.grid.regions() {
                        let values =
                            region.iter().fold(0_u32, |all, &cell| all | 1 << solution[usize::from(cell)]);
                        assert_eq!(values >> 1, shape.grid.all_values());
                    }
                }
                Solved::Never => {
                    found[1] += 1;
                    assert!(seed / 7 % 3 > 0, "board {seed} was cut out of a solution");
                }
                Solved::Unknown => {
                    found[2] += 1;
                    assert_eq!(left, 0, "nodes are left");
                }
            }
        }
        assert!(found.iter().all(|&count| count > 1), "{found:?}");
    }

    #[test]
    fn every_shape_is_solved_from_nothing() {
        for m in Grid::BLOCK {
            for n in Grid::BLOCK.filter(|n| m * n <= 16) {
                assert_eq!(count(m, n, &vec![0; m * n * m * n], 3), 3, "{m} {n}");
            }
        }
    }
}
