//! The rules once more, slow and plain, on a table of cells. Shares no code with the game: what both say in
//! random games is compared.

use plyd_core::game::{Game, Notation, Turn};
use plyd_core::zobrist::SplitMix64;

use super::rules::{Board, Rules};

/// A board as columns of discs from the bottom up; players are 1 and 2.
struct Oracle {
    row: usize,
    columns: Vec<Vec<u8>>,
}

impl Oracle {
    fn new(row: usize) -> Self {
        Self { row, columns: vec![Vec::new(); 7] }
    }

    fn mover(&self) -> u8 {
        1 + (self.columns.concat().len() % 2) as u8
    }

    fn disc(&self, column: i32, height: i32) -> Option<u8> {
        let column = self.columns.get(usize::try_from(column).ok()?)?;
        column.get(usize::try_from(height).ok()?).copied()
    }

    /// The player who has a row, from whatever cell, in whatever direction.
    fn winner(&self) -> Option<u8> {
        let steps = [(0, 1), (1, 0), (1, 1), (1, -1)];
        let cells = (0..7).flat_map(|column| (0..6).map(move |height| (column, height)));
        cells.flat_map(|cell| steps.map(|step| (cell, step))).find_map(|((column, height), (right, up))| {
            let player = self.disc(column, height)?;
            let on = |by| self.disc(column + by * right, height + by * up) == Some(player);
            (0..self.row as i32).all(on).then_some(player)
        })
    }

    /// The columns that take a disc, from 1; none if the game is over.
    fn moves(&self) -> Vec<usize> {
        let is_over = self.winner().is_some();
        (1..=7).filter(|column| !is_over && self.columns[column - 1].len() < 6).collect()
    }

    fn text(&self) -> String {
        let cell = |column, height| self.disc(column, height).map_or(".".to_owned(), |disc| disc.to_string());
        let row = |height| (0..7).map(|column| cell(column, height)).collect::<String>();
        (0..6).rev().map(row).collect::<Vec<_>>().join("/")
    }
}

#[test]
fn the_rules_agree_with_the_oracle_in_random_games() {
    let mut random = SplitMix64::new(1);
    let mut endings = [0; 3];
    for game in 0..600 {
        let row = 3 + game % 3;
        let rules = Rules { row };
        let (mut board, mut oracle) = (Board::default(), Oracle::new(row));
        let outcome = loop {
            assert_eq!(rules.position_text(&board), oracle.text());
            let mut moves = Vec::new();
            match rules.turn(&board) {
                Turn::Over(outcome) => break outcome,
                _ => rules.moves(&board, &mut moves),
            }
            let texts: Vec<String> = moves.iter().map(|&mv| rules.move_text(&board, mv)).collect();
            let expected = oracle.moves();
            assert_eq!(texts, expected.iter().map(usize::to_string).collect::<Vec<_>>(), "{}", oracle.text());
            let at = random.below(moves.len());
            let mover = oracle.mover();
            oracle.columns[expected[at] - 1].push(mover);
            rules.play(&mut board, moves[at]);
        };
        assert_eq!(oracle.moves(), [0; 0], "{}", oracle.text());
        let winner = outcome.winner.map(|side| side.index() as u8 + 1);
        assert_eq!(winner, oracle.winner(), "{}", oracle.text());
        endings[usize::from(winner.unwrap_or_default())] += 1;
    }
    assert!(endings.iter().all(|&games| games > 10), "{endings:?}");
}
