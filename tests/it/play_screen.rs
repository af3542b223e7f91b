//! The full screen of `plyd play`: what its keys do, and what its window shows.

use crate::record::{Scratch, replayed};
use crate::short::GAMES;
use crate::terminal::{GIVEN_BACK, Terminal};
use plyd::bridge;

#[test]
fn a_full_game_of_each_by_typed_moves() {
    for (game, rules) in GAMES {
        let file = Scratch::new(&format!("full-{game}"));
        let arguments = ["play", game, "--rules", rules, "--p2", "random", "--seed", "5"];
        let mut terminal = Terminal::start(&arguments, 40, 120);
        terminal.shows("p1 (me) to move");
        for round in 0.. {
            assert!(round < 100, "{game}: {:?}", terminal.window.lines());
            // What may be played is read from the page, as a person would.
            terminal.send("moves\r");
            let page = terminal.wait("moves", |terminal| {
                let lines = terminal.window.lines();
                let is_page = lines[0] == "moves" && lines.last()?.contains("Esc");
                is_page.then(|| lines[2..lines.len() - 1].join(" "))
            });
            let separator = if page.contains(" | ") { " | " } else { " " };
            let moves: Vec<&str> = page.split(separator).map(str::trim).filter(|mv| !mv.is_empty()).collect();
            let mv = moves[round % moves.len().min(7)].to_owned();
            terminal.send("\x1b");
            terminal.shows("PgUp");
            let before = plies(&terminal);
            terminal.send(format!("{mv}\r"));
            let is_over = terminal.wait("an answer", |terminal| {
                let lines = terminal.window.lines();
                let over = lines.iter().any(|line| line.starts_with("`review` says what"));
                let mine = lines.iter().any(|line| line.starts_with("p1 (me) to move"));
                (over || (mine && plies(terminal) > before)).then_some(over)
            });
            if is_over {
                break;
            }
        }
        terminal.send(format!("save {}\r", file.path()));
        terminal.shows("saved ");
        terminal.send("quit\r");
        assert!(terminal.end().success(), "{game}");
        assert!(terminal.is_as_before() && terminal.transcript.contains(GIVEN_BACK), "{game}");
        let record = file.record();
        let root = replayed(&record);
        assert!(record.result.is_some(), "{game}");
        assert_eq!(root.outcome().map(bridge::outcome), record.result, "{game}");
    }
}

