//! Iterative deepening beside a prover: a second opinion that decides who wins, or does not answer at all.
//!
//! A game that can be solved from some point on brings a [`Prover`]. What it proves of a root move outweighs
//! what the search thinks of it: a proven win is played, a proven loss only when nothing else is left; then
//! the search looks for the try after which the opponent most likely errs. On one thread the two take turns,
//! on more they run at the same time; whether a prover is worth its time depends on the work that it expects.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::game::{Evaluator, Game, Root, Turn};
use crate::options::Options;
use crate::score::Value;
use crate::search::announced::AnnouncedWin;
use crate::search::gate::Gate;
use crate::search::helpers::{scope, start};
use crate::search::iterate::Iterate;
use crate::search::proven_roots::ProvenRootMoves;
use crate::search::roots::Roots;
use crate::search::thread::{EndOnDrop, SearchBudget, SearchThread, final_value};
use crate::search::{Control, End, SearchParams, SearchResult, Searcher, UNLIMITED, Variation, clock};

/// Decides positions exactly, by means of one game.
///
/// Each value is a proof, true of best play by both sides whatever chance does, from the view of
/// [`Game::side`], with the distance from the position on in moves. It says who wins: it is a win marked
/// `at_least`, a loss marked `at_most`, or exact.
///
/// A distance may be a bound, `n` plies or fewer. A player stops at the first move that is proven to win, so
/// whichever it is must come nearer to the end: from a win within `n` plies every move that wins leads to the
/// end of the game or to a loss within `n - 1`. A bound that depends on what is left of the game, such as the
/// number of free cells, does so. Exact distances do not, and belong in [`Game::probe`]: a search compares
/// those and plays the quickest win.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::options::Options;
/// use plyd_core::score::{Score, Value};
/// use plyd_core::search::prover_player::ProverPlayer;
/// use plyd_core::search::proving::{Prover, Proving};
/// use plyd_core::search::thread::SearchThread;
/// use plyd_core::search::{Control, End, SearchParams, Searcher};
///
/// /// Knows who wins nim, and that each move takes a stone at least.
/// struct Remainder;
///
/// impl Prover<Nim> for Remainder {
///     fn at_sight(&self, nim: &Nim, heap: &Heap) -> Option<(Value, Option<u8>)> {
///         let (most, taken) = (u32::from(heap.stones), heap.stones % (nim.most + 1));
///         let lost = Value { score: Score::loss_in(most), at_least: false, at_most: true };
///         let won = Value { score: Score::win_in(most), at_least: true, at_most: false };
///         Some(if taken > 0 { (won, Some(taken)) } else { (lost, None) })
///     }
///     fn decide(&mut self, nim: &Nim, heap: &Heap, thread: &mut SearchThread<'_>) -> Option<Value> {
///         let is_over = thread.tick();
///         self.at_sight(nim, heap).filter(|_| !is_over).map(|(value, _)| value)
///     }
///     fn expected_nodes(&self, _nim: &Nim, _heap: &Heap) -> u64 {
///         1
///     }
///     fn order(&self, _nim: &Nim, _heap: &Heap, _taken: u8) -> i32 {
///         0
///     }
///     fn clear(&mut self) {}
/// }
///
/// // A heap that no search sees the end of.
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(201)));
/// let mut player = Proving::new(&nim, Rest, Remainder, &Options::default());
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let (found, end) = player.search(&nim, &root, &params, &Control::default(), &mut |_| ());
/// assert_eq!((found.lines[0].pv[0], end), (1, End::Proven));
///
/// // The prover without a search.
/// let mut alone = ProverPlayer::new(Remainder, &Options::default());
/// let (found, end) = alone.search(&nim, &root, &params, &Control::default(), &mut |_| ());
/// assert_eq!((found.lines[0].pv[0], end), (1, End::Proven));
/// ```
pub trait Prover<G: Game>: Send {
    /// What is known without search about a position in which the mover can move: its value, and a move that
    /// wins, or the best try if the position is lost.
    fn at_sight(&self, game: &G, pos: &G::Position) -> Option<(Value, Option<G::Move>)>;

