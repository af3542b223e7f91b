//! The default player: the search on the [race](super::filling) that a position is.

use super::eval::Points;
use super::filling::Filling;
use super::naive::Unknowing;
use super::pairs::{Extent, SOLUTIONS};
use super::race::{Number, Race};
use super::rules::{Fill, Sudoku};
use super::solutions::Solutions;
use crate::game::{Evaluator, Game, Root};
use crate::options::Options;
use crate::score::Value;
use crate::search::iterate::Iterate;
use crate::search::one_ply::Greedy;
use crate::search::{Asked, Control, End, Found, Line, Searcher};

/// The most empty cells of a position that is searched under the exact rules.
const EXACT_CELLS: usize = 26;
/// The most empty cells of a position whose solutions are looked for: with more there are more than can be told apart.
const COUNTED_CELLS: usize = 160;
/// The guesses that the search for solutions may take: some milliseconds.
const GUESSES: u64 = 1500;

/// Iterative deepening on races, small or large.
pub struct Racer<E> {
    evaluator: E,
    options: Options,
    small: Option<Iterate<Filling<1, 4>, E>>,
    large: Option<Iterate<Filling<4, 8>, E>>,
}

impl<E> Racer<E> {
    /// A player with an evaluation.
    #[must_use]
    pub fn new(evaluator: E, options: &Options) -> Self {
        Self { evaluator, options: options.clone(), small: None, large: None }
    }
}

impl<E> Searcher<Sudoku> for Racer<E>
where
    E: Evaluator<Filling<1, 4>> + Evaluator<Filling<4, 8>>,
{
    fn search(
        &mut self,
        game: &Sudoku,
        root: &Root<Sudoku>,
        asked: &Asked<Fill>,
        control: &Control,
        publish: &mut dyn FnMut(&Found<Fill>),
    ) -> (Found<Fill>, End) {
        let empty = root.pos.empty();
        let (limit, guesses) = if empty > COUNTED_CELLS { (1, 0) } else { (SOLUTIONS, GUESSES) };
        let solutions = Solutions::of(game, &root.pos, limit, guesses);
        let mut legal = Vec::new();
        game.moves(&root.pos, &mut legal);
        let is_free = asked.multipv == 1 && asked.moves.len() == legal.len();
        let exact = if is_free { Extent::EveryChoice } else { Extent::EveryMove };
        let extent = if empty > EXACT_CELLS { Extent::Outline } else { exact };
        let question = Question { game, root, asked, control, solutions: &solutions };
        let Self { evaluator, options, small, large } = self;
        question
            .answer(small, evaluator, options, extent, publish)
            .or_else(|| question.answer(large, evaluator, options, extent, publish))
            .or_else(|| question.answer(large, evaluator, options, Extent::Outline, publish))
            .unwrap_or_else(|| {
                // A board larger than any race, or none of its moves is asked for.
                let mut greedy = Unknowing::new(Greedy::new(Points, options.seed));
                greedy.search(game, root, asked, control, publish)
            })
    }

    fn clear(&mut self) {
        (self.small, self.large) = (None, None);
    }
}

/// What is asked of a search, and the solutions of its position.
struct Question<'a> {
    game: &'a Sudoku,
    root: &'a Root<Sudoku>,
    asked: &'a Asked<Fill>,
    control: &'a Control,
    solutions: &'a Solutions,
}

impl Question<'_> {
    /// The answer of a search on the race; none where the position does not fit, or the race has none of the moves that are
    /// asked for.
    fn answer<const C: usize, const W: usize, E: Evaluator<Filling<C, W>>>(
        &self,
        search: &mut Option<Iterate<Filling<C, W>, E>>,
        evaluator: &E,
        options: &Options,
        extent: Extent,
        publish: &mut dyn FnMut(&Found<Fill>),
    ) -> Option<(Found<Fill>, End)> {
        let (filling, race) = Filling::of(self.game, &self.root.pos, self.solutions, extent)?;
        let mut moves = Vec::new();
        filling.moves(&race, &mut moves);
        moves.retain(|&mv| {
            let fill = filling.fill(mv);
            // An outline takes moves for passes that may yet fill their cells.
            let is_certain = filling.is_exact() || filling.is_fill(&race, mv) || self.is_taboo(fill);
            is_certain && self.asked.moves.contains(&fill)
        });
        if moves.is_empty() {
            return None;
        }
        // Numbers mean other moves in each race, so nothing is kept from the last one.
        let search = search.insert(Iterate::new(&filling, evaluator.clone(), options));
        let asked = Asked { multipv: self.asked.multipv.min(moves.len()), moves };
        let mut tell = |found: &Found<Number>| publish(&self.filled(told(&filling, race, found)));
        let (found, end) = search.search(&filling, &Root::new(race), &asked, self.control, &mut tell);
        let end = if end == End::Proven && !filling.is_exact() { End::Limit } else { end };
        Some((self.filled(told(&filling, race, &found)), end))
    }

    /// The lines, and as many moves behind them as are asked for: a race takes moves as one that do the same.
    fn filled(&self, mut found: Found<Fill>) -> Found<Fill> {
        let missing = self.asked.multipv.saturating_sub(found.lines.len());
        if missing > 0 {
            let is_new = |mv: &&Fill| found.lines.iter().all(|line| line.pv[0] != **mv);
            let others: Vec<Fill> = self.asked.moves.iter().filter(is_new).take(missing).copied().collect();
            let unsearched = |mv| Line { pv: vec![mv], depth: 0, value: None };
            found.lines.extend(others.into_iter().map(unsearched));
        }
        found
    }

    fn is_taboo(&self, mv: Fill) -> bool {
        let having = |found: &Vec<u8>| found[usize::from(mv.cell)] == mv.value;
        self.solutions.are_all && !self.solutions.found.iter().any(having)
    }
}

/// What was found, as the game tells it. An outline proves nothing, and its lines end at the first pass.
fn told<const C: usize, const W: usize>(
    filling: &Filling<C, W>,
    race: Race<C, W>,
    found: &Found<Number>,
) -> Found<Fill> {
    let line = |line: &Line<Number>| {
        let (mut pv, mut next) = (Vec::new(), race);
        for &mv in &line.pv {
            pv.push(filling.fill(mv));
            if !filling.is_exact() && !filling.is_fill(&next, mv) {
                break;
            }
            filling.play(&mut next, mv);
        }
        let sure = |value: Value| if filling.is_exact() { value } else { Value::guess(value.score) };
        let value = line.value.map(|(value, bound)| (sure(value), bound));
        Line { pv, depth: line.depth, value }
    };
    Found { lines: found.lines.iter().map(line).collect() }
}
