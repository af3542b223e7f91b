//! A ladder from outside: the ratings of simulated seasons, and its pages and API where it is served.

// A test that cannot go on has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

mod coverage;
#[cfg(feature = "server")]
mod pages;
