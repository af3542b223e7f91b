//! A board in characters, drawn from the protocol's primitives and nothing else.
//!
//! A cell is as wide as its longest text; what stands on it is the label, or a letter for the kind of piece: upper case
//! for `p1`, lower case for `p2`. Walls are `|` and `---`; blocks are parted by the same.

use std::collections::BTreeMap;

use plyd_protocol::{Board, Cell, Piece, Player, Side};

/// The board as lines of text, and below it what the letters mean and the scores.
pub(super) fn board(board: &Board) -> String {
    let texts = cell_texts(board);
    let widest = texts.values().chain(&board.grid.col_labels).map(|text| text.chars().count()).max();
    let picture = Picture { board, width: widest.unwrap_or(1).max(1), texts };
    let mut out = picture.draw();
    let mut legend: Vec<String> = Vec::new();
    for piece in board.pieces.iter().filter(|piece| piece.label.is_none()) {
        let owner = match piece.owner {
            Some(Player::P1) => "p1's ",
            Some(Player::P2) => "p2's ",
            None => "",
        };
        let entry = format!("{} {owner}{}", letter(piece), piece.piece);
        if !legend.contains(&entry) {
            legend.push(entry);
        }
    }
    if !legend.is_empty() {
        out += &format!("{}\n", legend.join(", "));
    }
    if let Some([p1, p2]) = board.scores {
        out += &format!("p1 {p1}, p2 {p2}\n");
    }
    out
}

struct Picture<'a> {
    board: &'a Board,
    /// Characters of a cell.
    width: usize,
    texts: BTreeMap<Cell, String>,
}

impl Picture<'_> {
    fn draw(&self) -> String {
        let grid = &self.board.grid;
        let margin = grid.row_labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let indent = " ".repeat(if margin > 0 { margin + 1 } else { 0 });
        let mut lines = Vec::new();
        if !grid.col_labels.is_empty() {
            let labels: Vec<String> = grid.col_labels.iter().map(|label| self.centred(label)).collect();
            lines.push(format!("{indent} {}", labels.join(" ")));
        }
        for row in 0..=grid.rows {
            if let Some(rule) = self.rule_above(row) {
                lines.push(format!("{indent}{rule}"));
            }
            if row < grid.rows {
                let label = grid.row_labels.get(row as usize).map_or("", String::as_str);
                let space = if margin > 0 { " " } else { "" };
                lines.push(format!("{label:>margin$}{space}{}", self.cells(row)));
            }
        }
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn cells(&self, row: u32) -> String {
        let mut line = String::new();
        for col in 0..=self.board.grid.cols {
            line.push(if self.parted_left(row, col) { '|' } else { ' ' });
            if col < self.board.grid.cols {
                line += &self.centred(self.texts.get(&[row, col]).map_or(".", String::as_str));
            }
        }
        line
    }

    /// The horizontal rule above a row; none where nothing is to be parted.
    fn rule_above(&self, row: u32) -> Option<String> {
        let grid = &self.board.grid;
        let parted: Vec<bool> = (0..grid.cols).map(|col| self.parted_above(row, col)).collect();
        let mut line = String::new();
        for col in 0..=parted.len() {
            let right = parted.get(col) == Some(&true);
            let left = col > 0 && parted[col - 1];
            line.push(if left || right { '+' } else { ' ' });
            if col < parted.len() {
                line += &(if right { "-" } else { " " }).repeat(self.width);
            }
        }
        parted.contains(&true).then_some(line)
    }

    fn parted_above(&self, row: u32, col: u32) -> bool {
        let border = row == 0 || row == self.board.grid.rows;
        let block = self.board.grid.block.is_some_and(|[height, _]| height > 0 && row.is_multiple_of(height));
        border
            || block
            || self.wall([row, col], Side::Up)
            || row.checked_sub(1).is_some_and(|above| self.wall([above, col], Side::Down))
    }

    fn parted_left(&self, row: u32, col: u32) -> bool {
        let border = col == 0 || col == self.board.grid.cols;
        let block = self.board.grid.block.is_some_and(|[_, width]| width > 0 && col.is_multiple_of(width));
        border
            || block
            || self.wall([row, col], Side::Left)
            || col.checked_sub(1).is_some_and(|left| self.wall([row, left], Side::Right))
    }

    fn wall(&self, cell: Cell, side: Side) -> bool {
        self.board.walls.iter().any(|wall| wall.cell == cell && wall.side == side)
    }

    fn centred(&self, text: &str) -> String {
        format!("{text:^width$}", width = self.width)
    }
}

/// What is written on each cell that is not empty.
fn cell_texts(board: &Board) -> BTreeMap<Cell, String> {
    let mut texts = BTreeMap::new();
    for piece in &board.pieces {
        let letter = letter(piece);
        for cell in &piece.also {
            texts.insert(*cell, letter.clone());
        }
        texts.insert(piece.cell, piece.label.clone().unwrap_or(letter));
    }
    texts
}

/// The letter of a piece: upper case for `p1`, lower case for `p2`, `#` for what blocks a cell.
fn letter(piece: &Piece) -> String {
    let first: String = piece.piece.chars().take(1).collect();
    match piece.owner {
        Some(Player::P1) => first.to_uppercase(),
        Some(Player::P2) => first.to_lowercase(),
        None if piece.piece == "blocked" => "#".into(),
        None => "o".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_protocol::{Grid, Wall};

    fn piece(cell: Cell, piece: &str, owner: Option<Player>, label: Option<&str>) -> Piece {
        Piece { cell, also: Vec::new(), piece: piece.into(), owner, label: label.map(Into::into) }
    }

    #[test]
    fn pieces_labels_and_coordinates() {
        let drawn = board(&Board {
            grid: Grid {
                rows: 2,
                cols: 3,
                row_labels: vec!["2".into(), "1".into()],
                col_labels: ["a", "b", "c"].map(Into::into).into(),
                ..Grid::default()
            },
            pieces: vec![
                Piece { also: vec![[0, 1]], ..piece([0, 0], "l", Some(Player::P1), None) },
                piece([1, 2], "token", Some(Player::P2), None),
                piece([1, 0], "blocked", None, None),
            ],
            ..Board::default()
        });
        let expected =
            "   a b c\n  +-+-+-+\n2 |L L .|\n1 |# . t|\n  +-+-+-+\nL p1's l, t p2's token, # blocked\n";
        assert_eq!(drawn, expected);
    }

    #[test]
    fn walls_blocks_and_wide_labels() {
        let drawn = board(&Board {
            grid: Grid { rows: 2, cols: 4, block: Some([2, 2]), ..Grid::default() },
            pieces: vec![piece([0, 0], "value", None, Some("16"))],
            walls: vec![Wall { cell: [0, 2], side: Side::Right }, Wall { cell: [1, 3], side: Side::Up }],
            scores: Some([7, -2]),
            ..Board::default()
        });
        let expected = "\
+--+--+--+--+
|16 . |. |. |
         +--+
|.  . |.  . |
+--+--+--+--+
p1 7, p2 -2
";
        assert_eq!(drawn, expected, "{drawn}");
    }
}
