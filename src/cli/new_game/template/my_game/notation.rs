//! Texts and pictures: how positions and moves are written, read and drawn.

use plyd_core::game::{Drawing, Notation, OpenError, Piece, Setting, Side};

use super::rules::{Board, COLUMNS, HEIGHT, ROWS, Rules};

/// Reads a position.
///
/// # Errors
/// The text is no position; or a player has too many discs, a disc hangs in the air, or the game was over
/// before the last move. A position that passes need not come up in any game.
pub(super) fn read(rules: Rules, text: &str) -> Result<Board, OpenError> {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() != ROWS || rows.iter().any(|row| row.len() != COLUMNS) {
        return Err(OpenError::Malformed(format!(
            "expected {ROWS} rows of {COLUMNS} cells, with a slash between two"
        )));
    }
    let mut board = Board::default();
    for (height, row) in (0..ROWS).rev().zip(rows) {
        for (column, cell) in row.bytes().enumerate() {
            let bit = 1 << (HEIGHT * column + height);
            match cell {
                b'1' => board.discs[0] |= bit,
                b'2' => board.discs[1] |= bit,
                b'.' => {}
                _ => return Err(OpenError::Malformed("a cell is 1, 2 or a dot".to_owned())),
            }
        }
    }
    let impossible = |why: &str| Err(OpenError::Impossible(why.to_owned()));
    let [first, second] = board.discs.map(u64::count_ones);
    if first != second && first != second + 1 {
        return impossible("the first player has as many discs as the second, or one more");
    }
    for column in 0..COLUMNS {
        let lowest = (1 << board.filled(column)) - 1;
        if board.taken() >> (HEIGHT * column) & lowest != lowest {
            return impossible("a disc hangs in the air");
        }
    }
    if rules.has_row(board.discs[board.mover().index()]) {
        return impossible("the game was over before the last move");
    }
    Ok(board)
}

/// Who has a disc there.
fn owner(board: &Board, column: usize, height: usize) -> Option<Side> {
    Side::ALL.into_iter().find(|side| board.discs[side.index()] >> (HEIGHT * column + height) & 1 == 1)
}

impl Notation for Rules {
    fn position_text(&self, board: &Board) -> String {
        let cell = |column, height| match owner(board, column, height) {
            None => '.',
            Some(Side::First) => '1',
            Some(Side::Second) => '2',
        };
        let row = |height| (0..COLUMNS).map(|column| cell(column, height)).collect::<String>();
        (0..ROWS).rev().map(row).collect::<Vec<_>>().join("/")
    }

    fn move_text(&self, _board: &Board, column: u8) -> String {
        (column + 1).to_string()
    }

    fn draw(&self, board: &Board) -> Drawing {
        let cells =
            (0..COLUMNS).flat_map(|column| (0..board.filled(column)).map(move |height| (column, height)));
        let disc = |(column, height)| Piece {
            cells: vec![(ROWS - 1 - height, column)],
            piece: "disc",
            label: None,
            owner: owner(board, column, height),
        };
        Drawing {
            rows: ROWS,
            cols: COLUMNS,
            pieces: cells.map(disc).collect(),
            row_labels: (1..=ROWS).rev().map(|row| row.to_string()).collect(),
            col_labels: (1..=COLUMNS).map(|column| column.to_string()).collect(),
            ..Drawing::default()
        }
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        vec![("row", (self.row as i64).into())]
    }
}
