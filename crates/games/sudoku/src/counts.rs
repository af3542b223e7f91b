//! What follows from a board of any shape, computed by counting: the inference of the
//! [solver](super::solver).
//!
//! A state of the search is the set of values that each cell may still have, with two counts: the values of
//! each cell, and the cells of each value in each region. A count that falls to one decides a cell (naked and
//! hidden singles), one that falls to zero ends the branch. So the work is proportional to the values taken
//! out, at most cells times values, however often the counts are read. What this leaves open is guessed,
//! first where there is least to choose.

use std::ops::ControlFlow;

use super::grid::Grid;
use super::run::{Order, Run};

/// The shape: `N` cells, `V` values and `R` regions fit.
#[derive(Clone, Debug)]
pub(super) struct Tables<const N: usize, const V: usize, const R: usize> {
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
    /// In how many cells of each region each value may stand; [`SETTLED`] or less by a region's cells once it
    /// stands there.
    places: [[u8; V]; R],
    /// The value of each cell, from 1; 0 while it has none.
    values: [u8; N],
    /// Cells without a value.
    unsolved: u16,
}

/// Where the search is.
struct Path<'a, const N: usize, const V: usize, const R: usize> {
    /// The states from the root of the search to here.
    states: Vec<State<N, V, R>>,
    /// Cells and values that are decided, and not yet placed.
    decided: Vec<(u16, u8)>,
    run: Run<'a>,
}

/// A count that no longer counts, and stays above every real one when a region's cells are taken from it.
const SETTLED: u8 = u8::MAX;

/// What to guess: each of some values in one cell, or each of two cells for one value.
enum Guess {
    Cell(usize),
    Value(usize, [usize; 2]),
}

impl<const N: usize, const V: usize, const R: usize> Tables<N, V, R> {
    pub(super) fn new(grid: &Grid) -> Self {
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

    /// Runs through the solutions of a board until the run breaks off.
    pub(super) fn search(&self, board: &[u8], run: Run<'_>) -> ControlFlow<()> {
        let decided = board.iter().enumerate().filter(|&(_, &value)| value != 0);
        let mut path = Path {
            states: vec![self.empty()],
            decided: decided.map(|(cell, &value)| (cell as u16, value - 1)).collect(),
            run,
        };
        self.deepen(0, &mut path)
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
    fn deepen(&self, at: usize, path: &mut Path<'_, N, V, R>) -> ControlFlow<()> {
        if !self.settle(&mut path.states[at], &mut path.decided) {
            return ControlFlow::Continue(());
        }
        let state = &path.states[at];
        if state.unsolved == 0 {
            return path.run.show(&state.values[..self.peers.len()]);
        }
        match self.choose(state, &mut path.run.order) {
            Guess::Cell(cell) => {
                let open = state.open[cell];
                let first = path.run.order.value(cell, self.side);
                let values = (first..self.side).chain(0..first);
                for value in values.filter(|&value| open >> value & 1 != 0) {
                    self.guess(at, cell, value, path)?;
                }
            }
            Guess::Value(value, mut cells) => {
                if path.run.order.value(cells[1], self.side) == value {
                    cells.reverse();
                }
                for cell in cells {
                    self.guess(at, cell, value, path)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn guess(&self, at: usize, cell: usize, value: usize, path: &mut Path<'_, N, V, R>) -> ControlFlow<()> {
        path.run.guess()?;
        path.states.truncate(at + 1);
        path.states.extend_from_within(at..);
        path.decided.push((cell as u16, value as u8));
        self.deepen(at + 1, path)
    }

    /// Places what is decided, and what that decides, until there is nothing left; false if a cell or a value
    /// has no choice left.
    fn settle(&self, state: &mut State<N, V, R>, decided: &mut Vec<(u16, u8)>) -> bool {
        while let Some((cell, value)) = decided.pop() {
            if !self.place(state, decided, cell.into(), value.into()) {
                decided.clear();
                return false;
            }
        }
        true
    }

    /// Gives a cell its value; false if that is impossible.
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

    /// Takes a value from those that a cell may have; false if that leaves no choice.
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

    /// Records that a value has one place less in some regions; false if it has none left.
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

    /// Where there is least to choose: a cell with two values, a value with two cells in a region, or else a
    /// cell with the fewest values.
    fn choose(&self, state: &State<N, V, R>, order: &mut Order<'_>) -> Guess {
        let cells = self.peers.len();
        let from = order.start(cells);
        // The minimum of a whole array, and whether it contains a count, are found many counts at a time.
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
