//! The player `published`: time-limited iterative deepening over plain alpha-beta with a stopping rule, as an
//! AI-Isolation project published it (alikureishy/AI-isolation, `game_agent.py`).
//!
//! One thing differs from the original: a search that has decided the game ends at once, whichever moves win
//! or lose. It has no table and no move ordering but the board's: it is there to measure others against.

use super::rules::{Isolation, Position, Target};
use crate::bits::Bits;
use plyd_core::game::{Context, Evaluator, Game, Root, Side, Turn};
use plyd_core::score::{Score, Value};
use plyd_core::search::thread::SearchThread;
use plyd_core::search::{Control, End, SearchParams, SearchResult, Searcher, clock};

/// The depth after the last one: Python's `range(.., 25)`.
const DEPTHS_END: u32 = 25;
/// The first depth of the published tournament. The stopping rule counts from it; the shallower depths,
/// searched for an early answer, change nothing.
const FIRST_COUNTED: u32 = 3;
/// How many depths in a row must agree on a move to end the search.
const AGREEING: u32 = 3;

/// Iterative deepening over plain alpha-beta that ends when three depths in a row return one move.
#[derive(Clone, Debug)]
pub struct PublishedPlayer<E> {
    evaluator: E,
    depth: u32,
}

impl<E> PublishedPlayer<E> {
    /// The player with an evaluation and the deepest depth that it may search to, if it is limited.
    #[must_use]
    pub fn new(evaluator: E, depth: Option<u32>) -> Self {
        Self { evaluator, depth: depth.unwrap_or(u32::MAX) }
    }
}

impl<B: Bits, E: Evaluator<Isolation<B>>> Searcher<Isolation<B>> for PublishedPlayer<E> {
    fn search(
        &mut self,
        game: &Isolation<B>,
        root: &Root<Isolation<B>>,
        asked: &SearchParams<Target>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<Target>),
    ) -> (SearchResult<Target>, End) {
        let mut found = SearchResult::one(asked.moves[0], 0, None);
        publish(&found);
        let thread = SearchThread::alone(control);
        let mut tree = Tree { game, evaluator: &self.evaluator, root: root.pos.mover(), thread };
        let end = self.deepen(&mut tree, root, asked, &mut found, publish);
        tree.thread.show();
        (found, end)
    }

    fn clear(&mut self) {}
}

impl<E> PublishedPlayer<E> {
    /// Searches depth after depth and keeps the last answer in `found`.
    fn deepen<B: Bits>(
        &self,
        tree: &mut Tree<'_, B, E>,
        root: &Root<Isolation<B>>,
        asked: &SearchParams<Target>,
        found: &mut SearchResult<Target>,
        publish: &mut dyn FnMut(&SearchResult<Target>),
    ) -> End
    where
        E: Evaluator<Isolation<B>>,
    {
        let control = tree.thread.control();
        let mut agreeing = 0;
        for depth in 1..DEPTHS_END {
            if depth > self.depth || depth > control.depth_limit() {
                break;
            }
            let (mv, score) = match tree.choose(&root.pos, &asked.moves, depth) {
                Ok(best) => best,
                Err(end) => return end,
            };
            let same = depth > FIRST_COUNTED && found.lines[0].pv[0] == mv;
            agreeing = if same { agreeing + 1 } else { u32::from(depth >= FIRST_COUNTED) };
            let value = value(score, depth);
            *found = SearchResult::one(mv, depth, Some(value));
            tree.thread.depth = depth;
            tree.thread.show();
            publish(found);
            if value.is_decided() {
                return End::Proven;
            }
            if agreeing == AGREEING {
                break;
            }
            if clock::now_ns() >= control.soft_ns() {
                return End::Clock;
            }
        }
        End::Limit
    }
}

/// What a score of a search to `depth` proves: an infinite one that the game ends within that depth.
fn value(score: Score, depth: u32) -> Value {
    // The root player wins after an odd number of moves and loses after an even one.
    if score == Score::INFINITE {
        Value { score: Score::win_in((depth - 1) | 1), at_least: true, at_most: false }
    } else if score == -Score::INFINITE {
        Value { score: Score::loss_in(depth & !1), at_least: false, at_most: true }
    } else {
        Value::guess(score)
    }
}

/// Alpha-beta over one tree.
struct Tree<'a, B: Bits, E> {
    game: &'a Isolation<B>,
    evaluator: &'a E,
    root: Side,
    thread: SearchThread<'a>,
}

