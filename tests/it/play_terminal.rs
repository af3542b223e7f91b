//! `plyd play` and the terminal it has: signals, interrupts, an engine that goes, and how it is given back.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::record::Scratch;
use crate::terminal::{GIVEN_BACK, TIMEOUT, Terminal};
use rustix::process::{Pid, Signal, kill_process};

/// A process's children.
fn children(pid: u32) -> Vec<i32> {
    let list = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

#[test]
fn an_interrupt_stops_the_search_and_a_second_one_leaves() {
    for plain in [false, true] {
        let mut arguments = vec!["play", "isolation", "--rules", "preset=11x9", "--p2", "me"];
        if plain {
            arguments.push("--plain");
        }
        let mut terminal = Terminal::start(&arguments, 30, 100);
        terminal.expect("p1 (me) to move");
        terminal.send("analyse 2\r");
        // The search runs, and has found both lines.
        terminal.wait("a depth", |terminal| {
            let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>();
            let mut depths = terminal.transcript.split("depth ").skip(1).map(digits);
            depths.any(|depth| depth.parse().is_ok_and(|depth: u32| depth >= 3)).then_some(())
        });
        terminal.send("\x03");
        terminal.expect("stopped; Ctrl-C again leaves");
        terminal.expect("analysis for p1, depth");
        terminal.expect("2. ");
        terminal.send("e5\r");
        terminal.expect("plays e5");
        terminal.send("\x03");
        terminal.expect("Ctrl-C again leaves");
        terminal.send("\x03");
        assert!(terminal.end().success());
        terminal.expect("the game is not saved; this command resumes it:");
        assert!(terminal.transcript.contains("--moves e5"), "{}", terminal.transcript);
        assert!(terminal.is_as_before(), "plain: {plain}");
        assert_eq!(terminal.transcript.contains(GIVEN_BACK), !plain);
    }
}

#[test]
fn an_interrupt_makes_the_engine_move_at_once() {
    let arguments = ["play", "isolation", "--rules", "preset=11x9", "--time", "1000s"];
    let mut terminal = Terminal::start(&arguments, 30, 100);
    terminal.shows("p1 (me) to move");
    terminal.send("e5\r");
    terminal.shows("thinking for p2");
    terminal.send("a1\r");
    terminal.shows("it is p2's turn");
    terminal.send("\x03");
    terminal.shows("p2 (default) plays ");
    terminal.send("watch\r");
    terminal.shows("thinking for p1");
    terminal.send("stop\r");
    terminal.shows("p1 (default) plays ");
    terminal.shows("thinking for p2");
    terminal.send("pause\r");
    terminal.shows("the engine waits for `continue`");
    terminal.send("undo 3\r");
    terminal.shows("3 moves taken back");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn the_engine_still_moves_after_a_hint_on_its_turn() {
    let arguments = ["play", "isolation", "--rules", "preset=11x9", "--time", "1000s", "--plain"];
    let mut terminal = Terminal::start(&arguments, 30, 100);
    terminal.expect("p1 (me) to move");
    terminal.says("e5", "p1 (me) plays e5");
    terminal.says("hint 50ms", "hint: ");
    terminal.says("analyse 1 50ms", "analysis for p2");
    terminal.says("pause", "the engine waits");
    terminal.says("hint 50ms", "hint: ");
    terminal.says("stop", "`go` lets the engine move");
    terminal.send("continue\r");
    terminal.says("hint 50ms", "hint: ");
    terminal.says("stop", "p2 (default) plays ");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn the_engine_moves_while_the_bar_is_measured() {
    let arguments = ["play", "isolation", "--rules", "preset=11x9", "--time", "20ms", "--plain"];
    let mut terminal = Terminal::start_with(&arguments, 30, 100, &[("NO_COLOR", "1")]);
    terminal.expect("p1 (me) to move");
    terminal.says("bar", " p2  p1: ");
    terminal.says("e5", "p2 (default) plays ");
    terminal.says("undo 1", "1 move taken back");
    terminal.expect(" p2  p2: ");
    terminal.send("back\rnext\rcontinue\r");
    terminal.expect("p2 (default) plays ");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn what_cannot_be_done_leaves_the_engine_thinking() {
    let file = Scratch::new("illegal");
    let record = r#"{"record":1,"game":"isolation","rules":{"width":5,"height":5},"start":"...../...../...../...../..... 1","moves":["a1","zz"],"result":null}"#;
    fs::write(&file.0, record).unwrap();
    let load = format!("load {}", file.path());
    let arguments =
        ["play", "isolation", "--rules", "preset=11x9", "--p1", "default", "--p2", "me", "--time", "1000s"];
    for (line, refusal) in [
        ("undo", "there is nothing to take back"),
        ("redo", "there is nothing to play again"),
        (load.as_str(), "its ply 2 cannot be used"),
        ("new width=99", "`width`"),
        ("position nonsense", "no such position"),
    ] {
        let mut terminal = Terminal::start(&[&arguments[..], &["--plain"]].concat(), 30, 100);
        terminal.expect("`help` lists the commands");
        terminal.says(line, refusal);
        terminal.says("stop", "p1 (default) plays ");
        terminal.send("quit\r");
        assert!(terminal.end().success());
    }
}

#[test]
fn neither_continue_nor_go_gives_time_back() {
    let arguments = ["play", "isolation", "--p2", "me", "--clock", "tc=1s", "--plain"];
    let mut terminal = Terminal::start(&arguments, 24, 80);
    let began = Instant::now();
    while !terminal.transcript.contains("the flag fell") {
        assert!(began.elapsed() < TIMEOUT, "the clock never runs out");
        terminal.says("continue", "clocks: ");
    }

    let file = Scratch::new("go-time");
    let board = ["--rules", "width=3,height=3", "--clock", "tc=600s"];
    let mut terminal =
        Terminal::start(&[&["play", "isolation", "--p2", "me", "--plain"], &board[..]].concat(), 24, 80);
    terminal.expect("p1 (me) to move");
    // The turn has begun. The board is so small that the engine answers at once.
    thread::sleep(Duration::from_millis(500));
    terminal.says("go", "p1 (me) plays ");
    terminal.says(&format!("save {}", file.path()), "saved 1 ply");
    let saved: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file.0).unwrap()).unwrap();
    assert!(saved["answers"][0]["time_us"].as_u64().unwrap() >= 500_000, "{saved}");
}

#[test]
fn the_terminal_is_given_back_however_it_ends() {
    type End = fn(&mut Terminal);
    let endings: [(&str, End); 4] = [
        ("SIGTERM", |terminal| terminal.signal(Signal::TERM)),
        ("hang-up", Terminal::hang_up),
        ("interrupts from outside", |terminal| {
            terminal.signal(Signal::INT);
            terminal.shows("Ctrl-C again leaves");
            terminal.signal(Signal::INT);
        }),
        ("Ctrl-D", |terminal| terminal.send("\x04")),
    ];
    for (name, end) in endings {
        let mut terminal = Terminal::start(&["play", "l-game"], 24, 80);
        terminal.shows("p1 (me) to move");
        assert!(!terminal.is_as_before(), "{name}: raw while it is played");
        end(&mut terminal);
        assert!(terminal.end().success(), "{name}");
        assert!(terminal.is_as_before(), "{name}");
        assert!(terminal.transcript.contains(GIVEN_BACK), "{name}");
    }
}

#[test]
fn a_terminal_that_goes_without_a_signal_ends_the_game() {
    // It goes while all is written that there is to write: a failed write would end the game as well.
    for (arguments, last) in [(&["--p2=me"][..], "\x1b[?25h"), (&["--p2=me", "--plain"], "\r\n> ")] {
        let mut terminal =
            Terminal::start_without_signals(&[&["play", "l-game"], arguments].concat(), 24, 80);
        terminal.expect("p1 (me) to move");
        terminal.send("text\r");
        terminal.expect("3 1 W 1 1 4 4 2 4 E 1");
        terminal.wait("its last word", |terminal| terminal.transcript.ends_with(last).then_some(()));
        terminal.close();
    }
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_it_goes_on() {
    let mut terminal = Terminal::start(&["play", "l-game"], 24, 80);
    terminal.shows("p1 (me) to move");
    terminal.send("\x1a");
    // Whether it really stops, the shell decides that it was started from; the terminal is given back in any
    // case.
    terminal.expect(GIVEN_BACK);
    terminal.signal(Signal::CONT);
    terminal.send("text\r");
    terminal.shows("3 1 W 1 1 4 4 2 4 E 1");
    terminal.send("quit\r");
    assert!(terminal.end().success());
}

#[test]
fn an_engine_that_is_gone_is_called_again_and_the_game_goes_on() {
    for plain in ["--plain", "--time=1000s"] {
        let mut terminal = Terminal::start(&["play", "isolation", "--rules", "preset=11x9", plain], 30, 100);
        terminal.expect("p1 (me) to move");
        let kill = |terminal: &Terminal| {
            let engines = children(terminal.pid());
            assert_eq!(engines.len(), 1);
            kill_process(Pid::from_raw(engines[0]).unwrap(), Signal::KILL).unwrap();
        };
        kill(&terminal);
        terminal.expect("the engine is gone");
        terminal.send("e5\r");
        if plain == "--plain" {
            terminal.expect("p2 (default) plays ");
        } else {
            // It goes while it thinks.
            terminal.shows("thinking for p2");
            kill(&terminal);
            terminal.shows("the game is kept; `continue` calls the engine again");
            terminal.send("continue\r");
            terminal.shows("thinking for p2");
            terminal.send("stop\r");
            terminal.shows("p2 (default) plays ");
        }
        terminal.send("quit\r");
        assert!(terminal.end().success());
    }
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    for (variables, plain, coloured, escaped) in [
        (&[][..], true, true, true),
        (&[("NO_COLOR", "1")], true, false, true),
        (&[("NO_COLOR", "1")], false, false, true),
        (&[("NO_COLOR", "")], false, true, true),
        // A terminal that knows nothing gets lines.
        (&[("TERM", "dumb")], false, false, false),
    ] {
        let mut arguments = vec!["play", "isolation", "--moves", "d4", "b1", "--p2", "me"];
        if plain {
            arguments.push("--plain");
        }
        let mut terminal = Terminal::start_with(&arguments, 24, 80, variables);
        terminal.expect("p1 (me) to move");
        terminal.send("quit\r");
        assert!(terminal.end().success());
        let text = &terminal.transcript;
        assert_eq!(text.contains("\x1b[1m\x1b[32m"), coloured, "{variables:?} {plain}: {text:?}");
        assert_eq!(text.contains('\x1b'), escaped, "{variables:?} {plain}: {text:?}");
    }
}
