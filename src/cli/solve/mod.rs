//! `plyd solve`: a whole game's values, counted: all positions, or all openings.

mod certificate;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use self::certificate::CertificateFile;
use super::failure::Failure;
use super::position::rules;
use super::progress::Progress;
use super::{parse, registry, words, write_json};
use crate::cli::columns::{Columns, grouped};
use crate::engine::{Certificate, Entry, Share, Solving};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd solve l-game                         by a table of all positions
  plyd solve l-game --rules neutrals=both --json
  plyd solve isolation --board 7x7          by solving every opening on its own
  plyd solve isolation --board 7x7 --book openings.txt
  plyd solve isolation --board 6x9 --threads 2 --certificate isolation-6x9.txt
                                            for minutes; the same command goes on where it was ended
  plyd solve ijk --rules size=3             by looking at every line until a win is found; without chance, and \
also on 2x2")]
pub(super) struct Args {
    /// The game; one that can be solved whole
    #[arg(value_parser = registry::parser())]
    game: &'static Entry,
    /// Columns and rows, such as 7x7; short for the rules width and height
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = parse::board)]
    board: Option<(usize, usize)>,
    /// Rules by name, such as neutrals=both; `plyd describe GAME` lists them
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse::assignment)]
    rules: Vec<(String, String)>,
    /// Write the openings, each with a winning reply, to a file
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Write who wins each opening, with the winner's moves, so that another program can prove it. Each
    /// opening is written as soon as it is solved; the same command goes on with those that the file lacks
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// The ply after the opening up to which the certificate has moves; its reader has to solve what follows.
    /// Two plies more make it about three times as long
    #[arg(long, value_name = "N", default_value_t = 10, requires = "certificate", value_parser = clap::value_parser!(u32).range(1..=40))]
    plies: u32,
    /// How many openings are solved side by side
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
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
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    plies: Option<u32>,
    positions: u64,
    classes: u64,
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let entry = args.game;
    let solve = entry.solve.ok_or_else(|| not_solvable(entry))?;
    let mut given = args.rules.clone();
    if let Some((width, height)) = args.board {
        given.extend([("width".to_owned(), width.to_string()), ("height".to_owned(), height.to_string())]);
    }
    let rules = rules(entry, &given)?;
    let (mut file, known) = match args.certificate.as_deref().map(CertificateFile::read).transpose()? {
        Some((file, known)) => (Some(file), known),
        None => (None, String::new()),
    };
    let mut progress = None;
    let mut line = |line: &str| match file.as_mut().is_none_or(|file| file.add(line)) {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let wanted = args.certificate.is_some();
    let solved = solve(
        &rules,
        &mut Solving {
            threads: usize::from(args.threads),
            certificate: wanted.then_some(Certificate { plies: args.plies, known: &known, line: &mut line }),
            progress: &mut |done, of| {
                let (done, of) = (done as u64, of as u64);
                progress.get_or_insert_with(|| Progress::of_openings(of, done)).show(done, "");
            },
        },
    );
    drop(progress);
    if let Some(file) = &mut file {
        file.checked()?;
    }
    let solved = solved.map_err(|error| Failure::Usage(error.message()))?;
    if let Some(file) = file {
        let whole = solved.certificate.as_deref();
        let none = || Failure::Usage(format!("{} has no certificate: leave out `--certificate`", entry.name));
        file.finish(whole.ok_or_else(none)?)?;
    }
    if let Some(path) = &args.book {
        let Some(book) = &solved.book else {
            return Err(Failure::Usage(format!("{} needs no book: leave out `--book`", entry.name)));
        };
        std::fs::write(path, book)
            .map_err(|error| Failure::Failed(format!("cannot write `{}`: {error}", path.display())))?;
    }
    let values = solved.shares.iter().map(row).collect();
    let report = Report { game: entry.name, cpu_us: solved.cpu.as_micros() as u64, values };
    if args.json { write_json(out, &report) } else { show(&report, solved.cpu, out) }
}

fn show(report: &Report, cpu: Duration, out: &mut impl Write) -> Result<(), Failure> {
    let mut table = Columns::new(["value", "positions", "up to symmetry"]);
    for row in &report.values {
        let mut value = row.outcome.to_owned();
        if let Some(plies) = row.plies {
            value += &format!(" in {plies}");
        }
        if !row.kind.is_empty() {
            value += &format!(", {}", row.kind);
        }
        table.row([value, grouped(row.positions), grouped(row.classes)]);
    }
    for (name, outcome) in [("all won", Some("win")), ("all lost", Some("loss")), ("all", None)] {
        let chosen = |row: &&Row| outcome.is_none_or(|outcome| row.outcome == outcome);
        let sum = |count: fn(&Row) -> u64| report.values.iter().filter(chosen).map(count).sum();
        table.row([name.to_owned(), grouped(sum(|row| row.positions)), grouped(sum(|row| row.classes))]);
    }
    Ok(writeln!(out, "{table}\nsolved in {} of CPU time", words::time(cpu))?)
}

fn row(share: &Share) -> Row {
    let score = share.value.score;
    let outcome = match score.raw() {
        1.. => "win",
        0 => "draw",
        _ => "loss",
    };
    let plies = if share.value.is_exact() { score.distance() } else { None };
    Row { kind: share.kind, outcome, plies, positions: share.positions, classes: share.classes }
}

fn not_solvable(entry: &Entry) -> Failure {
    let solvable = registry::games().iter().filter(|entry| entry.solve.is_some());
    let others = words::others(solvable.map(|entry| entry.name.to_owned()), "these can", "no other game can");
    Failure::Usage(format!("{} cannot be solved whole; {others}", entry.name))
}