/// The number of the last ply beside the board.
fn plies(terminal: &Terminal) -> usize {
    let lines = terminal.window.lines();
    let numbers = lines.iter().filter_map(|line| {
        let (_, beside) = line.rsplit_once("   ")?;
        let (number, _) = beside.trim().split_once(". ")?;
        number.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

#[test]
fn who_types_while_a_page_is_shown_loses_no_letter() {
    let arguments = ["play", "isolation", "--rules", "width=5,height=5", "--p2", "me"];
    let mut terminal = Terminal::start(&arguments, 24, 80);
    terminal.shows("p1 (me) to move");
    // The keys fit a window of 80 columns.
    terminal.shows("Ctrl-C stop");
    terminal.send("rules\r");
    terminal.shows("Esc goes back");
    terminal.send("d4\r");
    terminal.shows("plays d4");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn cells_and_directions_are_played_by_keys() {
    // The arrows choose a cell from the middle on, and Enter plays it.
    let arguments = ["play", "isolation", "--rules", "width=5,height=5", "--p2", "me"];
    let mut terminal = Terminal::start(&arguments, 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("\x1b[A\x1b[A\x1b[D\r");
    terminal.shows("plays b2");
    terminal.send("\x1b[B\x1b[B\r");
    terminal.shows("plays b4");
    terminal.send("\r");
    terminal.shows("nothing can be played at b4");
    // Transposed, down is a column on, and labels go along.
    terminal.send("view t\r");
    terminal.shows("1   2   3   4   5");
    terminal.send("\x1b[B\x1b[B\x1b[D\r");
    terminal.shows("plays d3");
    // What was taken back by a key is there by the other.
    terminal.send("\x1b[5~\x1b[5~");
    terminal.shows("ply 1 of 3");
    terminal.send("\x1b[6~");
    terminal.shows("ply 2 of 3");
    terminal.send("\x1b[F");
    terminal.shows("ply 3 of 3");
    // Tab completes, Escape clears, and a paste is typed without being entered.
    terminal.send("hist\t");
    terminal.shows("> history");
    terminal.send("\x1b[200~ of\nthe game\x1b[201~");
    terminal.shows("> history of");
    terminal.send("\x15swa\t\r");
    terminal.shows("p1 (me), p2 (me)");
    terminal.send("\x04");
    assert!(terminal.end().success());

    let mut terminal = Terminal::start(&["play", "ijk", "--p2", "me"], 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("\x1b[C");
    terminal.shows("plays R");
    terminal.send("view y\r\x1b[A");
    terminal.shows("plays D");
    terminal.send("\x04");
    assert!(terminal.end().success());
}

#[test]
fn windows_of_any_size_are_drawn() {
    let mut terminal = Terminal::start(&["play", "sudoku", "--rules", "m=4,n=4"], 40, 120);
    terminal.shows("p1 (me) to move");
    for (rows, cols) in [(10, 40), (5, 20), (2, 5), (1, 1), (1, 200), (60, 2), (3, 3)] {
        terminal.resize(rows, cols);
        let first: String = "> ".chars().take(cols).collect();
        terminal.shows(first.trim_end());
    }
    terminal.resize(10, 80);
    terminal.shows("the window is too small for the board");
    terminal.send("help\r");
    terminal.shows("lines 1 to 8 of");
    terminal.send("\x1b[6~");
    terminal.shows("lines 9 to 16 of");
    terminal.send("\x1b[F\x1b[H\x1b[B");
    terminal.shows("lines 2 to 9 of");
    // The first letter leaves the page, and is not lost.
    terminal.send("q");
    terminal.resize(40, 120);
    terminal.shows("sudoku  p1 (me)");
    terminal.send("uit\r");
    assert!(terminal.end().success());
}

#[test]
fn a_flag_that_falls_ends_the_game() {
    let mut terminal = Terminal::start(&["play", "l-game", "--clock", "tc=1s"], 24, 80);
    terminal.shows("You lose: the flag fell.");
    terminal.send("4 1 W\r");
    terminal.shows("no move can be made here");
    terminal.send("clock off\rundo\r");
    terminal.shows("1 move taken back");
    terminal.send("4 1 W\r");
    terminal.shows("p2 (default) plays ");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn a_flag_that_falls_behind_an_undo_ends_the_game_once() {
    let arguments = ["play", "isolation", "--p2", "me", "--moves", "d4", "b3", "--clock", "tc=1s", "--plain"];
    let mut terminal = Terminal::start(&arguments, 24, 80);
    terminal.expect("p1 (me) to move");
    terminal.send("undo 2\r");
    terminal.expect("p2 wins: the flag fell.");
    terminal.says("redo", "there is nothing to play again");
    assert_eq!(terminal.transcript.matches("the flag fell").count(), 1);
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn what_a_keyboard_sends_is_what_the_line_becomes() {
    let mut terminal = Terminal::start(&["play", "isolation", "--p2", "me"], 24, 80);
    terminal.shows("p1 (me) to move");
    let table: &[(&[u8], &str)] = &[
        (b"d4", "d4"),
        ("\u{e9}\u{20ac}\u{1f600}".as_bytes(), "\u{e9}\u{20ac}\u{1f600}"),
        (b"abc\x1b[D\x1b[Dx\x1b[Cy", "axbyc"),
        (b"abc\x1bODx", "abxc"),
        (b"abc\x1b[Hx\x1b[Fy", "xabcy"),
        (b"abc\x1bOHx\x1bOFy", "xabcy"),
        (b"abc\x1b[1~x\x1b[4~y", "xabcy"),
        (b"abc\x1b[7~x\x1b[8~y", "xabcy"),
        (b"abc\x01x\x05y\x02z\x06w", "xabczyw"),
        (b"abc\x1b[D\x1b[3~", "ab"),
        (b"ab\x7fc\x08d", "ad"),
        (b"ab cd\x17e", "ab e"),
        // With another key held down, a key is the key alone.
        (b"abc\x1b[1;5Dx\x1b[1;2Dy\x1b[3;2~", "abyc"),
        (b"a\x1bb", "ab"),
        // A paste is one line at most, and no key.
        (b"a\x1b[200~d4\r\nb3\x1b[201~z", "ad4z"),
        (b"a\x1b[200~\x1b[2J\x03\t\xff\x1b[201~z", "a[2J\u{fffd}z"),
        // No keys, and none that is known.
        (b"a\x1b[99;99;99zb\x1b[?1;2cc\x1b[Zd\x1b[Ie\x1b[15~f", "abcdef"),
        (b"\xff\xfe\x80a\xf0\x9f\xffb", "ab"),
        (b"a\x00b\x1cc", "abc"),
    ];
    for (index, (bytes, line)) in table.iter().enumerate() {
        // Escape alone clears the line; the number at its end shows that all before it was taken.
        terminal.send("\x1b");
        terminal.wait("an empty line", |terminal| (terminal.window.lines()[22] == ">").then_some(()));
        terminal.send([bytes, format!("\x05 {index}").as_bytes()].concat());
        terminal.wait(&format!("`{line}` for {bytes:?}"), |terminal| {
            (terminal.window.lines()[22] == format!("> {line} {index}")).then_some(())
        });
    }
    // A character may come in pieces.
    terminal.send("\x15");
    for byte in "\u{20ac}!".as_bytes() {
        terminal.send([*byte]);
    }
    terminal.shows("> \u{20ac}!");
    // Earlier lines come back; Enter is a line feed as well.
    terminal.send("\x15moves zz\n");
    terminal.shows("no move begins with `zz`");
    terminal.send("q\x10\x1b[A");
    terminal.shows("> moves zz");
    terminal.send("\x1b[B\x1bOP");
    terminal.shows("lines 1 to 22 of");
    terminal.send("\x03\x04");
    assert!(terminal.end().success());
}

#[test]
fn much_that_is_typed_at_once_is_taken_and_a_paste_too_long_is_not() {
    let mut terminal = Terminal::start(&["play", "isolation", "--p2", "me"], 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("x".repeat(3000) + "\x15history");
    terminal.shows("> history");
    terminal.send(format!("\x15\x1b[200~{}\x1b[201~moves", "d4\r".repeat(30_000)));
    terminal.wait("the line behind the paste", |terminal| {
        (terminal.window.lines()[22] == "> moves").then_some(())
    });
    terminal.shows("what was pasted is too long");
    terminal.send(format!("\x15\x1b[200~{}\x1b[201~.", "y".repeat(5000)));
    terminal.shows("yyyyyy.");
    terminal.send("\x15\x04");
    assert!(terminal.end().success());
}
