//! Tests that need a program of their own: servers that break a promise, players that misbehave, and programs
//! that are killed.
//!
//! This executable is also each of those programs, by the name that it is called. That leaves no room for
//! the usual test harness, which would write to the program's output.

// A test that cannot start the command or read its own files has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

mod arena_faults;
#[path = "../common/mod.rs"]
mod common;
mod conform;
mod kills;
#[path = "../arena/matches.rs"]
mod matches;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use common::harness;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    let called = Path::new(&arguments[0]).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match called {
        conform::foreign::NAME => plyd::cli::main_with(&[&plyd::nim::ENTRY]),
        conform::MUTANT => conform::break_promises(&arguments[1..]),
        arena_faults::STUB => arena_faults::misbehave(&arguments[1..]),
        kills::STARTER => kills::start_daemons(),
        _ => harness::run(&[&arena_faults::TESTS[..], &conform::TESTS, &kills::TESTS].concat()),
    }
}
