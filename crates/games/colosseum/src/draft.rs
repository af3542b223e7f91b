//! What can be changed in a position's text by hand: the players, the walls, who is to move.

use super::board::{Wall, cell_at};
use super::notation::Layout;
use super::setup::Setup;
use plyd_core::effort::Effort;
use plyd_core::game::{CellSide, Choice, Draft, Edit, OpenError, Rules, Side, TextFault, mover_edit};
use std::sync::Arc;

impl Layout {
    /// The text with a player on another cell, which may be the other player's.
    fn with_player(&self, side: Side, cell: u8) -> String {
        let mut next = self.clone();
        next.players[side.index()] = cell;
        next.text()
    }

    /// The text with a wall where none is, or without one that is there.
    fn with_toggled(&self, wall: Wall) -> String {
        let mut next = self.clone();
        if let Some(at) = next.walls.iter().position(|&known| known == wall) {
            next.walls.remove(at);
        } else {
            next.walls.push(wall);
            next.walls.sort_unstable();
        }
        next.text()
    }

    /// What can be changed.
    fn edits(&self, text: &str) -> Vec<Edit> {
        let places = (0..self.size).flat_map(|row| (0..self.size).map(move |column| (row, column)));
        let cells = places.clone().map(|(row, column)| {
            let cell = cell_at(self.size, row, column);
            let choice = |side: Side| {
                Choice::new(format!("Player {}", side.index() + 1), text, &self.with_player(side, cell))
                    .piece("player")
                    .owner(Some(side))
                    .so(self.players[side.index()] == cell)
            };
            Edit::at("Cell", (row, column), Side::ALL.map(choice).into())
        });
        let walls = places.flat_map(|(row, column)| {
            let cell = cell_at(self.size, row, column);
            let sides = [
                (CellSide::Right, Wall::Right(cell), "Wall on the right", column + 1 < self.size),
                (CellSide::Down, Wall::Below(cell), "Wall below", row + 1 < self.size),
            ];
            sides.into_iter().filter(|&(.., is_inside)| is_inside).map(move |(side, wall, label, _)| {
                let choice =
                    Choice::new(label, text, &self.with_toggled(wall)).so(self.walls.contains(&wall));
                Edit { side: Some(side), ..Edit::at("Wall", (row, column), vec![choice]) }
            })
        });
        let mover = mover_edit(text, self.mover, |mover| Self { mover, ..self.clone() }.text());
        let bare = Self { walls: Vec::new(), ..self.clone() };
        let clear = Edit::of("Board", vec![Choice::new("Remove all walls", text, &bare.text())]);
        cells.chain(walls).chain([mover, clear]).collect()
    }
}

/// A text as a draft.
pub(super) fn edits(rules: &Rules, given: &str, _effort: &Arc<Effort>) -> Draft {
    match Layout::read(given) {
        Err(fault) => Draft::unreadable(given, fault),
        Ok(mut layout) => {
            layout.walls.sort_unstable();
            let of_rules =
                Setup::choose(rules, Some(layout.size)).map_err(|error: OpenError| TextFault::from(error));
            let fault = layout.check(given).and(of_rules).err();
            let text = layout.text();
            Draft { board: Some(layout.board()), edits: layout.edits(&text), fault, text }
        }
    }
}
