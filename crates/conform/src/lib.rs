//! The conformance suite: checks for any server of the protocol, by its bytes alone.
//!
//! Knows the specification and, as the referee of what searches claim, the games that it is given; it knows
//! nothing of our daemon. A check is written so that a server that is right but different passes: other
//! wordings, further fields, other games. What is not offered is skipped. In reading order:
//!
//! 1. `verdict`: what comes of a check; `conversation`: one connection, with the waits and comparisons that
//!    checks are made of.
//! 2. `monitor`: what holds for every message of every connection, noted wherever it is broken and reported
//!    by a check of its own; `referee`: the rules behind it.
//! 3. One file a group of checks, and some of what several groups ask: `describe`, `proofs`, `evals`,
//!    `figures`; `refusals` are a table, `refusals.txt`.
//! 4. `trial`: what a check is, and what it is given; `suite`: which there are and how they are run;
//!    `promises`: what of the specification they cover.

mod conversation;
mod describe;
mod ends;
mod evals;
mod fairness;
mod figures;
mod framing;
mod handshake;
mod ids;
mod liveness;
mod memory;
mod monitor;
mod numbers;
mod places;
mod preparation;
mod promises;
mod proofs;
mod races;
mod referee;
mod refusals;
mod requests;
mod rules;
mod search;
mod suite;
mod time;
mod trial;
mod verdict;
mod websocket;

pub use promises::{Promise, promises};
pub use suite::{Row, names, run};
pub use trial::Plan;
pub use verdict::Verdict;
