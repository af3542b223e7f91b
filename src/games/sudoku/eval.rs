//! The evaluations that look at the rules' own position.

use super::rules::{Fill, Position, Sudoku};
use crate::game::{Context, Evaluator, Game};
use crate::score::Score;

/// The mover's points less the opponent's: the published `score`.
#[derive(Clone, Copy, Debug)]
pub struct Points;

impl Evaluator<Sudoku> for Points {
    fn evaluate(&self, game: &Sudoku, pos: &Position, _ctx: &Context<Fill>) -> Score {
        Score::eval(game.settled(pos))
    }

    fn range(&self) -> (i32, i32) {
        // Points are given by texts, too.
        (-Score::MAX_EVAL.raw(), Score::MAX_EVAL.raw())
    }
}
