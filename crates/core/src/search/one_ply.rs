//! Players that do not search: `random` and `greedy`.
//!
//! Their random choices depend on the seed, the position and the number of plies played alone, so that equal
//! questions get equal answers.

use crate::game::{Context, Evaluator, Game, Root, Side, Turn};
use crate::score::{Score, Value};
use crate::search::chance::{average, worth};
use crate::search::sort::sort_by_key;
use crate::search::thread::final_value;
use crate::search::{Bound, Control, End, SearchParams, SearchResult, Searcher, Stats, Variation};
use crate::zobrist::{SplitMix64, mix};

/// The generator of a player's choices in one position.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim};
/// use plyd_core::search::one_ply::choices;
///
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(21)));
/// let drawn = |seed| choices(&nim, &root, seed).below(1000);
/// assert_eq!(drawn(7), drawn(7));
/// ```
pub fn choices<G: Game>(game: &G, root: &Root<G>, seed: u64) -> SplitMix64 {
    SplitMix64::new(mix(seed) ^ game.hash(&root.pos) ^ mix(root.plies.len() as u64))
}

/// Plays a legal move, all of them equally likely.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim};
/// use plyd_core::search::one_ply::Random;
/// use plyd_core::search::{Control, SearchParams, Searcher};
///
/// let (nim, root) = (Nim { most: 3 }, Root::new(Heap::of(21)));
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let choose = |seed| Random::new(seed).search(&nim, &root, &params, &Control::default(), &mut |_| ());
/// assert_eq!(choose(7), choose(7));
/// ```
pub struct Random {
    seed: u64,
}

impl Random {
    /// A player whose choices come from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }
}

impl<G: Game> Searcher<G> for Random {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        _control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        let mut random = choices(game, root, self.seed);
        let mut moves = params.moves.clone();
        // The first steps of a Fisher-Yates shuffle: lines that are all different.
        for i in 0..params.multipv {
            let j = i + random.below(moves.len() - i);
            moves.swap(i, j);
        }
        let lines =
            moves[..params.multipv].iter().map(|&mv| Variation { pv: vec![mv], depth: 0, value: None });
        let found = SearchResult { lines: lines.collect() };
        publish(&found);
        (found, End::Limit)
    }

    fn clear(&mut self) {}
}

/// Plays the move whose position has the best evaluation; ties are drawn.
///
/// ```
/// use plyd_core::game::Root;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::search::one_ply::Greedy;
/// use plyd_core::search::{Control, SearchParams, Searcher};
///
/// let params = SearchParams { moves: vec![1, 2, 3], multipv: 1 };
/// let root = Root::new(Heap::of(21));
/// let (found, _) =
///     Greedy::new(Rest, 0).search(&Nim { most: 3 }, &root, &params, &Control::default(), &mut |_| ());
/// assert_eq!(found.lines[0].pv, [1]);
/// ```
pub struct Greedy<E> {
    evaluator: E,
    seed: u64,
}

impl<E> Greedy<E> {
    /// A player whose ties are drawn from `seed`.
    #[must_use]
    pub fn new(evaluator: E, seed: u64) -> Self {
        Self { evaluator, seed }
    }
}

/// The value after `mv`, from the view of the side that plays it, without search; chance outcomes are
/// averaged.
///
/// ```
/// use plyd_core::game::Side;
/// use plyd_core::nim::{Heap, Nim, Rest};
/// use plyd_core::search::one_ply::at_sight;
///
/// // Of five stones one is taken, and a multiple of four is left to the opponent.
/// let mut heap = Heap::of(5);
/// let worth = |taken, heap: &mut Heap| at_sight(&Nim { most: 3 }, &Rest, heap, taken, Side::First).score;
/// assert!(worth(1, &mut heap) > worth(2, &mut heap));
/// assert_eq!(heap, Heap::of(5));
/// ```
pub fn at_sight<G: Game, E: Evaluator<G>>(
    game: &G,
    evaluator: &E,
    pos: &mut G::Position,
    mv: G::Move,
    root: Side,
) -> Value {
    let side = game.side(pos);
    let undo = game.play(pos, mv);
    let value = outlook(game, evaluator, pos, Some(mv), root);
    let value = if game.side(pos) == side { value } else { -value };
    game.undo(pos, mv, undo);
    value
}

/// The value of a position from the view of its own side, without search; chance outcomes are averaged.
pub(super) fn outlook<G: Game, E: Evaluator<G>>(
    game: &G,
    evaluator: &E,
    pos: &mut G::Position,
    last: Option<G::Move>,
    root: Side,
) -> Value {
    match game.turn(pos) {
        Turn::Over(outcome) => final_value::<G>(&outcome, game.side(pos), 1),
        Turn::Move => Value::guess(evaluator.evaluate(game, pos, &Context { root, last })),
        Turn::Chance => {
            let side = game.side(pos);
            let mut outcomes = Vec::new();
            game.outcomes(pos, &mut outcomes);
            let (mut sum, mut total) = (0, 0);
            let (low, high) = evaluator.range();
            let (low, high) = (i64::from(low), i64::from(high));
            for (outcome, weight) in outcomes {
                let undo = game.play(pos, outcome);
                let value = outlook(game, evaluator, pos, last, root);
                let value = if game.side(pos) == side { value } else { -value };
                game.undo(pos, outcome, undo);
                sum += worth(value.score, low, high) * i64::from(weight);
                total += i64::from(weight);
            }
            Value::guess(Score::eval(average(sum, total)))
        }
    }
}

impl<G: Game, E: Evaluator<G>> Searcher<G> for Greedy<E> {
    fn search(
        &mut self,
        game: &G,
        root: &Root<G>,
        params: &SearchParams<G::Move>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<G::Move>),
    ) -> (SearchResult<G::Move>, End) {
        let mut random = choices(game, root, self.seed);
        let (mut pos, side) = (root.pos.clone(), game.side(&root.pos));
        // Equal moves stand in a random order.
        let mut rated: Vec<(Value, i64, G::Move)> = params
            .moves
            .iter()
            .map(|&mv| {
                (at_sight(game, &self.evaluator, &mut pos, mv, side), (random.next() >> 32) as i64, mv)
            })
            .collect();
        sort_by_key(&mut rated, |&(value, draw, _)| (-i64::from(value.score.raw()) << 32) + draw);
        let lines = rated.iter().take(params.multipv).map(|&(value, _, mv)| {
            // What lies behind the other moves is not looked at, so nothing bounds the position from above.
            let value = Value { at_most: false, ..value };
            Variation { pv: vec![mv], depth: 1, value: Some((value, Bound::Exact)) }
        });
        let found = SearchResult { lines: lines.collect() };
        control.show(Stats { nodes: rated.len() as u64, depth: 1, seldepth: 1, hash_ppm: 0 });
        publish(&found);
        (found, End::Limit)
    }

    fn clear(&mut self) {}
}
