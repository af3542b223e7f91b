//! The plain evaluation: the race for cells.

use super::rules::{Colosseum, Position, Walk};
use crate::game::{Context, Evaluator};
use crate::games::bits::Bits;
use crate::games::flood::Flood;
use crate::score::Score;

/// Thousandths in a cell.
pub(super) const UNIT: i32 = 1000;

/// The cells that the mover reaches first less those that the opponent reaches first, both walking a step at a time.
///
/// Cells that both reach in the same step count for neither. Players do not bar each other.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    cells: i32,
}

impl Race {
    /// The evaluation for a game.
    #[must_use]
    pub fn new<B: Bits>(game: &Colosseum<B>) -> Self {
        Self { cells: game.board().cells() as i32 }
    }
}

impl<B: Bits> Evaluator<Colosseum<B>> for Race {
    #[inline]
    fn evaluate(&self, game: &Colosseum<B>, pos: &Position<B>, _ctx: &Context<Walk>) -> Score {
        let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| B::single(pos.player(side)));
        let flood = Flood::new(&game.board().paths(pos.open()), !B::EMPTY, own, opp);
        // The cells that both reached are in both sets.
        Score::eval((flood.first.len() as i32 - flood.second.len() as i32) * UNIT)
    }

    fn range(&self) -> (i32, i32) {
        (-self.cells * UNIT, self.cells * UNIT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::oracle::random_games;
    use super::super::setup::{Setup, StartWalls};
    use super::*;
    use crate::game::Side;

    #[test]
    fn the_race_counts_the_cells_that_each_reaches_first() {
        for (size, games) in [(5, 10), (8, 4), (11, 1)] {
            let game = Colosseum::<u128>::new(Setup { size, start_walls: StartWalls::Fall2023, seed: 0 });
            random_games(size as i32, games, |_, oracle| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                let [own, opp] = [oracle.active, 1 - oracle.active]
                    .map(|player| oracle.within(oracle.places[player], u32::MAX, None));
                // Pockets that one cannot reach count for the other.
                let sooner = |one: &std::collections::HashMap<_, u32>,
                              other: &std::collections::HashMap<_, u32>| {
                    let first =
                        |&(place, steps): &(&_, &u32)| other.get(place).is_none_or(|other| steps < other);
                    one.iter().filter(first).count() as i32
                };
                let expected = 1000 * (sooner(&own, &opp) - sooner(&opp, &own));
                let context = Context { root: Side::First, last: None };
                let value = Race::new(&game).evaluate(&game, &pos, &context).raw();
                assert_eq!(value, expected, "{}", oracle.text());
                let (least, most) = Evaluator::<Colosseum<u128>>::range(&Race::new(&game));
                assert!((least..=most).contains(&value));
            });
        }
    }
}
