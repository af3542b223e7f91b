//! What a game knows about positions that were solved beforehand.

use crate::score::Value;

/// The entry of a book of solved positions for one position.
///
/// ```
/// use plyd_core::game::Notation;
/// use plyd_core::nim::{Heap, Nim};
///
/// let nim = Nim { most: 3 };
/// let [won, lost] = [5, 4].map(|stones| nim.book(&Heap::of(stones)).expect("Nim is solved"));
/// assert!(won.value.score.is_win() && won.mv == Some(1));
/// assert!(lost.value.score.is_loss() && lost.mv.is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BookEntry<M> {
    /// What the position is worth to the side to move: proven exactly, or as a bound of the distance.
    pub value: Value,
    /// A move that keeps this value, if the book names one.
    pub mv: Option<M>,
}
