//! Servers that break one promise fail the check that is meant for it, and no other.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use super::mutant::Mutant;
use super::ours::low;
use super::relay::Relay;
use super::{MUTANT, OF_BOTS, OF_DIALERS, conform, listed, report, with_verdict};
use crate::common::{self, Server};

/// How many mutants are tried at once: most of their time is spent waiting for what never comes.
const WORKERS: usize = 8;

/// Of so many mutants one is tried, unless all are asked for.
const SAMPLE: usize = 48;

/// How many checks that must pass are made beside those that must fail: the next ones of the list.
const BYSTANDERS: usize = 2;

/// A row of `mutants.txt`.
struct Row {
    text: String,
    lines: String,
    change: String,
    /// The checks that must fail.
    checks: Vec<String>,
    /// Whether nothing but those is run.
    is_alone: bool,
}

fn rows() -> Vec<Row> {
    let is_row = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("==");
    let read = |line: &str| {
        let [lines, change, checks] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (checks, is_alone) = match checks.strip_prefix("! ") {
            Some(checks) => (checks, true),
            None => (checks, false),
        };
        let checks = checks.split(' ').map(str::to_owned).collect();
        // A wrong row fails here, not by a server that does not start.
        if lines.starts_with("ws") {
            drop(Relay::read(lines, change));
        } else {
            let of_others = ["tcp", "dial"].into_iter().find_map(|prefix| lines.strip_prefix(prefix));
            drop(Mutant::read(of_others.unwrap_or(lines), change));
        }
        Row { text: line.to_owned(), lines: lines.to_owned(), change: change.to_owned(), checks, is_alone }
    };
    include_str!("mutants.txt").lines().filter(is_row).map(read).collect()
}

/// A directory in which `./mutant` is a mutant; it is removed when dropped.
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    pub(super) fn new(name: &str) -> Self {
        let place = env::temp_dir().join(format!("plyd-conform-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("token"), "secret").unwrap();
        std::os::unix::fs::symlink(env::current_exe().unwrap(), place.join(MUTANT)).unwrap();
        Self(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _stays_for_a_look = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn each_mutant_is_caught_by_its_check() {
    let listed = listed();
    let all = rows();
    let caught: BTreeSet<&String> = all.iter().map(|row| &row.checks[0]).collect();
    let without: Vec<&String> = listed.iter().filter(|check| !caught.contains(check)).collect();
    let unknown: Vec<&&String> = caught.iter().filter(|check| !listed.contains(check)).collect();
    assert!(without.is_empty() && unknown.is_empty(), "no mutant for {without:?}, no check for {unknown:?}");
    // `cargo test --test programs -- mutant TEXT` tries those whose row holds the text alone.
    let chosen = env::args().skip(1).filter(|argument| !argument.starts_with('-')).nth(1);
    let mut rows: Vec<Row> = match chosen {
        Some(text) => all.into_iter().filter(|row| row.text.contains(&text)).collect(),
        None if common::is_whole() => all,
        None => all.into_iter().step_by(SAMPLE).collect(),
    };
    assert!(!rows.is_empty());
    // The pauses of those that dial are the longest: none of them is alone at the end.
    rows.sort_by_key(|row| !row.lines.starts_with("dial"));
    let place = Place::new("mutants");
    let mutant = place.0.join(MUTANT);
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // A machine that is busy may want longer than a check waits for what never comes.
                    let tried = try_mutant(&mutant, row, &listed, "15s")
                        .or_else(|_| try_mutant(&mutant, row, &listed, "120s"));
                    wrong.lock().unwrap().extend(tried.err());
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

fn try_mutant(mutant: &Path, row: &Row, listed: &[String], timeout: &str) -> Result<(), String> {
    let wanted: BTreeSet<String> = row.checks.iter().cloned().collect();
    let mut only = row.checks.clone();
    let kind = |check: &String| [OF_BOTS, OF_DIALERS].into_iter().find(|group| check.starts_with(group));
    if !row.is_alone {
        let of_kind = listed.iter().filter(|check| kind(check) == kind(&row.checks[0]));
        let of_kind: Vec<&String> = of_kind.collect();
        let at = of_kind.iter().position(|check| **check == row.checks[0]).unwrap_or(0);
        only.extend(of_kind.into_iter().cycle().skip(at + 1).take(BYSTANDERS).cloned());
    }
    let mut arguments = vec!["--json", "--timeout", timeout];
    arguments.extend(kind(&row.checks[0]).map(|group| if group == OF_BOTS { "--bot" } else { "--dial" }));
    arguments.extend(only.iter().flat_map(|only| ["--only", only]));
    let output = match row.lines.strip_prefix("tcp") {
        _ if row.lines.starts_with("ws") => {
            let server = Server::websocket(&["--threads", "2"]);
            let address = Relay::read(&row.lines, &row.change).listen(server.address());
            conform(&[&arguments[..], &[&format!("ws={address}")]].concat())
        }
        Some(lines) => {
            let file = mutant.with_file_name("token");
            let token: &[&str] =
                if row.checks[0].contains("token") { &["--token-file", file.to_str().unwrap()] } else { &[] };
            let server = Server::tcp(&[&["--threads", "2"], token, low(&row.checks[0])].concat());
            let address = Mutant::read(lines, &row.change).listen(server.address());
            conform(&[&arguments[..], token, &[&format!("tcp={address}")]].concat())
        }
        None => {
            let lines = row.lines.strip_prefix("dial");
            arguments.extend(["--", mutant.to_str().unwrap(), lines.unwrap_or(&row.lines), &row.change]);
            arguments.extend(lines.into_iter().flat_map(|_| ["{ladder}", "{token}"]));
            conform(&arguments)
        }
    };
    let report = report(&output);
    let failed = with_verdict(&report, "failed");
    if failed == wanted && output.status.code() == Some(1) {
        return Ok(());
    }
    let rows = report["checks"].as_array().unwrap().iter();
    let other: Vec<String> = rows
        .filter(|row| row["verdict"] != "passed")
        .map(|row| format!("    {}: {} / {}", row["check"], row["expected"], row["came"]))
        .collect();
    Err(format!("{}\n  failed {failed:?}\n{}", row.text, other.join("\n")))
}
