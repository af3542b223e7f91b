//! What a match has come to so far, game by game.

use std::collections::HashSet;
use std::sync::Arc;

use super::html::Gallery;
use super::watch::Watch;
use crate::arena::statistics::sprt::{Assessment, Sprt, Verdict};
use crate::arena::{Match, PlayedGame, Summary};

/// The games of a match so far, and what was decided by them.
pub(super) struct Totals {
    pub(super) summary: Summary,
    games: usize,
    /// The numbers of the games that were played before.
    pub(super) played: HashSet<usize>,
    pub(super) sprt: Option<Sprt>,
    /// What the test said when it was decided; games that ended later do not change it.
    pub(super) decided: Option<Assessment>,
    /// What a page needs of the games, if one is written.
    pub(super) gallery: Option<Gallery>,
    /// The games, if they are reviewed.
    pub(super) kept: Option<Vec<PlayedGame>>,
    /// Where the match is watched, if it is.
    pub(super) watch: Option<Arc<Watch>>,
}

impl Totals {
    pub(super) fn new(the_match: &Match, sprt: Option<Sprt>) -> Self {
        let summary = Summary::new(&the_match.schedule, the_match.players.len());
        let games = the_match.games();
        Self {
            summary,
            games,
            played: HashSet::new(),
            sprt,
            decided: None,
            gallery: None,
            kept: None,
            watch: None,
        }
    }

    /// Whether there is nothing left to play.
    pub(super) fn is_complete(&self) -> bool {
        self.decided.is_some() || self.summary.games as usize == self.games
    }

    pub(super) fn add(&mut self, game: &PlayedGame) {
        self.summary.add(game);
        if let Some(gallery) = &mut self.gallery {
            gallery.add(game);
        }
        if let Some(kept) = &mut self.kept {
            kept.push(game.clone());
        }
        if self.decided.is_none() {
            self.decided = self.assessment().filter(|test| test.verdict != Verdict::Continue);
        }
        if let Some(watch) = &self.watch {
            watch.add(game, &self.summary, self.games, self.assessment().as_ref());
        }
    }

    /// What the test says, if one is made.
    pub(super) fn assessment(&self) -> Option<Assessment> {
        let now = || Some(self.sprt?.assess(&self.summary.results[0].pairing.pairs));
        self.decided.or_else(now)
    }
}
