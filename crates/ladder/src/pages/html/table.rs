//! A board as a table of texts: for those who have no script, and for those who listen.

use std::collections::BTreeMap;

use plyd_protocol::{Board, Player};

/// A board as rows of cells.
pub(in crate::pages) struct Table {
    /// The names of the columns.
    pub(in crate::pages) cols: Vec<String>,
    /// Each row with its name.
    pub(in crate::pages) rows: Vec<(String, Vec<Cell>)>,
    /// Points so far, in games that score.
    pub(in crate::pages) scores: Option<[i64; 2]>,
}

/// A cell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::pages) struct Cell {
    /// What stands there.
    pub(in crate::pages) text: String,
    /// Whose it is, as a class; and where walls are.
    pub(in crate::pages) classes: String,
}

/// The board as a table.
pub(in crate::pages) fn table(board: &Board) -> Table {
    let mut cells: BTreeMap<[u32; 2], Cell> = BTreeMap::new();
    for piece in &board.pieces {
        let owner = match piece.owner {
            Some(Player::P1) => "of-p1",
            Some(Player::P2) => "of-p2",
            None => "of-none",
        };
        let number = match piece.owner {
            Some(Player::P1) => "1",
            Some(Player::P2) => "2",
            None => "\u{2022}",
        };
        let text = piece
            .label
            .clone()
            .unwrap_or_else(|| if piece.piece == "blocked" { "\u{d7}".into() } else { number.into() });
        for at in std::iter::once(&piece.cell).chain(&piece.also) {
            let cell = cells.entry(*at).or_default();
            cell.text.clone_from(&text);
            owner.clone_into(&mut cell.classes);
        }
    }
    for wall in &board.walls {
        let cell = cells.entry(wall.cell).or_default();
        let side = serde_json::to_value(wall.side).ok();
        if let Some(side) = side.as_ref().and_then(serde_json::Value::as_str) {
            cell.classes.push_str(&format!(" wall-{side}"));
        }
    }
    let name =
        |labels: &[String], at: u32| labels.get(at as usize).cloned().unwrap_or_else(|| (at + 1).to_string());
    let grid = &board.grid;
    let row = |row: u32| {
        let cells = (0..grid.cols).map(|col| cells.get(&[row, col]).cloned().unwrap_or_default());
        (name(&grid.row_labels, row), cells.collect())
    };
    Table {
        cols: (0..grid.cols).map(|col| name(&grid.col_labels, col)).collect(),
        rows: (0..grid.rows).map(row).collect(),
        scores: board.scores,
    }
}
