//! The plain evaluation: the race for cells.

use super::rules::{Colosseum, Position, Walk};
use crate::game::{Context, Evaluator, Reductions};
use crate::games::bits::Bits;
use crate::score::Score;

/// Thousandths in a cell.
pub(super) const UNIT: i32 = 1000;

/// The mover's lead in cells: see [`Colosseum::lead`].
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
    const REDUCTIONS: Option<Reductions> = Some(Reductions { first: 6, from: 3, plies: 1 });
    const DECISIVE: i32 = 10 * UNIT;

    #[inline]
    fn evaluate(&self, game: &Colosseum<B>, pos: &Position<B>, _ctx: &Context<Walk>) -> Score {
        let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| pos.player(side));
        Score::eval(game.lead(pos.open(), own, opp) * UNIT)
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
