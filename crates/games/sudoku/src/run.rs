//! One run through the solutions of a board: in which order guesses are made, how many, and who sees what is
//! found. Knows neither boards nor how they are solved.

use std::ops::ControlFlow;

use plyd_core::effort::Effort;
use plyd_core::zobrist::SplitMix64;

/// One run through the solutions of a board.
pub(super) struct Run<'a> {
    pub(super) order: Order<'a>,
    pub(super) guesses: &'a mut u64,
    pub(super) effort: &'a Effort,
    pub(super) visit: &'a mut dyn FnMut(&[u8]) -> ControlFlow<()>,
}

impl Run<'_> {
    /// Takes a guess from those that are left; breaks off if there is none.
    #[inline]
    pub(super) fn guess(&mut self) -> ControlFlow<()> {
        match self.guesses.checked_sub(1) {
            Some(left) if self.effort.spend(1) => {
                *self.guesses = left;
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Break(()),
        }
    }

    /// Shows a solution.
    pub(super) fn show(&mut self, solution: &[u8]) -> ControlFlow<()> {
        (self.visit)(solution)
    }
}

/// In which order guesses are made: values of the hint first, else ascending, or at random.
pub(super) struct Order<'a> {
    pub(super) hint: &'a [u8],
    pub(super) random: Option<SplitMix64>,
}

impl Order<'_> {
    /// The index to begin with, below `among`.
    pub(super) fn start(&mut self, among: usize) -> usize {
        self.random.as_mut().map_or(0, |random| random.below(among))
    }

    /// The value to guess first in a cell.
    pub(super) fn value(&mut self, cell: usize, side: usize) -> usize {
        match self.hint.get(cell) {
            Some(&value) if value > 0 && self.random.as_mut().is_none_or(|random| random.below(4) > 0) => {
                usize::from(value) - 1
            }
            _ => self.start(side),
        }
    }
}
