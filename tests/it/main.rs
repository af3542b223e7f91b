//! The tests that start the real command, or need several crates: one executable, so that it is linked once.
//! `cargo test --test it wire_order` runs the tests of one file.

// A test that cannot start the command or read its own files has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/games.rs"]
mod games;
#[path = "../arena/matches.rs"]
mod matches;
#[path = "../play/terminal.rs"]
mod terminal;
#[path = "../common/trials.rs"]
mod trials;

mod arena;
mod cli;
mod conformance;
mod examples;
mod gui;
mod layout;
mod levels;
mod log;
mod perft;
mod play;
mod promises;
mod search;
mod signature;
mod tournament;
mod train;
mod transcripts;
mod tune;
mod ugi;
mod wire_chaos;
mod wire_end;
mod wire_errors;
mod wire_hostile;
mod wire_memory;
mod wire_opening;
mod wire_order;
mod wire_preparation;
mod wire_rules;
mod wire_search;
mod wire_shares;
mod wire_slots;
mod wire_strangers;
