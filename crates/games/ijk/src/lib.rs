//! IJK: a two-player 2048 with letters, upper case against lower case.
//!
//! ```
//! use plyd_core::engine::ToMove;
//! use plyd_core::engine::settings::Settings;
//! use plyd_core::play::Position;
//!
//! let dice = Settings::from_iter([("mode", "nondet")]);
//! let mut pos = Position::open(&plyd_ijk::ENTRY, &dice, None)?;
//! while pos.to_move() == ToMove::Chance {
//!     pos = pos.play(&pos.chance()[0].mv)?;
//! }
//! assert!(pos.legal().iter().any(|slide| slide == "L"));
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```
//!
//! In reading order: `board` (what holds tiles), `planes` and `nibbles` (two ways to, with their slides),
//! [`variant`] (presets and single rules), [`rules`], [`notation`] and `draft` (texts), [`eval`] (mass and
//! lead), `tuples` (rows and columns beside them: the default evaluation), `published_eval` (the published
//! ones), `drawn` (chance drawn beforehand), `solution` (tiny boards, solved whole). The game with chance and
//! the one without are two types of one rule book; this file opens the right one for the registry.

mod board;
#[cfg(test)]
mod counts;
mod draft;
mod drawn;
pub mod eval;
mod lesson;
mod nibbles;
pub mod notation;
#[cfg(test)]
mod oracle;
mod planes;
mod published_eval;
pub mod rules;
mod solution;
mod tuples;
pub mod variant;

use std::sync::Arc;

pub use self::board::{Board, Slide};
pub use self::nibbles::Nibbles;
pub use self::planes::Planes;

use self::eval::{Lead, WEIGHTS};
use self::notation::Layout;
use self::published_eval::Published;
use self::rules::{BY_FULL, BY_K, BY_MAX_PLIES, BY_REPETITION, Ijk, Move, Position};
use self::tuples::{Learned, WhereLearned};
use self::variant::Variant;
use plyd_core::effort::Effort;
use plyd_core::engine::{
    self, AnyRoot, Bench, Entry, Learner, Made, NamedEvaluator, NamedPlayer, Playable, Solve,
};
use plyd_core::game::{Evaluator, Game, Named, OpenError, Rules};
use plyd_core::options::Options;
use plyd_core::search::Searcher;
use plyd_core::search::ensemble::Ensemble;
use plyd_core::search::erased::Erased;
use plyd_core::search::iterate::Iterate;
use plyd_core::search::one_ply;
use plyd_core::search::plain::{Plain, Pruning};

/// IJK in the registry.
///
/// ```
/// use plyd_core::play::Position;
///
/// let pos = Position::start(&plyd_ijk::ENTRY);
/// let pos = pos.play(&pos.legal()[0])?;
/// assert_eq!((plyd_ijk::ENTRY.name, pos.played().len()), ("ijk", 1));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
pub static ENTRY: Entry = Entry {
    name: "ijk",
    about: "IJK: a 2048 for two, upper case against lower case; a K ends the game, or a full board.",
    rules: variant::RULES,
    endings: &[
        Named::new(BY_K, "A K or k is on the board: the rule `win` says whose counts."),
        Named::new(BY_FULL, "The board is full, and the higher letter decides: equal ones draw."),
        Named::new(BY_REPETITION, "A position with a full board occurred too often: a draw."),
        Named::new(BY_MAX_PLIES, "As many moves were played as the rules allow: a draw."),
    ],
    levels: include_str!("levels.txt"),
    unit: "an A",
    position_grammar: notation::POSITION_GRAMMAR,
    move_grammar: notation::MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    look: Some(include_str!("look.js")),
    lesson: lesson::STEPS,
    reports: Some(include_str!("reports.txt")),
    bench: BENCH,
    edits: Some(draft::edits),
    solve: Some(Solve::AtOnce(solution::solve)),
    ..Entry::of::<Ijk<false>>(open)
};

/// The name of the search of the game itself.
const DEEPENING: &str = "deepening";

/// The start, and positions from games, some on 4x4; three with chance.
const BENCH: &[Bench] = &[
    bench("A...../....../....../....../....../...... +", 12),
    bench("AbCd../aBcD../dE...a/C.bA../a.B.c./...... +", 10),
    bench("fEdCba/CbA.../aB..../A...../....../...... -", 11),
    bench("GfEdCb/eDcBaA/CbAba./aBAa../A...../a..... +", 10),
    bench("Ab.c/.BdA/a..C/bcAd +", 12),
    bench("EdCb/cBa./A.../b... -", 13),
    chance("fEdCba/CbA.../aB..../A...../....../...... -", "default", 6),
    chance("Ab.c/.BdA/a..C/bcAd +", "default", 8),
    chance("EdCb/cBa./A.../b... -", DEEPENING, 3),
];

