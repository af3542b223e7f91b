//! Competitive Sudoku: two players fill one puzzle, and who completes rows, columns and blocks scores.
//!
//! In reading order: [`bits`] and [`grid`] (sets and shapes), [`solver`] (the solutions of a puzzle), [`witness`] (one
//! that is at hand), [`presets`] (which game is asked for), [`rules`], [`solutions`] (which moves are taboo),
//! [`layout`], [`state_text`] and [`notation`] (texts and pictures), [`eval`]. This file opens the game for the registry.

pub mod bits;
#[cfg(test)]
mod boards;
pub mod eval;
pub mod grid;
pub mod layout;
pub mod notation;
#[cfg(test)]
mod oracle;
pub mod presets;
pub mod rules;
pub mod solutions;
pub mod solver;
pub mod state_text;
pub mod witness;

use std::sync::Arc;

use self::eval::Points;
use self::layout::Layout;
use self::presets::Choice;
use self::rules::{FULL, Position, STUCK, Sudoku};
use crate::engine::{self, AnyRoot, Bench, Entry, OptionError, Playable};
use crate::game::{Context, Evaluator, Game, Named, OpenError, Rules};
use crate::options::Options;
use crate::score::Score;
use crate::search::Searcher;
use crate::search::players::{self as common, COMMON};

/// Competitive Sudoku in the registry.
pub static ENTRY: Entry = Entry {
    name: "sudoku",
    about: "Competitive Sudoku: fill one puzzle in turn; completed rows, columns and blocks score 1, 3 or 7 points.",
    rules: presets::RULES,
    options: &[],
    evaluators: &[Named { name: "score", about: "The mover's points less the opponent's." }],
    players: &COMMON,
    endings: &[
        Named { name: FULL, about: "Every cell has a value; more points win." },
        Named { name: STUCK, about: "Neither player has a cell left to play; more points win." },
    ],
    unit: "point",
    position_grammar: layout::POSITION_GRAMMAR,
    move_grammar: notation::MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    bench: BENCH,
    solve: None,
    open,
};

/// Positions of the framework's boards.
const BENCH: &[Bench] = &[bench(include_str!("boards/random-2x3.txt"), 4)];

const fn bench(position: &'static str, depth: u32) -> Bench {
    Bench { position, depth, player: ("default", "score") }
}

fn open(rules: &Rules, start: Option<&str>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let layout = start.map(Layout::parse).transpose()?;
    let told = layout.as_ref().map(Layout::told);
    let game = Sudoku::new(Choice::new(rules, told.as_ref())?);
    let start = match layout {
        Some(layout) => layout.position(&game)?,
        None => game.start(),
    };
    Ok(engine::open(game, start))
}

impl Playable for Sudoku {
    fn entry() -> &'static Entry {
        &ENTRY
    }

    fn searcher(&self, options: &Options) -> Result<Box<dyn Searcher<Self>>, OptionError> {
        Ok(common::build(self, Points, options).expect("the entry lists the common players"))
    }

    fn evaluate(&self, pos: &Position, _evaluator: &str) -> Score {
        let context = Context { root: self.side(pos), last: None };
        Points.evaluate(self, pos, &context)
    }
}
