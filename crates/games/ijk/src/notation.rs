//! Texts and pictures of IJK: rows from the top joined by `/`, the mover, and what the rules need beside
//! them.
//!
//! Reads untrusted texts; the rules decide whether a move is legal.

use super::board::{Board, Case, LAST, MAX_SIZE, MIN_SIZE, Slide, Tile, places};
use super::planes::Planes;
use super::rules::{Action, Ijk, Move, Position};
use super::variant::{Skip, StatedRules};
use plyd_core::game::{Drawing, Mark, Notation, OpenError, Piece, Setting, Side, TextFault, offset_in};

/// How a position is written.
pub(super) const POSITION_GRAMMAR: &str = "Rows from the top joined by `/`, each cell `.` (empty) or a letter from A to O in the \
     case of its owner, then a space and the mover, `+` (upper case) or `-`: `A...../....../....../....../....../...... +`. With \
     the rule skip=flip a space and the cell of the tile placed last follow, such as `a1`, which it always is with mode=nondet. A \
     position that awaits the mover's tile ends in ` ~`.";
/// How a move is written.
pub(super) const MOVE_GRAMMAR: &str = "`U`, `D`, `L` or `R`: where all tiles slide; `S` if the rules have it. With mode=nondet the cell \
     of the next mover's tile follows as a chance ply, `~c4`: column letter and row number from the top left, `a1`; none where \
     the board is full or after a flip.";

/// The letters of the slides, in the order of [`Slide::ALL`].
const SLIDES: [char; 4] = ['U', 'D', 'L', 'R'];

/// A position text taken apart: its size is known before the rules are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub(super) size: usize,
    pub(super) board: Planes,
    pub(super) mover: Side,
    /// The row and the column of the tile placed last.
    pub(super) last: Option<(usize, usize)>,
    pub(super) awaits: bool,
}

impl Layout {
    /// Reads a position's text.
    ///
    /// # Errors
    /// [`OpenError::Malformed`] if the text does not follow the grammar, [`OpenError::Impossible`] if no
    /// board has its size, or it awaits a tile that has no room.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        let layout = Self::read(text)?;
        layout.check(text)?;
        Ok(layout)
    }

    /// Reads what a text says, whether or not an awaited tile has room.
    pub(super) fn read(text: &str) -> Result<Self, TextFault> {
        let at = |part: &str| offset_in(text, part);
        let mut words = text.split(' ');
        let rows: Vec<&str> = words.next().unwrap_or_default().split('/').take(MAX_SIZE + 1).collect();
        let mover = match words.next() {
            Some("+") => Side::First,
            Some("-") => Side::Second,
            wrong => {
                let message = "after the rows a space and the mover must follow, `+` or `-`";
                return Err(TextFault::malformed(wrong.map_or(text.len(), at), message));
            }
        };
        let mut rest = words.next();
        let last_word = rest.filter(|&word| word != "~");
        let last = match last_word {
            Some(word) => {
                rest = words.next();
                let message = "after the mover a cell such as `a1` may follow, or `~`";
                Some(place(word).ok_or_else(|| TextFault::malformed(at(word), message))?)
            }
            None => None,
        };
        let awaits = rest == Some("~");
        if let Some(word) = rest.filter(|_| !awaits).or_else(|| words.next()) {
            return Err(TextFault::malformed(at(word), "nothing but a cell and ` ~` may follow the mover"));
        }
        let width = rows[0].len();
        if let Some(row) = rows.iter().find(|row| row.len() != width) {
            return Err(TextFault::malformed(at(row), "the rows differ in length"));
        }
        if width != rows.len() || !(MIN_SIZE..=MAX_SIZE).contains(&width) {
            let message =
                format!("a board has as many rows as columns, and {MIN_SIZE} to {MAX_SIZE} of them");
            return Err(TextFault::impossible(0, message));
        }
        let mut board = Planes::default();
        for (y, row) in rows.iter().enumerate() {
            for (x, letter) in row.bytes().enumerate().filter(|&(_, letter)| letter != b'.') {
                let tile = tile(letter).ok_or_else(|| {
                    let message = "a cell is `.` or a letter, `A` to `O` or `a` to `o`";
                    TextFault::malformed(at(row) + x, message).at((y, x))
                })?;
                board.put(Planes::cell(y, x), tile);
            }
        }
        if last.is_some_and(|place| !is_on_board(place, width)) {
            let message = "the cell of the tile placed last is off the board";
            return Err(TextFault::impossible(last_word.map_or(0, at), message));
        }
        Ok(Self { size: width, board, mover, last, awaits })
    }

    /// Whether the layout, which was read from that text, can be a position.
    pub(super) fn check(&self, text: &str) -> Result<(), TextFault> {
        let is_full = self.board.occupied().count_ones() as usize == self.size * self.size;
        if self.awaits && is_full {
            let message = "the awaited tile has no room on a full board";
            return Err(TextFault::impossible(text.len() - 1, message));
        }
        Ok(())
    }

    /// The layout of a position.
    fn of<const CHANCE: bool, B: Board>(game: &Ijk<CHANCE, B>, pos: &Position<B>) -> Self {
        let size = game.variant().size;
        Self {
            size,
            board: Planes::from_tiles(size, |row, column| pos.board().tile(B::cell(row, column))),
            mover: pos.mover(),
            last: (game.variant().skip == Skip::Flip).then(|| B::place(pos.last())),
            awaits: pos.awaits(),
        }
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        let letter = |cell| self.board.tile(cell).map_or('.', letter);
        let row = |y| (0..self.size).map(|x| letter(Planes::cell(y, x))).collect::<String>();
        let mut text = (0..self.size).map(row).collect::<Vec<_>>().join("/");
        text += match self.mover {
            Side::First => " +",
            Side::Second => " -",
        };
        if let Some(last) = self.last {
            text += &format!(" {}", place_text(last));
        }
        if self.awaits {
            text += " ~";
        }
        text
    }

    /// The board.
    pub(super) fn board(&self) -> Drawing {
        let pieces = places(self.size).filter_map(|(y, x)| {
            let tile = self.board.tile(Planes::cell(y, x))?;
            let label = Some(letter(tile).to_string());
            Some(Piece { cells: vec![(y, x)], piece: "tile", label, owner: Some(tile.case.side()) })
        });
        let flipped =
            self.last.map(|cell| Mark { cell, mark: "target", owner: None, label: Some("S".to_owned()) });
        Drawing {
            rows: self.size,
            cols: self.size,
            pieces: pieces.collect(),
            marks: flipped.into_iter().collect(),
            row_labels: (1..=self.size).map(|row| row.to_string()).collect(),
            col_labels: (0..self.size).map(|column| char::from(b'a' + column as u8).to_string()).collect(),
            ..Drawing::default()
        }
    }

    /// What the text says about the rules.
    #[must_use]
    pub fn stated_rules(&self) -> StatedRules {
        StatedRules { size: self.size, flips: self.last.is_some(), awaits: self.awaits }
    }

    /// The position in a game whose rules agree with [`Layout::stated_rules`].
    ///
    /// # Errors
    /// [`OpenError::Malformed`] if the rules need the cell of the tile placed last and the text does not name
    /// it, [`OpenError::Impossible`] if it names a cell that the rules do not allow.
    pub fn position<const CHANCE: bool, B: Board>(
        &self,
        game: &Ijk<CHANCE, B>,
    ) -> Result<Position<B>, OpenError> {
        let flips = game.variant().skip == Skip::Flip;
        match self.last {
            None if flips => {
                let message = "with skip=flip the cell of the tile placed last must follow the mover";
                Err(OpenError::Malformed(message.to_owned()))
            }
            Some(last) if CHANCE && last != (0, 0) => {
                let message = "with mode=nondet and skip=flip the cell after the mover is always a1";
                Err(OpenError::Impossible(message.to_owned()))
            }
            last => {
                let board =
                    B::from_tiles(self.size, |row, column| self.board.tile(Planes::cell(row, column)));
                let last = last.map_or(0, |(row, column)| B::cell(row, column));
                Ok(game.position(board, self.mover, self.awaits, last))
            }
        }
    }
}

