//! What a legal text of knight Isolation says: the size, the open cells, the tokens and the mover.

use super::rules::{Isolation, Position};
use super::sizes::Size;
use plyd_core::bits::Bits;
use plyd_core::game::Side;

/// A position text taken apart: its size is known before the game that can hold the position is.
///
/// ```
/// use plyd_core::game::Game;
/// use plyd_isolation::notation::Layout;
/// use plyd_isolation::rules::Isolation;
///
/// let layout = Layout::parse("1../.../..2 1").unwrap();
/// let game = Isolation::<u64>::new(3, 3);
/// let mut moves = Vec::new();
/// game.moves(&layout.position(&game), &mut moves);
/// assert_eq!(moves.len(), 2);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The size of the board.
    pub size: Size,
    /// The cells that are open, by number.
    pub(super) open: Vec<u8>,
    pub(super) tokens: [u8; 2],
    pub(super) mover: Side,
}

impl Layout {
    /// The position in a game on a board of that size.
    #[must_use]
    pub fn position<B: Bits>(&self, game: &Isolation<B>) -> Position<B> {
        let open = self.open.iter().fold(B::EMPTY, |open, &cell| open | B::single(cell));
        game.position(open, self.tokens, self.mover)
    }
}

/// The letter of a column.
pub(super) fn column_label(column: usize) -> char {
    char::from(b'a' + column as u8)
}
