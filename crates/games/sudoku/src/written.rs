//! A layout as a text and as a board, and the layout of a position.

use super::grid::Grid;
use super::layout::Layout;
use super::position::Position;
use super::presets::Preset;
use super::rules::{Fill, Sudoku};
use plyd_core::game::{Drawing, Mark, Piece, Side};

/// The text of a position; the allowed cells are listed if its start listed them, or the preset has others.
#[must_use]
pub(super) fn write(game: &Sudoku, pos: &Position) -> String {
    Layout::of(game, pos).text()
}

/// What stands before the moves that are declared taboo.
pub(super) const TABOO: &str = " ; taboo";

impl Layout {
    /// What the text of a position says.
    pub(super) fn of(game: &Sudoku, pos: &Position) -> Self {
        let choice = game.choice();
        let usual = match choice.preset {
            Preset::Random => None,
            _ if choice.is_listed => None,
            preset => preset.allowed(game.grid(), 0),
        };
        let listed = choice.allowed.clone().filter(|_| choice.allowed != usual);
        Self {
            shape: choice.shape,
            values: pos.squares().iter().map(|square| square.value).collect(),
            owners: pos.squares().iter().map(|square| square.owner).collect(),
            taboo: declared(pos).collect(),
            scores: pos.scores(),
            mover: pos.mover(),
            allowed: listed.map_or([None, None], |lists| lists.map(Some)),
            history: Vec::new(),
        }
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        self.head() + &self.parts().concat()
    }

    /// What stands before the first `;`.
    pub(super) fn head(&self) -> String {
        let mut text = format!("{} {}", self.shape.0, self.shape.1);
        for (&value, &owner) in self.values.iter().zip(&self.owners) {
            text.push(' ');
            text += &cell_text(value, owner);
        }
        text
    }

    /// What stands behind the cells: scores, declared moves, mover and allowed cells, each from the space
    /// before its `;` on.
    pub(super) fn parts(&self) -> [String; 4] {
        let taboo: String = self.taboo.iter().map(|&mv| self.taboo_word(mv)).collect();
        let taboo = if taboo.is_empty() { taboo } else { TABOO.to_owned() + &taboo };
        [
            scores_text(self.scores),
            taboo,
            format!(" ; mover {}", self.mover.index() + 1),
            self.allowed_text(&self.allowed),
        ]
    }

    /// A move of those that are declared taboo, with the space before it.
    pub(super) fn taboo_word(&self, mv: Fill) -> String {
        format!(" {}", fill(self.place(mv.cell.into()), mv.value))
    }

    /// The part of the allowed cells, for any lists of cells of this board.
    pub(super) fn allowed_text(&self, allowed: &[Option<Vec<u16>>; 2]) -> String {
        let mut text = String::new();
        for (player, cells) in (1..).zip(allowed) {
            let Some(cells) = cells else { continue };
            text += &format!(" ; allowed{player}");
            for &cell in cells {
                let (row, column) = self.place(cell.into());
                text += &format!(" {row},{column}");
            }
        }
        text
    }

    /// The row and the column of a cell.
    pub(super) fn place(&self, cell: usize) -> (usize, usize) {
        (cell / self.side(), cell % self.side())
    }

    /// The board without marks and layers.
    pub(super) fn board(&self) -> Drawing {
        let filled = self.values.iter().zip(&self.owners).enumerate().filter(|(_, (value, _))| **value != 0);
        let pieces = filled.map(|(cell, (value, &owner))| Piece {
            cells: vec![self.place(cell)],
            piece: "value",
            label: Some(value.to_string()),
            owner,
        });
        let labels: Vec<String> = (0..self.side()).map(|at| at.to_string()).collect();
        Drawing {
            rows: self.side(),
            cols: self.side(),
            blocks: Some(self.shape),
            pieces: pieces.collect(),
            row_labels: labels.clone(),
            col_labels: labels,
            scores: Some(self.scores),
            ..Drawing::default()
        }
    }

    /// Marks for values of cells; those of a cell stand together.
    pub(super) fn value_marks(&self, mark: &'static str, moves: &[Fill]) -> Vec<Mark> {
        let marks = moves.chunk_by(|mv, other| mv.cell == other.cell).map(|moves| {
            let values: Vec<String> = moves.iter().map(|mv| mv.value.to_string()).collect();
            let cell = self.place(moves[0].cell.into());
            Mark { cell, mark, owner: None, label: Some(values.join(" ")) }
        });
        marks.collect()
    }
}

/// A cell: `.`, or its value and whose it is.
pub(super) fn cell_text(value: u8, owner: Option<Side>) -> String {
    match (value, owner) {
        (0, _) => ".".to_owned(),
        (value, None) => value.to_string(),
        (value, Some(Side::First)) => format!("{value}+"),
        (value, Some(Side::Second)) => format!("{value}-"),
    }
}

/// The part of the scores.
pub(super) fn scores_text([first, second]: [i32; 2]) -> String {
    format!(" ; scores {first} {second}")
}

/// The text of a move.
#[must_use]
pub(super) fn fill_text(grid: &Grid, mv: Fill) -> String {
    fill(grid.place(mv.cell.into()), mv.value)
}

fn fill((row, column): (usize, usize), value: u8) -> String {
    format!("{row},{column},{value}")
}

/// The moves that were declared taboo, ascending.
pub(super) fn declared(pos: &Position) -> impl Iterator<Item = Fill> {
    pos.squares().iter().enumerate().flat_map(|(cell, square)| {
        let values = (1..=32).filter(|value| square.taboo >> (value - 1) & 1 != 0);
        values.map(move |value| Fill { cell: cell as u16, value })
    })
}
