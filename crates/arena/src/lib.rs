//! Matches between players: processes that speak the protocol, and a referee that trusts neither of them.
//!
//! The referee keeps its own copy of each game through [`AnyRoot`], asks each player in turn, reads its own
//! clock, and notes every move with its time and score. It knows no game and no search: what it knows of a
//! player is the lines that its process writes.
//!
//! # Where to begin
//!
//! A [`Match`] says who plays what, from which [`openings`] and how strictly it is refereed; [`Match::run`]
//! plays it and gives each [`PlayedGame`] away as it ends, which a [`Summary`] counts. [`statistics`] say
//! what the counts are worth, whoever played the games:
//!
//! ```
//! use plyd_arena::statistics::Pairs;
//! use plyd_arena::statistics::sprt::{Model, Sprt, Verdict};
//!
//! // The points of pairs of games with sides swapped, in half points.
//! let mut pairs = Pairs::default();
//! for half_points in [3, 2, 4, 3, 2, 3, 1, 4] {
//!     pairs.add(half_points);
//! }
//! let elo = pairs.elo().expect("not all pairs are alike");
//! println!("{:.0} Elo, a 95 % interval of {:.0} around it", elo.value, elo.error);
//! let test = Sprt::new(0.0, 20.0, 0.05, 0.05, Model::Logistic)?;
//! assert_eq!(test.verdict(&pairs), Verdict::Continue);
//! # Ok::<(), plyd_arena::statistics::sprt::InvalidSprt>(())
//! ```
//!
//! [`tune`] finds better weights of an evaluation and [`train`] its tables, both by games.

// The files of matches and tunings, which the commands open.
#[doc(hidden)]
pub mod archive;
mod clock;
mod cores;
mod game;
mod link;
mod opening;
mod played;
mod player;
mod proof;
pub mod referee;
mod schedule;
mod seat;
mod stalls;
pub mod statistics;
mod summary;
pub mod train;
pub mod trials;
pub mod tune;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use plyd_protocol::{Seed, Settings};
use serde::{Deserialize, Serialize};

use plyd_bridge as bridge;
use plyd_core::engine::{AnyRoot, Entry};

pub use clock::{GameClock, TimeControl};
pub use cores::{Cores, CoresError};
pub use opening::{NoOpening, drawn, openings, settle};
pub use played::{Answered, Contradiction, Entrant, Forfeit, PlayedGame, Unplayed};
pub use player::{Address, Player, Program};
pub use plyd_protocol::client::Reaper;
pub use referee::{Fault, FaultKind};
pub use schedule::{Fixture, Format, Schedule};
pub use stalls::Stalls;
pub use summary::{Conduct, PairingResult, Summary};

use game::Table;

/// How often a game is begun if a player's server is overloaded meanwhile.
const ATTEMPTS: usize = 3;

/// A match: each opening is played twice by each two players who meet, with sides swapped.
///
/// ```no_run
/// use std::collections::HashSet;
/// use std::convert::Infallible;
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
/// use std::time::Duration;
///
/// use plyd_arena::{Address, Match, NoOpening, Player, Program, Summary, TimeControl, openings};
/// use plyd_core::play::Position;
/// use plyd_protocol::Settings;
///
/// let plyd = Address::Program(Program { path: "plyd".into(), arguments: Vec::new() });
/// let time = TimeControl::PerMove(Duration::from_millis(50));
/// let strong = Player { time, ..Player::new("strong", plyd.clone()) };
/// let weak = Player { time, options: Settings::from_iter([("level", 3)]), ..Player::new("weak", plyd) };
///
/// // Ten openings of two random moves, each played twice with sides swapped.
/// let start = Position::start(&plyd_games::isolation::ENTRY);
/// let openings = openings(|_, _| Ok::<_, NoOpening>(Arc::clone(start.root())), 2, 10, 0)?;
/// let games = Match::new(start.game(), vec![strong, weak], openings);
/// games.try_players()?;
///
/// let mut summary = Summary::new(&games.schedule, games.players.len());
/// let Ok(()) = games.run(&HashSet::new(), &AtomicBool::new(false), |game| {
///     match game {
///         Ok(game) => {
///             println!("game {}: {:?}", game.number, game.record.result);
///             summary.add(&game);
///         }
///         Err(unplayed) => summary.leave_out(&unplayed),
///     }
///     Ok::<_, Infallible>(())
/// });
/// if let Some(elo) = summary.pairings()[0].elo() {
///     println!("{:.0} Elo, and {:.0} around it", elo.value, elo.error);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Match {
    /// The game.
    pub game: &'static Entry,
    /// The rules that were given, as the players receive them.
    pub rules: Settings,
    /// The players.
    pub players: Vec<Player>,
    /// The pairings, and how often each is played.
    pub schedule: Schedule,
    /// The position where the games of each round begin, as many as the schedule has rounds.
    pub openings: Vec<Arc<dyn AnyRoot>>,
    /// How strict the referee is.
    pub strictness: Strictness,
    /// The seed of chance and of the players' own choices.
    pub seed: Seed,
    /// How many games are played at once.
    pub concurrency: usize,
    /// The cores of games that are played at once; none: the system decides.
    pub cores: Option<Cores>,
    /// What ends the players' processes if this one is killed; none: they see the end of their input.
    pub reaper: Option<Arc<Reaper>>,
    /// Measures for how long the machine stood still: an answer that is late by no more is forgiven. None:
    /// no answer is.
    pub stalls: Option<Stalls>,
}

