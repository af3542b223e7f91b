//! `plyd arena --preset`: the matches of published reports, played again beside their figures.
//!
//! A preset is a text in a game's folder. `let NAME = TEXT` names a text that `$NAME` stands for; `table
//! TITLE: ARGUMENTS` begins a table; each further line is a match, `CLAIMS: ARGUMENTS`, with the claims of
//! the report, joined by commas, and what `plyd arena` is given beside the table's arguments. So every match
//! is one that can be played by itself.

mod claim;

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Parser;
use clap::builder::{PossibleValuesParser, ValueParser};
use serde::Serialize;

use crate::arena::statistics::Estimate;
use crate::arena::{PairingResult, Summary};
use crate::cli::columns::{Columns, grouped};
use crate::cli::registry;

use super::report::{Ended, percent};
use super::{Args, Halt, PLAYED_OUT, Totals, play, read_match};
use crate::cli::failure::Failure;
use crate::cli::{words, write_json};
use claim::{Claim, Verdict};

/// What can be played again, and by which text: the reports of each game.
fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
    registry::games().iter().filter_map(|entry| entry.reports.map(|text| (entry.name, text)))
}

/// The names that `--preset` takes.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    presets().map(|(name, _)| name)
}

/// Reads such a name as an argument.
pub(super) fn parser() -> ValueParser {
    if names().next().is_none() {
        return ValueParser::new(|_: &str| {
            Err::<String, _>("no game of this program has a published report")
        });
    }
    ValueParser::new(PossibleValuesParser::new(names()))
}

/// Arguments of a match of a preset, as the command line would have them.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(flatten)]
    args: Args,
}

/// A table of a report.
#[derive(Debug)]
struct Table {
    title: String,
    rows: Vec<Row>,
}

/// A match of a report.
#[derive(Debug)]
struct Row {
    /// What distinguishes it from the others of its table.
    label: String,
    claims: Vec<Claim>,
    /// All its arguments.
    words: Vec<String>,
}

/// The result of a match.
#[derive(Debug, Serialize)]
struct MatchResult {
    #[serde(rename = "match")]
    label: String,
    claims: Vec<Claim>,
    verdict: Verdict,
    /// The share of the points, from 0 to 1.
    score: Option<Estimate>,
    wins: u64,
    draws: u64,
    losses: u64,
    /// The most moves of a game.
    longest: usize,
    /// Games that a player forfeited.
    forfeits: u64,
    /// Games that were not played; nothing is borne out then.
    left: u64,
}

/// A table with the results of its matches.
#[derive(Debug, Serialize)]
struct Played {
    table: String,
    matches: Vec<MatchResult>,
}

/// The result of a preset.
#[derive(Debug, Serialize)]
struct Report<'p> {
    preset: &'p str,
    ended: Ended,
    tables: Vec<Played>,
}

/// Plays a preset's matches and prints each table as soon as it is played. Of the arguments beside it those
/// count that fit every match: games, seed, concurrency, pinning and, as a directory with a file a match, the
/// record; `--json` prints one object.
pub(super) fn run(name: &str, given: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let (_, text) = presets().find(|(known, _)| *known == name).expect("the parser knows the names");
    let tables = tables(text).map_err(|(line, error)| Failure::Failed(format!("{name}:{line}: {error}")))?;
    if let Some(directory) = &given.record {
        fs::create_dir_all(directory).map_err(|error| {
            let place = directory.display();
            Failure::Usage(format!("--record {place}: {error}; with --preset it is a directory"))
        })?;
    }
    let halt = Halt::on_interrupt(PLAYED_OUT)?;
    let (mut played, mut number) = (Vec::new(), 0);
    let all: usize = tables.iter().map(|table| table.rows.len()).sum();
    for Table { title, rows } in tables {
        let mut matches = Vec::new();
        for row in rows {
            number += 1;
            if halt.flag().load(Ordering::Relaxed) {
                break;
            }
            let record = given.record.as_ref().map(|directory| directory.join(format!("{number:03}.jsonl")));
            matches.push(row.play(given, record, &halt)?);
        }
        let table = Played { table: title, matches };
        if !given.json {
            write!(out, "{}\n{}\n", table.table, table.columns())?;
            out.flush()?;
        }
        played.push(table);
        if halt.flag().load(Ordering::Relaxed) {
            break;
        }
    }
    let whole = |table: &Played| table.matches.iter().filter(|found| found.left == 0).count();
    let left = all - played.iter().map(whole).sum::<usize>();
    if given.json {
        let ended = if left == 0 { Ended::Played } else { Ended::Interrupted };
        return write_json(out, &Report { preset: name, ended, tables: played });
    }
    writeln!(out, "{}", count(&played))?;
    if left > 0 {
        let resume = words::to_resume("--record", given.record.is_some());
        writeln!(out, "{left} of {all} matches are not played to their end: {resume}")?;
    }
    Ok(())
}

/// How many claims hold.
fn count(tables: &[Played]) -> String {
    let of = |verdict| {
        tables.iter().flat_map(|table| &table.matches).filter(|found| found.verdict == verdict).count()
    };
    let [holds, open, differs] = [Verdict::Holds, Verdict::Open, Verdict::Differs].map(of);
    format!(
        "of {} matches {holds} are as published, {differs} differ, {open} are open",
        holds + open + differs
    )
}

