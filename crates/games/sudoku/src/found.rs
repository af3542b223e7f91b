//! Solutions of a position that were found for single moves: each has a move for every other cell, too, which
//! then needs no solver.

use super::grid::Grid;
use super::position::{Fill, Position};

/// The solutions of a position that were found so far.
pub(super) struct FoundSolutions<'a> {
    grid: &'a Grid,
    /// The position itself, with the solution that was found last: from one to the next by an exchange the
    /// ways are shorter than from the first.
    pos: Position,
    found: Vec<Vec<u8>>,
    /// For each cell and value the place of a solution that has it, if one does.
    places: Vec<Option<usize>>,
}

impl<'a> FoundSolutions<'a> {
    /// At first only the solution that the position itself knows.
    pub(super) fn of(grid: &'a Grid, pos: &Position) -> Self {
        let places = vec![None; grid.cells() * grid.side()];
        let mut known = Self { grid, pos: pos.clone(), found: Vec::new(), places };
        if !pos.is_undecided {
            known.add(pos.boards().1);
        }
        known
    }

    /// Whether a solution has this move.
    pub(super) fn has(&self, mv: Fill) -> bool {
        self.places[mv.number(self.grid)].is_some()
    }

    /// The position, with the solution that was found last.
    pub(super) fn latest(&self) -> &Position {
        &self.pos
    }

    /// The position, with a solution that has this move if one is known.
    pub(super) fn position(&mut self, mv: Fill) -> &Position {
        if let Some(at) = self.places[mv.number(self.grid)] {
            self.pos.set_witness(&self.found[at]);
        }
        &self.pos
    }

    /// Takes over a solution that was found just now.
    pub(super) fn take(&mut self, solution: Vec<u8>) {
        self.pos.set_witness(&solution);
        self.add(solution);
    }

    /// Takes over the solution of the position behind a move.
    pub(super) fn learn(&mut self, after: &Position) {
        let (_, solution) = after.boards();
        if !after.is_undecided && self.pos.boards().1 != solution {
            self.take(solution);
        }
    }

    /// Adds a solution.
    pub(super) fn add(&mut self, solution: Vec<u8>) {
        let mut is_new = false;
        for (cell, &value) in (0..).zip(&solution) {
            let place = &mut self.places[Fill { cell, value }.number(self.grid)];
            if place.is_none() {
                (*place, is_new) = (Some(self.found.len()), true);
            }
        }
        if is_new {
            self.found.push(solution);
        }
    }
}
