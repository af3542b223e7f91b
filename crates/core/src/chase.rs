//! A random game for tests: numbered squares with moves between them. A game may go on for ever. All of it is
//! solved, so that tests can put a perfect table behind [`Game::probe`].

use std::sync::Arc;

use crate::game::{Context, Evaluator, Game, Outcome, Side, Turn};
use crate::score::{Score, Value};
use crate::zobrist::{SplitMix64, mix};

/// What [`Game::probe`] gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe {
    /// Nothing.
    Nothing,
    /// Every result, with its distance.
    All,
    /// The same for a quarter of the squares.
    Some,
    /// Every win and loss, within twice the distance.
    Loose,
}

/// The rules: a side that cannot move has lost. With `CHANCE`, it decides where each move leads.
#[derive(Clone, PartialEq)]
pub(crate) struct Chase<const CHANCE: bool> {
    pub(crate) probe: Probe,
    board: Arc<Board>,
}

#[derive(PartialEq)]
struct Board {
    /// Where moves, or chance, lead from each square.
    next: Vec<Vec<u16>>,
    /// What each square on which a player moves is worth to that player, if it is won or lost.
    values: Vec<Option<Score>>,
}

impl<const CHANCE: bool> Chase<CHANCE> {
    /// Squares of one kind follow on those of the one before: the first side moves, chance, the second side
    /// moves, chance.
    const KINDS: u16 = if CHANCE { 4 } else { 2 };

    /// A board of `squares` squares of each kind.
    pub(crate) fn new(seed: u64, squares: u16, probe: Probe) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut next = Vec::new();
        for square in 0..squares * Self::KINDS {
            let ways = match Self::is_chance(square) {
                true => 1 + random.below(2),
                false if random.below(if CHANCE { 8 } else { 20 }) == 0 => 0,
                false => 3,
            };
            let mut there: Vec<u16> = Vec::new();
            while there.len() < ways {
                let way =
                    random.below(usize::from(squares)) as u16 * Self::KINDS + (square + 1) % Self::KINDS;
                if !there.contains(&way) {
                    there.push(way);
                }
            }
            next.push(there);
        }
        let values = Self::solved(&next);
        Self { probe, board: Arc::new(Board { next, values }) }
    }

    fn is_chance(square: u16) -> bool {
        CHANCE && square % 2 == 1
    }

    /// The squares on which the side loses or wins, by their distance from the end.
    fn solved(next: &[Vec<u16>]) -> Vec<Option<Score>> {
        let mut values = vec![None; next.len()];
        for plies in 0..next.len() as u32 {
            let found: Vec<(usize, Score)> = (0..next.len() as u16)
                .filter(|&square| !Self::is_chance(square) && values[usize::from(square)].is_none())
                .filter_map(|square| {
                    let ways =
                        || next[usize::from(square)].iter().map(|&way| Self::after(next, &values, way));
                    let is_won = ways().any(|value| value.is_some_and(Score::is_loss));
                    let is_lost = ways().all(|value| value.is_some_and(Score::is_win));
                    let value = if is_won { Score::win_in(plies) } else { Score::loss_in(plies) };
                    (is_won || is_lost).then_some((usize::from(square), value))
                })
                .collect();
            found.into_iter().for_each(|(square, value)| values[square] = Some(value));
        }
        values
    }

    /// What a square is worth to the side that moves next, if it wins or loses whatever chance does.
    fn after(next: &[Vec<u16>], values: &[Option<Score>], square: u16) -> Option<Score> {
        if !Self::is_chance(square) {
            return values[usize::from(square)];
        }
        let mut all = next[usize::from(square)].iter().map(|&way| values[usize::from(way)]);
        let first = all.next().flatten()?;
        all.try_fold(first, |worst, value| {
            let value = value.filter(|value| value.is_win() == worst.is_win())?;
            Some(if worst.is_win() { worst.min(value) } else { worst.max(value) })
        })
    }

    /// What the side that moves is sure of, with best play.
    pub(crate) fn truth(&self, square: u16) -> Option<Score> {
        self.board.values[usize::from(square)]
    }

    /// The squares.
    pub(crate) fn squares(&self) -> impl Iterator<Item = u16> {
        (0..self.board.next.len() as u16).filter(|&square| !Self::is_chance(square))
    }
}

impl<const CHANCE: bool> Game for Chase<CHANCE> {
    type Position = u16;
    type Move = u8;
    type Undo = u16;
    const STOCHASTIC: bool = CHANCE;

    fn side(&self, square: &u16) -> Side {
        let is_first = if CHANCE { matches!(square % 4, 0 | 3) } else { square.is_multiple_of(2) };
        if is_first { Side::First } else { Side::Second }
    }

    fn turn(&self, square: &u16) -> Turn {
        if Self::is_chance(*square) {
            Turn::Chance
        } else if self.board.next[usize::from(*square)].is_empty() {
            Turn::Over(Outcome { winner: Some(self.side(square).other()), by: "stuck", scores: None })
        } else {
            Turn::Move
        }
    }

    fn moves(&self, square: &u16, out: &mut Vec<u8>) {
        out.extend(0..self.board.next[usize::from(*square)].len() as u8);
    }

    fn is_legal(&self, square: &u16, mv: u8) -> bool {
        usize::from(mv) < self.board.next[usize::from(*square)].len()
    }

    fn play(&self, square: &mut u16, mv: u8) -> u16 {
        std::mem::replace(square, self.board.next[usize::from(*square)][usize::from(mv)])
    }

    fn undo(&self, square: &mut u16, _mv: u8, before: u16) {
        *square = before;
    }

    fn hash(&self, square: &u16) -> u64 {
        mix(u64::from(*square))
    }

    fn hash_after(&self, square: &u16, mv: u8) -> u64 {
        self.hash(&self.board.next[usize::from(*square)][usize::from(mv)])
    }

    fn outcomes(&self, square: &u16, out: &mut Vec<(u8, u32)>) {
        out.extend((0..self.board.next[usize::from(*square)].len() as u8).map(|mv| (mv, 1 + u32::from(mv))));
    }

    fn index(&self, mv: u8) -> usize {
        mv.into()
    }

    fn index_len(&self) -> usize {
        3
    }

    fn probe(&self, square: &u16) -> Option<Value> {
        let score = self.truth(*square);
        let bound = |score: Score, plies: u32| {
            let later = if score.is_win() { Score::win_in(plies) } else { Score::loss_in(plies) };
            Value { score: later, at_least: score.is_win(), at_most: score.is_loss() }
        };
        let table = |score: Score| match score.distance() {
            // Chance may end the game sooner.
            Some(plies) if CHANCE => bound(score, plies),
            _ => Value::proven(score),
        };
        match self.probe {
            Probe::Nothing => None,
            // A side that can avoid losing for ever draws, unless chance decides otherwise.
            Probe::All if !CHANCE => Some(table(score.unwrap_or(Score::DRAW))),
            Probe::All => score.map(table),
            Probe::Some => score.filter(|_| mix(u64::from(*square)).is_multiple_of(4)).map(table),
            Probe::Loose => score.map(|score| bound(score, 2 * score.distance().unwrap_or(0))),
        }
    }
}

/// An evaluation without meaning: a hash of the position.
#[derive(Clone)]
pub(crate) struct Noise;

impl<G: Game> Evaluator<G> for Noise {
    fn evaluate(&self, game: &G, pos: &G::Position, _context: &Context<G::Move>) -> Score {
        Score::eval((mix(game.hash(pos)) % 2000) as i32 - 1000)
    }

    fn range(&self) -> (i32, i32) {
        (-1000, 1000)
    }
}
