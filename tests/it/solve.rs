//! `plyd solve` with a certificate: a checker that shares no code with plyd accepts it, and a run that was
//! ended goes on.

use std::fs;

use crate::trials::Trials;
use rustix::process::Signal;
use serde_json::Value;

#[path = "../../benches/certificate/src/board.rs"]
mod board;
#[path = "../../benches/certificate/src/certificate.rs"]
mod certificate;
#[path = "../../benches/certificate/src/paths.rs"]
mod paths;
#[path = "../../benches/certificate/src/solver.rs"]
mod solver;
#[path = "../../benches/certificate/src/spread.rs"]
mod spread;
#[path = "../../benches/certificate/src/table.rs"]
mod table;

const FILE: &str = "certificate.txt";

/// Solves a board with a certificate up to a ply; what it prints as JSON, and the certificate.
fn certified(directory: &Trials, board: &str, plies: &str, more: &[&str]) -> (Value, String) {
    let arguments = ["isolation", "--board", board, "--certificate", FILE, "--plies", plies, "--json"];
    let output = directory.run(&[&arguments[..], more].concat());
    (serde_json::from_slice(&output.stdout).unwrap(), fs::read_to_string(directory.join(FILE)).unwrap())
}

#[test]
fn a_run_that_was_cut_anywhere_goes_on_to_the_same_certificate() {
    let directory = Trials::new("solve");
    let (values, whole) = certified(&directory, "5x5", "4", &[]);
    let lines = whole.lines().count();
    assert_eq!(lines, 1 + 85);
    // Solved in another order, and cut within a line, after one, within the header, and before it.
    let mut shuffled: Vec<&str> = whole.lines().collect();
    shuffled[1..].reverse();
    let shuffled = shuffled.join("\n") + "\n";
    for length in [0, 5, whole.find('\n').unwrap() + 1, whole.len() / 2, whole.len() - 1, whole.len()] {
        fs::write(directory.join(FILE), &shuffled[..length]).unwrap();
        let (again, text) = certified(&directory, "5x5", "4", &["--threads", "3"]);
        assert_eq!((&again["values"], &text), (&values["values"], &whole), "cut after {length} bytes");
    }
}

#[test]
fn a_run_that_is_killed_goes_on_with_what_it_has() {
    let directory = Trials::new("solve");
    let (_, whole) = certified(&directory, "6x6", "2", &["--threads", "2"]);
    let arguments = ["isolation", "--board", "6x6", "--certificate", FILE, "--plies", "2"];
    let path = directory.join(FILE);
    let lines = || fs::read_to_string(&path).unwrap_or_default().lines().count();
    fs::remove_file(&path).unwrap();
    directory.interrupt(&arguments, Signal::KILL, || lines() > 20, || fs::remove_file(&path).unwrap());
    let proven = lines();
    assert!((20..166).contains(&proven), "{proven}");
    let output = directory.run(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let first: usize =
        said.split(['/', ' ']).find_map(|word| word.parse().ok()).expect("how many are solved");
    assert!(first + 2 >= proven, "after {proven} lines: {said}");
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
}

#[test]
fn a_checker_that_shares_no_code_proves_it() {
    let directory = Trials::new("solve");
    for (board, plies) in [("3x4", "40"), ("4x5", "1"), ("5x5", "6"), ("5x6", "10")] {
        let (values, text) = certified(&directory, board, plies, &["--threads", "2"]);
        let checked =
            certificate::text(text.as_bytes()).and_then(|text| certificate::check(text, 2, &|_, _| ()));
        let checked = checked.unwrap_or_else(|fault| panic!("{board}: {fault}"));
        let rows = values["values"].as_array().unwrap();
        let sum = |count: &str, outcome: &str| {
            let rows = rows.iter().filter(|row| outcome.is_empty() || row["outcome"] == outcome);
            rows.filter_map(|row| row[count].as_u64()).sum::<u64>() as usize
        };
        assert_eq!(sum("classes", ""), checked.classes, "{board}");
        for (player, outcome) in ["win", "loss"].into_iter().enumerate() {
            let won = checked.one_colour[player] + checked.two_colours[player];
            assert_eq!(sum("positions", outcome), won, "{board}: player {}", player + 1);
        }
        // The test can fail: what is proven is not what anybody says.
        let wrong = text.replacen(" 1 ", " 2 ", 1);
        assert!(certificate::check(&wrong, 2, &|_, _| ()).is_err(), "{board}");
        fs::remove_file(directory.join(FILE)).unwrap();
    }
}

#[test]
fn what_is_no_certificate_of_this_board_stays_as_it_is() {
    let directory = Trials::new("solve");
    let (_, whole) = certified(&directory, "4x4", "3", &[]);
    for (text, word) in [
        ("notes\nand more".to_owned(), "begins with `notes`, not with `isolation 4x4 plies 3`"),
        (whole.replace("plies 3", "plies 4"), "not with `isolation 4x4 plies 3`"),
        (whole.replace("4x4", "3x4"), "not with `isolation 4x4 plies 3`"),
        (whole.replacen("a1 b1", "a1 z9", 1), "line 2 of the certificate has no opening"),
        (
            whole.replacen("a1 b1 1", "a1 b1 3", 1).replacen("a1 b1 2", "a1 b1 3", 1),
            "line 2 of the certificate names no winner",
        ),
        (whole.clone() + "a1\n", "has no moves: `a1`"),
        (whole.clone() + "a1 b1 1 08\n", "no digits from 0 to 7"),
    ] {
        fs::write(directory.join(FILE), &text).unwrap();
        let arguments = ["isolation", "--board", "4x4", "--certificate", FILE, "--plies", "3"];
        let said = directory.refusal(&arguments);
        assert!(said.contains(word), "{said} without {word}");
        assert_eq!(fs::read_to_string(directory.join(FILE)).unwrap(), text, "{word}");
    }
    fs::remove_file(directory.join(FILE)).unwrap();
    directory.refuses(&[(&["l-game", "--certificate", FILE], &["l-game has no certificate"])]);
    assert!(!directory.join(FILE).exists());
}
