//! The pages and the API, asked without a socket, over ladders in SQLite.

mod api;
#[allow(dead_code, reason = "shared with the tests of the store, which run on PostgreSQL, too")]
#[path = "../../store/fixtures.rs"]
mod fixtures;
mod guard;
mod html;
mod live;
mod owner;
mod schema;
mod site;

/// Pages read what any store holds: SQLite is enough here.
mod cluster {
    pub(crate) fn new_database(_name: &str) -> Option<String> {
        None
    }
}
