//! Knight Isolation: two knights, every cell usable once; a player who cannot move loses.
//!
//! ```
//! use plyd_core::engine::settings::Settings;
//! use plyd_core::play::Position;
//!
//! let small = Settings::from_iter([("width", 5), ("height", 5)]);
//! let pos = Position::open(&plyd_isolation::ENTRY, &small, None)?.play("c3")?.play("b1")?;
//! assert_eq!(pos.legal(), ["d1", "a2", "e2", "a4", "e4", "b5", "d5"]);
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```
//!
//! In reading order: `board` (bit boards), [`rules`], `sizes` (which board is asked for), [`notation`] with
//! `draft` (texts that may break the rules), [`territory`] and [`eval`] (evaluations), [`solver`] on `paths`
//! and `decided`, `openings`, `certificate` and `theory` (what is solved for good), `prover` (all of it
//! beside the search), `published_eval` and `players`. This file opens the game for the registry: it chooses
//! the machine word that holds the board, and nothing of it knows the protocol.

mod board;
mod certificate;
mod decided;
mod draft;
pub mod eval;
mod layout;
mod lesson;
pub mod notation;
mod openings;
#[cfg(test)]
mod oracle;
mod paths;
mod players;
mod prover;
mod published_eval;
pub mod rules;
mod sizes;
pub mod solver;
pub mod territory;
mod theory;

use std::sync::Arc;

pub use self::board::{Board, UNPLACED};
pub use self::sizes::Size;

use self::eval::{Mobility, Race};
use self::notation::Layout;
use self::players::PublishedPlayer;
use self::published_eval::{Formula, Published};
use self::rules::{Isolation, STUCK};
use self::solver::Solver;
use self::territory::{Territory, WEIGHTS};
use plyd_core::bits::{Bits, Colours};
use plyd_core::effort::Effort;
use plyd_core::engine::{self, AnyRoot, Bench, Entry, Made, NamedEvaluator, NamedPlayer, Playable, Solve};
use plyd_core::game::{Evaluator, Kind, Named, OpenError, Rules, Spec};
use plyd_core::options::{EXACT, Options};
use plyd_core::search::erased::Erased;
use plyd_core::search::iterate::Iterate;
use plyd_core::search::prover_player::ProverPlayer;
use plyd_core::search::proving::Proving;

/// Knight Isolation in the registry.
///
/// ```
/// use plyd_core::play::Position;
///
/// let pos = Position::start(&plyd_isolation::ENTRY);
/// let pos = pos.play(&pos.legal()[0])?;
/// assert_eq!((plyd_isolation::ENTRY.name, pos.played().len()), ("isolation", 1));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
pub static ENTRY: Entry = Entry {
    name: "isolation",
    about: "Knight Isolation: jump like knights to open cells, each usable once; whoever cannot move loses.",
    rules: sizes::RULES,
    own_options: &[
        Spec {
            name: "solver",
            kind: Kind::Bool { default: Some(true) },
            about: "Whether the default player decides positions by its solver where it can; not where a depth limits it.",
        },
        EXACT,
    ],
    endings: &[Named::new(STUCK, "No move is left: the side to move loses.")],
    levels: include_str!("levels.txt"),
    unit: "cell",
    position_grammar: notation::POSITION_GRAMMAR,
    move_grammar: notation::MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    look: Some(include_str!("look.js")),
    lesson: lesson::STEPS,
    glyphs: &[("token", KNIGHT)],
    reports: Some(include_str!("reports.txt")),
    bench: BENCH,
    solve: Some(Solve::ByParts(openings::solve)),
    edits: Some(draft::edits),
    ..Entry::of::<Isolation<u64>>(open)
};

/// A knight, as `look.js` draws it.
const KNIGHT: &str = "M-20 32h42v-7c0-16 4-25-1-38c-4-11-14-17-24-17l-3-8l-6 9c-8 6-11 17-18 27c-3 5 1 11 7 9l9-4\
                      c4-2 8-2 11-4c-1 9-14 14-17 26z";

/// The name of the solver as a player.
const SOLVER: &str = "solver";
/// The name of the published player.
const PUBLISHED: &str = "published";

