//! The default player: it searches the race (`filling`) that a position amounts to.

use super::eval::{Parity, Points};
use super::filling::Filling;
use super::naive::{Naive, Unknowing};
use super::narrow::Few;
use super::pairs::{Extent, SOLUTIONS};
use super::race::{Number, Race};
use super::rules::{Fill, Sudoku};
use super::solutions::Solutions;
use plyd_core::game::{Evaluator, Game, Root};
use plyd_core::options::Options;
use plyd_core::score::Value;
use plyd_core::search::iterate::Iterate;
use plyd_core::search::{Control, End, SearchParams, SearchResult, Searcher, Variation};

/// The most empty cells of a position that is searched under the exact rules.
const EXACT_CELLS: usize = 26;
/// The most empty cells of a position whose solutions are looked for: with more, there are more solutions
/// than can be distinguished.
const COUNTED_CELLS: usize = 160;
/// The most solutions that are looked for on boards that are not searched exactly from the first move on.
const COUNTED_SOLUTIONS: usize = 64;
/// The guesses that the search for solutions may take: some milliseconds.
const GUESSES: u64 = 1500;

/// Iterative deepening on races: small, with more solutions, or large.
///
/// ```
/// use plyd_core::game::{Game, Root, Rules};
/// use plyd_core::options::Options;
/// use plyd_core::search::{Control, SearchParams, Searcher};
/// use plyd_sudoku::eval::Parity;
/// use plyd_sudoku::player::Racer;
/// use plyd_sudoku::presets::Choice;
/// use plyd_sudoku::rules::Sudoku;
///
/// let small = Rules::new(vec![("m", 2.into()), ("n", 2.into())]);
/// let game = Sudoku::new(Choice::new(&small, None).unwrap());
/// let root = Root::new(game.start());
/// let mut params = SearchParams { moves: Vec::new(), multipv: 1 };
/// game.moves(&root.pos, &mut params.moves);
/// let control = Control::default();
/// control.set_limits(Some(1000), None);
/// let mut player = Racer::new(Parity::default(), &Options::default());
/// let (found, _end) = player.search(&game, &root, &params, &control, &mut |_| ());
/// assert!(params.moves.contains(&found.lines[0].pv[0]));
/// ```
pub struct Racer {
    evaluator: Parity,
    options: Options,
    small: Option<Iterate<Filling<1, 4, 1>, Parity>>,
    open: Option<Iterate<Filling<1, 4, 5>, Parity>>,
    large: Option<Iterate<Filling<4, 8, 1>, Parity>>,
    huge: Option<Iterate<Filling<10, 10, 1>, Parity>>,
}

impl Racer {
    /// A player with an evaluation.
    #[must_use]
    pub fn new(evaluator: Parity, options: &Options) -> Self {
        Self { evaluator, options: options.clone(), small: None, open: None, large: None, huge: None }
    }
}

impl Searcher<Sudoku> for Racer {
    fn search(
        &mut self,
        game: &Sudoku,
        root: &Root<Sudoku>,
        asked: &SearchParams<Fill>,
        control: &Control,
        publish: &mut dyn FnMut(&SearchResult<Fill>),
    ) -> (SearchResult<Fill>, End) {
        let Self { evaluator, options, small, open, large, huge } = self;
        let options = &*options;
        // There is no race without a solution, or if none of its moves is asked for.
        let unknowing = |publish: &mut dyn FnMut(&SearchResult<Fill>)| {
            let player = Few::new(&Naive::new(game), Points, options);
            Unknowing::new(player).search(game, root, asked, control, publish)
        };
        if game.is_undecided(&root.pos) {
            return unknowing(publish);
        }
        let empty = root.pos.empty();
        let (limit, guesses) = match game.grid().cells() {
            ..=EXACT_CELLS => (SOLUTIONS, GUESSES),
            _ if empty <= COUNTED_CELLS => (COUNTED_SOLUTIONS, GUESSES),
            _ => (1, 0),
        };
        let mut solutions = Solutions::of(game, &root.pos, limit, guesses);
        solutions.put_first(game, &root.pos, &asked.moves);
        let mut legal = Vec::new();
        game.moves(&root.pos, &mut legal);
        let is_free = asked.multipv == 1 && asked.moves.len() == legal.len();
        let exact = if is_free { Extent::EveryChoice } else { Extent::EveryMove };
        let extent = if empty > EXACT_CELLS { Extent::Outline } else { exact };
        let question = Question { game, root, asked, control, solutions: &solutions };
        // The smallest race that the position fits knows most; an outline, and fills alone, know less.
        question
            .answer(small, evaluator, options, extent, publish)
            .or_else(|| question.answer(open, evaluator, options, extent, publish))
            .or_else(|| question.answer(large, evaluator, options, extent, publish))
            .or_else(|| question.answer(large, evaluator, options, Extent::Outline, publish))
            .or_else(|| question.answer(small, evaluator, options, Extent::Fills, publish))
            .or_else(|| question.answer(large, evaluator, options, Extent::Fills, publish))
            .or_else(|| question.answer(huge, evaluator, options, Extent::Fills, publish))
            .unwrap_or_else(|| unknowing(publish))
    }

