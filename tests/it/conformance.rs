//! Every game of the registry passes the checks of `plyd::engine::conformance`, and no two have one name.

use std::thread;

use plyd::engine::conformance;
use plyd::games::REGISTRY;

use crate::games::games;

#[test]
fn every_game_passes_every_check() {
    // Side by side: no other test computes for so long.
    thread::scope(|scope| {
        for entry in games() {
            scope.spawn(|| conformance::all(entry).unwrap());
        }
    });
}

#[test]
fn no_two_games_have_one_name() {
    let mut names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), REGISTRY.len());
}
