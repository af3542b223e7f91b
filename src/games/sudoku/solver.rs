//! Solutions of a puzzle, found exactly and fast: which there are, or that there is none.
//!
//! Knows no game. A state of the search is the set of values that each cell may still have, with two counts: the values of
//! each cell, and the cells of each value in each region. A count that falls to one decides a cell (naked and hidden
//! singles), one that falls to zero ends the branch. So the work is that of the values taken out, which are at most as
//! many as there are cells and values, however often it is looked. What this leaves open is guessed, where there is least to
//! choose.

use std::ops::ControlFlow;

use super::grid::Grid;
use crate::zobrist::SplitMix64;

/// Solves boards of one shape; it chooses arrays that fit the shape.
#[derive(Clone, Debug)]
pub struct Solver(Sized);

#[derive(Clone, Debug)]
enum Sized {
    Six(Tables<36, 6, 18>),
    Nine(Tables<81, 9, 27>),
    Twelve(Tables<144, 12, 36>),
    Sixteen(Tables<256, 16, 48>),
    TwentyFive(Tables<625, 25, 75>),
}

/// Whether a board could be searched whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Searched {
    /// Every solution was shown.
    Whole,
    /// The visitor or the limit of guesses ended the search.
    Partly,
}

impl Solver {
    /// A solver for boards of a shape.
    #[must_use]
    pub fn new(grid: &Grid) -> Self {
        Self(match grid.side() {
            0..=6 => Sized::Six(Tables::new(grid)),
            7..=9 => Sized::Nine(Tables::new(grid)),
            10..=12 => Sized::Twelve(Tables::new(grid)),
            13..=16 => Sized::Sixteen(Tables::new(grid)),
            _ => Sized::TwentyFive(Tables::new(grid)),
        })
    }

    /// A solution of a board (0 for empty cells), if there is one; `hint` is a board that it may be near to, or empty.
    ///
    /// A search that guessed wrongly early on may try for hours what another order finds at once (Gomes, Selman, Crato, Kautz,
    /// "Heavy-tailed phenomena in satisfiability and constraint satisfaction problems", 2000). So it begins again in
    /// another order after some guesses, then after twice as many, until it finds a solution or has tried everything.
    /// `guesses` limits all of them, and what is left of it comes back.
    pub fn solve(&self, board: &[u8], hint: &[u8], guesses: &mut u64) -> Solved {
        let mut found = None;
        let mut patience = FIRST_PATIENCE;
        for attempt in 0.. {
            let mut rest = patience.min(*guesses);
            let given = rest;
            let order = Order { hint, random: (attempt > 0).then(|| SplitMix64::new(attempt)) };
            let searched = self.run(board, order, &mut rest, &mut |solution| {
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
            if *guesses == 0 {
                return Solved::Unknown;
            }
            patience = patience.saturating_mul(2);
        }
        unreachable!("patience grows past every limit")
    }

    /// Shows the solutions of a board (0 for empty cells), those near the hint first, until the visitor breaks off or
    /// `guesses` is used up, from which each guess is taken.
    pub fn search(
        &self,
        board: &[u8],
        hint: &[u8],
        guesses: &mut u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Searched {
        self.run(board, Order { hint, random: None }, guesses, visit)
    }

    fn run(
        &self,
        board: &[u8],
        order: Order<'_>,
        guesses: &mut u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Searched {
        let flow = match &self.0 {
            Sized::Six(tables) => tables.search(board, order, guesses, visit),
            Sized::Nine(tables) => tables.search(board, order, guesses, visit),
            Sized::Twelve(tables) => tables.search(board, order, guesses, visit),
            Sized::Sixteen(tables) => tables.search(board, order, guesses, visit),
            Sized::TwentyFive(tables) => tables.search(board, order, guesses, visit),
        };
        if flow.is_continue() { Searched::Whole } else { Searched::Partly }
    }
}

/// The guesses after which a search begins again for the first time.
const FIRST_PATIENCE: u64 = 100;

/// What [`Solver::solve`] found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solved {
    /// A solution.
    By(Vec<u8>),
    /// That there is none.
    Never,
    /// Nothing within its guesses.
    Unknown,
}

/// In which order guesses are made: values of the hint first, else ascending, or at random.
struct Order<'a> {
    hint: &'a [u8],
    random: Option<SplitMix64>,
}

impl Order<'_> {
    /// Where to begin among so many.
    fn start(&mut self, among: usize) -> usize {
        self.random.as_mut().map_or(0, |random| random.below(among))
    }

    /// The value to guess first in a cell.
    fn value(&mut self, cell: usize, side: usize) -> usize {
        match self.hint.get(cell) {
            Some(&value) if value > 0 && self.random.as_mut().is_none_or(|random| random.below(4) > 0) => {
                usize::from(value) - 1
            }
            _ => self.start(side),
        }
    }
}

/// One run through the solutions of a board.
struct Run<'a, const N: usize, const V: usize, const R: usize> {
    /// The states from the root of the search to where it is.
    states: Vec<State<N, V, R>>,
    /// Cells and values that are decided, and not yet placed.
    decided: Vec<(u16, u8)>,
    order: Order<'a>,
    guesses: &'a mut u64,
    visit: &'a mut dyn FnMut(&[u8]) -> ControlFlow<()>,
}

