//! What a static evaluation is, and what it says about itself to the search.

use super::{Game, Side};
use crate::score::Score;

/// What an evaluation may look at besides the position.
pub struct Context<M> {
    /// The side that moves at the root: some published scores are not symmetric.
    pub root: Side,
    /// The move that led to the position, if any: some published scores judge a move.
    pub last: Option<M>,
}

/// Late move reductions (LMR): the moves that are searched less deeply, unless one of them then raises alpha.
///
/// ```
/// use plyd_core::game::{Context, Evaluator, LateMoveReductions};
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::score::Score;
///
/// /// [`Rest`] for a search that looks less deep behind the third move of a node and those that follow.
/// #[derive(Clone)]
/// struct Reduced;
///
/// impl Evaluator<Nim> for Reduced {
///     fn evaluate(&self, nim: &Nim, heap: &Heap, context: &Context<u8>) -> Score {
///         Rest.evaluate(nim, heap, context)
///     }
///     fn range(&self) -> (i32, i32) {
///         Rest.range()
///     }
///     fn lmr(&self) -> Option<LateMoveReductions> {
///         Some(LateMoveReductions { first: 2, from: 6, plies: 2 })
///     }
/// }
/// assert!(Reduced.lmr().is_some() && Reduced.futility().is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LateMoveReductions {
    /// The number of moves of a node that are tried first, and to the full depth.
    pub first: usize,
    /// The smallest depth of a node whose other moves are reduced.
    pub from: i32,
    /// By how many plies the depth is reduced.
    pub plies: i32,
}

/// The margins of futility and reverse futility pruning, in thousandths: how far from the window an
/// evaluation must be for a search near the horizon to trust it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FutilityMargins {
    /// One ply above the horizon, no move is tried if the evaluation is this far below alpha (futility).
    pub behind: i32,
    /// One and two plies above the horizon, no reply is looked for if the evaluation is this far above beta
    /// (reverse futility).
    pub ahead: [i32; 2],
}

/// A static evaluation of positions that are not over. All but [`Evaluator::evaluate`] stays the same during
/// a search.
///
/// ```
/// use plyd_core::game::Evaluator;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::score::Score;
///
/// let nim = Nim { most: 3 };
/// assert_eq!(Rest.evaluate_alone(&nim, &Heap::of(5)), Score::eval(1000));
/// assert_eq!(Rest.evaluate_alone(&nim, &Heap::of(4)), Score::eval(-1000));
/// ```
pub trait Evaluator<G: Game>: Clone + Send + Sync + 'static {
    /// The value of the position from the view of [`Game::side`], as an evaluation.
    fn evaluate(&self, game: &G, pos: &G::Position, ctx: &Context<G::Move>) -> Score;

    /// The value of a position by itself: at the root, with no move that led to it.
    fn evaluate_alone(&self, game: &G, pos: &G::Position) -> Score {
        self.evaluate(game, pos, &Context { root: game.side(pos), last: None })
    }

    /// The smallest and the largest evaluation that [`Evaluator::evaluate`] gives, in thousandths: the bounds
    /// that pruning at chance nodes rests on.
    fn range(&self) -> (i32, i32);

    /// Whether the value depends on [`Context::root`]; then a table must not be shared between the sides.
    fn is_root_dependent(&self) -> bool {
        false
    }

    /// How a search reduces late moves; none, if that wins no games. What the search reports as proven is
    /// proven all the same.
    fn lmr(&self) -> Option<LateMoveReductions> {
        None
    }

    /// The margins of pruning near the horizon; none, if that wins no games. A search never reports a pruned
    /// value as proven.
    fn futility(&self) -> Option<FutilityMargins> {
        None
    }

    /// An advantage, in thousandths, with which most games are won; a tree search turns it into likelihoods.
    fn decisive(&self) -> i32 {
        3000
    }
}
