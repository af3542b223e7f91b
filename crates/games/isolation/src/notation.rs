//! Texts and pictures of knight Isolation: rows from the top joined by `/`, a space and the mover; cells such
//! as `a1`, the top left one.
//!
//! Reads untrusted texts; the rules decide whether a move is legal.

use super::draft::Sheet;
pub use super::layout::Layout;
use super::layout::column_label;
use super::rules::{Isolation, Position, Target};
use super::sizes::Size;
use super::theory;
use plyd_core::bits::Bits;
use plyd_core::flood::Flood;
use plyd_core::game::{BookEntry, Drawing, Layer, Mark, Notation, Setting, Side};

/// How a position is written.
pub(super) const POSITION_GRAMMAR: &str = "Rows from the top joined by `/`, each cell `.` (open), `x` (blocked), `1` or `2` \
     (a token), then a space and the mover, `1` or `2`: `......./......./......./.x...../...21../x..x.../.xx..x. 1`. \
     Before both placements tokens are missing: with none the mover is 1, with player 1's alone it is 2.";
/// How a move is written.
pub(super) const MOVE_GRAMMAR: &str =
    "The cell to go to: column letter and row number counted from the top left, `a1` to `o15`.";

impl<B: Bits> Notation for Isolation<B> {
    fn position_text(&self, pos: &Position<B>) -> String {
        Sheet::of(self.board(), pos).text()
    }

    fn move_text(&self, _pos: &Position<B>, mv: Target) -> String {
        let (column, row) =
            (usize::from(mv.0) % self.board().width(), usize::from(mv.0) / self.board().width());
        format!("{}{}", column_label(column), row + 1)
    }

    fn parse_move(&self, _pos: &Position<B>, text: &str) -> Result<Target, String> {
        let (width, height) = (self.board().width(), self.board().height());
        let (letter, number) = match text.as_bytes() {
            [letter @ b'a'..=b'z', number @ ..] => (letter, number),
            _ => return Err("a move is a column letter and a row number, such as `a1`".to_owned()),
        };
        let row = match number {
            [digit @ b'1'..=b'9'] => usize::from(digit - b'0'),
            [b'1', digit @ b'0'..=b'9'] => 10 + usize::from(digit - b'0'),
            _ => {
                return Err(format!("after the column letter stands a row number from 1 to {height}"));
            }
        };
        let column = usize::from(letter - b'a');
        if column >= width || row > height {
            return Err(format!(
                "the cell is off the board: its columns are a to {}, its rows 1 to {height}",
                column_label(width - 1)
            ));
        }
        Ok(Target(((row - 1) * width + column) as u8))
    }

    fn draw(&self, pos: &Position<B>) -> Drawing {
        let cols = self.board().width();
        let place = |cell: u8| (usize::from(cell) / cols, usize::from(cell) % cols);
        let [first, second] = Side::ALL.map(|side| self.board().reach(pos.token(side)) & pos.open());
        let ground = Flood::new(self.board(), pos.open(), first, second).ground(place);
        let placements = theory::placements(self, pos).into_iter().map(|placed| Mark {
            cell: place(placed.cell),
            mark: "wins",
            owner: Some(placed.winner),
            label: placed.replies.map(|replies| replies.to_string()),
        });
        let label = "Who wins after a placement, by the book; a number: how many replies win";
        let book = Layer { name: "book", label, marks: placements.collect(), ..Layer::default() };
        let layers = if book.marks.is_empty() { vec![ground] } else { vec![ground, book] };
        Drawing { layers, ..Sheet::of(self.board(), pos).board() }
    }

