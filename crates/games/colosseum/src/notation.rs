//! Texts and pictures of Colosseum Survival: the size, the players, the walls and the mover; moves such as
//! `34u`.
//!
//! Reads untrusted texts; the rules decide whether a move is legal.

use super::board::{MAX_SIZE, MIN_SIZE, Side as CellSide, Wall, cell_at, place_of};
use super::position::{Position, Walk};
use super::rules::Colosseum;
use plyd_core::bits::Bits;
use plyd_core::flood::Flood;
use plyd_core::game::{Drawing, Notation, OpenError, Piece, Setting, Side, TextFault, offset_in};

/// How a position is written.
pub(super) const POSITION_GRAMMAR: &str = "`M p1 p2 walls mover`: the size; both players' `row,column` in decimal digits, counted from 0 at the top left; walls \
     as `rcR` (right of row r, column c) and `rcD` (below it) joined by commas, in lower-case hexadecimal digits, or `-` \
     for none; the mover, `1` or `2` (1 when omitted): `6 0,0 5,5 12R,42R,21D,24D 1`.";
/// How a move is written.
pub(super) const MOVE_GRAMMAR: &str = "The row and column to walk to, from 0 at the top left, in lower-case hexadecimal digits, and the side to wall: `u`, `r`, `d` or `l`: `34u`.";

/// The letters of [`CellSide::ALL`].
const LETTERS: [char; 4] = ['u', 'r', 'd', 'l'];

/// A position text taken apart: its size is known before the game that can hold the position is.
///
/// ```
/// use plyd_core::game::{Notation, Rules};
/// use plyd_colosseum::notation::Layout;
/// use plyd_colosseum::rules::Colosseum;
/// use plyd_colosseum::setup::Setup;
///
/// let game = Colosseum::<u64>::new(Setup::choose(&Rules::default(), Some(7)).unwrap());
/// let pos = game.start().unwrap();
/// let layout = Layout::parse(&game.position_text(&pos)).unwrap();
/// assert_eq!(layout.position(&game), pos);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Rows and columns.
    pub size: usize,
    pub(super) walls: Vec<Wall>,
    pub(super) players: [u8; 2],
    pub(super) mover: Side,
}

