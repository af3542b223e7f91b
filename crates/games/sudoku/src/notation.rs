//! Moves as text, the effective rules, and the picture of a position.

use super::layout::{self, Layout};
use super::position::Position;
use super::rules::{Fill, Sudoku};
use super::solutions::taboo_moves;
use super::state_text;
use super::written::{self, fill_text};
use plyd_core::game::{Drawing, Layer, Mark, Notation, Setting};

/// How a move is written.
pub(super) const MOVE_GRAMMAR: &str = "`r,c,v`: row and column from 0 at the top left, value from 1. Whether a move fills its cell or is taboo and \
     passes the turn is decided by the rules.";

impl Notation for Sudoku {
    fn position_text(&self, pos: &Position) -> String {
        written::write(self, pos)
    }

    fn state_text(&self, pos: &Position) -> Option<String> {
        Some(state_text::write(self, pos))
    }

    fn move_text(&self, _pos: &Position, mv: Fill) -> String {
        fill_text(self.grid(), mv)
    }

    fn parse_move(&self, _pos: &Position, text: &str) -> Result<Fill, String> {
        let side = self.grid().side();
        let number = |word: &str| layout::number(word).ok();
        let [Some(row), Some(column), Some(value)] = text.split(',').map(number).collect::<Vec<_>>()[..]
        else {
            return Err("a move is written `r,c,v`: row, column, value".to_owned());
        };
        if row >= side || column >= side || !(1..=side).contains(&value) {
            return Err(format!("rows and columns are 0 to {}, values 1 to {side}", side - 1));
        }
        Ok(Fill { cell: (row * side + column) as u16, value: value as u8 })
    }

    /// Values with their owners; for empty cells the values that fit, those that were declared taboo, those
    /// that would be taboo, and those that the solver could not decide; as a layer the cells of regions that
    /// are about to close.
    fn draw(&self, pos: &Position) -> Drawing {
        let grid = self.grid();
        let squares = || pos.squares().iter().enumerate();
        let fitting = squares().flat_map(|(cell, _)| {
            let candidates = pos.candidates(grid, cell);
            let values = (1..=grid.side() as u8).filter(move |value| candidates >> (value - 1) & 1 != 0);
            values.map(move |value| Fill { cell: cell as u16, value })
        });
        let taboo = taboo_moves(self, pos);
        // A value in the last cell of a region scores; in one of the last two it lets the other side score.
        let closing = squares().filter(|(_, square)| square.value == 0).filter_map(|(cell, _)| {
            let missing = grid.regions_of(cell).map(|region| pos.missing(grid, region)).into_iter().min()?;
            let (mark, label) = match missing {
                1 => ("closing", format!("+{}", self.points(pos, cell))),
                2 => ("closes-next", "2 left".to_owned()),
                _ => return None,
            };
            Some(Mark { cell: grid.place(cell), mark, owner: None, label: Some(label) })
        });
        let layer = |name, label| Layer { name, label, ..Layer::default() };
        let kinds: [&[&str]; 2] = [&["candidates", "declared", "undecided"], &["taboo"]];
        let layers = vec![
            Layer { is_usual: true, kinds: kinds[0], ..layer("candidates", "Values that fit a cell") },
            Layer { is_usual: true, kinds: kinds[1], ..layer("taboo", "Values that are taboo") },
            Layer {
                marks: closing.collect(),
                ..layer("closing", "Regions about to close: points at once, or 2 cells left")
            },
        ];
        let layout = Layout::of(self, pos);
        Drawing {
            marks: [
                layout.value_marks("candidates", &fitting.collect::<Vec<Fill>>()),
                layout.value_marks("declared", &layout.taboo),
                layout.value_marks("taboo", &taboo.known),
                layout.value_marks("undecided", &taboo.undecided),
            ]
            .concat(),
            layers,
            ..layout.board()
        }
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        let choice = self.choice();
        let block = |length: usize| Setting::Int(length as i64);
        let mut rules = vec![
            ("preset", Setting::from(choice.preset.name())),
            ("m", block(choice.shape.0)),
            ("n", block(choice.shape.1)),
        ];
        rules.extend(choice.seed.map(|seed| ("seed", Setting::Text(format!("{seed:x}")))));
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::Choice;
    use super::*;
    use plyd_core::game::Rules;

    #[test]
    fn moves_are_row_column_value() {
        let game = Sudoku::new(Choice::new(&Rules::default(), None).unwrap());
        let pos = game.start();
        for text in ["0,0,1", "8,8,9", "3,0,7"] {
            let mv = game.parse_move(&pos, text).unwrap();
            assert_eq!(game.move_text(&pos, mv), text);
        }
        for text in
            ["", "0,0", "0,0,0", "0,0,10", "9,0,1", "0,9,1", "0,0,1,1", "a,0,1", "-1,0,1", "0, 0,1", "0,0,+1"]
        {
            assert!(game.parse_move(&pos, text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn pictures_show_values_candidates_and_taboo_moves() {
        let layout = Layout::parse("2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1; scores 2 1; taboo 2,2,2").unwrap();
        let game = Sudoku::new(Choice::new(&Rules::default(), Some(&layout.stated_rules())).unwrap());
        let drawing = game.draw(&layout.position(&game).unwrap());
        assert_eq!((drawing.rows, drawing.blocks, drawing.pieces.len()), (4, Some((2, 2)), 12));
        assert_eq!((drawing.scores, drawing.pieces[4].label.as_deref()), (Some([2, 1]), Some("4")));
        let marks: Vec<(&str, (usize, usize), &str)> =
            drawing.marks.iter().map(|mark| (mark.mark, mark.cell, mark.label.as_deref().unwrap())).collect();
        let expected = [
            ("candidates", (0, 3), "4"),
            ("candidates", (2, 2), "4"),
            ("candidates", (3, 0), "4"),
            ("candidates", (3, 2), "2 4"),
        ];
        assert_eq!(marks[..4], expected);
        assert_eq!(marks[4..], [("declared", (2, 2), "2"), ("taboo", (3, 2), "4")]);
    }

    #[test]
    fn regions_are_about_to_close_whose_last_or_last_two_cells_are_empty() {
        let layout = Layout::parse("2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1; scores 2 1").unwrap();
        let game = Sudoku::new(Choice::new(&Rules::default(), Some(&layout.stated_rules())).unwrap());
        let closing = |drawing: &Drawing| {
            let layer = drawing.layers.iter().find(|layer| layer.name == "closing").unwrap();
            let marks = layer.marks.iter().map(|mark| (mark.cell, mark.mark, mark.label.clone().unwrap()));
            marks.collect::<Vec<_>>()
        };
        let at = |cell, mark, label: &str| (cell, mark, label.to_owned());
        // The last cell of three regions, of one, of two; and one of the last two of three.
        let expected = [
            at((0, 3), "closing", "+7"),
            at((2, 2), "closing", "+1"),
            at((3, 0), "closing", "+3"),
            at((3, 2), "closes-next", "2 left"),
        ];
        assert_eq!(closing(&game.draw(&layout.position(&game).unwrap())), expected);
        let empty = Sudoku::new(Choice::new(&Rules::default(), None).unwrap());
        assert_eq!(closing(&empty.draw(&empty.start())), []);
    }
}