    /// The decided value of a position; none if the thread ended first.
    fn decide(&mut self, game: &G, pos: &G::Position, thread: &mut SearchThread<'_>) -> Option<Value>;

    /// About how many nodes [`Prover::decide`] visits.
    fn expected_nodes(&self, game: &G, pos: &G::Position) -> u64;

    /// The order in which moves are worth deciding, judged by the positions that they lead to; smaller is
    /// first. A search that announced a win has to find it again two plies later, so the order is the one in
    /// which positions themselves are decided.
    fn order(&self, game: &G, pos: &G::Position, mv: G::Move) -> i32;

    /// Forgets everything.
    fn clear(&mut self);
}

/// What the search gets before anything else, some milliseconds: a stop finds a good move to answer, and if
/// the search alone sees the end, its distance is better than any bound.
const FIRST_NODES: u64 = 40_000;
/// It gets at most one part in this many of the move's time.
const FIRST_PART: u64 = 16;
/// What the search gets to find the best try of a lost position.
const TRY_NODES: u64 = 3_000_000;
/// Nodes that a prover visits in a millisecond, at least.
const NODES_A_MS: u64 = 4_000;
/// The prover's part of a move's time, in percent. Its answer ends the search; without one, the rest costs
/// the search about half a ply.
const PART: u64 = 45;
/// The same for a position that is known to be won: twice as much, so that an announced win is found again
/// two plies later even if the machine is busier then.
const PART_ANNOUNCED: u64 = 90;
/// A prover is worth starting if it is expected to need at most this many times what it gets: nine of ten
/// positions need between a tenth and ten times what is expected.
const HOPE: u64 = 4;
/// The same on a thread of its own, which costs the search only a helper.
const HOPE_BESIDE: u64 = 16;
/// Without a clock both take turns of equal length, each twice as long as the last.
const FIRST_TURN: u64 = 200_000;

/// Iterative deepening beside a prover: [`Prover`] has an example.
pub struct Proving<G: Game, E, P> {
    search: Iterate<G, E>,
    prover: P,
    announced: AnnouncedWin,
    threads: usize,
    deterministic: bool,
    exact: bool,
}

impl<G: Game, E: Evaluator<G>, P: Prover<G>> Proving<G, E, P> {
    /// A searcher for one game.
    #[must_use]
    pub fn new(game: &G, evaluator: E, prover: P, options: &Options) -> Self {
        Self {
            search: Iterate::new(game, evaluator, options),
            prover,
            announced: AnnouncedWin::default(),
            threads: if options.deterministic { 1 } else { options.threads.max(1) },
            deterministic: options.deterministic,
            exact: options.exact(),
        }
    }
}

impl<G: Game, E: Evaluator<G>, P: Prover<G>> Searcher<G> for Proving<G, E, P> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        // A search limited to a depth shall answer only what can be seen within it.
        if control.depth_limit() != u32::MAX {
            return self.search.search(game, root, params, control, publish);
        }
        if self.deterministic {
            self.prover.clear();
            self.announced = AnnouncedWin::default();
        }
        self.search.begin();
        let announced = self.announced.left(game, root);
        let shared = AtomicU64::new(0);
        let known = at_sight(game, root, params, &self.prover);
        let mut work = Work { game, root, known, roots: Roots::new(game, root, params), publish };
        let mut budget = SearchBudget { until_nodes: FIRST_NODES, ..SearchBudget::planned(control, &shared) };
        if let Some(left_ns) = self.left_ns(control) {
            budget.until_ns = clock::now_ns() + left_ns / FIRST_PART;
        }
        let keeps = params.multipv > 0 && work.known.wins() >= params.multipv;
        let first = work.first(&mut self.search, &mut budget, keeps);
        (budget.until_nodes, budget.until_ns) = (UNLIMITED, UNLIMITED);
        work.known.learn(&work.roots.found());
        work.roots.decided().for_each(|(mv, value)| work.known.decide(mv, value));
        let mut end = first;
        if first.is_none() && !work.known.is_answered() {
            // To keep an announced win the prover must have a core; the search could only take one away.
            end = if self.threads > 1 && announced.is_none() {
                self.beside(&mut work, &mut budget)
            } else {
                self.in_turn(&mut work, &mut budget, announced)
            };
        }
        if end.is_none() {
            let is_late = announced.is_some_and(|plies| work.known.best().is_some_and(|best| best > plies));
            end = if self.exact || is_late {
                self.look_for_distance(&mut work, params, &mut budget)
            } else if work.known.wants_try() {
                self.look_for_try(&mut work, params, &mut budget)
            } else {
                None
            };
        }
        work.publish_lines();
        let found = work.known.lines();
        self.announced = AnnouncedWin::of(game, root, &found);
        let is_answered = work.known.is_answered() && !self.exact;
        (found, if is_answered { End::Proven } else { end.unwrap_or(End::Proven) })
    }

    fn clear(&mut self) {
        self.search.clear();
        self.prover.clear();
        self.announced = AnnouncedWin::default();
    }
}

