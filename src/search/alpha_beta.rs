//! Alpha-beta at a node: principal variation search with a table, for any game and evaluation.
//!
//! The sign of a child's value comes from [`Game::side`], never from the ply, so that a player may move twice and
//! turns may be skipped. Scores count distances from the root; the table's from the position. What is proven
//! travels beside the score (see [`Value`]): a node is worth at least what one move is proven to reach, and at
//! most what all moves are proven not to exceed, whatever the depths at which that was found.
//!
//! Principal variation search: Marsland and Campbell, "Parallel search of strongly ordered game trees", 1982.

use crate::game::{Context, Evaluator, Game, Side, Turn};
use crate::score::{Score, Value};
use crate::search::Bound;
use crate::search::ordering::{MAX_PLY, Memory};
use crate::search::table::{Entry, Table};
use crate::search::thread::{Pulse, final_value};

/// Below this depth a look into the table costs more than it saves.
const TABLE_DEPTH: i32 = 3;

/// One thread's search of one iteration.
pub struct Search<'a, G: Game, E> {
    /// The rules.
    pub game: &'a G,
    /// The evaluation.
    pub evaluator: &'a E,
    /// The table.
    pub table: &'a Table,
    /// The thread's memory.
    pub memory: &'a mut Memory<G>,
    /// The thread's counters.
    pub pulse: Pulse<'a>,
    /// The side that moves at the root.
    pub root: Side,
}

/// Where a node stands in the tree.
#[derive(Clone, Copy)]
pub struct Place<M> {
    /// The depth that is left.
    pub depth: i32,
    /// Plies from the root, chance plies included.
    pub ply: usize,
    /// Moves from the root, chance plies not counted.
    pub distance: u32,
    /// The ply that led here.
    pub last: Option<M>,
}

impl<M> Place<M> {
    fn after(&self, mv: M) -> Self {
        Self { depth: self.depth - 1, ply: self.ply + 1, distance: self.distance + 1, last: Some(mv) }
    }
}

