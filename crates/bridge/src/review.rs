//! A review as JSON, in the names and values of the protocol; `docs/review.md` describes its fields.

use std::collections::BTreeMap;

use plyd_core::game::Side;
use plyd_core::review::{Mark, Review, ReviewedMove};
use plyd_protocol::{Line, Player, Score};
use serde::Serialize;

/// The moves of a side by their marks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Counts {
    /// The moves that were reviewed.
    pub moves: usize,
    /// How many of them have each mark, by the names of the marks that were given.
    pub marks: BTreeMap<&'static str, usize>,
    /// The moves to which a better one existed, proven or estimated.
    pub errors: usize,
}

impl Counts {
    /// Counts the moves of one side in a game.
    #[must_use]
    pub fn of(review: &Review, side: Side) -> Self {
        let mut counts = Self::default();
        for reviewed in review.moves.iter().filter(|reviewed| reviewed.side == side) {
            counts.add(reviewed.mark);
        }
        counts
    }

    fn add(&mut self, mark: Mark) {
        self.moves += 1;
        *self.marks.entry(mark.name()).or_default() += 1;
        self.errors += usize::from(mark.is_error());
    }

    /// Adds the counts of another game.
    pub fn join(&mut self, other: &Self) {
        self.moves += other.moves;
        self.errors += other.errors;
        for (mark, count) in &other.marks {
            *self.marks.entry(mark).or_default() += count;
        }
    }
}

/// A move of a game with what it was worth.
#[derive(Clone, Debug, Serialize)]
pub struct Move {
    /// Its number among the game's plies, from 1.
    ply: usize,
    #[serde(rename = "move")]
    mv: String,
    player: Player,
    mark: &'static str,
    /// Whether the mark rests on proofs alone.
    proven: bool,
    /// Whether each other move is proven to be worse, or there is none.
    only: bool,
    /// The value of the position before it.
    before: Option<Score>,
    /// The value of the move.
    after: Option<Score>,
    /// The likelihood of winning that was lost, in ppm.
    #[serde(skip_serializing_if = "Option::is_none")]
    loss_ppm: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    better: Option<Line>,
}

impl From<ReviewedMove> for Move {
    fn from(reviewed: ReviewedMove) -> Self {
        let ReviewedMove { ply, mv, side, before, after, mark, is_only, loss, better } = reviewed;
        Self {
            ply: ply + 1,
            mv,
            player: crate::player(side),
            mark: mark.name(),
            proven: mark.is_proven(),
            only: is_only,
            before: before.map(crate::score),
            after: after.map(crate::score),
            loss_ppm: loss.map(|loss| (loss * 1e6).round() as u32),
            better: better.and_then(|line| crate::lines(vec![line]).pop()),
        }
    }
}
