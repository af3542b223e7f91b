//! `plyd solve` by parts: an interrupted run goes on with its record, and a checker that shares no code with
//! plyd accepts the certificate.

use std::fs;

use crate::trials::Trials;
use rustix::process::Signal;
use serde_json::{Value, json};

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

/// Solves a board of Isolation in a directory; what is printed, as JSON.
fn solved(directory: &Trials, board: &str, more: &[&str]) -> Value {
    let output = directory.run(&[&["isolation", "--board", board, "--json"], more].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

fn read(directory: &Trials, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}

#[test]
fn a_run_that_was_cut_anywhere_goes_on_to_the_same_end() {
    let directory = Trials::new("solve");
    let files = ["--record", "record", "--certificate", "certificate", "--plies", "4", "--book", "book"];
    let values = solved(&directory, "5x5", &files);
    let [record, certificate, book] = ["record", "certificate", "book"].map(|name| read(&directory, name));
    assert_eq!([&record, &certificate, &book].map(|text| text.lines().count()), [85, 86, 85]);
    // As several threads may have written it, and cut within a line, after one, and nowhere.
    let mut lines: Vec<&str> = record.lines().collect();
    lines.reverse();
    let record = lines.join("\n") + "\n";
    for length in [0, 5, record.find('\n').unwrap() + 1, record.len() / 2, record.len() - 1, record.len()] {
        fs::write(directory.join("record"), &record[..length]).unwrap();
        let again = solved(&directory, "5x5", &[&files[..], &["--threads", "3"]].concat());
        assert_eq!(again["values"], values["values"], "cut after {length} bytes");
        assert_eq!(read(&directory, "certificate"), certificate, "cut after {length} bytes");
        assert_eq!(read(&directory, "book"), book, "cut after {length} bytes");
        // A last line that lacks nothing but its end is whole.
        let whole_lines = record[..length].lines().filter(|line| line.ends_with('}')).count();
        assert_eq!(again["recorded"], if whole_lines == 0 { Value::Null } else { json!(whole_lines) });
        let grown = read(&directory, "record");
        assert!(grown.starts_with(record[..length].rsplit_once('\n').map_or("", |(whole, _)| whole)));
        assert_eq!(grown.lines().count(), 85, "cut after {length} bytes");
    }
}

#[test]
fn what_the_record_has_is_not_solved_again() {
    let directory = Trials::new("solve");
    let book = || {
        solved(&directory, "4x5", &["--record", "record", "--book", "book"]);
        read(&directory, "book")
    };
    let found = book();
    // Another winning move, which no run would find: the move of one opening is the second in the order of
    // cells, if the first one wins.
    let record = read(&directory, "record");
    let marked = record.replacen(r#" 1 0""#, r#" 1 1""#, 1);
    assert_ne!(record, marked);
    fs::write(directory.join("record"), &marked).unwrap();
    let changed = book();
    let differ = found.lines().zip(changed.lines()).filter(|(found, changed)| found != changed);
    assert_eq!((differ.count(), read(&directory, "record")), (1, marked));
}

#[test]
fn a_run_that_is_killed_goes_on_with_what_it_has() {
    let directory = Trials::new("solve");
    solved(&directory, "6x6", &["--threads", "2", "--book", "whole"]);
    let whole = read(&directory, "whole");
    let openings = whole.lines().count();
    let arguments = ["isolation", "--board", "6x6", "--record", "record", "--book", "book"];
    let path = directory.join("record");
    let lines = || fs::read_to_string(&path).unwrap_or_default().lines().count();
    let again = || fs::remove_file(&path).unwrap();
    // The signal may come between the last opening and the end.
    let kept = loop {
        directory.interrupt(&arguments, Signal::KILL, || lines() > 20, again);
        let kept = read(&directory, "record");
        if kept.lines().count() < openings {
            break kept;
        }
        again();
    };
    directory.run(&arguments);
    let whole_lines = kept.rsplit_once('\n').map_or("", |(whole, _)| whole);
    assert!(read(&directory, "record").starts_with(whole_lines), "{kept}");
    assert_eq!((lines(), read(&directory, "book")), (openings, whole));
}

#[test]
fn a_checker_that_shares_no_code_proves_it() {
    for (board, plies) in [("3x4", "20"), ("4x5", "1"), ("5x5", "6"), ("5x6", "10")] {
        let directory = Trials::new("solve");
        let values =
            solved(&directory, board, &["--certificate", "certificate", "--plies", plies, "--threads", "2"]);
        let text = fs::read(directory.join("certificate")).unwrap();
        let check =
            |text: &[u8]| certificate::text(text).and_then(|text| certificate::check(text, 2, &|_, _| ()));
        let checked = check(&text).unwrap_or_else(|fault| panic!("{board}: {fault}"));
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
        // The checker does not believe everything.
        let wrong = String::from_utf8(text).unwrap().replacen(" 1 ", " 2 ", 1);
        assert!(check(wrong.as_bytes()).is_err(), "{board}");
    }
}

#[test]
fn what_is_no_record_of_this_solution_stays_as_it_is() {
    let directory = Trials::new("solve");
    let arguments = ["isolation", "--board", "4x4", "--record", "record"];
    directory.run(&arguments);
    let whole = read(&directory, "record");
    let first: Value = serde_json::from_str(whole.lines().next().unwrap()).unwrap();
    // One line more, with another part.
    let with = |part: &str| {
        let mut line = first.clone();
        line["part"] = json!(part);
        format!("{whole}{line}\n")
    };
    let [opening, won] = {
        let part = first["part"].as_str().unwrap();
        [&part[..5], &part[6..]].map(str::to_owned)
    };
    for (text, word) in [
        ("notes".to_owned(), "line 1"),
        ("notes\nand more".to_owned(), "line 1"),
        ("{}\n".to_owned(), "line 1"),
        (whole.replace(r#""width":4"#, r#""width":5"#), "line 1: it is part of another solution"),
        (whole.replace(r#""plies":1"#, r#""plies":2"#), "line 1: it is part of another solution"),
        (whole.replace(r#""solution":1"#, r#""solution":2"#), "line 1: it is part of another solution"),
        (with("a1 z9 1 0"), "no opening of this board"),
        (with(&format!("{opening} 3 0")), "no opening of this board"),
        (with(&format!("{opening} 1 7")), "a winner's moves up to ply 1"),
        (with(&format!("{opening} 1 00")), "a winner's moves up to ply 1"),
        (with(&format!("{opening} 1 -")), "a winner's moves up to ply 1"),
        (with(&format!("{opening} 2 0")), "a winner's moves up to ply 1"),
        (with(&format!("{opening} 1 x")), "a winner's moves up to ply 1"),
        (with(""), "no opening of this board"),
        (with(&format!("{opening} {}", if won.starts_with('1') { "2 -" } else { "1 0" })), "contradicts"),
    ] {
        fs::write(directory.join("record"), &text).unwrap();
        let said = directory.refusal(&arguments);
        assert!(said.contains(word) && said.contains("--record record: "), "{word}: {said}");
        assert_eq!(read(&directory, "record"), text, "{word}");
    }
}

#[test]
fn files_that_cannot_be_written_are_refused_before_anything_is_solved() {
    let directory = Trials::new("solve");
    let board = ["isolation", "--board", "6x6"];
    let refused: [(&[&str], &[&str]); 5] = [
        (&["--book", "/nowhere/book"], &["--book /nowhere/book", "No such file"]),
        (&["--certificate", "/dev/full"], &["--certificate /dev/full: it is no regular file"]),
        (&["--record", "/dev/null"], &["--record /dev/null: it is no regular file"]),
        (&["--book", "same", "--certificate", "./same"], &["would replace the book"]),
        (&["--record", "same", "--book", "./same"], &["would replace the record"]),
    ];
    for (more, words) in refused {
        directory.refuses(&[(&[&board[..], more].concat(), words)]);
    }
}

#[test]
fn options_for_openings_are_refused_where_a_game_is_solved_all_at_once() {
    let directory = Trials::new("solve");
    for flag in ["--book", "--certificate", "--record"] {
        directory.refuses(&[(&["l-game", flag, "file"], &["l-game is solved all at once", flag])]);
        assert!(!directory.join("file").exists());
    }
    directory.refuses(&[(&["l-game", "--threads", "2"], &["l-game is solved all at once", "--threads"])]);
}
