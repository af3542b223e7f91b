//! What a position's text says, legal or not, and what can be changed in it by hand.

use super::board::{AT, CELLS, Cells, NAMES, NOWHERE, PAIR_CELLS, State, pair_of};
use super::words::{START, cell, cell_text, cells, l_text, placement, row_and_column, word_count};
use super::{LGame, Position};
use plyd_core::effort::Effort;
use plyd_core::game::{
    Choice, Draft, Drawing, Edit, OpenError, Piece, Rules, Side, TextFault, mover_edit, offset_in,
};
use std::sync::Arc;

/// Where the short end of an L points, in the order of [`AT`], for people.
const ENDS: [&str; 4] = ["up", "right", "down", "left"];

/// A position's text: pieces may overlap.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    /// The placements of the two players' Ls.
    ls: [u8; 2],
    /// The cells of the tokens, in the order of the text; a token that is placed anew becomes the last.
    tokens: [u8; 2],
    pub(super) mover: Side,
}

impl Sheet {
    /// Reads a text of eleven words of the right kinds.
    pub(super) fn read(text: &str) -> Result<Self, TextFault> {
        let words: Vec<&str> = text.split_ascii_whitespace().take(12).collect();
        let [x1, y1, d1, ax, ay, bx, by, x2, y2, d2, mover] = words[..] else {
            let message = format!("a position has eleven words ({START}), not {}", word_count(&words));
            let offset = words.get(11).map_or(text.len(), |word| offset_in(text, word));
            return Err(TextFault::malformed(offset, message));
        };
        // The words are read one by one, so that the first wrong one is named.
        let cell_of = |x: &str, y: &str| {
            cell(x, "1").map_err(|error| at(text, x, error))?;
            cell(x, y).map_err(|error| at(text, y, error))
        };
        let l = |x: &str, y: &str, direction: &str| {
            let corner = cell_of(x, y)?;
            placement(x, y, direction)
                .map_err(|error| at(text, direction, error).at(row_and_column(corner as u8)))
        };
        let first = l(x1, y1, d1)?;
        let tokens = [cell_of(ax, ay)? as u8, cell_of(bx, by)? as u8];
        let second = l(x2, y2, d2)?;
        let mover = match mover {
            "1" => Side::First,
            "2" => Side::Second,
            _ => {
                let message = "the last word is the player to move, 1 or 2";
                return Err(TextFault::malformed(offset_in(text, mover), message));
            }
        };
        Ok(Self { ls: [first, second], tokens, mover })
    }

    /// What the text of a position says.
    pub(super) fn of(pos: &Position) -> Self {
        let State { own, other, tokens } = pos.state;
        let (a, b) = PAIR_CELLS[usize::from(tokens)];
        let ls = if pos.mover == Side::First { [own, other] } else { [other, own] };
        Self { ls, tokens: [a, b], mover: pos.mover }
    }

    /// The text.
    pub(super) fn text(&self) -> String {
        let ([first, second], [a, b]) = (self.ls.map(l_text), self.tokens.map(cell_text));
        format!("{first} {a} {b} {second} {}", self.mover.index() + 1)
    }

    /// The cells of the pieces in the order of the text, each with the number of its first word.
    fn pieces(&self) -> [(Cells, usize); 4] {
        let [first, second] = self.ls.map(|l| CELLS[usize::from(l)]);
        let [a, b] = self.tokens.map(|cell| 1 << cell);
        [(first, 0), (a, 3), (b, 5), (second, 7)]
    }

    /// Whether no two pieces of the sheet, which was read from that text, share a cell.
    pub(super) fn check(&self, text: &str) -> Result<(), TextFault> {
        let word =
            |number: usize| text.split_ascii_whitespace().nth(number).map_or(0, |word| offset_in(text, word));
        let wrong = |number, cell, message| {
            Err(TextFault::impossible(word(number), message).at(row_and_column(cell)))
        };
        let [a, b] = self.tokens;
        if a == b {
            return wrong(5, b, "the two tokens stand on one cell");
        }
        let mut taken: Cells = 0;
        for (set, number) in self.pieces() {
            if let Some(shared) = cells(taken & set).next() {
                return wrong(number, shared, "two pieces stand on one cell");
            }
            taken |= set;
        }
        Ok(())
    }

