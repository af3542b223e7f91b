//! Tests of the whole: a slow oracle by the rules alone, certificates that it makes, and spoilt ones.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use super::board::{Board, Position, each};
use super::certificate::{Fault, Summary, check, text};
use super::solver::solver;

/// Whether the player to move wins, by the rules alone.
fn oracle(board: &Board, pos: &Position) -> bool {
    each(pos.moves(board)).any(|cell| !oracle(board, &pos.after(cell)))
}

/// The same with a memory, for many positions of one board.
fn remembered(board: &Board, known: &mut HashMap<Position, bool>, pos: &Position) -> bool {
    if let Some(&won) = known.get(pos) {
        return won;
    }
    let won = each(pos.moves(board)).any(|cell| !remembered(board, known, &pos.after(cell)));
    known.insert(*pos, won);
    won
}

/// The openings of a board, one of each class of symmetric ones.
fn openings(board: &Board) -> Vec<(usize, usize)> {
    let pairs = (0..board.size()).flat_map(|first| (0..board.size()).map(move |second| (first, second)));
    let least = |&(first, second): &(usize, usize)| {
        first != second && board.images(first, second).iter().all(|&image| image >= (first, second))
    };
    pairs.filter(least).collect()
}

/// A stream of random numbers (xorshift).
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Appends the digits of a walk in which the winner plays its first winning move.
fn digits(
    board: &Board,
    known: &mut HashMap<Position, bool>,
    pos: &Position,
    left: usize,
    winning: bool,
    out: &mut String,
) {
    if left == 0 {
        return;
    }
    for (index, cell) in each(pos.moves(board)).enumerate() {
        let after = pos.after(cell);
        if !winning {
            digits(board, known, &after, left - 1, true, out);
        } else if !remembered(board, known, &after) {
            out.push_str(&index.to_string());
            return digits(board, known, &after, left - 1, false, out);
        }
    }
}

/// A right certificate.
fn certificate(width: usize, height: usize, plies: usize) -> String {
    let board = Board::new(width, height).unwrap();
    let mut known = HashMap::new();
    let mut out = format!("isolation {width}x{height} plies {plies}\n");
    for (first, second) in openings(&board) {
        let pos = Position::placed(&board, first, second);
        let won = remembered(&board, &mut known, &pos);
        let mut moves = String::new();
        digits(&board, &mut known, &pos, plies, won, &mut moves);
        let moves = if moves.is_empty() { "-" } else { &moves };
        let winner = if won { 1 } else { 2 };
        out += &format!("{} {} {winner} {moves}\n", board.name(first), board.name(second));
    }
    out
}

/// Checks a text with two threads.
fn judge(text: &str) -> Result<Summary, Fault> {
    check(text, 2, &|_, _| ())
}

/// The line that is found wrong, and why.
fn fault(text: &str) -> (usize, String) {
    let fault = judge(text).unwrap_err();
    assert!(fault.to_string().starts_with(&format!("line {}: ", fault.line)));
    (fault.line, fault.what)
}

/// A text in which one line, counted from 1, is replaced by others.
fn replaced(text: &str, number: usize, by: &[&str]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.splice(number - 1..number, by.iter().copied());
    lines.join("\n") + "\n"
}

#[test]
fn solver_agrees_with_the_rules() {
    let mut state = 0x1234_5678_9abc_def1;
    for (width, height, count) in
        [(4, 4, 3000), (3, 5, 3000), (5, 3, 3000), (4, 5, 3000), (5, 5, 1500), (8, 3, 500)]
    {
        let board = Board::new(width, height).unwrap();
        let mut solver = solver(&board);
        for _ in 0..count {
            let mover = (random(&mut state) % board.size() as u64) as u8;
            let other = (random(&mut state) % board.size() as u64) as u8;
            if mover == other {
                continue;
            }
            let placed = Position::placed(&board, usize::from(mover), usize::from(other));
            // At most 18 open cells, or the oracle takes too long.
            let mut open = placed.open & (random(&mut state) | random(&mut state));
            while open.count_ones() > 18 {
                open &= !(1 << (random(&mut state) % 64));
            }
            let pos = Position { open, ..placed };
            assert_eq!(solver.wins(&pos), oracle(&board, &pos), "{width}x{height} {pos:?}");
        }
    }
}

