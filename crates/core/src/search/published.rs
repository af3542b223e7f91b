//! Plain alpha-beta by iterative deepening: the one search behind the textbook's players and the published
//! agents.
//!
//! It has no table, no aspiration windows and no quiescence search, and orders moves only as its agent says:
//! it is there to measure others against. What an agent does in its own way is a method of [`Agent`].
//! Chance nodes are averaged whole (expectiminimax).

use std::ops::RangeInclusive;
use std::sync::atomic::AtomicU64;

use crate::game::{Context, Evaluator, Game, Outcome, Root, Side, Turn};
use crate::score::{Score, Value};
use crate::search::chance::{Proof, average, worth};
use crate::search::first_look::FirstLook;
use crate::search::thread::{Reached, SearchBudget, SearchThread, final_value};
use crate::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, Variation, clock};

/// A move at the root with its value and the line that follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RootLine<M> {
    /// The moves from the root on.
    pub pv: Vec<M>,
    /// The depth of the iteration that found it.
    pub depth: u32,
    /// The value from the root mover's view.
    pub value: Value,
}

/// What one player does in its own way in an otherwise plain alpha-beta search.
///
/// By default it does as the textbook says: each depth is searched whole, from the moves as they are asked
/// for, and a move is worth what the rules or the evaluation make of the best play within that depth.
///
/// ```
/// use std::ops::RangeInclusive;
///
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::search::published::{Agent, Deepening};
/// use plyd_core::search::thread::SearchThread;
/// use plyd_core::search::{Control, SearchParams, Searcher};
///
/// /// Tries to take many stones first, and sees four plies.
/// struct Greedy(Rest);
///
/// impl Agent<Nim> for Greedy {
///     type Evaluator = Rest;
///
///     fn evaluator(&self) -> &Rest {
///         &self.0
///     }
///     fn depths(&self, limit: u32) -> RangeInclusive<u32> {
///         1..=limit.min(4)
///     }
///     fn root_moves(&self, _: &Nim, _: &Heap, asked: &[u8], _: &mut SearchThread<'_>) -> Vec<u8> {
///         asked.iter().rev().copied().collect()
///     }
/// }
///
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(7)));
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let (found, _end) =
///     Deepening(Greedy(Rest)).search(&nim, &root, &params, &Control::default(), &mut |_| ());
/// assert_eq!((found.lines[0].pv[0], found.lines[0].depth), (3, 4));
/// ```
pub trait Agent<G: Game>: Send {
    /// The evaluation of positions at the horizon.
    type Evaluator: Evaluator<G>;

    /// Whether no depth begins after the soft deadline.
    const HEEDS_CLOCK: bool = true;
    /// Whether each better line is published at once, and counts even if its depth is not finished. Unless
    /// the agent keeps the best of all depths, that is so at the first depth alone: a part of a deeper one is
    /// no better than a whole depth.
    const PUBLISHES_AT_ONCE: bool = false;
    /// Whether a line is replaced only by a better one, whatever the depths of the two.
    const KEEPS_BEST: bool = false;

    /// The evaluation of positions at the horizon.
    fn evaluator(&self) -> &Self::Evaluator;

    /// The depths to search, from 1, if the search is limited to `limit` plies (`u32::MAX` if it is not).
    ///
    /// The first of them is always searched; the others while the limit, which may change, allows it.
    fn depths(&self, limit: u32) -> RangeInclusive<u32>;

    /// The same for a search with a deadline. If they begin past 1, depth 1 is searched before them, for an
    /// answer in case that there is no time for more.
    fn timed_depths(&self, limit: u32) -> RangeInclusive<u32> {
        self.depths(limit)
    }

    /// Begins a search. Gives the move to publish before the first node, if there is one.
    fn begin(&mut self, _game: &G, _root: &Root<G>, _params: &SearchParams<G::Move>) -> Option<G::Move> {
        None
    }

    /// The moves to search at the root among those asked for, in their order. It counts the nodes that it
    /// visits on `thread`.
    fn root_moves(
        &self,
        _game: &G,
        _pos: &G::Position,
        asked: &[G::Move],
        _thread: &mut SearchThread<'_>,
    ) -> Vec<G::Move> {
        asked.to_vec()
    }

