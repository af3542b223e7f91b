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
    /// What the position is worth for this side, for the bar.
    Value(Player),
    /// Lines for this side, until a time or until they are stopped.
    Analysis { by: Player, timed: bool },
}

impl Purpose {
    /// The side for which it searches.
    pub(super) fn by(self) -> Player {
        match self {
            Self::Move(player) | Self::Hint(player) | Self::Value(player) => player,
            Self::Analysis { by, .. } => by,
        }
    }
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
