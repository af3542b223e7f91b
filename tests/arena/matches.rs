//! Matches as people run them, with what they leave behind.

// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};

use plyd::client::Launch;
use serde_json::Value;

use crate::common::process;

/// A player that is quick and plays the same again.
pub(crate) const FAST: &str = "default,nodes=500";
/// Players that answer at once, with a clock that no busy machine uses up: without one they would have 100 ms
/// for a move, and be late now and then.
pub(crate) const RANDOM: &str = "random,time=1000s";
pub(crate) const GREEDY: &str = "greedy,time=1000s";

/// An empty directory of its own.
pub(crate) fn directory() -> PathBuf {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    // Tests run in processes beside each other.
    let name = format!("arena-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).unwrap();
    path
}

/// `plyd arena` with these arguments, to be run in a directory.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Launch {
    let mut launch = process::plyd([&["arena"], arguments].concat());
    launch.command.current_dir(directory);
    launch
}

/// Runs `plyd arena`.
pub(crate) fn arena(arguments: &[&str]) -> Output {
    process::output(command(Path::new(env!("CARGO_TARGET_TMPDIR")), arguments))
}

/// The report of a match.
pub(crate) fn report(arguments: &[&str]) -> Value {
    let arguments = [arguments, &["--json"]].concat();
    parsed(&arguments, &arena(&arguments))
}

/// The report that a match wrote.
fn parsed(arguments: &[&str], output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    // The exit code of a match in which a player lost all games by its faults, which has a report, too.
    let is_hopeless = output.status.code() == Some(1) && said.contains("ended by its faults");
    assert!(output.status.success() || is_hopeless, "{arguments:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The records of a match by number, and its report.
pub(crate) fn records(arguments: &[&str]) -> (Vec<Value>, Value) {
    let directory = directory();
    let result = records_in(&directory, arguments);
    fs::remove_dir_all(directory).unwrap();
    result
}

/// The same for a match that runs in this directory.
pub(crate) fn records_in(directory: &Path, arguments: &[&str]) -> (Vec<Value>, Value) {
    let arguments = [arguments, &["--json", "--record", "games.jsonl"]].concat();
    let report = parsed(&arguments, &process::output(command(directory, &arguments)));
    (read(&directory.join("games.jsonl")), report)
}

/// The records of a file by number.
pub(crate) fn read(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let mut records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.sort_by_key(|record| record["number"].as_u64());
    records
}

/// A record without what the clock decides.
pub(crate) fn timeless(mut record: Value) -> Value {
    for answer in record["answers"].as_array_mut().unwrap() {
        answer["time_us"] = Value::Null;
        answer["own_us"] = Value::Null;
    }
    record
}
