//! Chance nodes: the average over the outcomes, with the pruning that the evaluation's range allows.
//!
//! Star1: Ballard, "The *-minimax search procedure for trees containing chance nodes", 1983. While outcomes
//! are averaged, those not looked at yet count as the best or worst evaluation there is; once even that
//! cannot bring the average into the window, the rest is not searched. Wins and losses count as the ends of
//! that range.
//!
//! Star2 (the same article; Hauk, Buro and Schaeffer, "Rediscovering *-minimax search", 2004) first looks at
//! a single move after each outcome. The side to move there has at least the value of that move, so that
//! outcomes not searched yet count as that instead of as the worst, and often the average is too high before
//! any is searched in full.

use crate::game::{Evaluator, Game, Turn};
use crate::score::{Score, Value};
use crate::search::Bound;
use crate::search::alpha_beta::{AlphaBeta, NodeContext};
use crate::search::ordering::MAX_PLY;
use crate::search::table::TableEntry;

/// The smallest depth at which single moves are looked at first: nearer to the horizon they cost as much as
/// they save.
const PROBED: i32 = 2;

impl<G: Game, E: Evaluator<G>> AlphaBeta<'_, G, E> {
    /// The value of a chance node from the view of [`Game::side`].
    ///
    /// It is proven only if every outcome is, with one and the same result: all won, all lost, or all equal.
    pub(super) fn chance(
        &mut self,
        pos: &mut G::Position,
        node: NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        if node.depth < G::TABLE_DEPTH {
            return self.average(pos, &node, alpha, beta);
        }
        let settled = self.game.settled(pos);
        let key = self.key(self.game.hash(pos));
        // The root's child is searched, because the line begins there; and an entry of another depth is of no
        // use, because an average over lines of one depth is not that over lines of another.
        let is_usable = |entry: &TableEntry| node.ply > 1 && i32::from(entry.depth) == node.depth;
        if let Some(entry) = self.table.get(key).filter(is_usable) {
            let score = entry.value.score.shifted(settled).earlier(node.distance);
            if entry.decides(score, node.depth, alpha, beta) {
                return Value { score, ..entry.value };
            }
        }
        let found = self.average(pos, &node, alpha, beta);
        if !self.thread.is_over() {
            let value = Value { score: found.score.later(node.distance).shifted(-settled), ..found };
            let bound = Bound::of(found.score, alpha, beta);
            self.table.store(key, TableEntry { value, bound, depth: node.depth.min(255) as u8, best: None });
        }
        found
    }

    /// The average over the outcomes, or a bound of it outside the window.
    fn average(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let base = self.history.outcomes.len();
        self.game.outcomes(pos, &mut self.history.outcomes);
        let end = self.history.outcomes.len();
        let (low, high) = self.evaluator.range();
        let (low, high) = (i64::from(low), i64::from(high));
        self.history.least.resize(end, low);
        self.history.least[base..].fill(low);
        let mut outcomes = Outcomes { base, end, low, high, total: 0 };
        outcomes.total = self.history.outcomes[base..].iter().map(|(_, weight)| i64::from(*weight)).sum();
        // A probe goes two plies on at once, past the outcome and a move.
        let has_room = node.ply + 2 <= MAX_PLY;
        let is_probed = has_room && !beta.is_loss() && node.depth >= PROBED && i64::from(beta.raw()) <= high;
        let cut = if is_probed { self.probed(pos, node, &outcomes, beta) } else { None };
        let value = match cut {
            _ if alpha.is_win() || beta.is_loss() => self.decided(pos, node, &outcomes, alpha, beta),
            Some(bound) => Value::guess(bound),
            None => self.searched(pos, node, &outcomes, alpha, beta),
        };
        self.history.outcomes.truncate(base);
        self.history.least.truncate(base);
        value
    }

    /// Looks at one move after each outcome and keeps the lower bound that it gives; returns a lower bound of
    /// the average if it is at least beta.
    fn probed(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        outcomes: &Outcomes,
        beta: Score,
    ) -> Option<Score> {
        let &Outcomes { base, end, low, high, total } = outcomes;
        let side = self.game.side(pos);
        let mut least = low * total;
        for at in base..end {
            let (mv, weight) = self.history.outcomes[at];
            let weight = i64::from(weight);
            // What this outcome must be worth so that no other needs to be looked at.
            let ceiling = -(-(i64::from(beta.raw()) * total - least)).div_euclid(weight) + low;
            let window = (Score::eval((low - 1) as i32), Score::eval(ceiling.clamp(low, high + 1) as i32));
            let undo = self.game.play(pos, mv);
            let is_own = self.game.side(pos) == side && self.game.turn(pos) == Turn::Move;
            let value = is_own.then(|| self.one_move(pos, &node.outcome(mv), window.0, window.1));
            self.game.undo(pos, mv, undo);
            if self.thread.is_over() {
                return None;
            }
            if let Some(value) = value {
                let worth = worth(value.score, low, high);
                self.history.least[at] = worth;
                least += (worth - low) * weight;
                if least >= i64::from(beta.raw()) * total {
                    return Some(Score::eval(average(least, total)));
                }
            }
        }
        None
    }

    /// The value of the move that is likeliest to be best, from its mover's view: a lower bound of the
    /// position's.
    fn one_move(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let game = self.game;
        let base = self.history.moves.len();
        game.moves(pos, &mut self.history.moves);
        let entry =
            if node.depth >= G::TABLE_DEPTH { self.table.get(self.key(game.hash(pos))) } else { None };
        self.history.tt_move_first(game, node.ply, base, entry.and_then(|entry| entry.best));
        let mv = self.history.moves[base];
        self.history.moves.truncate(base);
        let side = game.side(pos);
        self.after(pos, mv, |search, next| search.child(next, side, node, mv, alpha, beta))
    }

    /// The value of a chance node when only a quicker win, or a quicker loss, matters: an average is neither,
    /// so every outcome has to be one.
    fn decided(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        outcomes: &Outcomes,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let game = self.game;
        let side = game.side(pos);
        let mut proof = Proof::default();
        for at in outcomes.base..outcomes.end {
            let (mv, _) = self.history.outcomes[at];
            let undo = game.play(pos, mv);
            let value = if game.side(pos) == side {
                self.node(pos, node.outcome(mv), alpha, beta)
            } else {
                -self.node(pos, node.outcome(mv), -beta, -alpha)
            };
            game.undo(pos, mv, undo);
            if self.thread.is_over() {
                break;
            }
            if at == outcomes.base && beta > alpha.above() {
                self.history.extend_pv(node.ply, mv);
            }
            if alpha.is_win() && value.score <= alpha {
                return Value { score: alpha, at_least: false, at_most: value.at_most };
            }
            if beta.is_loss() && value.score >= beta {
                return Value { score: beta, at_least: value.at_least, at_most: false };
            }
            proof.add(value);
        }
        let unknown = if alpha.is_win() { alpha } else { beta };
        proof.value().unwrap_or(Value::guess(unknown))
    }

    /// Searches the outcomes one by one, until they decide.
    fn searched(
        &mut self,
        pos: &mut G::Position,
        node: &NodeContext<G::Move>,
        outcomes: &Outcomes,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let game = self.game;
        let side = game.side(pos);
        let &Outcomes { base, end, low, high, total } = outcomes;
        let weighed =
            |search: &Self, at: usize| search.history.least[at] * i64::from(search.history.outcomes[at].1);
        let mut sum = 0;
        let mut rest = total;
        // The least that the outcomes not searched yet add.
        let mut least: i64 = (base..end).map(|at| weighed(self, at)).sum();
        let mut proof = Proof::default();
        for at in base..end {
            let (mv, weight) = self.history.outcomes[at];
            let weight = i64::from(weight);
            rest -= weight;
            least -= weighed(self, at);
            // A child at or below `floor` leaves the average at or below alpha; at or above `ceiling`, beta.
            let floor = (i64::from(alpha.raw()) * total - sum - high * rest).div_euclid(weight);
            let ceiling = -(-(i64::from(beta.raw()) * total - sum - least)).div_euclid(weight);
            if floor >= high {
                return bound(sum + high * (rest + weight), total);
            }
            if ceiling <= low {
                return bound(sum + low * weight + least, total);
            }
            let child_alpha = Score::eval(floor.max(low - 1) as i32);
            let child_beta = Score::eval(ceiling.min(high + 1) as i32);
            let undo = game.play(pos, mv);
            let child = node.outcome(mv);
            let value = if game.side(pos) == side {
                self.node(pos, child, child_alpha, child_beta)
            } else {
                -self.node(pos, child, -child_beta, -child_alpha)
            };
            game.undo(pos, mv, undo);
            if self.thread.is_over() {
                break;
            }
            // The line goes on with the first outcome, which stands for all.
            if at == base && beta > alpha.above() {
                self.history.extend_pv(node.ply, mv);
            }
            proof.add(value);
            let worth = worth(value.score, low, high);
            sum += worth * weight;
            if worth <= floor && rest > 0 {
                return bound(sum + high * rest, total);
            }
            if worth >= ceiling && rest > 0 {
                return bound(sum + least, total);
            }
        }
        proof.value().unwrap_or(bound(sum, total))
    }
}

