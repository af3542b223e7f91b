//! What the bench finds: how often a slowdown of 3 %, and how often one that is not there.

use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::process::{Command, ExitCode};

use plyd::search::clock::thread_cpu_time;

use super::Outcome;
use super::build::{Build, Checkout, stdout_of};
use super::measure::cpu_time;
use super::ratio::median;
use super::workload::Workload;

/// What is injected.
const SLOWDOWN: f64 = 0.03;
/// The function that a search calls every so many nodes, where the slowdown goes.
const FILE: &str = "crates/core/src/search/thread.rs";
const FUNCTION: &str = "    fn look(&mut self) {\n";
const NODES_A_LOOK: f64 = 1024.0;
/// Turns of the loop that tells how long one takes.
const TURNS: u64 = 200_000_000;
/// Fewer than one in so many runs may find a slowdown that is not there, and at most one in so many may miss
/// the one that is.
const RUNS_A_MISTAKE: usize = 20;

/// Prints for each row how often both were found.
pub(crate) fn run(rows: &[&Workload], runs: usize, rounds: usize) -> Outcome<ExitCode> {
    let before = Checkout::of("HEAD")?.build()?;
    let mut out = io::stdout().lock();
    let mut is_good = true;
    for row in rows {
        let Some(nodes) = row.nodes() else { continue };
        let slowed = slowed(row, &before, nodes)?;
        let mut found = [0; 2];
        for _ in 0..runs {
            for (count, after) in found.iter_mut().zip([&slowed, &before]) {
                let measured = super::compare(&[row], &before, after, rounds)?;
                *count += usize::from(measured[0].is_slower());
            }
        }
        let [hits, false_alarms] = found;
        writeln!(
            out,
            "{}: 3 % slower found in {hits} of {runs} runs, false alarms {false_alarms}",
            row.name
        )?;
        is_good &= (runs - hits) * RUNS_A_MISTAKE <= runs;
        is_good &= false_alarms * RUNS_A_MISTAKE < runs.max(RUNS_A_MISTAKE);
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A build of this commit in which a row takes 3 % more CPU time.
fn slowed(row: &Workload, before: &Build, nodes: u64) -> Outcome<Build> {
    let times =
        (0..5).map(|_| Ok(cpu_time(before, &row.whole())?.as_secs_f64())).collect::<Outcome<Vec<_>>>()?;
    let a_look = median(times) * SLOWDOWN / (nodes as f64 / NODES_A_LOOK);
    let turns = (a_look / seconds_a_turn()).round() as u64;
    let checkout = Checkout::named("HEAD", "-slowed")?;
    let path = checkout.folder().join(FILE);
    // As it is in the commit, since an earlier run may have changed the checkout.
    let text = stdout_of(Command::new("git").args(["show", &format!("HEAD:{FILE}")]))?;
    let loops = format!("{FUNCTION}        for turn in 0..{turns}_u64 {{ std::hint::black_box(turn); }}\n");
    let changed = text.replacen(FUNCTION, &loops, 1);
    if changed == text {
        return Err(format!("{FILE} has no {FUNCTION}").into());
    }
    fs::write(path, changed)?;
    checkout.build()
}

/// What a turn of the injected loop takes.
fn seconds_a_turn() -> f64 {
    let began = thread_cpu_time();
    for turn in 0..TURNS {
        black_box(turn);
    }
    (thread_cpu_time() - began).as_secs_f64() / TURNS as f64
}