impl<const CHANCE: bool, B: Board> Notation for Ijk<CHANCE, B> {
    const SHIFTS: bool = true;

    fn position_text(&self, pos: &Position<B>) -> String {
        Layout::of(self, pos).text()
    }

    fn move_text(&self, _pos: &Position<B>, mv: Move) -> String {
        match mv.action() {
            Action::Slide(slide) => SLIDES[slide as usize].to_string(),
            Action::Skip => "S".to_owned(),
            Action::Tile(cell) => format!("~{}", place_text(B::place(cell))),
        }
    }

    fn parse_move(&self, _pos: &Position<B>, text: &str) -> Result<Move, String> {
        if let Some(cell) = text.strip_prefix('~') {
            let place = place(cell).ok_or("a chance ply is `~` and a cell, such as `~c4`")?;
            let size = self.variant().size;
            return is_on_board(place, size).then(|| Move::tile(B::cell(place.0, place.1))).ok_or_else(
                || {
                    let column = char::from(b'a' + size as u8 - 1);
                    format!("the cell is off the board: its columns are a to {column}, its rows 1 to {size}")
                },
            );
        }
        let mut letters = text.chars();
        let letter =
            letters.next().filter(|_| letters.next().is_none()).map(|letter| letter.to_ascii_uppercase());
        let slide = letter.and_then(|letter| SLIDES.iter().position(|&known| known == letter));
        match (slide, letter) {
            (Some(slide), _) => Ok(Move::slide(Slide::ALL[slide])),
            (None, Some('S')) => Ok(Move::SKIP),
            (None, _) => Err("a move is one of `U`, `D`, `L`, `R`, or `S` if the rules have it".to_owned()),
        }
    }

    fn draw(&self, pos: &Position<B>) -> Drawing {
        Layout::of(self, pos).board()
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        self.variant().settings()
    }
}

/// Whether a board of a size has a row and a column.
fn is_on_board((row, column): (usize, usize), size: usize) -> bool {
    row < size && column < size
}

