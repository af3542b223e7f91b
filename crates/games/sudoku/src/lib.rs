//! Competitive Sudoku: two players fill one puzzle, and completing rows, columns and blocks scores.
//!
//! ```
//! use plyd_core::engine::settings::Settings;
//! use plyd_core::play::Position;
//!
//! let small = Settings::from_iter([("m", 2), ("n", 2)]);
//! let pos = Position::open(&plyd_sudoku::ENTRY, &small, None)?.play("0,0,1")?;
//! assert!(!pos.legal().contains(&"0,1,1".to_owned()), "a value stands once in a row");
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```
//!
//! In reading order: `grid` (shapes), `solver` (the solutions of a puzzle) with `run`, `counts` and `bands`,
//! `shape` (grid and solver for each size), `witness` (a known solution), [`presets`] (which game is asked
//! for), [`position`], `changes`, `found` (the solutions that moves showed) and [`rules`], [`solutions`]
//! (which moves are taboo), [`layout`], `written`, `state_text`, `notation` and `draft` (texts and pictures),
//! `race`, `words`, `lines`, `pairs` and `filling` (the game as the search sees it), `territory`, `naive` and
//! `narrow` (the game without solutions), [`eval`], [`player`] and `published` (a player that knows no
//! solutions). This file opens the game for the registry.

mod bands;
#[cfg(test)]
mod boards;
mod changes;
mod counts;
mod draft;
pub mod eval;
mod filling;
mod found;
mod grid;
pub mod layout;
mod lesson;
mod lines;
mod naive;
mod narrow;
mod notation;
#[cfg(test)]
mod oracle;
mod pairs;
pub mod player;
pub mod position;
pub mod presets;
mod published;
mod race;
pub mod rules;
mod run;
mod shape;
pub mod solutions;
mod solver;
mod state_text;
mod territory;
mod witness;
mod words;
mod written;

use std::sync::Arc;

pub use self::grid::Grid;
pub use self::solver::{Solved, Solver};

use self::eval::{FewerFilled, Parity, Points, WEIGHTS};
use self::layout::Layout;
use self::naive::{Naive, Unknowing};
use self::player::Racer;
use self::presets::Choice;
use self::published::{MoveOrder, PublishedPlayer};
use self::rules::{FULL, STUCK, Sudoku};
use plyd_core::effort::Effort;
use plyd_core::engine::{self, AnyRoot, Bench, Entry, Made, NamedEvaluator, NamedPlayer, Playable};
use plyd_core::game::{Evaluator, Game, Kind, Named, OpenError, Rules, Spec};
use plyd_core::options::Options;
use plyd_core::search::Searcher;
use plyd_core::search::erased::Erased;
use plyd_core::search::one_ply::Greedy;

/// Competitive Sudoku in the registry.
///
/// ```
/// use plyd_core::play::Position;
///
/// let pos = Position::start(&plyd_sudoku::ENTRY);
/// let pos = pos.play(&pos.legal()[0])?;
/// assert_eq!((plyd_sudoku::ENTRY.name, pos.played().len()), ("sudoku", 1));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
pub static ENTRY: Entry = Entry {
    name: "sudoku",
    about: "Competitive Sudoku: fill one puzzle in turn; completed rows, columns and blocks score 1, 3 or 7 points.",
    rules: presets::RULES,
    own_options: &[Spec {
        name: AVOID_TWO_FREE,
        kind: Kind::Bool { default: Some(false) },
        about: "Whether the player `published` tries cells by their number of legal values, those with two last; else at random.",
    }],
    endings: &[
        Named::new(FULL, "Every cell has a value; more points win."),
        Named::new(STUCK, "Neither player has a cell left to play; more points win."),
    ],
    levels: include_str!("levels.txt"),
    unit: "point",
    position_grammar: layout::POSITION_GRAMMAR,
    move_grammar: notation::MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    edits: Some(draft::edits),
    look: Some(include_str!("look.js")),
    lesson: lesson::STEPS,
    reports: Some(include_str!("reports.txt")),
    bench: BENCH,
    ..Entry::of::<Sudoku>(open)
};

/// The name of the published player.
const PUBLISHED: &str = "published";
/// The option of the published player's order of moves.
const AVOID_TWO_FREE: &str = "avoid_two_free";

/// The framework's boards from nearly full to empty.
const BENCH: &[Bench] = &[
    bench(include_str!("boards/random-2x3.txt"), 7),
    bench(include_str!("boards/random-3x3.txt"), 5),
    bench(include_str!("boards/hard-3x3.txt"), 4),
    bench(include_str!("boards/random-4x4.txt"), 3),
    bench(include_str!("boards/empty-3x3.txt"), 4),
];

const fn bench(position: &'static str, depth: u32) -> Bench {
    Bench { rules: "", position, depth, player: ("default", "parity") }
}

