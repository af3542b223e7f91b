//! `plyd solve`: a whole game's values, counted by the distance to the end.

use std::io::Write;

use serde::Serialize;

use super::failure::Failure;
use super::position::{game, rules};
use super::{parse, words, write_json};
use crate::columns::{Columns, grouped};
use crate::engine::{Entry, Share};
use crate::game::OpenError;
use crate::games::REGISTRY;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd solve l-game
  plyd solve l-game --rules neutrals=both
  plyd solve l-game --json

The time is the CPU time that the solution takes at its first use in a process.")]
pub(super) struct Args {
    /// The game; one that can be solved whole
    game: String,
    /// Rules by name, such as neutrals=both; `plyd describe GAME` lists them
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse::assignment)]
    rules: Vec<(String, String)>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    game: &'static str,
    cpu_us: u64,
    values: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    plies: Option<u32>,
    positions: u64,
    classes: u64,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let entry = game(&args.game)?;
    let solve = entry.solve.ok_or_else(|| not_solvable(entry))?;
    let solved = solve(&rules(entry, &args.rules)?).map_err(|error| {
        Failure::Usage(match error {
            OpenError::Rule { name, message } => format!("the rule `{name}`: {message}"),
            OpenError::Malformed(message) | OpenError::Impossible(message) => message,
        })
    })?;
    let values = solved.shares.iter().map(row).collect();
    let report = Report { game: entry.name, cpu_us: solved.cpu.as_micros() as u64, values };
    if args.json {
        return write_json(out, &report);
    }
    let mut table = Columns::new(["value", "positions", "up to symmetry"]);
    for row in &report.values {
        let value =
            row.plies.map_or_else(|| "draw".to_owned(), |plies| format!("{} in {plies}", row.outcome));
        table.row([value, grouped(row.positions), grouped(row.classes)]);
    }
    for (name, outcome) in [("all won", Some("win")), ("all lost", Some("loss")), ("all", None)] {
        let chosen = |row: &&Row| outcome.is_none_or(|outcome| row.outcome == outcome);
        let sum = |count: fn(&Row) -> u64| report.values.iter().filter(chosen).map(count).sum();
        table.row([name.to_owned(), grouped(sum(|row| row.positions)), grouped(sum(|row| row.classes))]);
    }
    writeln!(out, "{table}\nsolved in {} of CPU time", words::time(solved.cpu))?;
    Ok(())
}

fn row(share: &Share) -> Row {
    let outcome = match share.plies {
        None => "draw",
        Some(plies) if plies % 2 == 1 => "win",
        Some(_) => "loss",
    };
    Row { outcome, plies: share.plies, positions: share.positions, classes: share.classes }
}

fn not_solvable(entry: &Entry) -> Failure {
    let names: Vec<&str> =
        REGISTRY.iter().filter(|entry| entry.solve.is_some()).map(|entry| entry.name).collect();
    Failure::Usage(format!("{} cannot be solved whole; these can: {}", entry.name, names.join(", ")))
}