impl<G: Game, E: Evaluator<G>, P: Prover<G>> Proving<G, E, P> {
    /// The time that is left for the move, in nanoseconds, if a clock may decide anything.
    fn left_ns(&self, control: &Control) -> Option<u64> {
        let soft = control.soft_ns();
        (soft != UNLIMITED && !self.deterministic).then(|| soft.saturating_sub(clock::now_ns()))
    }
}

/// One question and how far its answer has come.
struct Work<'a, G: Game> {
    game: &'a G,
    root: &'a Root<G>,
    known: ProvenRootMoves<G::Move>,
    roots: Roots<G::Move>,
    publish: &'a mut dyn FnMut(&SearchResult<G::Move>),
}

impl<G: Game> Work<'_, G> {
    /// Searches the undecided moves within one budget. Gives the reason for which the search ended.
    fn search<E: Evaluator<G>>(
        &mut self,
        search: &mut Iterate<G, E>,
        budget: &mut SearchBudget<'_>,
    ) -> Option<End> {
        let Self { game, root, known, roots, publish } = self;
        roots.narrow(|mv| !known.is_decided(mv), known.missing());
        known.learn(&roots.found());
        let mut report = |found: &SearchResult<G::Move>| {
            known.learn(found);
            publish(&known.lines());
        };
        let end = search.search_within(game, root, roots, budget, &mut report);
        roots.decided().for_each(|(mv, value)| known.decide(mv, value));
        end
    }

    /// Searches all moves within the first budget. If moves are known to win, as after an announced win,
    /// they are published before anything else, and only wins that the search finds itself replace them: a
    /// thread that is not scheduled until the time is up answers what it published last. Their values are
    /// left out, because a proven one would end the search before it sees a shorter win.
    fn first<E: Evaluator<G>>(
        &mut self,
        search: &mut Iterate<G, E>,
        budget: &mut SearchBudget<'_>,
        keeps: bool,
    ) -> Option<End> {
        let Self { game, root, known, roots, publish } = self;
        if !keeps {
            return search.search_within(game, root, roots, budget, publish);
        }
        let mut found = known.lines();
        found.lines.iter_mut().for_each(|line| line.value = None);
        publish(&found);
        let wins = |line: &Variation<G::Move>| {
            line.value.is_some_and(|(value, _)| value.is_decided() && value.score.is_win())
        };
        search.search_within(game, root, roots, budget, &mut |found| {
            if !found.lines.is_empty() && found.lines.iter().all(wins) {
                publish(found);
            }
        })
    }

    /// Publishes the lines so far.
    fn publish_lines(&mut self) {
        (self.publish)(&self.known.lines());
    }
}

