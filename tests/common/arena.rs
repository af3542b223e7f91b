//! Matches of the real binary, their reports and their records.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A player that answers at once and always alike.
pub(crate) const FAST: &str = "default,nodes=500";

/// `plyd arena`, where the stub is found.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plyd"));
    command.arg("arena").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

/// Runs `plyd arena` to its end.
pub(crate) fn arena(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// The report of a match.
pub(crate) fn report(arguments: &[&str]) -> Value {
    let output = arena(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A file that no other test writes, and that is not there yet.
pub(crate) fn new_file(name: &str) -> PathBuf {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{number}-{name}", std::process::id());
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _none_from_before = std::fs::remove_file(&file);
    file
}

/// The records of a match by number, and its report.
pub(crate) fn records(arguments: &[&str]) -> (Vec<Value>, Value) {
    let file = new_file("games.jsonl");
    let report = report(&[arguments, &["--record", file.to_str().unwrap()]].concat());
    (read(&file), report)
}

/// The records of a file by number.
pub(crate) fn read(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    records.sort_by_key(|record| record["number"].as_u64());
    records
}

/// A record without what the clock decides.
pub(crate) fn timeless(mut record: Value) -> Value {
    for answer in record["answers"].as_array_mut().unwrap() {
        answer["time_us"] = Value::Null;
    }
    record
}
