//! A tree search (PUCT) for any game and evaluation: a tree that grows where it looks promising, instead of iterations.
//!
//! Anytime, on any number of threads, and keeps its tree for the moves that follow. `store` holds the tree, `growth`
//! lets it grow; this file starts and ends a search and makes lines of what it found.

mod growth;
mod lines;
mod store;

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::Scope;

use self::growth::{Buffers, Growth};
use self::lines::Lines;
use self::store::{NodeId, Store};
use crate::game::{Evaluator, Game, Root, Side};
use crate::options::Options;
use crate::search::pace::Pace;
use crate::search::thread::{Pulse, RaiseOnDrop, Reached, Stint};
use crate::search::{Asked, Control, End, Found, Searcher, UNLIMITED, clock};

/// The visits of a search before further threads join it: to start them costs as much time.
const ALONE: u32 = 32;
/// Visits between two looks at the lines: each look is after so many parts more than the last.
const LOOK_PARTS: u32 = 16;

/// A tree search for one game.
pub struct Tree<G: Game, E> {
    evaluator: E,
    bytes: usize,
    depth: u32,
    deterministic: bool,
    buffers: Vec<Buffers<G>>,
    grown: Option<Grown<G>>,
}

/// A tree of an earlier search, and where in the game it has its root.
struct Grown<G: Game> {
    store: Store<G::Move>,
    start: u64,
    plies: Vec<G::Move>,
    is_first_side: bool,
}

impl<G: Game, E: Evaluator<G>> Tree<G, E> {
    /// A searcher for one game.
    #[must_use]
    pub fn new(evaluator: E, options: &Options) -> Self {
        let threads = if options.deterministic { 1 } else { options.threads.max(1) };
        Self {
            evaluator,
            bytes: options.hash_mb << 20,
            depth: options.depth.unwrap_or(u32::MAX),
            deterministic: options.deterministic,
            buffers: (0..threads).map(|_| Buffers::default()).collect(),
            grown: None,
        }
    }

    /// The tree of an earlier search in which the position was visited, and the node that it has there.
    fn known(&mut self, game: &G, root: &Root<G>) -> Option<(Store<G::Move>, NodeId)> {
        let side = game.side(&root.pos) == Side::First;
        let grown = self.grown.take().filter(|grown| {
            grown.start == game.hash(&root.start)
                && root.plies.starts_with(&grown.plies)
                && (!E::ROOT_DEPENDENT || grown.is_first_side == side)
        })?;
        let mut id = NodeId::ROOT;
        for &mv in &root.plies[grown.plies.len()..] {
            id = grown.store.child_by(id, mv)?;
        }
        Some((grown.store, id))
    }
}

impl<G: Game, E: Evaluator<G>> Searcher<G> for Tree<G, E> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        asked: &Asked<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&Found<G::Move>),
    ) -> (Found<G::Move>, End) {
        if self.deterministic {
            self.grown = None;
        }
        let known = self.known(game, root);
        let store = Store::new(self.bytes);
        let first_node = store.add(0, false).expect("there is room for a node");
        debug_assert_eq!(first_node, NodeId::ROOT);
        let shared = AtomicU64::new(0);
        let side = game.side(&root.pos);
        let mut buffers = std::mem::take(&mut self.buffers);
        let (first, others) = buffers.split_first_mut().expect("there is a first thread");
        let evaluator = &self.evaluator;
        let pulse = Pulse::first(&Stint::whole(control, &shared));
        let mut growth =
            Growth { game, evaluator, store: &store, root: side, pulse, buffers: std::mem::take(first) };
        growth.look_at_root(&root.pos, &asked.moves);
        if let Some((old, id)) = known {
            store.inherit(&old, id);
        }
        let mut lines = Lines::<G, E>::new(&store, asked.multipv);
        let halt = AtomicBool::new(false);
        let limit = self.depth;
        let end = std::thread::scope(|scope| {
            // The scope joins the companions also when this thread panics, so they must be told on every way out.
            let _halt = RaiseOnDrop(&halt);
            let mut waiting = Some(others);
            let mut pace = Pace::new(clock::now_ns());
            let mut next_look = 1;
            for visits in 1.. {
                if !growth.visit(&root.pos) {
                    break;
                }
                if visits == ALONE {
                    waiting
                        .take()
                        .into_iter()
                        .for_each(|others| join(scope, &growth, others, &root.pos, &halt));
                }
                let is_look = visits >= next_look;
                if is_look || lines.is_new_best() {
                    publish(&lines.found());
                }
                if is_look {
                    next_look = visits + visits / LOOK_PARTS + 1;
                    growth.show();
                    if lines.are_settled() {
                        return End::Proven;
                    }
                    if growth.pulse.depth >= limit.min(control.depth_limit()) {
                        return End::Limit;
                    }
                    let now = clock::now_ns();
                    let (is_same, score, is_forced) = lines.progress();
                    pace.learn(is_same, score, is_forced, now);
                    if pace.is_over(&control.deadlines(), now) {
                        return End::Clock;
                    }
                }
            }
            match growth.pulse.reached() {
                _ if control.stopped() => End::Stopped,
                Some(Reached::Clock) => End::Clock,
                None if lines.are_settled() => End::Proven,
                Some(Reached::Nodes | Reached::Stint) | None => End::Limit,
            }
        });
        growth.show();
        *first = std::mem::take(&mut growth.buffers);
        let found = lines.found();
        publish(&found);
        drop(growth);
        self.buffers = buffers;
        let is_first_side = side == Side::First;
        let plies = root.plies.clone();
        self.grown = Some(Grown { store, start: game.hash(&root.start), plies, is_first_side });
        (found, end)
    }

    fn clear(&mut self) {
        self.grown = None;
    }
}

/// Lets further threads grow the tree until `halt` says so.
fn join<'scope, 'env, G: Game, E: Evaluator<G>>(
    scope: &'scope Scope<'scope, 'env>,
    first: &Growth<'env, G, E>,
    others: &'env mut [Buffers<G>],
    root: &'env G::Position,
    halt: &'env AtomicBool,
) {
    for buffers in others {
        let Growth { game, evaluator, store, root: side, ref pulse, .. } = *first;
        let pulse = pulse.companion(halt, UNLIMITED);
        let grow = move || {
            let own = std::mem::take(buffers);
            let mut growth = Growth { game, evaluator, store, root: side, pulse, buffers: own };
            while growth.visit(root) {}
            growth.pulse.leave();
            *buffers = growth.buffers;
        };
        if std::thread::Builder::new().spawn_scoped(scope, grow).is_err() {
            // The system gives no more threads: the search goes on with those it has.
            break;
        }
    }
}

/// The depth that is told: one more for each four times as many visits.
fn depth_of(visits: u32) -> u32 {
    visits.max(1).ilog2() / 2 + 1
}
