//! Tunes evaluation weights by self-play (SPSA): games between settings that differ a little, in this
//! process.
//!
//! In reading order: [`spsa`] (the numbers), [`terms`] (what a tuning is, and the lines of its file),
//! [`Trial`] (a pair of games, here or elsewhere), `game`. Which settings meet, their openings and their
//! chance follow from the seed and the games before, so an interrupted tuning resumes as if it had not been,
//! whatever the number of threads. It reads no clock.

mod game;
pub mod spsa;
pub mod terms;
mod trial;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::trials::{self, Start, TrialError};
use plyd_core::engine::{AnyRoot, Entry};
use spsa::{Probe, Spsa};
use terms::{Iteration, Line, Terms};

pub use trial::Trial;

/// A tuning and how far it has come.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// use plyd_arena::trials::Games;
/// use plyd_arena::tune::Tuning;
/// use plyd_arena::tune::terms::{Terms, weights};
/// use plyd_core::play::Position;
/// use plyd_games::colosseum;
/// use plyd_protocol::{Seed, Settings};
///
/// let entry = &colosseum::ENTRY;
/// let tunable = entry.tunable().next().expect("its first evaluation has weights");
/// // Two pairs of quick games: a tuning plays thousands.
/// let terms = Terms {
///     games: Games {
///         game: entry.name.to_owned(),
///         position: None,
///         moves: Vec::new(),
///         rules: Settings::new(),
///         evaluator: tunable.evaluator.to_owned(),
///         random_plies: 4,
///         max_moves: 200,
///         seed: Seed::default(),
///         build: None,
///     },
///     weights: weights(&tunable, |_| true, &Settings::new()),
///     options: Settings::new(),
///     nodes: 50,
///     iterations: 2,
///     pairs: 1,
///     rate: 0.1,
///     step_percent: 10.0,
/// };
/// let start = |_seed: u64| Ok::<_, String>(Arc::clone(Position::start(entry).root()));
/// let mut tuning = Tuning::new(entry, terms, &start)?;
/// tuning.run(1, &AtomicBool::new(false), |_, iteration| {
///     println!("{}: {:?}", iteration.number, iteration.values);
///     Ok(())
/// })?;
/// assert!(tuning.is_complete() && tuning.games() == 4);
/// println!("{}", tuning.terms().file(&tunable, &tuning.values(), tuning.games()));
/// # Ok::<(), plyd_arena::trials::TrialError>(())
/// ```
pub struct Tuning<'a> {
    entry: &'static Entry,
    terms: Terms,
    start: &'a Start<'a>,
    spsa: Spsa,
    /// Iterations that are done.
    done: u32,
}

impl<'a> Tuning<'a> {
    /// A tuning at its beginning.
    ///
    /// # Errors
    /// There is no opening, or a player cannot be made.
    pub fn new(entry: &'static Entry, terms: Terms, start: &'a Start<'a>) -> Result<Self, TrialError> {
        let spsa = Spsa::new(terms.parameters(), terms.gains(), terms.games.seed.0);
        let tuning = Self { entry, terms, start, spsa, done: 0 };
        // Mistakes are reported before the first game.
        let opening = tuning.opening(0)?;
        drop(opening.engine(&tuning.terms.player(entry, &tuning.spsa.values(), 0)?)?);
        Ok(tuning)
    }

    /// The terms of the tuning.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The weights so far.
    #[must_use]
    pub fn values(&self) -> Vec<i64> {
        self.spsa.values()
    }

    /// The games so far.
    #[must_use]
    pub fn games(&self) -> u64 {
        2 * u64::from(self.done) * u64::from(self.terms.pairs)
    }

