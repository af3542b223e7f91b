//! What a position's text says, legal or not, and what can be changed in it by hand.

use super::board::{Board, MAX_CELLS, MAX_SIDE, MIN_SIDE, UNPLACED};
use super::layout::{Layout, column_label};
use super::rules::Position;
use super::sizes::Size;
use plyd_core::bits::Bits;
use plyd_core::effort::Effort;
use plyd_core::game::{
    Choice, Draft, Drawing, Edit, OpenError, Piece, Rules, Side, TextFault, mover_edit, offset_in,
};
use std::sync::Arc;

/// What can stand on a cell, as texts have it, with its name.
const CONTENTS: [(u8, &str); 4] =
    [(b'1', "Token of player 1"), (b'2', "Token of player 2"), (b'x', "Blocked"), (b'.', "Open")];

impl Layout {
    /// Reads a position's text.
    ///
    /// # Errors
    /// [`OpenError::Malformed`] if the text does not follow the grammar; [`OpenError::Impossible`] if the
    /// game has no board of that size, a token occurs twice, or the tokens contradict the mover.
    pub fn parse(text: &str) -> Result<Self, OpenError> {
        Ok(Sheet::read(text)?.layout()?)
    }
}

/// A position's text taken apart, with any number of tokens and either side to move.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    size: Size,
    /// What stands on each cell: one of [`CONTENTS`].
    cells: Vec<u8>,
    mover: Side,
}

impl Sheet {
    /// Reads a text that follows the grammar.
    pub(super) fn read(text: &str) -> Result<Self, TextFault> {
        let Some((rows, mover)) = text.split_once(' ') else {
            let message = "the position has no mover: a space and `1` or `2` must follow the rows";
            return Err(TextFault::malformed(text.len(), message));
        };
        let mover = match mover {
            "1" => Side::First,
            "2" => Side::Second,
            _ => {
                let message = "the mover after the rows must be `1` or `2`";
                return Err(TextFault::malformed(offset_in(text, mover), message));
            }
        };
        if let Some(at) = rows.bytes().position(|cell| !matches!(cell, b'.' | b'x' | b'1' | b'2' | b'/')) {
            let message = "the rows may hold `.`, `x`, `1` and `2` only, joined by `/`";
            return Err(TextFault::malformed(at, message));
        }
        let (width, height) = (rows.split('/').next().map_or(0, str::len), rows.split('/').count());
        if let Some(row) = rows.split('/').find(|row| row.len() != width) {
            return Err(TextFault::malformed(offset_in(text, row), "the rows differ in length"));
        }
        let size = Size::new(width, height).ok_or_else(|| {
            let message = format!(
                "no board has {width} columns and {height} rows: both must be {MIN_SIDE} to {MAX_SIDE}, with {MAX_CELLS} \
                 cells at most"
            );
            TextFault::impossible(0, message)
        })?;
        Ok(Self { size, cells: rows.bytes().filter(|&cell| cell != b'/').collect(), mover })
    }

    /// What the text of a position says.
    pub(super) fn of<B: Bits>(board: &Board<B>, pos: &Position<B>) -> Self {
        let content = |cell: u8| match cell {
            cell if pos.open().has(cell) => b'.',
            cell if pos.token(Side::First) == cell => b'1',
            cell if pos.token(Side::Second) == cell => b'2',
            _ => b'x',
        };
        Self {
            size: Size::of(board),
            cells: (0..board.cells() as u8).map(content).collect(),
            mover: pos.mover(),
        }
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        let rows: Vec<String> = self
            .cells
            .chunks(self.size.width())
            .map(|row| row.iter().copied().map(char::from).collect())
            .collect();
        format!("{} {}", rows.join("/"), self.mover.index() + 1)
    }

    /// The cells on which something stands.
    fn places(&self, what: u8) -> impl Iterator<Item = usize> {
        self.cells.iter().enumerate().filter(move |&(_, &cell)| cell == what).map(|(cell, _)| cell)
    }

    /// The row and the column of a cell.
    fn place(&self, cell: usize) -> (usize, usize) {
        (cell / self.size.width(), cell % self.size.width())
    }

    /// What the rules do not allow about what stands on a cell.
    fn wrong_at(&self, cell: usize, message: impl Into<String>) -> TextFault {
        TextFault::impossible(cell + cell / self.size.width(), message).at(self.place(cell))
    }