const fn bench(position: &'static str, depth: u32) -> Bench {
    Bench { rules: "", position, depth, player: ("default", "tuples") }
}

const fn chance(position: &'static str, player: &'static str, depth: u32) -> Bench {
    Bench { rules: "mode=nondet", position, depth, player: (player, "tuples") }
}

fn open(rules: &Rules, start: Option<&str>, _effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let layout = start.map(Layout::parse).transpose()?;
    let variant = Variant::choose(rules, layout.as_ref().map(Layout::stated_rules))?;
    match (variant.size, variant.chance) {
        (nibbles::SIZE, false) => open_game(Ijk::<false, Nibbles>::new(variant), layout.as_ref()),
        (nibbles::SIZE, true) => open_game(Ijk::<true, Nibbles>::new(variant), layout.as_ref()),
        (_, false) => open_game(Ijk::<false>::new(variant), layout.as_ref()),
        (_, true) => open_game(Ijk::<true>::new(variant), layout.as_ref()),
    }
}

fn open_game<const CHANCE: bool, B: Board>(
    game: Ijk<CHANCE, B>,
    layout: Option<&Layout>,
) -> Result<Arc<dyn AnyRoot>, OpenError>
where
    Ijk<CHANCE, B>: Playable<Position = Position<B>>,
{
    let start = layout.map_or_else(|| Ok(game.start()), |layout| layout.position(&game))?;
    Ok(engine::open(game, start))
}

impl<const CHANCE: bool, B: Board> Playable for Ijk<CHANCE, B>
where
    Self: Strongest + Learned + Game<Position = Position<B>, Move = Move>,
{
    const EVALUATORS: &'static [NamedEvaluator<Self>] = &[
        NamedEvaluator::by(
            "tuples",
            "`lead` plus the worth of rows and columns, from tables learned by self-play, under the rules of \
             preset v2-4x4; `lead` alone on other boards, with a move S, and where a full board does not end \
             the game.",
            &WhereLearned,
        )
        .trained(),
        NamedEvaluator::new(
            "lead",
            "The mass of the mover's tiles less the opponent's (A weighs 1, each letter twice the one \
             before), and who has the higher letter.",
            &|_, options| Erased::new(Lead::new(|spec| options.weight(spec))),
        )
        .with(WEIGHTS),
        NamedEvaluator::new(
            "gradient",
            "Published: letters at 10 a step, weighted by a slope from the best corner; whose they are does not count.",
            &|_, _| Erased::new(Published::Gradient),
        ),
        NamedEvaluator::new(
            "smoothness",
            "Published: less the differences of neighbouring tiles, letters at 10 a step; whose they are does not count.",
            &|_, _| Erased::new(Published::Smoothness),
        ),
    ];

    const PLAYERS: &'static [NamedPlayer<Self>] = &[
        NamedPlayer::strongest(
            "The strongest player: iterative deepening (PVS) with a table; with mode=nondet of several \
             games in which the tiles are drawn beforehand, averaged.",
        ),
        NamedPlayer::new(
            "expectiminimax",
            "Plain minimax that averages over chance, to the option `depth`; absent, to the search's depth limit, or 2.",
            &|_, evaluator, options| Ok(Box::new(Plain::new(evaluator, Pruning::None, options.depth, 2))),
        ),
        NamedPlayer::new(
            DEEPENING,
            "Iterative deepening (PVS) with a table; with mode=nondet over chance nodes with Star1 and Star2 pruning.",
            &|game, evaluator, options| Ok(Box::new(Iterate::new(game, evaluator, options))),
        ),
        NamedPlayer::new(
            "published",
            "The published player, with `gradient` unless another published evaluation is asked for: \
             alpha-beta to depth 6, with mode=nondet expectiminimax to depth 3, which is 6 with the chance \
             plies.",
            &|_, evaluator, options| {
                options.expect_eval(&["gradient", "smoothness"])?;
                let is_usual = options.eval.is_empty();
                let evaluator = if is_usual { Erased::new(Published::Gradient) } else { evaluator };
                let (pruning, usual) = if CHANCE { (Pruning::None, 3) } else { (Pruning::AlphaBeta, 6) };
                Ok(Box::new(Plain::new(evaluator, pruning, options.depth, usual)))
            },
        )
        .formerly("seed"),
    ];

    fn entry() -> &'static Entry {
        &ENTRY
    }

    // The tiles of chance are behind the moves.
    fn actions(&self) -> usize {
        usize::from(Move::TILES)
    }

    fn strongest<E: Evaluator<Self>>(&self, evaluator: E, options: &Options) -> Made<Self> {
        Ok(self.by_chance(evaluator, options))
    }

    fn learner(&self, _evaluator: &str) -> Result<Box<dyn Learner>, String> {
        self.learnable()
    }

    fn at_sight(&self, pos: &Position<B>, mv: Move) -> i32 {
        one_ply::at_sight(self, &Lead::default(), &mut pos.clone(), mv, self.side(pos)).score.raw()
    }
}

