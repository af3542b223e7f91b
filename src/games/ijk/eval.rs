//! The default evaluation: the mass of each side's tiles, and who leads.
//!
//! The mass on the board grows by one a move whatever is played; only what merges across the cases moves it between
//! the sides. At the end the higher letter wins, whatever the mass.

use super::board::Case;
use super::rules::{Ijk, Move, Position};
use crate::game::{Context, Evaluator, Side};
use crate::score::Score;

/// The mass of the mover's tiles less the opponent's, and a bonus for the higher letter.
#[derive(Clone, Copy, Debug)]
pub struct Lead;

/// What the higher letter is worth, in thousandths of an `A`.
const LEAD: i32 = 8_000;
/// More than any board weighs, in thousandths of an `A`.
const HEAVIEST: i32 = 36_000_000;

impl<const CHANCE: bool> Evaluator<Ijk<CHANCE>> for Lead {
    #[inline]
    fn evaluate(&self, _game: &Ijk<CHANCE>, pos: &Position, _ctx: &Context<Move>) -> Score {
        let board = pos.board();
        let [upper, lower] = [Case::Upper, Case::Lower].map(|case| i32::from(board.highest(case)));
        let lead = match pos.mover() {
            Side::First => upper - lower,
            Side::Second => lower - upper,
        };
        Score::eval(1000 * pos.balance() + LEAD * lead.signum())
    }

    fn range(&self) -> (i32, i32) {
        (-HEAVIEST, HEAVIEST)
    }
}
