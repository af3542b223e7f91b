//! Converts the core's values to the protocol's types, and back, for all who speak for games on the wire. It
//! decides nothing.
//!
//! # Where to begin
//!
//! Each function is named after what it converts, such as [`lines`], [`outcome`] and [`settings`]:
//!
//! ```
//! use plyd_core::nim;
//! use plyd_core::options::Options;
//! use plyd_core::play::{Player, Position, SearchLimits};
//! use plyd_protocol::ProofOutcome;
//!
//! let heap = Position::start(&nim::ENTRY);
//! let answer = Player::new(&heap, &Options::default())?.best(&heap, &SearchLimits::default())?;
//! let line = plyd_bridge::lines(answer.lines).remove(0);
//! assert_eq!((line.rank, line.mv.as_str()), (1, "1"));
//! let proof = line.score.and_then(|score| score.proof);
//! assert_eq!(proof.map(|proof| proof.outcome), Some(ProofOutcome::Win));
//! # Ok::<(), plyd_core::engine::Fault>(())
//! ```

use std::cmp::Ordering;

use plyd_protocol as wire;

use plyd_core::engine::settings::Settings;
use plyd_core::engine::{ChanceOutcome, Evaluation, Fault, FaultCode, Line, Place, Successor, ToMove};
use plyd_core::game::{Drawing, Outcome, Rules, Setting, Side};
use plyd_core::search::Bound;

/// A side as a player.
#[must_use]
pub fn player(side: Side) -> wire::Player {
    match side {
        Side::First => wire::Player::P1,
        Side::Second => wire::Player::P2,
    }
}

/// Whose turn it is.
#[must_use]
pub fn to_move(to_move: ToMove) -> wire::ToMove {
    match to_move {
        ToMove::Player(Side::First) => wire::ToMove::P1,
        ToMove::Player(Side::Second) => wire::ToMove::P2,
        ToMove::Chance => wire::ToMove::Chance,
    }
}

/// The end of a game.
#[must_use]
pub fn outcome(outcome: Outcome) -> wire::Outcome {
    wire::Outcome {
        winner: outcome.winner.map(player),
        by: outcome.by.to_owned(),
        scores: outcome.scores.map(|scores| scores.map(i64::from)),
    }
}

/// A value of a rule or an option.
#[must_use]
pub fn setting(setting: &Setting) -> wire::Setting {
    match setting {
        Setting::Bool(value) => (*value).into(),
        Setting::Int(value) => (*value).into(),
        Setting::Text(value) => value.as_str().into(),
    }
}

/// Rules or options.
#[must_use]
pub fn settings(settings: &Settings) -> wire::Settings {
    settings.iter().map(|(name, value)| (name, setting(value))).collect()
}

/// Rules that were checked.
#[must_use]
pub fn rules(rules: &Rules) -> wire::Settings {
    rules.iter().map(|(name, value)| (name, setting(value))).collect()
}

/// Rules or options that a client gave.
///
/// ```
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// // The rules of a request, as a game takes them.
/// let rules = plyd_protocol::Settings::from_iter([("most", 5)]);
/// let heap = Position::open(&nim::ENTRY, &plyd_bridge::given(&rules), None)?;
/// assert_eq!(plyd_bridge::rules(&heap.root().rules()), rules);
/// # Ok::<(), plyd_core::engine::Fault>(())
/// ```
#[must_use]
pub fn given(settings: &wire::Settings) -> Settings {
    let value = |value: &wire::Setting| match value {
        wire::Setting::Bool(value) => Setting::Bool(*value),
        wire::Setting::Int(value) => Setting::Int(*value),
        wire::Setting::Text(value) => Setting::Text(value.clone()),
    };
    settings.iter().map(|(name, given)| (name, value(given))).collect()
}

/// A legal move and what follows.
#[must_use]
pub fn successor(successor: Successor) -> wire::MoveInfo {
    let Successor { mv, text, eval, outcome: end } = successor;
    wire::MoveInfo { mv, text, eval, outcome: end.map(outcome) }
}

/// A chance outcome and its probability.
#[must_use]
pub fn chance(chance: ChanceOutcome) -> wire::ChanceInfo {
    wire::ChanceInfo { mv: chance.mv, ppm: chance.ppm }
}

