//! How marks look: small values within a cell, a ring for the target of a move, dots for cells that can be
//! reached, and a word in the corner for what is not known here.

use std::collections::BTreeSet;

use super::canvas::{Canvas, Colour};
use super::layers::unhidden;
use super::layout::{Layout, UNIT, shortened};
use super::pieces::colours;
use crate::game::{Cell, Drawing, Mark};

/// The most values of a cell that can be read; boards with more show none.
const VALUES: usize = 9;
/// The letters of a word in the corner.
const WORD: usize = 9;

/// Draws the marks; cells of the last move are drawn elsewhere, below the pieces.
pub(super) fn draw(canvas: &mut Canvas, drawing: &Drawing, layout: Layout) {
    let mut open = Small::default();
    let mut struck = Small::default();
    let blocks = drawing.blocks.filter(|&(tall, wide)| (1..=VALUES).contains(&tall.saturating_mul(wide)));
    let taboo = cells_and_values(drawing, "taboo", VALUES);
    for mark in unhidden(drawing).take(layout.shapes()) {
        let Some(at) = layout.middle(mark.cell) else { continue };
        match mark.mark {
            "candidates" | "declared" => {
                let Some(blocks) = blocks else { continue };
                for value in values(mark, VALUES) {
                    let is_struck = mark.mark == "declared" || taboo.contains(&(mark.cell, value));
                    let list = if is_struck { &mut struck } else { &mut open };
                    list.put(value, at, blocks);
                }
            }
            // The values say these two, and the cells of the last move are below.
            "taboo" | "undecided" | "last" => {}
            "target" => canvas.ring((at.0 + 32, at.1 - 32), 8, Colour::Dot),
            "reachable" | "allowed" => {
                let colour = mark.owner.map_or(Colour::Dot, |_| colours(mark.owner).0);
                canvas.disc(at, 11, colour);
            }
            word => {
                let text = shortened(mark.label.as_deref().unwrap_or(word), WORD);
                canvas.text(&text, (at.0, at.1 + 36), 20, Colour::Faint);
            }
        }
    }
    open.draw(canvas, blocks, Colour::Faint);
    struck.draw(canvas, blocks, Colour::Struck);
    canvas.lines(&struck.strokes, 2, Colour::Struck);
}

/// Small values of cells, in the places that they have in a block.
#[derive(Default)]
struct Small {
    /// The texts with their middles.
    texts: Vec<(String, (i64, i64))>,
    /// A line through each.
    strokes: String,
    known: BTreeSet<((i64, i64), usize)>,
}

impl Small {
    fn put(&mut self, value: usize, (x, y): (i64, i64), (tall, wide): (usize, usize)) {
        if value > tall * wide || !self.known.insert(((x, y), value)) {
            return;
        }
        let along = |at: usize, of: usize| (2 * at as i64 + 1) * 92 / (2 * of as i64) - 46;
        let place = (x + along((value - 1) % wide, wide), y + along((value - 1) / wide, tall));
        self.texts.push((value.to_string(), place));
        self.strokes += &format!("M{} {}h14", place.0 - 7, place.1);
    }

    fn draw(&self, canvas: &mut Canvas, blocks: Option<(usize, usize)>, colour: Colour) {
        let Some((tall, wide)) = blocks else { return };
        let size = 57 / tall.max(wide) as i64;
        let texts: Vec<(&str, (i64, i64))> = self.texts.iter().map(|(text, at)| (&**text, *at)).collect();
        canvas.texts(&texts, size.min(UNIT / 4), colour);
    }
}

/// The values that a mark lists.
fn values(mark: &Mark, most: usize) -> impl Iterator<Item = usize> {
    let words = mark.label.as_deref().unwrap_or_default().split(' ').take(most);
    words.filter_map(|word| word.parse().ok()).filter(move |value| (1..=most).contains(value))
}

/// All values that marks of one kind list.
fn cells_and_values(drawing: &Drawing, kind: &str, most: usize) -> BTreeSet<(Cell, usize)> {
    let marks = unhidden(drawing).filter(|mark| mark.mark == kind);
    marks.flat_map(|mark| values(mark, most).map(|value| (mark.cell, value))).collect()
}