    fn book(&self, pos: &Position<B>) -> Option<BookEntry<Target>> {
        theory::book_entry(self, pos)
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        let size = Size::of(self.board());
        let preset = size.preset().map(|name| ("preset", Setting::from(name)));
        let sides = [("width", size.width()), ("height", size.height())];
        preset.into_iter().chain(sides.map(|(name, value)| (name, Setting::Int(value as i64)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::oracle::random_games;
    use super::*;
    use plyd_core::game::{Game, OpenError};

    #[test]
    fn positions_and_moves_read_back() {
        for (width, height) in [(3, 3), (7, 7), (11, 9), (15, 8), (8, 15)] {
            let game = Isolation::<u128>::new(width as usize, height as usize);
            random_games(width, height, 3, |_, oracle| {
                let layout = Layout::parse(&oracle.text()).unwrap();
                assert_eq!((layout.size.width(), layout.size.height()), (width as usize, height as usize));
                let pos = layout.position(&game);
                assert_eq!(game.position_text(&pos), oracle.text());
                let mut moves = Vec::new();
                game.moves(&pos, &mut moves);
                for mv in moves {
                    assert_eq!(game.parse_move(&pos, &game.move_text(&pos, mv)), Ok(mv));
                }
            });
        }
    }

    #[test]
    fn cells_are_named_from_the_top_left() {
        let game = Isolation::<u128>::new(8, 15);
        let pos = game.start();
        for (cell, text) in [(0, "a1"), (7, "h1"), (8, "a2"), (72, "a10"), (119, "h15")] {
            assert_eq!(game.move_text(&pos, Target(cell)), text);
            assert_eq!(game.parse_move(&pos, text), Ok(Target(cell)));
        }
        for text in [
            "", "a", "1", "a0", "a01", "a16", "i1", "z1", "A1", "a1 ", " a1", "aa1", "a1a", "a-1", "a100",
            "é1",
        ] {
            assert!(game.parse_move(&pos, text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn texts_are_malformed_or_impossible() {
        let table: &[(&str, &str)] = &[
            (".../.../... 1", "ok"),
            ("1../.../... 2", "ok"),
            ("1../.../..2 1", "ok"),
            ("1../.../..2 2", "ok"),
            // A start may have holes, and may be over.
            ("x../.x./... 1", "ok"),
            ("1xx/xxx/xx2 2", "ok"),
            ("xxx/xxx/xxx 1", "ok"),
            ("", "malformed"),
            (".../.../...", "malformed"),
            (".../.../... ", "malformed"),
            (".../.../...  1", "malformed"),
            (".../.../... 3", "malformed"),
            (".../.../... 1\n", "malformed"),
            (" 1", "impossible"),
            ("/ 1", "impossible"),
            (".../../... 1", "malformed"),
            (".../.../.../ 1", "malformed"),
            (".../.X./... 1", "malformed"),
            (".../.é/... 1", "malformed"),
            ("../../.. 1", "impossible"),
            (".../... 1", "impossible"),
            ("................/................/................ 1", "impossible"),
            ("1.1/.../..2 1", "impossible"),
            ("1../2../..2 1", "impossible"),
            (".../.../... 2", "impossible"),
            ("1../.../... 1", "impossible"),
            ("2../.../... 1", "impossible"),
            ("2../.../... 2", "impossible"),
        ];
        for &(text, expected) in table {
            let verdict = match Layout::parse(text) {
                Ok(_) => "ok",
                Err(OpenError::Malformed(_)) => "malformed",
                Err(OpenError::Impossible(_)) => "impossible",
                Err(OpenError::Rule { .. }) => "rule",
            };
            assert_eq!(verdict, expected, "{text:?}");
        }
        let large = format!("{} 1", vec!["."; 1 << 19].join("/"));
        assert!(matches!(Layout::parse(&large), Err(OpenError::Impossible(_))));
        let full = |rows: usize, columns: usize| format!("{} 1", vec![".".repeat(columns); rows].join("/"));
        assert!(Layout::parse(&full(8, 15)).is_ok());
        assert!(matches!(Layout::parse(&full(9, 15)), Err(OpenError::Impossible(_))));
    }

    proptest! {
        #[test]
        fn hostile_texts_are_refused_or_read_exactly(
            text in prop_oneof![".{0,40}", "[.x12/ ]{0,60}", "([.x12]{3}/){2}[.x12]{3} [12]", "([.x]{4}/){3}[.x]{4} 1"]
        ) {
            if let Ok(layout) = Layout::parse(&text) {
                let game = Isolation::<u128>::new(layout.size.width(), layout.size.height());
                prop_assert_eq!(game.position_text(&layout.position(&game)), text);
            }
        }

        #[test]
        fn hostile_moves_are_refused_or_read_exactly(text in prop_oneof![".{0,6}", "[a-p][0-9]{0,3}"]) {
            let game = Isolation::<u128>::new(11, 9);
            if let Ok(mv) = game.parse_move(&game.start(), &text) {
                prop_assert_eq!(game.move_text(&game.start(), mv), text);
            }
        }
    }

    #[test]
    fn rules_and_pictures_show_the_position() {
        let game = Isolation::<u64>::new(7, 7);
        let setting = |value: i64| Setting::Int(value);
        let rules = vec![("preset", Setting::from("7x7")), ("width", setting(7)), ("height", setting(7))];
        assert_eq!(game.rules(), rules);
        assert_eq!(Isolation::<u64>::new(5, 4).rules(), vec![("width", setting(5)), ("height", setting(4))]);
        let pos = Layout::parse("......./......./......./.x...../...21../x..x.../.xx..x. 1")
            .unwrap()
            .position(&game);
        let drawing = game.draw(&pos);
        assert_eq!((drawing.rows, drawing.cols, drawing.pieces.len()), (7, 7, 8));
        let owned = drawing
            .pieces
            .iter()
            .filter_map(|piece| Some((piece.owner?, piece.cells[0], piece.label.clone()?)));
        let tokens = [(Side::Second, (4, 3), "2".to_owned()), (Side::First, (4, 4), "1".to_owned())];
        assert_eq!(owned.collect::<Vec<_>>(), tokens);
    }
}