impl Layout {
    /// Reads a position's text.
    ///
    /// # Errors
    /// [`OpenError::Malformed`] if the text does not follow the grammar; [`OpenError::Impossible`] if the
    /// game has no board of that size, something is off the board, or a wall or a cell is taken twice.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        let layout = Self::read(text)?;
        layout.check(text)?;
        Ok(layout)
    }

    /// Reads what a text says, whether or not the players stand on one cell.
    pub(super) fn read(text: &str) -> Result<Self, TextFault> {
        let mut fields = text.split(' ');
        let (Some(size), Some(first), Some(second), Some(walls)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            let message = "a position is a size, two players and the walls, each after one space";
            return Err(TextFault::malformed(text.len(), message));
        };
        let at = |part: &str| offset_in(text, part);
        let (mover, more) = (fields.next(), fields.next());
        let mover = match (mover, more) {
            (None | Some("1"), None) => Side::First,
            (Some("2"), None) => Side::Second,
            (wrong, more) => {
                let message = "after the walls stands the mover, `1` or `2`, and nothing more";
                let part = if matches!(wrong, Some("1" | "2")) { more } else { wrong };
                return Err(TextFault::malformed(part.map_or(text.len(), at), message));
            }
        };
        let size = match decimal(size) {
            Some(size) if (MIN_SIZE..=MAX_SIZE).contains(&size) => size,
            Some(_) => {
                return Err(TextFault::impossible(0, format!("the size must be {MIN_SIZE} to {MAX_SIZE}")));
            }
            None => return Err(TextFault::malformed(0, "the size must be decimal digits")),
        };
        let player = |field: &str| {
            cell(field, size).map_err(|error| TextFault { offset: at(field), ..TextFault::from(error) })
        };
        let players = [player(first)?, player(second)?];
        let walls = read_walls(walls, size)
            .map_err(|fault| TextFault { offset: at(walls) + fault.offset, ..fault })?;
        Ok(Self { size, walls, players, mover })
    }

    /// Whether the layout, which was read from that text, can be a position.
    pub(super) fn check(&self, text: &str) -> Result<(), TextFault> {
        let [first, second] = self.players;
        if first != second {
            return Ok(());
        }
        let offset = text.split(' ').nth(2).map_or(0, |field| offset_in(text, field));
        let fault = TextFault::impossible(offset, "the players stand on one cell");
        Err(fault.at(place_of(self.size, second)))
    }

    /// The layout of a position.
    fn of<B: Bits>(game: &Colosseum<B>, pos: &Position<B>) -> Self {
        Self {
            size: game.board().size(),
            walls: game.board().walls().filter(|&wall| !pos.open().has(wall)).collect(),
            players: Side::ALL.map(|side| pos.player(side)),
            mover: pos.mover(),
        }
    }

    /// The text; its walls stand in the order of [`Board::walls`](super::board::Board::walls).
    pub(super) fn text(&self) -> String {
        let size = self.size;
        let walls = self.walls.iter().map(|&wall| {
            let (cell, letter) = match wall {
                Wall::Right(cell) => (cell, 'R'),
                Wall::Below(cell) => (cell, 'D'),
            };
            format!("{}{letter}", place(cell, size))
        });
        let walls = walls.collect::<Vec<_>>().join(",");
        let walls = if walls.is_empty() { "-" } else { &walls };
        let [first, second] = self.players.map(|cell| {
            let (row, column) = place_of(size, cell);
            format!("{row},{column}")
        });
        format!("{size} {first} {second} {walls} {}", self.mover.index() + 1)
    }

    /// The board without scores and layers.
    pub(super) fn board(&self) -> Drawing {
        let at = |cell: u8| place_of(self.size, cell);
        let player = |side: Side| Piece {
            cells: vec![at(self.players[side.index()])],
            piece: "player",
            label: Some((side.index() + 1).to_string()),
            owner: Some(side),
        };
        let wall = |&wall: &Wall| match wall {
            Wall::Right(cell) => plyd_core::game::Wall { cell: at(cell), right: true },
            Wall::Below(cell) => plyd_core::game::Wall { cell: at(cell), right: false },
        };
        let labels: Vec<String> = (0..self.size).map(|number| format!("{number:x}")).collect();
        Drawing {
            rows: self.size,
            cols: self.size,
            pieces: Side::ALL.map(player).into(),
            walls: self.walls.iter().map(wall).collect(),
            row_labels: labels.clone(),
            col_labels: labels,
            ..Drawing::default()
        }
    }

    /// The position in a game of that size.
    #[must_use]
    pub fn position<B: Bits>(&self, game: &Colosseum<B>) -> Position<B> {
        let mut open = game.board().bare();
        for &wall in &self.walls {
            open.toggle(wall);
        }
        game.position(open, self.players, self.mover)
    }
}

fn malformed<T>(message: &str) -> Result<T, OpenError> {
    Err(OpenError::Malformed(message.to_owned()))
}

fn impossible<T>(message: String) -> Result<T, OpenError> {
    Err(OpenError::Impossible(message))
}

/// A number of one or two decimal digits without a needless zero.
fn decimal(text: &str) -> Option<usize> {
    let digits = text.bytes().all(|digit| digit.is_ascii_digit());
    let plain = matches!(text.len(), 1 | 2) && (text.len() == 1 || !text.starts_with('0'));
    if digits && plain { text.parse().ok() } else { None }
}

/// A lower-case hexadecimal digit.
fn hexadecimal(digit: u8) -> Option<usize> {
    match digit {
        b'0'..=b'9' => Some(usize::from(digit - b'0')),
        b'a'..=b'f' => Some(usize::from(digit - b'a') + 10),
        _ => None,
    }
}

/// The cell of `row,column`.
fn cell(text: &str, size: usize) -> Result<u8, OpenError> {
    let Some((Some(row), Some(column))) =
        text.split_once(',').map(|(row, column)| (decimal(row), decimal(column)))
    else {
        return malformed("a player stands on `row,column`, in decimal digits");
    };
    if row >= size || column >= size {
        return impossible(format!("a player is off the board: rows and columns are 0 to {}", size - 1));
    }
    Ok(cell_at(size, row, column))
}