#[test]
fn solver_agrees_with_the_rules_on_whole_games() {
    for (width, height) in [(3, 4), (4, 4), (3, 5), (5, 4)] {
        let board = Board::new(width, height).unwrap();
        let (mut solver, mut known) = (solver(&board), HashMap::new());
        for (first, second) in openings(&board) {
            remembered(&board, &mut known, &Position::placed(&board, first, second));
        }
        for (pos, &won) in &known {
            assert_eq!(solver.wins(pos), won, "{width}x{height} {pos:?}");
        }
    }
}

/// The openings won by player 1 and 2, with tokens on one colour and on two, symmetric ones counted.
fn counts(width: usize, height: usize) -> ([usize; 2], [usize; 2]) {
    let board = Board::new(width, height).unwrap();
    let mut solver = solver(&board);
    let mut out = format!("isolation {width}x{height} plies 0\n");
    for (first, second) in openings(&board) {
        let winner = if solver.wins(&Position::placed(&board, first, second)) { 1 } else { 2 };
        out += &format!("{} {} {winner} -\n", board.name(first), board.name(second));
    }
    let summary = judge(&out).unwrap();
    (summary.one_colour, summary.two_colours)
}

#[test]
fn known_counts() {
    assert_eq!(counts(5, 5), ([288, 0], [8, 304]));
    assert_eq!(counts(4, 5), ([160, 20], [0, 200]));
    // Some 20 s of one core to solve, and as long to check.
    if std::env::var_os("PLYD_WHOLE").is_some_and(|value| value == "1") {
        assert_eq!(counts(7, 7), ([1152, 0], [8, 1192]));
    }
}

#[test]
fn right_certificates_are_accepted() {
    for (width, height) in [(3, 4), (4, 4)] {
        let first = judge(&certificate(width, height, 0)).unwrap();
        assert_eq!(first.classes, openings(&Board::new(width, height).unwrap()).len());
        for plies in [1, 2, 4, 7, 99] {
            let summary = judge(&certificate(width, height, plies)).unwrap();
            assert_eq!((summary.one_colour, summary.two_colours), (first.one_colour, first.two_colours));
        }
    }
}

#[test]
fn any_line_with_the_other_winner_is_refused() {
    for plies in [0, 1, 4] {
        let right = certificate(4, 4, plies);
        for (index, line) in right.lines().enumerate().skip(1) {
            let mut words: Vec<&str> = line.split(' ').collect();
            words[2] = if words[2] == "1" { "2" } else { "1" };
            assert_eq!(fault(&replaced(&right, index + 1, &[&words.join(" ")])).0, index + 1);
        }
    }
}

#[test]
fn losing_moves_are_refused() {
    let board = Board::new(4, 4).unwrap();
    let right = certificate(4, 4, 1);
    let mut refused = 0;
    for (index, line) in right.lines().enumerate().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
        let (first, second) = (board.cell(words[0]).unwrap(), board.cell(words[1]).unwrap());
        if words[2] != "1" {
            continue;
        }
        let pos = Position::placed(&board, first, second);
        for (digit, cell) in each(pos.moves(&board)).enumerate() {
            let text = replaced(&right, index + 1, &[&format!("{} {} 1 {digit}", words[0], words[1])]);
            if oracle(&board, &pos.after(cell)) {
                let names = format!("{} {} {}", words[0], words[1], board.name(cell));
                assert_eq!(fault(&text), (index + 1, format!("player 1 does not win after {names}")));
                refused += 1;
            } else {
                judge(&text).unwrap();
            }
        }
    }
    assert!(refused > 0);
}

#[test]
fn digits_too_many_too_few_or_too_large_are_refused() {
    let right = certificate(4, 4, 5);
    for (index, line) in right.lines().enumerate().skip(1) {
        let spoilt = |line: &str| fault(&replaced(&right, index + 1, &[line]));
        let (line_of_more, more) = spoilt(&format!("{line}0").replace("-0", "0"));
        assert_eq!((line_of_more, more.as_str()), (index + 1, "digits that are too many at the end: 1"));
        let cut = &line[..line.len() - 1];
        let (line_of_less, less) = spoilt(cut);
        assert_eq!(line_of_less, index + 1);
        assert!(less.starts_with("too few digits") || less.starts_with("the moves are missing"), "{less}");
        if let Some(before) = line.strip_suffix(|last: char| last.is_ascii_digit()) {
            assert!(spoilt(&format!("{before}9")).1.starts_with("digit 9 is too large"));
        }
    }
}

