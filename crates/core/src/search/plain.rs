//! Plain minimax and plain alpha-beta to a fixed depth: the textbook players of the published agents.
//!
//! No table, no ordering, no deepening: the moves are searched in the order in which the game lists them, and
//! of equal moves the first is played. Chance nodes are averaged whole (expectiminimax).

use crate::game::{Context, Evaluator, Game, Root, Side, Turn};
use crate::score::{Score, Value};
use crate::search::chance::{Proof, average, worth};
use crate::search::thread::{SearchThread, final_value, is_settled};
use crate::search::{Bound, Control, End, Line, SearchParams, SearchResult, Searcher};

/// Whether a plain search looks at everything or leaves out what cannot matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pruning {
    /// Minimax: every move at every node.
    None,
    /// Alpha-beta (Knuth and Moore, "An analysis of alpha-beta pruning", 1975), fail-soft.
    AlphaBeta,
}

/// A search to a fixed depth.
pub struct Plain<E> {
    evaluator: E,
    pruning: Pruning,
    depth: Option<u32>,
    usual: u32,
}

impl<E> Plain<E> {
    /// A search to `depth` plies; if absent, to the depth limit of each search, or else to the `usual` depth.
    #[must_use]
    pub fn new(evaluator: E, pruning: Pruning, depth: Option<u32>, usual: u32) -> Self {
        Self { evaluator, pruning, depth, usual }
    }
}

impl<G: Game, E: Evaluator<G>> Searcher<G> for Plain<E> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        let mut tree = Tree {
            game,
            evaluator: &self.evaluator,
            pruning: self.pruning,
            thread: SearchThread::alone(control),
            root: game.side(&root.pos),
            stack: Vec::new(),
        };
        let limit = control.depth_limit();
        let depth = self.depth.unwrap_or(if limit == u32::MAX { self.usual } else { limit }).clamp(1, limit);
        let side = tree.root;
        let mut pos = root.pos.clone();
        let mut found = SearchResult { lines: Vec::new() };
        let mut proven = true;
        for &mv in &params.moves {
            // Only a move that beats the last line asked for can matter.
            let full = found.lines.len() >= params.multipv;
            let last = found.lines.last().filter(|_| full && self.pruning == Pruning::AlphaBeta);
            let alpha = last.and_then(|line| line.value).map_or(-Score::INFINITE, |(value, _)| value.score);
            let undo = game.play(&mut pos, mv);
            let mut pv = Vec::new();
            let value = tree.child(&mut pos, side, depth, 0, mv, (alpha, Score::INFINITE), &mut pv);
            game.undo(&mut pos, mv, undo);
            if tree.thread.is_over() {
                break;
            }
            proven &= value.at_most || (value.score.is_win() && is_settled::<G>(value));
            let rank = found
                .lines
                .partition_point(|line| line.value.is_some_and(|(better, _)| better.score >= value.score));
            if rank < params.multipv && (rank < found.lines.len() || !full) {
                pv.push(mv);
                pv.reverse();
                found.lines.insert(rank, Line { pv, depth, value: Some((value, Bound::Exact)) });
                found.lines.truncate(params.multipv);
                publish(&unproven(&found, false));
            }
        }
        tree.thread.depth = depth;
        tree.thread.show();
        let is_proven = || proven && lines_settled::<G>(&found);
        let end = tree.thread.end().unwrap_or_else(|| if is_proven() { End::Proven } else { End::Limit });
        if found.lines.is_empty() {
            found.lines.push(Line { pv: vec![params.moves[0]], depth: 0, value: None });
        }
        let found = unproven(&found, end == End::Proven);
        publish(&found);
        (found, end)
    }

    fn clear(&mut self) {}
}

fn lines_settled<G: Game>(found: &SearchResult<G::Move>) -> bool {
    found.lines.iter().all(|line| line.value.is_some_and(|(value, _)| is_settled::<G>(value)))
}

/// The lines without the claim that no other move is better, unless that is proven.
fn unproven<M: Copy>(found: &SearchResult<M>, proven: bool) -> SearchResult<M> {
    let lines = found.lines.iter().map(|line| Line {
        value: line.value.map(|(value, bound)| (Value { at_most: value.at_most && proven, ..value }, bound)),
        pv: line.pv.clone(),
        depth: line.depth,
    });
    SearchResult { lines: lines.collect() }
}

