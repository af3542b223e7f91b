//! A prover as a player of its own.

use std::sync::atomic::AtomicU64;

use crate::game::{Game, Root};
use crate::options::Options;
use crate::search::proving::{Prover, at_sight, prove};
use crate::search::thread::{Pulse, Reached, Stint};
use crate::search::{Asked, Control, End, Found, Line, Searcher};

/// A prover without a search: it decides, or has nothing to say but the move that it would look at first.
pub struct Alone<P> {
    prover: P,
    deterministic: bool,
}

impl<P> Alone<P> {
    /// A player for one game.
    #[must_use]
    pub fn new(prover: P, options: &Options) -> Self {
        Self { prover, deterministic: options.deterministic }
    }
}

impl<G: Game, P: Prover<G>> Searcher<G> for Alone<P> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        asked: &Asked<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&Found<G::Move>),
    ) -> (Found<G::Move>, End) {
        if self.deterministic {
            self.prover.clear();
        }
        let mut known = at_sight(game, root, asked, &self.prover);
        let shared = AtomicU64::new(0);
        let mut pulse =
            Pulse::first(&Stint { until_ns: control.soft_ns(), ..Stint::whole(control, &shared) });
        let order = |mv| self.prover.order(game, &root.pos, mv);
        let line = |&mv| Line { pv: vec![mv], depth: 0, value: None };
        known.learn(&Found { lines: known.undecided(order).iter().map(line).collect() });
        publish(&known.lines());
        for mv in known.undecided(order) {
            if known.is_answered() {
                break;
            }
            let Some(value) = prove(game, root, mv, &mut self.prover, &mut pulse) else { break };
            known.decide(mv, value);
            publish(&known.lines());
        }
        pulse.show();
        let end = match pulse.reached() {
            _ if known.is_answered() => End::Proven,
            _ if control.stopped() => End::Stopped,
            Some(Reached::Clock | Reached::Stint) => End::Clock,
            Some(Reached::Nodes) | None => End::Limit,
        };
        (known.lines(), end)
    }

    fn clear(&mut self) {
        self.prover.clear();
    }
}