impl<G: Game, E: Evaluator<G>, P: Prover<G>> Proving<G, E, P> {
    /// Search and prover in turn, on one thread. Gives the reason for which the search ended; none if what is
    /// known answers the question.
    fn in_turn(
        &mut self,
        work: &mut Work<'_, G>,
        budget: &mut SearchBudget<'_>,
        announced: Option<u32>,
    ) -> Option<End> {
        // What was proven before its first move needs no more work than it did then.
        let (expected, percent) = match announced {
            Some(_) => (0, PART_ANNOUNCED),
            None => (self.prover.expected_nodes(work.game, &work.root.pos), PART),
        };
        let mut turn = FIRST_TURN;
        loop {
            let part_ns = self.left_ns(budget.control).map(|left_ns| left_ns / 100 * percent);
            let nodes = part_ns.map_or(turn, |part_ns| part_ns / 1000 * NODES_A_MS / 1000);
            // The prover's part is its own: how long the search's best move stood means nothing to it.
            let whole = SearchBudget { late_percent: None, ..*budget };
            let part = match part_ns {
                Some(part_ns) => SearchBudget { until_ns: clock::now_ns() + part_ns, ..whole },
                None => SearchBudget {
                    until_nodes: budget.nodes + turn,
                    until_clocked: !self.deterministic,
                    ..whole
                },
            };
            if expected / HOPE <= nodes {
                let mut thread = SearchThread::first(&part);
                self.prove_on(work, &mut thread);
                thread.show();
                budget.take(&thread);
                if work.known.is_answered() {
                    return None;
                }
            }
            budget.until_nodes = if part_ns.is_some() { UNLIMITED } else { budget.nodes + turn };
            turn = turn.saturating_mul(2);
            let end = work.search(&mut self.search, budget);
            if work.known.is_answered() {
                return None;
            }
            if end.is_some() {
                return end;
            }
        }
    }

    /// Decides moves until the question is answered or the thread ends.
    fn prove_on(&mut self, work: &mut Work<'_, G>, thread: &mut SearchThread<'_>) {
        let (game, root, known) = (work.game, work.root, &mut work.known);
        for mv in known.undecided(|mv| self.prover.order(game, &root.pos, mv)) {
            let Some(value) = prove(game, root, mv, &mut self.prover, thread) else { break };
            known.decide(mv, value);
            if known.is_answered() {
                break;
            }
        }
    }

    /// Search and prover at the same time, the prover on a thread of its own. Gives what [`Proving::in_turn`]
    /// gives.
    fn beside(&mut self, work: &mut Work<'_, G>, budget: &mut SearchBudget<'_>) -> Option<End> {
        let part_ns = self.left_ns(budget.control).map(|left_ns| left_ns / 100 * PART);
        let Self { search, prover, threads, .. } = self;
        let (game, root) = (work.game, work.root);
        let nodes = part_ns.map_or(UNLIMITED, |part_ns| part_ns / 1000 * NODES_A_MS / 1000);
        if prover.expected_nodes(game, &root.pos) / HOPE_BESIDE > nodes {
            return work.search(search, budget);
        }
        let until_ns = part_ns.map_or(UNLIMITED, |part_ns| clock::now_ns() + part_ns);
        let (halt, news) = (Gate::default(), AtomicBool::new(false));
        // What the prover decided and the search has not seen, and whether the prover is through.
        let proven = Mutex::new((Vec::new(), false));
        let undecided = work.known.undecided(|mv| prover.order(game, &root.pos, mv));
        let first = SearchThread::first(budget);
        let mut beside = SearchBudget { threads: *threads - 1, wake: Some(&news), ..*budget };
        let end = scope(|scope| {
            // The scope joins the prover also when this thread panics, so it must be stopped on every way
            // out.
            let _halt = EndOnDrop(&halt);
            let mut thread = first.helper(&halt, until_ns);
            let (news, proven) = (&news, &proven);
            let lock = || proven.lock().unwrap_or_else(PoisonError::into_inner);
            let prove_all = move || {
                for mv in undecided {
                    let Some(value) = prove(game, root, mv, prover, &mut thread) else { break };
                    lock().0.push((mv, value));
                    news.store(true, Relaxed);
                }
                thread.leave();
                lock().1 = true;
                news.store(true, Relaxed);
            };
            if !start(scope, Box::new(prove_all)) {
                // The system gives no more threads: the search goes on with those it has.
                lock().1 = true;
            }
            loop {
                news.store(false, Relaxed);
                {
                    let (decided, is_through) = &mut *lock();
                    decided.drain(..).for_each(|(mv, value)| work.known.decide(mv, value));
                    if *is_through {
                        beside.threads = *threads;
                    }
                }
                if work.known.is_answered() {
                    return None;
                }
                let end = work.search(search, &mut beside);
                if work.known.is_answered() {
                    return None;
                }
                if end.is_some() {
                    // The prover may have decided more in the meantime.
                    lock().0.drain(..).for_each(|(mv, value)| work.known.decide(mv, value));
                    return end.filter(|_| !work.known.is_answered());
                }
            }
        });
        budget.follow(&beside);
        end
    }

