//! Alpha-beta at a node: principal variation search with a table, for any game and evaluation.
//!
//! The sign of a child's value comes from [`Game::side`], never from the ply, so that a player may move twice
//! and turns may be skipped. Scores count distances from the root; the table's from the position. What is
//! proven travels beside the score (see [`Value`]): a node is worth at least what one move is proven to
//! reach, and at most what all moves are proven not to exceed, whatever the depths at which that was found.
//!
//! The many nodes near the horizon are searched by `horizon`.
//!
//! Principal variation search: Marsland and Campbell, "Parallel search of strongly ordered game trees", 1982.

use std::ops::Range;

use crate::game::{Evaluator, Game, Side, Turn};
use crate::score::{Score, Value};
use crate::search::Bound;
use crate::search::ordering::{History, MAX_PLY};
use crate::search::table::{Table, TableEntry};
use crate::search::thread::{SearchThread, final_value, is_lost, is_won};

/// Positions up to this size, in bytes, are copied before a move rather than restored after it.
const COPIED: usize = 64;

/// One thread's search of one iteration.
pub(super) struct AlphaBeta<'a, G: Game, E> {
    /// The rules.
    pub game: &'a G,
    /// The evaluation.
    pub evaluator: &'a E,
    /// The table.
    pub table: &'a Table,
    /// The thread's killers, history and stacks.
    pub history: &'a mut History<G>,
    /// The thread's counters.
    pub thread: SearchThread<'a>,
    /// The side that moves at the root.
    pub root: Side,
}

/// Where a node stands in the tree.
#[derive(Clone, Copy)]
pub(super) struct NodeContext<M> {
    /// The depth that is left.
    pub depth: i32,
    /// Plies from the root, chance plies included.
    pub ply: usize,
    /// Moves from the root, chance plies not counted.
    pub distance: u32,
    /// The ply that led here.
    pub last: Option<M>,
}

/// Whether a score says that the game is won or lost.
#[inline]
pub(super) fn is_over<G: Game>(score: Score) -> bool {
    is_won::<G>(score) || is_lost::<G>(score)
}

impl<M> NodeContext<M> {
    #[inline]
    pub(super) fn after(&self, mv: M) -> Self {
        Self { depth: self.depth - 1, ply: self.ply + 1, distance: self.distance + 1, last: Some(mv) }
    }
}

