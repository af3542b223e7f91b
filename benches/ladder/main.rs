//! A ladder under real bots over real connections, `cargo bench --features ladder --bench ladder`.
//!
//! *The contest.* Plyd's levels, bots in six other languages, one that is killed now and then, and three that
//! misbehave play 2,000 games; with `--kills 50` the ladder is killed as often meanwhile. Fails if a sound
//! bot forfeited, a forfeit has another name than its cause, a broken bot plays on, known strengths came out
//! the other way round, or what is kept does not agree with itself. Prints the table and the counts.
//!
//! *The load*, with `--load`. A hundred bots that wait instead of searching play fifty games at once before
//! five hundred spectators. Fails if the ladder takes more of a move's time than a thread that only hands
//! lines over, and 5 ms, or if anything is late, lost or forfeited.
//!
//! Both print Markdown.

// A bench that cannot start what it measures has nothing better to do than to panic.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it prints what it finds")]

mod bots;
#[path = "../../tests/common/mod.rs"]
mod common;
mod contest;
mod load;
#[path = "../common/markdown.rs"]
mod markdown;
#[path = "../common/samples.rs"]
mod samples;
#[path = "../common/usage.rs"]
mod usage;

use std::process::ExitCode;

use clap::Parser;

/// Let bots compete, or measure a ladder under load.
#[derive(Debug, Parser)]
struct Args {
    #[command(flatten)]
    contest: contest::Args,
    #[command(flatten)]
    load: load::Args,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.load.load {
        return if load::measure(&args.load) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    contest::hold(&args.contest);
    ExitCode::SUCCESS
}