/// What the referee allows.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_arena::Strictness;
///
/// let lenient = Strictness { margin: Duration::from_millis(5), ..Strictness::default() };
/// assert_eq!(lenient.max_moves, 500);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Strictness {
    /// How much later than its clock an answer may arrive.
    #[serde(rename = "margin_us", with = "micros")]
    pub margin: Duration,
    /// How long to wait for an answer beyond its clock and the margin, and for any other answer.
    #[serde(rename = "patience_us", with = "micros")]
    pub timeout: Duration,
    /// The moves after the opening after which an unfinished game is a draw.
    pub max_moves: usize,
    /// Which games end before their rules end them.
    pub adjudication: Adjudication,
    /// Whether to forgive an answer that is late by no more than the machine stood still.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgives_stalls: bool,
}

impl Default for Strictness {
    /// A late answer loses at once, a missing one is waited for 10 s, and a game of 500 moves is a draw.
    fn default() -> Self {
        Self {
            margin: Duration::ZERO,
            timeout: Duration::from_secs(10),
            max_moves: 500,
            adjudication: Adjudication::Never,
            forgives_stalls: false,
        }
    }
}

/// Durations as whole microseconds.
mod micros {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}

/// When the referee decides a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjudication {
    /// Never.
    #[default]
    Never,
    /// When the latest answers of both players announce the same proven end.
    Proof,
}

/// A player that does not even begin.
#[derive(Debug, thiserror::Error)]
#[error("the player `{player}` cannot play: {fault}")]
pub struct StartError {
    /// The player's name.
    pub player: String,
    /// Why.
    pub fault: Fault,
}

impl Match {
    /// A round robin under the rules of the openings, one game at a time: each opening is a round.
    #[must_use]
    pub fn new(game: &'static Entry, players: Vec<Player>, openings: Vec<Arc<dyn AnyRoot>>) -> Self {
        let rules = openings.first().map_or_else(Settings::new, |opening| bridge::rules(&opening.rules()));
        Self {
            game,
            rules,
            schedule: Schedule::new(Format::RoundRobin, players.len(), openings.len()),
            players,
            openings,
            strictness: Strictness::default(),
            seed: Seed::default(),
            concurrency: 1,
            cores: None,
            reaper: None,
            stalls: None,
        }
    }

    /// Starts each player once, to report mistakes in its options before they lose a game.
    ///
    /// # Errors
    /// The first player that does not take the game.
    pub fn try_players(&self) -> Result<(), StartError> {
        let mut table = Table::new(self, 0);
        (0..self.players.len()).try_for_each(|index| {
            let player = self.players[index].name.clone();
            table.begin(index, self.seed.0).map_err(|fault| StartError { player, fault })
        })
    }

    /// Whether a game that was played before belongs to this match.
    ///
    /// # Errors
    /// What does not fit, for people.
    pub fn owns(&self, game: &PlayedGame) -> Result<(), String> {
        let number = game.number;
        let fixture = number.checked_sub(1).and_then(|index| self.schedule.fixture(index));
        let Some(fixture) = fixture else {
            return Err(format!("game {number} is not among the {} of this match", self.schedule.games()));
        };
        for (entrant, index) in game.players.iter().zip(fixture.players) {
            let name = &self.players[index].name;
            if entrant.index != index || entrant.name != *name {
                return Err(format!("game {number} was played by `{}` instead of `{name}`", entrant.name));
            }
            if entrant.build != self.players[index].build {
                return Err(format!("game {number} was played by another build of `{name}`"));
            }
        }
        let (record, opening) = (&game.record, &self.openings[fixture.round]);
        let same_opening = record.start == opening.start_text()
            && game.opening == opening.played().len()
            && record.moves.starts_with(opening.played());
        let differs = match () {
            () if record.game != self.game.name => "is of another game",
            () if record.rules != bridge::rules(&opening.rules()) => "has other rules",
            () if game.seed != self.seed => "has another seed",
            () if game.terms != self.strictness => "was refereed on other terms",
            () if !same_opening => "has another opening",
            () => return Ok(()),
        };
        Err(format!("game {number} {differs}"))
    }

    /// Plays all games but those whose numbers, counted from 1, are in `played`, and gives each to `finished`
    /// when it ends, before the same table begins another; games that are played at once end in any order.
    /// No further game begins once `halt` is raised.
    ///
    /// A game in which a player's server is overloaded is played again from its beginning; at the third time
    /// it is left out, and given as [`Unplayed`].
    ///
    /// # Errors
    /// The first error of `finished`, after which no further game begins.
    pub fn run<E: Send>(
        &self,
        played: &HashSet<usize>,
        halt: &AtomicBool,
        finished: impl FnMut(Result<PlayedGame, Unplayed>) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let next = AtomicUsize::new(0);
        let judged = Mutex::new((finished, Ok(())));
        let judge = |game| {
            let (finished, result) = &mut *judged.lock().unwrap_or_else(PoisonError::into_inner);
            if result.is_ok() {
                *result = finished(game);
            }
            result.is_ok()
        };
        thread::scope(|scope| {
            for place in 0..self.concurrency.min(self.schedule.games() - played.len()) {
                let (next, judge) = (&next, &judge);
                scope.spawn(move || {
                    let mut table = Table::new(self, place);
                    let fixtures =
                        std::iter::from_fn(|| self.schedule.fixture(next.fetch_add(1, Ordering::Relaxed)));
                    for fixture in fixtures.filter(|fixture| !played.contains(&(fixture.number + 1))) {
                        if halt.load(Ordering::Relaxed) {
                            return;
                        }
                        let mut game = table.play(fixture);
                        for _again in 1..ATTEMPTS {
                            if game.is_ok() || halt.load(Ordering::Relaxed) {
                                break;
                            }
                            game = table.play(fixture);
                        }
                        if !judge(game) {
                            return;
                        }
                    }
                });
            }
        });
        judged.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}
