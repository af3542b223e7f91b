//! Solutions of a puzzle, found exactly and fast: which there are, or that there is none.
//!
//! Knows no game. A state of the search is a set of cells for each value: the cells where it may stand. Naked singles
//! of the whole board are then a few additions without carry, hidden singles an intersection with a region. What
//! these leave open is guessed, where there is least to choose.

use std::ops::ControlFlow;

use super::bits::Bits;
use super::grid::Grid;
use crate::zobrist::SplitMix64;

/// Solves boards of one shape; it chooses sets that fit the shape.
#[derive(Clone, Debug)]
pub struct Solver(Sized);

#[derive(Clone, Debug)]
enum Sized {
    Eight(Tables<1, 8>),
    Ten(Tables<2, 10>),
    Twelve(Tables<3, 12>),
    Sixteen(Tables<4, 16>),
    TwentyFive(Tables<10, 25>),
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
            0..=8 => Sized::Eight(Tables::new(grid)),
            9..=10 => Sized::Ten(Tables::new(grid)),
            11..=12 => Sized::Twelve(Tables::new(grid)),
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
            Sized::Eight(tables) => tables.search(board, order, guesses, visit),
            Sized::Ten(tables) => tables.search(board, order, guesses, visit),
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
struct Run<'a> {
    values: [u8; 625],
    order: Order<'a>,
    guesses: &'a mut u64,
    visit: &'a mut dyn FnMut(&[u8]) -> ControlFlow<()>,
}

/// The shape in sets: `C` words hold its cells, `V` values fit.
#[derive(Clone, Debug)]
struct Tables<const C: usize, const V: usize> {
    side: usize,
    all: Bits<C>,
    regions: Vec<Bits<C>>,
    /// For each cell, the others of its row, column and block.
    peers: Vec<Bits<C>>,
}

/// Where each value may stand, and the cells that have one value for good.
#[derive(Clone, Copy)]
struct State<const C: usize, const V: usize> {
    open: [Bits<C>; V],
    solved: Bits<C>,
}

/// What to guess: each of some values in one cell, or each of two cells for one value.
enum Guess {
    Cell(usize),
    Value(usize, [usize; 2]),
}

impl<const C: usize, const V: usize> Tables<C, V> {
    fn new(grid: &Grid) -> Self {
        let set =
            |cells: &Vec<u16>| cells.iter().fold(Bits::EMPTY, |set, &cell| set | Bits::single(cell.into()));
        let regions: Vec<Bits<C>> = grid.regions().iter().map(set).collect();
        let peers = |cell: usize| {
            let [row, column, block] = grid.regions_of(cell).map(|region| regions[region]);
            (row | column | block) & !Bits::single(cell)
        };
        Self {
            side: grid.side(),
            all: Bits::below(grid.cells()),
            peers: (0..grid.cells()).map(peers).collect(),
            regions,
        }
    }

    fn search(
        &self,
        board: &[u8],
        order: Order<'_>,
        guesses: &mut u64,
        visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut run = Run { values: [0; 625], order, guesses, visit };
        match self.start(board) {
            Some(mut state) => self.deepen(&mut state, &mut run),
            None => ControlFlow::Continue(()),
        }
    }

    /// The state of a board; none where two of its values exclude each other.
    fn start(&self, board: &[u8]) -> Option<State<C, V>> {
        let (mut placed, mut excluded) = ([Bits::EMPTY; V], [Bits::EMPTY; V]);
        let mut solved = Bits::EMPTY;
        for (cell, &value) in board.iter().enumerate().filter(|&(_, &value)| value != 0) {
            let value = usize::from(value) - 1;
            placed[value].insert(cell);
            excluded[value] |= self.peers[cell];
            solved.insert(cell);
        }
        let mut open = [Bits::EMPTY; V];
        for value in 0..self.side {
            if !(placed[value] & excluded[value]).is_empty() {
                return None;
            }
            open[value] = (self.all & !solved & !excluded[value]) | placed[value];
        }
        Some(State { open, solved })
    }

