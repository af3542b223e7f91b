//! The solver and the theory as the second opinion of the default player.

use super::board::Bits;
use super::rules::{Isolation, Position, Target};
use super::solver::{Solver, expected_nodes, most_plies, order_of};
use super::theory;
use crate::score::{Score, Value};
use crate::search::proving::Prover;
use crate::search::thread::Pulse;

impl<B: Bits> Prover<Isolation<B>> for Solver<B> {
    fn at_sight(&self, game: &Isolation<B>, pos: &Position<B>) -> Option<(Value, Option<Target>)> {
        let known = theory::at_sight(game, pos)?;
        Some((value(game, pos, known.won), known.mv))
    }

    fn decide(&mut self, game: &Isolation<B>, pos: &Position<B>, pulse: &mut Pulse<'_>) -> Option<Value> {
        Some(value(game, pos, self.wins(game, pos, pulse)?))
    }

    fn expected_nodes(&self, game: &Isolation<B>, pos: &Position<B>) -> u64 {
        expected_nodes(game, pos)
    }

    fn order(&self, game: &Isolation<B>, pos: &Position<B>, mv: Target) -> i32 {
        order_of(game, pos, mv)
    }

    fn clear(&mut self) {
        Self::clear(self);
    }
}

/// The value of a decided position: its distance is known only as a bound.
fn value<B: Bits>(game: &Isolation<B>, pos: &Position<B>, won: bool) -> Value {
    let plies = most_plies(game, pos, won);
    if won {
        Value { score: Score::win_in(plies), at_least: true, at_most: plies == 1 }
    } else {
        // Where the mover is stuck there is nothing to lose later.
        Value { score: Score::loss_in(plies), at_least: plies == 0, at_most: true }
    }
}
