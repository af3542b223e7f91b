//! The game as players see it who know no solutions: every legal move fills its cell.

use super::position::Position;
use super::rules::{Fill, Sudoku};
use crate::game::{Game, Outcome, Root, Side, Turn};
use crate::score::Value;
use crate::search::{Asked, Control, End, Found, Line, Searcher};

/// The game without taboo moves but those that were declared. It ends when the mover has no legal move.
#[derive(Clone, PartialEq)]
pub struct Naive(Sudoku);

impl Naive {
    /// The game as it is seen.
    #[must_use]
    pub fn new(game: &Sudoku) -> Self {
        Self(game.clone())
    }

    /// The game as it is.
    #[must_use]
    pub fn rules(&self) -> &Sudoku {
        &self.0
    }
}

impl Game for Naive {
    type Position = Position;
    type Move = Fill;
    type Undo = <Sudoku as Game>::Undo;
    const SCORED: bool = true;

    fn side(&self, pos: &Position) -> Side {
        self.0.side(pos)
    }

    fn turn(&self, pos: &Position) -> Turn {
        let is_open = |cell: usize| {
            pos.is_playable(cell, pos.mover())
                && pos.candidates(self.0.grid(), cell) & !pos.square(cell).taboo != 0
        };
        if (0..self.0.grid().cells()).any(is_open) {
            return Turn::Move;
        }
        let [first, second] = pos.scores();
        let winner = match first - second {
            1.. => Some(Side::First),
            0 => None,
            _ => Some(Side::Second),
        };
        Turn::Over(Outcome { winner, by: super::rules::STUCK, scores: Some(pos.scores()) })
    }

    fn moves(&self, pos: &Position, out: &mut Vec<Fill>) {
        self.0.moves(pos, out);
    }

    fn is_legal(&self, pos: &Position, mv: Fill) -> bool {
        self.0.is_legal(pos, mv)
    }

    fn play(&self, pos: &mut Position, mv: Fill) -> Self::Undo {
        self.0.play_as_fill(pos, mv)
    }

    fn undo(&self, pos: &mut Position, mv: Fill, undo: Self::Undo) {
        self.0.undo(pos, mv, undo);
    }

    fn hash(&self, pos: &Position) -> u64 {
        self.0.hash(pos)
    }

    fn hash_after(&self, pos: &Position, mv: Fill) -> u64 {
        let mut next = pos.clone();
        self.play(&mut next, mv);
        self.hash(&next)
    }

    fn index(&self, mv: Fill) -> usize {
        self.0.index(mv)
    }

    fn index_len(&self) -> usize {
        self.0.index_len()
    }

    fn settled(&self, pos: &Position) -> i32 {
        self.0.settled(pos)
    }
}

/// A player that sees the game so; it proves nothing.
pub struct Unknowing<S>(S);

impl<S> Unknowing<S> {
    /// A player of the game made of one of the game without taboo moves.
    #[must_use]
    pub fn new(player: S) -> Self {
        Self(player)
    }
}

impl<S: Searcher<Naive>> Searcher<Sudoku> for Unknowing<S> {
    fn search(
        &mut self,
        game: &Sudoku,
        root: &Root<Sudoku>,
        asked: &Asked<Fill>,
        control: &Control,
        publish: &mut dyn FnMut(&Found<Fill>),
    ) -> (Found<Fill>, End) {
        // A line ends with its first move: the second may not be legal once the first was taboo.
        let told = |found: &Found<Fill>| Found {
            lines: found
                .lines
                .iter()
                .map(|line| Line {
                    pv: line.pv[..1].to_vec(),
                    depth: line.depth,
                    value: line.value.map(|(value, bound)| (Value::guess(value.score), bound)),
                })
                .collect(),
        };
        let root = Root { start: root.start.clone(), plies: root.plies.clone(), pos: root.pos.clone() };
        let mut tell = |found: &Found<Fill>| publish(&told(found));
        let (found, end) = self.0.search(&Naive::new(game), &root, asked, control, &mut tell);
        (told(&found), if end == End::Proven { End::Limit } else { end })
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}
