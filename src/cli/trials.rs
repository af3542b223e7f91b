//! What `plyd tune` and `plyd train` have in common: the arguments that say which games are played and where
//! what they teach is kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arena::trials::{Games, TrialError};
use crate::engine::settings::Renamed;
use crate::engine::{AnyRoot, Entry, Place};
use crate::game::Named;
use plyd_protocol::Seed;

use super::failure::Failure;
use super::position::{PositionArgs, warn};
use super::{build, output, parse, registry, words};

/// What an interrupt does.
pub(super) const LEFT_OUT: &str =
    "the games in progress are abandoned and not counted; interrupt again to end at once";

#[derive(Debug, clap::Args)]
pub(super) struct TrialArgs {
    #[command(flatten)]
    pub(super) position: PositionArgs,
    /// The evaluator [default: the game's first whose numbers can be learned]
    #[arg(long, value_name = "NAME")]
    pub(super) eval: Option<String>,
    /// Random moves with which games begin
    #[arg(long, value_name = "N", default_value_t = 4)]
    random_plies: u16,
    /// Moves after which an unfinished game is a draw
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: u32,
    /// The random seed: 1 to 16 hexadecimal digits
    #[arg(long, value_name = "HEX", default_value = "0", value_parser = parse::seed)]
    seed: Seed,
    /// Games played at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) threads: u16,
    /// Keep what was learned so far in this file, and resume from it
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
    /// Write the result to this file once all games are played
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl TrialArgs {
    /// The evaluator asked for among those of a game that `learns` names; without a name, the first of them.
    ///
    /// # Errors
    /// There is none; `has` is what it would have.
    pub(super) fn evaluator(
        &self,
        learns: impl Fn(&'static Entry) -> Vec<&'static str>,
        has: &str,
    ) -> Result<&'static str, Failure> {
        let (entry, given) = (self.position.entry(), self.eval.as_deref());
        let known = given.and_then(|name| Named::find(entry.evaluators(), name));
        let name = known.map_or(given, |known| Some(known.name));
        if let Some(found) = learns(entry).into_iter().find(|known| name.is_none_or(|name| name == *known)) {
            warn(known.zip(given).and_then(|(known, given)| Renamed::new("eval", known, given)).as_slice());
            return Ok(found);
        }
        let problem = match name {
            Some(name) if known.is_some() => format!("the evaluator `{name}` of {} has no {has}", entry.name),
            Some(name) => format!("{} has no evaluator `{name}`", entry.name),
            None => format!("no evaluator of {} has {has}", entry.name),
        };
        let with = registry::games().iter().flat_map(|entry| {
            learns(entry).into_iter().map(move |evaluator| format!("{} {evaluator}", entry.name))
        });
        let others = words::others(with, "these have", &format!("no other game has an evaluator with {has}"));
        Err(Failure::Usage(format!("{problem}; {others}")))
    }

    /// The games of the arguments.
    pub(super) fn games(&self, evaluator: &str) -> Result<Games, Failure> {
        let (position, moves) = self.position.placed();
        // Mistakes in the arguments are reported as such, not as a start that cannot be drawn.
        self.position.open()?;
        Ok(Games {
            game: self.position.entry().name.to_owned(),
            position,
            moves,
            rules: self.position.rule_settings()?,
            evaluator: evaluator.to_owned(),
            random_plies: self.random_plies,
            max_moves: self.max_moves,
            seed: self.seed,
            build: std::env::current_exe().ok().and_then(|program| build::of(&program)),
        })
    }

    /// Where games begin, drawn by a seed.
    pub(super) fn start(&self, seed: u64) -> Result<Arc<dyn AnyRoot>, String> {
        self.position.open_drawn(seed).map_err(|failure| failure.to_string())
    }

    /// Checks before the first game that the result can be written: to a file that keeps it and is not the
    /// file of the state.
    pub(super) fn try_out(&self) -> Result<(), Failure> {
        let Some(path) = &self.out else { return Ok(()) };
        output::try_path("--out", path, self.state.as_deref().map(|state| (output::GAMES, state)))
    }

    /// How to go on if games are left.
    pub(super) fn to_resume(&self) -> String {
        words::to_resume("--state", self.state.is_some())
    }

    /// Writes what was learned to the file of `--out`, if all games are played.
    ///
    /// # Errors
    /// It is not written: programs that go on with the file shall know.
    pub(super) fn write(&self, learned: &[u8], is_complete: bool) -> Result<(), Failure> {
        let Some(path) = &self.out else { return Ok(()) };
        let failed =
            |why: &dyn std::fmt::Display| Failure::Failed(format!("--out {}: {why}", path.display()));
        if !is_complete {
            return Err(failed(&format!(
                "not written, because games are left to play: {}",
                self.to_resume()
            )));
        }
        std::fs::write(path, learned).map_err(|error| failed(&error))
    }
}

/// A state file from which the work cannot resume.
pub(super) fn refused(path: &Path, message: &str, is_other: bool) -> Failure {
    let advice = if is_other { "; give the arguments of the run that it holds, or another file" } else { "" };
    Failure::Usage(format!("--state {}: {message}{advice}", path.display()))
}

impl From<TrialError> for Failure {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Opening(_) => Self::Usage(error.to_string()),
            // The evaluator is no option here, and what is wrong with it says what to give.
            TrialError::Player(fault) if fault.place == Place::Option("eval".into()) => {
                Self::Usage(fault.message)
            }
            TrialError::Player(fault) => fault.into(),
            TrialError::Io(error) => error.into(),
        }
    }
}
