//! The default evaluation: the mass of each side's tiles, and who leads.
//!
//! The mass on the board grows by one a move whatever is played; only what merges across the cases moves it between
//! the sides. At the end the higher letter wins, whatever the mass; so the lead counts, and more so the fuller the board.

use super::board::Case;
use super::rules::{Ijk, Move, Position};
use crate::game::{Context, Evaluator, Side};
use crate::score::Score;

/// The mass of the mover's tiles less the opponent's, and a bonus for the higher letter.
#[derive(Clone, Copy, Debug)]
pub struct Lead;

/// What the higher letter is worth beside its mass, in thousandths of that: on an empty board, and more on a full one.
const LEAD: i32 = 200;
const LEAD_WHEN_FULL: i32 = 800;
/// No evaluation is larger, in thousandths of an `A`.
const MOST: i32 = 999_000;
/// What a win counts where it is averaged over chance: more, so that a search looks on for one where it is far ahead.
const WIN: i32 = 1_000_000;

impl<const CHANCE: bool> Evaluator<Ijk<CHANCE>> for Lead {
    #[inline]
    fn evaluate(&self, game: &Ijk<CHANCE>, pos: &Position, _ctx: &Context<Move>) -> Score {
        let board = pos.board();
        let [upper, lower] = [Case::Upper, Case::Lower].map(|case| board.highest(case));
        let ahead = i32::from(upper > lower) - i32::from(upper < lower);
        let highest = (1 << upper.max(lower)) >> 1;
        let [tiles, cells] = [board.occupied(), game.cells()].map(|cells| cells.count_ones() as i32);
        let weight = LEAD + LEAD_WHEN_FULL * tiles * tiles / (cells * cells);
        let lead = ahead * highest * weight;
        let value = 1000 * pos.balance() + if pos.mover() == Side::First { lead } else { -lead };
        Score::eval(value.clamp(-MOST, MOST))
    }

    fn range(&self) -> (i32, i32) {
        (-WIN, WIN)
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::variant::Variant;
    use super::*;
    use crate::game::Rules;

    fn value(text: &str) -> i32 {
        let layout = Layout::parse(text).unwrap();
        let game = Ijk::<false>::new(Variant::choose(&Rules::default(), Some(layout.told())).unwrap());
        let pos = layout.position(&game).unwrap();
        Lead.evaluate(&game, &pos, &Context { root: Side::First, last: None }).raw()
    }

    #[test]
    fn mass_and_lead_by_hand() {
        for (text, expected) in [
            ("A./.. +", 1000 + 200 + 800 / 4 / 4),
            ("A./.. -", -1000 - 200 - 800 / 4 / 4),
            // Equal letters: nobody leads.
            ("Cc/A. +", 1000),
            // 8 against 4 and 4: the masses are equal, and 8 leads on a full board.
            ("Dc/.c +", 8 * (200 + 800 * 9 / 16)),
            ("Oa/.a -", -MOST),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }
}
