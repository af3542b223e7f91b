//! A board in a sentence, for those who do not see the picture.

use super::layers::shown;
use crate::game::{Cell, Drawing, Mark, Piece, Side};

/// The most bytes of it.
const MOST: usize = 4000;

/// How many rows and columns there are, and what stands where.
pub(super) fn describe(drawing: &Drawing, last: &[Cell]) -> String {
    let mut words = format!("{} rows and {} columns.", drawing.rows, drawing.cols);
    let is_short = has_short_names(drawing);
    let mut places: Vec<(String, Vec<String>)> = Vec::new();
    let mut put = |what: String, cell: Cell| match places.iter_mut().find(|(known, _)| *known == what) {
        Some((_, cells)) => cells.push(name(drawing, is_short, cell)),
        None => places.push((what, vec![name(drawing, is_short, cell)])),
    };
    let covered = drawing.pieces.iter().flat_map(|piece| piece.cells.iter().map(move |&cell| (piece, cell)));
    let is_inside = |(row, col): Cell| row < drawing.rows && col < drawing.cols;
    for (piece, cell) in covered.filter(|(_, cell)| is_inside(*cell)).take(MOST) {
        put(kind(piece), cell);
    }
    for wall in drawing.walls.iter().filter(|wall| is_inside(wall.cell)).take(MOST) {
        put(format!("wall {}", if wall.right { "right of" } else { "below" }), wall.cell);
    }
    for mark in shown(drawing).filter(|mark| is_inside(mark.cell)).take(MOST) {
        put(note(mark), mark.cell);
    }
    for &cell in last.iter().take(MOST) {
        put("last move".to_owned(), cell);
    }
    for (what, cells) in places {
        let more = format!(" {what}: {}.", cells.join(", "));
        if words.len() + more.len() > MOST {
            words += " And more.";
            break;
        }
        words += &more;
    }
    if let Some([first, second]) = drawing.scores {
        words += &format!(" Player 1 has {first}, player 2 has {second}.");
    }
    words
}

/// Whom it concerns, as a word before what it is.
fn possessive(owner: Option<Side>) -> &'static str {
    match owner {
        Some(Side::First) => "player 1's ",
        Some(Side::Second) => "player 2's ",
        None => "",
    }
}

/// Whom a mark of a layer concerns, its kind and its label.
fn note(mark: &Mark) -> String {
    let label = mark.label.as_deref().map(|label| format!(" {label}")).unwrap_or_default();
    format!("{}{}{label}", possessive(mark.owner), mark.mark)
}

/// Whose piece it is, its kind and its label.
fn kind(piece: &Piece) -> String {
    let owner = possessive(piece.owner);
    // A number that says the owner says nothing new.
    let number = piece.owner.map(|owner| (owner.index() + 1).to_string());
    let label = piece.label.as_deref().filter(|label| Some(*label) != number.as_deref());
    let label = label.map(|label| format!(" {label}")).unwrap_or_default();
    format!("{owner}{}{label}", piece.piece)
}

/// Whether a cell is named as `d4`: letters name the columns and figures the rows.
fn has_short_names(drawing: &Drawing) -> bool {
    let are = |labels: &[String], is: fn(&char) -> bool| {
        !labels.is_empty() && labels.iter().all(|label| label.chars().all(|letter| is(&letter)))
    };
    are(&drawing.col_labels, char::is_ascii_alphabetic) && are(&drawing.row_labels, char::is_ascii_digit)
}

/// A cell's name as move texts write it: `d4` if names are short, else row and column.
fn name(drawing: &Drawing, is_short: bool, (row, col): Cell) -> String {
    let named =
        |labels: &[String], at: usize| labels.get(at).cloned().unwrap_or_else(|| (at + 1).to_string());
    let (row, col) = (named(&drawing.row_labels, row), named(&drawing.col_labels, col));
    if is_short { format!("{col}{row}") } else { format!("row {row} column {col}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_kind_are_named_together() {
        let token = |cell, owner: Side| Piece {
            cells: vec![cell],
            piece: "token",
            label: Some((owner.index() + 1).to_string()),
            owner: Some(owner),
        };
        let blocked = |cell| Piece { cells: vec![cell], piece: "blocked", label: None, owner: None };
        let drawing = Drawing {
            rows: 2,
            cols: 2,
            pieces: vec![blocked((0, 0)), token((0, 1), Side::Second), blocked((1, 1))],
            row_labels: vec!["1".into(), "2".into()],
            col_labels: vec!["a".into(), "b".into()],
            scores: Some([3, -1]),
            ..Drawing::default()
        };
        let expected = "2 rows and 2 columns. blocked: a1, b2. player 2's token: b1. last move: b1. \
                        Player 1 has 3, player 2 has -1.";
        assert_eq!(describe(&drawing, &[(0, 1)]), expected);
    }

    #[test]
    fn columns_that_figures_name_are_told_apart_from_rows() {
        let labels: Vec<String> = vec!["0".into(), "a".into()];
        let drawing = Drawing { row_labels: labels.clone(), col_labels: labels, ..Drawing::default() };
        assert_eq!(name(&drawing, has_short_names(&drawing), (1, 0)), "row a column 0");
        assert_eq!(name(&drawing, has_short_names(&drawing), (1, 1)), "row a column a");
        assert_eq!(name(&drawing, has_short_names(&drawing), (7, 1)), "row 8 column a");
    }
}
