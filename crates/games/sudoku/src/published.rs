//! The player `published`: minimax with alpha-beta and iterative deepening as a student team published it
//! ("Assignment A2: Team 33", 2023, `sudokuai.py`), with its heuristics each on or off.
//!
//! It knows no taboo moves but those that were declared. As in the original, it keeps the best value over all
//! depths, so that a shallow value that was too high is never corrected.

use std::ops::RangeInclusive;

use super::naive::Naive;
use super::position::Position;
use super::rules::Fill;
use plyd_core::game::{Context, Evaluator, Game, Outcome, Root};
use plyd_core::score::{Score, Value};
use plyd_core::search::SearchParams;
use plyd_core::search::one_ply::choices;
use plyd_core::search::published::{Agent, Deepening, RootLine};
use plyd_core::search::thread::SearchThread;

/// The order in which moves are tried, the same at every node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum MoveOrder {
    /// Shuffled once a move.
    Random,
    /// Cells by their number of legal values, those with two last: the published `avoid two-free`.
    AvoidTwoFree,
}

/// The published player with an evaluation.
pub(super) struct PublishedPlayer<E> {
    evaluator: E,
    order: MoveOrder,
    seed: u64,
    depth: Option<u32>,
    /// The moves of either side at the root, in the player's order.
    moves: Vec<Fill>,
    /// Those among them that are asked for.
    candidates: Vec<Fill>,
}

impl<E> PublishedPlayer<E> {
    /// The player with an evaluation, an order of moves, the seed of its shuffles, and a depth limit if
    /// `depth` gives one.
    #[must_use]
    pub(super) fn new(evaluator: E, order: MoveOrder, seed: u64, depth: Option<u32>) -> Deepening<Self> {
        Deepening(Self { evaluator, order, seed, depth, moves: Vec::new(), candidates: Vec::new() })
    }

    /// The moves of either side in the player's order.
    fn ordered(&self, game: &Naive, root: &Root<Naive>) -> Vec<Fill> {
        let (rules, pos) = (game.rules(), &root.pos);
        let open = |cell: usize| pos.open_values(rules.grid(), cell);
        let mut moves: Vec<Fill> =
            (0..rules.grid().cells()).flat_map(|cell| Fill::all(cell, open(cell))).collect();
        match self.order {
            MoveOrder::Random => {
                let mut random = choices(game, root, self.seed);
                moves.sort_by_cached_key(|_| random.next());
            }
            MoveOrder::AvoidTwoFree => moves.sort_by_key(|mv| {
                let free = open(mv.cell.into()).count_ones();
                (free == 2, free)
            }),
        }
        moves
    }
}

impl<E: Evaluator<Naive>> Agent<Naive> for PublishedPlayer<E> {
    type Evaluator = E;

    const PUBLISHES_AT_ONCE: bool = true;
    const KEEPS_BEST: bool = true;

    fn evaluator(&self) -> &E {
        &self.evaluator
    }

    /// The published depth counts the plies after the root's move.
    fn depths(&self, _limit: u32) -> RangeInclusive<u32> {
        2..=self.depth.unwrap_or(u32::MAX).min(self.moves.len() as u32).max(2)
    }

    fn begin(&mut self, game: &Naive, root: &Root<Naive>, params: &SearchParams<Fill>) -> Option<Fill> {
        self.moves = self.ordered(game, root);
        let mut asked = vec![false; game.index_len()];
        for &mv in &params.moves {
            asked[game.index(mv)] = true;
        }
        self.candidates = self.moves.iter().copied().filter(|&mv| asked[game.index(mv)]).collect();
        self.candidates.first().copied()
    }

    fn root_moves(
        &self,
        _game: &Naive,
        _pos: &Position,
        _asked: &[Fill],
        _thread: &mut SearchThread<'_>,
    ) -> Vec<Fill> {
        self.candidates.clone()
    }

    fn moves(&self, game: &Naive, pos: &Position, _thread: &mut SearchThread<'_>, out: &mut Vec<Fill>) {
        out.extend(self.moves.iter().copied().filter(|&mv| game.is_legal(pos, mv)));
    }

    /// Finished games are evaluated too.
    fn final_value(
        &self,
        game: &Naive,
        pos: &Position,
        _outcome: &Outcome,
        context: &Context<Fill>,
        _distance: u32,
    ) -> Value {
        Value::guess(self.evaluator.evaluate(game, pos, context))
    }

    fn lines_kept(&self, _multipv: usize) -> usize {
        1
    }

