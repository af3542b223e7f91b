//! The node counts of `plyd bench`, a line a game: equal on every machine, and changed only on purpose.
//!
//! A change to the search, an evaluation or the rules changes the signature. Then the lines of
//! `tests/signature.txt` are renewed with what this test prints, and the commit message ends with the last
//! line of `plyd bench`. A game without a line is passed over: its author records it when it is finished.

use std::collections::BTreeMap;

use crate::common::process;
use crate::games::games;

/// The games that must have a line.
const RECORDED: [&str; 5] = ["l-game", "isolation", "sudoku", "colosseum", "ijk"];

fn recorded() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("../signature.txt").lines();
    lines.map(|line| line.split_once(' ').expect("a line is a game and its signature")).collect()
}

#[test]
#[allow(clippy::print_stderr, reason = "a game that is not compared is named")]
fn bench_gives_the_recorded_signatures() {
    let recorded = recorded();
    let mut changed = Vec::new();
    for entry in games() {
        let name = entry.name;
        let output = process::output(process::plyd(["bench", name]));
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let signature = text.lines().find_map(|line| line.strip_prefix("Bench: "));
        let signature = signature.unwrap_or_else(|| panic!("{name} has no signature: {text}"));
        match recorded.get(name) {
            Some(expected) if *expected == signature => {}
            Some(expected) => changed.push(format!("{name} {signature} (recorded: {expected})")),
            None => eprintln!("not in tests/signature.txt, so not compared: {name} {signature}"),
        }
    }
    assert!(
        changed.is_empty(),
        "the signatures are not those of tests/signature.txt:\n{}",
        changed.join("\n")
    );
}

#[test]
fn no_game_of_plyd_loses_its_line() {
    let recorded = recorded();
    for game in RECORDED {
        assert!(recorded.contains_key(game), "tests/signature.txt has no line of {game}");
    }
}