    fn deepen(&self, state: &mut State<C, V>, run: &mut Run<'_>) -> ControlFlow<()> {
        if !self.settle(state) {
            return ControlFlow::Continue(());
        }
        if state.solved == self.all {
            for (value, cells) in (1..).zip(&state.open[..self.side]) {
                cells.iter().for_each(|cell| run.values[cell] = value);
            }
            return (run.visit)(&run.values[..self.peers.len()]);
        }
        match self.choose(state, &mut run.order) {
            Guess::Cell(cell) => {
                let first = run.order.value(cell, self.side);
                let values = (first..self.side).chain(0..first);
                for value in values.filter(|&value| state.open[value].has(cell)) {
                    self.guess(state, cell, value, run)?;
                }
            }
            Guess::Value(value, mut cells) => {
                if run.order.value(cells[1], self.side) == value {
                    cells.reverse();
                }
                for cell in cells {
                    self.guess(state, cell, value, run)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn guess(&self, state: &State<C, V>, cell: usize, value: usize, run: &mut Run<'_>) -> ControlFlow<()> {
        if *run.guesses == 0 {
            return ControlFlow::Break(());
        }
        *run.guesses -= 1;
        let mut next = *state;
        self.place(&mut next, cell, value);
        self.deepen(&mut next, run)
    }

    /// Decides a cell.
    #[inline]
    fn place(&self, state: &mut State<C, V>, cell: usize, value: usize) {
        let not_here = !Bits::single(cell);
        for open in &mut state.open[..self.side] {
            *open &= not_here;
        }
        state.open[value] &= !self.peers[cell];
        state.open[value].insert(cell);
        state.solved.insert(cell);
    }

    /// Decides every cell that has one value left and every value that has one cell left in a region, until there are
    /// none; false where a cell or a value has none.
    fn settle(&self, state: &mut State<C, V>) -> bool {
        let mut seen = [Bits::EMPTY; V];
        loop {
            loop {
                let (mut once, mut twice) = (Bits::EMPTY, Bits::EMPTY);
                for &open in &state.open[..self.side] {
                    twice |= once & open;
                    once |= open;
                }
                if once != self.all {
                    return false;
                }
                let singles = once & !twice & !state.solved;
                if singles.is_empty() {
                    break;
                }
                state.solved |= singles;
                for value in 0..self.side {
                    for cell in (state.open[value] & singles).iter() {
                        // Two cells of a region that want the same value empty each other here, and the count above sees
                        // it.
                        state.open[value] &= !self.peers[cell];
                    }
                }
            }
            let mut quiet = true;
            for (value, seen) in seen.iter_mut().enumerate().take(self.side) {
                // Nothing is new about a value whose cells are those that were looked at last.
                if *seen == state.open[value] {
                    continue;
                }
                for &region in &self.regions {
                    let places = state.open[value] & region;
                    match places.only() {
                        Some(cell) if !state.solved.has(cell) => {
                            self.place(state, cell, value);
                            quiet = false;
                        }
                        None if places.is_empty() => return false,
                        _ => {}
                    }
                }
                *seen = state.open[value];
            }
            if quiet {
                return true;
            }
        }
    }

    /// Where there is least to choose: a cell with two values, a value with two cells in a region, or else a cell with the
    /// fewest values.
    fn choose(&self, state: &State<C, V>, order: &mut Order<'_>) -> Guess {
        let from = order.start(self.peers.len());
        // From the second on, the cells with at least so many values.
        let mut at_least = [Bits::EMPTY; 6];
        at_least[0] = self.all & !state.solved;
        for &open in &state.open[..self.side] {
            for i in (1..at_least.len()).rev() {
                at_least[i] |= at_least[i - 1] & open;
            }
        }
        if let Some(cell) = (at_least[2] & !at_least[3]).first_from(from) {
            return Guess::Cell(cell);
        }
        for value in 0..self.side {
            for &region in &self.regions {
                let places = state.open[value] & region;
                let Some(first) = places.first() else { continue };
                let second = (places & !Bits::single(first)).only();
                if let Some(second) = second {
                    return Guess::Value(value, [first, second]);
                }
            }
        }
        let fewest = at_least.windows(2).skip(3).find_map(|pair| (pair[0] & !pair[1]).first_from(from));
        let cell = fewest
            .or_else(|| at_least[0].first_from(from))
            .expect("a board that is not solved has an open cell");
        Guess::Cell(cell)
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
