//! Knight Isolation: two knights, every cell usable once; a player who cannot move loses.
//!
//! In reading order: [`board`] (bit boards), [`rules`], [`sizes`] (which board is asked for), [`notation`],
//! [`territory`] and [`eval`] (evaluations), [`solver`] on `paths` and `decided`,
//! `openings` and [`theory`] (what is solved for good), `prover` (all of it beside the search),
//! [`published_eval`] and [`players`]. This file opens the game for the registry: it chooses the machine word
//! that holds the board, and nothing of it knows the protocol.

pub mod board;
mod decided;
pub mod eval;
pub mod notation;
mod openings;
#[cfg(test)]
mod oracle;
mod paths;
pub mod players;
mod prover;
pub mod published_eval;
pub mod rules;
pub mod sizes;
pub mod solver;
pub mod territory;
pub mod theory;

use std::sync::Arc;

use self::eval::{Mobility, Race};
use self::notation::Layout;
use self::players::PublishedPlayer;
use self::published_eval::{NAMES, Published};
use self::rules::{Isolation, Position, STUCK};
use self::sizes::Size;
use self::solver::Solver;
use self::territory::{TUNABLE, Territory};
use crate::bits::Bits;
use plyd_core::effort::Effort;
use plyd_core::engine::{self, AnyRoot, Bench, Entry, OptionError, Playable};
use plyd_core::game::{Context, Evaluator, Game, Kind, Named, OpenError, Rules, Spec};
use plyd_core::options::{EXACT, Options};
use plyd_core::score::Score;
use plyd_core::search::Searcher;
use plyd_core::search::players::{self as common, COMMON};
use plyd_core::search::prover_player::ProverPlayer;
use plyd_core::search::proving::Proving;

/// Knight Isolation in the registry.
pub static ENTRY: Entry = Entry {
    name: "isolation",
    about: "Knight Isolation: jump like knights to open cells, each usable once; who cannot move loses.",
    rules: sizes::RULES,
    options: &[
        Spec {
            name: "solver",
            kind: Kind::Bool { default: Some(true) },
            about: "Whether the default player decides positions by its solver where it can; not where a depth limits it.",
        },
        EXACT,
        TUNABLE.weights[0],
        TUNABLE.weights[1],
        TUNABLE.weights[2],
    ],
    tunable: &[TUNABLE],
    trainable: &[],
    evaluators: &[
        Named::new(
            "territory",
            "The race in which a cell counts by its exits; once the tokens are apart, the longer path.",
        ),
        Named::new(
            "race",
            "The cells that the mover reaches first less those that the opponent reaches first.",
        ),
        Named::new("mobility", "The mover's moves less the opponent's."),
        NAMES[0],
        NAMES[1],
        NAMES[2],
        NAMES[3],
        NAMES[4],
        NAMES[5],
        NAMES[6],
        NAMES[7],
        NAMES[8],
        NAMES[9],
    ],
    players: &[
        Named::new(
            "default",
            "The strongest player: a solver that decides who wins, beside iterative deepening (PVS) with a table.",
        ),
        COMMON[1],
        COMMON[2],
        COMMON[3],
        COMMON[4],
        COMMON[5],
        Named::new(SOLVER, "The solver alone: a proven answer or none; it knows no depth."),
        Named::new(
            PUBLISHED,
            "The published player: iterative deepening over plain alpha-beta, until three depths agree.",
        )
        .formerly("seed"),
    ],
    endings: &[Named::new(STUCK, "The side to move has no move and loses.")],
    levels: include_str!("levels.txt"),
    unit: "cell",
    position_grammar: notation::POSITION_GRAMMAR,
    move_grammar: notation::MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    bench: BENCH,
    solve: Some(openings::solve),
    open,
};

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
    fn entry() -> &'static Entry {
        &ENTRY
    }

    fn searcher(&self, options: &Options) -> Result<Box<dyn Searcher<Self>>, OptionError> {
        match options.eval.as_str() {
            "race" => player(self, Race::new(self), options),
            "mobility" => player(self, Mobility::new(self), options),
            name => match Published::new(self, name) {
                Some(published) => player(self, published, options),
                None => player(self, Territory::weighted(self, |spec| options.weight(spec)), options),
            },
        }
    }

    fn evaluate(&self, pos: &Position<B>, evaluator: &str) -> Score {
        let context = Context { root: self.side(pos), last: None };
        match evaluator {
            "race" => Race::new(self).evaluate(self, pos, &context),
            "mobility" => Mobility::new(self).evaluate(self, pos, &context),
            name => match Published::new(self, name) {
                Some(published) => published.evaluate(self, pos, &context),
                None => Territory::new(self).evaluate(self, pos, &context),
            },
        }
    }
}

/// The player that the options name, with an evaluation.
fn player<B: Bits, E: Evaluator<Isolation<B>>>(
    game: &Isolation<B>,
    evaluator: E,
    options: &Options,
) -> Result<Box<dyn Searcher<Isolation<B>>>, OptionError> {
    let solves = options.depth.is_none() && options.own_bool("solver").unwrap_or(true);
    Ok(match options.player.as_str() {
        PUBLISHED => Box::new(PublishedPlayer::new(evaluator, options.depth)),
        SOLVER => Box::new(ProverPlayer::new(Solver::new(game), options)),
        "default" if solves => Box::new(Proving::new(game, evaluator, Solver::new(game), options)),
        _ => {
            common::build(game, evaluator, options).expect("the entry lists the common players and two more")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plyd_core::game::Turn;

    fn check<B: Bits>(layout: &Layout) {
        let game = Isolation::<B>::new(layout.size.width(), layout.size.height());
        let pos = layout.position(&game);
        assert_eq!(game.turn(&pos), Turn::Move);
        let values: Vec<Score> =
            ENTRY.evaluators.iter().map(|named| game.evaluate(&pos, named.name)).collect();
        let context = Context { root: pos.mover(), last: None };
        assert_eq!(
            values[0],
            Territory::new(&game).evaluate(&game, &pos, &context),
            "the first is the default"
        );
        for (named, value) in ENTRY.evaluators.iter().zip(&values).skip(3) {
            let published = Published::new(&game, named.name).expect("all others are published");
            assert_eq!(*value, published.evaluate(&game, &pos, &context), "{}", named.name);
        }
    }

    #[test]
    fn the_bench_positions_stand_and_all_evaluations_are_had_by_name() {
        for bench in BENCH {
            let layout = Layout::parse(bench.position).unwrap();
            check::<u128>(&layout);
            if layout.size.cells() <= u64::CAPACITY {
                check::<u64>(&layout);
            }
            assert!(ENTRY.players.iter().any(|player| player.name == bench.player.0));
            let named = |evaluator: &Named| evaluator.name == bench.player.1;
            assert!(bench.player.0 == SOLVER || ENTRY.evaluators.iter().any(named));
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
        for named in ENTRY.evaluators {
            let options = Options {
                player: PUBLISHED.to_owned(),
                depth: None,
                eval: named.name.to_owned(),
                threads: 1,
                hash_mb: 1,
                seed: 0,
                level: 10,
                variety: 0,
                deterministic: true,
                own: Vec::new(),
            };
            assert!(Isolation::<u64>::new(7, 7).searcher(&options).is_ok());
        }
    }
}
