//! Boards as generic primitives.

use super::Side;

/// A cell of a drawing: row from the top, column from the left, both from 0.
pub type Cell = (usize, usize);

/// A board as generic primitives, so that one client draws every game.
///
/// ```
/// use plyd_core::game::{Drawing, Piece, Side};
///
/// let disc = Piece { cells: vec![(5, 3)], piece: "disc", label: None, owner: Some(Side::First) };
/// let board = Drawing { rows: 6, cols: 7, pieces: vec![disc], ..Drawing::default() };
/// assert_eq!(board.pieces[0].cells, [(5, 3)]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawing {
    /// Rows of the grid.
    pub rows: usize,
    /// Columns of the grid.
    pub cols: usize,
    /// The rows and the columns of a block, if heavier lines separate blocks (as in sudoku).
    pub blocks: Option<(usize, usize)>,
    /// What stands on cells.
    pub pieces: Vec<Piece>,
    /// Walls on cell sides; the border needs none.
    pub walls: Vec<Wall>,
    /// Cells to point out: the last move, targets, taboo values.
    pub marks: Vec<Mark>,
    /// The names of the rows in move texts, from the top.
    pub row_labels: Vec<String>,
    /// The names of the columns in move texts, from the left.
    pub col_labels: Vec<String>,
    /// Points or cells won so far, in games that score.
    pub scores: Option<[i32; 2]>,
    /// What a viewer may show or hide.
    pub layers: Vec<Layer>,
}

impl Drawing {
    /// Shows the layers of these names, and hides the others.
    ///
    /// # Errors
    /// The first name that no layer has; nothing is changed then.
    ///
    /// ```
    /// use plyd_core::game::{Drawing, Layer};
    ///
    /// let ground = Layer { name: "ground", ..Layer::default() };
    /// let mut board = Drawing { layers: vec![ground], ..Drawing::default() };
    /// assert_eq!(board.show_layers(&["ground"]), Ok(()));
    /// assert!(board.layers[0].is_usual);
    /// assert_eq!(board.show_layers(&["grond"]), Err("grond".to_owned()));
    /// ```
    pub fn show_layers(&mut self, names: &[impl AsRef<str>]) -> Result<(), String> {
        let is_there = |name: &str| self.layers.iter().any(|layer| layer.name == name);
        if let Some(name) = names.iter().map(AsRef::as_ref).find(|name| !is_there(name)) {
            return Err(name.to_owned());
        }
        for layer in &mut self.layers {
            layer.is_usual = names.iter().any(|name| name.as_ref() == layer.name);
        }
        Ok(())
    }
}

/// Something that stands on a cell, or on several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where: its first cell, then the others that it covers.
    pub cells: Vec<Cell>,
    /// What, in one of the game's own words: `token`, `blocked`, `l`, `tile`, `value`.
    pub piece: &'static str,
    /// What is written on it, if anything.
    pub label: Option<String>,
    /// Whose it is, if anyone's.
    pub owner: Option<Side>,
}

/// A wall between a cell and the neighbour on its right or below it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wall {
    /// The cell.
    pub cell: Cell,
    /// Whether the wall is on the right side of the cell; otherwise it is below it.
    pub right: bool,
}

/// A cell to point out, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// Where.
    pub cell: Cell,
    /// Why, in a word: `last`, `target`, `taboo`.
    pub mark: &'static str,
    /// Whom it concerns; none: both.
    pub owner: Option<Side>,
    /// More, if there is more to say.
    pub label: Option<String>,
}

/// Notes on a board that belong together, under a name by which a viewer shows or hides them.
///
/// ```
/// use plyd_core::game::{Drawing, Layer, Mark, Side};
///
/// let mark = Mark { cell: (0, 1), mark: "ground", owner: Some(Side::First), label: None };
/// let ground = Layer { name: "ground", label: "Ground", marks: vec![mark], ..Layer::default() };
/// let board = Drawing { rows: 1, cols: 2, layers: vec![ground], ..Drawing::default() };
/// assert!(!board.layers[0].is_usual);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layer {
    /// Its name, for programs.
    pub name: &'static str,
    /// What it shows, in a few words for people.
    pub label: &'static str,
    /// Whether a viewer shows it unless somebody switches it off.
    pub is_usual: bool,
    /// The kinds of marks of the board that belong to it.
    pub kinds: &'static [&'static str],
    /// Marks of its own, drawn only while the layer is shown.
    pub marks: Vec<Mark>,
}
