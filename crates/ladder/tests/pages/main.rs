//! The pages and the API, asked without a socket, over ladders in SQLite.

// A test that cannot go on has nothing better to do than to panic.
#![allow(clippy::unwrap_used)]

mod api;
#[allow(dead_code, reason = "shared with the tests of the store, which run on PostgreSQL, too")]
#[path = "../store/fixtures.rs"]
mod fixtures;
mod guard;
mod live;

mod owner;
mod pages;
mod schema;
mod site;

/// Pages read what any store holds: SQLite is enough here.
mod cluster {
    pub(crate) fn new_database(_name: &str) -> Option<String> {
        None
    }
}
