//! A board in characters, drawn from the protocol's primitives and nothing else.
//!
//! A cell is as wide as its longest text; what stands on it is the label, or a letter for the kind of piece:
//! upper case for `p1`, lower case for `p2`. Walls are `|` and `---`; blocks are parted by the same.

use std::collections::{BTreeMap, BTreeSet};

use plyd_protocol::{Board, Cell, Piece, Player, Side};

use super::pencil::Pencil;
use super::styled::{Style, Text, Tone};

/// What stands out on a board.
#[derive(Clone, Debug, Default)]
pub(super) struct Emphasis {
    /// Cells that the last move changed.
    pub(super) last: Vec<Cell>,
    /// Cells where something can be played.
    pub(super) targets: Vec<Cell>,
    /// The selected cell.
    pub(super) cursor: Option<Cell>,
}

/// How large a cell is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detail {
    /// As wide as its longest text.
    Small,
    /// With a blank on either side, so that cells come closer to squares.
    Wide,
    /// With pencil marks in the empty cells, if there are any.
    Pencil,
}

/// The board as lines of text, and below it what the letters mean and the scores.
pub(super) fn board(board: &Board) -> String {
    let lines = lines(board, &Emphasis::default(), Detail::Small);
    lines.iter().map(|line| format!("{}\n", line.plain())).collect()
}

/// The same in colours, with some cells emphasised.
pub(super) fn lines(board: &Board, emphasis: &Emphasis, detail: Detail) -> Vec<Text> {
    let cells = cells(board);
    let texts = cells.values().map(|(text, _)| text);
    let widest = texts.chain(&board.grid.col_labels).map(|text| text.chars().count()).max();
    let walls = board.walls.iter().map(|wall| (wall.cell, wall.side as u8)).collect();
    let pencil = Pencil::of(board).filter(|_| detail == Detail::Pencil);
    let width = match &pencil {
        Some(pencil) => widest.unwrap_or(1).max(pencil.width()),
        None => widest.unwrap_or(1).max(1) + if detail == Detail::Small { 0 } else { 2 },
    };
    let height = pencil.as_ref().map_or(1, |pencil| pencil.height);
    let picture = Picture { board, emphasis, width, height, cells, walls, pencil };
    let mut lines = picture.draw();
    lines.extend(picture.pencil.as_ref().and_then(Pencil::legend));
    let mut legend = Text::default();
    let mut entries: Vec<String> = Vec::new();
    for piece in board.pieces.iter().filter(|piece| piece.label.is_none()) {
        let owner = match piece.owner {
            Some(Player::P1) => "p1's ",
            Some(Player::P2) => "p2's ",
            None => "",
        };
        let entry = format!("{} {owner}{}", letter(piece), piece.piece);
        if !entries.contains(&entry) {
            legend.push(if entries.is_empty() { "" } else { ", " }, Tone::Plain);
            legend.push(&entry, tone(piece.owner));
            entries.push(entry);
        }
    }
    if !entries.is_empty() {
        lines.push(legend);
    }
    if let Some([p1, p2]) = board.scores {
        let mut scores = Text::new(&format!("p1 {p1}"), Tone::P1);
        scores.push(", ", Tone::Plain);
        scores.push(&format!("p2 {p2}"), Tone::P2);
        lines.push(scores);
    }
    lines
}