    fn clear(&mut self) {
        (self.small, self.open, self.large, self.huge) = (None, None, None, None);
    }
}

/// What is asked of a search, and the solutions of its position.
struct Question<'a> {
    game: &'a Sudoku,
    root: &'a Root<Sudoku>,
    asked: &'a SearchParams<Fill>,
    control: &'a Control,
    solutions: &'a Solutions,
}

impl Question<'_> {
    /// The answer of a search on the race; none if the position does not fit, or the race has none of the
    /// moves that are asked for.
    fn answer<const C: usize, const W: usize, const S: usize, E: Evaluator<Filling<C, W, S>>>(
        &self,
        search: &mut Option<Iterate<Filling<C, W, S>, E>>,
        evaluator: &E,
        options: &Options,
        extent: Extent,
        publish: &mut dyn FnMut(&SearchResult<Fill>),
    ) -> Option<(SearchResult<Fill>, End)> {
        let (filling, race) = Filling::of(self.game, &self.root.pos, self.solutions, extent)?;
        let mut moves = Vec::new();
        filling.moves(&race, &mut moves);
        // An outline lists one pass, which stands for all others, and treats moves as passes that may yet
        // fill their cells.
        let pass = if filling.is_exact() { None } else { self.asked_pass() };
        moves.retain(|&mv| {
            let fill = filling.fill(mv);
            if filling.is_exact() || filling.is_fill(&race, mv) {
                self.is_asked(fill)
            } else {
                pass.is_some() && self.effect(fill) == Effect::Passes
            }
        });
        if moves.is_empty() {
            return None;
        }
        // Numbers mean other moves in each race, so nothing is kept from the last one.
        let search = search.insert(Iterate::new(&filling, evaluator.clone(), options));
        let asked = SearchParams { multipv: self.asked.multipv.min(moves.len()), moves };
        let result = |found: &SearchResult<Number>| {
            let mut found = in_game(&filling, race, found);
            for line in found.lines.iter_mut().filter(|line| !self.is_asked(line.pv[0])) {
                // What follows may be this very move.
                line.pv = pass.into_iter().collect();
            }
            self.filled(found)
        };
        let mut report = |found: &SearchResult<Number>| publish(&result(found));
        let (found, end) = search.search(&filling, &Root::new(race), &asked, self.control, &mut report);
        let end = if end == End::Proven && !filling.is_exact() { End::Limit } else { end };
        Some((result(&found), end))
    }

    fn is_asked(&self, mv: Fill) -> bool {
        // In the order of the game, which is ascending.
        self.asked.moves.binary_search(&mv).is_ok()
    }

    /// The first pass that is asked for.
    fn asked_pass(&self) -> Option<Fill> {
        self.asked.moves.iter().copied().find(|&mv| self.effect(mv) == Effect::Passes)
    }

    /// The lines, and as many moves more as are asked for: a race merges moves that do the same, so these
    /// have the same value and follow the one that stands for them.
    fn filled(&self, found: SearchResult<Fill>) -> SearchResult<Fill> {
        if found.lines.len() >= self.asked.multipv {
            return found;
        }
        let is_new = |mv: &&Fill| found.lines.iter().all(|line| line.pv[0] != **mv);
        let mut others: Vec<Fill> = self.asked.moves.iter().filter(is_new).copied().collect();
        let mut lines = Vec::new();
        for line in found.lines {
            let effect = self.effect(line.pv[0]);
            let (value, depth) = (line.value, line.depth);
            lines.push(line);
            let guess = value.map(|(value, bound)| (Value::guess(value.score), bound));
            let is_like = |&mut mv: &mut Fill| effect != Effect::Unknown && self.effect(mv) == effect;
            lines.extend(others.extract_if(.., is_like).map(|mv| Variation {
                pv: vec![mv],
                depth,
                value: guess,
            }));
        }
        lines.extend(others.into_iter().map(|mv| Variation { pv: vec![mv], depth: 0, value: None }));
        lines.truncate(self.asked.multipv);
        SearchResult { lines }
    }

    /// What the known solutions say about a move.
    fn effect(&self, mv: Fill) -> Effect {
        if self.solutions.found.iter().any(|found| found[usize::from(mv.cell)] == mv.value) {
            Effect::Fills(mv.cell)
        } else if self.solutions.are_all {
            Effect::Passes
        } else {
            Effect::Unknown
        }
    }
}

