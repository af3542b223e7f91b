//! A root ensemble for games of chance: deep searches of several games in which chance is drawn beforehand,
//! averaged.
//!
//! Chance nodes multiply what a search has to look at, so that it sees a few plies only. In a drawn game what
//! chance does depends on the position alone; it is searched like a game without chance, three times as deep,
//! by a player who knows what comes. Averaged over many draws that knowledge evens out at the root (Ginsberg,
//! "GIB: Imperfect information in a computationally challenging game", 2001). What chance does first decides
//! most: behind each move the games take outcomes that are spread evenly over all of them (systematic
//! sampling). It proves nothing: what is proven comes from a search of the game itself, which looks a few
//! plies far first, and goes on if all drawn games are decided.

use std::sync::atomic::AtomicU64;

use crate::game::{Evaluator, Game, Root, Turn};
use crate::options::Options;
use crate::score::{Score, Value};
use crate::search::chance::{average, worth};
use crate::search::helpers::IterationSizes;
use crate::search::iterate::{Iterate, MAX_DEPTH, Part, next_depth};
use crate::search::one_ply::choices;
use crate::search::roots::Roots;
use crate::search::sort::sort_by_key;
use crate::search::thread::SearchBudget;
use crate::search::time_manager::TimeManager;
use crate::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, UNLIMITED, Variation, clock};

