//! Drawing primitives: a grid with pieces, walls and marks, so that one client draws every game. They say
//! what to show, never what it means to the rules.

use crate::Player;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cell as `[row, column]`, counted from 0 at the top left.
pub type Cell = [u32; 2];

/// A board to be drawn.
///
/// ```
/// use plyd_protocol::Board;
///
/// let text = r#"{
///     "grid": { "rows": 2, "cols": 2, "row_labels": ["2", "1"], "col_labels": ["a", "b"] },
///     "pieces": [{ "cell": [1, 0], "piece": "token", "owner": "p1" }]
/// }"#;
/// let board: Board = serde_json::from_str(text)?;
/// let [row, col] = board.pieces[0].cell.map(|place| place as usize);
/// let name = format!("{}{}", board.grid.col_labels[col], board.grid.row_labels[row]);
/// assert_eq!(name, "a1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Board {
    /// The cells there are.
    pub grid: Grid,
    /// What stands on cells, in drawing order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<Piece>,
    /// Walls on sides of cells; the border is not listed, each inner wall only once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub walls: Vec<Wall>,
    /// Notes on cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// Points or cells won so far, `[p1, p2]`, in games that score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<[i64; 2]>,
    /// What a viewer may show or hide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
}

/// The grid of a [`Board`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Grid {
    /// The number of rows.
    pub rows: u32,
    /// The number of columns.
    pub cols: u32,
    /// The height and width of the blocks that heavier lines part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<[u32; 2]>,
    /// The rows' names in move texts, from the top.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_labels: Vec<String>,
    /// The columns' names in move texts, from the left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub col_labels: Vec<String>,
}

/// Something that stands on one cell or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Piece {
    /// The first cell, which carries the label.
    pub cell: Cell,
    /// The further cells of a piece that covers several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Cell>,
    /// Its kind, a word of the game such as `token`, `blocked`, `l`, `tile` or `value`.
    pub piece: String,
    /// Whose it is; absent: nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Player>,
    /// A short text to show on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// A wall on a side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Wall {
    /// The cell.
    pub cell: Cell,
    /// Its side.
    pub side: Side,
}

/// A side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Towards row 0.
    Up,
    /// Towards the last column.
    Right,
    /// Towards the last row.
    Down,
    /// Towards column 0.
    Left,
}

/// A note on a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Mark {
    /// The cell.
    pub cell: Cell,
    /// Its kind, a word such as `last`, `reachable`, `allowed` or `taboo`.
    pub mark: String,
    /// Whom it concerns; absent: both players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Player>,
    /// A short text to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// Notes on a board that belong together, under a name by which a viewer shows or hides them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Layer {
    /// Its name, for programs.
    pub name: String,
    /// What it shows, in a few words for people.
    pub label: String,
    /// Whether it is shown to those who said nothing of it.
    pub usual: bool,
    /// The kinds of the board's `marks` that belong to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    /// Marks of its own, which nobody draws who does not show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
}