/// Positions from random games in which neither side is far ahead.
const BENCH: &[Bench] = &[
    bench("......./....1x./.x...../...xx../..2..../......./....... 1", 18),
    bench("..x..../....x../.2.x..x/.....1./......./......./....... 1", 17),
    bench(".x...../...x.../x.1..2./..x..../......./......./....... 1", 17),
    bench(".x...../...2.../x....../..x..../.1...../.x...../....... 1", 16),
    bench(
        ".x......x../...x..x..../x......xx../..x...2..../......x..../...x......./.1........./.........../........... 1",
        14,
    ),
    bench(
        ".x..x....../x.1x..x..../..x.....x../.x...x2..../.......x.../.........../.........../.........../........... 1",
        14,
    ),
    bench(
        ".........../.........../.........../.........1./.........../........x.x/.2x.......x/x..x.....x./.xx......x. 1",
        14,
    ),
    bench(
        ".x....x..../....x....../x.x......../..1......../........2../........x.x/.........../.......x.x./.....x..... 1",
        13,
    ),
    solved("x2...../......./.1...../......./......./......./....... 2"),
    solved("......./..x..../....1../.....2./......./.....x./....... 1"),
    solved(
        ".x....x..../....x.12.../x.x.x....../..x...xxx../.xx.xx.xx../x.....x.x../....x....../..xxx..x.x./..xxx.xxx.. 1",
    ),
];

/// Solved completely: search and evaluation have no part in their nodes.
const fn solved(position: &'static str) -> Bench {
    Bench { rules: "", position, depth: 1, player: (SOLVER, "") }
}

const fn bench(position: &'static str, depth: u32) -> Bench {
    Bench { rules: "", position, depth, player: ("default", "territory") }
}

fn open(rules: &Rules, start: Option<&str>, _effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let layout = start.map(Layout::parse).transpose()?;
    let size = Size::choose(rules, layout.as_ref().map(|layout| layout.size))?;
    if size.cells() <= u64::CAPACITY {
        Ok(open_sized::<u64>(size, layout.as_ref()))
    } else if size.width() % 2 == 1 {
        Ok(open_sized::<Colours<u64>>(size, layout.as_ref()))
    } else {
        Ok(open_sized::<u128>(size, layout.as_ref()))
    }
}

fn open_sized<B: Bits>(size: Size, layout: Option<&Layout>) -> Arc<dyn AnyRoot> {
    let game = Isolation::<B>::new(size.width(), size.height());
    let start = layout.map_or_else(|| game.start(), |layout| layout.position(&game));
    engine::open(game, start)
}

