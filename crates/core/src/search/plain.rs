//! Plain minimax and plain alpha-beta to a fixed depth: the textbook's players.
//!
//! No deepening and no ordering: the moves are searched in the order in which the game lists them, and of
//! equal moves the first is played.

use std::ops::RangeInclusive;

use crate::game::{Evaluator, Game};
use crate::score::Value;
use crate::search::End;
use crate::search::published::{Agent, Deepening, RootLine};
use crate::search::thread::is_settled;

/// Whether a plain search looks at everything or leaves out what cannot matter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pruning {
    /// Minimax: every move at every node.
    None,
    /// Alpha-beta (Knuth and Moore, "An analysis of alpha-beta pruning", 1975), fail-soft.
    AlphaBeta,
}

/// The textbook's player, to one depth.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::search::plain::{Plain, Pruning};
/// use plyd_core::search::{Control, SearchParams, Searcher};
///
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(6)));
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let nodes = |pruning| {
///     let control = Control::default();
///     let mut player = Plain::new(Rest, pruning, Some(6), 3);
///     let (found, _) = player.search(&nim, &root, &params, &control, &mut |_| ());
///     assert_eq!(found.lines[0].pv[0], 2);
///     control.stats().nodes
/// };
/// assert!(nodes(Pruning::AlphaBeta) < nodes(Pruning::None));
/// ```
pub struct Plain<E> {
    evaluator: E,
    pruning: Pruning,
    depth: Option<u32>,
    usual: u32,
}

impl<E> Plain<E> {
    /// A search to `depth` plies; if absent, to the depth limit of each search, or else to the `usual` depth.
    #[must_use]
    pub fn new(evaluator: E, pruning: Pruning, depth: Option<u32>, usual: u32) -> Deepening<Self> {
        Deepening(Self { evaluator, pruning, depth, usual })
    }
}

impl<G: Game, E: Evaluator<G>> Agent<G> for Plain<E> {
    type Evaluator = E;

    const PUBLISHES_AT_ONCE: bool = true;

    fn evaluator(&self) -> &E {
        &self.evaluator
    }

    fn depths(&self, limit: u32) -> RangeInclusive<u32> {
        let depth = self.depth.unwrap_or(if limit == u32::MAX { self.usual } else { limit }).clamp(1, limit);
        depth..=depth
    }

    fn prunes(&self) -> bool {
        self.pruning == Pruning::AlphaBeta
    }

    fn conclude(&mut self, _depth: u32, values: &[Value], lines: &mut Vec<RootLine<G::Move>>) -> Option<End> {
        let is_bounded = |value: &Value| value.at_most || (value.score.is_win() && is_settled::<G>(*value));
        let proven = values.iter().all(is_bounded) && lines.iter().all(|line| is_settled::<G>(line.value));
        for line in lines {
            line.value.at_most &= proven;
        }
        Some(if proven { End::Proven } else { End::Limit })
    }
}