    /// Whether all games are played.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.done == self.terms.iterations
    }

    /// Learns from a saved line, the `number`th of the tuning's file, counted from 0.
    ///
    /// # Errors
    /// Why the line does not belong to this tuning, for people.
    pub fn recall(&mut self, number: usize, line: &Line) -> Result<(), String> {
        match (number, line) {
            (0, Line::Terms(terms)) => match self.terms.difference(terms) {
                Some(name) => Err(format!("it is of a tuning with another {name}")),
                None => Ok(()),
            },
            (0, _) => Err("the terms of the tuning are missing".into()),
            (_, Line::Terms(_)) => Err("the terms of the tuning are there twice".into()),
            (_, Line::Iteration(Iteration { number, results, values })) => {
                if self.is_complete() || *number != self.done + 1 {
                    return Err(format!("iteration {number} does not follow iteration {}", self.done));
                }
                if results.len() != self.terms.pairs as usize
                    || results.iter().any(|result| !(-2..=2).contains(result))
                {
                    return Err(format!(
                        "iteration {number} has not the results of {} pairs",
                        self.terms.pairs
                    ));
                }
                self.learn(results);
                if self.values() != *values {
                    return Err(format!("the values of iteration {number} do not follow from its results"));
                }
                Ok(())
            }
        }
    }

    /// The numbers of the pairs of the next iteration, from 0; empty once all games are played.
    #[must_use]
    pub fn pairs(&self) -> Range<u64> {
        let pairs = u64::from(self.terms.pairs);
        let first = u64::from(self.done) * pairs;
        first..first + if self.is_complete() { 0 } else { pairs }
    }

    /// The two settings that play a pair of the next iteration.
    #[must_use]
    pub fn probe(&self, pair: u64) -> Probe {
        self.spsa.probe(pair)
    }

    /// Where a pair begins.
    ///
    /// # Errors
    /// There is no opening.
    pub fn opening(&self, pair: u64) -> Result<Arc<dyn AnyRoot>, TrialError> {
        Ok(self.terms.games.opening(self.start, self.terms.drawn(pair, 0))?)
    }

    /// Learns from the results of the next iteration's pairs, wherever they were played: in each the points
    /// of [`Probe::plus`](spsa::Probe::plus), from -2 to 2.
    ///
    /// # Panics
    /// If there is not one result for each pair.
    pub fn take(&mut self, results: Vec<i32>) -> Iteration {
        assert_eq!(
            results.len() as u64,
            self.pairs().end - self.pairs().start,
            "an iteration is taken whole"
        );
        self.learn(&results);
        Iteration { number: self.done, results, values: self.values() }
    }

    /// Plays the iterations that are left, and gives each to `finished` with the tuning after it. Once `halt`
    /// is raised no further move is searched, and an unfinished iteration is dropped.
    ///
    /// # Errors
    /// The first error of `finished`, or that a game could not be played.
    pub fn run(
        &mut self,
        threads: usize,
        halt: &AtomicBool,
        mut finished: impl FnMut(&Self, Iteration) -> std::io::Result<()>,
    ) -> Result<(), TrialError> {
        while !self.is_complete() {
            let Some(results) = self.play(threads, halt)? else { break };
            let iteration = self.take(results);
            finished(self, iteration)?;
        }
        Ok(())
    }

    fn learn(&mut self, results: &[i32]) {
        self.spsa.learn(results);
        self.done += 1;
    }

    /// The results of the next iteration's pairs; none if it was halted.
    fn play(&self, threads: usize, halt: &AtomicBool) -> Result<Option<Vec<i32>>, TrialError> {
        let pairs = self.terms.pairs as usize;
        let results = trials::play(2 * pairs, threads, halt, |game| {
            self.game(u64::from(self.done) * pairs as u64 + game as u64 / 2, game % 2 == 1, halt)
        })?;
        Ok(results.map(|games| games.chunks(2).map(|pair: &[i32]| pair.iter().sum()).collect()))
    }

    /// The points of `plus` in a game of a pair, in the `second` of which it is p2; none if the game was
    /// halted.
    fn game(&self, pair: u64, second: bool, halt: &AtomicBool) -> Result<Option<i32>, TrialError> {
        let opening = self.opening(pair)?;
        let trial = Trial { terms: &self.terms, entry: self.entry, pair, opening: opening.as_ref() };
        Ok(trial.play(&self.probe(pair), second, halt)?.map(|(points, _)| points))
    }
}
