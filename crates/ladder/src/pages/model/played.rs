//! A game with its moves.

use plyd_arena::{Answered, PlayedGame};
use plyd_core::engine::Entry;
use plyd_protocol::{Player, Score, Settings};
use schemars::JsonSchema;
use serde::Serialize;

use super::games::GameLine;
use super::text::bounded;
use crate::game::OpenGame;
use crate::live::LiveGame;
use crate::terms::PoolTerms;

/// The most characters of a move, of a version and of what a referee says.
const MOVE: usize = 100;
const VERSION: usize = 100;
const MESSAGE: usize = 500;

/// A game with its moves.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Game {
    /// What the lists have of it.
    #[serde(flatten)]
    pub(in crate::pages) line: GameLine,
    /// The game, such as `isolation`.
    pub(in crate::pages) game: String,
    /// The rules: all of them if it is over, else those of the pool.
    pub(in crate::pages) rules: Settings,
    /// The position's text at the start; empty of a game that never began.
    pub(in crate::pages) start: String,
    /// The programs of p1 and p2, as they called themselves.
    pub(in crate::pages) versions: [Option<String>; 2],
    /// The plies up to now, those of the opening and of chance included.
    pub(in crate::pages) moves: Vec<Ply>,
    /// How it ended, in words, if nobody forfeited it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) ending: Option<String>,
    /// What the bot that forfeited did, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) forfeit_message: Option<String>,
    /// The first proof that each player announced and the game contradicted.
    pub(in crate::pages) contradictions: Vec<Contradiction>,
}

/// A proof that the game contradicted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Contradiction {
    /// Who announced it.
    pub(in crate::pages) player: Player,
    /// What was announced and what happened instead.
    pub(in crate::pages) message: String,
}

/// A ply of a game.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub(in crate::pages) struct Ply {
    /// The move.
    #[serde(rename = "move")]
    pub(in crate::pages) mv: String,
    /// Who chose it; absent: it is of the opening, or chance's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) player: Option<Player>,
    /// How long the player took, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) time_us: Option<u64>,
    /// What it was granted for the network beyond that, in microseconds, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) granted_us: Option<u64>,
    /// What its clock shows after the move, in microseconds; absent for a clock of each move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) left_us: Option<u64>,
    /// The score that the player announced for the move, from its own view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::pages) score: Option<Score>,
}

impl Game {
    /// A game that ended.
    pub(in crate::pages) fn ended(line: GameLine, played: PlayedGame) -> Self {
        let build = |of: usize| played.players[of].build.as_deref().map(|build| bounded(build, VERSION));
        let contradictions = played.contradictions.iter().take(2);
        let contradiction = |found: &plyd_arena::Contradiction| Contradiction {
            player: found.player,
            message: bounded(&found.message, MESSAGE),
        };
        Self {
            line,
            game: played.record.game,
            rules: played.record.rules,
            start: played.record.start,
            versions: [build(0), build(1)],
            moves: plies(&played.record.moves, played.opening, &played.answers),
            ending: None,
            forfeit_message: played.forfeit.map(|forfeit| bounded(&forfeit.reason.message, MESSAGE)),
            contradictions: contradictions.map(contradiction).collect(),
        }
    }

    /// A game that goes on.
    pub(in crate::pages) fn playing(line: GameLine, live: &LiveGame) -> Self {
        let moves = plies(&live.record.moves, live.opening, &live.answers);
        let record = &live.record;
        Self::begun(line, record.game.clone(), record.rules.clone(), record.start.clone(), moves)
    }

    /// A game whose bots are not back yet, after the ladder was stopped.
    pub(in crate::pages) fn waiting(line: GameLine, open: OpenGame) -> Self {
        let moves = plies(&open.opening.moves, open.opening.moves.len(), &[]);
        Self::begun(line, open.terms.game, open.terms.rules, open.opening.start, moves)
    }

    /// A game that has not begun, or became void before it had a record.
    pub(in crate::pages) fn unplayed(line: GameLine, terms: PoolTerms) -> Self {
        Self::begun(line, terms.game, terms.rules, String::new(), Vec::new())
    }

    /// With what its rules, or the ladder's, say of its end.
    pub(in crate::pages) fn with_ending(mut self, games: &[&'static Entry]) -> Self {
        let by = self.line.ended_by.as_deref().filter(|_| self.line.forfeit.is_none());
        let about = |by: &str| match by {
            // The pool's, which no rules have.
            "max_moves" => Some("As many moves were played as the pool allows."),
            by => {
                let entry = games.iter().find(|entry| entry.name == self.game)?;
                entry.endings.iter().find(|ending| ending.name == by).map(|ending| ending.about)
            }
        };
        self.ending = by.and_then(about).map(str::to_owned);
        self
    }

    fn begun(line: GameLine, game: String, rules: Settings, start: String, moves: Vec<Ply>) -> Self {
        Self {
            line,
            game,
            rules,
            start,
            versions: [None, None],
            moves,
            ending: None,
            forfeit_message: None,
            contradictions: Vec::new(),
        }
    }
}

/// The plies, each with the answer that gave it: an answer belongs to each ply behind the opening that is not
/// chance's.
pub(in crate::pages) fn plies(moves: &[String], opening: usize, answers: &[Answered]) -> Vec<Ply> {
    let mut answers = answers.iter();
    let ply = |(at, mv): (usize, &String)| {
        let is_chosen = at >= opening && !mv.starts_with(CHANCE);
        let answer = is_chosen.then(|| answers.next()).flatten();
        Ply {
            mv: bounded(mv, MOVE),
            player: answer.map(|answer| answer.player),
            time_us: answer.map(|answer| answer.time_us),
            granted_us: answer.and_then(|answer| answer.granted_us),
            left_us: answer.and_then(|answer| answer.left_us),
            score: answer.and_then(|answer| answer.score),
        }
    };
    moves.iter().enumerate().map(ply).collect()
}

/// How the texts of plies begin that chance had.
const CHANCE: char = '~';
