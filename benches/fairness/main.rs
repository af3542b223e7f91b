//! What one client takes from another: `cargo bench --bench fairness`.
//!
//! Three clients that take all they can get, each beside honest ones: endless searches (`greedy`), questions
//! about boards that take long to solve (`questions`), floods of long lines (`flood`). The honest ones are
//! measured alone and beside it, with a control thread that sleeps to the same instants. `--daemon PATH`
//! measures another build by the same command. The exit code is 1 if a promise is not kept.

#[path = "../common/asker.rs"]
mod asker;
mod boards;
#[path = "../common/control.rs"]
mod control;
#[path = "../common/endless.rs"]
mod endless;
mod flood;
#[path = "../common/floods.rs"]
mod floods;
mod greedy;
#[path = "../common/markdown.rs"]
mod markdown;
mod questions;
#[path = "../common/samples.rs"]
mod samples;
#[path = "../common/server.rs"]
mod server;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use markdown::Table;
use server::{Outcome, PLYD};

/// Measure what a client that takes all it can get costs the others.
#[derive(Debug, Parser)]
struct Args {
    /// The binary to measure, as `plyd serve` is started; the one of this build when absent
    #[arg(long, value_name = "PATH", default_value = PLYD)]
    daemon: PathBuf,
    /// What to measure; may be given several times, everything when absent
    #[arg(long)]
    only: Vec<Part>,
    /// Seconds of each phase
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Part {
    /// 250 endless searches beside two clients with 100 ms a move
    Greedy,
    /// Eight slow questions beside a client that searches, asks and stops
    Questions,
    /// Four connections that flood beside one that pings
    Flood,
}

/// How a bench's promises came out: each with what was measured.
struct Promises {
    table: Table,
    are_kept: bool,
}

impl Promises {
    fn new() -> Self {
        Self { table: Table::new(["promise", "measured", "kept"]), are_kept: true }
    }

    /// Notes a promise.
    fn add(&mut self, promise: &str, measured: String, is_kept: bool) {
        self.are_kept &= is_kept;
        self.table.row([promise.to_owned(), measured, if is_kept { "yes" } else { "no" }.to_owned()]);
    }
}

fn main() -> Outcome<ExitCode> {
    let args = Args::parse();
    let mut out = io::stdout();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    writeln!(out, "{} on {cores} cores, phases of {} s\n", args.daemon.display(), args.seconds)?;
    let time = Duration::from_secs(args.seconds);
    let mut are_kept = true;
    for part in [Part::Greedy, Part::Questions, Part::Flood] {
        if !args.only.is_empty() && !args.only.contains(&part) {
            continue;
        }
        let (title, (figures, promises)) = match part {
            Part::Greedy => ("One greedy client", greedy::measure(&args.daemon, time, args.seed)?),
            Part::Questions => ("Eight slow questions", questions::measure(&args.daemon, time, args.seed)?),
            Part::Flood => ("Four floods of 14 KB lines", flood::measure(&args.daemon, time)?),
        };
        are_kept &= promises.are_kept;
        writeln!(out, "## {title}\n\n{}\n{}", figures.into_text(), promises.table.into_text())?;
    }
    Ok(if are_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
