//! What the solutions of a position say of its moves: which of them fill their cell, and which are taboo.

use std::ops::ControlFlow;

use super::position::Position;
use super::rules::{Fill, Sudoku};

/// Guesses after which single moves are looked at instead of all solutions.
const GUESSES: u64 = 400;

/// Solutions of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solutions {
    /// At least one, each with its values by cells.
    pub found: Vec<Vec<u8>>,
    /// Whether there are no others.
    pub are_all: bool,
}

impl Solutions {
    /// The solutions of a position: as many as `limit` if there are more, fewer where so many guesses do not suffice.
    #[must_use]
    pub fn of(game: &Sudoku, pos: &Position, limit: usize, mut guesses: u64) -> Self {
        let values: Vec<u8> = pos.squares().iter().map(|square| square.value).collect();
        let witness: Vec<u8> = pos.squares().iter().map(|square| square.witness).collect();
        let mut found = vec![witness.clone()];
        let searched = game.solver().search(&values, &witness, &mut guesses, &mut |solution| {
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
}

/// The moves that fit their cells, are not declared, and leave no solution: those that pass the turn, by cells and values,
/// whoever may play them.
#[must_use]
pub fn taboo_moves(game: &Sudoku, pos: &Position) -> Vec<Fill> {
    let cells = game.grid().cells();
    let solutions = Solutions::of(game, pos, usize::MAX, GUESSES);
    let mut solvable = vec![0_u32; cells];
    let learn = |solution: &[u8], solvable: &mut [u32]| {
        for (known, &value) in solvable.iter_mut().zip(solution) {
            *known |= 1 << (value - 1);
        }
    };
    solutions.found.iter().for_each(|solution| learn(solution, &mut solvable));
    let mut taboo = Vec::new();
    let mut next = pos.clone();
    for cell in 0..cells {
        let open = pos.candidates(game.grid(), cell) & !pos.square(cell).taboo;
        for value in (1..=game.grid().side() as u8).filter(|value| open >> (value - 1) & 1 != 0) {
            let mv = Fill { cell: cell as u16, value };
            if solvable[cell] >> (value - 1) & 1 != 0 {
                continue;
            }
            if solutions.are_all {
                taboo.push(mv);
                continue;
            }
            match game.witness_with(&next, mv) {
                Some(solution) => {
                    learn(&solution, &mut solvable);
                    // From one solution to the next by an exchange the ways are shorter than from the first.
                    next.set_witness(&solution);
                }
                None => taboo.push(mv),
            }
        }
    }
    taboo
}

#[cfg(test)]
mod tests {
    use super::super::boards::{BOARDS, open};
    use super::super::layout::Layout;
    use super::super::oracle::{Oracle, random_boards};
    use super::super::presets::Choice;
    use super::*;
    use crate::game::{Game, Rules};

    #[test]
    fn the_boards_have_the_known_moves() {
        for board in BOARDS {
            let (game, pos) = open(board.text, "classic");
            let mut moves = Vec::new();
            game.moves(&pos, &mut moves);
            let taboo = taboo_moves(&game, &pos);
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
            let game = Sudoku::new(Choice::new(&Rules::default(), Some(&layout.told())).unwrap());
            let Ok(pos) = layout.position(&game) else { return };
            let oracle = Oracle::new(m, n, values);
            let mut expected = oracle.legal();
            expected.retain(|&mv| oracle.is_taboo(mv));
            let told = |mv: &Fill| (game.grid().place(mv.cell.into()), mv.value.into());
            assert_eq!(taboo_moves(&game, &pos).iter().map(told).collect::<Vec<_>>(), expected);
            compared += expected.len();
        });
        assert!(compared > 200, "{compared}");
    }
}
