//! Games as scripts: `plyd play` with lines from a pipe.

use std::process::Output;

use crate::common::process;

/// Runs `plyd play` with lines from a pipe.
pub(crate) fn pipe(arguments: &[&str], lines: &str) -> Output {
    process::output_of(process::plyd([&["play"], arguments].concat()), lines)
}

/// What the command prints for these lines; it must succeed.
pub(crate) fn printed(arguments: &[&str], lines: &str) -> String {
    let output = pipe(arguments, lines);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Checks that the text has these parts in this order.
pub(crate) fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at =
            rest.find(part).unwrap_or_else(|| panic!("no `{part}` behind what came before, in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
}
