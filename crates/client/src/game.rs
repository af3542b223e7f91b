//! A game as a client sees it: where it began, and the moves since.

use plyd_protocol::{GameRef, Position, Settings};

/// A game and its moves, which each request carries to the server. It knows no rules: `Engine::inspect` asks
/// the server about them.
///
/// ```
/// use plyd_client::Game;
///
/// let mut game = Game::named("isolation");
/// game.push("d4");
/// game.push("b3");
/// assert_eq!(game.moves(), ["d4", "b3"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Game {
    /// The game and its rules, or a session of the server.
    pub game: GameRef,
    /// Where it began, and the moves since.
    pub position: Position,
}

impl Game {
    /// A game by its usual rules, for single questions. For a whole game `Engine::new_game` opens a session,
    /// in which the server remembers what it found.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self::with_rules(name, Settings::new())
    }

    /// Like [`named`](Self::named), by other rules.
    #[must_use]
    pub fn with_rules(name: impl Into<String>, rules: Settings) -> Self {
        Self { game: GameRef::Game { game: name.into(), rules }, position: Position::default() }
    }

    /// The game in an open session of this name.
    #[must_use]
    pub fn in_session(name: impl Into<String>) -> Self {
        Self { game: GameRef::Session { session: name.into() }, position: Position::default() }
    }

    /// The moves so far.
    #[must_use]
    pub fn moves(&self) -> &[String] {
        &self.position.moves
    }

    /// Appends a move without a check. The server refuses an illegal one at the next request about the game.
    pub fn push(&mut self, mv: impl Into<String>) {
        self.position.moves.push(mv.into());
    }

    /// Takes the last move back, and returns it; none if there is none.
    pub fn pop(&mut self) -> Option<String> {
        self.position.moves.pop()
    }
}
