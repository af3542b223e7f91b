//! From which ply on random positions of knight Isolation are solved, and how fast: `cargo bench --bench
//! solver`.
//!
//! Positions come from games of random moves, the solver knows nothing before each, and the time is the CPU
//! time of its one thread. Options: `--samples N`, `--limit TIME`, `--json`.

use std::error::Error;
use std::io::{self, Write};
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use clap::Parser;
use serde_json::{Value, json};

use plyd::bits::{Bits, Colours};
use plyd::cli::columns::{Columns, grouped};
use plyd::game::{Game, Turn};
use plyd::games::isolation::rules::{Isolation, Position};
use plyd::games::isolation::solver::{Solver, expected_nodes};
use plyd::search::Control;
use plyd::search::clock::{now_ns, thread_cpu_time};
use plyd::search::thread::{SearchBudget, SearchThread};
use plyd::zobrist::SplitMix64;

/// Measure Isolation's solver on random positions, ply by ply.
#[derive(Debug, Parser)]
struct Args {
    /// Positions a row
    #[arg(long, default_value_t = 100)]
    samples: usize,
    /// The CPU time after which a position counts as unsolved, in milliseconds
    #[arg(long, default_value_t = 1000)]
    limit: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// One board and ply.
struct Row {
    board: String,
    ply: usize,
    /// CPU times of the positions that were solved, ascending.
    times: Vec<Duration>,
    samples: usize,
    nodes: u64,
    /// The median of nodes visited for each node expected, of the positions solved, in percent.
    expected: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let mut rows = Vec::new();
    for ply in [2, 4, 6, 8, 10] {
        rows.push(measure(&Isolation::<u64>::new(7, 7), ply, &args));
    }
    for ply in [44, 40, 38, 36, 35, 34, 33, 32, 31, 30, 29, 28] {
        rows.push(measure(&Isolation::<Colours<u64>>::new(11, 9), ply, &args));
    }
    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Value> = rows.iter().map(|row| row.to_json(args.limit)).collect();
        writeln!(out, "{}", json!({ "limit_ms": args.limit, "rows": rows }))?;
        return Ok(());
    }
    let within = format!("solved in {} ms", args.limit);
    let mut table = Columns::new([
        "board",
        "ply",
        "positions",
        &within,
        "median",
        "p90",
        "worst",
        "nodes",
        "of expected",
    ]);
    for row in &rows {
        let [median, p90, worst] = [50, 90, 100].map(|percent| row.percentile(percent));
        let time = |time: Option<Duration>| {
            time.map_or_else(|| "-".to_owned(), |time| format!("{:.1} ms", time.as_secs_f64() * 1000.0))
        };
        table.row([
            row.board.clone(),
            row.ply.to_string(),
            row.samples.to_string(),
            row.times.len().to_string(),
            time(median),
            time(p90),
            time(worst),
            grouped(row.nodes),
            format!("{} %", row.expected),
        ]);
    }
    Ok(writeln!(out, "CPU time of one thread; `-`: past the limit\n\n{table}")?)
}

impl Row {
    /// The time within which so many of a hundred positions were solved; none if it is past the limit.
    fn percentile(&self, percent: usize) -> Option<Duration> {
        self.times.get((self.samples * percent).div_ceil(100) - 1).copied()
    }

    fn to_json(&self, limit_ms: u64) -> Value {
        let [median, p90, worst] = [50, 90, 100].map(|percent| self.percentile(percent));
        let us = |time: Option<Duration>| time.map(|time| time.as_micros() as u64);
        json!({
            "board": self.board, "ply": self.ply, "positions": self.samples, "solved": self.times.len(),
            "limit_ms": limit_ms, "median_us": us(median), "p90_us": us(p90), "worst_us": us(worst),
            "nodes": self.nodes, "nodes_of_expected_percent": self.expected,
        })
    }
}

fn measure<B: Bits>(game: &Isolation<B>, ply: usize, args: &Args) -> Row {
    let board = format!("{}x{}", game.board().width(), game.board().height());
    let mut random = SplitMix64::new(ply as u64);
    let mut solver = Solver::new(game);
    let (mut times, mut ratios, mut nodes) = (Vec::new(), Vec::new(), 0);
    for _ in 0..args.samples {
        let pos = position(game, ply, &mut random);
        solver.clear();
        let (control, shared) = (Control::default(), AtomicU64::new(0));
        // Wall time only ends what CPU time would not have ended in time either.
        let until_ns = now_ns() + 2 * args.limit * 1_000_000;
        let mut thread =
            SearchThread::first(&SearchBudget { until_ns, ..SearchBudget::whole(&control, &shared) });
        let began = thread_cpu_time();
        let answer = solver.wins(game, &pos, &mut thread);
        let took = thread_cpu_time() - began;
        nodes += thread.nodes;
        if answer.is_some() && took <= Duration::from_millis(args.limit) {
            times.push(took);
            ratios.push(100 * thread.nodes / expected_nodes(game, &pos).max(1));
        }
    }
    times.sort_unstable();
    ratios.sort_unstable();
    let expected = ratios.get(ratios.len() / 2).copied().unwrap_or(0);
    Row { board, ply, times, samples: args.samples, nodes, expected }
}

/// A position after so many random moves that is not over.
fn position<B: Bits>(game: &Isolation<B>, ply: usize, random: &mut SplitMix64) -> Position<B> {
    let mut moves = Vec::new();
    'game: loop {
        let mut pos = game.start();
        for _ in 0..ply {
            moves.clear();
            game.moves(&pos, &mut moves);
            if moves.is_empty() {
                continue 'game;
            }
            let mv = moves[random.below(moves.len())];
            game.play(&mut pos, mv);
        }
        if game.turn(&pos) == Turn::Move {
            return pos;
        }
    }
}
