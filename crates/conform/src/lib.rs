//! The conformance suite checks any server of the protocol by its bytes alone.
//!
//! Knows the specification and, as the referee of what searches claim, the games that it is given; it knows
//! nothing of our daemon. A check is written so that a server that is right but different passes: other
//! wordings, further fields, other games. What is not offered is skipped.
//!
//! # Where to begin
//!
//! A [`Plan`] says which server is checked, and of what; [`run`] checks it:
//!
//! ```no_run
//! use plyd_conform::{Plan, Verdict, run};
//! use plyd_client::{Address, Program};
//!
//! let server = Address::Program(Program { path: "my-server".into(), arguments: Vec::new() });
//! let rows = run(&Plan { only: vec!["handshake".to_owned()], ..Plan::new(server) })?;
//! for row in rows.iter().filter(|row| row.verdict == Verdict::Failed) {
//!     println!("{}/{}: expected {}; came {}", row.group, row.check, row.expected, row.came);
//! }
//! # Ok::<(), plyd_conform::NotChecked>(())
//! ```
//!
//! # Layout
//!
//! In reading order:
//!
//! 1. `verdict`: what comes of a check; `conversation`: one connection, with the waits and comparisons that
//!    checks are made of.
//! 2. `monitor`: what holds for every message of every connection, noted wherever it is broken and reported
//!    by a check of its own; `referee`: the rules behind it.
//! 3. One file a group of checks, and some of what several groups ask: `describe`, `proofs`, `evals`,
//!    `figures`; `refusals` are a table, `refusals.txt`.
//!    `bot` is the group for bots, which speak less than a server, and `dial` the group for bots that dial
//!    out, to whom the suite is a ladder.
//! 4. `trial`: what a check is, and what it is given; `suite`: which there are and how they are run;
//!    `promises`: what of the specification they cover.

mod bot;
mod conversation;
mod describe;
mod dial;
mod edits;
mod ends;
mod evals;
mod fairness;
mod figures;
mod first;
mod framing;
mod handshake;
mod ids;
mod liveness;
mod memory;
mod monitor;
mod numbers;
mod operate;
mod places;
mod preparation;
mod promises;
mod proofs;
mod races;
mod referee;
mod refusals;
mod requests;
mod resume;
mod rules;
mod search;
mod suite;
mod system;
mod time;
mod trial;
mod verdict;
mod websocket;

pub use first::NotChecked;
pub use promises::{Promise, promises};
pub use suite::{BOT, DIAL, Row, names, run, run_seen};
pub use trial::{Plan, Subject};
pub use verdict::Verdict;