/// The row and the column that a text names.
fn place(text: &str) -> Option<(usize, usize)> {
    match text.as_bytes() {
        &[column @ b'a'..=b'z', row @ b'1'..=b'9'] => {
            Some((usize::from(row - b'1'), usize::from(column - b'a')))
        }
        _ => None,
    }
}

/// The text that names a row and a column.
pub(super) fn place_text((row, column): (usize, usize)) -> String {
    format!("{}{}", char::from(b'a' + column as u8), row + 1)
}

/// The tile that a letter stands for.
fn tile(letter: u8) -> Option<Tile> {
    let (first, case) = if letter.is_ascii_uppercase() { (b'A', Case::Upper) } else { (b'a', Case::Lower) };
    let number = letter.checked_sub(first)? + 1;
    (number <= LAST).then_some(Tile { letter: number, case })
}

/// The letter that stands for a tile.
pub(super) fn letter(tile: Tile) -> char {
    let first = match tile.case {
        Case::Upper => b'A',
        Case::Lower => b'a',
    };
    char::from(first + tile.letter - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::variant::Variant;
    use super::*;
    use plyd_core::game::{Game, Rules};

    fn variant(preset: &'static str, mode: &'static str) -> Variant {
        let rules = Rules::new(vec![("preset", preset.into()), ("mode", mode.into())]);
        Variant::choose(&rules, None).unwrap()
    }

    fn read(text: &str) -> Result<String, OpenError> {
        let layout = Layout::parse(text)?;
        let variant = Variant::choose(&Rules::default(), Some(layout.stated_rules()))?;
        if variant.chance {
            let game = Ijk::<true>::new(variant);
            Ok(game.position_text(&layout.position(&game)?))
        } else {
            let game = Ijk::<false>::new(variant);
            Ok(game.position_text(&layout.position(&game)?))
        }
    }

    #[test]
    fn positions_read_back() {
        for text in [
            "A...../....../....../....../....../...... +",
            "ABCDEF/GHIJKL/MNOabc/defghi/jklmno/...... -",
            "../.. +",
            "Ab/.. - b1",
            "A../.k./..a - ~",
            "A.../..../..../.... + a1 ~",
        ] {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn hostile_positions() {
        let long = "A".repeat(100_000);
        let rows = "A/".repeat(50_000);
        for text in [
            "",
            "+",
            "A. +",
            "A./. +",
            "A./.. 1",
            "A./..+",
            "A./..  +",
            "A./.P +",
            "A./.é +",
            "A./.. + ~ a1",
            "A./.. + a1 b1",
            "A./.. + ~ ~",
            "A./.. + ",
            "A./.. + A1",
            "A./.. + a11",
            &long,
            &rows,
        ] {
            assert!(read(text).is_err(), "{text:.40}");
        }
        for text in ["A +", "A../... +", "Aa/Aa + ~", "A./.. + c1", "A./.. + a3", "A./.. + b2 ~"] {
            assert!(matches!(read(text), Err(OpenError::Impossible(_))), "{text:.40}: {:?}", read(text));
        }
        let v1 = Ijk::<false>::new(variant("v1", "det"));
        let without = Layout::parse("A.../..../..../.... +").unwrap().position(&v1);
        assert!(matches!(without, Err(OpenError::Malformed(_))));
    }

    #[test]
    fn moves_in_every_accepted_form() {
        let game = Ijk::<true>::new(variant("text", "nondet"));
        let pos = game.start();
        for (text, written) in
            [("U", "U"), ("d", "D"), ("L", "L"), ("r", "R"), ("s", "S"), ("~a1", "~a1"), ("~d4", "~d4")]
        {
            let mv = game.parse_move(&pos, text).unwrap();
            assert_eq!(game.move_text(&pos, mv), written);
        }
        for text in ["", "X", "UD", "~", "~e1", "~a5", "~a0", "~A1", "a1", "é", "~~a1"] {
            assert!(game.parse_move(&pos, text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_drawing_shows_each_tile_once() {
        let game = Ijk::<false>::new(variant("v1", "det"));
        let pos = Layout::parse("A.../.b../..../...C + b2").unwrap().position(&game).unwrap();
        let drawing = game.draw(&pos);
        let shown: Vec<_> = drawing
            .pieces
            .iter()
            .map(|piece| (piece.cells[0], piece.label.as_deref(), piece.owner))
            .collect();
        let (first, second) = (Some(Side::First), Some(Side::Second));
        assert_eq!(
            shown,
            [((0, 0), Some("A"), first), ((1, 1), Some("b"), second), ((3, 3), Some("C"), first)]
        );
        assert_eq!(drawing.marks[0].cell, (1, 1));
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text in ".{0,60}", near in "[.AaKkLz/]{4,20} [+-]( [a-f][1-7])?( ~)?") {
            for text in [text, near] {
                if let Ok(written) = read(&text) {
                    prop_assert_eq!(read(&written), Ok(written.clone()));
                }
                let game = Ijk::<true>::new(variant("v2", "nondet"));
                let pos = game.start();
                if let Ok(mv) = game.parse_move(&pos, &text) {
                    prop_assert!(game.index(mv) < game.index_len());
                }
            }
        }
    }
}
