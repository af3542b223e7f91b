//! Nodes near the horizon: nine of ten nodes, so that what each of them costs is what the search costs.
//!
//! Between [`Game::TABLE_DEPTH`] and the horizon a null window asks one thing, whether any move reaches it. Killers
//! answer most often, and do so before the moves are listed; the others are tried as they are listed. No table,
//! no history: to look and to sort costs more than the nodes that it saves.

use crate::game::{Context, Evaluator, Game, Side};
use crate::score::{Score, Value};
use crate::search::alpha_beta::{Place, Search};
use crate::search::ordering::MAX_PLY;

impl<G: Game, E: Evaluator<G>> Search<'_, G, E> {
    /// Whether a position is worth more than `alpha`; `child` gives the value after a move, as
    /// [`Search::child`] does.
    pub(super) fn near(
        &mut self,
        pos: &mut G::Position,
        place: &Place<G::Move>,
        alpha: Score,
        child: impl Fn(&mut Self, &mut G::Position, Side, &Place<G::Move>, G::Move, Score, Score) -> Value,
    ) -> Value {
        let game = self.game;
        let side = game.side(pos);
        let beta = alpha.above();
        let killers = self.memory.killers(place.ply);
        let mut best = Value::NOTHING;
        for &mv in killers.iter().flatten() {
            if game.is_legal(pos, mv) {
                let value =
                    self.after(pos, mv, |search, next| child(search, next, side, place, mv, alpha, beta));
                best = best.or(value);
                if value.score >= beta || self.pulse.is_over() {
                    self.memory.kill(place.ply, mv);
                    return Value { at_most: false, ..best };
                }
            }
        }
        let base = self.memory.moves.len();
        game.moves(pos, &mut self.memory.moves);
        for at in base..self.memory.moves.len() {
            let mv = self.memory.moves[at];
            if killers.contains(&Some(mv)) {
                continue;
            }
            let value = self.after(pos, mv, |search, next| child(search, next, side, place, mv, alpha, beta));
            best = best.or(value);
            if value.score >= beta || self.pulse.is_over() {
                self.memory.kill(place.ply, mv);
                best.at_most = false;
                break;
            }
        }
        self.memory.moves.truncate(base);
        best
    }

    /// [`Search::child`] where the child is at the horizon.
    #[inline(always)]
    pub(super) fn last_child(
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
            self.leaf(pos, &place, alpha, beta)
        } else {
            -self.leaf(pos, &place, -beta, -alpha)
        }
    }

    #[inline(always)]
    fn leaf(&mut self, pos: &mut G::Position, place: &Place<G::Move>, alpha: Score, beta: Score) -> Value {
        match self.at_once(pos, place, alpha, beta) {
            Some(value) => value,
            None => self.quiesce(pos, place, alpha, beta),
        }
    }

    /// The value of a position at the horizon: its evaluation, or better by noisy moves.
    #[inline]
    pub(super) fn quiesce(
        &mut self,
        pos: &mut G::Position,
        place: &Place<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let game = self.game;
        let &Place { ply, distance, last, .. } = place;
        let context = Context { root: self.root, last };
        let mut best = Value::guess(self.evaluator.evaluate(game, pos, &context));
        let base = self.memory.moves.len();
        if best.score < beta && ply < MAX_PLY {
            game.noisy(pos, &mut self.memory.moves);
        }
        for at in base..self.memory.moves.len() {
            let mv = self.memory.moves[at];
            let side = game.side(pos);
            let place = Place { depth: 1, ply, distance, last };
            let floor = alpha.max(best.score);
            let value = self.after(pos, mv, |search, next| search.child(next, side, &place, mv, floor, beta));
            if value.score > best.score {
                best = Value { at_most: false, ..value };
            }
            if best.score >= beta || self.pulse.is_over() {
                break;
            }
        }
        self.memory.moves.truncate(base);
        best
    }
}
