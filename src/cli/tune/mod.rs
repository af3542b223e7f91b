//! `plyd tune`: better weights for an evaluation, by games in this process or by those of workers.

#[cfg(feature = "fleet")]
mod nats;

use std::io::Write;
use std::path::Path;

use crate::arena::archive::{Archive, ArchiveError};
use crate::arena::tune::Tuning;
use crate::arena::tune::terms::{Iteration, Line, Terms, Weight, weights};
use crate::bridge;
use crate::cli::columns::{Columns, grouped};
use crate::engine::Entry;
use crate::engine::settings;
use crate::options::weights::Tunable;
use plyd_protocol::{MAX_INT, Settings};
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::interrupt::Halt;
use crate::cli::position::{once, option_settings, warn};
use crate::cli::progress::Progress;
use crate::cli::trials::{LEFT_OUT, TrialArgs, refused};
use crate::cli::{parse, write_json};

#[derive(Debug, clap::Args)]
#[cfg_attr(feature = "fleet", command(mut_arg("nats", |nats| nats.conflicts_with("threads"))))]
#[command(after_help = "\
Examples:
  plyd tune ijk --rules size=4 --nodes 1000 --state ijk.jsonl --out crates/games/ijk/src/weights.txt
  plyd tune isolation --eval territory --rules preset=7x7 --option solver=false --iterations 1000 --threads 2
  plyd tune sudoku --weights parity --option parity=2000 --nodes 2000 --json

The weights of an evaluator are options of the game's players (`plyd describe GAME`). Pairs of games are played between two \
settings that differ from the present one by a step either way, each opening from both sides, and the weights move towards \
the winner (SPSA). The same arguments give the same weights, whatever the threads; the same command with the same --state \
file resumes where it ended. Confirm the result by a match: plyd arena GAME --player default,WEIGHT=N,nodes=N \
--player default,nodes=N --sprt elo0=0,elo1=10.")]
pub(super) struct Args {
    #[command(flatten)]
    trials: TrialArgs,
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
    /// How far the settings of the last pair lie from the weights, in percent of their ranges
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = |text: &str| parse::share(text, 50.0))]
    step: f64,
    /// How far a weight moves for one won game of the last pair, as a part of its step
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = |text: &str| parse::share(text, 1.0))]
    rate: f64,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    queue: crate::cli::nats::QueueArgs,
}

/// Options that a tuning sets by itself, and what to give instead.
const OWN: [(&str, &str); 3] = [
    ("eval", "the evaluator is given by --eval"),
    ("threads", "a search has one thread; --threads plays games at once"),
    ("deterministic", "searches end by --nodes, and are so in any case"),
];

/// The result of a tuning, as `--json` prints it.
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
    let trials = &args.trials;
    let entry = trials.position.entry();
    let weighted = |entry: &'static Entry| entry.tunable().map(|one| one.evaluator).collect();
    let evaluator = trials.evaluator(weighted, "weights")?;
    let tunable = entry.tunable().find(|one| one.evaluator == evaluator).expect("it was found among them");
    #[cfg_attr(
        not(feature = "fleet"),
        expect(unused_mut, reason = "workers compare the build in another way")
    )]
    let mut terms = terms(args, entry, &tunable)?;
    #[cfg(feature = "fleet")]
    if args.queue.server().is_some() {
        terms.games.build = Some(crate::cli::signed_build::build(entry)?);
    }
    let start = |seed| trials.start(seed);
    let mut tuning = Tuning::new(entry, terms, &start)?;
    let mut archive = trials.state.as_deref().map(|path| archive(path, &mut tuning)).transpose()?;
    trials.try_out()?;
    let ended = if tuning.is_complete() {
        Ok(())
    } else {
        let halt = Halt::on_interrupt(interrupted(args))?;
        let mut progress = Progress::new(tuning.terms().scheduled(), tuning.games());
        let finished = |tuning: &Tuning<'_>, iteration: Iteration| {
            progress.show(tuning.games(), &standing(tuning));
            archive.as_mut().map_or(Ok(()), |archive| archive.append(&Line::Iteration(iteration)))
        };
        #[cfg(feature = "fleet")]
        if let Some(server) = args.queue.server() {
            let why = nats::run(&server, args.queue.ack_wait, entry, &mut tuning, &halt, finished)?;
            crate::cli::nats::check_cancelled(why)
        } else {
            Ok(tuning.run(trials.threads.into(), halt.flag(), finished)?)
        }
        #[cfg(not(feature = "fleet"))]
        Ok(tuning.run(trials.threads.into(), halt.flag(), finished)?)
    };
    let file = tuning.terms().file(&tunable, &tuning.values(), tuning.games());
    let written = trials.write(file.as_bytes(), tuning.is_complete());
    if trials.json {
        write_json(out, &report(&tuning))?
    } else {
        show(trials, &tuning, &file, written.is_ok(), out)?
    }
    written.and(ended)
}

