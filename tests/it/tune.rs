//! `plyd tune` as people run it: the real binary, on a small board.

use std::fs;
use std::path::Path;

use crate::common::is_whole;
use crate::trials::Trials;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Some iterations on a board where games last some moves.
const TINY: [&str; 14] = [
    "ijk",
    "--rules",
    "size=4",
    "--nodes",
    "100",
    "--iterations",
    "12",
    "--pairs",
    "3",
    "--rate",
    "0.2",
    "--max-moves",
    "80",
    "--random-plies=2",
];

/// An empty directory for the command.
fn directory() -> Trials {
    Trials::new("tune")
}

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}

/// A whole tuning: the file of its state and its weights.
fn whole(directory: &Trials, more: &[&str]) -> (String, String) {
    directory.run(&[&TINY[..], &["--state", "whole.jsonl", "--out", "whole.txt"], more].concat());
    (read(directory, "whole.jsonl"), read(directory, "whole.txt"))
}

/// The number of lines of a file, if there is one.
fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn the_same_seed_gives_the_same_weights_whatever_the_threads() {
    let [first, second, third] = [&["--seed", "5"][..], &["--seed", "5", "--threads", "3"], &["--seed", "6"]]
        .map(|more| whole(&directory(), more));
    assert_eq!(first, second);
    assert_ne!(first.0, third.0);
    let lines: Vec<Value> = first.0.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["game"], &lines[12]["number"]), (13, &json!("ijk"), &json!(12)));
    let results = lines[1..].iter().flat_map(|line| line["results"].as_array().unwrap());
    assert!(results.filter(|result| **result != 0).count() > 5, "the settings play alike: {}", first.0);
    let weights = lines[12]["values"].as_array().unwrap();
    for (name, value) in ["lead_empty", "lead_full"].iter().zip(weights) {
        assert!(first.1.lines().any(|line| line == format!("{name} {value}")), "{}", first.1);
    }
    assert!(first.1.contains("\n# plyd tune ijk --rules size=4 --eval lead"), "{}", first.1);
}

#[test]
fn a_tuning_goes_on_wherever_it_was_cut_as_if_it_had_not_been() {
    let directory = directory();
    let (state, weights) = whole(&directory, &[]);
    let ends: Vec<usize> = state.match_indices('\n').map(|(at, _)| at + 1).collect();
    let cuts =
        [0, 5, ends[0] - 1, ends[0], ends[0] + 9, ends[4], ends[4] + 30, ends[11] - 1, ends[11], ends[12]];
    for cut in cuts.into_iter().step_by(if is_whole() { 1 } else { 3 }) {
        fs::write(directory.join("cut.jsonl"), &state[..cut]).unwrap();
        directory.run(&[&TINY[..], &["--state", "cut.jsonl", "--out", "cut.txt", "--threads", "2"]].concat());
        assert_eq!(read(&directory, "cut.jsonl"), state, "{cut}");
        assert_eq!(read(&directory, "cut.txt"), weights, "{cut}");
    }
}

#[test]
fn a_tuning_that_is_killed_or_interrupted_goes_on() {
    let directory = directory();
    let arguments = [&TINY[..], &["--state", "state.jsonl", "--out", "out.txt"]].concat();
    let path = directory.join("state.jsonl");
    for (signal, at_least) in [(Signal::KILL, 3), (Signal::INT, 6)] {
        let before = fs::read(&path).unwrap_or_default();
        let again = || {
            fs::write(&path, &before).unwrap();
            fs::remove_file(directory.join("out.txt")).unwrap();
        };
        // A reader that waits for the file finds that nothing is written.
        directory.interrupt(&arguments, signal, || lines(&path) >= at_least, again);
        assert_eq!(read(&directory, "out.txt"), "");
    }
    directory.run(&arguments);
    assert_eq!((read(&directory, "state.jsonl"), read(&directory, "out.txt")), whole(&directory, &[]));
}