    /// The state, if no two pieces share a cell.
    pub(super) fn state(&self) -> State {
        let [first, second] = self.ls;
        let [own, other] = if self.mover == Side::First { [first, second] } else { [second, first] };
        State { own, other, tokens: pair_of(self.tokens[0].into(), self.tokens[1].into()) }
    }

    /// The board: the mover's L first.
    pub(super) fn board(&self) -> Drawing {
        let l = |owner: Side| {
            let l = usize::from(self.ls[owner.index()]);
            let (corner, _) = NAMES[l];
            let bars = cells(CELLS[l]).filter(|cell| *cell != corner);
            let cells = std::iter::once(corner).chain(bars).map(row_and_column).collect();
            Piece { cells, piece: "l", label: None, owner: Some(owner) }
        };
        let token =
            |cell| Piece { cells: vec![row_and_column(cell)], piece: "token", label: None, owner: None };
        let ls = [l(self.mover), l(self.mover.other())];
        let labels: Vec<String> = (1..=4).map(|coordinate| coordinate.to_string()).collect();
        Drawing {
            rows: 4,
            cols: 4,
            pieces: ls.into_iter().chain(self.tokens.map(token)).collect(),
            row_labels: labels.clone(),
            col_labels: labels,
            ..Drawing::default()
        }
    }

    /// The text with a player's L elsewhere.
    fn with_l(&self, side: Side, l: u8) -> String {
        let mut next = self.clone();
        next.ls[side.index()] = l;
        next.text()
    }

    /// What can be changed at a cell: the Ls whose bars meet there, and the token that was not put last.
    fn cell_edit(&self, text: &str, cell: u8) -> Edit {
        let ls = Side::ALL.into_iter().flat_map(|side| {
            let ends = ENDS.iter().zip(AT[usize::from(cell)]).filter(|&(_, l)| l != NOWHERE);
            ends.map(move |(end, l)| {
                let label = format!("L of player {}, short end {end}", side.index() + 1);
                Choice::new(label, text, &self.with_l(side, l))
                    .piece("l")
                    .owner(Some(side))
                    .so(self.ls[side.index()] == l)
            })
        });
        let has_token = self.tokens.contains(&cell);
        let tokens = if has_token { self.tokens } else { [self.tokens[1], cell] };
        let token = Choice::new("Neutral piece", text, &Self { tokens, ..self.clone() }.text());
        let choices = ls.chain([token.piece("token").so(has_token)]).collect();
        Edit::at("Cell", row_and_column(cell), choices)
    }

    /// What can be changed.
    fn edits(&self, text: &str) -> Vec<Edit> {
        let mover = mover_edit(text, self.mover, |mover| Self { mover, ..self.clone() }.text());
        let start = Edit::of("Board", vec![Choice::new("As at the start", text, START)]);
        (0..16).map(|cell| self.cell_edit(text, cell)).chain([mover, start]).collect()
    }
}

/// An error at a word of a text.
fn at(text: &str, word: &str, error: OpenError) -> TextFault {
    TextFault { offset: offset_in(text, word), ..TextFault::from(error) }
}

/// A text as a draft.
pub(super) fn edits(rules: &Rules, given: &str, _effort: &Arc<Effort>) -> Draft {
    match (LGame::of(rules), Sheet::read(given)) {
        (Err(error), _) => Draft::unreadable(given, error.into()),
        (Ok(_), Err(fault)) => Draft::unreadable(given, fault),
        (Ok(_), Ok(sheet)) => {
            let fault = sheet.check(given).err();
            let text = sheet.text();
            Draft { board: Some(sheet.board()), edits: sheet.edits(&text), fault, text }
        }
    }
}
