//! The L Game's entry in the registry: its rules, players and evaluators by name.

use std::sync::Arc;

use super::eval::{ActionHeuristic, StateHeuristic};
use super::lesson;
use super::notation::{MOVE_GRAMMAR, POSITION_GRAMMAR, START, parse_position};
use super::perfect::Perfect;
use super::published::PublishedPlayer;
use super::{LGame, Neutrals};
use plyd_core::effort::Effort;
use plyd_core::engine::{self, AnyRoot, Bench, Entry, Made, NamedEvaluator, NamedPlayer, Playable, Solve};
use plyd_core::game::{Evaluator, Kind, Named, OpenError, Rules, Spec};
use plyd_core::options::Options;
use plyd_core::search::erased::Erased;

/// The game.
///
/// ```
/// use plyd_core::play::Position;
///
/// let pos = Position::start(&plyd_l_game::ENTRY);
/// let pos = pos.play(&pos.legal()[0])?;
/// assert_eq!((plyd_l_game::ENTRY.name, pos.played().len()), ("l-game", 1));
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
pub static ENTRY: Entry = Entry {
    name: "l-game",
    about: "The L Game (Edward de Bono): move your L, then a token if you like; whoever cannot move the L loses.",
    rules: &[
        Spec {
            name: "neutrals",
            kind: Kind::Choice(&Neutrals::NAMES),
            about: "How many neutral tokens a turn moves: none or one, none to both, exactly one, or none.",
        },
        Spec {
            name: "max_plies",
            kind: Kind::Int { min: 0, max: 1_000_000, default: Some(0) },
            about: "The game is drawn after this many plies, unless the mover is stuck; 0: never.",
        },
        Spec {
            name: "repetition",
            kind: Kind::Int { min: 0, max: 1000, default: Some(0) },
            about: "The occurrence of a position that draws, the start included; 0: none does, 1 is impossible.",
        },
    ],
    own_options: &[
        Spec {
            name: "novelty",
            kind: Kind::Bool { default: Some(true) },
            about: "Whether the default player, without `opponent_model`, avoids drawing positions that the game has already shown.",
        },
        Spec {
            name: "opponent_model",
            kind: Kind::Bool { default: Some(true) },
            about: "Whether the default player judges the opponent by its replies to choose among drawing moves.",
        },
    ],
    endings: &[
        Named::new("stuck", "The L of the side to move has no other place: it loses."),
        Named::new("max_plies", "As many plies were played as the rules allow: a draw."),
        Named::new("repetition", "The position occurred too often: a draw."),
    ],
    levels: include_str!("levels.txt"),
    unit: "a legal move of the evaluator `state`",
    position_grammar: POSITION_GRAMMAR,
    move_grammar: MOVE_GRAMMAR,
    perft: include_str!("perft.txt"),
    look: Some(include_str!("look.js")),
    lesson: lesson::STEPS,
    reports: Some(include_str!("reports.txt")),
    bench: &[
        Bench { rules: "", position: START, depth: 3, player: ("alphabeta", "state") },
        Bench { rules: "", position: "3 3 E 2 1 3 4 2 4 W 1", depth: 3, player: ("alphabeta", "state") },
        Bench { rules: "", position: START, depth: 2, player: ("minimax", "action") },
        Bench { rules: "", position: START, depth: 3, player: (PUBLISHED, "state") },
        Bench { rules: "", position: START, depth: 1, player: ("default", "state") },
    ],
    solve: Some(Solve::AtOnce(super::census::solve)),
    edits: Some(super::draft::edits),
    ..Entry::of::<LGame>(open)
};

/// The name of the published agent.
const PUBLISHED: &str = "published";

fn open(rules: &Rules, start: Option<&str>, _effort: &Arc<Effort>) -> Result<Arc<dyn AnyRoot>, OpenError> {
    let game = LGame::of(rules)?;
    let pos = parse_position(&game, start.unwrap_or(START))?;
    Ok(engine::open(game, pos))
}

impl Playable for LGame {
    const EVALUATORS: &'static [NamedEvaluator<Self>] = &[
        NamedEvaluator::new(
            "state",
            "The mover's legal moves, + 25 a core cell and - 40 a corner cell of its L less the other's; \
             lost states are infinitely bad.",
            &|_, _| StateHeuristic,
        ),
        NamedEvaluator::new(
            "action",
            "The last move: + 25 a core cell of its L, - 40 if one is a corner, + 10 for a token that \
             landed on the border off the corners.",
            &|_, _| Erased::new(ActionHeuristic),
        ),
    ];

    const PLAYERS: &'static [NamedPlayer<Self>] = &[
        NamedPlayer::strongest(
            "Perfect play from a table; among drawing moves the one after which opponents most likely err. With \
             the option `depth` it sees wins and losses within so many plies only.",
        ),
        NamedPlayer::new(
            PUBLISHED,
            "The published agent: alpha-beta with `state` to the option `depth` (2 when absent), lost states as \
             leaves, another of the best moves each time that a position comes again.",
            &|_, _, options| {
                options.expect_eval(&["state"])?;
                Ok(Box::new(PublishedPlayer::new(options)))
            },
        )
        .formerly("seed"),
        NamedPlayer::new(
            "suggest",
            "The first move that the evaluator `state` likes best at depth 1.",
            &|_, _, options| {
                options.expect_eval(&["state"])?;
                Ok(Box::new(PublishedPlayer::suggest()))
            },
        ),
    ];

    fn entry() -> &'static Entry {
        &ENTRY
    }

    fn strongest<E: Evaluator<Self>>(&self, _evaluator: E, options: &Options) -> Made<Self> {
        Ok(Box::new(Perfect::new(options)))
    }
}