#[test]
fn every_opening_has_one_line() {
    let right = certificate(4, 4, 1);
    let lines: Vec<&str> = right.lines().collect();
    let board = Board::new(4, 4).unwrap();
    let (line, what) = fault(&replaced(&right, 5, &[]));
    assert_eq!(line, lines.len());
    assert!(what.starts_with("the file ends without opening "), "{what}");
    for (index, line) in lines.iter().enumerate().skip(1) {
        assert_eq!(fault(&format!("{right}{line}\n")).0, lines.len() + 1);
        let words: Vec<&str> = line.split(' ').collect();
        let (first, second) = (board.cell(words[0]).unwrap(), board.cell(words[1]).unwrap());
        for (first, second) in board.images(first, second) {
            let image = format!("{} {} {} -", board.name(first), board.name(second), words[2]);
            assert_eq!(fault(&replaced(&right, index + 1, &[line, &image])).0, index + 2);
        }
    }
}

#[test]
fn bad_headers_are_refused() {
    let right = certificate(3, 4, 1);
    let headers = [
        "",
        "isolation",
        "isolation 3x4",
        "isolation 3x4 plies",
        "isolation 3x4 plies -1",
        "isolation 3x4 plies 01",
        "isolation 3x4 plies 1 ",
        "isolation 3x4  plies 1",
        "isolation 3x4 plies 1000",
        "isolation 3×4 plies 1",
        "isolation 2x4 plies 1",
        "isolation 3x16 plies 1",
        "isolation 9x9 plies 1",
        "isolation 0x0 plies 1",
        "Isolation 3x4 plies 1",
        "isolation 3x4x5 plies 1",
        "isolation 3x4 plies 1\r",
        "isolation +3x4 plies 1",
    ];
    for header in headers {
        assert_eq!(fault(&replaced(&right, 1, &[header])).0, 1, "{header}");
    }
    assert_eq!(fault("").0, 1);
    assert_eq!(fault("\n").0, 1);
    assert_eq!(fault("isolation 15x4 plies 1\n").0, 2);
}

#[test]
fn bad_lines_are_refused() {
    let right = certificate(3, 4, 1);
    let lines = [
        "",
        " ",
        "a1",
        "a1 b1 1",
        "a1 b1 1 ",
        "a1 b1 3 0",
        "a1 b1 1 0 ",
        "a1  b1 1 0",
        "d1 b1 1 0",
        "a5 b1 1 0",
        "a0 b1 1 0",
        "a01 b1 1 0",
        "A1 b1 1 0",
        "a1 a1 1 0",
        "a1 b1 1 x",
        "a1 b1 1 --",
        "a1 b1 1 é",
        "é b1 1 0",
        "a1 b1 1 0\r",
        "a1 b1 1 ٣",
        "\u{1b}[2J b1 1 0",
        "a18446744073709551617 b1 1 0",
    ];
    for line in lines {
        let (number, what) = fault(&replaced(&right, 2, &[line]));
        assert_eq!(number, 2, "{line}");
        assert!(!what.contains(char::is_control), "{what}");
    }
    assert_eq!(fault(right.trim_end()).0, right.lines().count());
}

#[test]
fn noise_is_refused() {
    assert_eq!(text(b"isolation 3x4 plies 1\n\xff\xfe\n").unwrap_err().line, 2);
    let right = certificate(3, 4, 3).into_bytes();
    let mut state = 0xfeed_beef_dead_c0de;
    for _ in 0..3000 {
        let mut bytes = right.clone();
        for _ in 0..=random(&mut state) % 4 {
            let place = random(&mut state) as usize % bytes.len();
            match random(&mut state) % 3 {
                0 => bytes[place] = random(&mut state) as u8,
                1 => bytes.truncate(place + 1),
                _ => bytes.insert(place, random(&mut state) as u8),
            }
        }
        // Any answer will do, as some changes are right, but not a panic.
        let _ = text(&bytes).and_then(|text| check(text, 1, &|_, _| ()));
        let noise: Vec<u8> = (0..200).map(|_| random(&mut state) as u8).collect();
        text(&noise).and_then(|text| check(text, 1, &|_, _| ())).unwrap_err();
    }
}

#[test]
fn all_widths_are_solved() {
    for width in 3..=15 {
        let board = Board::new(width, 3).unwrap();
        let mut solver = solver(&board);
        for (first, second) in openings(&board) {
            let mut pos = Position::placed(&board, first, second);
            pos.open &= 0x5bd3_96e7_5bd3_96e7;
            assert_eq!(solver.wins(&pos), oracle(&board, &pos), "{width}x3 {pos:?}");
        }
    }
}
