//! The tests that start the real command, or need several crates: one executable, so that it is linked once.
//! `cargo test --test it wire_order` runs the tests of one file.

// A test that cannot start the command or read its own files has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

#[path = "../../benches/common/bootstrap.rs"]
mod bootstrap;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/games.rs"]
mod games;
#[path = "../arena/matches.rs"]
mod matches;
#[path = "../search/tree.rs"]
mod random_tree;
#[path = "../../benches/overhead/ratio.rs"]
mod ratio;
#[path = "../play/record.rs"]
mod record;
#[path = "../play/script.rs"]
mod script;
#[path = "../play/terminal.rs"]
mod terminal;
#[path = "../common/trials.rs"]
mod trials;
#[path = "../ugi/engine.rs"]
mod ugi_engine;

mod arena;
mod backlog;
mod book;
mod botzone;
mod cli;
mod client;
mod conformance;
mod connect;
mod connect_ways;
mod drain;
mod draw;
mod errors;
mod examples;
#[cfg(not(feature = "service"))]
mod features;
#[cfg(feature = "fleet")]
mod fleet;
mod gui;
mod health;
mod identity;
mod identity_files;
mod identity_limits;
#[cfg(feature = "ladder")]
mod ladder;
#[cfg(feature = "ladder")]
mod ladder_load;
mod layout;
mod levels;
mod log;
mod log_lines;
#[cfg(feature = "mcp")]
mod mcp;
mod metrics;
mod new_game;
mod operate;
mod operate_commands;
mod operations;
mod overhead;
mod play;
mod play_board;
mod play_records;
mod play_screen;
mod play_terminal;
mod reference;
mod refusals;
mod reload;
mod resume;
mod resume_rights;
mod review;
mod review_command;
mod search;
mod service;
mod service_sockets;
mod settings;
mod shards;
mod short;
mod signature;
mod solve;
mod specification;
#[cfg(feature = "service")]
mod tls;
#[cfg(feature = "service")]
mod tls_clients;
#[cfg(feature = "service")]
mod tls_places;
#[cfg(feature = "service")]
mod tls_settings;
mod tournament;
mod train;
mod transcripts;
mod tune;
mod ugi;
mod units;
mod watch;
mod wire_chaos;
mod wire_depths;
mod wire_edits;
mod wire_end;
mod wire_errors;
mod wire_hostile;
mod wire_limits;
mod wire_memory;
mod wire_opening;
mod wire_order;
mod wire_preparation;
mod wire_rules;
mod wire_search;
mod wire_shares;
mod wire_slots;
mod wire_slow;
mod wire_strangers;
