//! One side of the duel: an evaluation under the default search, and what it did so far.

use std::time::Duration;

use plyd::game::{Evaluator, Game, Root};
use plyd::games::isolation::eval::{Mobility, Race};
use plyd::games::isolation::rules::{Isolation, Position, Target};
use plyd::games::isolation::territory::Territory;
use plyd::options::Options;
use plyd::search::clock::thread_cpu_time;
use plyd::search::iterate::Iterate;
use plyd::search::{Control, SearchParams, Searcher};

use crate::worth::Worth;

/// The rules that are played.
pub(crate) type Rules = Isolation<u128>;

/// An evaluation under the default search, without the solver.
pub(crate) struct Contender {
    pub(crate) name: String,
    searcher: Box<dyn Searcher<Rules>>,
    /// Games won as the side that the parity of the placements favours, and as the other.
    pub(crate) won: [u32; 2],
    pub(crate) moves: u32,
    pub(crate) nodes: u64,
    pub(crate) depths: u64,
    pub(crate) cpu: Duration,
}

impl Contender {
    /// The evaluation of that name, or the worths that the text lists; none if it is neither.
    pub(crate) fn new(game: &Rules, name: &str) -> Option<Self> {
        let searcher = match name {
            "territory" => search(game, Territory::new(game)),
            "race" => search(game, Race::new(game)),
            "mobility" => search(game, Mobility::new(game)),
            worth => search(game, Worth::parse(worth)?),
        };
        let name = name.to_owned();
        Some(Self { name, searcher, won: [0; 2], moves: 0, nodes: 0, depths: 0, cpu: Duration::ZERO })
    }

    /// Forgets the last game.
    pub(crate) fn begin(&mut self) {
        self.searcher.clear();
    }

    /// Chooses a move within so many nodes.
    pub(crate) fn choose(&mut self, game: &Rules, pos: &Position<u128>, nodes: u64) -> Target {
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        let control = Control::default();
        control.set_limits(Some(nodes), None);
        let began = thread_cpu_time();
        let root = Root::new(*pos);
        let (found, _) =
            self.searcher.search(game, &root, &SearchParams { moves, multipv: 1 }, &control, &mut |_| {});
        self.cpu += thread_cpu_time() - began;
        self.moves += 1;
        self.nodes += control.stats().nodes;
        self.depths += u64::from(control.stats().depth);
        found.lines[0].pv[0]
    }
}

fn search(game: &Rules, evaluator: impl Evaluator<Rules>) -> Box<dyn Searcher<Rules>> {
    Box::new(Iterate::new(game, evaluator, &Options::default()))
}
