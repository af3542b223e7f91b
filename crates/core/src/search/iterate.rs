//! The default searcher: iterative deepening over alpha-beta at the root.
//!
//! Keeps the root moves with what each iteration learned of them, gives the best `multipv` of them as lines,
//! and publishes each better one at once. With more than one thread, helpers search the same iteration
//! with the shared table (lazy SMP), the root's moves in another order; the answer is the first thread's
//! alone.

use std::sync::atomic::AtomicU64;

use crate::game::{Evaluator, Game, Root};
use crate::options::Options;
use crate::score::{Score, Value};
use crate::search::alpha_beta::{AlphaBeta, NodeContext};
use crate::search::gate::Gate;
use crate::search::helpers::{IterationSizes, scope, share, start};
use crate::search::ordering::{History, MAX_PLY};
use crate::search::roots::{RootMove, Roots, found, is_answered, is_beyond, is_forced};
use crate::search::sort::sort_by_key;
use crate::search::table::Table;
use crate::search::thread::{EndOnDrop, Reached, SearchBudget, SearchThread, is_settled};
use crate::search::time_manager::Deadlines;
use crate::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, Stats, UNLIMITED, clock};

/// The deepest iteration: leaves room for chance plies below [`MAX_PLY`].
pub(super) const MAX_DEPTH: u32 = MAX_PLY as u32 - 56;
/// The first half-width of an aspiration window, in thousandths of the game's unit.
const WINDOW: i32 = 1000;
/// The first depth with an aspiration window.
const SHALLOW: u32 = 4;
/// From this depth on, an iteration is two plies deeper than the one before. Evaluations swing with the side
/// to move, so that the depth between says little and costs a third of the time.
const STRIDE_FROM: u32 = 8;
/// Enlarging the table takes about one part in so many of a search's time.
const GROWTH: u64 = 8;

/// Iterative deepening with principal variation search and a transposition table.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::options::Options;
/// use plyd_core::search::iterate::Iterate;
/// use plyd_core::search::{Control, SearchParams, Searcher};
///
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(21)));
/// let mut searcher = Iterate::new(&nim, Rest, &Options { hash_mb: 1, ..Options::default() });
/// let control = Control::default();
/// control.set_limits(None, Some(4));
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 3 };
/// let mut depths = Vec::new();
/// let (found, _end) = searcher.search(&nim, &root, &params, &control, &mut |better| {
///     depths.push(better.lines[0].depth);
/// });
/// assert_eq!((found.lines.len(), depths.last()), (3, Some(&4)));
/// ```
pub struct Iterate<G: Game, E> {
    evaluator: E,
    table: Table,
    /// How long this search has enlarged the table.
    growing_ns: u64,
    histories: Vec<History<G>>,
    depth: u32,
    exact: bool,
    deterministic: bool,
}

impl<G: Game, E: Evaluator<G>> Iterate<G, E> {
    /// A searcher for one game.
    #[must_use]
    pub fn new(game: &G, evaluator: E, options: &Options) -> Self {
        let threads = if options.deterministic { 1 } else { options.threads.max(1) };
        Self {
            evaluator,
            table: Table::new(options.hash_mb),
            growing_ns: 0,
            histories: (0..threads).map(|_| History::new(game)).collect(),
            depth: options.depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
            exact: options.exact(),
            deterministic: options.deterministic,
        }
    }
}

impl<G: Game, E: Evaluator<G>> Searcher<G> for Iterate<G, E> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        self.begin();
        let shared = AtomicU64::new(0);
        let mut roots = Roots::new(game, root, params);
        let mut budget = SearchBudget::planned(control, &shared);
        let end = self.search_within(game, root, &mut roots, &mut budget, publish);
        (roots.found(), end.expect("a whole search ends for a reason"))
    }

    fn clear(&mut self) {
        self.table.clear();
        self.histories.iter_mut().for_each(History::clear);
    }
}

impl<G: Game, E: Evaluator<G>> Iterate<G, E> {
    /// Prepares for a new search.
    pub(super) fn begin(&mut self) {
        if self.deterministic {
            self.clear();
        }
        self.table.next_generation();
        self.growing_ns = 0;
        self.histories.iter_mut().for_each(History::begin);
    }

