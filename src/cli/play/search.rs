//! A search that runs for the table: what it is for, and what it has found.

use std::time::Instant;

use plyd_protocol::{Line, Player, Stats};

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// A move of this side.
    Move(Player),
    /// What this side could play.
    Hint(Player),
    /// Lines for this side, until a time or until they are stopped.
    Analysis { by: Player, timed: bool },
}

/// A search that runs.
#[derive(Clone, Debug)]
pub(super) struct RunningSearch {
    pub(super) purpose: Purpose,
    pub(super) began: Instant,
    /// The best lines so far.
    pub(super) lines: Vec<Line>,
    pub(super) stats: Stats,
}
