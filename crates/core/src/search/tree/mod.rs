//! A tree search (PUCT) for any game and evaluation: a tree that grows where it looks promising, instead of
//! iterations.
//!
//! Anytime, on any number of threads, and keeps its tree for the moves that follow. `store` holds the tree,
//! `growth` lets it grow; this file starts and ends a search and makes lines of what it found.

mod growth;
mod lines;
mod store;

use std::sync::atomic::AtomicU64;
use std::thread::Scope;

use self::growth::{Buffers, Growth};
use self::lines::{Lines, Reported};
use self::store::{NodeId, Store};
use crate::game::{Evaluator, Game, Root, Side};
use crate::options::Options;
use crate::search::erased::Erased;
use crate::search::gate::Gate;
use crate::search::helpers::{scope, start};
use crate::search::thread::{EndOnDrop, SearchBudget, SearchThread};
use crate::search::time_manager::TimeManager;
use crate::search::{Control, End, SearchParams, SearchResult, Searcher, UNLIMITED, clock};

/// The visits of a search before further threads join it: starting them costs as much time.
const ALONE: u32 = 32;
/// The lines are looked at again once the visits have grown by one part in this many.
const LOOK_PARTS: u32 = 16;
/// How full a pruned tree may be, in parts per million, so that it is worth pruning again.
const ROOMY_PPM: u32 = 750_000;

/// A tree search for one game.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::options::Options;
/// use plyd_core::search::erased::Erased;
/// use plyd_core::search::tree::Tree;
/// use plyd_core::search::{Control, SearchParams, Searcher};
///
/// let mut player = Tree::new(Erased::new(Rest), &Options { hash_mb: 1, ..Options::default() });
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(6)));
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let control = Control::default();
/// control.set_limits(Some(1000), None);
/// let (found, _) = player.search(&nim, &root, &params, &control, &mut |_| ());
/// assert_eq!(found.lines[0].pv[0], 2);
/// ```
pub struct Tree<G: Game> {
    evaluator: Erased<G>,
    bytes: usize,
    depth: u32,
    deterministic: bool,
    buffers: Vec<Buffers<G>>,
    grown: Option<Grown<G>>,
}

/// A tree of an earlier search, and where in the game it has its root.
struct Grown<G: Game> {
    store: Store<G::Move>,
    start: (u64, i32),
    plies: Vec<G::Move>,
    is_first_side: bool,
}

impl<G: Game> Tree<G> {
    /// A searcher for one game.
    #[must_use]
    pub fn new(evaluator: Erased<G>, options: &Options) -> Self {
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
            grown.start == beginning(game, root)
                && root.plies.starts_with(&grown.plies)
                && (!self.evaluator.is_root_dependent() || grown.is_first_side == side)
        })?;
        let mut id = NodeId::ROOT;
        for &mv in &root.plies[grown.plies.len()..] {
            id = grown.store.child_by(id, mv)?;
        }
        Some((grown.store, id))
    }
}

/// Where a game began: its nodes hold scores with what was settled there, which the hash leaves out.
fn beginning<G: Game>(game: &G, root: &Root<G>) -> (u64, i32) {
    (game.hash(&root.start), game.settled(&root.start))
}

impl<G: Game> Searcher<G> for Tree<G> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        if self.deterministic {
            self.grown = None;
        }
        let known = self.known(game, root);
        // While a tree is pruned, what is kept of it is in memory twice.
        let mut store = Store::new(self.bytes * 2 / 3);
        let first_node = store.add(0, false).expect("there is room for a node");
        debug_assert_eq!(first_node, NodeId::ROOT);
        let shared = AtomicU64::new(0);
        let mut budget = SearchBudget::planned(control, &shared);
        let mut buffers = std::mem::take(&mut self.buffers);
        let mut growth = self.growth(game, root, &store, SearchThread::first(&budget), &mut buffers);
        growth.look_at_root(&root.pos, &params.moves);
        if let Some((old, id)) = known {
            let inherited = store.inherit(&old, id);
            if !inherited.is_empty() {
                // What the moves are worth is known before all that is behind them is copied.
                growth.show();
                publish(&self.lines(&store, params, Reported::default()).found());
            }
            // If time is over before that, the rest is looked at anew.
            let _whole = store.take_over(&old, inherited, &|| control.is_over());
        }
        growth.show();
        budget.take(&growth.thread);
        buffers[0] = growth.buffers;
        // A visit may take longer than there is time.
        publish(&self.lines(&store, params, Reported::default()).found());
        let mut batch = VisitBatch {
            visits: 0,
            next_look: 1,
            reported: Reported::default(),
            time: TimeManager::new(clock::now_ns()),
            may_prune: true,
        };
        let end = loop {
            let end = self.grow(game, root, params, &store, &mut batch, &mut budget, &mut buffers, publish);
            if let Some(end) = end {
                break end;
            }
            // If pruning takes longer than it may, the search goes on to its end in the full tree.
            let pruned = store.pruned(&|| control.is_over());
            batch.may_prune = pruned.as_ref().is_some_and(|pruned| pruned.used_ppm() < ROOMY_PPM);
            store = pruned.unwrap_or(store);
        };
        let found = self.lines(&store, params, batch.reported).found();
        publish(&found);
        self.buffers = buffers;
        let is_first_side = game.side(&root.pos) == Side::First;
        let plies = root.plies.clone();
        self.grown = Some(Grown { store, start: beginning(game, root), plies, is_first_side });
        (found, end)
    }

    fn clear(&mut self) {
        self.grown = None;
    }
}

