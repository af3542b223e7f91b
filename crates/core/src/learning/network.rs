//! What can be trained: an evaluation whose values are sums of table entries. Knows no game.

use crate::game::{Evaluator, Game};

/// The form of an evaluation with tables, which weights fill.
///
/// ```
/// use plyd_core::engine;
/// use plyd_core::game::{Context, Evaluator};
/// use plyd_core::learning::network::{Network, Sum};
/// use plyd_core::learning::selfplay::SelfPlay;
/// use plyd_core::learning::td::{Learning, Weights};
/// use plyd_core::nim::{self, Heap, Nim};
/// use plyd_core::play::Position;
/// use plyd_core::score::Score;
///
/// /// What each remainder of the stones by four is worth, in tenths of a win.
/// #[derive(Clone)]
/// struct Remainders([i16; 4]);
///
/// impl Evaluator<Nim> for Remainders {
///     fn evaluate(&self, _nim: &Nim, heap: &Heap, _ctx: &Context<u8>) -> Score {
///         Score::eval(100 * i32::from(self.0[usize::from(heap.stones % 4)]))
///     }
///     fn range(&self) -> (i32, i32) {
///         (-10_000, 10_000)
///     }
/// }
///
/// struct Untaught;
///
/// impl Network<Nim> for Untaught {
///     type Evaluator = Remainders;
///     const LEN: usize = 4;
///     const MOST: i16 = 100;
///
///     fn evaluator(&self, weights: &[i16]) -> Remainders {
///         Remainders(weights.try_into().expect("there are four"))
///     }
///     fn sum(&self, _nim: &Nim, heap: &Heap, active: &mut Vec<u32>) -> Sum {
///         active.push(u32::from(heap.stones % 4));
///         Sum { base: 0, unit: 100, decisive: 1000 }
///     }
///     fn file(evaluator: &Remainders) -> Vec<u8> {
///         evaluator.0.iter().flat_map(|weight| weight.to_le_bytes()).collect()
///     }
/// }
///
/// // Games of the evaluation against itself, from heaps of all sizes; what `plyd train` does.
/// let learner = engine::learner(&Nim { most: 3 }, Untaught);
/// let mut weights = Weights::new(learner.len(), learner.most());
/// for seed in 0..100 {
///     let stones = format!("{} 1", 1 + seed % 20);
///     let start = Position::open(&nim::ENTRY, &Default::default(), Some(&stones))?;
///     let how = SelfPlay { depth: 1, max_moves: 100, seed };
///     let game = learner.play(start.root().as_ref(), &weights.whole(), &how);
///     weights.learn(&[game], Learning { lambda: 0.9, rate: 0.2 });
/// }
/// // Whoever faces a multiple of four loses.
/// assert!(weights.whole()[0] < 0 && weights.whole()[1..].iter().all(|&weight| weight > 0));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
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
