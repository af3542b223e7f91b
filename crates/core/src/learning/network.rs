//! What can learn: an evaluation whose values are sums of table entries. Knows no game.

use crate::game::{Evaluator, Game};

/// An evaluation with tables, before it has any.
pub trait Network<G: Game>: Send + Sync + 'static {
    /// The evaluation.
    type Evaluator: Evaluator<G>;
    /// How many weights there are.
    const LEN: usize;
    /// The largest magnitude of a weight.
    const MOST: i16;

    /// The evaluation with these weights.
    fn evaluator(&self, weights: &[i16]) -> Self::Evaluator;

    /// What the evaluation of a position is made of, before it is clamped; appends the weights that are added
    /// up, each as often as it counts.
    fn sum(&self, game: &G, pos: &G::Position, active: &mut Vec<u32>) -> Sum;

    /// The evaluation's tables as the file that the build reads.
    fn file(evaluator: &Self::Evaluator) -> Vec<u8>;
}

/// A position's evaluation without its weights, from the view of [`Game::side`]: it is the base plus the unit
/// times the sum of the weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sum {
    /// What does not depend on weights, in thousandths of the game's unit.
    pub base: i32,
    /// What a weight of 1 counts.
    pub unit: i32,
    /// The advantage that makes a win *e* times as likely as a loss; above 0.
    pub decisive: i32,
}
