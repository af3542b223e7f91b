//! Reviews: what each move of a game kept and what it gave away.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use plyd_bridge::review::{Counts, Move};
use plyd_core::engine::Entry;
use plyd_core::game::Side;
use plyd_core::play::Position;
use plyd_core::review::{ReviewLimits, Reviewer};
use plyd_protocol::ErrorCode;
use serde_json::{Value, json};

use crate::error::{ToolError, internal};
use crate::kept::Game;

/// A sign that nobody waits for a review any more.
#[derive(Clone, Default)]
pub(crate) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    /// Gives the sign when it is dropped.
    pub(crate) fn guard(&self) -> Guard {
        Guard(Arc::clone(&self.0))
    }
}

/// See [`Abandoned::guard`].
pub(crate) struct Guard(Arc<AtomicBool>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// A game's first position, from the core.
///
/// # Errors
/// The rules do not open it, which they did before.
pub(crate) fn start(games: &[&'static Entry], game: &Game) -> Result<Position, ToolError> {
    let entry = games.iter().find(|entry| entry.name == game.name);
    let entry = entry.ok_or_else(|| internal("the game is not known any more"))?;
    let rules = plyd_bridge::given(&game.rules);
    Position::open(entry, &rules, Some(&game.start)).map_err(|fault| ToolError::from(fault).unplaced())
}

/// Reviews a game; the time is shared out over its moves.
///
/// # Errors
/// It took too long, or nobody waits for it.
pub(crate) fn review(
    start: &Position,
    moves: &[String],
    time: Duration,
    abandoned: &Abandoned,
) -> Result<Value, ToolError> {
    let end = Instant::now() + time;
    let count = u32::try_from(moves.len()).unwrap_or(u32::MAX).max(1);
    // Half of it is for moves that seem to lose the game, and are searched twice.
    let limits = ReviewLimits { time: Some(time / count / 2), doubt: 1, ..ReviewLimits::default() };
    let go_on = |_, _| match abandoned.0.load(Relaxed) || Instant::now() > end {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let unplaced = |fault| ToolError::from(fault).unplaced();
    let mut reviewer = Reviewer::new(start, limits).map_err(unplaced)?;
    let review = reviewer.review(start, moves, 0, go_on).map_err(unplaced)?;
    let late = || ToolError::new(ErrorCode::TimedOut, "the review took too long: give it more time");
    let review = review.ok_or_else(|| late().at("/time_ms"))?;
    Ok(json!({
        "counts": { "p1": Counts::of(&review, Side::First), "p2": Counts::of(&review, Side::Second) },
        "moves": review.moves.into_iter().map(Move::from).collect::<Vec<Move>>(),
    }))
}