/// A game of chance that can make drawn games of itself.
///
/// ```
/// use plyd_core::game::{Context, Evaluator, Game, Root, Side, Turn};
/// use plyd_core::nim::{Heap, Nim};
/// use plyd_core::options::Options;
/// use plyd_core::score::Score;
/// use plyd_core::search::ensemble::{Draw, Ensemble};
/// use plyd_core::search::{Control, SearchParams, Searcher};
/// use plyd_core::zobrist::mix;
///
/// const NIM: Nim = Nim { most: 3 };
///
/// /// Nim in the wind, which takes a stone or none after each move. A position is the heap, and whether the
/// /// wind blows next.
/// #[derive(Clone, PartialEq)]
/// struct Windy;
///
/// # impl Game for Windy {
/// #     type Position = (Heap, bool);
/// #     type Move = u8;
/// #     type Undo = (Heap, bool);
/// #     const STOCHASTIC: bool = true;
/// #     fn side(&self, pos: &(Heap, bool)) -> Side {
/// #         pos.0.side
/// #     }
/// #     fn turn(&self, pos: &(Heap, bool)) -> Turn {
/// #         if pos.1 && pos.0.stones > 0 { Turn::Chance } else { NIM.turn(&pos.0) }
/// #     }
/// #     fn moves(&self, pos: &(Heap, bool), out: &mut Vec<u8>) {
/// #         NIM.moves(&pos.0, out);
/// #     }
/// #     fn outcomes(&self, _pos: &(Heap, bool), out: &mut Vec<(u8, u32)>) {
/// #         out.extend([(0, 1), (1, 1)]);
/// #     }
/// #     fn play(&self, pos: &mut (Heap, bool), taken: u8) -> (Heap, bool) {
/// #         let before = *pos;
/// #         if pos.1 {
/// #             pos.0.stones -= taken;
/// #         } else {
/// #             NIM.play(&mut pos.0, taken);
/// #         }
/// #         pos.1 = !pos.1;
/// #         before
/// #     }
/// #     fn undo(&self, pos: &mut (Heap, bool), _taken: u8, before: (Heap, bool)) {
/// #         *pos = before;
/// #     }
/// #     fn hash(&self, pos: &(Heap, bool)) -> u64 {
/// #         NIM.hash(&pos.0) ^ u64::from(pos.1)
/// #     }
/// #     fn index(&self, taken: u8) -> usize {
/// #         NIM.index(taken)
/// #     }
/// #     fn index_len(&self) -> usize {
/// #         NIM.index_len()
/// #     }
/// # }
/// #
/// # /// That nothing is known.
/// # #[derive(Clone)]
/// # struct Unknown;
/// #
/// # impl Evaluator<Windy> for Unknown {
/// #     fn evaluate(&self, _windy: &Windy, _pos: &(Heap, bool), _ctx: &Context<u8>) -> Score {
/// #         Score::DRAW
/// #     }
/// #     fn range(&self) -> (i32, i32) {
/// #         (-1000, 1000)
/// #     }
/// # }
/// /// The game of which the weather is known: what the wind does depends on the heap alone.
/// #[derive(Clone, PartialEq)]
/// struct Forecast {
///     number: u64,
///     /// The heap at which the place among the outcomes is given.
///     but: Option<(Heap, u32)>,
/// }
///
/// impl Forecast {
///     fn gust(&self, heap: Heap) -> u8 {
///         let drawn = (mix(self.number ^ NIM.hash(&heap)) >> 32) as u32;
///         let place = self.but.filter(|but| but.0 == heap).map_or(drawn, |but| but.1);
///         u8::from(place >= 1 << 31)
///     }
/// }
///
/// impl Game for Forecast {
/// #     type Position = (Heap, bool);
/// #     type Move = u8;
/// #     type Undo = (Heap, bool);
/// #     fn side(&self, pos: &(Heap, bool)) -> Side {
/// #         Windy.side(pos)
/// #     }
/// #     fn turn(&self, pos: &(Heap, bool)) -> Turn {
/// #         Windy.turn(pos)
/// #     }
/// #     fn moves(&self, pos: &(Heap, bool), out: &mut Vec<u8>) {
/// #         Windy.moves(pos, out);
/// #     }
/// #     fn undo(&self, pos: &mut (Heap, bool), taken: u8, before: (Heap, bool)) {
/// #         Windy.undo(pos, taken, before);
/// #     }
/// #     fn index(&self, taken: u8) -> usize {
/// #         Windy.index(taken)
/// #     }
/// #     fn index_len(&self) -> usize {
/// #         Windy.index_len()
/// #     }
///     fn play(&self, pos: &mut (Heap, bool), taken: u8) -> (Heap, bool) {
///         let before = Windy.play(pos, taken);
///         if Windy.turn(pos) == Turn::Chance {
///             Windy.play(pos, self.gust(pos.0));
///         }
///         before
///     }
///     fn hash(&self, pos: &(Heap, bool)) -> u64 {
///         Windy.hash(pos) ^ mix(self.number)
///     }
///     // The rest is as in the game itself.
/// }
///
/// /// An evaluation of the game, which values its drawn games alike.
/// #[derive(Clone)]
/// struct Within<E>(E);
///
/// impl<E: Evaluator<Windy>> Evaluator<Forecast> for Within<E> {
///     fn evaluate(&self, _drawn: &Forecast, pos: &(Heap, bool), ctx: &Context<u8>) -> Score {
///         self.0.evaluate(&Windy, pos, ctx)
///     }
///     fn range(&self) -> (i32, i32) {
///         self.0.range()
///     }
/// }
///
/// impl Draw for Windy {
///     type Drawn = Forecast;
///     type Within<E: Evaluator<Self>> = Within<E>;
///
///     fn within<E: Evaluator<Self>>(evaluator: E) -> Within<E> {
///         Within(evaluator)
///     }
///     fn drawn(&self, number: u64) -> Forecast {
///         Forecast { number, but: None }
///     }
///     fn drawn_but(&self, number: u64, node: &(Heap, bool), place: u32) -> Forecast {
///         Forecast { number, but: Some((node.0, place)) }
///     }
///     fn outcome(&self, drawn: &Forecast, pos: &(Heap, bool)) -> u8 {
///         drawn.gust(pos.0)
///     }
/// }
///
/// let root = Root::new((Heap::of(60), false));
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let control = Control::default();
/// control.set_limits(Some(5000), None);
/// let mut player = Ensemble::new(&Windy, Unknown, &Options::default());
/// let (found, _end) = player.search(&Windy, &root, &params, &control, &mut |_| ());
/// assert!(params.moves.contains(&found.lines[0].pv[0]));
/// ```
pub trait Draw: Game {
    /// The game in which chance is drawn beforehand; its positions await no outcome.
    type Drawn: Game<Position = Self::Position, Move = Self::Move>;
    /// An evaluation of the game as one of its drawn games.
    type Within<E: Evaluator<Self>>: Evaluator<Self::Drawn>;

    /// An evaluation that values the drawn games as `evaluator` values the game itself.
    fn within<E: Evaluator<Self>>(evaluator: E) -> Self::Within<E>;

    /// The drawn game of that number.
    fn drawn(&self, number: u64) -> Self::Drawn;

    /// The drawn game of that number, except that one chance node takes the outcome at a given place, all its
    /// outcomes being laid side by side from 0 to 2^32.
    fn drawn_but(&self, number: u64, node: &Self::Position, place: u32) -> Self::Drawn;

    /// What chance does in a drawn game, at a chance node of this one.
    fn outcome(&self, drawn: &Self::Drawn, pos: &Self::Position) -> Self::Move;
}

/// Drawn games of one search.
const MEMBERS: usize = 8;
/// What the search of the game itself gets before the drawn games.
const FIRST_NODES: u64 = 40_000;
/// That search gets at most one part in this many of the move's time and nodes.
const FIRST_PART: u64 = 8;