    /// Appends the moves to search below the root, in their order. It counts the nodes that it visits on
    /// `thread`.
    fn moves(&self, game: &G, pos: &G::Position, _thread: &mut SearchThread<'_>, out: &mut Vec<G::Move>) {
        game.moves(pos, out);
    }

    /// Whether the position is evaluated at any depth, as if it were at the horizon.
    fn is_leaf(&self, _game: &G, _pos: &G::Position) -> bool {
        false
    }

    /// The value of a finished game for [`Game::side`], `distance` plies after the root.
    fn final_value(
        &self,
        game: &G,
        pos: &G::Position,
        outcome: &Outcome,
        _context: &Context<G::Move>,
        distance: u32,
    ) -> Value {
        final_value::<G>(outcome, game.side(pos), distance)
    }

    /// Whether moves are left out that cannot change the value of the root (alpha-beta; otherwise minimax).
    fn prunes(&self) -> bool {
        true
    }

    /// How many lines are kept at the root of a search that is asked for `multipv` lines.
    fn lines_kept(&self, multipv: usize) -> usize {
        multipv
    }

    /// The value that the next move at the root has to exceed; `is_full` if a line that is not among the best
    /// is dropped.
    fn root_alpha(&self, lines: &[RootLine<G::Move>], is_full: bool) -> Score {
        lines.last().filter(|_| is_full).map_or(-Score::INFINITE, |line| line.value.score)
    }

    /// Makes the answer from the lines of a depth that was searched whole; `values` are those of all moves at
    /// the root. Gives why no further depth is searched, if none is.
    fn conclude(
        &mut self,
        _depth: u32,
        _values: &[Value],
        _lines: &mut Vec<RootLine<G::Move>>,
    ) -> Option<End> {
        None
    }
}

/// The search of an agent: [`Agent`] has an example.
#[derive(Clone, Debug)]
pub struct Deepening<A>(pub A);

impl<G: Game, A: Agent<G>> Searcher<G> for Deepening<A> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        let Self(agent) = self;
        let first = agent.begin(game, root, params);
        let mut found = SearchResult::one(first.unwrap_or(params.moves[0]), 0, None);
        if first.is_some() {
            publish(&found);
        }
        let mut publish = |lines: &[RootLine<G::Move>]| {
            let better = result(lines);
            if better != found {
                found = better;
                publish(&found);
            }
        };
        let look = FirstLook::new(game);
        let nobody = AtomicU64::new(0);
        let mut budget = SearchBudget::whole(control, &nobody);
        let end = loop {
            let limit = control.depth_limit();
            let is_timed = control.is_timed();
            let depths = if is_timed { agent.timed_depths(limit) } else { agent.depths(limit) };
            // An agent that begins with a large depth has no answer in time once it gets a deadline, so it
            // begins anew.
            budget.until_clocked = !is_timed && *depths.start() > 1;
            let mut tree = PublishedSearch {
                game,
                agent: &mut *agent,
                root: game.side(&root.pos),
                thread: SearchThread::first(&budget),
                stack: Vec::new(),
            };
            let end = tree.deepen(root, params, control, depths, is_timed.then_some(&look), &mut publish);
            tree.thread.show();
            budget.take(&tree.thread);
            if tree.thread.reached() != Some(Reached::Budget) || control.stopped() {
                break end;
            }
        };
        (found, end)
    }

    fn clear(&mut self) {}
}

fn result<M: Copy>(lines: &[RootLine<M>]) -> SearchResult<M> {
    let line = |line: &RootLine<M>| Variation {
        pv: line.pv.clone(),
        depth: line.depth,
        value: Some((line.value, Bound::Exact)),
    };
    SearchResult { lines: lines.iter().map(line).collect() }
}

/// What better lines go to.
type Publish<'a, M> = &'a mut dyn FnMut(&[RootLine<M>]);

