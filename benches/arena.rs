//! What the referee costs, as people run it: `cargo bench --bench arena`.
//!
//! Beside moves of 1 ms: the time of a move that the players do not account for, by their own word. And whole
//! games of players that answer at once. Options: `--games N`, `--json`.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::{Value, json};

use plyd::cli::columns::{Columns, grouped};
use plyd::client::{Process, Reaper};

/// Longer than any match here.
const LONGEST: Duration = Duration::from_secs(3600);

/// Measure what the arena's referee costs.
#[derive(Debug, Parser)]
struct Args {
    /// Games of instant players; of those at 1 ms a move a twentieth
    #[arg(long, default_value_t = 4000)]
    games: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// A match that was played.
struct Played {
    what: &'static str,
    games: usize,
    wall: Duration,
    /// Of each answer: the time by the referee's clock, and by the player's own.
    answers: Vec<(u64, u64)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let slow = ["isolation", "--rules", "preset=11x9", "--margin", "1s", "--player", "default,time=1ms"];
    let slow = [&slow[..], &["--player", "default,time=1ms"]].concat();
    let quick = ["l-game", "--player", "random,nodes=1", "--player", "random,nodes=1"];
    let two = [&quick[..], &["--concurrency", "2"]].concat();
    let rows = [
        play("1 ms a move, Isolation 11x9", args.games / 20, &slow)?,
        play("instant players, the L Game", args.games, &quick)?,
        play("the same, two games at once", args.games, &two)?,
    ];
    let mut out = io::stdout();
    if args.json {
        let rows: Vec<Value> = rows.iter().map(Played::to_json).collect();
        return Ok(writeln!(out, "{}", json!({ "rows": rows }))?);
    }
    let mut table = Columns::new([
        "match",
        "games",
        "moves",
        "us a move",
        "clock p50",
        "own p50",
        "way p50",
        "p99",
        "games a minute",
    ]);
    for row in &rows {
        let way = row.sorted(|(time, own)| time.saturating_sub(own));
        let numbers = [
            row.games as u64,
            row.answers.len() as u64,
            row.a_move().as_micros() as u64,
            percentile(&row.sorted(|(time, _)| time), 50),
            percentile(&row.sorted(|(_, own)| own), 50),
            percentile(&way, 50),
            percentile(&way, 99),
            row.a_minute(),
        ];
        table.row(std::iter::once(row.what.to_owned()).chain(numbers.map(grouped)));
    }
    Ok(writeln!(out, "{table}")?)
}

impl Played {
    /// The time from move to move, the players' starts included.
    fn a_move(&self) -> Duration {
        self.wall / self.answers.len().max(1) as u32
    }

    fn a_minute(&self) -> u64 {
        (self.games as f64 * 60.0 / self.wall.as_secs_f64()) as u64
    }

    fn sorted(&self, of: impl Fn((u64, u64)) -> u64) -> Vec<u64> {
        let mut values: Vec<u64> = self.answers.iter().map(|answer| of(*answer)).collect();
        values.sort_unstable();
        values
    }

    fn to_json(&self) -> Value {
        let way = self.sorted(|(time, own)| time.saturating_sub(own));
        let sum = |of: fn(&(u64, u64)) -> u64| self.answers.iter().map(of).sum::<u64>();
        json!({
            "what": self.what,
            "games": self.games,
            "moves": self.answers.len(),
            "wall_us": self.wall.as_micros() as u64,
            "clock_us": sum(|(time, _)| *time),
            "own_us": sum(|(_, own)| *own),
            "way_p50_us": percentile(&way, 50),
            "way_p99_us": percentile(&way, 99),
            "games_a_minute": self.a_minute(),
        })
    }
}

/// The value below which that many percent are, of values in order.
fn percentile(sorted: &[u64], percent: usize) -> u64 {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0)
}

/// Plays a match, an even number of games, and reads its records.
fn play(what: &'static str, games: usize, arguments: &[&str]) -> Result<Played, Box<dyn Error>> {
    let games = games.max(2) / 2 * 2;
    let records =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("arena-bench-{}.jsonl", std::process::id()));
    let plyd = env!("CARGO_BIN_EXE_plyd");
    let mut arena = Command::new(plyd);
    arena
        .arg("arena")
        .args(arguments)
        .args(["--games", &games.to_string(), "--json", "--record"])
        .arg(&records);
    let began = Instant::now();
    let mut launch = Reaper::start(plyd)?.launch(&arena)?;
    launch.command.stdout(Stdio::null()).stderr(Stdio::null());
    let ended = Process::spawn(launch)?.wait_exit(began + LONGEST)?;
    let wall = began.elapsed();
    if !ended.is_some_and(|status| status.success()) {
        return Err(format!("{arguments:?} ended, {ended:?}").into());
    }
    let text = fs::read_to_string(&records)?;
    fs::remove_file(&records)?;
    let mut answers = Vec::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line)?;
        for answer in record["answers"].as_array().into_iter().flatten() {
            let us = |name: &str| answer[name].as_u64().unwrap_or(0);
            answers.push((us("time_us"), us("own_us")));
        }
    }
    Ok(Played { what, games, wall, answers })
}