impl Row {
    fn play(self, given: &Args, record: Option<PathBuf>, halt: &Halt) -> Result<MatchResult, Failure> {
        let Self { label, claims, words } = self;
        let Words { mut args } =
            Words::try_parse_from(words).map_err(|error| Failure::Failed(error.to_string()))?;
        args.games = given.games.or(args.games);
        args.seed = given.seed;
        args.concurrency = given.concurrency;
        args.pin = given.pin;
        let mut the_match = read_match(&args)?;
        let mut totals = Totals::new(&the_match, None);
        play(&mut the_match, &mut totals, record.as_deref(), halt)?;
        Ok(MatchResult::new(label, claims, &totals.summary, the_match.schedule.games() as u64))
    }
}

impl MatchResult {
    fn new(label: String, claims: Vec<Claim>, summary: &Summary, scheduled: u64) -> Self {
        let result = &summary.results[0];
        let longest = summary.longest.unwrap_or(0);
        let left = scheduled - summary.games;
        let verdict = claims.iter().map(|claim| claim.verdict(result, longest)).max();
        let verdict = verdict.filter(|verdict| left == 0 || *verdict == Verdict::Differs);
        let PairingResult { wins, draws, losses, .. } = *result;
        Self {
            label,
            claims,
            verdict: verdict.unwrap_or(Verdict::Open),
            score: claim::score(result),
            wins,
            draws,
            losses,
            longest,
            forfeits: summary.players.iter().flat_map(|stats| stats.faults.values()).sum(),
            left,
        }
    }
}

impl Played {
    fn columns(&self) -> Columns {
        let mut table = Columns::new([
            "against",
            "published",
            "ours",
            "won",
            "drawn",
            "lost",
            "longest",
            "forfeits",
            "the claim",
        ]);
        for found in &self.matches {
            let claims: Vec<String> = found.claims.iter().map(Claim::to_string).collect();
            let mut row = vec![found.label.clone(), claims.join(", ")];
            row.push(found.score.map_or_else(String::new, percent));
            row.extend(
                [found.wins, found.draws, found.losses, found.longest as u64, found.forfeits].map(grouped),
            );
            row.push(found.verdict.name().to_owned());
            table.row(row);
        }
        table
    }
}

/// Reads a preset's text.
///
/// # Errors
/// The line, counted from 1, and what is wrong with it.
fn tables(text: &str) -> Result<Vec<Table>, (usize, String)> {
    let mut texts = HashMap::new();
    let mut tables: Vec<(Table, Vec<String>)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let wrong = |error: String| (index + 1, error);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((name, text)) = line.strip_prefix("let ").and_then(|line| line.split_once(" = ")) {
            texts.insert(name, text);
            continue;
        }
        let (head, tail) = line.split_once(": ").ok_or_else(|| wrong("a colon is missing".into()))?;
        let words = tail.split_whitespace().map(|word| match word.strip_prefix('$') {
            None => Ok(word.to_owned()),
            Some(name) => texts.get(name).map(ToString::to_string).ok_or(format!("`{word}` is no text")),
        });
        let words: Vec<String> = words.collect::<Result<_, _>>().map_err(wrong)?;
        if let Some(title) = head.strip_prefix("table ") {
            tables.push((Table { title: title.to_owned(), rows: Vec::new() }, words));
            continue;
        }
        let (table, common) = tables.last_mut().ok_or_else(|| wrong("no table begins before it".into()))?;
        let claims = head.split(", ").map(str::parse).collect::<Result<_, _>>().map_err(wrong)?;
        // An answer that is late says something of this machine and nothing of a report.
        let words = common.iter().cloned().chain(words).chain(["--margin".into(), "1s".into()]).collect();
        table.rows.push(Row { label: label(tail), claims, words });
    }
    Ok(tables.into_iter().map(|(table, _)| table).collect())
}

/// The arguments of a match, without the names of the flags.
fn label(arguments: &str) -> String {
    let mut words = arguments.split_whitespace();
    let mut label = Vec::new();
    while let Some(flag) = words.next() {
        let value = words.next().unwrap_or_default();
        if flag != "--games" {
            label.push(value.trim_start_matches('$'));
        }
    }
    label.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_can_be_played() {
        assert!(names().count() > 4);
        for (name, text) in presets() {
            let tables = tables(text).unwrap_or_else(|(line, error)| panic!("{name}:{line}: {error}"));
            assert!(!tables.is_empty(), "{name}");
            for row in tables.into_iter().flat_map(|table| table.rows) {
                let words = row.words.join(" ");
                let Words { args } =
                    Words::try_parse_from(row.words).unwrap_or_else(|e| panic!("{words}: {e}"));
                let the_match = read_match(&args).unwrap_or_else(|error| panic!("{words}: {error}"));
                assert_eq!(the_match.players.len(), 2, "{words}");
                assert!(!row.claims.is_empty() && !row.label.is_empty(), "{words}");
            }
        }
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (text, line, expected) in [
            ("\ntable a b", 2, "a colon is missing"),
            ("table a: l-game\nwon: --games 2", 2, "`won` is no claim"),
            ("# text\n15-5: --games 2", 2, "no table begins before it"),
            ("table a: l-game --position $b", 1, "`$b` is no text"),
        ] {
            assert_eq!(tables(text).unwrap_err(), (line, expected.to_owned()));
        }
    }
}