    /// Enlarges the table if it is full, in a small part of the search's time. What is left is done by the
    /// next search: at milliseconds a move it would else take all the time of every move, and never end.
    ///
    /// A deterministic search begins with a new table, and no clock decides how far it grows.
    fn grow(&mut self, control: &Control) {
        let Deadlines { armed_ns, soft_ns, hard_ns, .. } = control.deadlines();
        let allowed_ns = if self.deterministic {
            u64::MAX
        } else {
            soft_ns.min(hard_ns).saturating_sub(armed_ns) / GROWTH
        };
        let (begun_ns, before_ns) = (clock::now_ns(), self.growing_ns);
        let taken_ns = || before_ns + clock::now_ns().saturating_sub(begun_ns);
        self.table.grow(&|| control.is_over() || taken_ns() > allowed_ns);
        self.growing_ns = taken_ns();
    }

    /// Searches within a budget, going on from what is known of the root moves; gives no reason if the budget
    /// ended before the search did.
    pub(super) fn search_within(
        &mut self,
        game: &G,
        root: &Root<G>,
        roots: &mut Roots<G::Move>,
        budget: &mut SearchBudget<'_>,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> Option<End> {
        let control = budget.control;
        let multipv = roots.multipv;
        loop {
            let whole = roots.depth;
            let limit = self.depth.min(control.depth_limit());
            if whole >= limit {
                return Some(End::Limit);
            }
            if whole > 0 && roots.time.is_over(&control.deadlines(), clock::now_ns()) {
                return Some(End::Clock);
            }
            let depth = next_depth(whole, limit);
            budget.learn(&roots.time);
            roots.time.begin(clock::now_ns());
            let reached = self.deepen(game, root, roots, depth, budget, publish);
            if control.stopped() {
                return Some(End::Stopped);
            }
            match reached {
                Some(Reached::Nodes) => return Some(End::Limit),
                Some(Reached::Clock) => return Some(End::Clock),
                Some(Reached::Budget) => return None,
                None => {}
            }
            if is_answered::<G>(&roots.moves, multipv, self.exact) {
                return Some(End::Proven);
            }
            let (first, is_forced) = (&roots.moves[0], is_forced::<G>(&roots.moves));
            let is_same = roots.best == Some(first.mv);
            roots.time.learn(is_same, first.value.score, is_forced, clock::now_ns());
            roots.best = Some(first.mv);
        }
    }
}

impl<G: Game, E: Evaluator<G>> Iterate<G, E> {
    /// Searches the root moves to one depth; gives the limit that ended it early, if one did.
    pub(super) fn deepen(
        &mut self,
        game: &G,
        root: &Root<G>,
        roots: &mut Roots<G::Move>,
        depth: u32,
        budget: &mut SearchBudget<'_>,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> Option<Reached> {
        let control = budget.control;
        self.grow(control);
        let mut thread = SearchThread::first(budget);
        thread.depth = roots.depth;
        thread.hash_ppm = self.table.used_ppm();
        let threads = roots.sizes.threads(budget.threads, roots.moves.len());
        let before = thread.nodes;
        let mut iteration =
            Iteration { game, root, multipv: roots.multipv, depth, exact: self.exact, publish };
        let mut thread = self.iterate(&mut iteration, &mut roots.moves, thread, threads);
        if !thread.is_over() {
            roots.depth = depth;
            roots.sizes.learn(thread.nodes - before);
        }
        thread.depth = roots.depth;
        thread.show();
        budget.take(&thread);
        thread.reached()
    }
}

/// The depth of the iteration after one of depth `whole`, which is below `limit`.
pub(super) const fn next_depth(whole: u32, limit: u32) -> u32 {
    if whole < STRIDE_FROM || (limit - whole) % 2 == 1 { whole + 1 } else { whole + 2 }
}

/// One of several games with a common root that are searched side by side.
pub(super) struct Part<'a, G: Game> {
    /// The game, which may differ from the others in what happens after the root.
    pub game: &'a G,
    /// Its root moves.
    pub roots: &'a mut Roots<G::Move>,
}

/// A thread that searches some of these games.
struct Worker<'a, G: Game> {
    history: &'a mut History<G>,
    is_first: bool,
    /// How its last search ended.
    shown: Stats,
    is_over: bool,
    reached: Option<Reached>,
}

