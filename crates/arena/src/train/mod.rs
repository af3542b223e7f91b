//! Learns evaluation tables by self-play of a shallow search (TD learning), in this process.
//!
//! The numbers and the games are [`plyd_core::learning`]'s; [`terms`] say what a training is, and its file.
//! Openings and chance follow from the seed and the number of the game, and games that are played at once are
//! learned from in their order; so an interrupted training resumes as if it had not been, whatever the number
//! of threads. It reads no clock.

pub mod terms;

use std::sync::atomic::AtomicBool;

use crate::trials::{self, Start, TrialError};
use plyd_core::engine::Learner;
use plyd_core::learning::selfplay::SelfPlay;
use plyd_core::learning::td::{self, Learning, Weights};
use plyd_core::zobrist::mix;
use terms::{Checkpoint, Terms};

/// A training and how far it has come.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// use plyd_arena::train::Training;
/// use plyd_arena::train::terms::Terms;
/// use plyd_arena::trials::Games;
/// use plyd_core::engine::settings;
/// use plyd_core::play::Position;
/// use plyd_games::ijk;
/// use plyd_protocol::{Seed, Settings};
///
/// let entry = &ijk::ENTRY;
/// // Two batches of quick games: a training plays a hundred thousand.
/// let terms = Terms {
///     games: Games {
///         game: entry.name.to_owned(),
///         position: None,
///         moves: Vec::new(),
///         rules: Settings::from_iter([("preset", "v2-4x4")]),
///         evaluator: "tuples".to_owned(),
///         random_plies: 2,
///         max_moves: 200,
///         seed: Seed::default(),
///         build: None,
///     },
///     scheduled: 4,
///     batch: 2,
///     depth: 1,
///     lambda: 0.7,
///     rate: 0.1,
/// };
/// let start = |_seed: u64| {
///     let rules = settings::Settings::from_iter([("preset", "v2-4x4")]);
///     let pos = Position::open(entry, &rules, None).map_err(|fault| fault.to_string())?;
///     Ok(Arc::clone(pos.root()))
/// };
/// let mut training = Training::new(terms, &start)?;
/// training.run(1, &AtomicBool::new(false), |training, error| {
///     println!("{} games, mean square error {error:.3}", training.games());
///     Ok(())
/// })?;
/// assert!(training.is_complete() && training.weights().iter().any(|&weight| weight != 0));
/// # Ok::<(), plyd_arena::trials::TrialError>(())
/// ```
pub struct Training<'a> {
    terms: Terms,
    start: &'a Start<'a>,
    learner: Box<dyn Learner>,
    weights: Weights,
    /// Games that were learned from.
    games: u32,
}

impl<'a> Training<'a> {
    /// A training at its beginning, with all weights 0.
    ///
    /// # Errors
    /// There is no opening, or the evaluator cannot be trained under these rules.
    pub fn new(terms: Terms, start: &'a Start<'a>) -> Result<Self, TrialError> {
        // Mistakes are reported before the first game.
        let opening = terms.games.opening(start, 0)?;
        let learner = opening.learner(&terms.games.evaluator)?;
        let weights = Weights::new(learner.len(), learner.most());
        Ok(Self { terms, start, learner, weights, games: 0 })
    }

    /// The terms of the training.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The games so far.
    #[must_use]
    pub fn games(&self) -> u32 {
        self.games
    }

    /// Whether all games are played.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.games == self.terms.scheduled
    }

    /// The weights so far.
    #[must_use]
    pub fn weights(&self) -> Vec<i16> {
        self.weights.whole()
    }

    /// The evaluation's file with the weights so far.
    #[must_use]
    pub fn file(&self) -> Vec<u8> {
        self.learner.file(&self.weights())
    }

    /// The state of the training, to be saved.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { terms: self.terms.clone(), games: self.games, weights: self.weights.parts().to_vec() }
    }

    /// Resumes a training from where it was saved.
    ///
    /// # Errors
    /// Why the checkpoint does not belong to this training, for people.
    pub fn recall(&mut self, kept: Checkpoint) -> Result<(), String> {
        if let Some(name) = self.terms.difference(&kept.terms) {
            return Err(format!("it is of a training with another {name}"));
        }
        if kept.games > self.terms.scheduled
            || (!kept.games.is_multiple_of(self.terms.batch) && kept.games != self.terms.scheduled)
        {
            return Err(format!("no training of this batch ends after {} games", kept.games));
        }
        let weights = Weights::kept(kept.weights, self.learner.len(), self.learner.most());
        self.weights = weights.ok_or("its weights are too few, too many or too large")?;
        self.games = kept.games;
        Ok(())
    }

    /// Plays the games that are left, and calls `learned` after each batch with the mean square error of the
    /// positions' values. Once `halt` is raised no further game begins, and an unfinished batch is dropped.
    ///
    /// # Errors
    /// The first error of `learned`, or that a game could not be played.
    pub fn run(
        &mut self,
        threads: usize,
        halt: &AtomicBool,
        mut learned: impl FnMut(&Self, f64) -> std::io::Result<()>,
    ) -> Result<(), TrialError> {
        while !self.is_complete() {
            let batch = self.terms.batch.min(self.terms.scheduled - self.games);
            let weights = self.weights();
            let game = |number| self.game(self.games + number as u32, &weights).map(Some);
            let Some(played) = trials::play(batch as usize, threads, halt, game)? else { break };
            // Early games teach the least exact values: the rate falls linearly to 0.
            let left = f64::from(self.terms.scheduled - self.games) / f64::from(self.terms.scheduled);
            let learning = Learning { lambda: self.terms.lambda, rate: self.terms.rate * left };
            let error = self.weights.learn(&played, learning);
            self.games += batch;
            learned(self, error)?;
        }
        Ok(())
    }

    fn game(&self, number: u32, weights: &[i16]) -> Result<td::Played, TrialError> {
        let drawn = |which| mix(self.terms.games.seed.0.wrapping_add(mix(2 * u64::from(number) + which + 1)));
        let opening = self.terms.games.opening(self.start, drawn(0))?;
        let how = SelfPlay { depth: self.terms.depth, max_moves: self.terms.games.max_moves, seed: drawn(1) };
        Ok(self.learner.play(opening.as_ref(), weights, &how))
    }
}
