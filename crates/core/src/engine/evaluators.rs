//! The evaluators of a game: one table, in which each has its name, its weights, and how it is made.

use super::Playable;
use crate::game::{Evaluator, Named};
use crate::options::weights::Weights;
use crate::options::{OptionError, Options};
use crate::score::Score;
#[cfg(debug_assertions)]
use crate::search::erased::Erased;
use crate::search::players::Made;

/// What the registry knows of an evaluator.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatorEntry {
    /// Its name, and what it is.
    pub named: Named,
    /// Its weights, which are options too: what `plyd tune` may change.
    pub weights: Option<Weights>,
    /// Whether `plyd train` fills tables of it: see [`Playable::learner`].
    pub is_trained: bool,
}

/// Gives a game's evaluators by their place in its table.
pub type EvaluatorAt = fn(usize) -> Option<&'static EvaluatorEntry>;

/// The evaluator at a place of a game's table.
pub(super) fn evaluator_at<G: Playable>(place: usize) -> Option<&'static EvaluatorEntry> {
    G::EVALUATORS.get(place).map(|evaluator| &evaluator.entry)
}

/// An evaluator of a game: what the registry knows of it, and how it is made.
///
/// ```
/// use plyd_core::engine::NamedEvaluator;
/// use plyd_core::nim::{Nim, Rest};
///
/// /// What [`Playable::EVALUATORS`] of a game would be: the first is the default.
/// const EVALUATORS: &[NamedEvaluator<Nim>] = &[
///     NamedEvaluator::new("rest", "Whether the heap is a whole number of rounds.", &|_, _| Rest),
///     NamedEvaluator::new("old", "The same by another name.", &|_, _| Rest).formerly("older"),
/// ];
/// assert_eq!(EVALUATORS.len(), 2);
/// ```
pub struct NamedEvaluator<G: 'static> {
    entry: EvaluatorEntry,
    make: &'static dyn MakeEvaluator<G>,
}

impl<G: Playable> NamedEvaluator<G> {
    /// An evaluator that `make` makes for a game (its size and rules) with the options of a player, which
    /// hold the weights.
    #[must_use]
    pub const fn new<E, F>(name: &'static str, about: &'static str, make: &'static F) -> Self
    where
        E: Evaluator<G>,
        F: Fn(&G, &Options) -> E + Sync,
    {
        Self::by(name, about, make)
    }

    /// An evaluator whose type depends on the rules.
    #[must_use]
    pub const fn by(name: &'static str, about: &'static str, make: &'static dyn MakeEvaluator<G>) -> Self {
        let named = Named::new(name, about);
        Self { entry: EvaluatorEntry { named, weights: None, is_trained: false }, make }
    }

    /// The same with its name in the previous version, which is still accepted.
    #[must_use]
    pub const fn formerly(self, former: &'static str) -> Self {
        Self { entry: EvaluatorEntry { named: self.entry.named.formerly(former), ..self.entry }, ..self }
    }

    /// The same with weights.
    #[must_use]
    pub const fn with(self, weights: Weights) -> Self {
        Self { entry: EvaluatorEntry { weights: Some(weights), ..self.entry }, ..self }
    }

    /// The same with tables that `plyd train` fills.
    #[must_use]
    pub const fn trained(self) -> Self {
        Self { entry: EvaluatorEntry { is_trained: true, ..self.entry }, ..self }
    }

    /// The evaluator of that name; the first if the name is empty.
    ///
    /// # Errors
    /// No evaluator has that name.
    pub(super) fn find(name: &str) -> Result<&'static Self, OptionError> {
        let found = G::EVALUATORS.iter().find(|known| name.is_empty() || known.entry.named.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = G::EVALUATORS.iter().map(|known| known.entry.named.name).collect();
            OptionError { name: "eval", message: format!("expected one of: {}", names.join(", ")) }
        })
    }

    /// The player that the options name, with this evaluator.
    pub(super) fn player(&self, game: &G, options: &Options) -> Made<G> {
        self.make.player(game, options)
    }

    /// The evaluation of a position, with the default weights.
    pub(super) fn evaluate(&self, game: &G, pos: &G::Position) -> Score {
        self.make.evaluate(game, pos)
    }

    /// The range of these evaluations.
    pub(super) fn range(&self, game: &G) -> (i32, i32) {
        self.make.range(game)
    }

    /// The advantage with which most games are won.
    pub(super) fn decisive(&self, game: &G) -> i32 {
        self.make.decisive(game)
    }

    /// Its name.
    pub(super) fn name(&self) -> &'static str {
        self.entry.named.name
    }
}

/// How an evaluator is made; every function from a game and options to an [`Evaluator`] implements it.
///
/// ```
/// use plyd_core::engine::MakeEvaluator;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::options::Options;
///
/// let make = |_: &Nim, _: &Options| Rest;
/// let nim = Nim { most: 3 };
/// assert!(make.evaluate(&nim, &Heap::of(5)) > make.evaluate(&nim, &Heap::of(4)));
/// assert_eq!(make.range(&nim), (-1000, 1000));
/// ```
pub trait MakeEvaluator<G: Playable>: Sync {
    /// The player that the options name, with this evaluator.
    ///
    /// # Errors
    /// See [`Playable::player`].
    fn player(&self, game: &G, options: &Options) -> Made<G>;

    /// The static evaluation of a position that is not over, with the default weights, from the view of
    /// [`Game::side`](crate::game::Game::side).
    fn evaluate(&self, game: &G, pos: &G::Position) -> Score;

    /// The smallest and the largest of these evaluations: see [`Evaluator::range`].
    fn range(&self, game: &G) -> (i32, i32);

    /// The advantage with which most games are won: see [`Evaluator::decisive`].
    fn decisive(&self, game: &G) -> i32;
}

impl<G: Playable, E: Evaluator<G>, F: Fn(&G, &Options) -> E + Sync> MakeEvaluator<G> for F {
    fn player(&self, game: &G, options: &Options) -> Made<G> {
        let evaluator = self(game, options);
        // The searches are half of what a build compiles. A debug build, which is made to be tested and not
        // to be strong, compiles them once per game for all evaluations.
        #[cfg(debug_assertions)]
        let evaluator = Erased::new(evaluator);
        game.player(evaluator, options)
    }

    fn evaluate(&self, game: &G, pos: &G::Position) -> Score {
        self(game, &Options::default()).evaluate_alone(game, pos)
    }

    fn range(&self, game: &G) -> (i32, i32) {
        self(game, &Options::default()).range()
    }

    fn decisive(&self, game: &G) -> i32 {
        self(game, &Options::default()).decisive()
    }
}
