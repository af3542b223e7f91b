//! How pieces look, in a cell of 100 by 100 units. A kind that is not known here is a disc with its label, or
//! with the number of its owner.

use super::canvas::{Canvas, Colour, Rect};
use super::layout::{UNIT, shortened};
use crate::game::{Piece, Side};

/// The letters of a label that are shown.
const LABEL: usize = 9;

/// Draws a piece whose cells have these middles, the first cell first. A glyph is drawn on its disc.
pub(super) fn draw(canvas: &mut Canvas, piece: &Piece, places: &[(i64, i64)], glyph: Option<&str>) {
    let Some(&first) = places.first() else { return };
    let text = inscription(piece);
    let (body, on_it) = colours(piece.owner);
    if places.len() > 1 {
        cover(canvas, places, body);
        caption(canvas, &text, first, on_it);
        return;
    }
    match piece.piece {
        "blocked" => {
            canvas.rect(Rect::around(first, UNIT), 0, Colour::Line);
            let (x, y) = (first.0 - 18, first.1 - 18);
            canvas.lines(&format!("M{x} {y}l36 36m0 -36l-36 36"), 5, Colour::Nobody);
        }
        "tile" => {
            canvas.rect(Rect::around(first, 86), 14, body);
            caption(canvas, &text, first, on_it);
        }
        "value" if piece.owner.is_none() => caption(canvas, &text, first, Colour::Text),
        "value" => {
            canvas.rect(Rect::around(first, 84), 12, body);
            caption(canvas, &text, first, on_it);
        }
        _ => {
            if let Some(glyph) = glyph {
                canvas.disc(first, 41, body);
                canvas.glyph(glyph, first, on_it);
                canvas.text(&text, (first.0 + 2, first.1 + 17), 17, body);
            } else {
                canvas.disc(first, 34, body);
                caption(canvas, &text, first, on_it);
            }
        }
    }
}

/// The colour of what a player owns, and of what is written on it.
pub(super) fn colours(owner: Option<Side>) -> (Colour, Colour) {
    match owner {
        Some(Side::First) => (Colour::First, Colour::OnFirst),
        Some(Side::Second) => (Colour::Second, Colour::OnSecond),
        None => (Colour::Nobody, Colour::Text),
    }
}

/// What is written on a piece.
fn inscription(piece: &Piece) -> String {
    match (&piece.label, piece.owner) {
        (Some(label), _) => shortened(label, LABEL),
        (None, Some(owner)) => (owner.index() + 1).to_string(),
        (None, None) => String::new(),
    }
}

/// A text in the middle of a cell, smaller if it is long.
fn caption(canvas: &mut Canvas, text: &str, at: (i64, i64), colour: Colour) {
    let size = match text.chars().count() as i64 {
        0 => return,
        1 => 52,
        2 => 44,
        letters => 100 / letters,
    };
    canvas.text(text, at, size, colour);
}

/// One shape over several cells: squares, and bridges between neighbours.
fn cover(canvas: &mut Canvas, places: &[(i64, i64)], colour: Colour) {
    const SIDE: i64 = UNIT - 18;
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let has = |place| sorted.binary_search(&place).is_ok();
    for &(x, y) in places {
        canvas.rect(Rect::around((x, y), SIDE), 20, colour);
        if has((x + UNIT, y)) {
            canvas.rect(Rect { x, y: y - SIDE / 2, width: UNIT, height: SIDE }, 0, colour);
        }
        if has((x, y + UNIT)) {
            canvas.rect(Rect { x: x - SIDE / 2, y, width: SIDE, height: UNIT }, 0, colour);
        }
    }
}
