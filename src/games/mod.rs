//! The registry: one line a game.

use crate::engine::Entry;

pub mod ijk;
pub mod isolation;
pub mod l_game;

/// Every game that plyd plays, in the order in which they are told.
pub static REGISTRY: &[&Entry] = &[&l_game::ENTRY, &isolation::ENTRY, &ijk::ENTRY];
