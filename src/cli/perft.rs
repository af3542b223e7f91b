//! `plyd perft`: counts of the positions that the rules lead to, to compare with other implementations.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::cli::columns::{Columns, grouped};
use crate::engine::{AnyRoot, Counting};
use crate::search::Control;
use serde::Serialize;

use super::failure::Failure;
use super::position::PositionArgs;
use super::{words, write_json};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd perft {isolation} 4
  plyd perft {l-game} 3 --divide
  plyd perft l-game 8 --cached
  plyd perft isolation 3 --rules width=5,height=5 --json

Chance outcomes count like moves. A position where the game is over counts at its own depth only.")]
pub(super) struct Args {
    #[command(flatten)]
    position: PositionArgs,
    /// The largest number of plies to count to
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    depth: u32,
    /// Also split the last count by first move
    #[arg(long)]
    divide: bool,
    /// Remember the count behind each position instead of walking it again: the same totals, at depths that
    /// are out of reach otherwise. The times then say nothing about the speed of the rules
    #[arg(long)]
    cached: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    game: &'static str,
    position: String,
    counts: Vec<Count>,
    #[serde(skip_serializing_if = "Option::is_none")]
    divide: Option<Vec<Share>>,
}

/// The positions after some plies.
#[derive(Debug, Serialize)]
struct Count {
    depth: u32,
    nodes: u64,
    time_us: u64,
    nps: u64,
}

/// The positions behind one first move.
#[derive(Debug, Serialize)]
struct Share {
    #[serde(rename = "move")]
    mv: String,
    nodes: u64,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let root = args.position.open()?;
    let counting = if args.cached { Counting::Cached } else { Counting::Plain };
    let counted = (1..=args.depth).map(|depth| count(root.as_ref(), depth, counting));
    let counts: Vec<Count> = counted.take_while(|count| count.nodes < u64::MAX).collect();
    // `u64::MAX` stands for all that is more, so that it says nothing.
    let beyond = (counts.len() < args.depth as usize).then_some(counts.len() + 1);
    let divide =
        (args.divide && beyond.is_none()).then(|| divide(root.as_ref(), args.depth, counting)).transpose()?;
    let report = Report { game: root.entry().name, position: root.text(), counts, divide };
    if args.json { write_json(out, &report) } else { show(&report, out) }?;
    match beyond {
        None => Ok(()),
        Some(depth) => Err(Failure::Failed(format!("depth {depth} has more positions than can be counted"))),
    }
}

fn count(root: &dyn AnyRoot, depth: u32, counting: Counting) -> Count {
    let began = Instant::now();
    let nodes = root.perft(depth, counting, &Control::default());
    let time = began.elapsed();
    Count { depth, nodes, time_us: time.as_micros() as u64, nps: words::per_second(nodes, time) }
}

fn divide(root: &dyn AnyRoot, depth: u32, counting: Counting) -> Result<Vec<Share>, Failure> {
    let first = root.legal().into_iter().chain(root.chance().into_iter().map(|chance| chance.mv));
    first
        .map(|mv| {
            let after = root.extend(std::slice::from_ref(&mv))?;
            Ok(Share { nodes: after.perft(depth - 1, counting, &Control::default()), mv })
        })
        .collect()
}

fn show(report: &Report, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}\n", report.game, report.position)?;
    let mut table = Columns::new(["depth", "positions", "time", "a second"]);
    for count in &report.counts {
        let time = words::time(Duration::from_micros(count.time_us));
        table.row([count.depth.to_string(), grouped(count.nodes), time, grouped(count.nps)]);
    }
    write!(out, "{table}")?;
    if let Some(shares) = &report.divide {
        let mut table = Columns::new(["first move", "positions"]);
        for share in shares {
            table.row([share.mv.clone(), grouped(share.nodes)]);
        }
        write!(out, "\n{table}")?;
    }
    Ok(())
}
