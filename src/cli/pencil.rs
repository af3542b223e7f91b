//! Pencil marks: the values that may still be written in the empty cells of a board, each at its own place
//! within the cell, as people note them on paper.
//!
//! Drawn from the marks of the protocol's boards whose labels are lists of numbers up to the size of a block.

use std::collections::BTreeMap;

use plyd_protocol::{Board, Cell, Mark};

use super::styled::{Text, Tone};

/// The marks of all cells.
#[derive(Debug)]
pub(super) struct Pencil {
    /// Rows of places in a cell.
    pub(super) height: usize,
    /// Places in a row.
    across: usize,
    /// Characters of a place.
    digits: usize,
    cells: BTreeMap<Cell, BTreeMap<usize, (String, Tone)>>,
    /// The kinds of signs that stand for a value, and what they mean.
    signs: Vec<(&'static str, &'static str)>,
}

impl Pencil {
    /// The marks of a board; none if it has no blocks, or nothing is marked so.
    pub(super) fn of(board: &Board) -> Option<Self> {
        let [height, across] = board.grid.block?.map(|size| size as usize);
        let most = height.checked_mul(across).filter(|most| *most > 0)?;
        let digits = most.to_string().len();
        let mut pencil = Self { height, across, digits, cells: BTreeMap::new(), signs: Vec::new() };
        for mark in &board.marks {
            let Some(sign) = sign(mark) else { continue };
            let label = mark.label.as_deref().unwrap_or_default();
            for value in label.split(' ').filter_map(|value| value.parse().ok()) {
                if (1..=most).contains(&value) {
                    let shown = match sign {
                        Sign::Value => (value.to_string(), Tone::Plain),
                        Sign::Other(sign, about, tone) => {
                            if !pencil.signs.contains(&(sign, about)) {
                                pencil.signs.push((sign, about));
                            }
                            (sign.to_owned(), tone)
                        }
                    };
                    pencil.cells.entry(mark.cell).or_default().insert(value - 1, shown);
                }
            }
        }
        (!pencil.cells.is_empty()).then_some(pencil)
    }

    /// The characters that a cell needs.
    pub(super) fn width(&self) -> usize {
        self.across * self.digits + (self.across - 1) * self.gap()
    }

    /// One row of places of a cell, each with its tone; none if nothing is marked in the cell.
    pub(super) fn row(&self, cell: Cell, row: usize) -> Option<Vec<(String, Tone)>> {
        let places = self.cells.get(&cell)?;
        let digits = self.digits;
        let mut spans = Vec::new();
        for col in 0..self.across {
            let blank = (String::new(), Tone::Plain);
            let (text, tone) = places.get(&(row * self.across + col)).unwrap_or(&blank);
            let gap = if col > 0 { " ".repeat(self.gap()) } else { String::new() };
            spans.push((format!("{gap}{text:>digits$}"), *tone));
        }
        Some(spans)
    }

    /// What the signs mean.
    pub(super) fn legend(&self) -> Option<Text> {
        let signs: Vec<String> = self.signs.iter().map(|(sign, about)| format!("{sign} {about}")).collect();
        (!signs.is_empty()).then(|| Text::new(&signs.join(", "), Tone::Faint))
    }

    /// Numbers of several digits need a blank between them.
    fn gap(&self) -> usize {
        usize::from(self.digits > 1)
    }
}

/// What is written at the place of a value.
enum Sign {
    /// The value itself.
    Value,
    /// A sign with its meaning.
    Other(&'static str, &'static str, Tone),
}

fn sign(mark: &Mark) -> Option<Sign> {
    Some(match mark.mark.as_str() {
        "candidates" => Sign::Value,
        "taboo" => Sign::Other("x", "taboo", Tone::Alarm),
        "declared" => Sign::Other("-", "declared taboo", Tone::Faint),
        "undecided" => Sign::Other("?", "perhaps taboo", Tone::Doubt),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_protocol::Grid;

    fn mark(cell: Cell, mark: &str, label: &str) -> Mark {
        Mark { cell, mark: mark.into(), owner: None, label: Some(label.into()) }
    }

    fn board(block: Option<[u32; 2]>, marks: Vec<Mark>) -> Board {
        Board { grid: Grid { rows: 4, cols: 4, block, ..Grid::default() }, marks, ..Board::default() }
    }

    fn row(pencil: &Pencil, cell: Cell, row: usize) -> String {
        pencil.row(cell, row).unwrap().into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn values_stand_at_their_places_and_signs_at_those_of_taboo_ones() {
        let marks = vec![
            mark([0, 0], "candidates", "1 2 4"),
            mark([0, 0], "taboo", "4"),
            mark([1, 1], "declared", "3"),
        ];
        let pencil = Pencil::of(&board(Some([2, 2]), marks)).unwrap();
        assert_eq!((pencil.height, pencil.width()), (2, 2));
        assert_eq!([0, 1].map(|at| row(&pencil, [0, 0], at)), ["12", " x"]);
        assert_eq!([0, 1].map(|at| row(&pencil, [1, 1], at)), ["  ", "- "]);
        assert!(pencil.row([2, 2], 0).is_none());
        assert_eq!(pencil.legend().unwrap().plain(), "x taboo, - declared taboo");
    }

    #[test]
    fn numbers_of_two_digits_are_parted() {
        let pencil = Pencil::of(&board(Some([3, 4]), vec![mark([0, 0], "candidates", "1 3 12")])).unwrap();
        assert_eq!((pencil.height, pencil.width()), (3, 11));
        assert_eq!([0, 2].map(|at| row(&pencil, [0, 0], at)), [" 1     3   ", "         12"]);
    }

    #[test]
    fn other_marks_and_what_fits_no_place_are_left_out() {
        for (block, marks) in [
            (None, vec![mark([0, 0], "candidates", "1")]),
            (
                Some([2, 2]),
                vec![mark([0, 0], "target", "1"), mark([0, 0], "candidates", "0 5 x 99999999999")],
            ),
            (Some([0, 2]), vec![mark([0, 0], "candidates", "1")]),
            (Some([u32::MAX, u32::MAX]), Vec::new()),
        ] {
            assert!(Pencil::of(&board(block, marks)).is_none());
        }
    }
}
