//! The evaluations: static guesses at who is ahead, from the mover's view.

use std::sync::Arc;

use plyd_core::game::{Context, Evaluator};
use plyd_core::score::Score;

use super::rules::{Board, COLUMNS, DIRECTIONS, HEIGHT, ROWS, Rules};

/// What a row is worth that lacks so many discs, in thousandths.
const LACKS: [i32; 5] = [0, 1000, 300, 100, 30];

/// The rows that one side can still complete, by the discs that they lack.
#[derive(Clone, Debug)]
pub struct Lines {
    row: usize,
    /// The cells of each row on the board.
    lines: Arc<[u64]>,
}

impl Lines {
    /// The evaluation under some rules.
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        let board: u64 = (0..COLUMNS).map(|column| ((1 << ROWS) - 1) << (HEIGHT * column)).sum();
        let line = |from: usize, by: usize| {
            let last = from + by * (rules.row - 1);
            let line =
                (from..=last).step_by(by).filter(|&at| at < HEIGHT * COLUMNS).map(|at| 1 << at).sum::<u64>();
            (line & board == line && line.count_ones() as usize == rules.row).then_some(line)
        };
        let cells = 0..HEIGHT * COLUMNS;
        let lines = cells.flat_map(|from| DIRECTIONS.into_iter().filter_map(move |by| line(from, by)));
        Self { row: rules.row, lines: lines.collect() }
    }
}

impl Evaluator<Rules> for Lines {
    fn evaluate(&self, _rules: &Rules, board: &Board, _ctx: &Context<u8>) -> Score {
        let mover = board.mover().index();
        let (mine, theirs) = (board.discs[mover], board.discs[1 - mover]);
        let worth = |discs: u64| LACKS[self.row - discs.count_ones() as usize];
        let value = |line: &u64| match (mine & line, theirs & line) {
            (0, 0) => 0,
            (discs, 0) => worth(discs),
            (0, discs) => -worth(discs),
            _ => 0,
        };
        Score::eval(self.lines.iter().map(value).sum())
    }

    fn range(&self) -> (i32, i32) {
        let most = self.lines.len() as i32 * LACKS[1];
        (-most, most)
    }
}

/// How near to the middle the discs are: a second opinion, to compare with.
#[derive(Clone, Copy, Debug)]
pub struct Discs;

impl Evaluator<Rules> for Discs {
    fn evaluate(&self, _rules: &Rules, board: &Board, _ctx: &Context<u8>) -> Score {
        let mover = board.mover().index();
        let worth = |discs: u64| -> i32 {
            let column = |at: usize| (discs >> (HEIGHT * at) & ((1 << ROWS) - 1)).count_ones() as i32;
            (0..COLUMNS).map(|at| column(at) * 100 * at.min(COLUMNS - 1 - at) as i32).sum()
        };
        Score::eval(worth(board.discs[mover]) - worth(board.discs[1 - mover]))
    }

    fn range(&self) -> (i32, i32) {
        let most = (COLUMNS * ROWS) as i32 * 300;
        (-most, most)
    }
}
