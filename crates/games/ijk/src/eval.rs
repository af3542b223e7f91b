//! The evaluation that needs no tables: the mass of each side's tiles, and who leads.
//!
//! The mass on the board grows by one a move whatever is played; only what merges across the cases moves it
//! between the sides. At the end the higher letter wins, whatever the mass; so the lead counts, and more so
//! the fuller the board.

use super::board::Board;
use super::rules::{Ijk, Move, Position, case};
use plyd_core::game::{Context, Evaluator, Spec};
use plyd_core::options::weights::{self, Weights};
use plyd_core::score::Score;

/// The mass of the mover's tiles less the opponent's, and a bonus for the higher letter.
///
/// ```
/// use plyd_core::game::{Evaluator, Game, Rules};
/// use plyd_core::score::Score;
/// use plyd_ijk::Slide;
/// use plyd_ijk::eval::Lead;
/// use plyd_ijk::rules::{Ijk, Move};
/// use plyd_ijk::variant::Variant;
///
/// let game = Ijk::<false>::new(Variant::choose(&Rules::default(), None).unwrap());
/// let mut pos = game.start();
/// // Both sides have an `A` after the first move.
/// game.play(&mut pos, Move::slide(Slide::Right));
/// assert_eq!(Lead::default().evaluate_alone(&game, &pos), Score::DRAW);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lead {
    /// What the higher letter is worth beside its mass on an empty board, in thousandths of that.
    empty: i32,
    /// How much more on a full board.
    more: i32,
}

const FILE: &str = include_str!("weights.txt");
const LEAD_EMPTY: Spec = weights::spec(
    FILE,
    "lead_empty",
    0,
    4000,
    "Of `lead`: the bonus for the higher letter on an empty board, in thousandths of that letter's mass.",
);
const LEAD_FULL: Spec = weights::spec(
    FILE,
    "lead_full",
    0,
    4000,
    "Of `lead`: the bonus for the higher letter on a full board, in thousandths of that letter's mass.",
);
/// The weights.
pub(super) const WEIGHTS: Weights = Weights { list: &[LEAD_EMPTY, LEAD_FULL], file: FILE };

impl Lead {
    /// The evaluation with these weights.
    #[must_use]
    pub(super) fn new(weight: impl Fn(&Spec) -> i32) -> Self {
        let empty = weight(&LEAD_EMPTY);
        Self { empty, more: weight(&LEAD_FULL) - empty }
    }

    /// The value for the mover in thousandths of an `A`, given the highest letters of the mover and the
    /// opponent and the number of cells of the board.
    #[inline]
    pub(super) fn value<B: Board>(self, pos: &Position<B>, [own, other]: [u8; 2], cells: i32) -> i32 {
        let ahead = i32::from(own > other) - i32::from(own < other);
        let highest = (1 << own.max(other)) >> 1;
        let tiles = pos.board().occupied().count_ones() as i32;
        let weight = self.empty + self.more * tiles * tiles / (cells * cells);
        1000 * pos.balance() + ahead * highest * weight
    }
}

/// The highest letters of the mover and the opponent.
#[inline]
pub(super) fn highest<B: Board>(pos: &Position<B>) -> [u8; 2] {
    [pos.mover(), pos.mover().other()].map(|side| pos.board().highest(case(side)))
}

/// A value as an evaluation.
#[inline]
pub(super) fn bounded(value: i32) -> Score {
    Score::eval(value.clamp(-MOST, MOST))
}

impl Default for Lead {
    fn default() -> Self {
        Self::new(weights::default)
    }
}

/// No evaluation is larger, in thousandths of an `A`.
pub(super) const MOST: i32 = 999_000;
/// What a win counts when it is averaged over chance: more than any lead, so that a search that is far ahead
/// keeps looking for one.
pub(super) const WIN: i32 = 1_000_000;

impl<const CHANCE: bool, B: Board> Evaluator<Ijk<CHANCE, B>> for Lead {
    #[inline]
    fn evaluate(&self, game: &Ijk<CHANCE, B>, pos: &Position<B>, _ctx: &Context<Move>) -> Score {
        bounded(self.value(pos, highest(pos), game.cells().count_ones() as i32))
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
    use plyd_core::game::{Rules, Side};

    fn value(lead: Lead, text: &str) -> i32 {
        let layout = Layout::parse(text).unwrap();
        let game =
            Ijk::<false>::new(Variant::choose(&Rules::default(), Some(layout.stated_rules())).unwrap());
        let pos = layout.position(&game).unwrap();
        lead.evaluate(&game, &pos, &Context { root: Side::First, last: None }).raw()
    }

    #[test]
    fn mass_and_lead_by_hand() {
        for (empty, full) in [(200, 1000), (500, 100), (0, 4000)] {
            let lead = Lead { empty, more: full - empty };
            for (text, expected) in [
                ("A./.. +", 1000 + empty + (full - empty) / 4 / 4),
                ("A./.. -", -1000 - empty - (full - empty) / 4 / 4),
                // Equal letters: nobody leads.
                ("Cc/A. +", 1000),
                // 8 against 4 and 4: the masses are equal, and 8 leads on a full board.
                ("Dc/.c +", 8 * (empty + (full - empty) * 9 / 16)),
                ("Oa/.a -", -MOST),
            ] {
                assert_eq!(value(lead, text), expected, "{text}");
            }
        }
    }
}
