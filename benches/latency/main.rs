//! How long the daemon's answers take, as a client sees it over a pipe: `cargo bench --bench latency`.
//!
//! Beside each measurement a control thread sleeps to the same instants in the same run; what a machine does
//! to a sleeping thread it does to any program, so the excess over the control is the daemon's own delay.
//! Where Debian's `stockfish` is installed it answers the same questions by UCI. Options: `--samples N`,
//! `--json`; and instead of all this `--stops 3000`, which compares `stop` with Stockfish's, or `--depths
//! 10000`, which counts moves that were not searched, in every game.

#[path = "../common/bootstrap.rs"]
mod bootstrap;
#[path = "../common/control.rs"]
mod control;
mod depths;
#[path = "../common/markdown.rs"]
mod markdown;
mod measure;
mod plyd;
#[path = "../common/samples.rs"]
mod samples;
mod stockfish;
mod stops;

use std::error::Error;
use std::io::{self, Write};

use clap::Parser;
use serde_json::{Value, json};

use ::plyd::cli::columns::Columns;
use control::Control;
use measure::Row;

/// Measure the daemon's latencies beside a control and Stockfish.
#[derive(Debug, Parser)]
struct Args {
    /// Samples of each timed measurement
    #[arg(long, default_value_t = 1000)]
    samples: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Compare nothing but `stop` with Stockfish: three rounds of so many of each in turns
    #[arg(long, value_name = "N", conflicts_with_all = ["samples", "json"])]
    stops: Option<usize>,
    /// Count the answers of depth 0 among so many in all games, at 10 ms a move
    #[arg(long, value_name = "N", conflicts_with_all = ["samples", "json", "stops"])]
    depths: Option<usize>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    // One core is left to the client and the control, as the daemon's guarantees ask.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.saturating_sub(1).max(1);
    if let Some(samples) = args.stops {
        return stops::run(samples, threads);
    }
    if let Some(answers) = args.depths {
        return depths::run(answers, threads);
    }

    let mut control = Control::start();
    let mut rows = plyd::start_rows(args.samples.min(50))?;
    let mut subject = plyd::Plyd::start(threads)?;
    rows.extend(measure::rows(&mut subject, &mut control, args.samples)?);
    rows.extend(plyd::own_rows(&mut subject, &mut control, args.samples)?);
    drop(subject);
    let mut note = None;
    match stockfish::Stockfish::start(threads)? {
        Some(mut subject) => rows.extend(measure::rows(&mut subject, &mut control, args.samples)?),
        None => note = Some("no stockfish here: `apt install stockfish` adds it to the table"),
    }

    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
        writeln!(out, "{}", json!({ "threads": threads, "cores": cores, "rows": rows }))?;
    } else {
        writeln!(out, "microseconds; {threads} search threads on {cores} cores\n\n{}", table(&rows))?;
        if let Some(note) = note {
            writeln!(out, "{note}")?;
        }
    }
    Ok(())
}

fn table(rows: &[Row]) -> Columns {
    let mut table = Columns::new([
        "what",
        "who",
        "n",
        "p50",
        "p99",
        "p99.9",
        "max",
        "control p50",
        "p99",
        "p99.9",
        "excess p50",
        "p99",
        "p99.9",
        "late",
    ]);
    for row in rows {
        table.row(row.to_cells());
    }
    table
}