/// The walls, and what is wrong with them, counted from the first one.
fn read_walls(text: &str, size: usize) -> Result<Vec<Wall>, TextFault> {
    if text == "-" {
        return Ok(Vec::new());
    }
    // A longer list than the board has places would name a wall twice.
    let mut walls = Vec::new();
    for wall in text.split(',') {
        let at = offset_in(text, wall);
        let (place, make): ([u8; 2], fn(u8) -> Wall) = match *wall.as_bytes() {
            [row, column, b'R'] => ([row, column], Wall::Right),
            [row, column, b'D'] => ([row, column], Wall::Below),
            _ => return Err(TextFault::malformed(at, "a wall is a row, a column, and `R` or `D`: `12R`")),
        };
        let [Some(row), Some(column)] = place.map(hexadecimal) else {
            return Err(TextFault::malformed(
                at,
                "a wall's row and column are lower-case hexadecimal digits",
            ));
        };
        let (last_row, last_column) = match make(0) {
            Wall::Right(_) => (size - 1, size - 2),
            Wall::Below(_) => (size - 2, size - 1),
        };
        if row > last_row || column > last_column {
            return Err(TextFault::impossible(at, "a wall is off the board, or on its border"));
        }
        let wall = make(cell_at(size, row, column));
        if walls.contains(&wall) {
            return Err(TextFault::impossible(at, "a wall occurs twice").at((row, column)));
        }
        walls.push(wall);
    }
    Ok(walls)
}

impl<B: Bits> Notation for Colosseum<B> {
    fn position_text(&self, pos: &Position<B>) -> String {
        Layout::of(self, pos).text()
    }

    fn move_text(&self, _pos: &Position<B>, mv: Walk) -> String {
        format!("{}{}", place(mv.to, self.board().size()), LETTERS[mv.side as usize])
    }

    fn parse_move(&self, _pos: &Position<B>, text: &str) -> Result<Walk, String> {
        let size = self.board().size();
        let &[row, column, letter] = text.as_bytes() else {
            return Err("a move is a row, a column and a side, such as `34u`".to_owned());
        };
        let [Some(row), Some(column)] = [row, column].map(hexadecimal) else {
            return Err("the row and the column are lower-case hexadecimal digits".to_owned());
        };
        if row >= size || column >= size {
            return Err(format!("the cell is off the board: rows and columns are 0 to {:x}", size - 1));
        }
        let Some(side) = LETTERS.iter().position(|&known| known == char::from(letter)) else {
            return Err("the side is `u`, `r`, `d` or `l`".to_owned());
        };
        Ok(Walk { to: cell_at(size, row, column), side: CellSide::ALL[side] })
    }

    fn draw(&self, pos: &Position<B>) -> Drawing {
        let size = self.board().size();
        let [first, second] = Side::ALL.map(|side| B::single(pos.player(side)));
        let paths = self.board().paths(pos.open());
        let ground =
            Flood::new(&paths, self.board().full(), first, second).ground(|cell| place_of(size, cell));
        Drawing { scores: pos.zones(), layers: vec![ground], ..Layout::of(self, pos).board() }
    }

    fn rules(&self) -> Vec<(&'static str, Setting)> {
        self.setup().settings()
    }
}

