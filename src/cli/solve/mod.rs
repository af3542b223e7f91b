//! `plyd solve`: a whole game's values, counted: all positions, or all openings.

mod record;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use self::record::{SolutionRecord, Terms};
use super::failure::Failure;
use super::position::{rule_settings, rules};
use super::progress::Progress;
use super::{output, parse, registry, words, write_json};
use crate::cli::columns::{Columns, grouped};
use crate::engine::{Entry, Share, Solve, SolveByParts, SolveRequest, SolvedPart, SolvedParts};
use crate::game::{OpenError, Rules};

/// The ply up to which a certificate has moves, if none is given.
const CERTIFIED_PLIES: u32 = 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd solve l-game                         by a table of all positions
  plyd solve l-game --rules neutrals=both --json
  plyd solve isolation --board 7x7          by solving every opening on its own
  plyd solve isolation --board 7x7 --book openings.txt
  plyd solve isolation --board 6x9 --threads 2 --record 6x9.jsonl --certificate 6x9.txt
                                            takes minutes; run it again if it was interrupted, and it goes on
  plyd solve ijk --rules size=3             by search; boards of 2x2 and 3x3, without chance")]
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
    /// Write who wins each opening, with the winner's moves, so that another program can prove it
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// The ply after the opening up to which the certificate has moves; its reader has to solve what follows.
    /// Two plies more make it about three times as long [default: 10]
    #[arg(long, value_name = "N", requires = "certificate", value_parser = clap::value_parser!(u32).range(1..=20))]
    plies: Option<u32>,
    /// Keep each opening that is solved; an interrupted run goes on with the others
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// How many openings are solved side by side [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    game: &'static str,
    cpu_us: u64,
    /// How many parts the record had already; the time is that of the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<usize>,
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
    let (solved, recorded, texts) = match solve {
        Solve::AtOnce(solve) => {
            args.refuse_parts()?;
            (solve(&rules).map_err(|error| Failure::Usage(error.message()))?, None, None)
        }
        Solve::ByParts(solve) => {
            let (parts, recorded) = solve_parts(args, &rules, &given, solve)?;
            let SolvedParts { solved, book, certificate } = parts;
            (solved, recorded, Some([(&args.book, book), (&args.certificate, certificate)]))
        }
    };
    // Neither is lost if the other cannot be written.
    let written = texts.iter().flatten().try_for_each(|(path, text)| {
        let Some(path) = path else { return Ok(()) };
        std::fs::write(path, text)
            .map_err(|error| Failure::Failed(format!("cannot write `{}`: {error}", path.display())))
    });
    let values = solved.shares.iter().map(row).collect();
    let report = Report { game: entry.name, cpu_us: solved.cpu.as_micros() as u64, recorded, values };
    let shown = if args.json { write_json(out, &report) } else { show(&report, solved.cpu, out) };
    written.and(shown)
}

impl Args {
    /// The ply up to which parts have moves.
    fn plies(&self) -> u32 {
        if self.certificate.is_some() { self.plies.unwrap_or(CERTIFIED_PLIES) } else { 1 }
    }

    /// Refuses what only games that are solved by parts have.
    fn refuse_parts(&self) -> Result<(), Failure> {
        let given = [
            ("--book", self.book.is_some()),
            ("--certificate", self.certificate.is_some()),
            ("--record", self.record.is_some()),
            ("--threads", self.threads.is_some()),
        ];
        let Some((flag, _)) = given.iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        Err(Failure::Usage(format!("{} is solved all at once: leave out `{flag}`", self.game.name)))
    }

    /// Checks before the first part that the results can be written.
    fn try_outputs(&self) -> Result<(), Failure> {
        let record = self.record.as_deref().map(|path| ("record of what is solved", path));
        if let Some(path) = &self.book {
            output::try_path("--book", path, record)?;
        }
        if let Some(path) = &self.certificate {
            output::try_path("--certificate", path, record)?;
            output::try_path("--certificate", path, self.book.as_deref().map(|path| ("book", path)))?;
        }
        Ok(())
    }
}

/// Solves a game by parts, and goes on with those that the record lacks; also how many it had, if any.
fn solve_parts(
    args: &Args,
    rules: &Rules,
    given: &[(String, String)],
    solve: SolveByParts,
) -> Result<(SolvedParts, Option<usize>), Failure> {
    args.try_outputs()?;
    let (mut record, known) = match &args.record {
        None => (None, Vec::new()),
        Some(path) => {
            let terms = Terms {
                game: args.game.name.to_owned(),
                rules: rule_settings(args.game, given),
                plies: args.plies(),
            };
            let (record, known) = SolutionRecord::open(path, terms)?;
            (Some(record), known)
        }
    };
    let (mut progress, mut failed) = (None, None);
    let solved = solve(
        rules,
        &mut SolveRequest {
            threads: args.threads.map_or(1, usize::from),
            plies: args.plies(),
            known: &known,
            heard: &mut |SolvedPart { text, done, of }| {
                let (done, of) = (done as u64, of as u64);
                progress.get_or_insert_with(|| Progress::of_openings(of, done - 1)).show(done, "");
                failed = record.as_mut().and_then(|record| record.add(text).err());
                if failed.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        },
    );
    drop(progress);
    match (failed, &args.record, solved) {
        (Some(failure), _, _) => Err(failure),
        (None, Some(path), Err(OpenError::Malformed(message))) => Err(record::refused(path, &message)),
        (None, _, Err(error)) => Err(Failure::Usage(error.message())),
        (None, _, Ok(solved)) => Ok((solved, Some(known.len()).filter(|&count| count > 0))),
    }
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
    let recorded = report.recorded.map_or_else(String::new, |count| {
        format!(", without the {} openings of the record", grouped(count as u64))
    });
    Ok(writeln!(out, "{table}\nsolved in {} of CPU time{recorded}", words::time(cpu))?)
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
