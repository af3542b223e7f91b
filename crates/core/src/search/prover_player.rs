//! A prover as a player of its own.

use std::sync::atomic::AtomicU64;

use crate::game::{Game, Root};
use crate::options::Options;
use crate::search::proving::{Prover, at_sight, prove};
use crate::search::thread::{Reached, SearchBudget, SearchThread};
use crate::search::{Control, End, SearchParams, SearchResult, Searcher, Variation};

/// A prover without a search: if it cannot decide, it answers the move that it would look at first, the
/// choice of a search of depth 1 whose evaluation is [`Prover::order`].
/// [`Prover`] has an example.
pub struct ProverPlayer<P> {
    prover: P,
    deterministic: bool,
}

impl<P> ProverPlayer<P> {
    /// A player for one game.
    #[must_use]
    pub fn new(prover: P, options: &Options) -> Self {
        Self { prover, deterministic: options.deterministic }
    }
}

impl<G: Game, P: Prover<G>> Searcher<G> for ProverPlayer<P> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        if self.deterministic {
            self.prover.clear();
        }
        let mut known = at_sight(game, root, params, &self.prover);
        let shared = AtomicU64::new(0);
        let mut thread = SearchThread::first(&SearchBudget {
            until_ns: control.soft_ns(),
            ..SearchBudget::planned(control, &shared)
        });
        let order = |mv| self.prover.order(game, &root.pos, mv);
        let line = |&mv| Variation { pv: vec![mv], depth: 1, value: None };
        known.learn(&SearchResult { lines: known.undecided(order).iter().map(line).collect() });
        thread.depth = 1;
        thread.show();
        publish(&known.lines());
        for mv in known.undecided(order) {
            if known.is_answered() {
                break;
            }
            let Some(value) = prove(game, root, mv, &mut self.prover, &mut thread) else { break };
            known.decide(mv, value);
            publish(&known.lines());
        }
        thread.show();
        let end = match thread.reached() {
            _ if known.is_answered() => End::Proven,
            _ if control.stopped() => End::Stopped,
            Some(Reached::Clock | Reached::Budget) => End::Clock,
            Some(Reached::Nodes) | None => End::Limit,
        };
        (known.lines(), end)
    }

    fn clear(&mut self) {
        self.prover.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nim::{Heap, Nim};
    use crate::score::Value;

    /// Decides nothing, and likes to take two stones.
    struct Clueless;

    impl Prover<Nim> for Clueless {
        fn at_sight(&self, _: &Nim, _: &Heap) -> Option<(Value, Option<u8>)> {
            None
        }
        fn decide(&mut self, _: &Nim, _: &Heap, thread: &mut SearchThread<'_>) -> Option<Value> {
            while !thread.tick() {}
            None
        }
        fn expected_nodes(&self, _: &Nim, _: &Heap) -> u64 {
            1
        }
        fn order(&self, _: &Nim, _: &Heap, taken: u8) -> i32 {
            i32::from(taken != 2)
        }
        fn clear(&mut self) {}
    }

    #[test]
    fn a_prover_that_decides_nothing_answers_its_choice_of_one_ply() {
        let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(21)));
        let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
        let control = Control::default();
        control.set_limits(Some(100), None);
        let mut published = Vec::new();
        let mut player = ProverPlayer::new(Clueless, &Options::default());
        let (found, end) = player.search(&nim, &root, &params, &control, &mut |found| {
            published.push(found.clone());
        });
        assert_eq!((found.lines[0].pv[0], found.lines[0].depth, end), (2, 1, End::Limit));
        assert_eq!((published, control.stats().depth), (vec![found], 1));
    }
}