/// The same in words: what stands where, piece by piece, for those who listen to it.
pub(super) fn words(board: &Board, name: impl Fn(Cell) -> String) -> Vec<Text> {
    let owned = |owner: Option<Player>| match owner {
        Some(Player::P1) => "p1's ",
        Some(Player::P2) => "p2's ",
        None => "",
    };
    let mut places: Vec<(String, Option<Player>, Vec<String>)> = Vec::new();
    let mut put = |what: String, owner, names: Vec<String>| match places
        .iter_mut()
        .find(|(known, of, _)| *known == what && *of == owner)
    {
        Some((_, _, known)) => known.extend(names),
        None => places.push((what, owner, names)),
    };
    for piece in &board.pieces {
        let label = piece.label.as_ref().map(|label| format!(" {label}")).unwrap_or_default();
        let cells = std::iter::once(&piece.cell).chain(&piece.also).map(|cell| name(*cell));
        put(format!("{}{label}", piece.piece), piece.owner, cells.collect());
    }
    for wall in &board.walls {
        let side = match wall.side {
            Side::Up => "above",
            Side::Right => "right of",
            Side::Down => "below",
            Side::Left => "left of",
        };
        put(format!("walls {side}"), None, vec![name(wall.cell)]);
    }
    for mark in &board.marks {
        let label = mark.label.as_ref().map(|label| format!(" {label}")).unwrap_or_default();
        put(mark.mark.clone(), mark.owner, vec![format!("{}{label}", name(mark.cell))]);
    }
    let mut lines = vec![Text::from(format!("{} rows, {} columns", board.grid.rows, board.grid.cols))];
    for (what, owner, names) in places {
        lines.push(Text::new(&format!("{}{what}: {}", owned(owner), names.join("; ")), tone(owner)));
    }
    if let Some([p1, p2]) = board.scores {
        lines.push(Text::from(format!("scores: p1 {p1}, p2 {p2}")));
    }
    lines
}

struct Picture<'a> {
    board: &'a Board,
    emphasis: &'a Emphasis,
    /// Characters of a cell.
    width: usize,
    /// Lines of a cell.
    height: usize,
    /// What is written on each cell that is not empty, and whose it is.
    cells: BTreeMap<Cell, (String, Option<Player>)>,
    /// The sides of cells that have a wall.
    walls: BTreeSet<(Cell, u8)>,
    /// What is written in empty cells, if it is shown.
    pencil: Option<Pencil>,
}

impl Picture<'_> {
    fn draw(&self) -> Vec<Text> {
        let grid = &self.board.grid;
        let margin = grid.row_labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let indent = " ".repeat(if margin > 0 { margin + 1 } else { 0 });
        let mut lines = Vec::new();
        if !grid.col_labels.is_empty() {
            let labels: Vec<String> = grid.col_labels.iter().map(|label| self.centred(label)).collect();
            lines.push(Text::new(&format!("{indent} {}", labels.join(" ")), Tone::Faint));
        }
        for row in 0..=grid.rows {
            if let Some(rule) = self.rule_above(row) {
                lines.push(Text::from(format!("{indent}{rule}")));
            }
            // There is one more rule than there are rows.
            for part in (0..self.height).filter(|_| row < grid.rows) {
                let label = grid.row_labels.get(row as usize).filter(|_| part == self.middle());
                let label = label.map_or("", String::as_str);
                let space = if margin > 0 { " " } else { "" };
                let mut line = Text::new(&format!("{label:>margin$}{space}"), Tone::Faint);
                self.draw_cells(row, part, &mut line);
                lines.push(line);
            }
        }
        lines
    }

    /// The line of a cell on which its text stands.
    fn middle(&self) -> usize {
        (self.height - 1) / 2
    }

    /// One line of a row of cells.
    fn draw_cells(&self, row: u32, part: usize, line: &mut Text) {
        for col in 0..=self.board.grid.cols {
            line.push(if self.parted_left(row, col) { "|" } else { " " }, Tone::Plain);
            if col < self.board.grid.cols {
                self.draw_cell([row, col], part, line);
            }
        }
    }

    fn draw_cell(&self, cell: Cell, part: usize, line: &mut Text) {
        let marked = self.emphasis.last.contains(&cell);
        let reversed = self.emphasis.cursor == Some(cell);
        let is_empty = !self.cells.contains_key(&cell);
        if let Some(row) = self.pencil.as_ref().filter(|_| is_empty).and_then(|pencil| pencil.row(cell, part))
        {
            let width: usize = row.iter().map(|(text, _)| text.chars().count()).sum();
            for (text, tone) in row {
                line.push(&text, Style { tone, marked, reversed });
            }
            return line.push(&" ".repeat(self.width - width), Style { reversed, ..Style::default() });
        }
        let (text, tone) = match self.cells.get(&cell) {
            _ if part != self.middle() => ("", Tone::Plain),
            Some((text, owner)) => (text.as_str(), tone(*owner)),
            None if self.emphasis.targets.contains(&cell) => ("*", Tone::Open),
            None => (".", Tone::Faint),
        };
        // A line below each text, not below the blanks beside it.
        let marked = marked && !text.is_empty();
        let padding = self.width - text.chars().count();
        let beside = Style { reversed, ..Style::default() };
        line.push(&" ".repeat(padding / 2), beside);
        line.push(text, Style { tone, marked, reversed });
        line.push(&" ".repeat(padding - padding / 2), beside);
    }

    /// The horizontal rule above a row; none if there is nothing to separate.
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
        self.walls.contains(&(cell, side as u8))
    }

    fn centred(&self, text: &str) -> String {
        format!("{text:^width$}", width = self.width)
    }
}