/// The shape: `N` cells, `V` values and `R` regions fit.
#[derive(Clone, Debug)]
struct Tables<const N: usize, const V: usize, const R: usize> {
    side: usize,
    regions: Vec<Vec<u16>>,
    /// For each cell, its row, column and block.
    regions_of: Vec<[u8; 3]>,
    /// For each cell, the others of its row, column and block.
    peers: Vec<Vec<u16>>,
}

/// What the cells may still be; values count from 0 here.
#[derive(Clone, Copy)]
struct State<const N: usize, const V: usize, const R: usize> {
    /// The values that each cell may have, as bits; none once it has one.
    open: [u32; N],
    /// How many these are; [`SETTLED`] once the cell has one.
    choices: [u8; N],
    /// In how many cells of each region each value may stand; [`SETTLED`] or less by a region's cells once it stands there.
    places: [[u8; V]; R],
    /// The value of each cell, from 1; 0 while it has none.
    values: [u8; N],
    /// Cells without a value.
    unsolved: u16,
}

/// A count that no longer counts, and stays above every real one when a region's cells are taken from it.
const SETTLED: u8 = u8::MAX;

/// What to guess: each of some values in one cell, or each of two cells for one value.
enum Guess {
    Cell(usize),
    Value(usize, [usize; 2]),
}

impl<const N: usize, const V: usize, const R: usize> Tables<N, V, R> {
    fn new(grid: &Grid) -> Self {
        let peers = |cell: usize| {
            let mut peers: Vec<u16> =
                grid.regions_of(cell).iter().flat_map(|&region| &grid.regions()[region]).copied().collect();
            peers.sort_unstable();
            peers.dedup();
            peers.retain(|&peer| usize::from(peer) != cell);
            peers
        };
        Self {
            side: grid.side(),
            regions: grid.regions().to_vec(),
            regions_of: (0..grid.cells())
                .map(|cell| grid.regions_of(cell).map(|region| region as u8))
                .collect(),
            peers: (0..grid.cells()).map(peers).collect(),
        }
    }

    fn search(
        &self,
        board: &[u8],
        order: Order<'_>,
        guesses: &mut u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let decided = board.iter().enumerate().filter(|&(_, &value)| value != 0);
        let mut run = Run {
            states: vec![self.empty()],
            decided: decided.map(|(cell, &value)| (cell as u16, value - 1)).collect(),
            order,
            guesses,
            visit,
        };
        self.deepen(0, &mut run)
    }

    /// The state of the empty board.
    fn empty(&self) -> State<N, V, R> {
        let cells = self.peers.len();
        let mut state = State {
            open: [0; N],
            choices: [SETTLED; N],
            places: [[SETTLED; V]; R],
            values: [0; N],
            unsolved: cells as u16,
        };
        state.open[..cells].fill((1 << self.side) - 1);
        state.choices[..cells].fill(self.side as u8);
        for places in &mut state.places[..self.regions.len()] {
            places[..self.side].fill(self.side as u8);
        }
        state
    }

