//! The default evaluation: the race for cells, in which a cell is weighted by its exits.
//!
//! A cell with one exit can only end a path, and one with many is on many paths. Once no cell can be reached
//! by both, the longer path wins, and bounds of the paths take the place of cells. `plyd tune isolation`
//! tunes the worths; `benches/evaluations` played the games by which the terms were chosen.

use super::board::{Jumps, UNPLACED, by_width};
use super::eval::LMR;
use super::paths;
use super::rules::{Isolation, Position, Target};
use plyd_core::bits::{Bits, Part};
use plyd_core::flood::Flood;
use plyd_core::game::{Context, Evaluator, LateMoveReductions, Spec};
use plyd_core::options::weights::{self, Weights};
use plyd_core::score::Score;

const FILE: &str = include_str!("weights.txt");
const EXITS_TWO: Spec = weights::spec(
    FILE,
    "exits_two",
    0,
    2000,
    "Of `territory`: what a cell with two exits or more is worth, in thousandths.",
);
const EXITS_FOUR: Spec = weights::spec(
    FILE,
    "exits_four",
    0,
    2000,
    "Of `territory`: what a cell with four exits or more is worth beside that.",
);
const APART: Spec = weights::spec(
    FILE,
    "apart",
    0,
    8000,
    "Of `territory`: what each move more than the opponent's is worth once the tokens are apart.",
);
/// The weights.
pub(super) const WEIGHTS: Weights = Weights { list: &[EXITS_TWO, EXITS_FOUR, APART], file: FILE };

/// The mover's territory less the opponent's: the cells that each reaches first, each with a worth if it has
/// two exits or more, and another from four on.
///
/// An exit is an open cell a knight's move away. Cells that both reach first in the same step belong to
/// nobody. If the tokens are apart, each move that the mover has more than the opponent has a worth, and
/// being first to run out of moves costs half of that.
///
/// ```
/// use plyd_core::bits::Colours;
/// use plyd_core::options::Options;
/// use plyd_core::search::Searcher;
/// use plyd_core::search::iterate::Iterate;
/// use plyd_isolation::rules::Isolation;
/// use plyd_isolation::territory::Territory;
///
/// // The search of the default player, without its solver.
/// let game = Isolation::<Colours<u64>>::new(11, 9);
/// let mut searcher = Iterate::new(&game, Territory::new(&game), &Options::default());
/// searcher.clear();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Territory {
    cells: i32,
    // In thousandths.
    two: i32,
    four: i32,
    apart: i32,
}

impl Territory {
    /// The evaluation for a game, with the default weights.
    #[must_use]
    pub fn new<B: Bits>(game: &Isolation<B>) -> Self {
        Self::weighted(game, weights::default)
    }

    /// The evaluation for a game with other weights.
    #[must_use]
    pub(super) fn weighted<B: Bits>(game: &Isolation<B>, weight: impl Fn(&Spec) -> i32) -> Self {
        Self {
            cells: game.board().cells() as i32,
            two: weight(&EXITS_TWO),
            four: weight(&EXITS_FOUR),
            apart: weight(&APART),
        }
    }
}

impl Territory {
    /// The evaluation of a position.
    #[inline]
    fn value<B: Bits, const WIDTH: u32>(&self, board: Jumps<'_, B, WIDTH>, pos: &Position<B>) -> Score {
        let [own, opp] = [pos.mover(), pos.mover().other()].map(|side| pos.token(side));
        // Before the flood, whose end no processor predicts: it waits less for what it began before.
        let (two, four) = board.knights_twice_and_four_times(B::All::of(pos.open()));
        let flood =
            Flood::new(&board, pos.open(), board.reach(own) & pos.open(), board.reach(opp) & pos.open());
        let both = flood.first & flood.second;
        if both.is_empty() && own != UNPLACED && opp != UNPLACED && flood.is_apart(&board) {
            let moves = |region, token| paths::at_most(board, region, token) as i32;
            let ahead = moves(flood.first, own) - moves(flood.second, opp);
            return Score::eval((2 * ahead - 1) * self.apart / 2);
        }
        let [first, second] = [flood.first, flood.second].map(<B::All as Part<B>>::Next::of);
        // Cells that both reach in the same step are in both regions and cancel out.
        Score::eval(
            self.two * ((first & two).count() - (second & two).count())
                + self.four * ((first & four).count() - (second & four).count()),
        )
    }
}

impl<B: Bits> Evaluator<Isolation<B>> for Territory {
    #[inline]
    fn evaluate(&self, game: &Isolation<B>, pos: &Position<B>, _ctx: &Context<Target>) -> Score {
        // Where colours are apart, the compiler does the jumps of both tokens by vectors if the width is a
        // constant, which takes longer: what they flood has to leave the vectors at each step.
        if B::COLOURS > 1 {
            self.value(Jumps::<B, 0>(game.board()), pos)
        } else {
            by_width!(B, game.board(), board => self.value(board, pos))
        }
    }

