//! The registry: one line a game; and what boards of several games have in common.

use plyd_core::engine::Entry;

pub mod bits;
pub mod colosseum;
pub mod flood;
pub mod ijk;
pub mod isolation;
pub mod l_game;
pub mod sudoku;
#[cfg(test)]
mod tests;

/// Every game that plyd plays, in the order in which they are listed.
pub static REGISTRY: &[&Entry] =
    &[&l_game::ENTRY, &isolation::ENTRY, &sudoku::ENTRY, &colosseum::ENTRY, &ijk::ENTRY];