struct Tree<'a, G: Game, E> {
    game: &'a G,
    evaluator: &'a E,
    pruning: Pruning,
    thread: SearchThread<'a>,
    root: Side,
    stack: Vec<G::Move>,
}

impl<G: Game, E: Evaluator<G>> Tree<'_, G, E> {
    /// The value after `mv` was played by `side`, from `side`'s view; `depth` counts `mv`. Gives the line
    /// that follows in reverse.
    #[expect(clippy::too_many_arguments, reason = "a node of a tree: position, place, window, line")]
    fn child(
        &mut self,
        pos: &mut G::Position,
        side: Side,
        depth: u32,
        distance: u32,
        mv: G::Move,
        (alpha, beta): (Score, Score),
        pv: &mut Vec<G::Move>,
    ) -> Value {
        if self.game.side(pos) == side {
            self.node(pos, depth - 1, distance + 1, Some(mv), (alpha, beta), pv)
        } else {
            -self.node(pos, depth - 1, distance + 1, Some(mv), (-beta, -alpha), pv)
        }
    }

    fn node(
        &mut self,
        pos: &mut G::Position,
        depth: u32,
        distance: u32,
        last: Option<G::Move>,
        (alpha, beta): (Score, Score),
        pv: &mut Vec<G::Move>,
    ) -> Value {
        pv.clear();
        if self.thread.tick() {
            return Value::default();
        }
        self.thread.seldepth = self.thread.seldepth.max(distance);
        let game = self.game;
        let side = game.side(pos);
        match game.turn(pos) {
            Turn::Over(outcome) => return final_value::<G>(&outcome, side, distance),
            Turn::Chance => return self.average(pos, side, depth, distance),
            Turn::Move => {}
        }
        if depth == 0 {
            let context = Context { root: self.root, last };
            return Value::guess(self.evaluator.evaluate(game, pos, &context));
        }
        let base = self.stack.len();
        game.moves(pos, &mut self.stack);
        let mut best = Value::guess(-Score::INFINITE);
        let (mut all_at_most, mut floor, mut line) = (true, alpha, Vec::new());
        for at in base..self.stack.len() {
            let mv = self.stack[at];
            let window = match self.pruning {
                Pruning::None => (-Score::INFINITE, Score::INFINITE),
                Pruning::AlphaBeta => (floor, beta),
            };
            let undo = game.play(pos, mv);
            let value = self.child(pos, side, depth, distance, mv, window, &mut line);
            game.undo(pos, mv, undo);
            if self.thread.is_over() {
                break;
            }
            all_at_most &= value.at_most;
            if value.score > best.score {
                best = value;
                line.push(mv);
                std::mem::swap(pv, &mut line);
                floor = floor.max(value.score);
                if self.pruning == Pruning::AlphaBeta && best.score >= beta {
                    all_at_most = false;
                    break;
                }
            } else if value.score == best.score {
                best.at_least |= value.at_least;
            }
        }
        self.stack.truncate(base);
        Value { at_most: all_at_most, ..best }
    }

    /// The average over all outcomes of a chance node.
    fn average(&mut self, pos: &mut G::Position, side: Side, depth: u32, distance: u32) -> Value {
        let game = self.game;
        let mut outcomes = Vec::new();
        game.outcomes(pos, &mut outcomes);
        let (low, high) = self.evaluator.range();
        let (mut sum, mut total) = (0, 0);
        let mut proof = Proof::default();
        for (mv, weight) in outcomes {
            let undo = game.play(pos, mv);
            let open = (-Score::INFINITE, Score::INFINITE);
            let mut value = self.node(pos, depth, distance, Some(mv), open, &mut Vec::new());
            if game.side(pos) != side {
                value = -value;
            }
            game.undo(pos, mv, undo);
            proof.add(value);
            sum += worth(value.score, i64::from(low), i64::from(high)) * i64::from(weight);
            total += i64::from(weight);
        }
        proof.value().unwrap_or_else(|| Value::guess(Score::eval(average(sum, total))))
    }
}