impl<B: Bits> Playable for Isolation<B> {
    const EVALUATORS: &'static [NamedEvaluator<Self>] = &[
        NamedEvaluator::new(
            "territory",
            "The race in which a cell counts by its exits; once the tokens are apart, the longer path.",
            &|game, options| Territory::weighted(game, |spec| options.weight(spec)),
        )
        .with(WEIGHTS),
        NamedEvaluator::new(
            "race",
            "The cells that the mover reaches first less those that the opponent reaches first.",
            &|game, _| Erased::new(Race::new(game)),
        ),
        NamedEvaluator::new("mobility", "The mover's moves less the opponent's.", &|game, _| {
            Erased::new(Mobility::new(game))
        }),
        NamedEvaluator::new("winlose", "Published: 0 until the game is over.", &|game, _| {
            Erased::new(Published::new(game, Formula::WinLose))
        }),
        NamedEvaluator::new("open-move", "Published: the root player's moves.", &|game, _| {
            Erased::new(Published::new(game, Formula::OpenMove))
        }),
        NamedEvaluator::new(
            "improved",
            "Published: the root player's moves less the opponent's.",
            &|game, _| Erased::new(Published::new(game, Formula::Improved)),
        ),
        NamedEvaluator::new(
            "net-advantage",
            "Published: as `improved`, but on the opponent's turn moves that both have do not count for the root.",
            &|game, _| Erased::new(Published::new(game, Formula::NetAdvantage)),
        ),
        NamedEvaluator::new(
            "net-mobility",
            "Published: 2, 1, -1 or -2 for more or fewer moves, by whose turn it is, and 0 for as many.",
            &|game, _| Erased::new(Published::new(game, Formula::NetMobility)),
        ),
        NamedEvaluator::new("accessibility", "Published: 1 near the centre, -1 far from it.", &|game, _| {
            Erased::new(Published::new(game, Formula::Accessibility))
        }),
        NamedEvaluator::new(
            "offensive",
            "Published: 1 on the root's turn and -1 on the opponent's if both could go to one cell, else 0.",
            &|game, _| Erased::new(Published::new(game, Formula::Offensive)),
        ),
        NamedEvaluator::new(
            "proximity",
            "Published: minus the distance of the tokens, in hops of two cells.",
            &|game, _| Erased::new(Published::new(game, Formula::Proximity)),
        ),
        NamedEvaluator::new(
            "offensive+near+mobility",
            "Published: `offensive` plus `proximity`, whatever its name says.",
            &|game, _| Erased::new(Published::new(game, Formula::OffensiveNear)),
        ),
        NamedEvaluator::new(
            "netadvantage+near",
            "Published: `net-advantage` plus `offensive`, whatever its name says.",
            &|game, _| Erased::new(Published::new(game, Formula::NetAdvantageNear)),
        ),
    ];

    const PLAYERS: &'static [NamedPlayer<Self>] = &[
        NamedPlayer::strongest(
            "The strongest player: a solver that decides who wins, beside iterative deepening (PVS) with a table.",
        ),
        NamedPlayer::new(
            SOLVER,
            "The solver alone: a proven answer or none; it knows no depth.",
            &|game, _, options| Ok(Box::new(ProverPlayer::new(Solver::new(game), options))),
        ),
        NamedPlayer::new(
            PUBLISHED,
            "The published player: iterative deepening over plain alpha-beta, until three depths agree.",
            &|_, evaluator, options| Ok(Box::new(PublishedPlayer::new(evaluator, options.depth))),
        )
        .formerly("seed"),
    ];

    fn entry() -> &'static Entry {
        &ENTRY
    }

    fn strongest<E: Evaluator<Self>>(&self, evaluator: E, options: &Options) -> Made<Self> {
        let solves = options.depth.is_none() && options.own_bool("solver").unwrap_or(true);
        Ok(if solves {
            Box::new(Proving::new(self, evaluator, Solver::new(self), options))
        } else {
            Box::new(Iterate::new(self, evaluator, options))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::game::{Context, Game, Turn};

    fn check<B: Bits>(layout: &Layout) {
        let game = Isolation::<B>::new(layout.size.width(), layout.size.height());
        let pos = layout.position(&game);
        assert_eq!(game.turn(&pos), Turn::Move);
        let context = Context { root: pos.mover(), last: None };
        let territory = Territory::new(&game).evaluate(&game, &pos, &context);
        for name in ["", "territory"] {
            assert_eq!(game.evaluate(&pos, name), Ok(territory), "the first is the default");
        }
        assert_eq!(game.evaluate(&pos, "race"), Ok(Race::new(&game).evaluate(&game, &pos, &context)));
        assert_eq!(game.evaluate(&pos, "mobility"), Ok(Mobility::new(&game).evaluate(&game, &pos, &context)));
        assert_eq!(ENTRY.evaluators().count(), 3 + Formula::ALL.len());
        for (named, formula) in ENTRY.evaluators().skip(3).zip(Formula::ALL) {
            let published = Published::new(&game, formula).evaluate(&game, &pos, &context);
            assert_eq!(game.evaluate(&pos, named.name), Ok(published), "{}", named.name);
        }
    }

    #[test]
    fn the_bench_positions_stand_and_all_evaluations_are_had_by_name() {
        for bench in BENCH {
            let layout = Layout::parse(bench.position).unwrap();
            check::<u128>(&layout);
            if layout.size.width() % 2 == 1 {
                check::<Colours<u64>>(&layout);
            }
            if layout.size.cells() <= u64::CAPACITY {
                check::<u64>(&layout);
            }
        }
    }

    #[test]
    fn the_start_sets_the_size() {
        let position =
            |start| (ENTRY.open)(&Rules::default(), start, &Effort::free()).map(|root| root.text());
        let seven = ["......."; 7].join("/") + " 1";
        assert_eq!(position(None), Ok(seven));
        let large = format!("1.............2{} 1", "/...............".repeat(7));
        for text in ["1../.x./..2 2", ".../.../.../x.. 1", &large] {
            assert_eq!(position(Some(text)).as_deref(), Ok(text));
        }
        let nine = Rules::new(vec![("preset", "11x9".into())]);
        assert_eq!((ENTRY.open)(&nine, None, &Effort::free()).map(|root| root.legal().len()), Ok(99));
        let clash = (ENTRY.open)(&nine, Some(".../.../... 1"), &Effort::free()).map(|root| root.text());
        assert!(matches!(clash, Err(OpenError::Impossible(_))));
    }

    #[test]
    fn the_published_player_comes_with_any_evaluation() {
        for named in ENTRY.evaluators() {
            let (player, eval) = (PUBLISHED.to_owned(), named.name.to_owned());
            let options = Options { player, eval, ..Options::default() };
            assert!(Isolation::<u64>::new(7, 7).searcher(&options).is_ok());
        }
    }
}
