//! The plain evaluations: the race for cells, and mobility. Both see a position from its mover's view and are
//! fair: they know no root player. One unit is a cell or a move.

use super::rules::{Isolation, Position, Target};
use plyd_core::bits::Bits;
use plyd_core::flood::Flood;
use plyd_core::game::{Context, Evaluator, LateMoveReductions};
use plyd_core::score::Score;

/// The reductions with which the evaluations win games.
pub const LMR: LateMoveReductions = LateMoveReductions { first: 2, from: 6, plies: 2 };
/// Thousandths in a unit.
pub(super) const UNIT: i32 = 1000;

/// The cells that the mover reaches first less those that the opponent reaches first.
///
/// Both tokens flood the open cells at the same time, a knight's move a step. A cell belongs to the side that
/// floods it first, and bars the other's flood. A cell that both flood in the same step bars neither and
/// counts for neither: counting it for the mover plays equally well, but makes the value swing by dozens of
/// cells from ply to ply. A token that is not placed yet floods all cells at once.
///
/// ```
/// use plyd_core::game::{Evaluator, Game};
/// use plyd_core::score::Score;
/// use plyd_isolation::eval::Race;
/// use plyd_isolation::notation::Layout;
/// use plyd_isolation::rules::Isolation;
///
/// let game = Isolation::<u64>::new(3, 3);
/// let pos = Layout::parse("1../.../..2 1").unwrap().position(&game);
/// // Each reaches as many cells first.
/// assert_eq!(Race::new(&game).evaluate_alone(&game, &pos), Score::DRAW);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Race {
    cells: i32,
}

impl Race {
    /// The evaluation for a game.
    #[must_use]
    pub fn new<B: Bits>(game: &Isolation<B>) -> Self {
        Self { cells: game.board().cells() as i32 }
    }
}

impl<B: Bits> Evaluator<Isolation<B>> for Race {
    #[inline]
    fn evaluate(&self, game: &Isolation<B>, pos: &Position<B>, _ctx: &Context<Target>) -> Score {
        Score::eval(race(game, pos) * UNIT)
    }

    fn range(&self) -> (i32, i32) {
        (-self.cells * UNIT, self.cells * UNIT)
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        Some(LMR)
    }
}

/// The margin of the race in cells, from the mover's view.
#[inline]
fn race<B: Bits>(game: &Isolation<B>, pos: &Position<B>) -> i32 {
    let (mine, theirs) = (game.targets(pos, pos.mover()), game.targets(pos, pos.mover().other()));
    let flood = Flood::new(game.board(), pos.open(), mine, theirs);
    // The cells that both flooded are in both sets.
    flood.first.len() as i32 - flood.second.len() as i32
}

/// The mover's moves less the moves that the opponent would have.
#[derive(Clone, Copy, Debug)]
pub struct Mobility {
    cells: i32,
}

impl Mobility {
    /// The evaluation for a game.
    #[must_use]
    pub fn new<B: Bits>(game: &Isolation<B>) -> Self {
        Self { cells: game.board().cells() as i32 }
    }
}

impl<B: Bits> Evaluator<Isolation<B>> for Mobility {
    #[inline]
    fn evaluate(&self, game: &Isolation<B>, pos: &Position<B>, _ctx: &Context<Target>) -> Score {
        let moves = |side| game.targets(pos, side).len() as i32;
        Score::eval((moves(pos.mover()) - moves(pos.mover().other())) * UNIT)
    }

    fn range(&self) -> (i32, i32) {
        // A token that is not placed yet has a move to every open cell.
        (-self.cells * UNIT, self.cells * UNIT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::oracle::random_games;
    use super::*;
    use plyd_core::bits::{Colours, Part};
    use plyd_core::flood::reachable;
    use plyd_core::game::{Game, Side};

    fn floods_cover_what_is_reachable_and_distinguish_tokens<B: Bits>() {
        let mut apart = 0;
        for (width, height) in [(3, 3), (5, 4), (7, 7)] {
            let game = Isolation::<B>::new(width, height);
            random_games(width as i32, height as i32, 30, |_, oracle| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                let [a, b] = [Side::First, Side::Second].map(|side| game.targets(&pos, side));
                let flood = Flood::new(game.board(), pos.open(), a, b);
                let [all_a, all_b] = [a, b].map(|from| reachable(game.board(), pos.open(), from));
                assert_eq!(flood.all(), all_a | all_b, "{}", oracle.text());
                assert_eq!(flood.is_apart(game.board()), Part::is_empty(all_a & all_b), "{}", oracle.text());
                apart += u32::from(Part::is_empty(all_a & all_b));
            });
        }
        assert!(apart > 50, "{apart}");
    }

    fn the_race_counts_the_cells_that_each_reaches_first<B: Bits>() {
        for (width, height, games) in [(3, 3, 20), (7, 7, 10), (11, 9, 3)] {
            let game = Isolation::<B>::new(width as usize, height as usize);
            random_games(width, height, games, |_, oracle| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                let [mine, theirs] = oracle.first_reached().map(|cells| cells.len() as i32);
                assert_eq!(race(&game, &pos), mine - theirs, "{}", oracle.text());
            });
        }
    }

    fn images_are_worth_the_same_and_the_other_mover_the_opposite<B: Bits>() {
        let context = Context { root: Side::First, last: None };
        for (width, height) in [(7, 7), (9, 5), (11, 9)] {
            let game = Isolation::<B>::new(width as usize, height as usize);
            let (race, mobility) = (Race::new(&game), Mobility::new(&game));
            random_games(width, height, 10, |_, oracle| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                let both =
                    |pos: &_| [race.evaluate(&game, pos, &context), mobility.evaluate(&game, pos, &context)];
                let (least, most) = Evaluator::<Isolation<B>>::range(&race);
                assert!(both(&pos).iter().all(|score| (least..=most).contains(&score.raw())));
                let passed = game.position(
                    pos.open(),
                    [pos.token(Side::First), pos.token(Side::Second)],
                    pos.mover().other(),
                );
                assert_eq!(both(&passed), both(&pos).map(|score| -score), "{}", oracle.text());
                for image in game.images(&pos) {
                    assert_eq!(both(&image), both(&pos), "{}", oracle.text());
                }
                let moves = |player| oracle.legal_moves(player).len() as i32;
                assert_eq!(
                    both(&pos)[1],
                    Score::eval(1000 * (moves(oracle.active) - moves(1 - oracle.active)))
                );
            });
        }
    }

    #[test]
    fn sets_of_both_kinds_agree_with_the_oracle() {
        fn check<B: Bits>() {
            floods_cover_what_is_reachable_and_distinguish_tokens::<B>();
            the_race_counts_the_cells_that_each_reaches_first::<B>();
            images_are_worth_the_same_and_the_other_mover_the_opposite::<B>();
        }
        check::<u128>();
        check::<Colours<u64>>();
    }
}