/// The lines that a search found, ranked from 1.
#[must_use]
pub fn lines(lines: Vec<Line>) -> Vec<wire::Line> {
    let line = |(rank, Line { pv, depth, value }): (u32, Line)| wire::Line {
        rank,
        mv: pv[0].clone(),
        pv,
        depth,
        score: value.map(score),
    };
    (1..).zip(lines).map(line).collect()
}

/// What a search says a move is worth.
#[must_use]
pub fn score(value: Evaluation) -> wire::Score {
    let bound = match value.bound {
        Bound::Exact => wire::Bound::Exact,
        Bound::Lower => wire::Bound::Lower,
        Bound::Upper => wire::Bound::Upper,
    };
    let proof = value.proof.map(|proof| wire::Proof {
        outcome: match proof.result {
            Ordering::Greater => wire::ProofOutcome::Win,
            Ordering::Equal => wire::ProofOutcome::Draw,
            Ordering::Less => wire::ProofOutcome::Loss,
        },
        plies: proof.plies,
        plies_max: proof.plies_max,
        margin: proof.margin,
    });
    wire::Score { bound, eval: value.eval, wdl: None, proof }
}

/// The code of a fault's error message.
#[must_use]
pub fn error_code(code: FaultCode) -> wire::ErrorCode {
    match code {
        FaultCode::RulesUnsupported => wire::ErrorCode::RulesUnsupported,
        FaultCode::BadPosition => wire::ErrorCode::BadPosition,
        FaultCode::IllegalPosition => wire::ErrorCode::IllegalPosition,
        FaultCode::IllegalMove => wire::ErrorCode::IllegalMove,
        FaultCode::GameOver => wire::ErrorCode::GameOver,
        FaultCode::OptionUnknown => wire::ErrorCode::OptionUnknown,
        FaultCode::OptionInvalid => wire::ErrorCode::OptionInvalid,
        FaultCode::Undecided => wire::ErrorCode::Undecided,
        FaultCode::Unprepared => wire::ErrorCode::Unprepared,
    }
}

/// The JSON pointer to a part of a request; none if no part is to blame.
#[must_use]
pub fn pointer(place: &Place) -> Option<String> {
    Some(match place {
        Place::Request => return None,
        Place::Rule(name) => wire::pointer("/rules", name),
        Place::Option(name) => wire::pointer("/options", name),
        Place::Position => "/position".to_owned(),
        Place::Start => "/position/start".to_owned(),
        Place::Ply(index) => format!("/position/moves/{index}"),
        Place::SearchMove(index) => format!("/searchmoves/{index}"),
        Place::ExcludeMove(index) => format!("/excludemoves/{index}"),
        Place::ExcludeMoves => "/excludemoves".to_owned(),
    })
}

/// Where a fault is, for people: ` at POINTER`, or nothing.
#[must_use]
pub fn at(fault: &Fault) -> String {
    pointer(&fault.place).map(|pointer| format!(" at {pointer}")).unwrap_or_default()
}

/// A board as drawing primitives.
#[must_use]
pub fn board(drawing: Drawing) -> wire::Board {
    let cell = |(row, col): (usize, usize)| [row as u32, col as u32];
    let pieces = drawing.pieces.into_iter().filter_map(|piece| {
        let (&first, others) = piece.cells.split_first()?;
        Some(wire::Piece {
            cell: cell(first),
            also: others.iter().copied().map(cell).collect(),
            piece: piece.piece.to_owned(),
            owner: piece.owner.map(player),
            label: piece.label,
        })
    });
    let walls = drawing.walls.into_iter().map(|wall| wire::Wall {
        cell: cell(wall.cell),
        side: if wall.right { wire::Side::Right } else { wire::Side::Down },
    });
    let marks = drawing.marks.into_iter().map(|mark| wire::Mark {
        cell: cell(mark.cell),
        mark: mark.mark.to_owned(),
        owner: mark.owner.map(player),
        label: mark.label,
    });
    wire::Board {
        grid: wire::Grid {
            rows: drawing.rows as u32,
            cols: drawing.cols as u32,
            block: drawing.blocks.map(|(rows, cols)| [rows as u32, cols as u32]),
            row_labels: drawing.row_labels,
            col_labels: drawing.col_labels,
        },
        pieces: pieces.collect(),
        walls: walls.collect(),
        marks: marks.collect(),
        scores: drawing.scores.map(|scores| scores.map(i64::from)),
    }
}