/// One search of an agent.
struct PublishedSearch<'a, G: Game, A> {
    game: &'a G,
    agent: &'a mut A,
    root: Side,
    thread: SearchThread<'a>,
    stack: Vec<G::Move>,
}

impl<'a, G: Game, A: Agent<G>> PublishedSearch<'a, G, A> {
    /// Searches one depth after the other, before them depth 1 by a first look if there may be no time for
    /// the first of them; gives why no further one is searched.
    fn deepen(
        &mut self,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        depths: RangeInclusive<u32>,
        look: Option<&'a FirstLook<G>>,
        publish: Publish<'_, G::Move>,
    ) -> End {
        let mut pos = root.pos.clone();
        let mut lines = Vec::new();
        let first_depth = *depths.start();
        let look = look.filter(|look| first_depth > 1 || look.is_quicker());
        if let Some(look) = look {
            let game = self.game;
            self.game = look.game(game);
            let values = self.search(&mut pos, params, 1, &mut lines, A::PUBLISHES_AT_ONCE, publish);
            self.game = game;
            if values.is_none() {
                return self.thread.end().unwrap_or(End::Stopped);
            }
            self.show_whole(1, &lines, publish);
            // It is none of the agent's own depths.
            lines.clear();
        }
        for depth in depths {
            if depth > first_depth && depth > control.depth_limit() {
                break;
            }
            if !A::KEEPS_BEST {
                lines.clear();
            }
            // A part of depth 1 is no better than the whole look.
            let is_first = depth == first_depth && !(depth == 1 && look.is_some());
            let at_once = A::PUBLISHES_AT_ONCE && (A::KEEPS_BEST || is_first);
            let Some(values) = self.search(&mut pos, params, depth, &mut lines, at_once, publish) else {
                return self.thread.end().unwrap_or(End::Stopped);
            };
            let concluded = self.agent.conclude(depth, &values, &mut lines);
            self.show_whole(depth, &lines, publish);
            if let Some(reason) = concluded {
                return reason;
            }
            if A::HEEDS_CLOCK && clock::now_ns() >= control.soft_ns() {
                return End::Clock;
            }
        }
        End::Limit
    }

    /// Shows and publishes a depth that was searched whole.
    fn show_whole(&mut self, depth: u32, lines: &[RootLine<G::Move>], publish: Publish<'_, G::Move>) {
        self.thread.depth = depth;
        self.thread.show();
        publish(lines);
    }

    /// Searches the moves at the root and puts the best lines, best first and equal ones in the order of
    /// their moves, into `lines`, and publishes each better one if that is to be done at once; gives the
    /// values of all, or nothing if there was no time.
    fn search(
        &mut self,
        pos: &mut G::Position,
        params: &SearchParams<G::Move>,
        depth: u32,
        lines: &mut Vec<RootLine<G::Move>>,
        at_once: bool,
        publish: Publish<'_, G::Move>,
    ) -> Option<Vec<Value>> {
        let moves = self.agent.root_moves(self.game, pos, &params.moves, &mut self.thread);
        if self.thread.is_over() {
            return None;
        }
        let kept = self.agent.lines_kept(params.multipv);
        let mut values = Vec::with_capacity(moves.len());
        for mv in moves {
            let alpha = self.agent.root_alpha(lines, lines.len() >= kept);
            if alpha == Score::INFINITE {
                break;
            }
            let mut pv = Vec::new();
            let undo = self.game.play(pos, mv);
            let value = self.child(pos, self.root, depth, 0, mv, (alpha, Score::INFINITE), &mut pv);
            let value = if self.game.is_undecided(pos) { Value::guess(value.score) } else { value };
            self.game.undo(pos, mv, undo);
            if self.thread.is_over() {
                return None;
            }
            values.push(value);
            let rank = lines.partition_point(|line| line.value.score >= value.score);
            if rank < kept {
                pv.push(mv);
                pv.reverse();
                lines.insert(rank, RootLine { pv, depth, value });
                lines.truncate(kept);
                if at_once {
                    publish(&unbounded(lines));
                }
            }
        }
        Some(values)
    }

