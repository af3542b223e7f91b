//! The state of a race to fill cells: a few sets of bits. [`filling`](super::filling) defines what its moves
//! do.

use crate::words::Words;
use plyd_core::game::Side;

/// A state of the race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Race<const C: usize, const W: usize, const S: usize> {
    pub(super) empty: Words<C>,
    /// The cells that each player may play once they are empty.
    pub(super) reached: [Words<C>; 2],
    /// The pairs that are legal and not declared.
    pub(super) legal: Words<W>,
    /// The solutions of the puzzle that are left.
    pub(super) solutions: Words<S>,
    /// Values that nobody has used, each as good as the other.
    pub(super) fresh: u32,
    /// The first player's points less the second's.
    pub(super) margin: i32,
    /// Regions that are not full.
    pub(super) open: u8,
    pub(super) mover: Side,
}

/// The number of a pair: a move of the race.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Number(pub(super) u16);

impl<const C: usize, const W: usize, const S: usize> Race<C, W, S> {
    /// The empty cells.
    #[inline]
    #[must_use]
    pub(super) fn empty_cells(&self) -> Words<C> {
        self.empty
    }

    /// The side to move.
    #[inline]
    #[must_use]
    pub(super) fn mover(&self) -> Side {
        self.mover
    }

    /// The number of empty cells.
    #[inline]
    #[must_use]
    pub(super) fn empty(&self) -> usize {
        self.empty.len() as usize
    }

    /// The empty cells that a player may play.
    #[inline]
    #[must_use]
    pub(super) fn playable(&self, side: Side) -> Words<C> {
        self.reached[side.index()] & self.empty
    }

    /// The same race with the players exchanged.
    #[cfg(test)]
    pub(super) fn with_sides_swapped(mut self) -> Self {
        self.reached.swap(0, 1);
        self.margin = -self.margin;
        self.mover = self.mover.other();
        self
    }
}
