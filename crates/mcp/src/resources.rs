//! Resources: the rules of the games, and records of the games that are kept.

use plyd_core::engine::Entry;
use rmcp::model::{Resource, ResourceTemplate};

/// What the address of a game's rules begins with.
const RULES: &str = "plyd://rules/";
/// What the address of a record begins with.
const RECORDS: &str = "plyd://records/";
/// How both are written.
pub(crate) const MIME: &str = "application/json";

/// A resource that is asked for.
pub(crate) enum Named<'u> {
    /// The rules of a game of that name.
    Rules(&'u str),
    /// The record of a game of that id.
    Record(&'u str),
}

/// What an address names.
pub(crate) fn named(uri: &str) -> Option<Named<'_>> {
    let rules = uri.strip_prefix(RULES).map(Named::Rules);
    rules.or_else(|| uri.strip_prefix(RECORDS).map(Named::Record))
}

/// The resources that everybody may know. Records are not among them: who has a game's id knows its address.
pub(crate) fn list(games: &[&'static Entry]) -> Vec<Resource> {
    let resource = |entry: &&'static Entry| {
        Resource::new(format!("{RULES}{}", entry.name), entry.name)
            .with_description(entry.about)
            .with_mime_type(MIME)
    };
    games.iter().map(resource).collect()
}

/// How other addresses are made.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{RULES}{{game}}"), "rules")
            .with_description("Rules, grammar, options and levels of a game")
            .with_mime_type(MIME),
        ResourceTemplate::new(format!("{RECORDS}{{game_id}}"), "record")
            .with_description("A kept game as a record, which `plyd show` and `plyd review` read")
            .with_mime_type(MIME),
    ]
}
