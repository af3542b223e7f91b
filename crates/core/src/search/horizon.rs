//! Nodes near the horizon: nine of ten nodes, so that what each of them costs is what the search costs.
//!
//! Between [`Game::TABLE_DEPTH`] and the horizon a null window asks one thing, whether any move reaches it.
//! Killers answer most often, and do so before the moves are listed; the others are tried as they are listed.
//! No table, no history: probing and sorting cost more than the nodes that they save. If the evaluation is
//! far enough from the window ([`Evaluator::futility`]), not even a move is tried (futility and reverse
//! futility pruning: Schaeffer, "Experiments in search and knowledge", 1986; Heinz, "Extended futility
//! pruning", 1998).

use crate::game::{Context, Evaluator, Game, Side};
use crate::score::{Score, Value};
use crate::search::alpha_beta::{AlphaBeta, NodeContext, is_over};
use crate::search::ordering::MAX_PLY;

impl<G: Game, E: Evaluator<G>> AlphaBeta<'_, G, E> {
    /// Whether a position is worth more than `alpha`; `child` gives the value after a move, as
    /// [`AlphaBeta::child`] does.
    pub(super) fn frontier(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        child: impl Fn(&mut Self, &mut G::Position, Side, &NodeContext<G::Move>, G::Move, Score, Score) -> Value,
    ) -> Value {
        let game = self.game;
        let side = game.side(pos);
        let beta = alpha.above();
        if let Some(value) = self.futile(pos, node, alpha) {
            return value;
        }
        let killers = self.history.killers(node.ply);
        let mut best = Value::NOTHING;
        for &mv in killers.iter().flatten() {
            if game.is_legal(pos, mv) {
                let value =
                    self.after(pos, mv, |search, next| child(search, next, side, node, mv, alpha, beta));
                best = best.or(value);
                if value.score >= beta || self.thread.is_over() {
                    self.history.store_killer(node.ply, mv);
                    return Value { at_most: false, ..best };
                }
            }
        }
        let base = self.history.moves.len();
        game.moves(pos, &mut self.history.moves);
        for at in base..self.history.moves.len() {
            let mv = self.history.moves[at];
            if killers.contains(&Some(mv)) {
                continue;
            }
            let value = self.after(pos, mv, |search, next| child(search, next, side, node, mv, alpha, beta));
            best = best.or(value);
            if value.score >= beta || self.thread.is_over() {
                self.history.store_killer(node.ply, mv);
                best.at_most = false;
                break;
            }
        }
        self.history.moves.truncate(base);
        best
    }

    /// The evaluation minus or plus its margin, if that is far enough from `alpha` to leave moves out.
    #[inline(always)]
    fn futile(&mut self, pos: &G::Position, node: &NodeContext<G::Move>, alpha: Score) -> Option<Value> {
        let margins =
            self.evaluator.futility().filter(|_| (1..=2).contains(&node.depth) && !is_over::<G>(alpha))?;
        let context = Context { root: self.root, last: node.last };
        let eval = self.evaluator.evaluate(self.game, pos, &context);
        let (best, least) =
            (eval.shifted(margins.behind), eval.shifted(-margins.ahead[node.depth as usize - 1]));
        if least > alpha {
            Some(Value::guess(least))
        } else {
            (node.depth == 1 && best <= alpha).then(|| Value::guess(best))
        }
    }

    /// [`AlphaBeta::child`] where the child is at the horizon.
    #[inline(always)]
    pub(super) fn last_child(
        &mut self,
        pos: &mut G::Position,
        side: Side,
        node: &NodeContext<G::Move>,
        mv: G::Move,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let node = node.after(mv);
        let is_own = self.game.side(pos) == side;
        // One call, so that the evaluation is inlined.
        let (alpha, beta) = if is_own { (alpha, beta) } else { (-beta, -alpha) };
        let value = self.leaf(pos, &node, alpha, beta);
        if is_own { value } else { -value }
    }

    #[inline(always)]
    fn leaf(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        match self.at_once(pos, node, alpha, beta) {
            Some(value) => value,
            None => self.quiesce(pos, node, alpha, beta),
        }
    }

    /// The value of a position at the horizon: its evaluation, or better by noisy moves.
    #[inline]
    pub(super) fn quiesce(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let game = self.game;
        let &NodeContext { ply, distance, last, .. } = node;
        let context = Context { root: self.root, last };
        let mut best = Value::guess(self.evaluator.evaluate(game, pos, &context));
        let base = self.history.moves.len();
        if best.score < beta && ply < MAX_PLY {
            game.noisy(pos, &mut self.history.moves);
        }
        for at in base..self.history.moves.len() {
            let mv = self.history.moves[at];
            let side = game.side(pos);
            let node = NodeContext { depth: 1, ply, distance, last };
            let alpha = alpha.max(best.score);
            let value = self.after(pos, mv, |search, next| search.child(next, side, &node, mv, alpha, beta));
            if value.score > best.score {
                best = Value { at_most: false, ..value };
            }
            if best.score >= beta || self.thread.is_over() {
                break;
            }
        }
        self.history.moves.truncate(base);
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::FutilityMargins;
    use crate::nim::{Heap, Nim};
    use crate::search::Control;
    use crate::search::ordering::History;
    use crate::search::table::Table;
    use crate::search::thread::SearchThread;

    /// Values every position alike, from its mover's view.
    #[derive(Clone)]
    struct Always(i32);

    impl Evaluator<Nim> for Always {
        fn evaluate(&self, _: &Nim, _: &Heap, _: &Context<u8>) -> Score {
            Score::eval(self.0)
        }

        fn range(&self) -> (i32, i32) {
            (self.0, self.0)
        }

        fn futility(&self) -> Option<FutilityMargins> {
            Some(FutilityMargins { behind: 2000, ahead: [3000, 5000] })
        }
    }

    /// The value of the start, `depth` plies above the horizon, and how many positions were visited after it.
    fn search(eval: i32, depth: i32, alpha: Score) -> (Value, u64) {
        let game = Nim { most: 3 };
        let (control, table, mut history) = (Control::default(), Table::new(1), History::new(&game));
        let mut search = AlphaBeta {
            game: &game,
            evaluator: &Always(eval),
            table: &table,
            history: &mut history,
            thread: SearchThread::alone(&control),
            root: Side::First,
        };
        let node = NodeContext { depth, ply: 1, distance: 1, last: None };
        let value = search.frontier(&mut Heap::of(50), &node, alpha, AlphaBeta::child);
        (value, search.thread.nodes)
    }

    #[test]
    fn moves_are_left_out_where_the_evaluation_is_a_margin_away() {
        for (eval, depth, alpha, expected) in [
            (0, 1, 2000, Some(2000)),
            (0, 1, 1999, None),
            (0, 2, 2000, None),
            (0, 1, -3001, Some(-3000)),
            (0, 1, -3000, None),
            (0, 2, -5001, Some(-5000)),
            (0, 2, -5000, None),
            (7000, 3, 0, None),
            (-7000, 3, 0, None),
        ] {
            let (value, nodes) = search(eval, depth, Score::eval(alpha));
            let expected = expected.map(|score| Value::guess(Score::eval(score)));
            assert_eq!(nodes == 0, expected.is_some(), "{eval} {depth} {alpha}");
            assert!(expected.is_none_or(|expected| value == expected), "{value:?}");
        }
    }

    #[test]
    fn no_margin_stands_against_a_proof() {
        for alpha in [Score::win_in(20), Score::loss_in(20)] {
            for depth in [1, 2] {
                assert!(search(0, depth, alpha).1 > 0);
            }
        }
    }
}