    /// Searches the state at a depth, with what was decided for it.
    fn deepen(&self, at: usize, run: &mut Run<'_, N, V, R>) -> ControlFlow<()> {
        if !self.settle(&mut run.states[at], &mut run.decided) {
            return ControlFlow::Continue(());
        }
        let state = &run.states[at];
        if state.unsolved == 0 {
            return (run.visit)(&state.values[..self.peers.len()]);
        }
        match self.choose(state, &mut run.order) {
            Guess::Cell(cell) => {
                let open = state.open[cell];
                let first = run.order.value(cell, self.side);
                let values = (first..self.side).chain(0..first);
                for value in values.filter(|&value| open >> value & 1 != 0) {
                    self.guess(at, cell, value, run)?;
                }
            }
            Guess::Value(value, mut cells) => {
                if run.order.value(cells[1], self.side) == value {
                    cells.reverse();
                }
                for cell in cells {
                    self.guess(at, cell, value, run)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn guess(&self, at: usize, cell: usize, value: usize, run: &mut Run<'_, N, V, R>) -> ControlFlow<()> {
        if *run.guesses == 0 {
            return ControlFlow::Break(());
        }
        *run.guesses -= 1;
        run.states.truncate(at + 1);
        run.states.extend_from_within(at..);
        run.decided.push((cell as u16, value as u8));
        self.deepen(at + 1, run)
    }

    /// Places what is decided, and what that decides, until there is nothing left; false where a cell or a value has no
    /// choice left.
    fn settle(&self, state: &mut State<N, V, R>, decided: &mut Vec<(u16, u8)>) -> bool {
        while let Some((cell, value)) = decided.pop() {
            if !self.place(state, decided, cell.into(), value.into()) {
                decided.clear();
                return false;
            }
        }
        true
    }

    /// Gives a cell its value; false where that is impossible.
    #[inline]
    fn place(
        &self,
        state: &mut State<N, V, R>,
        decided: &mut Vec<(u16, u8)>,
        cell: usize,
        value: usize,
    ) -> bool {
        if state.values[cell] != 0 {
            return usize::from(state.values[cell]) == value + 1;
        }
        let bit = 1 << value;
        let mut others = state.open[cell] & !bit;
        if others == state.open[cell] {
            return false;
        }
        state.open[cell] = 0;
        state.choices[cell] = SETTLED;
        state.values[cell] = value as u8 + 1;
        state.unsolved -= 1;
        let regions = self.regions_of[cell];
        while others != 0 {
            let other = others.trailing_zeros() as usize;
            if !self.leave(state, decided, regions, other) {
                return false;
            }
            others &= others - 1;
        }
        for region in regions {
            state.places[usize::from(region)][value] = SETTLED;
        }
        self.peers[cell].iter().all(|&peer| {
            let peer = usize::from(peer);
            state.open[peer] & bit == 0 || self.remove(state, decided, peer, value)
        })
    }

    /// Takes a value from those that a cell may have; false where that leaves no choice.
    #[inline]
    fn remove(
        &self,
        state: &mut State<N, V, R>,
        decided: &mut Vec<(u16, u8)>,
        cell: usize,
        value: usize,
    ) -> bool {
        state.open[cell] &= !(1 << value);
        state.choices[cell] -= 1;
        match state.choices[cell] {
            0 => return false,
            1 => decided.push((cell as u16, state.open[cell].trailing_zeros() as u8)),
            _ => {}
        }
        self.leave(state, decided, self.regions_of[cell], value)
    }

    /// Counts that a value has one place less in some regions; false where it has none left.
    #[inline]
    fn leave(
        &self,
        state: &mut State<N, V, R>,
        decided: &mut Vec<(u16, u8)>,
        regions: [u8; 3],
        value: usize,
    ) -> bool {
        for region in regions.map(usize::from) {
            let places = &mut state.places[region][value];
            *places -= 1;
            match *places {
                0 => return false,
                1 => {
                    let is_open = |cell: &&u16| state.open[usize::from(**cell)] >> value & 1 != 0;
                    let cell = self.regions[region].iter().find(is_open).expect("one was counted");
                    decided.push((*cell, value as u8));
                }
                _ => {}
            }
        }
        true
    }

    /// Where there is least to choose: a cell with two values, a value with two cells in a region, or else a cell with the
    /// fewest values.
    fn choose(&self, state: &State<N, V, R>, order: &mut Order<'_>) -> Guess {
        let cells = self.peers.len();
        let from = order.start(cells);
        // Of whole arrays the minimum and whether they contain a count are found many counts at a time.
        let fewest = state.choices.iter().copied().min().expect("there are cells");
        if fewest > 2 {
            let places = state.places.as_flattened();
            let pair = places.contains(&2).then(|| places.iter().position(|&places| places == 2));
            if let Some(at) = pair.flatten() {
                let (region, value) = (at / V, at % V);
                let mut places = self.regions[region].iter().map(|&cell| usize::from(cell));
                let mut next = || places.find(|&cell| state.open[cell] >> value & 1 != 0);
                let first = next().expect("two were counted");
                return Guess::Value(value, [first, next().expect("two were counted")]);
            }
        }
        let cell = (from..cells).chain(0..from).find(|&cell| state.choices[cell] == fewest);
        Guess::Cell(cell.expect("the fewest are some cell's"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, values};
    use super::super::oracle;
    use super::*;

    /// The number of solutions, up to a limit.
    fn count(m: usize, n: usize, board: &[u8], limit: usize) -> usize {
        let grid = Grid::new(m, n);
        let mut found = std::collections::HashSet::new();
        Solver::new(&grid).search(board, &[], &mut u64::MAX.clone(), &mut |solution| {
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

    #[test]
    fn every_shape_is_solved_from_nothing() {
        for m in Grid::BLOCK {
            for n in Grid::BLOCK.filter(|n| m * n <= 16) {
                assert_eq!(count(m, n, &vec![0; m * n * m * n], 3), 3, "{m} {n}");
            }
        }
    }
}
