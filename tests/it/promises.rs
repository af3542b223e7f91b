//! Every game's players keep what they announce, and leave no win in one unplayed: see
//! `plyd::engine::conformance`.

use std::sync::Arc;

use plyd::engine::AnyRoot;
use plyd::engine::conformance::{announced, wins_in_one};

use crate::games::{few, games};

/// The random games from each position.
const GAMES: usize = 8;
/// The positions that each game brings, at most, and the moves in them.
const PLACES: (usize, usize) = (6, 300);

/// Runs a check from positions that each game brings, with the players that are as strong as they can be.
fn check(what: &str, check: impl Fn(&Arc<dyn AnyRoot>, &str, u64, usize) -> Result<usize, String>) {
    for entry in games() {
        for player in entry.players().filter(|player| ["default", "tree"].contains(&player.name)) {
            let mut found = 0;
            for (seed, place) in (0..).zip(few(entry, PLACES.0, PLACES.1)) {
                match check(&place.root(), player.name, seed, GAMES) {
                    Ok(count) => found += count,
                    Err(broken) => panic!("{broken}"),
                }
            }
            assert!(found > 0, "{}, player {}: {what} near its positions", entry.name, player.name);
        }
    }
}

#[test]
fn every_win_in_one_is_played() {
    check("no win in one", wins_in_one);
}

#[test]
fn announced_wins_and_losses_are_kept() {
    check("nothing is announced", announced);
}