/// What an interrupt does.
#[cfg(feature = "fleet")]
fn interrupted(args: &Args) -> &'static str {
    if args.queue.server().is_some() { crate::cli::nats::LEFT } else { LEFT_OUT }
}

/// What an interrupt does.
#[cfg(not(feature = "fleet"))]
fn interrupted(_: &Args) -> &'static str {
    LEFT_OUT
}

/// What the arguments ask for.
fn terms(args: &Args, entry: &'static Entry, tunable: &Tunable) -> Result<Terms, Failure> {
    for name in &args.weights {
        if !tunable.weights.list.iter().any(|spec| spec.name == name) {
            let known: Vec<&str> = tunable.weights.list.iter().map(|spec| spec.name).collect();
            let (evaluator, known) = (tunable.evaluator, known.join(", "));
            return Err(Failure::Usage(format!("`{evaluator}` has no weight `{name}`; it has: {known}")));
        }
    }
    let mut options = option_settings(entry, &args.options);
    warn(&settings::check_options(entry, &bridge::given(&options))?);
    once(&args.options, "--option")?;
    for (name, instead) in OWN {
        if options.get(name).is_some() {
            return Err(Failure::Usage(format!("--option {name}=: {instead}")));
        }
    }
    let tuned = weights(
        tunable,
        |name| args.weights.is_empty() || args.weights.iter().any(|one| one == name),
        &options,
    );
    options.0.retain(|name, _| !tuned.iter().any(|weight| weight.name == *name));
    Ok(Terms {
        games: args.trials.games(tunable.evaluator)?,
        weights: tuned,
        options,
        nodes: args.nodes,
        iterations: args.iterations,
        pairs: args.pairs,
        rate: args.rate,
        step_percent: args.step,
    })
}

/// The file of the tuning, whose iterations it has learned from afterwards.
fn archive(path: &Path, tuning: &mut Tuning<'_>) -> Result<Archive, Failure> {
    let mut lines = 0;
    let opened = Archive::open(path, |line: Line| {
        lines += 1;
        tuning.recall(lines - 1, &line)
    });
    let mut archive = opened.map_err(|error: ArchiveError| {
        refused(path, &error.to_string(), matches!(error, ArchiveError::Line { .. }))
    })?;
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
    Report { terms, games: tuning.games(), scheduled: terms.scheduled(), tuned: tuned.collect() }
}

/// For people; prints the file too if it is not written, so that nothing is lost.
fn show(
    trials: &TrialArgs,
    tuning: &Tuning<'_>,
    file: &str,
    is_written: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let terms = tuning.terms();
    let mut table = Columns::new(["weight", "before", "now", "smallest", "largest"]);
    for (Weight { name, start, min, max }, value) in terms.weights.iter().zip(tuning.values()) {
        table.row([name.clone(), start.to_string(), value.to_string(), min.to_string(), max.to_string()]);
    }
    writeln!(out, "{table}\ngames: {} of {}", grouped(tuning.games()), grouped(terms.scheduled()))?;
    match &trials.out {
        _ if !tuning.is_complete() => Ok(writeln!(out, "{}", trials.to_resume())?),
        Some(path) if is_written => Ok(writeln!(out, "the weights are in {}", path.display())?),
        _ => Ok(write!(out, "\n{file}")?),
    }
}
