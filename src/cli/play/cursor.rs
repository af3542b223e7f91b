//! Cells and moves: which cell a move is written with, so that cells can be chosen instead of typed.
//!
//! Knows of a game only how its moves look beside the labels of its board.

use std::collections::{BTreeSet, HashMap};

use plyd_protocol::{Board, Cell, Side};

use super::suggest;

/// How moves write a cell at their beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Naming {
    /// `d4`: a column's letter and a row's number.
    ColRow,
    /// `34`: row and column.
    RowCol,
    /// `3,4`: row and column.
    RowCommaCol,
    /// `3 4`: across and down.
    ColBlankRow,
}

impl Naming {
    /// The way in which all these moves begin with a cell; none if there is no such way.
    pub(super) fn of(board: &Board, moves: &[String]) -> Option<Self> {
        let grid = &board.grid;
        let ways: &[Self] = if grid.row_labels == grid.col_labels {
            &[Self::RowCommaCol, Self::ColBlankRow, Self::RowCol]
        } else {
            &[Self::ColRow, Self::RowCommaCol, Self::ColBlankRow]
        };
        ways.iter().copied().find(|way| {
            let names = Names::of(board, *way);
            !moves.is_empty() && moves.iter().all(|mv| names.cell(mv).is_some())
        })
    }

    /// A cell as moves write it.
    pub(super) fn name(self, board: &Board, [row, col]: Cell) -> String {
        let label =
            |labels: &[String], at: u32| labels.get(at as usize).cloned().unwrap_or_else(|| at.to_string());
        let (row, col) = (label(&board.grid.row_labels, row), label(&board.grid.col_labels, col));
        match self {
            Self::ColRow => format!("{col}{row}"),
            Self::RowCol => format!("{row}{col}"),
            Self::RowCommaCol => format!("{row},{col}"),
            Self::ColBlankRow => format!("{col} {row}"),
        }
    }
}

/// A cell's name; `naming` is none if no move shows how cells are written.
pub(super) fn name(board: &Board, naming: Option<Naming>, cell: Cell) -> String {
    let same = board.grid.row_labels == board.grid.col_labels;
    naming.unwrap_or(if same { Naming::RowCommaCol } else { Naming::ColRow }).name(board, cell)
}

/// The cells with which a move can begin.
pub(super) fn targets(board: &Board, naming: Naming, moves: &[String]) -> Vec<Cell> {
    let names = Names::of(board, naming);
    let found: BTreeSet<Cell> = moves.iter().filter_map(|mv| names.cell(mv)).collect();
    found.into_iter().collect()
}

/// The cells of a board by their names: boards with a thousand moves a cell are asked as well.
struct Names {
    cells: HashMap<String, Cell>,
    longest: usize,
}

impl Names {
    fn of(board: &Board, naming: Naming) -> Self {
        let cells: HashMap<String, Cell> =
            cells(board).map(|cell| (naming.name(board, cell), cell)).collect();
        let longest = cells.keys().map(String::len).max().unwrap_or(0);
        Self { cells, longest }
    }

    /// The cell with which a move begins.
    fn cell(&self, mv: &str) -> Option<Cell> {
        let ends = (1..=self.longest.min(mv.len())).filter(|end| mv.is_char_boundary(*end));
        ends.map(|end| &mv[..end])
            .filter(|name| begins(mv, name))
            .find_map(|name| self.cells.get(name).copied())
    }
}

/// The moves that begin with a cell.
pub(super) fn at<'a>(board: &Board, naming: Naming, moves: &'a [String], cell: Cell) -> Vec<&'a str> {
    let name = naming.name(board, cell);
    moves.iter().map(String::as_str).filter(|mv| begins(mv, &name)).collect()
}

/// The move that a direction is, in games whose moves are directions.
pub(super) fn direction(moves: &[String], side: Side) -> Option<&str> {
    if !moves.iter().all(|mv| ["U", "D", "L", "R", "S"].contains(&mv.as_str())) {
        return None;
    }
    let name = match side {
        Side::Up => "U",
        Side::Right => "R",
        Side::Down => "D",
        Side::Left => "L",
    };
    suggest::exact(name, moves)
}

fn cells(board: &Board) -> impl Iterator<Item = Cell> {
    let (rows, cols) = (board.grid.rows, board.grid.cols);
    (0..rows).flat_map(move |row| (0..cols).map(move |col| [row, col]))
}

/// Whether a move begins with a cell's name, and not with that of another cell that only begins alike (`a1`,
/// `a10`).
fn begins(mv: &str, name: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    mv.strip_prefix(name)
        .is_some_and(|rest| !(is_digit(name.chars().last()) && is_digit(rest.chars().next())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge;
    use crate::engine::conformance::chosen;
    use crate::engine::settings;
    use crate::game::Rules;
    use crate::games::REGISTRY;
    use plyd_protocol::Grid;

    #[test]
    fn each_move_of_every_game_belongs_to_one_cell_or_none_does() {
        for entry in chosen(REGISTRY) {
            let start = settings::open(entry, &Rules::default(), None).unwrap();
            let (board, moves) = (bridge::board(start.board()), start.legal());
            if let Some(naming) = Naming::of(&board, &moves) {
                let targets = targets(&board, naming, &moves);
                let of_cells: usize =
                    targets.iter().map(|cell| at(&board, naming, &moves, *cell).len()).sum();
                assert_eq!(of_cells, moves.len(), "{}: {naming:?} of {moves:?}", entry.name);
            }
        }
    }

    #[test]
    fn cells_are_written_as_moves_begin() {
        let labels = |texts: &str| texts.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (rows, cols, moves, expected) in [
            ("2 1", "a b", "a1 b2", Some(Naming::ColRow)),
            ("1 2", "1 2", "1,2 2,2", Some(Naming::RowCommaCol)),
            ("1 2", "1 2", "1,2,9 2,2,1", Some(Naming::RowCommaCol)),
            ("0 1", "0 1", "01u 10d 11", Some(Naming::RowCol)),
            ("1 2", "1 2", "1 2 W|2 2 E 1 1 2 1", Some(Naming::ColBlankRow)),
            ("1 2", "1 2", "1 2", None),
            ("2 1", "a b", "a1 pass", None),
            ("1 2", "1 2", "U L", None),
        ] {
            let rows = labels(rows);
            let grid = Grid { rows: 2, cols: 2, row_labels: rows, col_labels: labels(cols), block: None };
            let board = Board { grid, ..Board::default() };
            let by = if moves.contains('|') { '|' } else { ' ' };
            let moves: Vec<String> = moves.split(by).map(str::to_owned).collect();
            assert_eq!(Naming::of(&board, &moves), expected, "{moves:?}");
        }
    }

    #[test]
    fn a_direction_is_a_move_where_all_moves_are_directions() {
        for (moves, expected) in [("U D L R", Some("L")), ("U D R", None), ("L a1", None)] {
            let moves: Vec<String> = moves.split(' ').map(str::to_owned).collect();
            assert_eq!(direction(&moves, Side::Left), expected, "{moves:?}");
        }
    }

    #[test]
    fn a_longer_number_is_another_cell() {
        for (mv, name, expected) in [
            ("a1", "a1", true),
            ("a10", "a1", false),
            ("a10", "a10", true),
            ("34u", "34", true),
            ("3,4,5", "3,4", true),
            ("3,45,1", "3,4", false),
        ] {
            assert_eq!(begins(mv, name), expected, "{mv} {name}");
        }
    }
}
