//! What a hostile network, a fuzzer and a careless operator found, before and after: `cargo bench --bench
//! findings`.
//!
//! Each finding is made again against the real binary, first one of another build (`--before PATH`), then
//! this build's, in turns, and is a part of one Markdown table: what is measured, both figures, the bound,
//! and whether it is kept. What a finding starts ends with it, also when it fails. This executable is also
//! the broken servers of the last finding, called by the name `mutant`.

mod answers;
#[path = "../common/asker.rs"]
mod asker;
#[allow(dead_code, reason = "the tests ask for boards of more kinds")]
#[path = "../../tests/common/boards.rs"]
mod boards;
#[path = "../common/control.rs"]
mod control;
#[path = "../common/endless.rs"]
mod endless;
mod ends;
mod finding;
#[path = "../common/floods.rs"]
mod floods;
mod guesses;
mod kills;
mod log;
#[path = "../common/markdown.rs"]
mod markdown;
mod memory;
mod mutants;
mod questions;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/common/random.rs"]
mod random;
#[path = "../common/samples.rs"]
mod samples;
#[path = "../common/server.rs"]
mod server;
mod shares;
mod strangers;
mod websocket;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use plyd_protocol::signals;

use finding::{Figure, Finding};
use server::{Outcome, PLYD};

/// All of them, by their numbers in the report.
const FINDINGS: [Finding; 14] = [
    questions::SHARED_WORKERS,
    questions::CLOCK,
    log::FINDING,
    answers::FINDING,
    memory::FINDING,
    shares::ENDLESS,
    strangers::SILENT,
    shares::FLOOD,
    strangers::HTTP,
    guesses::FINDING,
    ends::FINDING,
    websocket::FINDING,
    kills::FINDING,
    mutants::FINDING,
];

/// Make the 14 findings of the reliability report again.
#[derive(Debug, Parser)]
struct Args {
    /// The binary of another build, to be measured in turns with this one
    #[arg(long, value_name = "PATH")]
    before: Option<PathBuf>,
    /// The binary to measure; the one of this build when absent
    #[arg(long, value_name = "PATH", default_value = PLYD)]
    daemon: PathBuf,
    /// The numbers of the findings to make; all when absent
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=14))]
    only: Vec<u8>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Outcome<ExitCode> {
    if let Some(code) = mutants::serve_if_called() {
        return Ok(code);
    }
    let mut args = Args::parse();
    // What is started under `nohup` would ignore the signal that one finding is about.
    signals::let_children_heed_hangup()?;
    // Some processes start in other directories.
    args.daemon = args.daemon.canonicalize()?;
    args.before = args.before.map(|before| before.canonicalize()).transpose()?;
    let mut out = io::stdout();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    writeln!(out, "{} on {cores} cores", args.daemon.display())?;
    if let Some(before) = &args.before {
        writeln!(out, "before: {}", before.display())?;
    }
    writeln!(out, "\n| | what is measured | before | after | bound | kept |\n|--:|---|---|---|---|---|")?;
    let mut is_kept = true;
    for (finding, number) in FINDINGS.iter().zip(1..) {
        if !args.only.is_empty() && !args.only.contains(&number) {
            continue;
        }
        let before = args.before.as_ref().map(|before| finding.figures(before));
        let after = finding.figures(&args.daemon);
        for (at, (what, bound)) in finding.lines.iter().enumerate() {
            let before = before.as_ref().map_or("", |before| &before[at].text);
            let Figure { text, is_kept: this } = &after[at];
            let kept = if *this { "yes" } else { "no" };
            writeln!(out, "| {number} | {what} | {before} | {text} | {bound} | {kept} |")?;
            is_kept &= this;
        }
        out.flush()?;
    }
    Ok(if is_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