    /// The layout, unless a token occurs twice or the tokens contradict the mover.
    pub(super) fn layout(&self) -> Result<Layout, TextFault> {
        for token in [b'1', b'2'] {
            if let Some(second) = self.places(token).nth(1) {
                let token = char::from(token);
                return Err(self.wrong_at(second, format!("player {token} has more than one token")));
            }
        }
        let [first, second] = [b'1', b'2'].map(|token| self.places(token).next());
        let mover_at = self.cells.len() + self.cells.len() / self.size.width();
        let wrong_mover = |message| Err(TextFault::impossible(mover_at, message));
        match (first, second, self.mover) {
            (None, None, Side::Second) => wrong_mover("without tokens, player 1 is to move"),
            (None, Some(second), _) => {
                Err(self.wrong_at(second, "player 2's token cannot stand alone: player 1 places first"))
            }
            (Some(_), None, Side::First) => wrong_mover("with player 1's token alone, player 2 is to move"),
            _ => Ok(Layout {
                size: self.size,
                open: self.places(b'.').map(|cell| cell as u8).collect(),
                tokens: [first, second].map(|cell| cell.map_or(UNPLACED, |cell| cell as u8)),
                mover: self.mover,
            }),
        }
    }

    /// The board without layers.
    pub(super) fn board(&self) -> Drawing {
        let taken = self.cells.iter().enumerate().filter(|&(_, &cell)| cell != b'.');
        let pieces = taken.map(|(cell, &content)| {
            let owner = owner(content);
            Piece {
                cells: vec![self.place(cell)],
                piece: if owner.is_some() { "token" } else { "blocked" },
                label: owner.map(|side| (side.index() + 1).to_string()),
                owner,
            }
        });
        Drawing {
            rows: self.size.height(),
            cols: self.size.width(),
            pieces: pieces.collect(),
            row_labels: (1..=self.size.height()).map(|row| row.to_string()).collect(),
            col_labels: (0..self.size.width()).map(|column| column_label(column).to_string()).collect(),
            ..Drawing::default()
        }
    }

    /// The text with something else on a cell; a token leaves the cell where it stood, which is open then.
    fn with(&self, cell: usize, content: u8) -> String {
        let mut next = self.clone();
        if owner(content).is_some() {
            next.cells.iter_mut().filter(|other| **other == content).for_each(|other| *other = b'.');
        }
        next.cells[cell] = content;
        next.text()
    }

    /// What can be changed.
    fn edits(&self, text: &str) -> Vec<Edit> {
        let cells = self.cells.iter().enumerate().map(|(cell, &now)| {
            let choice = |(content, label): (u8, &str)| {
                let is_so = content == now;
                let choice = Choice::new(label, text, &self.with(cell, if is_so { b'.' } else { content }));
                let choice = match (owner(content), content) {
                    (Some(side), _) => choice.piece("token").owner(Some(side)),
                    (None, b'x') => choice.piece("blocked"),
                    (None, _) => choice,
                };
                choice.so(is_so)
            };
            Edit::at("Cell", self.place(cell), CONTENTS.map(choice).into())
        });
        let mover = mover_edit(text, self.mover, |mover| Self { mover, ..self.clone() }.text());
        let empty = Self { cells: vec![b'.'; self.cells.len()], mover: Side::First, size: self.size };
        let clear = Edit::of("Board", vec![Choice::new("Clear", text, &empty.text())]);
        cells.chain([mover, clear]).collect()
    }
}

/// Whose token something on a cell is.
fn owner(content: u8) -> Option<Side> {
    match content {
        b'1' => Some(Side::First),
        b'2' => Some(Side::Second),
        _ => None,
    }
}

/// A text as a draft.
pub(super) fn edits(rules: &Rules, text: &str, _effort: &Arc<Effort>) -> Draft {
    match Sheet::read(text) {
        Err(fault) => Draft::unreadable(text, fault),
        Ok(sheet) => {
            let of_rules = Size::choose(rules, Some(sheet.size)).map_err(|error: OpenError| error.into());
            let fault = sheet.layout().and(of_rules).err();
            let text = sheet.text();
            Draft { board: Some(sheet.board()), edits: sheet.edits(&text), fault, text }
        }
    }
}
