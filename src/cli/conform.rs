//! `plyd conform`: checks any server of the protocol, or a bot that is called or dials out, against the
//! specification.

use std::collections::HashMap;
use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use crate::cli::columns::Columns;
use crate::client::{Address, LineError, Program};
use crate::conform::{self, Plan, Promise, Row, Subject, Verdict};
use crate::engine::Entry;

use super::failure::Failure;
use super::token_file::read_token;
use super::{own, parse, reaper, registry, styled, write_json};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  plyd conform                                     this plyd
  plyd conform -- ./my-server --stdio              another server, a process for each check
  plyd conform tcp=127.0.0.1:7117                  one that serves already, which nobody else should use meanwhile
  plyd conform ws=127.0.0.1:7118                   the same over WebSocket
  plyd conform tls://games.example:7117            over TLS; ?ca=FILE behind it names an authority of your own
  plyd conform unix=/run/plyd.sock --token-file token
  plyd conform --only races --only ids/seq -- ./my-server
  plyd conform --bot cmd=./my-bot                  a bot, which only has to answer `go`: by the least that one must speak
  plyd conform --bot --game {isolation} cmd=./my-bot one that plays this game alone
  plyd conform --dial                              a bot that dials out: this plyd's `connect`, to which the suite is a ladder
  plyd conform --dial -- plyd connect {ladder} --token-file {token} --legal -- python3 bot.py
                                                   `{ladder}` stands for the ladder's address, `{token}` for a file
  plyd conform --list                              the checks, what each is about, and what is promised

A check is passed, slow (right, but now and then later than promised: a warning), skipped (not offered, or not of this \
transport) or failed. Exit code 1: one failed.")]
pub(super) struct Args {
    /// The server to call: tcp=HOST:PORT, ws=HOST:PORT, tls=HOST:PORT, wss=HOST:PORT or unix=PATH, followed
    /// by ,token=TEXT if it wants a token; or cmd=PROGRAM, which is started for each check
    #[arg(value_name = "ADDR", value_parser = called, conflicts_with = "command")]
    address: Option<Called>,
    /// Check a bot by the least that one must speak, instead of a server
    #[arg(long)]
    bot: bool,
    /// Ask the bot to play this game; may be given several times [default: all games]
    #[arg(long, value_name = "GAME", value_parser = registry::parser(), requires = "bot")]
    game: Vec<&'static Entry>,
    /// Check a program that dials a ladder, which listens there; the command behind `--` has to hold
    /// `{ladder}` and `{token}`, for the address to dial and the file of its token [default: a free port for
    /// each check]
    #[arg(
        long, value_name = "tcp=HOST:PORT", num_args = 0..=1, default_missing_value = "tcp=127.0.0.1:0",
        value_parser = listened, conflicts_with_all = ["bot", "address", "token_file"]
    )]
    dial: Option<SocketAddr>,
    /// Show the server the token in this file
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    token_file: Option<PathBuf>,
    /// Run this group or check (GROUP/CHECK) only; may be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the checks, and the promises of the specification that each covers; run none
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
    /// The server to start for each check, or the program that dials; this plyd's `serve`, or its `connect`,
    /// when absent
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A server that is called.
#[derive(Clone, Debug)]
struct Called {
    address: Address,
    token: Option<String>,
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
        return list(args, out);
    }
    wanted(args)?;
    let address = server(args)?;
    let reaper = match address {
        Address::Program(_) => Some(reaper::start()?),
        _ => None,
    };
    let subject = match (args.bot, &*args.game) {
        (false, _) => args.dial.map_or(Subject::Server, |at| Subject::Dialer { at }),
        (true, []) => Subject::Bot { games: registry::games().to_vec() },
        (true, games) => Subject::Bot { games: games.to_vec() },
    };
    let plan = Plan {
        subject,
        games: registry::games(),
        address,
        token: token(args)?,
        timeout: args.timeout,
        only: args.only.clone(),
        log: args.log,
        reaper,
    };
    let rows = checked(&plan, args.json, out)?;
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
        if args.bot && report.failed == 0 {
            let hint = "It was sent the legal moves, `x_legal`: if it needs them, put `,legal=true` behind it in the \
                        arena.";
            writeln!(out, "{hint}")?;
        }
        let closed = LineError::Closed.to_string();
        let ended = rows.iter().find(|row| row.came.starts_with(&closed));
        if let Some(Row { group, check, .. }) = ended
            && matches!(plan.address, Address::Program(_))
            && !args.log
        {
            writeln!(
                out,
                "\nThe program ended where it should go on: `--log --only {group}/{check}` shows what it writes to \
                 stderr."
            )?;
        }
    }
    if report.failed == 0 { Ok(()) } else { Err(Failure::Reported) }
}

