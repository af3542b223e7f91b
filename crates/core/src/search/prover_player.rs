//! A prover as a player of its own.

use std::sync::atomic::AtomicU64;

use crate::game::{Game, Root};
use crate::options::Options;
use crate::search::proving::{Prover, at_sight, prove};
use crate::search::thread::{Reached, SearchBudget, SearchThread};
use crate::search::{Control, End, Line, SearchParams, SearchResult, Searcher};

/// A prover without a search: if it cannot decide, it answers the move that it would look at first.
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
            ..SearchBudget::whole(control, &shared)
        });
        let order = |mv| self.prover.order(game, &root.pos, mv);
        let line = |&mv| Line { pv: vec![mv], depth: 0, value: None };
        known.learn(&SearchResult { lines: known.undecided(order).iter().map(line).collect() });
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
