//! Solutions of a position that its moves showed: a solution that was found for one move has many others,
//! which then need no solver.

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
    /// The one that the position has.
    pub(super) fn of(grid: &'a Grid, pos: &Position) -> Self {
        let places = vec![None; grid.cells() * grid.side()];
        let mut known = Self { grid, pos: pos.clone(), found: Vec::new(), places };
        if !pos.is_undecided {
            known.add(pos.boards().1);
        }
        known
    }

    /// The position, with a solution that has this move if one is known.
    pub(super) fn position(&mut self, mv: Fill) -> &Position {
        if let Some(at) = self.places[self.place(mv)] {
            self.pos.set_witness(&self.found[at]);
        }
        &self.pos
    }

    /// Takes over the solution of the position behind a move.
    pub(super) fn learn(&mut self, after: &Position) {
        let (_, solution) = after.boards();
        if !after.is_undecided && self.pos.boards().1 != solution {
            self.pos.set_witness(&solution);
            self.add(solution);
        }
    }

    fn add(&mut self, solution: Vec<u8>) {
        let mut is_new = false;
        for (cell, &value) in (0..).zip(&solution) {
            let place = self.place(Fill { cell, value });
            if self.places[place].is_none() {
                self.places[place] = Some(self.found.len());
                is_new = true;
            }
        }
        if is_new {
            self.found.push(solution);
        }
    }

    fn place(&self, mv: Fill) -> usize {
        usize::from(mv.cell) * self.grid.side() + usize::from(mv.value) - 1
    }
}
