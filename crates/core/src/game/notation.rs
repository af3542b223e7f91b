//! How positions and moves are written and drawn, and what a book says about them.

use super::{BookEntry, Drawing, Game, Setting, candidates};

/// The texts and the picture of a game: how positions and moves are written.
///
/// ```
/// use plyd_core::game::Notation;
/// use plyd_core::nim::{Heap, Nim};
///
/// let (nim, heap) = (Nim { most: 3 }, Heap::of(5));
/// assert_eq!(nim.position_text(&heap), "5 1");
/// assert_eq!(nim.parse_move(&heap, "2"), Ok(2));
/// assert!(nim.parse_move(&heap, "all of them").is_err());
/// assert_eq!(nim.draw(&heap).pieces.len(), 5);
/// ```
pub trait Notation: Game {
    /// Whether a move may shift everything: then pictures do not point out what it changed.
    const SHIFTS: bool = false;

    /// The position's text, which reads back as an equal position.
    fn position_text(&self, pos: &Self::Position) -> String;
    /// The position as the game's own referee writes it, if that is another text; it may hold less than
    /// [`Notation::position_text`], and is read like it.
    fn state_text(&self, _pos: &Self::Position) -> Option<String> {
        None
    }
    /// The text of a legal move or chance outcome (the latter begins with `~`).
    fn move_text(&self, pos: &Self::Position, mv: Self::Move) -> String;
    /// Reads a move's text in any accepted form; it need not be legal. The default looks for a legal move of
    /// this text, which is slow in long games.
    ///
    /// # Errors
    /// Says what is wrong with the text, in a sentence without the text itself.
    fn parse_move(&self, pos: &Self::Position, text: &str) -> Result<Self::Move, String> {
        let found = candidates(self, pos).into_iter().find(|&mv| self.move_text(pos, mv) == text);
        found.ok_or_else(|| "no legal move is written so".to_owned())
    }
    /// The board as generic primitives.
    fn draw(&self, pos: &Self::Position) -> Drawing;
    /// The entry of a book of solved positions for this one, in which a player is to move. It is for people
    /// who look positions up and the programs that show them; searches call [`Game::probe`].
    fn book(&self, _pos: &Self::Position) -> Option<BookEntry<Self::Move>> {
        None
    }
    /// The effective rules, by the names of the registry entry's `rules`.
    fn rules(&self) -> Vec<(&'static str, Setting)> {
        Vec::new()
    }
}