fn open(rules: &Rules, start: Option<&str>, effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let read = |text| if state_text::is_one(text) { state_text::parse(text) } else { Layout::parse(text) };
    let layout = start.map(read).transpose()?;
    let stated = layout.as_ref().map(Layout::stated_rules);
    let game = Sudoku::new(Choice::new(rules, stated.as_ref())?);
    let start = match layout {
        Some(layout) => layout.position(&game.heeding(effort).unwrap_or_else(|| game.clone()))?,
        None => game.start(),
    };
    Ok(engine::open(game, start))
}

impl Playable for Sudoku {
    const EVALUATORS: &'static [NamedEvaluator<Self>] = &[
        NamedEvaluator::new(
            "parity",
            "Points, and 3 for the side that the parity of cells and passes favours; reach if cells are bound.",
            &|_, options| parity(options),
        )
        .with(WEIGHTS),
        NamedEvaluator::new("score", "The mover's points less the opponent's.", &|_, _| Erased::new(Points)),
        NamedEvaluator::new(
            "fewer-filled",
            "Points, and a tenth of the mean emptiness of all regions if the root's side is to move.",
            &|_, _| Erased::new(FewerFilled),
        ),
    ];

    const PLAYERS: &'static [NamedPlayer<Self>] = &[
        NamedPlayer::strongest(
            "The strongest player: PVS on the race to fill cells, under the exact rules from 26 empty cells on. \
             With `parity` or `score`.",
        ),
        NamedPlayer::new(
            "greedy",
            "The largest gain, which is `score`; ties drawn from the seed. It knows no taboo moves.",
            &|_, _, options| {
                options.expect_eval(&["score"])?;
                Ok(Box::new(Unknowing::new(Greedy::new(Points, options.seed))))
            },
        ),
        NamedPlayer::new(
            PUBLISHED,
            "The published player: minimax with iterative deepening; it knows no taboo moves. With `score` or `fewer-filled`.",
            &|_, _, options| {
                options.expect_eval(&["score", "fewer-filled"])?;
                let is_points = options.eval != "fewer-filled";
                let evaluator = if is_points { Erased::new(Points) } else { Erased::new(FewerFilled) };
                Ok(published_player(evaluator, options))
            },
        )
        .formerly("seed"),
    ];

    fn entry() -> &'static Entry {
        &ENTRY
    }

    fn strongest<E: Evaluator<Self>>(&self, _evaluator: E, options: &Options) -> Made<Self> {
        options.expect_eval(&["parity", "score"])?;
        // Points alone, without searches of their own, which would lengthen every build.
        let evaluator = if options.eval == "score" { Parity::new(|_| 0) } else { parity(options) };
        Ok(Box::new(Racer::new(evaluator, options)))
    }
}

/// The evaluation with the weights that the options give.
fn parity(options: &Options) -> Parity {
    Parity::new(|spec| options.weight(spec))
}

/// The published player with its order of moves on or off.
fn published_player(evaluator: Erased<Naive>, options: &Options) -> Box<dyn Searcher<Sudoku>> {
    let ordered = options.own_bool(AVOID_TWO_FREE).unwrap_or(false);
    let order = if ordered { MoveOrder::AvoidTwoFree } else { MoveOrder::Random };
    Box::new(Unknowing::new(PublishedPlayer::new(evaluator, order, options.seed, options.depth)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::zobrist::SplitMix64;

    #[test]
    fn players_refuse_evaluations_that_they_cannot_play_by() {
        let root = open(&Rules::default(), None, &Effort::free()).unwrap();
        for (player, taken) in [
            ("default", &["parity", "score"][..]),
            ("greedy", &["score"]),
            (PUBLISHED, &["score", "fewer-filled"]),
            ("tree", &["parity", "score", "fewer-filled"]),
        ] {
            for eval in ENTRY.evaluators().map(|evaluator| evaluator.name) {
                let options = Options {
                    player: player.to_owned(),
                    eval: eval.to_owned(),
                    hash_mb: 1,
                    ..Options::default()
                };
                assert_eq!(root.engine(&options).is_ok(), taken.contains(&eval), "{player} {eval}");
            }
        }
    }

    /// Solutions that were found for a move decide most of the others.
    #[test]
    fn what_moves_do_is_decided_on_nearly_empty_boards() {
        for (m, n, plies) in [(3, 4, 25), (4, 4, 6)] {
            let mut random = SplitMix64::new(7);
            let rules = Rules::new(vec![("m", m.into()), ("n", n.into())]);
            let mut root = open(&rules, None, &Effort::free()).unwrap();
            for _ in 0..plies {
                let mut legal = root.legal();
                let mv = legal.swap_remove(random.below(legal.len()));
                root = root.extend(&[mv]).unwrap();
            }
            let decided = root.moves(None).map(|moves| moves.len());
            assert_eq!(decided, Ok(root.legal().len()), "{m}x{n}");
        }
    }
}
