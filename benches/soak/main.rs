//! Whether the daemon gives back what it takes, and survives whoever comes: `cargo bench --bench soak`.
//!
//! Without more, fifty connections ask for searches of several games, and stop, supersede, discard and
//! abandon them at random (from a seed); `-- --searches 1000` is a short one. `-- --chaos --minutes 60` lets
//! hostile peers loose on a daemon with low limits, and kills it now and then, beside clients that must get
//! every answer. `-- --day --minutes 60` is a day of clients that are known by name, with new settings,
//! certificates, restarts and kills. `-- --lines 10000000` sends so many mutated lines and counts the
//! answers. At the end threads, file descriptors, memory and the daemon's own counts must be back where they
//! were after a warm-up. Exits 1 on a leak, a lost answer, or one that the protocol does not allow.

mod chaos;
mod conversation;
mod day;
mod honest;
mod hostile;
mod level;
mod life;
mod lines;
mod load;
mod regular;
#[path = "../common/server.rs"]
mod server;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use plyd::cli::columns::{Columns, grouped};

use level::Level;
use server::{Outcome, PLYD, Server};

/// Load the daemon and look for leaks.
#[derive(Clone, Debug, Parser)]
#[command(group(clap::ArgGroup::new("timed").args(["chaos", "day"]).requires("minutes")))]
struct Args {
    /// Searches to ask for
    #[arg(long, default_value_t = 20_000, conflicts_with_all = ["timed", "lines"])]
    searches: u64,
    /// Connections at once
    #[arg(long, default_value_t = 50)]
    connections: u64,
    /// Send so many mutated lines instead
    #[arg(long, value_name = "N", conflicts_with = "timed")]
    lines: Option<u64>,
    /// Let hostile peers loose instead, and kill the daemon now and then
    #[arg(long)]
    chaos: bool,
    /// Let clients that are known by name play instead, while settings, certificates and daemons change
    #[arg(long)]
    day: bool,
    /// How long the chaos or the day lasts
    #[arg(long, requires = "timed")]
    minutes: Option<u64>,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// What a load found.
struct LoadReport {
    /// One sentence: what was done in which time.
    heading: String,
    counts: Columns,
    levels: Columns,
    /// Leaks, lost answers and wrong ones.
    complaints: Vec<String>,
}

fn main() -> Outcome<ExitCode> {
    let args = Args::parse();
    let report = match (args.minutes, args.lines) {
        (Some(minutes), _) if args.day => day::run(minutes, args.seed)?,
        (Some(minutes), _) => chaos::run(minutes, args.seed)?,
        (None, Some(lines)) => lines::run(lines, args.seed)?,
        (None, None) => searches(&args)?,
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{}\n\n{}\n{}", report.heading, report.counts, report.levels)?;
    for complaint in &report.complaints {
        writeln!(out, "wrong: {complaint}")?;
    }
    let clean = report.complaints.is_empty();
    writeln!(out, "{}", if clean { "no leak" } else { "not clean" })?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The usual load.
fn searches(args: &Args) -> Outcome<LoadReport> {
    let server = Server::start(PLYD, &[])?;
    let warm_up = load::run(&server, args.connections, args.searches / 10, args.seed)?;
    let before = Level::at_rest(&server)?;
    let began = Instant::now();
    let tally = load::run(&server, args.connections, args.searches, args.seed.wrapping_add(1))?;
    let seconds = began.elapsed().as_secs_f64();
    let after = Level::settled(&server, &before)?;
    let asked = grouped(warm_up.gos + tally.gos);
    let mut complaints = after.leaks(&before);
    complaints.extend(warm_up.complaints);
    complaints.extend(tally.complaints.iter().cloned());
    Ok(LoadReport {
        heading: format!("{asked} gos over {} connections in {seconds:.1} s", args.connections),
        counts: tally.table(),
        levels: Level::table(&before, &after),
        complaints,
    })
}
