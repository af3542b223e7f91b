//! The registry: one line a game.

use crate::engine::Entry;

pub mod isolation;
pub mod l_game;
pub mod sudoku;

/// Every game that plyd plays, in the order in which they are told.
pub static REGISTRY: &[&Entry] = &[&l_game::ENTRY, &isolation::ENTRY, &sudoku::ENTRY];
