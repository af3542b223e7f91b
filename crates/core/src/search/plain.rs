//! Plain minimax and plain alpha-beta to a fixed depth: the textbook's players.
//!
//! No ordering: the moves are searched in the order in which the game lists them, and of equal moves the
//! first is played. No deepening either, unless there is a deadline, at which only a smaller
//! depth may be complete.

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
        let depth =
            self.depth.unwrap_or(if limit == u32::MAX { self.usual } else { limit }).clamp(1, limit.max(1));
        depth..=depth
    }

    fn timed_depths(&self, limit: u32) -> RangeInclusive<u32> {
        1..=*self.depths(limit).end()
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
        proven.then_some(End::Proven)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::Root;
    use crate::nim::{Heap, Nim, Rest};
    use crate::search::{Control, SearchParams, SearchResult, Searcher, UNLIMITED};

    /// The depths of all that a player publishes to a depth that it does not reach within these nodes.
    fn depths(nodes: u64, prepare: impl Fn(&Control)) -> (Vec<u32>, u32) {
        let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(200)));
        let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
        let control = Control::default();
        control.set_limits(Some(nodes), None);
        prepare(&control);
        let mut found = Vec::new();
        let mut publish = |better: &SearchResult<u8>| found.push(better.lines[0].depth);
        let mut player = Plain::new(Rest, Pruning::None, Some(40), 3);
        let (last, _) = player.search(&nim, &root, &params, &control, &mut publish);
        assert_eq!(last.lines[0].depth, found.last().copied().unwrap_or(0));
        (found, control.stats().depth)
    }

    #[test]
    fn it_deepens_with_a_deadline_of_any_kind_and_else_searches_one_depth() {
        assert_eq!(depths(20_000, |_| ()), (vec![], 0));
        let later = crate::search::clock::now_ns() + 1_000_000_000_000;
        for prepare in [
            &(|control: &Control| control.set_deadlines(later, later)) as &dyn Fn(&Control),
            &|control| control.set_deadlines(UNLIMITED, later),
            &|control| control.set_watched(true),
        ] {
            let (found, whole) = depths(20_000, prepare);
            // A part of the last depth is no better than the whole one before.
            assert_eq!((found[0], found.last(), found.is_sorted()), (1, Some(&whole), true), "{found:?}");
            assert!(whole > 5, "{found:?}");
        }
    }

    #[test]
    fn a_search_that_gets_a_deadline_later_deepens_from_then_on() {
        let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(200)));
        let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
        let control = Control::default();
        let mut player = Plain::new(Rest, Pruning::None, Some(40), 3);
        let found = std::thread::scope(|scope| {
            let search = scope.spawn(|| player.search(&nim, &root, &params, &control, &mut |_| ()).0);
            while control.stats().nodes == 0 {
                std::thread::yield_now();
            }
            let later = crate::search::clock::now_ns() + 1_000_000_000_000;
            control.set_deadlines(later, later);
            while control.stats().depth == 0 {
                std::thread::yield_now();
            }
            control.stop();
            search.join().expect("nothing panics")
        });
        assert!(found.lines[0].depth >= 1, "{found:?}");
    }
}