/// Searches of drawn games, averaged, after a short search of the game itself: [`Draw`] has an example.
pub struct Ensemble<G: Draw, E: Evaluator<G>> {
    whole: Iterate<G, E>,
    /// All drawn games share it: their positions have different hashes.
    drawn: Iterate<G::Drawn, G::Within<E>>,
    range: (i64, i64),
    depth: u32,
    seed: u64,
    deterministic: bool,
}

/// A move that the ensemble may choose.
struct Candidate<G: Draw> {
    mv: G::Move,
    /// What the search of the game itself proved about it.
    proven: Option<Value>,
    members: Vec<Member<G>>,
    average: i32,
}

/// The search of a move in a drawn game.
struct Member<G: Draw> {
    drawn: G::Drawn,
    roots: Roots<G::Move>,
}

impl<G: Draw, E: Evaluator<G>> Ensemble<G, E> {
    /// A searcher for one game.
    #[must_use]
    pub fn new(game: &G, evaluator: E, options: &Options) -> Self {
        let (low, high) = evaluator.range();
        // Both share the memory that is granted.
        let half = Options { hash_mb: (options.hash_mb / 2).max(1), ..options.clone() };
        Self {
            whole: Iterate::new(game, evaluator.clone(), &half),
            drawn: Iterate::new(&game.drawn(0), G::within(evaluator), &half),
            range: (i64::from(low), i64::from(high)),
            depth: options.depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH),
            seed: options.seed,
            deterministic: options.deterministic,
        }
    }

    /// Searches each candidate in each drawn game, deeper each round; publishes after each. None if all games
    /// are decided.
    fn rounds(
        &mut self,
        game: &G,
        root: &Root<G>,
        candidates: &mut [Candidate<G>],
        multipv: usize,
        budget: &mut SearchBudget<'_>,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> Option<End> {
        let control = budget.control;
        let mut random = choices(game, root, self.seed);
        let numbers = [(); MEMBERS].map(|()| random.next());
        let offset = random.next() >> 32;
        let start = Root::<G::Drawn> { start: root.pos.clone(), plies: Vec::new(), pos: root.pos.clone() };
        for candidate in candidates.iter_mut().filter(|candidate| candidate.proven.is_none()) {
            let params = SearchParams { moves: vec![candidate.mv], multipv: 1 };
            let mut node = root.pos.clone();
            game.play(&mut node, candidate.mv);
            let member = |(at, &number): (u64, &u64)| {
                let place = ((at << 32) + offset) / MEMBERS as u64;
                let drawn = game.drawn_but(number, &node, place as u32);
                Member { roots: Roots::new(&drawn, &start, &params), drawn }
            };
            candidate.members = (0..).zip(&numbers).map(member).collect();
        }
        let mut time = TimeManager::new(clock::now_ns());
        let (mut depth, mut best, mut sizes) = (0, None, IterationSizes::default());
        loop {
            let limit = self.depth.min(control.depth_limit());
            if depth >= limit {
                return Some(End::Limit);
            }
            if depth > 0 && time.is_over(&control.deadlines(), clock::now_ns()) {
                return Some(End::Clock);
            }
            depth = next_depth(depth, limit);
            budget.learn(&time);
            time.begin(clock::now_ns());
            let mut parts = undecided(candidates);
            let is_settled = parts.is_empty();
            let reached = self.drawn.deepen_all(&start, &mut parts, depth, &mut sizes, budget);
            if control.stopped() {
                return Some(End::Stopped);
            }
            if let Some(reached) = reached {
                return Some(reached.into());
            }
            settle(candidates, self.range);
            publish(&found(game, root, candidates, multipv, depth));
            let first = &candidates[0];
            let is_forced = candidates[1..].iter().all(|other| other.score().is_loss());
            time.learn(best == Some(first.mv), first.score(), is_forced, clock::now_ns());
            best = Some(first.mv);
            if is_settled {
                // If a depth was asked for, nothing can change any more.
                return (limit < MAX_DEPTH).then_some(End::Limit);
            }
        }
    }
}

impl<G: Draw> Candidate<G> {
    fn score(&self) -> Score {
        self.proven.map_or(Score::eval(self.average), |value| value.score)
    }
}

/// The drawn games that are not decided: the first of each candidate, then the second of each.
fn undecided<G: Draw>(candidates: &mut [Candidate<G>]) -> Vec<Part<'_, G::Drawn>> {
    let mut members: Vec<_> = candidates.iter_mut().map(|candidate| candidate.members.iter_mut()).collect();
    let mut parts = Vec::new();
    for _ in 0..MEMBERS {
        for Member { drawn, roots, .. } in members.iter_mut().filter_map(Iterator::next) {
            if roots.decided().next().is_none() {
                parts.push(Part { game: drawn, roots });
            }
        }
    }
    parts
}