impl<G: Game, E: Evaluator<G>> Search<'_, G, E> {
    /// The value of the position after `mv` was played by `side`, from `side`'s view.
    pub fn child(
        &mut self,
        pos: &mut G::Position,
        side: Side,
        place: &Place<G::Move>,
        mv: G::Move,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let place = place.after(mv);
        if self.game.side(pos) == side {
            self.node(pos, place, alpha, beta)
        } else {
            -self.node(pos, place, -beta, -alpha)
        }
    }

    /// The value of a position from the view of [`Game::side`]: exact inside the window, a bound outside.
    ///
    /// When [`Pulse::is_over`], the value means nothing and must be dropped.
    pub fn node(&mut self, pos: &mut G::Position, place: Place<G::Move>, alpha: Score, beta: Score) -> Value {
        let Place { depth, ply, distance, last } = place;
        self.memory.pv[ply].clear();
        if self.pulse.tick() {
            return Value::guess(Score::DRAW);
        }
        self.pulse.seldepth = self.pulse.seldepth.max(distance);
        let game = self.game;
        let side = game.side(pos);
        match game.turn(pos) {
            Turn::Over(outcome) => return final_value::<G>(&outcome, side, distance),
            Turn::Chance if G::STOCHASTIC => return self.chance(pos, place, alpha, beta),
            Turn::Chance | Turn::Move => {}
        }
        if let Some(known) = game.probe(pos) {
            let value = Value { score: known.score.earlier(distance), ..known };
            let cuts = (value.at_least && value.score >= beta) || (value.at_most && value.score <= alpha);
            if value.is_exact() || cuts {
                return value;
            }
        }
        if depth <= 0 || ply >= MAX_PLY {
            return self.quiesce(pos, ply, distance, last, alpha, beta);
        }

        let tabled = depth >= TABLE_DEPTH;
        let open = beta > alpha.above();
        let settled = game.settled(pos);
        let key = if tabled { self.key(game.hash(pos)) } else { 0 };
        let known = if tabled { self.table.get(key) } else { None };
        if let Some(entry) = known.filter(|_| !open) {
            let score = entry.value.score.shifted(settled).earlier(distance);
            let (lower, upper) = (entry.lower(depth), entry.upper(depth));
            if (lower && (upper || score >= beta)) || (upper && score <= alpha) {
                return Value { score, ..entry.value };
            }
        }

        let base = self.memory.moves.len();
        game.moves(pos, &mut self.memory.moves);
        let end = self.memory.moves.len();
        self.memory.rate(game, pos, ply, base, known.and_then(|entry| entry.best));
        if depth > TABLE_DEPTH {
            for &mv in &self.memory.moves[base..end] {
                self.table.touch(self.key(game.hash_after(pos, mv)));
            }
        }

        let mut best = Value::guess(-Score::INFINITE);
        let mut best_move = None;
        let mut all_at_most = true;
        let mut floor = alpha;
        let mut at = base;
        while at < end {
            let mv = self.memory.pick(at);
            let undo = game.play(pos, mv);
            let mut value = Value::guess(Score::DRAW);
            if at > base {
                value = self.child(pos, side, &place, mv, floor, floor.above());
            }
            if at == base || (value.score > floor && value.score < beta && open) {
                value = self.child(pos, side, &place, mv, floor, beta);
            }
            game.undo(pos, mv, undo);
            if self.pulse.is_over() {
                break;
            }
            all_at_most &= value.at_most;
            if value.score > best.score {
                best = Value { at_most: false, ..value };
                if value.score > floor {
                    floor = value.score;
                    best_move = Some(mv);
                    if open {
                        self.memory.extend_pv(ply, mv);
                    }
                }
                if value.score >= beta {
                    self.memory.reward(game, side, ply, depth, base, at);
                    break;
                }
            } else if value.score == best.score {
                best.at_least |= value.at_least;
            }
            at += 1;
        }
        self.memory.moves.truncate(base);
        self.memory.keys.truncate(base);
        if self.pulse.is_over() {
            return Value::guess(Score::DRAW);
        }
        best.at_most = at == end && all_at_most;

        if tabled {
            let bound = if best.score >= beta {
                Bound::Lower
            } else if best.score <= alpha {
                Bound::Upper
            } else {
                Bound::Exact
            };
            let value = Value { score: best.score.later(distance).shifted(-settled), ..best };
            let best = best_move.map(|mv| game.index(mv) as u16);
            self.table.store(key, Entry { value, bound, depth: depth.min(255) as u8, best });
        }
        best
    }

    /// The value of a position at the horizon: its evaluation, or better by noisy moves.
    fn quiesce(
        &mut self,
        pos: &mut G::Position,
        ply: usize,
        distance: u32,
        last: Option<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let game = self.game;
        let context = Context { root: self.root, last };
        let mut best = Value::guess(self.evaluator.evaluate(game, pos, &context));
        let base = self.memory.moves.len();
        if best.score < beta && ply < MAX_PLY {
            game.noisy(pos, &mut self.memory.moves);
        }
        let mut at = base;
        while at < self.memory.moves.len() {
            let mv = self.memory.moves[at];
            let side = game.side(pos);
            let undo = game.play(pos, mv);
            let place = Place { depth: 1, ply, distance, last };
            let value = self.child(pos, side, &place, mv, alpha.max(best.score), beta);
            game.undo(pos, mv, undo);
            if value.score > best.score {
                best = Value { at_most: false, ..value };
            }
            if best.score >= beta || self.pulse.is_over() {
                break;
            }
            at += 1;
        }
        self.memory.moves.truncate(base);
        best
    }

    /// The table's key: evaluations that depend on the root's side do not share entries.
    fn key(&self, hash: u64) -> u64 {
        if E::ROOT_DEPENDENT && self.root == Side::Second { hash ^ 0x5bf0_3635_d1a2_7c4b } else { hash }
    }
}