impl<G: Game, E: Evaluator<G>> Iterate<G, E> {
    /// Searches several games to one depth, each on one thread, and as many at once as there are threads if
    /// the iterations are going to be large enough; gives the limit that ended it early, if one did.
    ///
    /// With one thread it searches one after the other, each time as [`Iterate::deepen`] does.
    pub(super) fn deepen_all(
        &mut self,
        root: &Root<G>,
        parts: &mut [Part<'_, G>],
        depth: u32,
        sizes: &mut IterationSizes,
        budget: &mut SearchBudget<'_>,
    ) -> Option<Reached> {
        let before = budget.visited();
        let moves = parts.iter().map(|part| part.roots.moves.len()).max().unwrap_or(0);
        let threads = sizes.threads(self.histories.len(), moves);
        let reached = if threads == 1 {
            let deepen =
                |part: &mut Part<'_, G>| self.deepen(part.game, root, part.roots, depth, budget, &mut |_| ());
            parts.iter_mut().find_map(deepen)
        } else {
            self.deepen_beside(root, parts, depth, budget)
        };
        sizes.learn(budget.visited() - before);
        reached
    }

    /// The same on all threads.
    fn deepen_beside(
        &mut self,
        root: &Root<G>,
        parts: &mut [Part<'_, G>],
        depth: u32,
        budget: &mut SearchBudget<'_>,
    ) -> Option<Reached> {
        let control = budget.control;
        self.grow(control);
        let Self { evaluator, table, histories, exact, .. } = self;
        let (evaluator, table, exact) = (&*evaluator, &*table, *exact);
        let shown = Stats { depth: budget.shown.depth, hash_ppm: table.used_ppm(), ..budget.shown };
        let worker =
            |(at, history)| Worker { history, is_first: at == 0, shown, is_over: false, reached: None };
        let mut workers: Vec<_> = histories.iter_mut().enumerate().map(worker).collect();
        let beside = &*budget;
        share(parts, &mut workers, |worker, part| {
            if worker.is_over {
                return;
            }
            let budget = SearchBudget { shown: worker.shown, ..*beside };
            let thread = if worker.is_first {
                SearchThread::first_partner(&budget)
            } else {
                SearchThread::partner(&budget)
            };
            let (game, root_side) = (part.game, part.game.side(&root.pos));
            let history = &mut *worker.history;
            let mut search = AlphaBeta { game, evaluator, table, history, thread, root: root_side };
            let multipv = part.roots.multipv;
            let mut iteration = Iteration { game, root, multipv, depth, exact, publish: &mut |_| () };
            search.iteration(&mut iteration, &mut part.roots.moves);
            let mut thread = search.thread;
            thread.leave();
            worker.shown.seldepth = thread.seldepth;
            (worker.is_over, worker.reached) = (thread.is_over(), thread.reached());
            if !worker.is_over {
                part.roots.depth = depth;
            }
        });
        let is_over = workers.iter().any(|worker| worker.is_over);
        let seldepth = workers.iter().map(|worker| worker.shown.seldepth).max();
        let reached = workers.iter().find_map(|worker| worker.reached);
        budget.shown = Stats {
            depth: if is_over { shown.depth } else { depth },
            seldepth: seldepth.unwrap_or(shown.seldepth),
            ..shown
        };
        SearchThread::first(budget).show();
        reached
    }
}

/// One iteration: what all its threads search.
struct Iteration<'a, 'p, G: Game> {
    game: &'a G,
    root: &'a Root<G>,
    multipv: usize,
    depth: u32,
    /// Whether the quickest win is asked for, and not any win.
    exact: bool,
    publish: &'p mut dyn FnMut(&SearchResult<G::Move>),
}

impl<G: Game, E: Evaluator<G>> Iterate<G, E> {
    /// Searches one iteration on all threads, the first with `thread`, which is returned.
    fn iterate<'a>(
        &'a mut self,
        iteration: &mut Iteration<'a, '_, G>,
        roots: &mut [RootMove<G::Move>],
        thread: SearchThread<'a>,
        threads: usize,
    ) -> SearchThread<'a> {
        let Self { evaluator, table, histories, .. } = self;
        let (history, helpers) = histories.split_first_mut().expect("there is a first thread");
        let beside = helpers.len().min(threads.saturating_sub(1));
        let helpers = &mut helpers[..beside];
        let Iteration { game, root, multipv, depth, exact, .. } = *iteration;
        let side = game.side(&root.pos);
        let halt = Gate::default();
        let (table, evaluator) = (&*table, &*evaluator);
        scope(|scope| {
            let others = roots.len().max(2) - 1;
            for (i, history) in helpers.iter_mut().enumerate() {
                let mut roots = roots.to_vec();
                let thread = thread.helper(&halt, UNLIMITED);
                let search = move || {
                    let mut search = AlphaBeta { game, evaluator, table, history, thread, root: side };
                    // In another order, so that each thread finds what the others need next.
                    roots[1..].rotate_left((i + 1) % others);
                    let mut quiet = |_: &SearchResult<G::Move>| {};
                    let mut iteration = Iteration { game, root, multipv, depth, exact, publish: &mut quiet };
                    search.iteration(&mut iteration, &mut roots);
                    search.thread.leave();
                };
                if !start(scope, Box::new(search)) {
                    // The system gives no more threads: the search goes on with those it has.
                    break;
                }
            }
            let mut search = AlphaBeta { game, evaluator, table, history, thread, root: side };
            // The scope joins the helpers also when this thread panics, so they must be stopped on every way
            // out.
            let _halt = EndOnDrop(&halt);
            search.iteration(iteration, roots);
            search.thread
        })
    }
}

