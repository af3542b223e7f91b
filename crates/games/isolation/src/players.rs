//! The player `published`: time-limited iterative deepening over plain alpha-beta with a stopping rule, as an
//! AI-Isolation project published it (alikureishy/AI-isolation, `game_agent.py`).
//!
//! One thing differs from the original: a search that has decided the game ends at once, whichever moves win
//! or lose.

use std::ops::RangeInclusive;

use super::rules::{Isolation, Position, Target};
use plyd_core::bits::Bits;
use plyd_core::game::{Context, Evaluator, Outcome, Root};
use plyd_core::score::{Score, Value};
use plyd_core::search::published::{Agent, Deepening, RootLine};
use plyd_core::search::thread::SearchThread;
use plyd_core::search::{End, SearchParams};

/// The last depth: Python's `range(.., 25)`.
const DEPTHS: u32 = 24;
/// The first depth of the published tournament. The stopping rule counts from it; the shallower depths,
/// searched for an early answer, change nothing.
const FIRST_COUNTED: u32 = 3;
/// How many depths in a row must agree on a move to end the search.
const AGREEING: u32 = 3;

/// Iterative deepening over plain alpha-beta that ends when three depths in a row return one move.
#[derive(Clone, Debug)]
pub(super) struct PublishedPlayer<E> {
    evaluator: E,
    depth: u32,
    /// The best move of the last depth, and how many depths in a row agreed on it.
    agreed: Option<(Target, u32)>,
}

impl<E> PublishedPlayer<E> {
    /// The player with an evaluation, and with a depth limit if `depth` gives one.
    #[must_use]
    pub(super) fn new(evaluator: E, depth: Option<u32>) -> Deepening<Self> {
        Deepening(Self { evaluator, depth: depth.unwrap_or(DEPTHS).min(DEPTHS), agreed: None })
    }
}

impl<B: Bits, E: Evaluator<Isolation<B>>> Agent<Isolation<B>> for PublishedPlayer<E> {
    type Evaluator = E;

    fn evaluator(&self) -> &E {
        &self.evaluator
    }

    fn depths(&self, _limit: u32) -> RangeInclusive<u32> {
        1..=self.depth
    }

    fn begin(
        &mut self,
        _game: &Isolation<B>,
        _root: &Root<Isolation<B>>,
        params: &SearchParams<Target>,
    ) -> Option<Target> {
        self.agreed = None;
        Some(params.moves[0])
    }

    /// The root counts as a node of each depth.
    fn root_moves(
        &self,
        _game: &Isolation<B>,
        _pos: &Position<B>,
        asked: &[Target],
        thread: &mut SearchThread<'_>,
    ) -> Vec<Target> {
        thread.tick();
        asked.to_vec()
    }

    /// A lost position is infinitely bad, at any distance.
    fn final_value(
        &self,
        _game: &Isolation<B>,
        _pos: &Position<B>,
        _outcome: &Outcome,
        _context: &Context<Target>,
        _distance: u32,
    ) -> Value {
        Value::guess(-Score::INFINITE)
    }

    fn lines_kept(&self, _multipv: usize) -> usize {
        1
    }

    fn conclude(&mut self, depth: u32, _values: &[Value], lines: &mut Vec<RootLine<Target>>) -> Option<End> {
        let line = &mut lines[0];
        line.pv.truncate(1);
        line.value = claim(line.value.score, depth);
        let earlier = self.agreed.filter(|&(mv, _)| depth > FIRST_COUNTED && mv == line.pv[0]);
        let agreeing = earlier.map_or(u32::from(depth >= FIRST_COUNTED), |(_, depths)| depths + 1);
        self.agreed = Some((line.pv[0], agreeing));
        if line.value.is_decided() { Some(End::Proven) } else { (agreeing == AGREEING).then_some(End::Limit) }
    }
}

/// What a score of a search to `depth` proves: an infinite one that the game ends within that depth.
fn claim(score: Score, depth: u32) -> Value {
    // The root player wins after an odd number of moves and loses after an even one.
    if score == Score::INFINITE {
        Value { score: Score::win_in((depth - 1) | 1), at_least: true, at_most: false }
    } else if score == -Score::INFINITE {
        Value { score: Score::loss_in(depth & !1), at_least: false, at_most: true }
    } else {
        Value::guess(score)
    }
}

#[cfg(test)]
mod tests {
    use super::super::notation::Layout;
    use super::super::oracle::{Oracle, published_move, random_games};
    use super::super::published_eval::{Formula, Published};
    use super::*;
    use plyd_core::game::Game;
    use plyd_core::search::{Control, SearchResult, Searcher};

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
