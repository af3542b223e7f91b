//! The tests of `examples/`, which are written in the languages of the examples: `examples/run-tests`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::process;

/// Whether a command can be run here.
#[allow(clippy::disallowed_methods, reason = "it ends at once")]
pub(crate) fn runs(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// Without Python there is nothing that could run them; CI has it.
#[test]
#[allow(clippy::print_stderr, reason = "a test that does not run says so")]
fn the_examples_pass_their_tests() {
    if cfg!(not(unix)) || !runs("python3", "--version") {
        eprintln!("skipped: the tests of the examples need python3 on a Unix system");
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/run-tests");
    let output = process::output(process::launch(Command::new(script).env("PLYD_BIN", process::PLYD)));
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// `python/tests` runs it.
#[test]
fn the_player_in_the_tutorial_is_that_of_the_referee() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let tutorial = read("docs/tutorials/own-referee.md");
    let piece = tutorial.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(
        piece.starts_with("class Plyd:") && read("examples/python/referee.py").contains(piece),
        "{piece}"
    );
}

/// What a reader types is what is tested.
#[test]
fn the_bots_in_the_tutorial_are_those_of_the_examples() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let tutorial = read("docs/tutorials/your-first-bot.md");
    let pieces: Vec<&str> =
        tutorial.split("```python\n").skip(1).map(|piece| piece.split("```").next().unwrap()).collect();
    assert_eq!(pieces, [read("examples/bots/bot.py"), read("examples/bots/exits.py")]);
}