/// A check as `--list` prints it.
#[derive(Debug, Serialize)]
struct Listed {
    check: String,
    about: &'static str,
}

/// Prints the checks and the promises of the specification that they cover; without `--only` also the
/// promises that no check covers.
fn list(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let checks: Vec<Listed> = wanted(args)?
        .into_iter()
        .map(|(group, check, about)| Listed { check: format!("{group}/{check}"), about })
        .collect();
    let is_wanted = |promise: &Promise| {
        args.only.is_empty() && kind(args).is_none()
            || promise.checks.iter().any(|check| checks.iter().any(|listed| listed.check == *check))
    };
    let promises: Vec<Promise> = conform::promises().filter(is_wanted).collect();
    if args.json {
        return write_json(out, &serde_json::json!({ "checks": checks, "promises": promises }));
    }
    let mut table = Columns::new(["check", "what it is about"]);
    for Listed { check, about } in &checks {
        table.row([check.clone(), (*about).to_owned()]);
    }
    write!(out, "{table}")?;
    let mut section = "";
    for promise in &promises {
        if promise.section != section {
            section = promise.section;
            writeln!(out, "\n{section}")?;
        }
        writeln!(out, "  {}", promise.promise)?;
        match promise.unchecked {
            Some(reason) => writeln!(out, "    unchecked: {reason}")?,
            None => writeln!(out, "    {}", promise.checks.join(" "))?,
        }
    }
    Ok(())
}

/// The checks that `--only` names; without it all of the kind that is checked, or listed.
fn wanted(args: &Args) -> Result<Vec<(&'static str, &'static str, &'static str)>, Failure> {
    let is_named = |only: &str, group: &str, check: &str| only == group || only == format!("{group}/{check}");
    let kind = kind(args);
    let is_of_kind = |group: &str| {
        let of_group = [conform::BOT, conform::DIAL].into_iter().find(|name| *name == group);
        of_group == kind || args.list && kind.is_none()
    };
    for only in &args.only {
        let group = conform::names().find(|(group, check, _)| is_named(only, group, check));
        let message = match group {
            None => format!("there is no check `{only}`; `plyd conform --list` lists them"),
            Some((group, ..)) if is_of_kind(group) => continue,
            Some((conform::BOT, ..)) => format!("`{only}` checks bots: give --bot"),
            Some((conform::DIAL, ..)) => format!("`{only}` checks bots that dial out: give --dial"),
            Some(_) => format!("`{only}` checks servers: leave out --{}", kind.unwrap_or_default()),
        };
        return Err(Failure::Usage(message));
    }
    let is_wanted = |group: &str, check: &str| {
        args.only.is_empty() || args.only.iter().any(|only| is_named(only, group, check))
    };
    let of_kind = conform::names().filter(|(group, ..)| is_of_kind(group));
    Ok(of_kind.filter(|(group, check, _)| is_wanted(group, check)).collect())
}

/// The one group of what is checked, unless that is a server.
fn kind(args: &Args) -> Option<&'static str> {
    match (args.bot, args.dial) {
        (true, _) => Some(conform::BOT),
        (false, Some(_)) => Some(conform::DIAL),
        (false, None) => None,
    }
}

/// The token that is to be shown, from the address or a file.
fn token(args: &Args) -> Result<Option<String>, Failure> {
    let given = args.address.as_ref().and_then(|called| called.token.clone());
    let Some(path) = &args.token_file else { return Ok(given) };
    if given.is_some() {
        return Err(Failure::Usage("give the token after the address or in a file, not both".into()));
    }
    read_token(path).map(Some)
}

fn server(args: &Args) -> Result<Address, Failure> {
    if let Some(called) = &args.address {
        return Ok(called.address.clone());
    }
    let program = match args.command.split_first() {
        Some((path, arguments)) => {
            Program { path: path.into(), arguments: arguments.iter().map(Into::into).collect() }
        }
        None if args.dial.is_some() => own::dialer()?,
        None => own::server()?,
    };
    if args.dial.is_some() && !Subject::is_dialer(&program.arguments) {
        let message =
            "the command has to hold {ladder} and {token}, for the address to dial and the file of the token";
        return Err(Failure::Usage(message.into()));
    }
    Ok(Address::Program(program))
}

/// Where a ladder listens: `tcp=HOST:PORT`.
fn listened(text: &str) -> Result<SocketAddr, String> {
    let Ok(Address::Tcp(place)) = Address::read(text) else {
        return Err("give tcp=HOST:PORT, such as tcp=127.0.0.1:7127".into());
    };
    let mut found = place.to_socket_addrs().map_err(|error| error.to_string())?;
    found.next().ok_or_else(|| format!("{place} has no address"))
}

