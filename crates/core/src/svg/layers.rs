//! How layers look: a background below the lines in the colour of the player whom a mark concerns, with its
//! label.

use super::canvas::{Canvas, Colour, Rect};
use super::layout::{Layout, UNIT, shortened};
use crate::game::{Drawing, Mark, Side};

/// The letters of a label that are shown.
const LABEL: usize = 9;

/// The marks of the layers that are shown.
pub(super) fn shown(drawing: &Drawing) -> impl Iterator<Item = &Mark> {
    drawing.layers.iter().filter(|layer| layer.is_usual).flat_map(|layer| &layer.marks)
}

/// The marks of the board, without those of the kinds that a hidden layer has.
pub(super) fn unhidden(drawing: &Drawing) -> impl Iterator<Item = &Mark> {
    let hides =
        |mark: &Mark| drawing.layers.iter().any(|layer| !layer.is_usual && layer.kinds.contains(&mark.mark));
    drawing.marks.iter().filter(move |mark| !hides(mark))
}

/// Draws the marks of the layers that are shown.
pub(super) fn draw(canvas: &mut Canvas, drawing: &Drawing, layout: Layout) {
    for mark in shown(drawing).take(layout.shapes()) {
        let Some(at) = layout.middle(mark.cell) else { continue };
        let ground = match mark.owner {
            Some(Side::First) => Colour::FirstGround,
            Some(Side::Second) => Colour::SecondGround,
            None => Colour::Noted,
        };
        canvas.rect(Rect::around(at, UNIT), 0, ground);
        if let Some(label) = &mark.label {
            // Words stand at the upper edge, where they cover least of what is in the cell.
            let (size, y) = if label.chars().count() <= 3 { (30, at.1) } else { (18, at.1 - 38) };
            canvas.text(&shortened(label, LABEL), (at.0, y), size, Colour::Text);
        }
    }
}