impl<G: Game, E: Evaluator<G>> AlphaBeta<'_, G, E> {
    /// Searches all root moves to one depth, best lines first, each line with its own window.
    fn iteration(&mut self, iteration: &mut Iteration<'_, '_, G>, roots: &mut [RootMove<G::Move>]) {
        let multipv = iteration.multipv.min(roots.len());
        for rank in 0..multipv {
            let guess = roots[rank].value.score;
            let mut width = WINDOW;
            let narrow = iteration.depth >= SHALLOW && guess.distance().is_none();
            let (mut alpha, mut beta) = (-Score::INFINITE, Score::INFINITE);
            if narrow {
                (alpha, beta) = (guess.shifted(-width), guess.shifted(width));
            }
            loop {
                let score = self.root_moves(iteration, roots, rank, alpha, beta);
                if self.thread.is_over() {
                    return;
                }
                if score > alpha && score < beta {
                    break;
                }
                width = width.saturating_mul(4);
                let open = width > 1_000_000 || score.distance().is_some();
                if score <= alpha {
                    alpha = if open { -Score::INFINITE } else { score.shifted(-width) };
                } else {
                    beta = if open { Score::INFINITE } else { score.shifted(width) };
                }
            }
        }
        sort_by_key(&mut roots[..multipv], |known| -i64::from(known.value.score.raw()));
        // Completed before its lines are published, so that the counters that go with them agree.
        self.thread.complete(iteration.depth);
        (iteration.publish)(&found(roots, multipv));
    }

    /// Searches the root moves from `rank` on in one window and moves the best of them to `rank`.
    fn root_moves(
        &mut self,
        iteration: &mut Iteration<'_, '_, G>,
        roots: &mut [RootMove<G::Move>],
        rank: usize,
        mut alpha: Score,
        beta: Score,
    ) -> Score {
        let game = self.game;
        let mut pos = iteration.root.pos.clone();
        let side = game.side(&pos);
        let node = NodeContext {
            depth: iteration.depth as i32,
            ply: 0,
            distance: 0,
            last: iteration.root.plies.last().copied(),
        };
        let mut best = -Score::INFINITE;
        for at in rank..roots.len() {
            let mv = roots[at].mv;
            // A null window leaves no line, and none must be left from before.
            self.history.pv[1].clear();
            let undo = game.play(&mut pos, mv);
            let mut value = Value::default();
            if at > rank {
                value = self.child(&mut pos, side, &node, mv, alpha, alpha.above());
            }
            if at == rank || (value.score > alpha && value.score < beta) {
                value = self.child(&mut pos, side, &node, mv, alpha, beta);
            }
            game.undo(&mut pos, mv, undo);
            if self.thread.is_over() {
                break;
            }
            let known = &mut roots[at];
            known.value = value;
            known.depth = iteration.depth;
            known.bound = Bound::Upper;
            best = best.max(value.score);
            if value.score > alpha {
                alpha = value.score;
                known.bound = if value.score >= beta { Bound::Lower } else { Bound::Exact };
                self.history.extend_pv(0, mv);
                known.line.clone_from(&self.history.pv[0]);
                if at > rank {
                    roots[rank..=at].rotate_right(1);
                }
                let settled = is_settled::<G>(value) && value.score.is_win();
                if rank == 0 && (at > rank || settled) {
                    (iteration.publish)(&found(roots, iteration.multipv));
                }
                let is_enough = settled && !is_beyond(value.score, iteration.depth);
                if value.score >= beta || (is_enough && iteration.multipv == 1 && !iteration.exact) {
                    break;
                }
            }
        }
        best
    }
}
