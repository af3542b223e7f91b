//! Where cells lie: a cell is 100 units wide, and the first one begins at the origin.

use crate::game::{Cell, Drawing};

/// Units of a cell.
pub(super) const UNIT: i64 = 100;

/// The most rows and the most columns that are drawn.
const MOST: usize = 64;

/// The part of a grid that is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// Rows.
    pub(super) rows: usize,
    /// Columns.
    pub(super) cols: usize,
}

impl Layout {
    pub(super) fn of(drawing: &Drawing) -> Self {
        Self { rows: drawing.rows.min(MOST), cols: drawing.cols.min(MOST) }
    }

    /// The units of all columns.
    pub(super) fn width(self) -> i64 {
        self.cols as i64 * UNIT
    }

    /// The units of all rows.
    pub(super) fn height(self) -> i64 {
        self.rows as i64 * UNIT
    }

    /// The most shapes of one kind that a board needs; a drawing may have more that hide each other.
    pub(super) fn shapes(self) -> usize {
        4 * self.rows * self.cols
    }

    /// Whether a cell is drawn.
    pub(super) fn has(self, (row, col): Cell) -> bool {
        row < self.rows && col < self.cols
    }

    /// The middle of a cell that is drawn.
    pub(super) fn middle(self, cell: Cell) -> Option<(i64, i64)> {
        self.has(cell).then(|| (cell.1 as i64 * UNIT + UNIT / 2, cell.0 as i64 * UNIT + UNIT / 2))
    }
}

/// A text cut to at most `most` letters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_letters() {
        assert_eq!(shortened("größe", 5), "größe");
        assert_eq!(shortened("größer", 5), "größ…");
        assert_eq!(shortened("", 5), "");
    }

    #[test]
    fn what_lies_outside_has_no_place() {
        let layout = Layout::of(&Drawing { rows: 2, cols: usize::MAX, ..Drawing::default() });
        assert_eq!(layout.middle((1, 63)), Some((6350, 150)));
        assert_eq!((layout.middle((2, 0)), layout.middle((0, 64))), (None, None));
        assert_eq!(layout.middle((usize::MAX, usize::MAX)), None);
    }
}