impl<G: Game, E: Evaluator<G>> AlphaBeta<'_, G, E> {
    /// The value of the position after `mv` was played by `side`, from `side`'s view.
    #[inline]
    pub(super) fn child(
        &mut self,
        pos: &mut G::Position,
        side: Side,
        node: &NodeContext<G::Move>,
        mv: G::Move,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let node = node.after(mv);
        if self.game.side(pos) == side {
            self.node(pos, node, alpha, beta)
        } else {
            -self.node(pos, node, -beta, -alpha)
        }
    }

    /// The value of a position from the view of [`Game::side`]: exact inside the window, a bound outside.
    ///
    /// With an open window it leaves its best line in the history's `pv`; with a null window, nothing. When
    /// [`SearchThread::is_over`], the value means nothing and must be dropped.
    pub(super) fn node(
        &mut self,
        pos: &mut G::Position,
        node: NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let open = beta > alpha.above();
        if open {
            self.history.pv[node.ply].clear();
        }
        match self.at_once(pos, &node, alpha, beta) {
            Some(value) => value,
            None => self.by_moves(pos, &node, alpha, beta),
        }
    }

    /// The value of a position by its moves, or at the horizon by its evaluation.
    #[inline(always)]
    fn by_moves(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        if node.depth <= 0 || node.ply >= MAX_PLY {
            self.quiesce(pos, node, alpha, beta)
        } else if beta > alpha.above() || node.depth >= G::TABLE_DEPTH {
            self.interior(pos, node, alpha, beta)
        } else if node.depth > 1 {
            self.frontier(pos, node, alpha, Self::child)
        } else {
            self.frontier(pos, node, alpha, Self::last_child)
        }
    }

    /// The value of a position whose moves need no search: over, known to the game, or up to chance.
    #[inline(always)]
    pub(super) fn at_once(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Option<Value> {
        if self.thread.tick() {
            return Some(Value::guess(Score::DRAW));
        }
        let game = self.game;
        self.thread.seldepth = self.thread.seldepth.max(node.distance);
        match game.turn(pos) {
            Turn::Over(outcome) => return Some(final_value::<G>(&outcome, game.side(pos), node.distance)),
            Turn::Chance if G::STOCHASTIC => return Some(self.chance(pos, *node, alpha, beta)),
            Turn::Chance | Turn::Move => {}
        }
        // Nobody wins sooner than by the next move. So once a win is found, every slower line proves that
        // none is quicker, and the distance is exact.
        let soonest = Score::win_in(node.distance + 1);
        if alpha >= soonest {
            return Some(Value { score: soonest, at_least: false, at_most: true });
        }
        if beta <= -soonest {
            return Some(Value { score: -soonest, at_least: true, at_most: false });
        }
        let known = game.probe(pos)?;
        let value = Value { score: known.score.earlier(node.distance), ..known };
        let cuts = (value.at_least && value.score >= beta) || (value.at_most && value.score <= alpha);
        if value.is_exact() || cuts {
            return Some(value);
        }
        let is_end = value.is_decided() && value.score > alpha && value.score < beta;
        is_end.then(|| self.sooner(pos, node, alpha, beta, value))
    }

    /// The value of a position that is known to be won or lost within some plies: the same, or what a search
    /// finds that ends the game sooner.
    #[cold]
    #[inline(never)]
    fn sooner(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
        known: Value,
    ) -> Value {
        if known.score.is_win() {
            let found = self.by_moves(pos, node, known.score, beta);
            if found.score > known.score { found } else { Value { at_most: found.at_most, ..known } }
        } else {
            let found = self.by_moves(pos, node, alpha, known.score);
            if found.score < known.score { found } else { Value { at_least: found.at_least, ..known } }
        }
    }

    /// The value of a position from its moves, the likeliest to be best first.
    fn interior(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let &NodeContext { depth, ply, distance, .. } = node;
        let game = self.game;
        let side = game.side(pos);
        let tabled = depth >= G::TABLE_DEPTH;
        let open = beta > alpha.above();
        let settled = game.settled(pos);
        let key = if tabled { self.key(game.hash(pos)) } else { 0 };
        let known = if tabled { self.table.get(key) } else { None };
        // With an open window a line is wanted, which the table does not have. Below a chance node windows
        // are open though no line is wanted; there averaged values must be of one depth.
        let is_usable =
            |entry: &TableEntry| !open || (G::STOCHASTIC && ply > 2 && i32::from(entry.depth) == depth);
        if let Some(value) = known.filter(is_usable).and_then(|entry| {
            let score = entry.value.score.shifted(settled).earlier(distance);
            entry.decides(score, depth, alpha, beta).then_some(Value { score, ..entry.value })
        }) {
            return value;
        }

        let base = self.history.moves.len();
        game.moves(pos, &mut self.history.moves);
        let end = self.history.moves.len();
        // The other moves get their scores only when the first has failed.
        let mut scored = base;
        if self.history.tt_move_first(game, ply, base, known.and_then(|entry| entry.best)) {
            scored += 1;
            self.prefetch(pos, depth, base..scored);
        }
        let mut best = Value::NOTHING;
        let mut best_move = None;
        let (window_alpha, mut alpha) = (alpha, alpha);
        for at in base..end {
            if at == scored {
                self.history.score_moves(game, pos, at);
                self.prefetch(pos, depth, at..end);
            }
            let mv = if at >= scored { self.history.pick_next(at) } else { self.history.moves[at] };
            if open {
                self.history.pv[ply + 1].clear();
            }
            let value = self.after(pos, mv, |search, next| {
                let mut value = Value::default();
                let reductions = search
                    .evaluator
                    .lmr()
                    .filter(|late| at - base >= late.first && depth >= late.from && !is_over::<G>(alpha));
                if let Some(late) = reductions {
                    let reduced = NodeContext { depth: depth - late.plies, ..*node };
                    value = search.child(next, side, &reduced, mv, alpha, alpha.above());
                }
                if at > base && (reductions.is_none() || value.score > alpha) {
                    value = search.child(next, side, node, mv, alpha, alpha.above());
                }
                if at == base || (open && value.score > alpha && value.score < beta) {
                    value = search.child(next, side, node, mv, alpha, beta);
                }
                value
            });
            if self.thread.is_over() {
                break;
            }
            best = best.or(value);
            if value.score > alpha {
                alpha = value.score;
                best_move = Some(mv);
                if open {
                    self.history.extend_pv(ply, mv);
                }
                if value.score >= beta {
                    self.history.update_history(game, side, ply, depth, base, at);
                    best.at_most = false;
                    break;
                }
            }
        }
        self.history.moves.truncate(base);
        if tabled && !self.thread.is_over() {
            let bound = Bound::of(best.score, window_alpha, beta);
            let value = Value { score: best.score.later(distance).shifted(-settled), ..best };
            let best = best_move.map(|mv| game.index(mv) as u16);
            self.table.store(key, TableEntry { value, bound, depth: depth.min(255) as u8, best });
        }
        best
    }

    /// The result of `search` at the position after a move.
    ///
    /// A copy of a small position is cheaper than taking the move back, and the compiler drops what the
    /// search of a leaf does not read, such as its hash.
    #[inline(always)]
    pub(super) fn after(
        &mut self,
        pos: &mut G::Position,
        mv: G::Move,
        search: impl FnOnce(&mut Self, &mut G::Position) -> Value,
    ) -> Value {
        let game = self.game;
        if const { size_of::<G::Position>() <= COPIED && !std::mem::needs_drop::<G::Position>() } {
            let mut next = pos.clone();
            game.play(&mut next, mv);
            search(self, &mut next)
        } else {
            let undo = game.play(pos, mv);
            let value = search(self, pos);
            game.undo(pos, mv, undo);
            value
        }
    }

    /// Prefetches the table's entries of the positions after some moves, if they are going to be probed.
    #[inline]
    fn prefetch(&self, pos: &G::Position, depth: i32, moves: Range<usize>) {
        if G::PREFETCH && depth > G::TABLE_DEPTH {
            for &mv in &self.history.moves[moves] {
                self.table.prefetch(self.key(self.game.hash_after(pos, mv)));
            }
        }
    }

    /// The table's key: evaluations that depend on the root's side do not share entries.
    pub(super) fn key(&self, hash: u64) -> u64 {
        if self.evaluator.is_root_dependent() && self.root == Side::Second {
            hash ^ 0x5bf0_3635_d1a2_7c4b
        } else {
            hash
        }
    }
}