    /// The value after `mv` was played by `side`, from `side`'s view; `depth` counts `mv`. Gives the line
    /// that follows in reverse.
    #[expect(clippy::too_many_arguments, reason = "a node of a tree: position, place, window, line")]
    fn child(
        &mut self,
        pos: &mut G::Position,
        side: Side,
        depth: u32,
        distance: u32,
        mv: G::Move,
        (alpha, beta): (Score, Score),
        pv: &mut Vec<G::Move>,
    ) -> Value {
        if self.game.side(pos) == side {
            self.node(pos, depth - 1, distance + 1, mv, (alpha, beta), pv)
        } else {
            -self.node(pos, depth - 1, distance + 1, mv, (-beta, -alpha), pv)
        }
    }

    /// The value of a position after `last` from the view of its side, fail-soft.
    fn node(
        &mut self,
        pos: &mut G::Position,
        depth: u32,
        distance: u32,
        last: G::Move,
        (mut alpha, beta): (Score, Score),
        pv: &mut Vec<G::Move>,
    ) -> Value {
        pv.clear();
        if self.thread.tick() {
            return Value::default();
        }
        self.thread.seldepth = self.thread.seldepth.max(distance);
        let game = self.game;
        let context = Context { root: self.root, last: Some(last) };
        match game.turn(pos) {
            Turn::Over(outcome) => return self.agent.final_value(game, pos, &outcome, &context, distance),
            Turn::Chance => return self.average(pos, depth, distance),
            Turn::Move => {}
        }
        if depth == 0 || self.agent.is_leaf(game, pos) {
            return Value::guess(self.agent.evaluator().evaluate(game, pos, &context));
        }
        let (side, prunes) = (game.side(pos), self.agent.prunes());
        let base = self.stack.len();
        self.agent.moves(game, pos, &mut self.thread, &mut self.stack);
        let (mut best, mut line) = (Value::NOTHING, Vec::new());
        for at in base..self.stack.len() {
            if self.thread.is_over() {
                break;
            }
            let mv = self.stack[at];
            let window = if prunes { (alpha, beta) } else { (-Score::INFINITE, Score::INFINITE) };
            let undo = game.play(pos, mv);
            let value = self.child(pos, side, depth, distance, mv, window, &mut line);
            game.undo(pos, mv, undo);
            let is_better = value.score > best.score;
            best = best.or(value);
            if is_better {
                line.push(mv);
                std::mem::swap(pv, &mut line);
                alpha = alpha.max(best.score);
                if prunes && best.score >= beta {
                    // The moves that are left bound nothing.
                    best.at_most = false;
                    break;
                }
            }
        }
        self.stack.truncate(base);
        best
    }

    /// The average over all outcomes of a chance node.
    fn average(&mut self, pos: &mut G::Position, depth: u32, distance: u32) -> Value {
        let game = self.game;
        let side = game.side(pos);
        let mut outcomes = Vec::new();
        game.outcomes(pos, &mut outcomes);
        let (low, high) = self.agent.evaluator().range();
        let (mut sum, mut total) = (0, 0);
        let mut proof = Proof::default();
        for (mv, weight) in outcomes {
            let undo = game.play(pos, mv);
            let open = (-Score::INFINITE, Score::INFINITE);
            let mut value = self.node(pos, depth, distance, mv, open, &mut Vec::new());
            if game.side(pos) != side {
                value = -value;
            }
            game.undo(pos, mv, undo);
            proof.add(value);
            sum += worth(value.score, i64::from(low), i64::from(high)) * i64::from(weight);
            total += i64::from(weight);
        }
        proof.value().unwrap_or_else(|| Value::guess(Score::eval(average(sum, total))))
    }
}

/// The lines without the claim that no other move is better, as long as not all are searched.
fn unbounded<M: Copy>(lines: &[RootLine<M>]) -> Vec<RootLine<M>> {
    let line = |line: &RootLine<M>| RootLine {
        pv: line.pv.clone(),
        depth: line.depth,
        value: Value { at_most: false, ..line.value },
    };
    lines.iter().map(line).collect()
}
