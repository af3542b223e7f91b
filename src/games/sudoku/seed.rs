//! The player `seed`: minimax with alpha-beta and iterative deepening as a student team published it ("Assignment A2: Team
//! 33", 2023, `sudokuai.py`), with its heuristics each on or off.
//!
//! It knows no taboo moves but those that were declared. It keeps the best value over all depths, so that a shallow one
//! that was too high is never corrected; that is its own.

use super::naive::Naive;
use super::position::Position;
use super::rules::Fill;
use crate::game::{Context, Evaluator, Game, Root, Side, Turn};
use crate::score::{Score, Value};
use crate::search::one_ply::choices;
use crate::search::thread::{Pulse, Reached};
use crate::search::{Asked, Bound, Control, End, Found, Line, Searcher, clock};

/// The order in which moves are tried, the same at every node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveOrder {
    /// Shuffled once a move.
    Random,
    /// Cells by their number of legal values, those with two last: the published `avoid two-free`.
    AvoidTwoFree,
}

/// The published player with an evaluation.
pub struct SeedPlayer<E> {
    evaluator: E,
    order: MoveOrder,
    seed: u64,
    depth: Option<u32>,
}

impl<E> SeedPlayer<E> {
    /// The player with an evaluation, an order of moves, the seed of its shuffles, and the most depth, if it is limited.
    #[must_use]
    pub fn new(evaluator: E, order: MoveOrder, seed: u64, depth: Option<u32>) -> Self {
        Self { evaluator, order, seed, depth }
    }

    /// The moves of either side in the player's order.
    fn moves(&self, game: &Naive, root: &Root<Naive>) -> Vec<Fill> {
        let (rules, pos) = (game.rules(), &root.pos);
        let open = |cell: usize| pos.candidates(rules.grid(), cell) & !pos.square(cell).taboo;
        let mut moves: Vec<Fill> = (0..rules.grid().cells())
            .flat_map(|cell| {
                let values =
                    (1..=rules.grid().side() as u8).filter(move |value| open(cell) >> (value - 1) & 1 != 0);
                values.map(move |value| Fill { cell: cell as u16, value })
            })
            .collect();
        match self.order {
            MoveOrder::Random => {
                let mut random = choices(game, root, self.seed);
                moves.sort_by_cached_key(|_| random.next());
            }
            MoveOrder::AvoidTwoFree => moves.sort_by_key(|mv| {
                let free = open(mv.cell.into()).count_ones();
                (free == 2, free)
            }),
        }
        moves
    }
}

impl<E: Evaluator<Naive>> Searcher<Naive> for SeedPlayer<E> {
    fn search(
        &mut self,
        game: &Naive,
        root: &Root<Naive>,
        asked: &Asked<Fill>,
        control: &Control,
        publish: &mut dyn FnMut(&Found<Fill>),
    ) -> (Found<Fill>, End) {
        let moves = self.moves(game, root);
        let candidates: Vec<Fill> = moves.iter().copied().filter(|mv| asked.moves.contains(mv)).collect();
        let mut found = answer(candidates[0], 0, None);
        publish(&found);
        let side = game.side(&root.pos);
        let pulse = Pulse::alone(control);
        let mut tree = Tree { game, evaluator: &self.evaluator, moves: &moves, root: side, pulse };
        let mut pos = root.pos.clone();
        let last = self.depth.unwrap_or(u32::MAX).min(control.depth_limit()).min(moves.len() as u32);
        let mut best = None;
        // The published depth counts the plies after the root's move.
        let end = 'search: {
            for depth in 1..last.max(2) {
                for &mv in &candidates {
                    let window = (-Score::INFINITE, Score::INFINITE);
                    let value = tree.after(&mut pos, mv, depth, window);
                    if tree.pulse.is_over() {
                        break 'search match tree.pulse.reached() {
                            Some(Reached::Clock) => End::Clock,
                            Some(Reached::Nodes | Reached::Stint) => End::Limit,
                            None => End::Stopped,
                        };
                    }
                    if best.is_none_or(|best| value > best) {
                        best = Some(value);
                        found = answer(mv, depth + 1, Some(value));
                        publish(&found);
                    }
                }
                tree.pulse.depth = depth + 1;
                tree.pulse.show();
                if clock::now_ns() >= control.soft_ns() {
                    break 'search End::Clock;
                }
            }
            End::Limit
        };
        tree.pulse.show();
        (found, end)
    }

    fn clear(&mut self) {}
}

fn answer(mv: Fill, depth: u32, score: Option<Score>) -> Found<Fill> {
    let value = score.map(|score| (Value::guess(score), Bound::Exact));
    Found { lines: vec![Line { pv: vec![mv], depth, value }] }
}

struct Tree<'a, E> {
    game: &'a Naive,
    evaluator: &'a E,
    moves: &'a [Fill],
    root: Side,
    pulse: Pulse<'a>,
}

impl<E: Evaluator<Naive>> Tree<'_, E> {
    /// The value after a move, from the view of the root's side; `depth` counts the plies after it.
    fn after(
        &mut self,
        pos: &mut Position,
        mv: Fill,
        depth: u32,
        (mut alpha, mut beta): (Score, Score),
    ) -> Score {
        if self.pulse.tick() {
            return Score::DRAW;
        }
        let game = self.game;
        let undo = game.play(pos, mv);
        let maximizes = game.side(pos) == self.root;
        let value = if depth == 0 || game.turn(pos) != Turn::Move {
            let context = Context { root: self.root, last: Some(mv) };
            let score = self.evaluator.evaluate(game, pos, &context);
            if maximizes { score } else { -score }
        } else {
            let mut best = if maximizes { -Score::INFINITE } else { Score::INFINITE };
            for &next in self.moves {
                if !game.is_legal(pos, next) {
                    continue;
                }
                let value = self.after(pos, next, depth - 1, (alpha, beta));
                if maximizes {
                    best = best.max(value);
                    alpha = alpha.max(best);
                } else {
                    best = best.min(value);
                    beta = beta.min(best);
                }
                if beta <= alpha || self.pulse.is_over() {
                    break;
                }
            }
            best
        };
        game.undo(pos, mv, undo);
        value
    }
}
