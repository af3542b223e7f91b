//! What tunings and trainings have in common: games of the engine against itself that follow from a seed and
//! their number, played at once by any number of threads, and the terms on which they are played.

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use plyd_protocol::{Seed, Setting, Settings};
use serde::{Deserialize, Serialize};

use crate::{NoOpening, openings};
use plyd_bridge as bridge;
use plyd_core::engine::{AnyRoot, Fault};

/// Draws where a game begins, by a seed.
pub type Start<'a> = dyn Fn(u64) -> Result<Arc<dyn AnyRoot>, String> + Sync + 'a;

/// Why no further games can be played.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// There is no opening.
    #[error(transparent)]
    Opening(#[from] NoOpening),
    /// A player cannot be made, or cannot play.
    #[error("{}{}", .0.message, bridge::at(.0))]
    Player(Fault),
    /// What was learned could not be kept.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl From<Fault> for TrialError {
    fn from(fault: Fault) -> Self {
        Self::Player(fault)
    }
}

/// The part of the terms that is the same whatever is learned.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Games {
    /// The game.
    pub game: String,
    /// Where games begin; none: the rules' initial position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The moves played since that position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moves: Vec<String>,
    /// The rules that were given.
    pub rules: Settings,
    /// The evaluator.
    pub evaluator: String,
    /// Random moves with which games begin.
    pub random_plies: u16,
    /// Moves after which an unfinished game is a draw.
    pub max_moves: u32,
    /// The seed.
    pub seed: Seed,
    /// What distinguishes the program from another build of it, if that is known.
    pub build: Option<String>,
}

impl Games {
    /// The name of each part on the command line, and whether it differs from the other's.
    pub(crate) fn differences(&self, other: &Self) -> [(bool, &'static str); 9] {
        [
            (self.game != other.game, "game"),
            (self.position != other.position, "--position"),
            (self.moves != other.moves, "--moves"),
            (self.rules != other.rules, "--rules"),
            (self.evaluator != other.evaluator, "--eval"),
            (self.random_plies != other.random_plies, "--random-plies"),
            (self.max_moves != other.max_moves, "--max-moves"),
            (self.seed != other.seed, "--seed"),
            (self.build != other.build, "build of this program"),
        ]
    }

    /// The command that gives these terms with some more flags, those without a value left out.
    #[must_use]
    pub(crate) fn command(&self, verb: &str, more: &[(&str, String)]) -> String {
        let mut text = format!("plyd {verb} {}", self.game);
        let placed = [
            ("position", self.position.as_ref().map_or_else(String::new, |text| format!("'{text}'"))),
            ("moves", self.moves.join(" ")),
            ("rules", list(&self.rules)),
            ("eval", self.evaluator.clone()),
        ];
        let played = [
            ("random-plies", self.random_plies.to_string()),
            ("max-moves", self.max_moves.to_string()),
            ("seed", self.seed.to_string()),
        ];
        for (flag, value) in placed.iter().chain(more).chain(&played) {
            if !value.is_empty() {
                let _strings_take_all = write!(text, " --{flag} {value}");
            }
        }
        text
    }

    /// An opening drawn by a seed.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn opening(&self, start: &Start<'_>, seed: u64) -> Result<Arc<dyn AnyRoot>, NoOpening> {
        let drawn = openings(|_, random| start(random.next()), self.random_plies.into(), 1, seed)?;
        Ok(drawn.into_iter().next().expect("one was asked for"))
    }
}

/// Settings as the command line takes them.
#[must_use]
pub(crate) fn list(settings: &Settings) -> String {
    let named = settings.iter().map(|(name, value)| match value {
        Setting::Bool(value) => format!("{name}={value}"),
        Setting::Int(value) => format!("{name}={value}"),
        Setting::Text(text) => format!("{name}={text}"),
    });
    named.collect::<Vec<_>>().join(",")
}

/// The results of `count` games in their order, played by several threads at once; none if `halt` was raised
/// before all had begun, or if a game that saw it raised has no result.
///
/// # Errors
/// The first error of a game.
pub(crate) fn play<T: Send, E: Send>(
    games: usize,
    threads: usize,
    halt: &AtomicBool,
    game: impl Fn(usize) -> Result<Option<T>, E> + Sync,
) -> Result<Option<Vec<T>>, E> {
    let results = Mutex::new(Ok((0..games).map(|_| None).collect::<Vec<_>>()));
    let next = AtomicUsize::new(0);
    let play = || {
        while !halt.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= games {
                break;
            }
            let result = game(number);
            let mut all = results.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *all, result) {
                (Ok(all), Ok(result)) => all[number] = result,
                (Ok(_), Err(error)) => *all = Err(error),
                (Err(_), _) => break,
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(games) {
            scope.spawn(play);
        }
        play();
    });
    Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner)?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_games_whatever_the_threads() {
        let halt = AtomicBool::new(false);
        for threads in [1, 3, 20] {
            let squares = play(10, threads, &halt, |game| Ok::<_, ()>(Some(game * game)));
            assert_eq!(squares, Ok(Some((0..10).map(|game| game * game).collect())), "{threads}");
            let failed = play(10, threads, &halt, |game| if game == 7 { Err(game) } else { Ok(Some(())) });
            assert_eq!(failed, Err(7), "{threads}");
        }
    }

    #[test]
    fn games_that_were_halted_have_no_results() {
        let halt = AtomicBool::new(false);
        let results = play(10, 1, &halt, |game| {
            halt.store(game == 8, Ordering::Relaxed);
            Ok::<_, ()>(Some(game))
        });
        assert_eq!(results, Ok(None));
        let result = |game| Ok::<_, ()>(Some(game));
        assert_eq!(play(10, 2, &halt, result), Ok(None));
        // The last game was halted after it had begun.
        let halt = AtomicBool::new(false);
        assert_eq!(play(10, 1, &halt, |game| Ok::<_, ()>((game < 9).then_some(game))), Ok(None));
    }
}
