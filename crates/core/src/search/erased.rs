//! An evaluation behind a virtual call.
//!
//! The strongest search is compiled once for each game with its default evaluation. For other players and
//! other evaluations a virtual call per evaluation costs little, so they are compiled once per game: that is
//! most of the code of all searches.

use std::any::Any;
use std::sync::Arc;

use crate::game::{Context, Evaluator, FutilityMargins, Game, LateMoveReductions};
use crate::score::Score;

/// Any evaluation of a game.
///
/// ```
/// use plyd_core::game::{Context, Evaluator, Side};
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::search::erased::Erased;
///
/// let (nim, heap) = (Nim { most: 3 }, Heap::of(4));
/// let context = Context { root: Side::First, last: None };
/// let erased: Erased<Nim> = Erased::new(Rest);
/// assert_eq!(erased.evaluate(&nim, &heap, &context), Rest.evaluate(&nim, &heap, &context));
/// ```
pub struct Erased<G: Game>(Arc<dyn Evaluate<G>>);

/// The methods of an [`Evaluator`] that searches call, as a trait object; [`Evaluator`] itself cannot be one,
/// because it is `Clone`.
trait Evaluate<G: Game>: Send + Sync {
    fn evaluate(&self, game: &G, pos: &G::Position, ctx: &Context<G::Move>) -> Score;
    fn range(&self) -> (i32, i32);
    fn is_root_dependent(&self) -> bool;
    fn lmr(&self) -> Option<LateMoveReductions>;
    fn futility(&self) -> Option<FutilityMargins>;
    fn decisive(&self) -> i32;
}

impl<G: Game, E: Evaluator<G>> Evaluate<G> for E {
    fn evaluate(&self, game: &G, pos: &G::Position, ctx: &Context<G::Move>) -> Score {
        Evaluator::evaluate(self, game, pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        Evaluator::range(self)
    }

    fn is_root_dependent(&self) -> bool {
        Evaluator::is_root_dependent(self)
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        Evaluator::lmr(self)
    }

    fn futility(&self) -> Option<FutilityMargins> {
        Evaluator::futility(self)
    }

    fn decisive(&self) -> i32 {
        Evaluator::decisive(self)
    }
}

impl<G: Game> Erased<G> {
    /// Hides which evaluation it is. One that is hidden already stays as it is: there is never more than one
    /// virtual call.
    #[must_use]
    pub fn new(evaluator: impl Evaluator<G>) -> Self {
        let is_erased = (&evaluator as &dyn Any).downcast_ref::<Self>().cloned();
        is_erased.unwrap_or_else(|| Self(Arc::new(evaluator)))
    }
}

impl<G: Game> Clone for Erased<G> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<G: Game> Evaluator<G> for Erased<G> {
    fn evaluate(&self, game: &G, pos: &G::Position, ctx: &Context<G::Move>) -> Score {
        self.0.evaluate(game, pos, ctx)
    }

    fn range(&self) -> (i32, i32) {
        self.0.range()
    }

    fn is_root_dependent(&self) -> bool {
        self.0.is_root_dependent()
    }

    fn lmr(&self) -> Option<LateMoveReductions> {
        self.0.lmr()
    }

    fn futility(&self) -> Option<FutilityMargins> {
        self.0.futility()
    }

    fn decisive(&self) -> i32 {
        self.0.decisive()
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, Erased, Evaluator, FutilityMargins, LateMoveReductions, Score};
    use crate::game::Side;
    use crate::nim::{Heap, Nim};

    /// Says something of its own wherever an evaluator may.
    #[derive(Clone)]
    struct Peculiar;

    const LMR: LateMoveReductions = LateMoveReductions { first: 5, from: 4, plies: 3 };
    const FUTILITY: FutilityMargins = FutilityMargins { behind: 11, ahead: [12, 13] };

    impl Evaluator<Nim> for Peculiar {
        fn evaluate(&self, _game: &Nim, _pos: &Heap, ctx: &Context<u8>) -> Score {
            Score::eval(if ctx.root == Side::First { 21 } else { i32::from(ctx.last.unwrap_or(0)) })
        }

        fn range(&self) -> (i32, i32) {
            (-1, 99)
        }

        fn is_root_dependent(&self) -> bool {
            true
        }

        fn lmr(&self) -> Option<LateMoveReductions> {
            Some(LMR)
        }

        fn futility(&self) -> Option<FutilityMargins> {
            Some(FUTILITY)
        }

        fn decisive(&self) -> i32 {
            31
        }
    }

    #[test]
    fn it_says_all_that_the_evaluation_says() {
        let (game, pos) = (Nim { most: 3 }, Heap::of(9));
        let erased = Erased::new(Peculiar).clone();
        for (root, last, value) in [(Side::First, None, 21), (Side::Second, Some(2), 2)] {
            assert_eq!(erased.evaluate(&game, &pos, &Context { root, last }), Score::eval(value));
        }
        assert_eq!(erased.range(), (-1, 99));
        assert!(erased.is_root_dependent());
        assert_eq!((erased.lmr(), erased.futility(), erased.decisive()), (Some(LMR), Some(FUTILITY), 31));
    }
}
