//! What the solutions of a position say about its moves: which of them fill their cell, and which are taboo.

use std::ops::ControlFlow;

use super::found::FoundSolutions;
use super::position::Position;
use super::rules::{Effect, Fill, Sudoku};
use plyd_core::effort::Effort;

/// Guesses after which single moves are checked instead of all solutions being listed.
const GUESSES: u64 = 400;

/// Solutions of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Solutions {
    /// At least one, each with its values by cells.
    pub found: Vec<Vec<u8>>,
    /// Whether there are no others.
    pub are_all: bool,
}

impl Solutions {
    /// At most `limit` solutions of a position; fewer than there are if `guesses` guesses do not suffice to
    /// find them.
    #[must_use]
    pub(super) fn of(game: &Sudoku, pos: &Position, limit: usize, mut guesses: u64) -> Self {
        let values: Vec<u8> = pos.squares().iter().map(|square| square.value).collect();
        let witness: Vec<u8> = pos.squares().iter().map(|square| square.witness).collect();
        let mut found = vec![witness.clone()];
        let searched =
            game.solver().search(&values, &witness, &mut guesses, game.effort(), &mut |solution| {
                if solution == found[0] {
                    return ControlFlow::Continue(());
                }
                if found.len() == limit {
                    return ControlFlow::Break(());
                }
                found.push(solution.to_vec());
                ControlFlow::Continue(())
            });
        Self { found, are_all: searched == super::solver::Searched::Whole }
    }

    /// Puts a solution first that has one of these moves. If a single move is asked for and none has it, one
    /// is looked for.
    pub(super) fn put_first(&mut self, game: &Sudoku, pos: &Position, asked: &[Fill]) {
        let has = |found: &Vec<u8>| asked.iter().any(|mv| found[usize::from(mv.cell)] == mv.value);
        match (self.found.iter().position(has), asked) {
            (Some(at), _) => self.found.swap(0, at),
            (None, [mv]) if !self.are_all => {
                if let (Effect::Fills(solution), _) = game.effect(pos, *mv) {
                    self.found.insert(0, solution);
                }
            }
            _ => {}
        }
    }
}

/// What is known of the moves that fit their cells, are not declared and do not fill, by cells and values,
/// whoever may play them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TabooMoves {
    /// Those that leave no solution, and so pass the turn.
    pub known: Vec<Fill>,
    /// Those that the solver could not decide.
    pub undecided: Vec<Fill>,
}

/// The moves of a position that are taboo, as far as the solver finds them out within its nodes for all of
/// them.
///
/// ```
/// use plyd_core::game::Rules;
/// use plyd_sudoku::presets::Choice;
/// use plyd_sudoku::rules::Sudoku;
/// use plyd_sudoku::solutions::taboo_moves;
///
/// let game = Sudoku::new(Choice::new(&Rules::new(vec![("m", 2.into()), ("n", 2.into())]), None).unwrap());
/// // An empty board has a solution with each value in each cell.
/// assert!(taboo_moves(&game, &game.start()).known.is_empty());
/// ```
#[must_use]
pub fn taboo_moves(game: &Sudoku, pos: &Position) -> TabooMoves {
    let mut taboo = TabooMoves::default();
    let mut found = FoundSolutions::of(game.grid(), pos);
    let mut are_all = false;
    if !pos.is_undecided {
        let solutions = Solutions::of(game, pos, usize::MAX, GUESSES);
        solutions.found.into_iter().for_each(|solution| found.add(solution));
        are_all = solutions.are_all;
    }
    game.effort().grant(Some(Effort::MARKS));
    for cell in 0..game.grid().cells() {
        for mv in Fill::all(cell, pos.open_values(game.grid(), cell)) {
            if found.has(mv) {
                continue;
            }
            if are_all {
                taboo.known.push(mv);
                continue;
            }
            match game.effect(found.latest(), mv).0 {
                Effect::Fills(solution) => found.take(solution),
                Effect::Passes => taboo.known.push(mv),
                Effect::Undecided => taboo.undecided.push(mv),
            }
        }
    }
    game.effort().grant(None);
    taboo
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, open};
    use super::super::layout::Layout;
    use super::super::oracle::{Oracle, random_boards};
    use super::super::presets::Choice;
    use super::*;
    use plyd_core::game::{Game, Rules};

    fn decided(taboo: TabooMoves) -> Vec<Fill> {
        assert_eq!(taboo.undecided, []);
        taboo.known
    }

    #[test]
    fn the_boards_have_the_known_moves() {
        for board in BOARDS {
            let (game, pos) = open(board.text, "classic");
            let mut moves = Vec::new();
            game.moves(&pos, &mut moves);
            let taboo = decided(taboo_moves(&game, &pos));
            assert_eq!((moves.len(), taboo.len()), (board.legal, board.taboo), "{}", board.name);
            assert!(taboo.iter().all(|mv| moves.contains(mv) && game.is_taboo(&pos, *mv)));
            let all = Solutions::of(&game, &pos, 300, u64::MAX);
            assert_eq!(board.solutions, all.are_all.then_some(all.found.len()), "{}", board.name);
        }
    }

    #[test]
    fn taboo_moves_are_those_of_the_oracle() {
        let mut compared = 0;
        random_boards(|m, n, values| {
            let words: Vec<String> = values.iter().map(u8::to_string).collect();
            let layout = Layout::parse(&format!("{m} {n} {}", words.join(" "))).unwrap();
            let game = Sudoku::new(Choice::new(&Rules::default(), Some(&layout.stated_rules())).unwrap());
            let Ok(pos) = layout.position(&game) else { return };
            let oracle = Oracle::new(m, n, values);
            let mut expected = oracle.legal();
            expected.retain(|&mv| oracle.is_taboo(mv));
            let as_numbers = |mv: &Fill| (game.grid().place(mv.cell.into()), mv.value.into());
            assert_eq!(
                decided(taboo_moves(&game, &pos)).iter().map(as_numbers).collect::<Vec<_>>(),
                expected
            );
            compared += expected.len();
        });
        assert!(compared > 200, "{compared}");
    }
}
