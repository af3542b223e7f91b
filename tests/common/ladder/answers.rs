//! When bots of this process answered, for whoever waits for what follows: their opponents and spectators.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The answers in all games. A copy is of the same answers.
#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Mutex<HashMap<u64, Game>>>);

#[derive(Default)]
struct Game {
    /// The ply that each answer is, and when it was sent.
    plies: Vec<(usize, Instant)>,
    is_over: bool,
}

impl Answers {
    /// A bot is asked in a game; says when the ply before this one was answered, if a bot did that.
    pub(crate) fn asked(&self, game: u64, ply: usize) -> Option<Instant> {
        let mut games = self.lock();
        let game = games.entry(game).or_default();
        let before = ply.checked_sub(1)?;
        game.plies.last().filter(|(last, _)| *last == before).map(|(_, at)| *at)
    }

    /// A bot answers; what follows from that comes later than this.
    pub(crate) fn answered(&self, game: u64, ply: usize, at: Instant) {
        self.lock().entry(game).or_default().plies.push((ply, at));
    }

    /// A game is over; says when the last answer in it was sent.
    pub(crate) fn over(&self, game: u64) -> Option<Instant> {
        let mut games = self.lock();
        let game = games.entry(game).or_default();
        game.is_over = true;
        game.plies.last().map(|(_, at)| *at)
    }

    /// When a ply was answered, if a bot did that.
    pub(crate) fn of(&self, game: u64, ply: usize) -> Option<Instant> {
        let games = self.lock();
        games.get(&game)?.plies.iter().rev().find(|(answered, _)| *answered == ply).map(|(_, at)| *at)
    }

    /// How many games bots were asked in that are not over.
    pub(crate) fn open(&self) -> usize {
        self.lock().values().filter(|game| !game.is_over).count()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Game>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
