//! The first look at the moves of a position: an answer of depth 1 soon, also where the rules compute long
//! for each move.

use std::sync::Arc;

use crate::effort::Effort;
use crate::game::Game;

/// A game whose rules work within [`Effort::first_look`]: moves whose effect they do not find out within it
/// are taken to do what most do.
pub(super) struct FirstLook<G> {
    quicker: Option<G>,
    effort: Arc<Effort>,
}

impl<G: Game> FirstLook<G> {
    /// The first look at a position of a game.
    pub(super) fn new(game: &G) -> Self {
        let effort = Effort::first_look();
        Self { quicker: game.heeding(&effort), effort }
    }

    /// Whether the look may be quicker than a search of depth 1.
    pub(super) fn is_quicker(&self) -> bool {
        self.quicker.is_some()
    }

    /// The game to look with.
    pub(super) fn game<'a>(&'a self, game: &'a G) -> &'a G {
        self.quicker.as_ref().unwrap_or(game)
    }

    /// Whether anything was left undecided so far: from then on values are guesses.
    pub(super) fn has_undecided(&self) -> bool {
        self.effort.has_undecided()
    }
}