/// Averages the values of the drawn games, within a range, and puts the best candidates first.
fn settle<G: Draw>(candidates: &mut [Candidate<G>], (low, high): (i64, i64)) {
    for candidate in candidates.iter_mut().filter(|candidate| !candidate.members.is_empty()) {
        let worth = |member: &Member<G>| worth(member.roots.score(), low, high);
        let sum = candidate.members.iter().map(worth).sum();
        candidate.average = average(sum, candidate.members.len() as i64);
    }
    sort_by_key(candidates, |candidate| -i64::from(candidate.score().raw()));
}

/// The best candidates as lines, each continued as in the first of its drawn games. A line is proven to be
/// unbeaten only if every candidate ranked below it is proven no better.
fn found<G: Draw>(
    game: &G,
    root: &Root<G>,
    candidates: &[Candidate<G>],
    multipv: usize,
    depth: u32,
) -> SearchResult<G::Move> {
    let line = |(rank, candidate): (usize, &Candidate<G>)| {
        let pv = match candidate.members.first() {
            Some(Member { drawn, roots, .. }) => with_outcomes(game, root, drawn, &roots.found().lines[0].pv),
            None => vec![candidate.mv],
        };
        let score = candidate.score();
        let no_better =
            |below: &Candidate<G>| below.proven.is_some_and(|value| value.at_most && value.score <= score);
        let value = candidate.proven.map_or(Value::guess(score), |value| Value {
            at_most: value.at_most && candidates[rank + 1..].iter().all(no_better),
            ..value
        });
        Variation { pv, depth, value: Some((value, Bound::Exact)) }
    };
    SearchResult { lines: candidates.iter().take(multipv).enumerate().map(line).collect() }
}

/// A line of a drawn game with what chance does in it.
fn with_outcomes<G: Draw>(game: &G, root: &Root<G>, drawn: &G::Drawn, line: &[G::Move]) -> Vec<G::Move> {
    let mut pos = root.pos.clone();
    let mut pv = Vec::with_capacity(2 * line.len());
    for &mv in line {
        while game.turn(&pos) == Turn::Chance {
            let outcome = game.outcome(drawn, &pos);
            game.play(&mut pos, outcome);
            pv.push(outcome);
        }
        game.play(&mut pos, mv);
        pv.push(mv);
    }
    pv
}

impl<G: Draw, E: Evaluator<G>> Searcher<G> for Ensemble<G, E> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        self.whole.begin();
        self.drawn.begin();
        let shared = AtomicU64::new(0);
        let mut roots = Roots::new(game, root, params);
        let until_nodes = FIRST_NODES.min(control.nodes_limit() / FIRST_PART);
        // So short a search is one thread's.
        let mut budget = SearchBudget { until_nodes, threads: 1, ..SearchBudget::planned(control, &shared) };
        let soft_ns = control.soft_ns();
        if soft_ns != UNLIMITED && !self.deterministic {
            let now_ns = clock::now_ns();
            budget.until_ns = now_ns + soft_ns.saturating_sub(now_ns) / FIRST_PART;
        }
        let end = self.whole.search_within(game, root, &mut roots, &mut budget, publish);
        if let Some(end @ (End::Proven | End::Stopped)) = end {
            return (roots.found(), end);
        }
        (budget.until_nodes, budget.until_ns) = (UNLIMITED, UNLIMITED);
        let decided: Vec<(G::Move, Value)> = roots.decided().collect();
        let candidate = |&mv: &G::Move| Candidate {
            mv,
            proven: decided.iter().find(|known| known.0 == mv).map(|known| known.1),
            members: Vec::new(),
            average: 0,
        };
        let mut candidates: Vec<Candidate<G>> = params.moves.iter().map(candidate).collect();
        let mut last = roots.found();
        let mut report = |found: &SearchResult<G::Move>| {
            publish(found);
            last = found.clone();
        };
        // Drawn games say nothing of how a win that ends beyond the horizon can come sooner.
        let is_won = params.multipv == 1 && decided.iter().any(|(_, value)| value.score.is_win());
        let end = if is_won {
            None
        } else {
            self.rounds(game, root, &mut candidates, params.multipv, &mut budget, &mut report)
        };
        budget.threads = usize::MAX;
        let end = end.or_else(|| self.whole.search_within(game, root, &mut roots, &mut budget, &mut report));
        (last, end.expect("a whole search ends for a reason"))
    }

    fn clear(&mut self) {
        self.whole.clear();
        self.drawn.clear();
    }
}
