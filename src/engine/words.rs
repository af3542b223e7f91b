//! From values to the protocol's words: outcomes, scores, boards.

use plyd_protocol as wire;

use crate::game::{Drawing, Game, Outcome, Setting, Side};
use crate::score::{Score, Value};
use crate::search::Bound;
use crate::search::thread::{is_lost, is_won};

pub(super) fn player(side: Side) -> wire::Player {
    match side {
        Side::First => wire::Player::P1,
        Side::Second => wire::Player::P2,
    }
}

pub(super) fn outcome(outcome: &Outcome) -> wire::Outcome {
    wire::Outcome {
        winner: outcome.winner.map(player),
        by: outcome.by.to_owned(),
        scores: outcome.scores.map(|scores| scores.map(i64::from)),
    }
}

impl From<Setting> for wire::Setting {
    fn from(setting: Setting) -> Self {
        match setting {
            Setting::Bool(value) => Self::Bool(value),
            Setting::Int(value) => Self::Int(value),
            Setting::Text(value) => Self::Text(value),
        }
    }
}

/// The protocol's form of a value from the root mover's view.
///
/// In games that score, a proven margin is an evaluation too, and the outcome may be proven before the margin
/// is. Elsewhere a proven result has no evaluation, and its distance is exact only when both sides of it are
/// proven.
pub(super) fn score<G: Game>(value: Value, bound: Bound) -> wire::Score {
    let bound = match bound {
        Bound::Exact => wire::Bound::Exact,
        Bound::Lower => wire::Bound::Lower,
        Bound::Upper => wire::Bound::Upper,
    };
    let Value { score, .. } = value;
    let raw = score.raw().clamp(-Score::MAX_EVAL.raw(), Score::MAX_EVAL.raw());
    let is_won_or_lost = is_won::<G>(score) || is_lost::<G>(score);
    let points = if G::SCORED && is_won_or_lost { raw - raw.signum() * G::WIN_BONUS } else { raw };
    let eval = Some(i64::from(points));
    let none = wire::Proof { outcome: wire::ProofOutcome::Draw, plies: None, plies_max: None, margin: None };
    let result = match score.cmp(&Score::DRAW) {
        std::cmp::Ordering::Greater => wire::ProofOutcome::Win,
        std::cmp::Ordering::Equal => wire::ProofOutcome::Draw,
        std::cmp::Ordering::Less => wire::ProofOutcome::Loss,
    };
    if G::SCORED {
        let is_decided = is_won_or_lost && if raw > 0 { value.at_least } else { value.at_most };
        let margin = value.is_exact().then_some(i64::from(points / 1000));
        let proof =
            (value.is_exact() || is_decided).then_some(wire::Proof { outcome: result, margin, ..none });
        return wire::Score { bound, eval, wdl: None, proof };
    }
    if !value.is_decided() {
        return wire::Score { bound, eval, wdl: None, proof: None };
    }
    let (plies, plies_max) =
        if value.is_exact() { (score.distance(), None) } else { (None, score.distance()) };
    let proof = Some(wire::Proof { outcome: result, plies, plies_max, margin: None });
    wire::Score { bound: wire::Bound::Exact, eval: None, wdl: None, proof }
}

pub(super) fn board(drawing: Drawing) -> wire::Board {
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