/// An address, and a token behind it: `tcp=HOST:PORT,token=TEXT`; or a program: `cmd=PROGRAM ARGUMENTS`.
fn called(text: &str) -> Result<Called, String> {
    if let Some(command) = text.strip_prefix("cmd=") {
        return Ok(Called { address: Address::Program(parse::program(command)?), token: None });
    }
    let (place, token) = match text.split_once(",token=") {
        Some((place, token)) => (place, Some(token.to_owned())),
        None => (text, None),
    };
    let address = Address::read(place)
        .map_err(|message| format!("{message}, or a program: cmd=PROGRAM, or its command behind `--`"))?;
    Ok(Called { address, token })
}

/// Runs the checks and, for people, prints each one as soon as it has ended: all of them take a minute.
fn checked(plan: &Plan, is_json: bool, out: &mut impl Write) -> Result<Vec<Row>, Failure> {
    let failed = |error: conform::NotChecked| Failure::Failed(error.to_string());
    if is_json {
        return conform::run(plan).map_err(failed);
    }
    let (sender, ended) = channel();
    thread::scope(|scope| {
        let running = scope.spawn(move || {
            conform::run_seen(plan, |row| {
                let _nobody_reads = sender.send(row.clone());
            })
        });
        // If nobody reads them, the checks are run to their end all the same: they have started programs.
        let shown = ended.iter().map(|row| show_row(&row, out)).fold(Ok(()), Result::and);
        let rows = running.join().expect("a check that panics is a bug of ours").map_err(failed)?;
        shown.map(|()| rows)
    })
}

fn show_row(row: &Row, out: &mut impl Write) -> Result<(), Failure> {
    let name = format!("{}/{}", row.group, row.check);
    writeln!(out, "{name:<34} {:<8} {:>6} ms", row.verdict.name(), row.time_ms)?;
    Ok(out.flush()?)
}

/// What was wrong, and the sum. One fault may fail many checks: what is long is shown once.
fn show(report: &Report<'_>, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(out)?;
    // Which check showed first what came, and what that one expected.
    let mut shown = HashMap::new();
    for row in report.checks.iter().filter(|row| row.verdict != Verdict::Passed) {
        let name = format!("{}/{}", row.group, row.check);
        writeln!(out, "{name}: {}", row.verdict.name())?;
        // Both may quote what the server wrote.
        let (expected, came) = (styled::line(&row.expected), styled::line(&row.came));
        if row.verdict == Verdict::Skipped {
            writeln!(out, "  {expected}")?;
            continue;
        }
        let (first, known) = shown.entry(came.clone()).or_insert_with(|| (name.clone(), expected.clone()));
        let same = format!("the same as in {first}");
        if *first != name && *known == expected {
            writeln!(out, "  {same}")?;
            continue;
        }
        let is_long = *first != name && same.len() < came.len();
        writeln!(out, "  expected  {expected}")?;
        writeln!(out, "  came      {}", if is_long { same } else { came })?;
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
    fn what_is_long_is_shown_once() {
        let row = |check, expected: &str, came: &str| Row {
            group: "bot",
            check,
            verdict: Verdict::Failed,
            expected: expected.into(),
            came: came.into(),
            time_ms: 1,
        };
        let (crash, answer) = ("the connection is closed; the last line: `x`", "an answer with an `id`");
        let checks = [
            row("answers", answer, crash),
            row("ids", answer, crash),
            row("once", "one answer to each", crash),
            row("legal", "a move", "none"),
            row("end", "no move", "none"),
        ];
        let report = Report { passed: 0, slow: 0, skipped: 0, failed: 5, checks: &checks };
        let mut out = Vec::new();
        show(&report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.matches(crash).count(), 1, "{text}");
        for part in [
            "bot/ids: FAILED\n  the same as in bot/answers\n",
            "bot/once: FAILED\n  expected  one answer to each\n  came      the same as in bot/answers\n",
            "bot/end: FAILED\n  expected  no move\n  came      none\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn a_token_stands_behind_an_address() {
        let of = |text: &str| called(text).unwrap();
        assert_eq!(of("tcp=localhost:7117").token, None);
        let with_token = of("ws=localhost:7117,token=a,b=c");
        assert_eq!(with_token.address, Address::WebSocket("localhost:7117".into()));
        assert_eq!(with_token.token.as_deref(), Some("a,b=c"));
        assert!(called("localhost").unwrap_err().contains("tcp=HOST:PORT"));
    }
}
