//! `plyd conform`: checks any server of the protocol against the specification.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use crate::client::{Address, Program};
use crate::columns::Columns;
use crate::conform::{self, Plan, Row, Verdict};

use super::failure::Failure;
use super::{parse, reaper, styled, write_json};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd conform                                     this plyd
  plyd conform -- ./my-server --stdio              another server, a process for each check
  plyd conform tcp=127.0.0.1:7117                  one that serves already, which nobody else should use meanwhile
  plyd conform --only races --only ids/seq -- ./my-server
  plyd conform --list                              the checks, and what each is about

A check is passed, slow (right, but now and then later than promised: a warning), skipped (not offered, or not of this \
transport) or failed. Exit code 1: one failed.")]
pub(super) struct Args {
    /// The server to call, as tcp=HOST:PORT
    #[arg(value_name = "ADDR", value_parser = address, conflicts_with = "command")]
    address: Option<Address>,
    /// Run this group or check (GROUP/CHECK) only; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the checks and run none
    #[arg(long)]
    list: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Show what a server that is started writes to its log
    #[arg(long)]
    log: bool,
    /// How long a check may take
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = parse::duration)]
    timeout: Duration,
    /// The server to start for each check; this plyd's `serve` when absent
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Report<'r> {
    passed: usize,
    slow: usize,
    skipped: usize,
    failed: usize,
    checks: &'r [Row],
}

pub(super) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    if args.list {
        let mut table = Columns::new(["check", "what it is about"]);
        for (group, check, about) in wanted(args)? {
            table.row([format!("{group}/{check}"), about.to_owned()]);
        }
        return Ok(write!(out, "{table}")?);
    }
    wanted(args)?;
    let address = server(args)?;
    let reaper = match address {
        Address::Program(_) => Some(reaper::start()?),
        Address::Tcp(_) => None,
    };
    let plan = Plan { address, timeout: args.timeout, only: args.only.clone(), log: args.log, reaper };
    let rows = conform::run(&plan).map_err(|error| Failure::Failed(error.to_string()))?;
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let report = Report {
        passed: count(Verdict::Passed),
        slow: count(Verdict::Slow),
        skipped: count(Verdict::Skipped),
        failed: count(Verdict::Failed),
        checks: &rows,
    };
    if args.json {
        write_json(out, &report)?;
    } else {
        show(&report, out)?;
    }
    if report.failed == 0 { Ok(()) } else { Err(Failure::Told) }
}

/// The checks that `--only` names; all without it.
fn wanted(args: &Args) -> Result<Vec<(&'static str, &'static str, &'static str)>, Failure> {
    let is_named = |only: &str, group: &str, check: &str| only == group || only == format!("{group}/{check}");
    for only in &args.only {
        if !conform::names().any(|(group, check, _)| is_named(only, group, check)) {
            let message = format!("there is no check `{only}`; `plyd conform --list` tells them");
            return Err(Failure::Usage(message));
        }
    }
    let is_wanted = |group: &str, check: &str| {
        args.only.is_empty() || args.only.iter().any(|only| is_named(only, group, check))
    };
    Ok(conform::names().filter(|(group, check, _)| is_wanted(group, check)).collect())
}

fn server(args: &Args) -> Result<Address, Failure> {
    if let Some(address) = &args.address {
        return Ok(address.clone());
    }
    let program = match args.command.split_first() {
        Some((path, arguments)) => {
            Program { path: path.into(), arguments: arguments.iter().map(Into::into).collect() }
        }
        None => Program { path: std::env::current_exe()?.into(), arguments: vec!["serve".into()] },
    };
    Ok(Address::Program(program))
}

fn address(text: &str) -> Result<Address, String> {
    match text.split_once('=') {
        Some(("tcp", address)) if address.contains(':') => Ok(Address::Tcp(address.to_owned())),
        _ => Err("give tcp=HOST:PORT, such as tcp=127.0.0.1:7117, or a command behind `--`".into()),
    }
}

fn show(report: &Report<'_>, out: &mut impl Write) -> Result<(), Failure> {
    let mut table = Columns::new(["group", "check", "verdict", "ms"]);
    for row in report.checks {
        let (group, check) = (row.group.to_owned(), row.check.to_owned());
        table.row([group, check, row.verdict.name().to_owned(), row.time_ms.to_string()]);
    }
    writeln!(out, "{table}")?;
    for row in report.checks.iter().filter(|row| row.verdict != Verdict::Passed) {
        writeln!(out, "{}/{}: {}", row.group, row.check, row.verdict.name())?;
        // Both may quote what the server wrote.
        let (expected, came) = (styled::line(&row.expected), styled::line(&row.came));
        if row.verdict == Verdict::Skipped {
            writeln!(out, "  {expected}")?;
        } else {
            writeln!(out, "  expected  {expected}")?;
            writeln!(out, "  came      {came}")?;
        }
    }
    let Report { passed, slow, skipped, failed, .. } = report;
    Ok(writeln!(out, "\n{passed} passed, {slow} slow, {skipped} skipped, {failed} failed")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_never_given_what_a_server_wrote() {
        let row = |verdict| Row {
            group: "ids",
            check: "of",
            verdict,
            expected: "a\x1b[2J".into(),
            came: "b\u{9b}2J\nc".into(),
            time_ms: 1,
        };
        let checks = [row(Verdict::Failed), row(Verdict::Skipped)];
        let report = Report { passed: 0, slow: 0, skipped: 1, failed: 1, checks: &checks };
        let mut out = Vec::new();
        show(&report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("a\u{fffd}[2J") && text.contains("b\u{fffd}2J\u{fffd}c"), "{text}");
        assert!(!text.contains(['\x1b', '\u{9b}']), "{text}");
    }

    #[test]
    fn addresses_tell_their_kind() {
        assert_eq!(address("tcp=localhost:7117"), Ok(Address::Tcp("localhost:7117".into())));
        for text in ["localhost:7117", "tcp=localhost", "udp=localhost:7117", ""] {
            assert!(address(text).is_err(), "{text}");
        }
    }
}