/// A cell as its row and column in hexadecimal digits.
fn place(cell: u8, size: usize) -> String {
    let (row, column) = place_of(size, cell);
    format!("{row:x}{column:x}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::oracle::random_games;
    use super::super::setup::{Setup, StartWalls};
    use super::*;
    use plyd_core::bits::Colours;
    use plyd_core::game::Game;

    fn game<B: Bits>(size: usize) -> Colosseum<B> {
        Colosseum::new(Setup { size, start_walls: StartWalls::Fall2023, seed: 0 })
    }

    /// The text of a position, read and written.
    fn again(layout: &Layout) -> String {
        fn again<B: Bits>(layout: &Layout) -> String {
            let game = game::<B>(layout.size);
            game.position_text(&layout.position(&game))
        }
        match layout.size {
            ..=8 => again::<u64>(layout),
            9..=11 => again::<Colours<u64>>(layout),
            _ => again::<Colours<u128>>(layout),
        }
    }

    #[test]
    fn positions_and_moves_read_back() {
        for size in MIN_SIZE..MAX_SIZE {
            let game = game::<u128>(size);
            random_games(size as i32, 1, |_, oracle| {
                let layout = Layout::parse(&oracle.text()).unwrap();
                assert_eq!((layout.size, again(&layout)), (size, oracle.text()));
                let pos = layout.position(&game);
                let mut moves = Vec::new();
                game.moves(&pos, &mut moves);
                for mv in moves {
                    assert_eq!(game.parse_move(&pos, &game.move_text(&pos, mv)), Ok(mv));
                }
            });
        }
    }

    #[test]
    fn texts_are_read_or_refused() {
        let table: &[(&str, &str)] = &[
            ("6 0,0 5,5 12R,42R,21D,24D 1", "6 0,0 5,5 12R,42R,21D,24D 1"),
            // Walls in any order, the mover omitted.
            ("6 0,0 5,5 24D,12R,21D,42R", "6 0,0 5,5 12R,42R,21D,24D 1"),
            ("12 11,10 0,0 baR,5aD 2", "12 11,10 0,0 baR,5aD 2"),
            ("5 0,0 0,1 - 2", "5 0,0 0,1 - 2"),
            ("", "malformed"),
            ("6 0,0 5,5", "malformed"),
            ("6 0,0 5,5 ", "malformed"),
            ("6 0,0 5,5 - ", "malformed"),
            ("6 0,0 5,5 - 3", "malformed"),
            ("6 0,0 5,5 - 1 1", "malformed"),
            ("6  0,0 5,5 - 1", "malformed"),
            ("06 0,0 5,5 - 1", "malformed"),
            ("six 0,0 5,5 - 1", "malformed"),
            ("+6 0,0 5,5 - 1", "malformed"),
            ("4 0,0 3,3 - 1", "impossible"),
            ("13 0,0 5,5 - 1", "impossible"),
            ("6 0,0 5,6 - 1", "impossible"),
            ("6 00,0 5,5 - 1", "malformed"),
            ("12 a,0 5,5 - 1", "malformed"),
            ("6 0.0 5,5 - 1", "malformed"),
            ("6 0,0,0 5,5 - 1", "malformed"),
            ("6 2,2 2,2 - 1", "impossible"),
            ("6 0,0 5,5 12R,12R 1", "impossible"),
            ("6 0,0 5,5 05R 1", "impossible"),
            ("6 0,0 5,5 50D 1", "impossible"),
            ("6 0,0 5,5 60R 1", "impossible"),
            ("12 0,0 5,5 BAR 1", "malformed"),
            ("6 0,0 5,5 12L 1", "malformed"),
            ("6 0,0 5,5 12r 1", "malformed"),
            ("6 0,0 5,5 12R, 1", "malformed"),
            ("6 0,0 5,5 ,12R 1", "malformed"),
            ("6 0,0 5,5 12R;42R 1", "malformed"),
            ("6 0,0 5,5 é2R 1", "malformed"),
        ];
        for &(text, expected) in table {
            let verdict = match Layout::parse(text) {
                Ok(layout) => again(&layout),
                Err(OpenError::Malformed(_)) => "malformed".to_owned(),
                Err(OpenError::Impossible(_)) => "impossible".to_owned(),
                Err(OpenError::Rule { .. }) => "rule".to_owned(),
            };
            assert_eq!(verdict, expected, "{text:?}");
        }
    }

    #[test]
    fn moves_are_read_or_refused() {
        let game = game::<Colours<u64>>(11);
        let pos = Layout::parse("11 0,0 10,10 -").unwrap().position(&game);
        let walk = |row: u8, column: u8, side| Ok(Walk { to: row * 11 + column, side });
        assert_eq!(game.parse_move(&pos, "34u"), walk(3, 4, CellSide::Up));
        assert_eq!(game.parse_move(&pos, "aal"), walk(10, 10, CellSide::Left));
        for text in ["", "34", "34U", "34x", "A0u", "b0u", "0bu", "34uu", " 34u", "34u ", "3,4u", "éu"] {
            assert!(game.parse_move(&pos, text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn pictures_show_the_position() {
        let game = game::<u64>(6);
        let pos = Layout::parse("6 0,0 5,4 12R,21D 2").unwrap().position(&game);
        let drawing = game.draw(&pos);
        let pieces: Vec<_> = drawing.pieces.iter().map(|piece| (piece.cells[0], piece.owner)).collect();
        assert_eq!(pieces, [((0, 0), Some(Side::First)), ((5, 4), Some(Side::Second))]);
        let walls: Vec<_> = drawing.walls.iter().map(|wall| (wall.cell, wall.right)).collect();
        assert_eq!(walls, [((1, 2), true), ((2, 1), false)]);
        assert_eq!((drawing.rows, drawing.cols, drawing.scores), (6, 6, None));
        let over = Layout::parse("6 0,0 5,4 00R,00D 2").unwrap().position(&game);
        assert_eq!(game.draw(&over).scores, Some([1, 35]));
    }

    proptest! {
        #[test]
        fn hostile_texts_are_refused_or_read_exactly(
            text in prop_oneof![
                ".{0,30}",
                "[0-9,RD -]{0,40}",
                "(6|12) [0-9]{1,2},[0-9] 1,1 [0-9a-c]{2}[RD](,[0-9a-c]{2}[RD]){0,3} [12]"
            ]
        ) {
            if let Ok(layout) = Layout::parse(&text) {
                let written = again(&layout);
                prop_assert_eq!(again(&Layout::parse(&written).unwrap()), written);
            }
        }
    }
}
