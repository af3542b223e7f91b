//! `plyd tune`: better weights for an evaluation, by games in this process.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::archive::{Archive, ArchiveError};
use crate::columns::{Columns, grouped};
use crate::engine::{AnyRoot, Entry};
use crate::games::REGISTRY;
use crate::settings;
use crate::tune::terms::{Iteration, Line, Terms, Weight, weights};
use crate::tune::{TuneError, Tuning, tunable};
use crate::weights::Tunable;
use plyd_protocol::{MAX_INT, Seed, Settings};
use serde::Serialize;

use super::failure::Failure;
use super::interrupt::Halt;
use super::position::{PositionArgs, told_options};
use super::progress::Progress;
use super::{build, parse, write_json};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd tune ijk --rules size=4 --nodes 1000 --state ijk.jsonl --out src/games/ijk/weights.txt
  plyd tune isolation --eval territory --rules preset=7x7 --option solver=false --iterations 1000 --threads 2
  plyd tune sudoku --weights parity --option parity=2000 --nodes 2000 --json

The weights of an evaluator are options of the game's players (`plyd describe GAME`). Pairs of games are played between two \
settings that differ from the present one by a step either way, each opening from both sides, and the weights move towards \
the winner (SPSA). The same arguments give the same weights, whatever the threads; the same command with the same --state \
file goes on where it was ended. Confirm what it finds by games: plyd arena GAME --player default,WEIGHT=N,nodes=N \
--player default,nodes=N --sprt elo0=0,elo1=10.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// The evaluator [default: the game's first that has weights]
    #[arg(long, value_name = "NAME")]
    eval: Option<String>,
    /// The weights to tune [default: all of the evaluator]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    weights: Vec<String>,
    /// Options of both players; of a weight that is tuned, the value to begin with
    #[arg(long = "option", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse::assignment)]
    options: Vec<(String, String)>,
    /// Positions to visit for each move
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=MAX_INT as u64))]
    nodes: u64,
    /// How often the weights are changed
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    iterations: u32,
    /// Pairs of games between two changes
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pairs: u32,
    /// Random moves with which each pair of games begins
    #[arg(long, value_name = "N", default_value_t = 4)]
    random_plies: u16,
    /// The moves after which a game that goes on is a draw
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    max_moves: u32,
    /// How far the settings of the last pair lie from the weights, in percent of their ranges
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = |text: &str| share(text, 50.0))]
    step: f64,
    /// By what part of its step a weight moves for one won game of the last pair
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = |text: &str| share(text, 1.0))]
    rate: f64,
    /// The seed of openings, of chance, of the players' choices and of the settings: 1 to 16 hexadecimal digits
    #[arg(long, value_name = "HEX", default_value = "0", value_parser = parse::seed)]
    seed: Seed,
    /// Games played at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Append a line of JSON for each change of the weights to this file, and go on from those that it has
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write the weights to this file once all games are played [default: print them]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What a tuning came to, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Report<'t> {
    #[serde(flatten)]
    terms: &'t Terms,
    /// The games so far.
    games: u64,
    /// All games.
    scheduled: u64,
    /// The weights so far, by their names.
    tuned: Settings,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let entry = args.position.entry()?;
    let tunable = evaluator(entry, args.eval.as_deref())?;
    let terms = terms(args, entry, tunable)?;
    // Mistakes in the arguments are told as such, not as a start that cannot be drawn.
    args.position.open()?;
    let start = |seed| -> Result<Arc<dyn AnyRoot>, String> {
        args.position.open_drawn(seed).map_err(|failure| failure.to_string())
    };
    let mut tuning = Tuning::new(entry, terms, &start).map_err(failure)?;
    let mut archive = args.state.as_deref().map(|path| archive(path, &mut tuning)).transpose()?;
    if !tuning.is_complete() {
        let halt = Halt::on_interrupt()?;
        let mut progress = Progress::new(tuning.terms().games(), tuning.games());
        let finished = |tuning: &Tuning<'_>, iteration: Iteration| {
            progress.show(tuning.games(), &standing(tuning));
            archive.as_mut().map_or(Ok(()), |archive| archive.append(&Line::Iteration(iteration)))
        };
        tuning.run(args.threads.into(), halt.flag(), finished).map_err(failure)?;
    }
    let file = tuning.terms().file(tunable, &tuning.values(), tuning.games());
    match &args.out {
        Some(path) if tuning.is_complete() => fs::write(path, &file)
            .map_err(|error| Failure::Failed(format!("--out {}: {error}", path.display())))?,
        _ => (),
    }
    if args.json { write_json(out, &report(&tuning)) } else { show(args, &tuning, &file, out) }
}

