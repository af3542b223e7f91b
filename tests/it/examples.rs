//! The tests of `examples/`, which are written in the languages of the examples: `examples/run-tests`.

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
