//! `plyd train`: tables of an evaluation, learned from games in this process.

use std::io::{self, Write};
use std::path::Path;

use crate::arena::train::Training;
use crate::arena::train::terms::{Checkpoint, Terms};
use crate::cli::columns::grouped;
use serde::Serialize;

use super::failure::Failure;
use super::interrupt::Halt;
use super::progress::Progress;
use super::trials::{LEFT_OUT, TrialArgs, refused};
use super::{parse, write_json};

/// How often the standing is kept and printed, at most: a hundred times in all.
const PARTS: u32 = 100;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd train ijk --rules preset=v2-4x4 --games 1000
  plyd train ijk --rules preset=v2-4x4 --games 100000 --state ijk.json --out crates/games/ijk/src/tuples-det.bin
  plyd train ijk --rules preset=v2-4x4,mode=nondet --depth 1 --seed 7 --json

An evaluator with tables begins with empty ones and learns their entries by self-play of a shallow search \
(TD(lambda)). The build reads its tables from a file in the game's folder; --out writes such a file. The same \
arguments give the same file, whatever the threads; the same command with the same --state file resumes where it ended. \
To measure the gain, play games between two builds, or between two evaluators of one: plyd arena GAME \
--player default,eval=NAME,nodes=N --player default,eval=OTHER,nodes=N.")]
pub(super) struct Args {
    #[command(flatten)]
    trials: TrialArgs,
    /// All games
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    games: u32,
    /// Games between two changes of the tables
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    batch: u32,
    /// Depth to search each move to, in plies
    #[arg(long, value_name = "PLIES", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=32))]
    depth: u32,
    /// How much of a position's return is that of the next one (lambda); the rest is its own search value
    #[arg(long, value_name = "SHARE", default_value_t = 0.7, value_parser = |text: &str| parse::share(text, 1.0))]
    lambda: f64,
    /// The learning rate: the part of its error by which a position moves its own value in the first games;
    /// it falls to 0 towards the last
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = |text: &str| parse::share(text, 1.0))]
    rate: f64,
}

/// The result of a training, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Report<'t> {
    #[serde(flatten)]
    terms: &'t Terms,
    /// The games so far.
    games_played: u32,
    /// All weights.
    weights: usize,
    /// Those that are not 0.
    learned: usize,
    /// The largest magnitude of one.
    largest: u16,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let trials = &args.trials;
    let evaluator = trials.evaluator(|entry| entry.trainable().collect(), "tables")?;
    let terms = Terms {
        games: trials.games(evaluator)?,
        scheduled: args.games,
        batch: args.batch,
        depth: args.depth,
        lambda: args.lambda,
        rate: args.rate,
    };
    let start = |seed| trials.start(seed);
    let mut training = Training::new(terms, &start)?;
    if let Some(path) = &trials.state {
        recall(path, &mut training)?;
    }
    trials.try_out()?;
    if !training.is_complete() {
        play(trials, &mut training)?;
    }
    let written = trials.write(&training.file(), training.is_complete());
    if trials.json {
        write_json(out, &report(&training))?
    } else {
        show(trials, &training, written.is_ok(), out)?
    }
    written
}

/// Goes on from what a file has, if there is one.
fn recall(path: &Path, training: &mut Training<'_>) -> Result<(), Failure> {
    let kept = Checkpoint::read(path).map_err(|error| refused(path, &error.to_string(), false))?;
    kept.map_or(Ok(()), |kept| training.recall(kept)).map_err(|message| refused(path, &message, true))
}

/// Plays the games that are left; keeps and prints the standing now and then, and at the end.
fn play(trials: &TrialArgs, training: &mut Training<'_>) -> Result<(), Failure> {
    let keep = |training: &Training<'_>| -> io::Result<()> {
        trials.state.as_deref().map_or(Ok(()), |path| training.checkpoint().write(path))
    };
    let halt = Halt::on_interrupt(LEFT_OUT)?;
    let scheduled = training.terms().scheduled;
    let mut progress = Progress::new(scheduled.into(), training.games().into());
    let part = |games: u32| u64::from(games) * u64::from(PARTS) / u64::from(scheduled);
    let (mut shown, mut errors, mut batches) = (part(training.games()), 0.0, 0);
    let learned = |training: &Training<'_>, error: f64| {
        errors += error;
        batches += 1;
        if part(training.games()) == shown {
            return Ok(());
        }
        shown = part(training.games());
        let standing = format!("error {:.4}", errors / f64::from(batches));
        progress.show(training.games().into(), &standing);
        (errors, batches) = (0.0, 0);
        keep(training)
    };
    training.run(trials.threads.into(), halt.flag(), learned)?;
    keep(training)?;
    Ok(())
}

fn report<'t>(training: &'t Training<'_>) -> Report<'t> {
    let weights = training.weights();
    Report {
        terms: training.terms(),
        games_played: training.games(),
        weights: weights.len(),
        learned: weights.iter().filter(|&&weight| weight != 0).count(),
        largest: weights.iter().map(|weight| weight.unsigned_abs()).max().unwrap_or_default(),
    }
}

fn show(
    trials: &TrialArgs,
    training: &Training<'_>,
    is_written: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let Report { terms, games_played, weights, learned, largest } = report(training);
    writeln!(
        out,
        "weights: {}, {} of them learned, the largest {largest}",
        grouped(weights as u64),
        grouped(learned as u64)
    )?;
    writeln!(out, "games: {} of {}", grouped(games_played.into()), grouped(terms.scheduled.into()))?;
    match &trials.out {
        _ if !training.is_complete() => Ok(writeln!(out, "{}", trials.to_resume())?),
        Some(path) if is_written => {
            Ok(writeln!(out, "the tables of {} are in {}", terms.command(), path.display())?)
        }
        _ => Ok(writeln!(out, "with --out the tables are written to a file")?),
    }
}
