//! my-game: discs fall into columns, and whoever has four in a row wins (Connect Four).
//!
//! A game that works, to be changed into another one. `rules.rs` is called at every node of a search, and
//! `notation.rs` where texts and pictures are needed; `eval.rs` guesses who is ahead; `oracle.rs` has the
//! rules once more, slow and plain, for a test; `perft.txt` has counts of positions by another program;
//! `levels.txt` says what weakens each level; `look.js` is for the page. This file puts them together.

pub mod eval;
mod notation;
#[cfg(test)]
mod oracle;
pub mod rules;

use plyd_core::engine::{self, Bench, Entry, NamedEvaluator, Playable};
use plyd_core::game::{Kind, Named, Spec};

use eval::{Discs, Lines};
use rules::{Board, Rules};

/// How many in a row win, unless the rules say otherwise.
const ROW: i64 = 4;

/// The game, as the registry holds it.
pub static ENTRY: Entry = Entry {
    name: "my-game",
    about: "my-game: drop discs into columns; whoever has four in a row wins.",
    rules: &[Spec {
        name: "row",
        kind: Kind::Int { min: 3, max: 5, default: Some(ROW) },
        about: "How many discs in a row win.",
    }],
    endings: &[Named::new("row", "A row is complete."), Named::new("full", "The board is full: a draw.")],
    unit: "row that lacks one disc",
    position_grammar: "Six rows from the top, with a slash between two; 1 and 2 are discs, a dot is empty.",
    move_grammar: "The column, 1 to 7 from the left.",
    perft: include_str!("perft.txt"),
    levels: include_str!("levels.txt"),
    bench: &[
        Bench { rules: "", position: START, depth: 10, player: ("default", "lines") },
        Bench {
            rules: "",
            position: "......./...1.../...2.../..21.../..121../.2211..",
            depth: 10,
            player: ("default", "lines"),
        },
        Bench { rules: "row=3", position: START, depth: 10, player: ("tree", "discs") },
    ],
    look: Some(include_str!("look.js")),
    ..Entry::of::<Rules>(|given, start, _effort| {
        let rules = Rules { row: given.int("row").unwrap_or(ROW) as usize };
        let board = start.map_or(Ok(Board::default()), |text| notation::read(rules, text))?;
        Ok(engine::open(rules, board))
    })
};

/// The empty board.
const START: &str = "......./......./......./......./......./.......";

impl Playable for Rules {
    const EVALUATORS: &'static [NamedEvaluator<Self>] = &[
        NamedEvaluator::new(
            "lines",
            "The rows that each side can still complete, by the discs that they lack.",
            &|rules, _| Lines::new(*rules),
        ),
        NamedEvaluator::new("discs", "How near to the middle the discs are.", &|_, _| Discs),
    ];

    fn entry() -> &'static Entry {
        &ENTRY
    }
}