    /// Searches all moves of a lost position for the one after which the opponent most likely errs. The loss
    /// is reported with the answer: reported before, it would end the search.
    fn look_for_try(
        &mut self,
        work: &mut Work<'_, G>,
        params: &SearchParams<G::Move>,
        budget: &mut SearchBudget<'_>,
    ) -> Option<End> {
        let (now, soft) = (clock::now_ns(), budget.control.soft_ns());
        budget.until_nodes = budget.nodes + TRY_NODES;
        // The loss has to be reported before the time is up.
        budget.until_ns = if soft == UNLIMITED { UNLIMITED } else { now + soft.saturating_sub(now) / 10 * 9 };
        let mut roots = Roots::new(work.game, work.root, params);
        let end = self.search.search_within(work.game, work.root, &mut roots, budget, work.publish);
        work.known.learn(&roots.found());
        // Whatever ended it, the question is answered.
        end.filter(|&end| end == End::Stopped)
    }

    /// Searches on for the exact distance, or at least a better one.
    fn look_for_distance(
        &mut self,
        work: &mut Work<'_, G>,
        params: &SearchParams<G::Move>,
        budget: &mut SearchBudget<'_>,
    ) -> Option<End> {
        let mut roots = Roots::new(work.game, work.root, params);
        let Work { game, root, known, publish, .. } = work;
        let mut report = |found: &SearchResult<G::Move>| {
            known.learn(found);
            publish(&known.lines());
        };
        // An answer that is only late for an announced win is not worth more than a try.
        let until_nodes = if self.exact { UNLIMITED } else { budget.nodes + TRY_NODES };
        *budget = SearchBudget {
            nodes: budget.nodes,
            shown: budget.shown,
            until_nodes,
            late_percent: budget.late_percent,
            ..SearchBudget::whole(budget.control, budget.shared)
        };
        self.search.search_within(game, root, &mut roots, budget, &mut report)
    }
}

/// What the prover decides of a move, from the view of the root's mover; none if the thread ended first.
pub(super) fn prove<G: Game>(
    game: &G,
    root: &Root<G>,
    mv: G::Move,
    prover: &mut impl Prover<G>,
    thread: &mut SearchThread<'_>,
) -> Option<Value> {
    let mut pos = root.pos.clone();
    game.play(&mut pos, mv);
    let value = match game.turn(&pos) {
        Turn::Over(outcome) => final_value::<G>(&outcome, game.side(&pos), 0),
        Turn::Move | Turn::Chance => prover.decide(game, &pos, thread)?,
    };
    Some(before(game, root, &pos, value))
}

/// The value of a move from the value of the position after it.
fn before<G: Game>(game: &G, root: &Root<G>, after: &G::Position, value: Value) -> Value {
    let value = if game.side(after) == game.side(&root.pos) { value } else { -value };
    Value { score: value.score.earlier(1), ..value }
}

/// What can be known of a question before it is searched.
pub(super) fn at_sight<G: Game>(
    game: &G,
    root: &Root<G>,
    params: &SearchParams<G::Move>,
    prover: &impl Prover<G>,
) -> ProvenRootMoves<G::Move> {
    let mut known = ProvenRootMoves::new(params);
    for &mv in &params.moves {
        let mut pos = root.pos.clone();
        game.play(&mut pos, mv);
        let value = match game.turn(&pos) {
            Turn::Over(outcome) => Some(final_value::<G>(&outcome, game.side(&pos), 0)),
            Turn::Move => prover.at_sight(game, &pos).map(|(value, _)| value),
            Turn::Chance => None,
        };
        if let Some(value) = value {
            known.decide(mv, before(game, root, &pos, value));
        }
    }
    match prover.at_sight(game, &root.pos) {
        Some((value, mv)) if value.score.is_loss() => known.lose(value, mv),
        Some((value, Some(mv))) if params.moves.contains(&mv) => known.decide(mv, value),
        _ => {}
    }
    known
}