/// The evaluator's weights.
fn evaluator(entry: &'static Entry, name: Option<&str>) -> Result<&'static Tunable, Failure> {
    tunable(entry, name).ok_or_else(|| {
        let is_known = name.is_none_or(|name| entry.evaluators.iter().any(|known| known.name == name));
        let problem = match name {
            Some(name) if is_known => format!("the evaluator `{name}` of {} has no weights", entry.name),
            Some(name) => format!("{} has no evaluator `{name}`", entry.name),
            None => format!("no evaluator of {} has weights", entry.name),
        };
        let with = REGISTRY
            .iter()
            .flat_map(|entry| entry.tunable.iter().map(move |one| (entry.name, one.evaluator)));
        let with: Vec<String> = with.map(|(game, evaluator)| format!("{game} {evaluator}")).collect();
        Failure::Usage(format!("{problem}; these have: {}", with.join(", ")))
    })
}

/// What the arguments ask for.
fn terms(args: &Args, entry: &'static Entry, tunable: &Tunable) -> Result<Terms, Failure> {
    for name in &args.weights {
        if !tunable.weights.iter().any(|spec| spec.name == name) {
            let known: Vec<&str> = tunable.weights.iter().map(|spec| spec.name).collect();
            let (evaluator, known) = (tunable.evaluator, known.join(", "));
            return Err(Failure::Usage(format!("`{evaluator}` has no weight `{name}`; it has: {known}")));
        }
    }
    let mut options = told_options(entry, &args.options);
    settings::check_options(entry, &options)?;
    if options.get("eval").is_some() {
        return Err(Failure::Usage("the evaluator is given by --eval, not by --option eval=".to_owned()));
    }
    let tuned = weights(
        tunable,
        |name| args.weights.is_empty() || args.weights.iter().any(|one| one == name),
        &options,
    );
    options.0.retain(|name, _| !tuned.iter().any(|weight| weight.name == *name));
    let (position, moves) = args.position.placed();
    Ok(Terms {
        game: entry.name.to_owned(),
        position,
        moves,
        rules: args.position.told_rules()?,
        evaluator: tunable.evaluator.to_owned(),
        weights: tuned,
        options,
        nodes: args.nodes,
        iterations: args.iterations,
        pairs: args.pairs,
        random_plies: args.random_plies,
        max_moves: args.max_moves,
        rate: args.rate,
        step_percent: args.step,
        seed: args.seed,
        build: std::env::current_exe().ok().and_then(|program| build::of(&program)),
    })
}

/// The file of the tuning, whose iterations it has learned from afterwards.
fn archive(path: &Path, tuning: &mut Tuning<'_>) -> Result<Archive, Failure> {
    let mut lines = 0;
    let opened = Archive::open(path, |line: Line| {
        lines += 1;
        tuning.recall(lines - 1, &line)
    });
    let refused = |error: ArchiveError| {
        let advice = match error {
            ArchiveError::Line { .. } => "; give the arguments of the tuning that it holds, or another file",
            _ => "",
        };
        Failure::Usage(format!("--state {}: {error}{advice}", path.display()))
    };
    let mut archive = opened.map_err(refused)?;
    if lines == 0 {
        archive.append(&Line::Terms(tuning.terms().clone()))?;
    }
    Ok(archive)
}

/// The weights so far in a line.
fn standing(tuning: &Tuning<'_>) -> String {
    let weights = tuning.terms().weights.iter().zip(tuning.values());
    weights.map(|(weight, value)| format!("{} {value}", weight.name)).collect::<Vec<_>>().join(", ")
}

fn report<'t>(tuning: &'t Tuning<'_>) -> Report<'t> {
    let terms = tuning.terms();
    let tuned =
        terms.weights.iter().zip(tuning.values()).map(|(weight, value)| (weight.name.as_str(), value));
    Report { terms, games: tuning.games(), scheduled: terms.games(), tuned: tuned.collect() }
}

fn show(args: &Args, tuning: &Tuning<'_>, file: &str, out: &mut impl Write) -> Result<(), Failure> {
    let terms = tuning.terms();
    let mut table = Columns::new(["weight", "before", "now", "smallest", "largest"]);
    for (Weight { name, start, min, max }, value) in terms.weights.iter().zip(tuning.values()) {
        table.row([name.clone(), start.to_string(), value.to_string(), min.to_string(), max.to_string()]);
    }
    writeln!(out, "{table}\ngames: {} of {}", grouped(tuning.games()), grouped(terms.games()))?;
    match &args.out {
        _ if !tuning.is_complete() => Ok(writeln!(out, "with --state the same command goes on")?),
        Some(path) => Ok(writeln!(out, "the weights are in {}", path.display())?),
        None => Ok(write!(out, "\n{file}")?),
    }
}

fn failure(error: TuneError) -> Failure {
    match error {
        TuneError::Opening(_) => Failure::Usage(error.to_string()),
        TuneError::Player(fault) => fault.into(),
        TuneError::Io(error) => error.into(),
    }
}

/// A number above 0.
fn share(text: &str, most: f64) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| 0.0 < *number && *number <= most);
    number.ok_or_else(|| format!("give a number above 0, at most {most}"))
}