    fn range(&self) -> (i32, i32) {
        // A move ahead for each cell, and the half for moving first; or all cells with four exits.
        let most = (self.apart * (self.cells + 1)).max((self.two + self.four) * self.cells);
        (-most, most)
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        Some(LMR)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::notation::Layout;
    use super::super::oracle::{Oracle, Place, random_games};
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::game::{Game, Side, Turn};

    const CONTEXT: Context<Target> = Context { root: Side::First, last: None };
    const SIZES: [(i32, i32, u64); 5] = [(3, 3, 20), (5, 4, 40), (7, 7, 30), (11, 9, 8), (15, 8, 2)];

    /// An evaluation whose terms can be distinguished.
    fn territory<B: Bits>(game: &Isolation<B>) -> Territory {
        Territory { two: 300, four: 450, apart: 1500, ..Territory::new(game) }
    }

    /// Thousandths, for each position of random games.
    fn values<B: Bits>(mut visit: impl FnMut(&Isolation<B>, &Position<B>, &Oracle, i32)) {
        for (width, height, games) in SIZES {
            let game = Isolation::<B>::new(width as usize, height as usize);
            let territory = territory(&game);
            random_games(width, height, games, |_, oracle| {
                let pos = Layout::parse(&oracle.text()).unwrap().position(&game);
                visit(&game, &pos, oracle, territory.evaluate(&game, &pos, &CONTEXT).raw());
            });
        }
    }

    /// Whether the tokens stand on the board and no cell can ever be reached by both.
    fn is_apart(oracle: &Oracle, reached: &[BTreeSet<Place>; 2]) -> bool {
        let [mine, theirs] = reached;
        let meets = |place: &Place| {
            let mut probe = oracle.clone();
            probe.tokens[0] = Some(*place);
            theirs.contains(place) || probe.legal_moves(0).iter().any(|next| theirs.contains(next))
        };
        oracle.tokens.iter().all(Option::is_some) && !mine.iter().any(meets)
    }

    fn cells_count_by_their_exits<B: Bits>() {
        let mut compared = 0;
        values::<B>(|_, _, oracle, value| {
            let reached = oracle.first_reached();
            if !is_apart(oracle, &reached) {
                let worth = |place: &Place| match oracle.exits(*place) {
                    0 | 1 => 0,
                    2 | 3 => 300,
                    _ => 750,
                };
                let [mine, theirs] = reached.map(|cells| cells.iter().map(worth).sum::<i32>());
                assert_eq!(value, mine - theirs, "{}", oracle.text());
                compared += 1;
            }
        });
        assert!(compared > 300, "{compared}");
    }

    fn tokens_apart_are_valued_by_their_paths<B: Bits>() {
        let (mut apart, mut right) = (0, 0);
        values::<B>(|game, pos, oracle, value| {
            let reached = oracle.first_reached();
            // The oracle tries every path, so that regions must be small.
            if game.turn(pos) == Turn::Move
                && is_apart(oracle, &reached)
                && reached.iter().all(|cells| cells.len() <= 20)
            {
                let [mine, theirs] =
                    [oracle.active, 1 - oracle.active].map(|player| oracle.longest_path(player));
                let (own, opp) = (pos.token(pos.mover()), pos.token(pos.mover().other()));
                let flood = Flood::new(
                    game.board(),
                    pos.open(),
                    game.targets(pos, pos.mover()),
                    game.targets(pos, pos.mover().other()),
                );
                let [most, least] = [(flood.first, own), (flood.second, opp)]
                    .map(|(region, token)| paths::at_most(Jumps::<B, 0>(game.board()), region, token) as i32);
                assert_eq!(value, (2 * (most - least) - 1) * 750, "{}", oracle.text());
                apart += 1;
                right += u32::from((mine > theirs) == (value > 0));
            }
        });
        assert!(apart > 50 && 100 * right >= 95 * apart, "{right} of {apart}");
    }

    fn images_are_worth_the_same_within_the_range<B: Bits>() {
        values::<B>(|game, pos, oracle, value| {
            let territory = territory(game);
            let (least, most) = Evaluator::<Isolation<B>>::range(&territory);
            assert!((least..=most).contains(&value), "{value}: {}", oracle.text());
            for image in game.images(pos) {
                let image = territory.evaluate(game, &image, &CONTEXT).raw();
                assert_eq!(image, value, "{}", oracle.text());
            }
        });
    }

    #[test]
    fn sets_of_both_kinds_are_valued_as_the_oracle_says() {
        fn check<B: Bits>() {
            cells_count_by_their_exits::<B>();
            tokens_apart_are_valued_by_their_paths::<B>();
            images_are_worth_the_same_within_the_range::<B>();
        }
        check::<u128>();
        check::<Colours<u64>>();
    }
}