impl<B: Bits, E: Evaluator<Isolation<B>>> Tree<'_, B, E> {
    /// The first of the best moves at the root and its score.
    fn choose(&mut self, pos: &Position<B>, moves: &[Target], depth: u32) -> Result<(Target, Score), End> {
        self.thread.visit(0)?;
        let mut best = None;
        let mut alpha = -Score::INFINITE;
        for &mv in moves {
            let score =
                -self.alpha_beta(&after(self.game, pos, mv), mv, depth - 1, 1, -Score::INFINITE, -alpha)?;
            if best.is_none_or(|(_, best)| score > best) {
                best = Some((mv, score));
                alpha = score;
            }
            if alpha == Score::INFINITE {
                break;
            }
        }
        Ok(best.expect("a search is asked for one move at least"))
    }

    /// The score of a position from its mover's view. A lost one is infinite, at any distance.
    fn alpha_beta(
        &mut self,
        pos: &Position<B>,
        last: Target,
        depth: u32,
        ply: u32,
        mut alpha: Score,
        beta: Score,
    ) -> Result<Score, End> {
        self.thread.visit(ply)?;
        if self.game.turn(pos) != Turn::Move {
            return Ok(-Score::INFINITE);
        }
        if depth == 0 {
            let context = Context { root: self.root, last: Some(last) };
            return Ok(self.evaluator.evaluate(self.game, pos, &context));
        }
        let mut best = None;
        for cell in self.game.targets(pos, pos.mover()).cells() {
            let mv = Target(cell);
            let score =
                -self.alpha_beta(&after(self.game, pos, mv), mv, depth - 1, ply + 1, -beta, -alpha)?;
            let better = best.map_or(score, |best: Score| best.max(score));
            best = Some(better);
            alpha = alpha.max(better);
            if better >= beta {
                break;
            }
        }
        Ok(best.expect("the mover has a move"))
    }
}

/// The position after a move.
fn after<B: Bits>(game: &Isolation<B>, pos: &Position<B>, mv: Target) -> Position<B> {
    let mut next = *pos;
    game.play(&mut next, mv);
    next
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::oracle::{Oracle, published_move, random_games};
    use super::super::published_eval::{Formula, Published};
    use super::*;

    type Small = Isolation<u64>;

    fn question(oracle: &Oracle) -> (Small, Root<Small>, SearchParams<Target>) {
        let game = Small::new(oracle.width as usize, oracle.height as usize);
        let root = Root::<Small>::new(Layout::parse(&oracle.text()).unwrap().position(&game));
        let mut moves = Vec::new();
        game.moves(&root.pos, &mut moves);
        (game, root, SearchParams { moves, multipv: 1 })
    }

    /// Everything that the player published, and its last answer.
    fn search(
        formula: Formula,
        oracle: &Oracle,
        control: &Control,
    ) -> (Vec<SearchResult<Target>>, (SearchResult<Target>, End)) {
        let (game, root, asked) = question(oracle);
        let mut player = PublishedPlayer::new(Published::new(&game, formula), None);
        let mut published = Vec::new();
        let last = player.search(&game, &root, &asked, control, &mut |found| published.push(found.clone()));
        (published, last)
    }

    #[test]
    fn moves_and_scores_are_the_published_ones() {
        let mut compared = 0;
        random_games(5, 5, 6, |ply, oracle| {
            if ply < 8 || oracle.legal_moves(oracle.active).is_empty() {
                return;
            }
            for formula in Formula::ALL {
                let (place, depth, score) = published_move(formula, oracle);
                let control = Control::default();
                let (_, (found, end)) = search(formula, oracle, &control);
                let line = &found.lines[0];
                let mv = (i32::from(line.pv[0].0) / 5, i32::from(line.pv[0].0) % 5);
                let (value, _) = line.value.unwrap();
                if score.is_finite() {
                    assert_eq!(
                        (mv, line.depth, end),
                        (place, depth, End::Limit),
                        "{formula:?} in {}",
                        oracle.text()
                    );
                    assert_eq!(value, Value::guess(Score::eval((score * 1000.0) as i32)));
                } else {
                    assert_eq!((end, value.score.is_win()), (End::Proven, score > 0.0));
                    let (loses, plies) = oracle.after(mv).solve();
                    let bound = value.score.distance().unwrap();
                    assert!(value.is_decided() && loses != value.score.is_win());
                    assert!(plies < bound && bound <= depth && (bound - plies) % 2 == 1, "{plies} {bound}");
                }
                assert_eq!(control.stats().depth, line.depth);
                compared += 1;
            }
        });
        assert!(compared > 100, "{compared} positions");
    }

    #[test]
    fn each_depth_is_published_and_limits_are_kept() {
        let oracle = Oracle::new(7, 7).after((3, 3)).after((1, 2));
        let control = Control::default();
        control.set_limits(None, Some(4));
        let (published, (found, end)) = search(Formula::Improved, &oracle, &control);
        let depths: Vec<u32> = published.iter().map(|found| found.lines[0].depth).collect();
        assert_eq!((depths, end), (vec![0, 1, 2, 3, 4], End::Limit));
        assert_eq!(published.last(), Some(&found));

        for nodes in [0, 1, 50, 400] {
            let control = Control::default();
            control.set_limits(Some(nodes), None);
            let (_, (_, end)) = search(Formula::WinLose, &oracle, &control);
            assert_eq!((control.stats().nodes, end), (nodes, End::Limit));
        }
    }

    #[test]
    fn a_stopped_search_answers_a_legal_move() {
        let oracle = Oracle::new(7, 7).after((3, 3)).after((1, 2));
        let stopped = Control::default();
        stopped.stop();
        let late = Control::default();
        late.set_deadlines(0, 0);
        for (control, expected, depth) in [(stopped, End::Stopped, 0), (late, End::Clock, 1)] {
            let (published, (found, end)) = search(Formula::Improved, &oracle, &control);
            assert_eq!((end, found.lines[0].depth), (expected, depth));
            assert_eq!(published[0].lines[0].pv.len(), 1);
        }
    }
}