    fn root_alpha(&self, _lines: &[RootLine<Fill>], _is_full: bool) -> Score {
        -Score::INFINITE
    }
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, open};
    use super::super::eval::{FewerFilled, Points};
    use super::*;
    use plyd_core::game::Side;
    use plyd_core::search::{Control, End, SearchResult, Searcher};

    /// The value of a move as the published minimax computes it, without cuts.
    fn plain<E: Evaluator<Naive>>(
        (game, evaluator): (&Naive, &E),
        pos: &Position,
        mv: Fill,
        depth: u32,
        root: Side,
    ) -> Score {
        let mut next = pos.clone();
        game.play(&mut next, mv);
        let maximizes = game.side(&next) == root;
        let mut moves = Vec::new();
        game.moves(&next, &mut moves);
        if depth == 0 || moves.is_empty() {
            let score = evaluator.evaluate(game, &next, &Context { root, last: Some(mv) });
            return if maximizes { score } else { -score };
        }
        let values = moves.into_iter().map(|mv| plain((game, evaluator), &next, mv, depth - 1, root));
        if maximizes { values.max() } else { values.min() }.expect("a move")
    }

    fn moves_of(naive: &Naive, pos: &Position) -> Vec<Fill> {
        let mut moves = Vec::new();
        naive.moves(pos, &mut moves);
        moves
    }

    fn compare<E: Evaluator<Naive>>(
        evaluator: E,
        order: MoveOrder,
        text: &str,
        preset: &'static str,
        depth: u32,
    ) {
        let (game, pos) = open(text, preset);
        let naive = Naive::new(&game);
        let moves = moves_of(&naive, &pos);
        let asked = SearchParams { moves: moves.clone(), multipv: 1 };
        let mut published = Vec::new();
        let mut player = PublishedPlayer::new(evaluator.clone(), order, 3, Some(depth));
        let (found, end) =
            player.search(&naive, &Root::new(pos.clone()), &asked, &Control::default(), &mut |found| {
                published.push(found.lines[0].clone());
            });
        // A legal move first, then what is better than everything before it, at whatever depth.
        assert_eq!((published[0].value, end), (None, End::Limit));
        let scores: Vec<Score> =
            published[1..].iter().map(|line| line.value.expect("a value").0.score).collect();
        assert!(scores.is_sorted_by(|a, b| a < b), "{scores:?}");
        assert_eq!(found.lines[0], published[published.len() - 1]);
        let side = naive.side(&pos);
        let best = (1..depth)
            .flat_map(|depth| moves.iter().map(move |&mv| (mv, depth)))
            .map(|(mv, depth)| plain((&naive, &evaluator), &pos, mv, depth, side))
            .max();
        assert_eq!(scores.last().copied(), best, "{text} {order:?}");
    }

    #[test]
    fn it_finds_the_value_of_the_minimax_without_cuts() {
        for (name, preset, depth) in
            [("easy-2x2", "classic", 4), ("random-2x3", "classic", 3), ("empty-2x2", "rows", 3)]
        {
            let text = BOARDS.iter().find(|board| board.name == name).expect("a board").text;
            for order in [MoveOrder::Random, MoveOrder::AvoidTwoFree] {
                compare(Points, order, text, preset, depth);
                compare(FewerFilled, order, text, preset, depth);
            }
        }
    }

    #[test]
    fn it_answers_from_what_is_asked_for_within_its_nodes() {
        let text = BOARDS.iter().find(|board| board.name == "empty-3x3").expect("a board").text;
        let (game, pos) = open(text, "classic");
        let naive = Naive::new(&game);
        let asked = SearchParams { moves: moves_of(&naive, &pos).split_off(700), multipv: 1 };
        let control = Control::default();
        control.set_limits(Some(5000), None);
        let mut player = PublishedPlayer::new(Points, MoveOrder::Random, 1, None);
        let (found, end) = player.search(&naive, &Root::new(pos), &asked, &control, &mut |_| {});
        assert!(asked.moves.contains(&found.lines[0].pv[0]) && end == End::Limit, "{found:?} {end:?}");
        assert!(control.stats().nodes >= 5000 && control.stats().nodes < 7000, "{:?}", control.stats());
    }

    #[test]
    fn with_a_deadline_it_has_an_answer_of_depth_1_before_its_own_first_depth() {
        let text = BOARDS.iter().find(|board| board.name == "empty-3x3").expect("a board").text;
        let (game, pos) = open(text, "classic");
        let naive = Naive::new(&game);
        let asked = SearchParams { moves: moves_of(&naive, &pos), multipv: 1 };
        let whole = asked.moves.len() as u64;
        for (nodes, is_timed, depths) in [
            // All moves once, and a part of depth 2.
            (whole + 10, true, &[0, 1][..]),
            (whole + 2000, true, &[0, 1, 2]),
            (whole + 2000, false, &[0, 2]),
        ] {
            let control = Control::default();
            control.set_limits(Some(nodes), None);
            control.set_watched(is_timed);
            let mut published = Vec::new();
            let mut publish = |found: &SearchResult<Fill>| published.push(found.lines[0].depth);
            let mut player = PublishedPlayer::new(Points, MoveOrder::Random, 1, None);
            player.search(&naive, &Root::new(pos.clone()), &asked, &control, &mut publish);
            published.dedup();
            assert_eq!((&published[..], control.stats().depth), (depths, u32::from(is_timed)), "{nodes}");
        }
    }

    #[test]
    fn cells_with_two_values_come_last_and_else_those_with_few_first() {
        let text = BOARDS.iter().find(|board| board.name == "random-2x3").expect("a board").text;
        let (game, pos) = open(text, "classic");
        let naive = Naive::new(&game);
        let ordered =
            |order| PublishedPlayer::new(Points, order, 1, None).0.ordered(&naive, &Root::new(pos.clone()));
        let free = |mv: &Fill| pos.candidates(game.grid(), mv.cell.into()).count_ones();
        let counts: Vec<u32> = ordered(MoveOrder::AvoidTwoFree).iter().map(free).collect();
        let others = counts.iter().take_while(|&&free| free != 2).count();
        assert!(counts[..others].is_sorted() && counts[others..].iter().all(|&free| free == 2), "{counts:?}");
        assert!(others > 0 && others < counts.len());
        let mut shuffled = ordered(MoveOrder::Random);
        assert_ne!(shuffled, moves_of(&naive, &pos));
        shuffled.sort_unstable();
        assert_eq!(shuffled, moves_of(&naive, &pos));
    }
}
