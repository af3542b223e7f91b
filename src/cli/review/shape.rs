//! A review as JSON, which `docs/review.md` describes: names and values are the protocol's.

use plyd_protocol::{Outcome, Settings};
use serde::Serialize;

use crate::bridge::review::{Counts, Move};
use crate::cli::records::Game;
use crate::cli::words::label;
use crate::game::Side;
use crate::review::{Review, ReviewLimits};

/// The version of the shape.
const VERSION: u32 = 1;

/// A game with what its moves were worth.
#[derive(Debug, Serialize)]
pub(crate) struct ReviewedGame<'g> {
    review: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    game: &'g str,
    rules: &'g Settings,
    start: &'g str,
    /// The names of p1 and p2, if the record has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    players: Option<[&'g str; 2]>,
    opening: usize,
    result: Option<&'g Outcome>,
    limit: Limit,
    counts: [Counts; 2],
    moves: Vec<Move>,
}

/// What the review could spend on a move.
#[derive(Debug, Serialize)]
pub(crate) struct Limit {
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ms: Option<u64>,
    threads: usize,
}

impl Limit {
    pub(crate) fn of(limits: ReviewLimits) -> Self {
        let ReviewLimits { nodes, time, threads, .. } = limits;
        let time_ms = time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Self { nodes, time_ms, threads }
    }
}

impl<'g> ReviewedGame<'g> {
    /// A record's game with its review.
    pub(crate) fn new(game: &'g Game, limits: ReviewLimits, review: &Review) -> Self {
        let record = &game.record;
        Self {
            review: VERSION,
            number: game.number,
            game: &record.game,
            rules: &record.rules,
            start: &record.start,
            players: game.players.as_ref().map(|players| [0, 1].map(|side| label(&players[side].name))),
            opening: game.opening,
            result: record.result.as_ref(),
            limit: Limit::of(limits),
            counts: [Side::First, Side::Second].map(|side| Counts::of(review, side)),
            moves: review.moves.iter().cloned().map(Move::from).collect(),
        }
    }
}
