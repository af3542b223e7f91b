//! The root moves of a search: what each iteration learned of them, which of them are its lines, and whether
//! more search could change these.

use crate::game::{Game, Root};
use crate::score::{Score, Value};
use crate::search::helpers::IterationSizes;
use crate::search::sort::sort_by_key;
use crate::search::thread::{is_lost, is_settled};
use crate::search::time_manager::TimeManager;
use crate::search::{Bound, SearchParams, SearchResult, Variation, clock};

/// The root moves of a search, best first, and how deep they were searched.
pub(super) struct Roots<M> {
    pub(super) moves: Vec<RootMove<M>>,
    pub(super) multipv: usize,
    /// The last depth that was searched whole.
    pub(super) depth: u32,
    /// The best move at that depth.
    pub(super) best: Option<M>,
    pub(super) sizes: IterationSizes,
    pub(super) time: TimeManager,
}

impl<M: Copy + PartialEq> Roots<M> {
    /// The moves that a search may choose from, in the game's own order.
    pub(super) fn new<G: Game<Move = M>>(game: &G, root: &Root<G>, params: &SearchParams<M>) -> Self {
        let unknown =
            |&mv| RootMove { mv, line: vec![mv], value: Value::default(), bound: Bound::Upper, depth: 0 };
        let mut moves: Vec<_> = params.moves.iter().map(unknown).collect();
        sort_by_key(&mut moves, |known| -i64::from(game.order(&root.pos, known.mv)));
        Self {
            moves,
            multipv: params.multipv,
            depth: 0,
            best: None,
            sizes: IterationSizes::default(),
            time: TimeManager::new(clock::now_ns()),
        }
    }

    /// Leaves moves out of the rest of the search, and asks for `multipv` lines of the others.
    pub(super) fn narrow(&mut self, keep: impl Fn(M) -> bool, multipv: usize) {
        self.moves.retain(|known| keep(known.mv));
        self.multipv = multipv.min(self.moves.len());
    }

    /// The moves whose outcome the search decided, with their values.
    pub(super) fn decided(&self) -> impl Iterator<Item = (M, Value)> {
        self.moves.iter().filter(|known| known.value.is_decided()).map(|known| (known.mv, known.value))
    }

    /// What the best move is worth.
    pub(super) fn score(&self) -> Score {
        self.moves[0].value.score
    }

    /// The lines.
    pub(super) fn found(&self) -> SearchResult<M> {
        found(&self.moves, self.multipv)
    }
}

/// A move of the root and what is known of it.
#[derive(Clone)]
pub(super) struct RootMove<M> {
    pub(super) mv: M,
    pub(super) line: Vec<M>,
    pub(super) value: Value,
    pub(super) bound: Bound,
    pub(super) depth: u32,
}

/// Whether a score is a win that ends beyond the horizon of a search to `depth`, as a [`Game::probe`] proves
/// it: this or another move may win sooner.
pub(super) fn is_beyond(score: Score, depth: u32) -> bool {
    score.is_win() && score.distance() > Some(depth)
}

/// The first `multipv` root moves as lines. A line is proven to be unbeaten only if every move ranked below
/// it is proven no better.
pub(super) fn found<M: Copy>(roots: &[RootMove<M>], multipv: usize) -> SearchResult<M> {
    let lines = roots.iter().take(multipv).enumerate().map(|(rank, known)| {
        let value = Value { at_most: known.value.at_most && is_ceiling(roots, rank), ..known.value };
        let value = (known.depth > 0).then_some((value, known.bound));
        Variation { pv: known.line.clone(), depth: known.depth, value }
    });
    SearchResult { lines: lines.collect() }
}

/// Whether no move that ranks below can be better than the move at `rank`.
fn is_ceiling<M>(roots: &[RootMove<M>], rank: usize) -> bool {
    roots[rank + 1..].iter().all(|below| below.value.at_most && below.value.score <= roots[rank].value.score)
}

/// Whether every move but the best is proven lost.
pub(super) fn is_forced<G: Game>(roots: &[RootMove<G::Move>]) -> bool {
    roots[1..].iter().all(|other| is_lost::<G>(other.value.score) && other.value.at_most)
}

/// Whether more search could change nothing: every line is settled, with its distance if that is asked for
/// or lies beyond the horizon, and no other move can displace one.
pub(super) fn is_answered<G: Game>(roots: &[RootMove<G::Move>], multipv: usize, exact: bool) -> bool {
    let lines = &roots[..multipv.min(roots.len())];
    let is_beyond = |known: &RootMove<_>| is_beyond(known.value.score, known.depth);
    let is_settled = |known: &RootMove<_>| {
        let is_enough = known.value.is_exact() || !(exact || is_beyond(known));
        is_settled::<G>(known.value) && is_enough && known.bound == Bound::Exact
    };
    let is_won = |known: &RootMove<_>| known.value.score.is_win() && !is_beyond(known);
    let all_won = !G::SCORED && !exact && lines.iter().all(is_won);
    lines.iter().all(is_settled) && (all_won || is_ceiling(roots, lines.len() - 1))
}
