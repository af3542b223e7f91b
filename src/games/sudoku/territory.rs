//! Where players are bound to cells of their own: which cells each can still come to, and which sooner than the other.
//!
//! Knows neither values nor passes. A player without a cell is skipped for good, so that cells which only one player can come
//! to are turns that nobody answers, and a region with such a cell is never completed by the other.

use super::bits::Bits;
use super::filling::Filling;
use super::race::Race;
use crate::game::Side;

/// The empty cells that each player can come to, as if both moved everywhere at once.
pub struct Territory<const C: usize> {
    /// The cells that a player can come to if the other never moves.
    pub reached: [Bits<C>; 2],
    /// Those of them that the player comes to in fewer moves than the other.
    pub nearer: [Bits<C>; 2],
}

impl<const C: usize> Territory<C> {
    /// The territory of a race.
    #[must_use]
    pub fn of<const W: usize>(game: &Filling<C, W>, race: &Race<C, W>) -> Self {
        let mut reached = Side::ALL.map(|side| race.playable(side));
        let mut nearer = [reached[0] & !reached[1], reached[1] & !reached[0]];
        let mut new = reached;
        while !(new[0] | new[1]).is_empty() {
            for (new, reached) in new.iter_mut().zip(&mut reached) {
                let next = new.iter().fold(Bits::EMPTY, |next, cell| next | game.near(cell));
                *new = next & race.empty_cells() & !*reached;
                *reached |= *new;
            }
            for side in 0..2 {
                nearer[side] |= new[side] & !reached[1 - side];
            }
        }
        Self { reached, nearer }
    }

    /// The cells that only this player can come to.
    #[must_use]
    pub fn alone(&self, side: Side) -> Bits<C> {
        self.reached[side.index()] & !self.reached[side.other().index()]
    }
}
