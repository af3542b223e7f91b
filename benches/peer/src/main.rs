//! How long plyd's search takes to a depth, beside the search of the crate `minimax`.
//!
//! Both search the same positions of knight Isolation by the same rules, hash and evaluation (the mover's
//! moves less the opponent's), each from an empty table of the same size, in turns, in one process. Their
//! values must be equal. Times are CPU time of the searching thread, the least of several rounds, and for
//! `minimax` the least over several settings of its options.

mod own;
mod peer;
mod positions;
mod report;
mod searched;

use std::io::{self, Write as _};

use clap::Parser;

use crate::peer::Settings;
use crate::positions::Rules;
use crate::report::{Report, Row};
use crate::searched::Searched;

/// Compares the speed of plyd's search with that of the crate minimax
#[derive(Debug, Parser)]
struct Args {
    /// The depths to search to
    #[arg(long, value_delimiter = ',', default_values_t = [14, 16])]
    depth: Vec<u32>,
    /// How often each search is run; the fastest counts
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// The size of both tables, in MiB
    #[arg(long, default_value_t = 64)]
    table: usize,
    /// Compare plyd on one thread with plyd on so many threads instead, by wall time
    #[arg(long)]
    threads: Option<usize>,
    /// Try all options of minimax to the first depth instead, and print the fastest
    #[arg(long)]
    options: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let mut out = io::stdout().lock();
    if args.options {
        return write!(out, "{}", try_options(args.depth[0], args.rounds, args.table));
    }
    let report = measure(&args);
    if args.json { writeln!(out, "{}", serde_json::to_string(&report)?) } else { write!(out, "{report}") }
}

/// Searches every position to every depth, both searches in turns.
fn measure(args: &Args) -> Report {
    let game = Rules::new(positions::WIDTH, positions::HEIGHT);
    let mut rows = Vec::new();
    for &depth in &args.depth {
        for (text, pos) in positions::all(&game) {
            let rounds = (0..args.rounds.max(1)).map(|_| {
                let own = own::search(&game, &pos, depth, args.table, 1);
                let other = match args.threads {
                    None => Settings::FASTEST
                        .map(|settings| peer::search(&pos, depth, args.table, settings))
                        .into_iter()
                        .reduce(Searched::faster)
                        .expect("there are settings"),
                    Some(threads) => own::search(&game, &pos, depth, args.table, threads),
                };
                // Threads share a table, so that entries of deeper searches may change an evaluation.
                assert!(args.threads.is_some() || own.value == other.value, "depth {depth} of {text}");
                (own, other)
            });
            let (own, other) = rounds
                .reduce(|best, round| (best.0.faster(round.0), best.1.faster(round.1)))
                .expect("there is a round");
            rows.push(Row { depth, position: text, own, other });
        }
    }
    let other = args.threads.map_or_else(|| "minimax".to_owned(), |threads| format!("{threads} threads"));
    Report::new(other, args.threads.is_some(), rows)
}

/// The fastest settings of `minimax`, by the CPU time that they take for all positions together.
fn try_options(depth: u32, rounds: u32, table_mb: usize) -> String {
    let game = Rules::new(positions::WIDTH, positions::HEIGHT);
    let positions = positions::all(&game);
    let mut tried: Vec<_> = Settings::all()
        .into_iter()
        .map(|settings| {
            let fastest =
                |pos| (0..rounds.max(1)).map(|_| peer::search(pos, depth, table_mb, settings).cpu).min();
            (positions.iter().filter_map(|(_, pos)| fastest(pos)).sum::<std::time::Duration>(), settings)
        })
        .collect();
    tried.sort_by_key(|&(time, _)| time);
    tried.iter().take(20).map(|(time, settings)| format!("{time:9.3?} {settings:?}\n")).collect()
}