/// How far a search has come when its tree is pruned.
struct VisitBatch {
    visits: u32,
    next_look: u32,
    reported: Reported,
    time: TimeManager,
    /// Whether a full tree is to be pruned, because that frees memory.
    may_prune: bool,
}

impl<G: Game> Tree<G> {
    /// The first thread.
    fn growth<'a>(
        &'a self,
        game: &'a G,
        root: &Root<G>,
        store: &'a Store<G::Move>,
        thread: SearchThread<'a>,
        buffers: &mut [Buffers<G>],
    ) -> Growth<'a, G> {
        let evaluator = &self.evaluator;
        let root = game.side(&root.pos);
        let buffers = std::mem::take(&mut buffers[0]);
        Growth { game, evaluator, decisive: evaluator.decisive(), store, root, thread, buffers }
    }

    /// What the tree knows about the moves of its root.
    fn lines<'a>(
        &self,
        store: &'a Store<G::Move>,
        params: &SearchParams<G::Move>,
        reported: Reported,
    ) -> Lines<'a, G> {
        Lines::new(store, self.evaluator.decisive(), params.multipv, reported)
    }

    /// Grows the tree until the search ends, and gives the reason, or until there is no room.
    #[expect(clippy::too_many_arguments, reason = "what a search is given, and what it keeps")]
    fn grow(
        &self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        store: &Store<G::Move>,
        batch: &mut VisitBatch,
        budget: &mut SearchBudget<'_>,
        buffers: &mut [Buffers<G>],
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> Option<End> {
        let control = budget.control;
        budget.learn(&batch.time);
        let mut growth = self.growth(game, root, store, SearchThread::first(budget), buffers);
        let mut lines = self.lines(store, params, batch.reported);
        let halt = Gate::default();
        let mut waiting = Some(&mut buffers[1..]);
        let end = scope(|scope| {
            // The scope joins the helpers also when this thread panics, so they must be stopped on every way
            // out.
            let _halt = EndOnDrop(&halt);
            loop {
                if batch.may_prune && store.is_full() {
                    return None;
                }
                if !growth.visit(&root.pos) {
                    break;
                }
                batch.visits = batch.visits.saturating_add(1);
                if batch.visits >= ALONE
                    && let Some(others) = waiting.take()
                {
                    join(scope, &growth, others, &root.pos, &halt);
                }
                let is_look = batch.visits >= batch.next_look;
                if is_look || lines.is_new_best() {
                    publish(&lines.found());
                }
                if is_look {
                    batch.next_look = batch.visits.saturating_add(batch.visits / LOOK_PARTS + 1);
                    growth.show();
                    if lines.are_settled() {
                        return Some(End::Proven);
                    }
                    if growth.thread.depth >= self.depth.min(control.depth_limit()) {
                        return Some(End::Limit);
                    }
                    let now = clock::now_ns();
                    let (is_same, score, is_forced) = lines.progress();
                    batch.time.learn(is_same, score, is_forced, now);
                    budget.learn(&batch.time);
                    growth.thread.late_percent = budget.late_percent;
                    if batch.time.is_over(&control.deadlines(), now) {
                        return Some(End::Clock);
                    }
                }
            }
            let is_proven = || lines.are_settled();
            Some(growth.thread.end().unwrap_or_else(|| if is_proven() { End::Proven } else { End::Limit }))
        });
        growth.show();
        budget.take(&growth.thread);
        batch.reported = lines.reported();
        buffers[0] = growth.buffers;
        end
    }
}

/// Lets further threads grow the tree until `halt` says so.
fn join<'scope, 'env, G: Game>(
    scope: &'scope Scope<'scope, 'env>,
    first: &Growth<'env, G>,
    others: &'env mut [Buffers<G>],
    root: &'env G::Position,
    halt: &'env Gate,
) {
    for buffers in others {
        let Growth { game, evaluator, decisive, store, root: side, ref thread, .. } = *first;
        let thread = thread.helper(halt, UNLIMITED);
        let grow = move || {
            let own = std::mem::take(buffers);
            let mut growth = Growth { game, evaluator, decisive, store, root: side, thread, buffers: own };
            while growth.visit(root) {}
            growth.thread.leave();
            *buffers = growth.buffers;
        };
        if !start(scope, Box::new(grow)) {
            // The system gives no more threads: the search goes on with those it has.
            break;
        }
    }
}

/// The depth that is reported: one more for each fourfold number of visits.
fn depth_of(visits: u32) -> u32 {
    visits.max(1).ilog2() / 2 + 1
}
