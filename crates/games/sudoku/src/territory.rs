//! If players are bound to cells of their own: which cells each can still come to, and which sooner than the
//! other.
//!
//! Knows neither values nor passes. A player without a cell is skipped for good, so that cells which only one
//! player can come to are turns that nobody answers, and a region with such a cell is never completed by the
//! other.

use super::filling::Filling;
use super::race::Race;
use crate::words::Words;
use plyd_core::game::Side;

/// The empty cells that each player can come to, as if both moved everywhere at once.
pub(super) struct Territory<const C: usize> {
    /// The cells that a player can come to if the other never moves.
    pub reached: [Words<C>; 2],
    /// Those of them that the player comes to in fewer moves than the other.
    pub nearer: [Words<C>; 2],
}

impl<const C: usize> Territory<C> {
    /// The territory of a race.
    #[must_use]
    pub(super) fn of<const W: usize, const S: usize>(game: &Filling<C, W, S>, race: &Race<C, W, S>) -> Self {
        let mut reached = Side::ALL.map(|side| race.playable(side));
        let mut nearer = [reached[0] & !reached[1], reached[1] & !reached[0]];
        let mut new = reached;
        while !(new[0] | new[1]).is_empty() {
            for (new, reached) in new.iter_mut().zip(&mut reached) {
                *new = game.beside(*new) & race.empty_cells() & !*reached;
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
    pub(super) fn alone(&self, side: Side) -> Words<C> {
        self.reached[side.index()] & !self.reached[side.other().index()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::boards::open;
    use super::super::pairs::Extent;
    use super::super::solutions::Solutions;
    use super::*;

    #[test]
    fn closed_land_is_its_owners_alone() {
        let rows = [
            // Two rows of clues between the players.
            ("2 2 . . . . 3 4 1 2 2 1 4 3 . . . .", [4, 4], [4, 4], [4, 4]),
            // A cell in the second player's wall.
            ("2 2 . . . . 3 4 1 2 . 1 4 3 . . . .", [4, 5], [4, 5], [4, 5]),
            // A gap in both walls: everyone comes everywhere, the own side sooner.
            ("2 2 . . . . . 4 1 2 . 1 4 3 . . . .", [10, 10], [0, 0], [5, 5]),
            // The first player's cell beside the second's row.
            ("2 2 . . . . . 4 1 2 2+ 1 4 3 . . . .", [9, 4], [5, 0], [5, 2]),
            // Nobody's empty cells count for nobody.
            ("2 2 1 2 3 4 3 4 . 2 2 1 4 3 . . . .", [0, 4], [0, 4], [0, 4]),
        ];
        for (text, reached, alone, nearer) in rows {
            let (game, pos) = open(text, "rows");
            let solutions = Solutions::of(&game, &pos, 1, 0);
            let (filling, race) = Filling::<1, 4, 1>::of(&game, &pos, &solutions, Extent::Outline).unwrap();
            let territory = Territory::of(&filling, &race);
            assert_eq!(territory.reached.map(|cells| cells.len()), reached, "{text}");
            assert_eq!(Side::ALL.map(|side| territory.alone(side).len()), alone, "{text}");
            assert_eq!(territory.nearer.map(|cells| cells.len()), nearer, "{text}");
        }
    }
}