#[test]
fn a_file_of_another_tuning_is_refused_and_kept() {
    let directory = directory();
    let (state, _) = whole(&directory, &[]);
    for (more, word) in [
        (&["--seed", "9"][..], "--seed"),
        (&["--option", "lead_full=900"], "--weights"),
        (&["--weights", "lead_full"], "--weights"),
        (&["--option", "variety=5"], "--option"),
        (&["--step", "4"], "--step"),
    ] {
        let text = directory.refusal(&[&TINY[..], &["--state", "whole.jsonl"], more].concat());
        assert!(text.contains("line 1: it is of a tuning with another") && text.contains(word), "{text}");
    }
    for (from, to, words) in [
        ("\"number\":2,", "\"number\":3,", "line 3: iteration 3 does not follow iteration 1"),
        ("{\"tune\":\"terms\"", "{\"tune\":\"turns\"", "line 1: no line of a tuning"),
        ("\"values\":[", "\"values\":[9,", "line 2: the values of iteration 1 do not follow"),
        ("\"results\":[", "\"results\":[0,", "line 2: iteration 1 has not the results of 3 pairs"),
    ] {
        let spoilt = state.replacen(from, to, 1);
        fs::write(directory.join("spoilt.jsonl"), &spoilt).unwrap();
        let text = directory.refusal(&[&TINY[..], &["--state", "spoilt.jsonl"]].concat());
        assert!(text.contains(words), "{text}");
        assert_eq!(read(&directory, "spoilt.jsonl"), spoilt);
    }
    assert_eq!(read(&directory, "whole.jsonl"), state);
}

#[test]
fn mistakes_are_answered_with_what_could_be_given() {
    directory().refuses(&[
        (&["no_such_game"][..], &["invalid value 'no_such_game'", "isolation"][..]),
        (
            &["l-game"],
            &["no evaluator of l-game has weights", "ijk lead", "isolation territory", "sudoku parity"],
        ),
        (&["ijk", "--eval", "gradient"], &["the evaluator `gradient` of ijk has no weights", "ijk lead"]),
        (&["ijk", "--eval", "luck"], &["ijk has no evaluator `luck`"]),
        (&["ijk", "--weights", "lead"], &["`lead` has no weight `lead`", "lead_empty, lead_full"]),
        (&["ijk", "--option", "lead_full=99999"], &["expected an integer from 0 to", "--option lead_full"]),
        (&["ijk", "--option", "luck=1"], &["there is no such option"]),
        (&["ijk", "--option", "eval=lead"], &["--option eval=: ", "by --eval"]),
        (&["ijk", "--option", "threads=2"], &["--option threads=: ", "--threads"]),
        (&["ijk", "--option", "lead_full=1,lead_full=2"], &["twice"]),
        (&["ijk", "--out", "/nowhere/weights.txt"], &["--out /nowhere/weights.txt: No such file"]),
        (&["ijk", "--out", "/"], &["--out /: it is no regular file"]),
        (&["ijk", "--state", "same", "--out", "./same"], &["would replace the record"]),
        (&["ijk", "--rules", "size=1"], &["--rules size"]),
        (
            &["isolation", "--rules", "width=3,height=3", "--random-plies", "9"],
            &["no opening", "fewer --random-plies"],
        ),
        (&["ijk", "--rate", "0"], &["a number above 0"]),
        (&["ijk", "--step", "51"], &["at most 50"]),
        (&["ijk", "--state", "/dev/null"], &["no regular file"]),
    ]);
}

#[test]
fn the_result_is_printed_for_people_and_for_programs() {
    let directory = directory();
    let output = directory.run(&[&TINY[..], &["--json", "--weights", "lead_full"]].concat());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["games"], &report["scheduled"], &report["nodes"]),
        (&json!(72), &json!(72), &json!(100))
    );
    assert!(report["tuned"]["lead_full"].is_i64() && report["tuned"].get("lead_empty").is_none(), "{report}");
    let output =
        directory.run(&[&TINY[..], &["--option", "lead_empty=77", "--weights", "lead_full"]].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("games: 72 of 72") && text.contains("\nlead_empty 77\nlead_full "), "{text}");
}