/// A game with a strongest player, which differs with and without chance.
trait Strongest: Sized {
    /// The strongest player with an evaluation.
    fn by_chance<E: Evaluator<Self>>(&self, evaluator: E, options: &Options) -> Box<dyn Searcher<Self>>
    where
        Self: Game;
}

impl<B: Board> Strongest for Ijk<false, B> {
    fn by_chance<E: Evaluator<Self>>(&self, evaluator: E, options: &Options) -> Box<dyn Searcher<Self>> {
        Box::new(Iterate::new(self, evaluator, options))
    }
}

impl<B: Board> Strongest for Ijk<true, B> {
    fn by_chance<E: Evaluator<Self>>(&self, evaluator: E, options: &Options) -> Box<dyn Searcher<Self>> {
        Box::new(Ensemble::new(self, evaluator, options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::engine::settings::{self, Caps, Settings};
    use plyd_core::search::Control;

    const CAPS: Caps = Caps { threads: 1, hash_mb: 1 };

    #[test]
    fn what_is_played_where_no_time_is_left_is_the_best_at_sight() {
        for (rules, text, expected) in [
            // Only a slide along the row takes the opponent's tile: not up, the first of the list.
            ("", "cC../..../..../..A. +", "L"),
            ("", "c.../C.../..../A... +", "U"),
            ("mode=nondet", "cC../..../..../..A. +", "L"),
            // The K decides the game at once.
            ("end=ply", "JJ../..../..../b... +", "L"),
            // Nothing merges, and all moves look alike: the first of the list.
            ("", "A.../..../..../.... +", "U"),
        ] {
            let given: Settings = rules.split(',').filter_map(|rule| rule.split_once('=')).collect();
            let rules = settings::rules(&ENTRY, &given, 0).unwrap();
            let root = open(&rules, Some(text), &Effort::free()).unwrap();
            let candidates = root.candidates(&[], &[]).unwrap();
            assert_eq!(candidates.first_text, expected, "{text}");

            // A search that is stopped before it begins has published that move, and no other.
            let options = settings::options(&ENTRY, &Settings::default(), 0, CAPS).unwrap();
            let control = Control::default();
            control.stop();
            let mut published = Vec::new();
            let mut publish = |lines: Vec<_>| published.push(lines);
            root.engine(&options).unwrap().search(root.as_ref(), &candidates, 1, &control, &mut publish);
            assert_eq!((published.len(), control.stats().nodes), (1, 0), "{text}");
            assert_eq!((published[0][0].mv(), published[0][0].depth), (expected, 0), "{text}");
        }
    }

    #[test]
    fn the_published_player_takes_either_published_evaluation() {
        let root =
            open(&Rules::default(), Some("fEdCba/CbA.../aB..../A...../....../...... +"), &Effort::free())
                .unwrap();
        let lines_with = |words: &str| {
            let given: Settings = words.split(',').filter_map(|word| word.split_once('=')).collect();
            let options = settings::options(&ENTRY, &given, 0, CAPS).unwrap();
            let candidates = root.candidates(&[], &[]).unwrap();
            let control = Control::default();
            control.set_limits(None, Some(4));
            let (lines, _) =
                root.engine(&options).unwrap().search(root.as_ref(), &candidates, 1, &control, &mut |_| ());
            lines
        };
        let [gradient, smoothness] =
            ["eval=gradient", "eval=smoothness"].map(|eval| lines_with(&format!("player=alphabeta,{eval}")));
        assert_ne!(gradient, smoothness);
        assert_eq!(lines_with("player=published"), gradient);
        assert_eq!(lines_with("player=published,eval=gradient"), gradient);
        assert_eq!(lines_with("player=published,eval=smoothness"), smoothness);
    }
}
