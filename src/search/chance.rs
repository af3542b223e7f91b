//! Chance nodes: the average over the outcomes, with the pruning that the evaluation's range allows.
//!
//! Star1: Ballard, "The *-minimax search procedure for trees containing chance nodes", 1983. While outcomes are
//! averaged, those not looked at yet count as the best or worst evaluation there is; once even that cannot bring
//! the average into the window, the rest is not searched. Wins and losses count as the ends of that range.

use crate::game::{Evaluator, Game};
use crate::score::{Score, Value};
use crate::search::alpha_beta::{Place, Search};

impl<G: Game, E: Evaluator<G>> Search<'_, G, E> {
    /// The value of a chance node from the view of [`Game::side`].
    ///
    /// It is proven only if every outcome is, with one and the same result: all won, all lost, or all equal.
    pub fn chance(
        &mut self,
        pos: &mut G::Position,
        place: Place<G::Move>,
        alpha: Score,
        beta: Score,
    ) -> Value {
        let game = self.game;
        let side = game.side(pos);
        let base = self.memory.outcomes.len();
        game.outcomes(pos, &mut self.memory.outcomes);
        let end = self.memory.outcomes.len();
        let total: i64 = self.memory.outcomes[base..].iter().map(|(_, weight)| i64::from(*weight)).sum();
        let (low, high) = self.evaluator.range();
        let (low, high) = (i64::from(low), i64::from(high));

        let mut sum = 0;
        let mut rest = total;
        let mut proof = Proof::default();
        let mut cut = None;
        for at in base..end {
            let (mv, weight) = self.memory.outcomes[at];
            let weight = i64::from(weight);
            rest -= weight;
            // A child at or below `floor` leaves the average at or below alpha; at or above `ceiling`, beta.
            let floor = (i64::from(alpha.raw()) * total - sum - high * rest).div_euclid(weight);
            let ceiling = -(-(i64::from(beta.raw()) * total - sum - low * rest)).div_euclid(weight);
            if floor >= high {
                cut = Some(sum + high * (rest + weight));
                break;
            }
            if ceiling <= low {
                cut = Some(sum + low * (rest + weight));
                break;
            }
            let child_alpha = Score::eval(floor.max(low - 1) as i32);
            let child_beta = Score::eval(ceiling.min(high + 1) as i32);
            let undo = game.play(pos, mv);
            let child =
                Place { depth: place.depth, ply: place.ply + 1, distance: place.distance, last: Some(mv) };
            let value = if game.side(pos) == side {
                self.node(pos, child, child_alpha, child_beta)
            } else {
                -self.node(pos, child, -child_beta, -child_alpha)
            };
            game.undo(pos, mv, undo);
            if self.pulse.is_over() {
                break;
            }
            // The line goes on with the first outcome: one must stand for all.
            if at == base && beta > alpha.above() {
                self.memory.extend_pv(place.ply, mv);
            }
            proof.add(value);
            let worth = worth(value.score, low, high);
            sum += worth * weight;
            if worth <= floor && rest > 0 {
                cut = Some(sum + high * rest);
                break;
            }
            if worth >= ceiling && rest > 0 {
                cut = Some(sum + low * rest);
                break;
            }
        }
        self.memory.outcomes.truncate(base);
        match cut {
            Some(bound) => Value::guess(Score::eval(average(bound, total))),
            None => proof.value().unwrap_or(Value::guess(Score::eval(average(sum, total)))),
        }
    }
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