/// What is written on each cell that is not empty, and whose it is.
fn cells(board: &Board) -> BTreeMap<Cell, (String, Option<Player>)> {
    let mut cells = BTreeMap::new();
    for piece in &board.pieces {
        let letter = letter(piece);
        for cell in &piece.also {
            cells.insert(*cell, (letter.clone(), piece.owner));
        }
        cells.insert(piece.cell, (piece.label.clone().unwrap_or(letter), piece.owner));
    }
    cells
}

/// The cells on which something else is written than before.
pub(super) fn changed(before: &Board, after: &Board) -> Vec<Cell> {
    let (before, after) = (cells(before), cells(after));
    let all: BTreeSet<&Cell> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|cell| before.get(*cell) != after.get(*cell)).copied().collect()
}

/// The tone of what a player owns.
pub(super) fn tone(owner: Option<Player>) -> Tone {
    match owner {
        Some(Player::P1) => Tone::P1,
        Some(Player::P2) => Tone::P2,
        None => Tone::Plain,
    }
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
    use super::super::styled::Colours;
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
    fn what_matters_stands_out_and_nothing_else_changes() {
        let before = Board {
            grid: Grid { rows: 1, cols: 3, ..Grid::default() },
            pieces: vec![piece([0, 0], "token", Some(Player::P2), None)],
            ..Board::default()
        };
        let after = Board { pieces: vec![piece([0, 1], "token", Some(Player::P2), None)], ..before.clone() };
        let last = changed(&before, &after);
        assert_eq!(last, [[0, 0], [0, 1]]);
        let emphasis = Emphasis { last, targets: vec![[0, 2]], cursor: Some([0, 2]) };
        let drawn = lines(&after, &emphasis, Detail::Small);
        let plain: String = drawn.iter().map(|line| line.plain() + "\n").collect();
        assert_eq!(plain, board(&after).replacen(". t .", ". t *", 1));
        let row = drawn[1].written(Colours::Full);
        let [last, mine, cursor] = ["\x1b[2m\x1b[4m", "\x1b[1m\x1b[4m\x1b[35m", "\x1b[7m\x1b[36m"];
        assert_eq!(row, format!("|{last}.\x1b[0m {mine}t\x1b[0m {cursor}*\x1b[0m|"));
    }

    #[test]
    fn cells_are_wide_or_hold_pencil_marks_where_there_is_room() {
        let grid = Grid { rows: 2, cols: 2, block: Some([2, 2]), ..Grid::default() };
        let candidates = plyd_protocol::Mark {
            cell: [0, 1],
            mark: "candidates".into(),
            owner: None,
            label: Some("1 4".into()),
        };
        let marked = Board {
            grid,
            pieces: vec![piece([0, 0], "value", None, Some("3"))],
            marks: vec![candidates],
            ..Board::default()
        };
        let drawn = |detail| -> Vec<String> {
            lines(&marked, &Emphasis::default(), detail).iter().map(Text::plain).collect()
        };
        assert_eq!(drawn(Detail::Small)[1..3], ["|3 .|", "|. .|"]);
        assert_eq!(drawn(Detail::Wide)[1..3], ["| 3   . |", "| .   . |"]);
        assert_eq!(drawn(Detail::Pencil)[1..5], ["|3  1 |", "|    4|", "|.  . |", "|     |"]);
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
