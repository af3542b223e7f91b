//! Tunes evaluation weights by self-play (SPSA): games between settings that differ a little, in this
//! process.
//!
//! In reading order: [`spsa`] (the numbers), [`terms`] (what a tuning is, and the lines of its file), `game`.
//! Which settings meet, their openings and their chance follow from the seed and the games before, so an
//! interrupted tuning resumes as if it had not been, whatever the number of threads. It reads no
//! clock.

mod game;
pub mod spsa;
pub mod terms;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plyd_protocol::Settings;

use crate::trials::{self, Start, TrialError};
use game::Limits;
use plyd_bridge as bridge;
use plyd_core::engine::settings::{self, Caps};
use plyd_core::engine::{AnyRoot, Entry, Fault};
use plyd_core::options::Options;
use plyd_core::zobrist::mix;
use spsa::{Probe, Spsa};
use terms::{Iteration, Line, Terms};

/// MiB of a player's table: what some thousand nodes a move fill.
const HASH_MB: usize = 16;

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
    /// At the beginning.
    ///
    /// # Errors
    /// No opening, or no player.
    pub fn new(entry: &'static Entry, terms: Terms, start: &'a Start<'a>) -> Result<Self, TrialError> {
        let spsa = Spsa::new(terms.parameters(), terms.gains(), terms.games.seed.0);
        let tuning = Self { entry, terms, start, spsa, done: 0 };
        // Mistakes are reported before the first game.
        let opening = tuning.opening(0)?;
        drop(opening.engine(&tuning.player(&tuning.spsa.values(), 0)?)?);
        Ok(tuning)
    }

    /// On what terms.
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

    /// Learns from a line that was kept, the `number`th of its file, counted from 0.
    ///
    /// # Errors
    /// Why it is none of this tuning, for people.
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
            self.learn(&results);
            let iteration = Iteration { number: self.done, results, values: self.values() };
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

    /// A game of a pair from the view of the setting whose points count, which is p2 in the `second` one;
    /// none if it was halted.
    fn game(&self, pair: u64, second: bool, halt: &AtomicBool) -> Result<Option<i32>, TrialError> {
        let Probe { plus, minus } = self.spsa.probe(pair);
        let opening = self.opening(pair)?;
        let own = self.drawn(pair, if second { 3 } else { 2 });
        let [plus, minus] = [self.player(&plus, own)?, self.player(&minus, mix(own))?];
        let players = if second { [&minus, &plus] } else { [&plus, &minus] };
        let limits = Limits { nodes: self.terms.nodes, moves: self.terms.games.max_moves };
        let points = game::play(opening.as_ref(), players, limits, self.drawn(pair, 1), halt)?;
        Ok(points.map(|points| if second { -points } else { points }))
    }

    /// A number of the pair: 0 draws its opening, 1 its chance, 2 and 3 the players of its games.
    fn drawn(&self, pair: u64, which: u64) -> u64 {
        mix(self.terms.games.seed.0.wrapping_add(mix(4 * pair + which + 1)))
    }

    fn opening(&self, pair: u64) -> Result<Arc<dyn AnyRoot>, TrialError> {
        Ok(self.terms.games.opening(self.start, self.drawn(pair, 0))?)
    }

    /// The options of a setting.
    fn player(&self, values: &[i64], seed: u64) -> Result<Options, Fault> {
        let mut given: Settings = self.terms.options.clone();
        given.insert("eval", self.terms.games.evaluator.as_str());
        given.insert("deterministic", true);
        for (weight, &value) in self.terms.weights.iter().zip(values) {
            given.insert(weight.name.as_str(), value);
        }
        settings::options(self.entry, &bridge::given(&given), seed, Caps { threads: 1, hash_mb: HASH_MB })
    }
}