impl<M> NodeContext<M> {
    /// The node after an outcome: chance costs no depth.
    fn outcome(&self, mv: M) -> Self {
        Self { depth: self.depth, ply: self.ply + 1, distance: self.distance, last: Some(mv) }
    }
}

/// The outcomes of a chance node: where they stand in the memory, the range of their values, and their
/// weight.
struct Outcomes {
    base: usize,
    end: usize,
    low: i64,
    high: i64,
    total: i64,
}

/// An average, or a bound of one, that nothing proves.
fn bound(sum: i64, total: i64) -> Value {
    Value::guess(Score::eval(average(sum, total)))
}

/// What a score adds to an average: wins and losses count as the ends of the evaluation's range.
pub(super) fn worth(score: Score, low: i64, high: i64) -> i64 {
    i64::from(score.raw()).clamp(low, high)
}

/// `sum / total` to the nearest, halves away from zero: the same from both sides' view.
pub(super) fn average(sum: i64, total: i64) -> i32 {
    ((2 * sum + sum.signum() * total) / (2 * total)) as i32
}

/// What all outcomes of a chance node have in common.
pub(super) struct Proof {
    worst: Score,
    best: Score,
    at_least: bool,
    at_most: bool,
}

impl Default for Proof {
    fn default() -> Self {
        Self { worst: Score::INFINITE, best: -Score::INFINITE, at_least: true, at_most: true }
    }
}

impl Proof {
    pub(super) fn add(&mut self, value: Value) {
        self.worst = self.worst.min(value.score);
        self.best = self.best.max(value.score);
        self.at_least &= value.at_least;
        self.at_most &= value.at_most;
    }

    /// The value that they prove together, if they do.
    pub(super) fn value(&self) -> Option<Value> {
        let Self { worst, best, at_least, at_most } = *self;
        let value = if worst == best {
            Value { score: worst, at_least, at_most }
        } else if worst.is_win() {
            Value { score: worst, at_least, at_most: false }
        } else {
            Value { score: best, at_least: false, at_most: at_most && best.is_loss() }
        };
        value.is_decided().then_some(value)
    }
}
