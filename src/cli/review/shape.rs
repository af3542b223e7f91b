//! A review as JSON, which `docs/review.md` describes: names and values are the protocol's.

use std::collections::BTreeMap;

use plyd_protocol::{Line, Outcome, Player, Score, Settings};
use serde::Serialize;

use crate::bridge;
use crate::cli::records::Game;
use crate::game::Side;
use crate::review::{Mark, Review, ReviewLimits, ReviewedMove};

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

/// The moves of a side by their marks.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Counts {
    pub(crate) moves: usize,
    /// The marks that were given, by their names.
    pub(crate) marks: BTreeMap<&'static str, usize>,
    /// Proven or estimated, the moves behind which there was a better one.
    pub(crate) errors: usize,
}

impl Counts {
    /// Those of a side of a game.
    pub(crate) fn of(review: &Review, side: Side) -> Self {
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

    /// Adds those of another game.
    pub(crate) fn join(&mut self, other: &Self) {
        self.moves += other.moves;
        self.errors += other.errors;
        for (mark, count) in &other.marks {
            *self.marks.entry(mark).or_default() += count;
        }
    }
}

/// A move of a game.
#[derive(Debug, Serialize)]
struct Move {
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
            players: game.players.as_ref().map(|players| [0, 1].map(|side| &*players[side].name)),
            opening: game.opening,
            result: record.result.as_ref(),
            limit: Limit::of(limits),
            counts: [Side::First, Side::Second].map(|side| Counts::of(review, side)),
            moves: review.moves.iter().map(Move::new).collect(),
        }
    }
}

impl Move {
    fn new(reviewed: &ReviewedMove) -> Self {
        let ReviewedMove { ply, mv, side, before, after, mark, is_only, loss, better } = reviewed.clone();
        Self {
            ply: ply + 1,
            mv,
            player: bridge::player(side),
            mark: mark.name(),
            proven: mark.is_proven(),
            only: is_only,
            before: before.map(bridge::score),
            after: after.map(bridge::score),
            loss_ppm: loss.map(|loss| (loss * 1e6).round() as u32),
            better: better.and_then(|line| bridge::lines(vec![line]).pop()),
        }
    }
}
