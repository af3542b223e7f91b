//! The boards of a game, drawn by its rules as the protocol draws them.

use plyd_bridge::{board, given, to_move};
use plyd_core::engine::Entry;
use plyd_core::play::Position;
use plyd_protocol::{Board, Record, Settings, ToMove};
use schemars::JsonSchema;
use serde::Serialize;

/// The most boards of one answer: a large one takes some 50 kB.
pub(super) const MOST: usize = 50;

/// Boards of a game, one after each ply.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(super) struct Boards {
    /// The game, such as `isolation`.
    pub(super) game: String,
    /// How many plies there are; the boards are numbered from 0, the start, to this.
    pub(super) plies: usize,
    /// The boards that were asked for.
    pub(super) boards: Vec<BoardAt>,
}

/// A board of a game.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(super) struct BoardAt {
    /// After how many plies.
    pub(super) ply: usize,
    /// The position's text.
    pub(super) text: String,
    /// Who decides the next ply; absent: the game is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to_move: Option<ToMove>,
    /// The board, as the protocol draws it.
    pub(super) board: Board,
}

/// What is to be drawn.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Moves {
    /// The game.
    pub(super) game: String,
    /// Its rules.
    pub(super) rules: Settings,
    /// The position's text at the start.
    pub(super) start: String,
    /// The plies since.
    pub(super) moves: Vec<String>,
}

impl From<Record> for Moves {
    fn from(Record { game, rules, start, moves, .. }: Record) -> Self {
        Self { game, rules, start, moves }
    }
}

impl Moves {
    /// The boards after `from` plies and later, so many at most. Moves that the rules do not allow, or rules
    /// that this build does not know, end them: what was played elsewhere is still a record.
    pub(super) fn boards(self, games: &[&'static Entry], from: usize, most: usize) -> Boards {
        let mut boards = Boards { game: self.game, plies: self.moves.len(), boards: Vec::new() };
        let Some(entry) = games.iter().find(|entry| entry.name == boards.game) else { return boards };
        let Ok(mut position) = Position::open(entry, &given(&self.rules), Some(&self.start)) else {
            return boards;
        };
        for ply in 0..=self.moves.len() {
            if ply >= from {
                boards.boards.push(at(ply, &position));
            }
            if boards.boards.len() >= most {
                break;
            }
            match self.moves.get(ply).map(|mv| position.play(mv)) {
                Some(Ok(next)) => position = next,
                _ => break,
            }
        }
        boards
    }
}

/// The board of a position that was reached after so many plies.
pub(super) fn at(ply: usize, position: &Position) -> BoardAt {
    BoardAt {
        ply,
        text: position.to_string(),
        to_move: position.outcome().is_none().then(|| to_move(position.to_move())),
        board: board(position.board()),
    }
}
