//! `plyd train` as people run it: the real binary, some short games.

use std::fs;
use std::path::Path;

use crate::trials::Trials;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Some games from openings in which much is decided already.
const TINY: [&str; 12] = [
    "ijk",
    "--rules",
    "preset=v2-4x4",
    "--games",
    "60",
    "--batch",
    "4",
    "--depth",
    "2",
    "--random-plies=20",
    "--max-moves",
    "30",
];

/// An empty directory for the command.
fn directory() -> Trials {
    Trials::new("train")
}

fn read(directory: &Path, name: &str) -> Vec<u8> {
    fs::read(directory.join(name)).unwrap()
}

/// A whole training: the file of its state and its tables.
fn whole(directory: &Trials, more: &[&str]) -> (Vec<u8>, Vec<u8>) {
    directory.run(&[&TINY[..], &["--state", "whole.json", "--out", "whole.bin"], more].concat());
    (read(directory, "whole.json"), read(directory, "whole.bin"))
}

/// The games that a state has seen; none where there is no file yet.
fn games(path: &Path) -> Option<u64> {
    let state: Value = serde_json::from_slice(&fs::read(path).ok()?).unwrap();
    state["games"].as_u64()
}

#[test]
fn the_same_seed_gives_the_same_tables_whatever_the_threads() {
    let [first, second, third] = [&["--seed", "5"][..], &["--seed", "5", "--threads", "3"], &["--seed", "6"]]
        .map(|more| whole(&directory(), more));
    assert_eq!(first, second);
    assert_ne!(first.1, third.1);
    assert!(first.1.iter().filter(|&&entry| entry != 0).count() > 20);
    let chance = ["--rules", "preset=v2-4x4,mode=nondet", "--depth", "1"];
    let more = [&TINY[..2], &chance[1..], &TINY[3..7], &TINY[9..], &["--out", "whole.bin"]].concat();
    let [first, second] = [directory(), directory()].map(|directory| {
        directory.run(&more);
        read(&directory, "whole.bin")
    });
    assert_eq!(first, second);
}

#[test]
fn a_training_that_is_killed_or_interrupted_goes_on() {
    let directory = directory();
    let arguments = [&TINY[..], &["--state", "state.json", "--out", "out.bin"]].concat();
    let path = directory.join("state.json");
    for (signal, at_least) in [(Signal::KILL, 8), (Signal::INT, 24)] {
        let before = fs::read(&path).ok();
        let again = || {
            match &before {
                Some(before) => fs::write(&path, before).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            fs::remove_file(directory.join("out.bin")).unwrap();
        };
        // A reader that waits for the file finds that nothing is written.
        let holds = || games(&path).is_some_and(|games| games >= at_least);
        directory.interrupt(&arguments, signal, holds, again);
        assert!(read(&directory, "out.bin").is_empty());
    }
    directory.run(&arguments);
    assert_eq!((read(&directory, "state.json"), read(&directory, "out.bin")), whole(&directory, &[]));
}

#[test]
fn a_file_of_another_training_is_refused_and_kept() {
    let directory = directory();
    let (state, _) = whole(&directory, &[]);
    for more in [["--seed", "9"], ["--lambda", "0.5"], ["--rate", "0.3"]] {
        let text = directory.refusal(&[&TINY[..], &["--state", "whole.json"], &more].concat());
        assert!(text.contains("it is of a training with another") && text.contains(more[0]), "{text}");
    }
    let text = String::from_utf8(state.clone()).unwrap();
    for (from, to, words) in [
        ("{\"train\"", "{\"tune\"", "missing field"),
        ("\"games\":60", "\"games\":61", "no training of this batch ends after 61 games"),
        ("\"weights\":[", "\"weights\":[0,", "its weights are too few, too many or too large"),
        ("\"weights\":[", "\"weights\":[x", "expected value"),
        ("{", "", "whole.json"),
    ] {
        let spoilt = text.replacen(from, to, 1);
        assert_ne!(spoilt, text);
        fs::write(directory.join("spoilt.json"), &spoilt).unwrap();
        let error =
            directory.refusal(&[&TINY[..], &["--state", "spoilt.json", "--out", "none.bin"]].concat());
        assert!(!directory.join("none.bin").exists());
        assert!(error.contains(words.replace("whole", "spoilt").as_str()), "{error}");
        assert_eq!(read(&directory, "spoilt.json"), spoilt.as_bytes());
    }
    assert_eq!(read(&directory, "whole.json"), state);
}

#[test]
fn mistakes_are_answered_with_what_could_be_given() {
    directory().refuses(&[
        (&["no_such_game"][..], &["invalid value 'no_such_game'", "isolation"][..]),
        (&["l-game"], &["no evaluator of l-game has tables", "ijk tuples"]),
        (&["ijk", "--eval", "lead"], &["the evaluator `lead` of ijk has no tables", "ijk tuples"]),
        (&["ijk", "--eval", "luck"], &["ijk has no evaluator `luck`"]),
        (&["ijk", "--rules", "preset=v2"], &["--rules preset=v2-4x4"]),
        (&["ijk", "--rules", "size=1"], &["--rules size"]),
        (&["ijk", "--rules", "size=4", "--random-plies", "999"], &["no opening", "fewer --random-plies"]),
        (&["ijk", "--lambda", "2"], &["a number above 0, at most 1"]),
        (&["ijk", "--rate", "0"], &["a number above 0, at most 1"]),
    ]);
}

#[test]
fn the_result_is_printed_for_people_and_for_programs() {
    let directory = directory();
    let output = directory.run(&[&TINY[..], &["--json"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["games_played"], &report["scheduled"], &report["depth"], &report["evaluator"]),
        (&json!(60), &json!(60), &json!(2), &json!("tuples"))
    );
    assert!(report["learned"].as_u64() > Some(20) && report["learned"].as_u64() < report["weights"].as_u64());
    let output = directory.run(&[&TINY[..], &["--out", "tables.bin"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("games: 60 of 60"), "{text}");
    assert!(
        text.contains("plyd train ijk --rules preset=v2-4x4 --eval tuples --games 60 --batch 4"),
        "{text}"
    );
    assert_eq!(read(&directory, "tables.bin").len() as u64, report["weights"].as_u64().unwrap());
}