/// What a move does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Effect {
    Fills(u16),
    Passes,
    Unknown,
}

/// What was found, in terms of the game. An outline proves nothing, and its lines end at the first pass.
fn in_game<const C: usize, const W: usize, const S: usize>(
    filling: &Filling<C, W, S>,
    race: Race<C, W, S>,
    found: &SearchResult<Number>,
) -> SearchResult<Fill> {
    let line = |line: &Variation<Number>| {
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
        Variation { pv, depth: line.depth, value }
    };
    SearchResult { lines: found.lines.iter().map(line).collect() }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::boards::{BOARDS, KnownBoard, open};
    use super::super::eval::Parity;
    use super::super::oracle::{Oracle, solved};
    use super::super::position::Position;
    use super::*;
    use plyd_core::engine::conformance::is_whole;
    use plyd_core::game::Turn;
    use plyd_core::score::Score;
    use plyd_core::search::Bound;
    use plyd_core::search::erased::Erased;
    use plyd_core::search::tree::Tree;
    use plyd_core::zobrist::SplitMix64;

    fn options() -> Options {
        Options { hash_mb: 1, deterministic: true, ..Options::default() }
    }

    /// The legal moves.
    fn legal(game: &Sudoku, pos: &Position) -> Vec<Fill> {
        let mut moves = Vec::new();
        game.moves(pos, &mut moves);
        moves
    }

    /// Searches to a depth, and checks that all that is published has lines that are different and asked for.
    fn search(
        game: &Sudoku,
        pos: &Position,
        moves: &[Fill],
        multipv: usize,
        depth: Option<u32>,
    ) -> (SearchResult<Fill>, End) {
        let control = Control::default();
        control.set_limits(None, depth);
        let asked = SearchParams { moves: moves.to_vec(), multipv: multipv.min(moves.len()) };
        let check = |found: &SearchResult<Fill>| {
            let first: Vec<Fill> = found.lines.iter().map(|line| line.pv[0]).collect();
            assert!(!first.is_empty() && first.len() <= asked.multipv, "{first:?}");
            assert!(first.iter().all(|mv| moves.contains(mv)), "{first:?} of {moves:?}");
            assert!((1..first.len()).all(|at| !first[..at].contains(&first[at])), "{first:?}");
        };
        let mut published = 0;
        let mut publish = |found: &SearchResult<Fill>| {
            check(found);
            published += 1;
        };
        let mut player = Racer::new(Parity::default(), &options());
        let (found, end) = player.search(game, &Root::new(pos.clone()), &asked, &control, &mut publish);
        check(&found);
        assert!(published > 0);
        (found, end)
    }

    #[test]
    fn every_line_of_an_ending_is_worth_what_the_oracle_says() {
        let (mut seen, mut passes) = (0, 0);
        for seed in 0..60 {
            let mut random = SplitMix64::new(seed);
            let (m, n) = [(2, 2), (2, 3), (3, 2)][seed as usize % 3];
            let mut values = solved(m, n, &mut random);
            for _ in 0..3 + random.below(4) {
                values[random.below(m * n * m * n)] = 0;
            }
            let words: Vec<String> = values.iter().map(u8::to_string).collect();
            let preset = ["classic", "border"][seed as usize / 3 % 2];
            let (game, pos) = open(&format!("{m} {n} {}", words.join(" ")), preset);
            let moves = legal(&game, &pos);
            if game.turn(&pos) != Turn::Move || moves.len() > 10 {
                continue;
            }
            let mut oracle = Oracle::new(m, n, &values);
            if let Some([first, second]) = &game.choice().allowed {
                let places =
                    |cells: &Vec<u16>| cells.iter().map(|&cell| game.grid().place(cell.into())).collect();
                oracle = oracle.bound(places(first), places(second));
            }
            oracle.mover = pos.mover().index();
            let mut known = HashMap::new();
            let (one, end) = search(&game, &pos, &moves, 1, None);
            let proven = |margin: i32| Some((Value::proven(Score::eval(1000 * margin)), Bound::Exact));
            assert_eq!((one.lines[0].value, end), (proven(oracle.solve(&mut known)), End::Proven));
            let (all, end) = search(&game, &pos, &moves, usize::MAX, None);
            assert_eq!((all.lines.len(), end), (moves.len(), End::Proven));
            for line in &all.lines {
                let mv = line.pv[0];
                let mut next = oracle.clone();
                next.play((game.grid().place(mv.cell.into()), mv.value.into()));
                let gained = next.scores[oracle.mover] - oracle.scores[oracle.mover];
                let rest = next.solve(&mut known);
                let rest = if next.mover == oracle.mover { rest } else { -rest };
                assert_eq!(line.value, proven(gained + rest), "{mv:?} {preset} {m} {n} {words:?}");
                passes += usize::from(next.taboo.len() > oracle.taboo.len());
                seen += 1;
            }
        }
        assert!(seen > 150 && passes > 2, "{seen} {passes}");
    }

    /// The published report says that the first player cannot win this board.
    #[test]
    fn the_easy_board_is_won_by_a_pass() {
        let easy = BOARDS.iter().find(|board| board.name == "easy-2x2").expect("a board");
        let (game, pos) = open(easy.text, "classic");
        let (found, end) = search(&game, &pos, &legal(&game, &pos), 1, None);
        let (value, _) = found.lines[0].value.expect("a value");
        assert!(value.is_exact() && value.score > Score::DRAW && end == End::Proven, "{found:?}");
        let mut at = pos;
        let is_pass = found.lines[0].pv.iter().any(|&mv| {
            let taboo = game.is_taboo(&at, mv);
            game.play(&mut at, mv);
            taboo
        });
        assert!(is_pass, "{found:?}");
    }

    /// Boards of all sizes, exact or not, larger than any race too; with one move to choose from, with all,
    /// with what passes alone, with the values of one cell alone.
    #[test]
    fn answers_are_among_what_is_asked_for() {
        let largest = format!("5 5 {}", "0 ".repeat(625));
        let texts = BOARDS.iter().map(|board| board.text).chain([largest.as_str()]);
        let (mut taboo_alone, mut seen) = (0, 0);
        for text in texts {
            for preset in ["classic", "rows"] {
                let (game, pos) = open(text, preset);
                let moves = legal(&game, &pos);
                let all = Solutions::of(&game, &pos, SOLUTIONS, GUESSES);
                let passes = |mv: &Fill| {
                    all.are_all && all.found.iter().all(|found| found[usize::from(mv.cell)] != mv.value)
                };
                let last = moves[moves.len() - 1];
                let subsets = [
                    moves.clone(),
                    vec![last],
                    moves.iter().copied().filter(passes).collect(),
                    moves.iter().copied().filter(|mv| mv.cell == last.cell).collect(),
                ];
                taboo_alone += usize::from(!subsets[2].is_empty());
                for subset in subsets.iter().filter(|subset| !subset.is_empty()) {
                    for multipv in [1, 3] {
                        let (found, _) = search(&game, &pos, subset, multipv, Some(2));
                        let decided = found.lines.iter().filter_map(|line| line.value);
                        let proves = decided.filter(|(value, _)| value.at_least || value.at_most).count();
                        assert!(
                            proves == 0 || (all.are_all && pos.empty() <= EXACT_CELLS),
                            "{text} {found:?}"
                        );
                        seen += 1;
                    }
                }
            }
        }
        assert!(taboo_alone > 5 && seen > 100, "{taboo_alone} {seen}");
    }

    /// 30 empty cells, one solution, and more passes than the one that an outline lists.
    const PASSES: &str = "3 3 2 6 0 7 1 0 0 3 9 1 0 0 8 9 0 6 0 5 0 9 0 4 3 0 2 0 0 4 2 3 0 7 0 0 9 6 8 0 6 5 4 9 7 0 3 \
                          0 0 0 0 2 3 4 1 8 3 7 0 0 8 1 9 0 4 9 0 2 0 6 0 0 5 7 6 4 1 0 5 0 3 8 2";

    /// Whether or not the one that stands for all is asked for.
    #[test]
    fn a_pass_is_worth_the_same_whatever_else_is_asked_for() {
        let random = BOARDS.iter().filter(|board| board.name == "random-3x3").map(|board| board.text);
        let mut seen = 0;
        for text in random.chain([PASSES]) {
            let (game, pos) = open(text, "classic");
            let moves = legal(&game, &pos);
            assert!(pos.empty() > EXACT_CELLS);
            let passes: Vec<Fill> = moves.iter().copied().filter(|&mv| game.is_taboo(&pos, mv)).collect();
            let value = |moves: &[Fill]| {
                let (found, _) = search(&game, &pos, moves, 1, Some(6));
                (found.lines[0].pv[0], found.lines[0].value.unwrap().0.score)
            };
            let (_, expected) = value(&passes[..1]);
            for mv in &passes {
                assert_eq!(value(&[*mv]), (*mv, expected), "{text}");
            }
            // Without the one that is listed if all moves are asked for.
            let others: Vec<Fill> = moves.iter().copied().filter(|mv| *mv != passes[0]).collect();
            assert_eq!(value(&others).1, value(&moves).1, "{text}");
            seen += passes.len();
        }
        assert!(seen > 20, "{seen}");
    }

    /// One that fills its cell is searched as one, though another solution was found first.
    #[test]
    fn a_move_of_any_solution_is_searched_as_one_that_fills() {
        for board in BOARDS.iter().filter(|board| ["random-3x3", "random-3x4"].contains(&board.name)) {
            let (game, pos) = open(board.text, "classic");
            let all = Solutions::of(&game, &pos, SOLUTIONS, GUESSES);
            assert!(all.are_all && all.found.len() > 1, "{}", board.name);
            for mv in legal(&game, &pos) {
                if all.found.iter().any(|found| found[usize::from(mv.cell)] == mv.value) {
                    let mut solutions = all.clone();
                    solutions.put_first(&game, &pos, &[mv]);
                    assert_eq!(solutions.found[0][usize::from(mv.cell)], mv.value);
                    assert_eq!(solutions.found.len(), all.found.len());
                }
            }
            // A solution that was not found, because fewer are wanted.
            let mut first = Solutions::of(&game, &pos, 1, 0);
            assert!(!first.are_all);
            let other = all.found.iter().find(|found| **found != first.found[0]).unwrap();
            let cell = (0..other.len()).find(|&cell| other[cell] != first.found[0][cell]).unwrap();
            first.put_first(&game, &pos, &[Fill { cell: cell as u16, value: other[cell] }]);
            assert!(first.found.len() == 2 && first.found[0][cell] == other[cell]);
        }
    }

    /// A tree keeps what it found for the rest of a game, not for another score on the same board.
    #[test]
    fn a_tree_knows_the_score_at_which_a_game_began() {
        let board = "2 2 1 2 3 . 3 4 1 2 2 1 . 3 . 3 . 1";
        // A deterministic player keeps nothing.
        let options = Options { hash_mb: 1, threads: 1, ..Options::default() };
        let tree = || Tree::new(Erased::new(Points), &options);
        let mut kept = tree();
        for scores in ["0 0", "0 20", "20 0", "0 0"] {
            let (game, pos) = open(&format!("{board} ; scores {scores}"), "classic");
            let control = Control::default();
            control.set_limits(Some(5000), None);
            let asked = SearchParams { moves: legal(&game, &pos), multipv: 1 };
            let root = Root::new(pos);
            let value = |player: &mut Tree<Sudoku>| {
                player.search(&game, &root, &asked, &control, &mut |_| ()).0.lines[0].value
            };
            assert_eq!(value(&mut kept), value(&mut tree()), "{scores}");
        }
    }

    /// However many moves there are, and whether or not it is known what they do: on boards of 25x25 that are
    /// filled so far that the solver does not find it out, too. A sample has one preset a shape.
    #[test]
    fn the_largest_boards_are_searched_to_depth_two_within_few_nodes() {
        let (mut undecided, mut seen) = (0, 0);
        let presets = ["classic", "rows", "border", "random"];
        for (at, (m, n)) in [(4, 5), (5, 4), (5, 5)].into_iter().enumerate() {
            for preset in if is_whole() { &presets[..] } else { &presets[at..=at] } {
                let (game, mut pos) = open(&format!("{m} {n} {}", "0 ".repeat(m * n * m * n)), preset);
                let mut random = SplitMix64::new(1);
                for plies in [0, 1, 29, 70] {
                    for _ in 0..plies {
                        let moves = legal(&game, &pos);
                        game.play(&mut pos, moves[random.below(moves.len())]);
                    }
                    let control = Control::default();
                    control.set_limits(Some(20_000), None);
                    let asked = SearchParams { moves: legal(&game, &pos), multipv: 1 };
                    let root = Root::new(pos.clone());
                    let mut player = Racer::new(Parity::default(), &options());
                    let (found, _) = player.search(&game, &root, &asked, &control, &mut |_| ());
                    assert!(found.lines[0].depth >= 2, "{m} {n} {preset} {plies}: {found:?}");
                    assert!(asked.moves.contains(&found.lines[0].pv[0]));
                    undecided += usize::from(game.is_undecided(&pos));
                    seen += 1;
                }
            }
        }
        assert!(undecided > 1 && undecided < seen, "{undecided} of {seen}");
    }

    #[test]
    fn more_lines_than_the_race_has_moves_are_worth_what_their_like_is() {
        for KnownBoard { name, text, legal: count, .. } in BOARDS {
            let (game, pos) = open(text, "classic");
            let moves = legal(&game, &pos);
            if pos.empty() <= EXACT_CELLS || pos.empty() > 90 {
                continue;
            }
            let (found, _) = search(&game, &pos, &moves, usize::MAX, Some(2));
            assert_eq!(found.lines.len(), *count, "{name}");
            let mut of_cell = HashMap::new();
            for line in found.lines.iter().filter(|line| line.value.is_some()) {
                let taboo = game.is_taboo(&pos, line.pv[0]);
                let cell = (!taboo).then_some(line.pv[0].cell);
                let score = line.value.map(|(value, _)| value.score);
                assert_eq!(*of_cell.entry(cell).or_insert(score), score, "{name} {line:?}");
            }
            let unsearched = found.lines.iter().position(|line| line.value.is_none());
            let searched = &found.lines[..unsearched.unwrap_or(found.lines.len())];
            assert!(searched.len() >= pos.empty(), "{name}: {} lines with a value", searched.len());
            assert!(found.lines[searched.len()..].iter().all(|line| line.value.is_none()), "{name}");
        }
    }
}
