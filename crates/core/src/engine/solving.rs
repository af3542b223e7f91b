//! Games that are solved whole: how that is asked for, and what comes of it.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::game::{OpenError, Rules};
use crate::score::Value;

/// How a game is solved.
#[derive(Clone, Copy)]
pub enum Solve {
    /// All at once. The error is a rule under which the game cannot be solved.
    AtOnce(fn(&Rules) -> Result<Solved, OpenError>),
    /// Part by part, such as one opening after the other, so that a run that was interrupted can go on.
    ByParts(SolveByParts),
}

/// Solves a game by parts.
///
/// # Errors
/// A rule under which the game cannot be solved, a known part that cannot be read, which is
/// [`OpenError::Malformed`], or the end that [`SolveRequest::heard`] asked for.
pub type SolveByParts = fn(&Rules, &mut SolveRequest<'_>) -> Result<SolvedParts, OpenError>;

/// What is asked of a game that is solved by parts.
pub struct SolveRequest<'a> {
    /// How many parts are solved side by side.
    pub threads: usize,
    /// The ply up to which a solved part names the winning moves, 1 at least.
    pub plies: u32,
    /// Parts that an earlier run solved under the same rules up to the same ply, in any order.
    pub known: &'a [String],
    /// Hears each part as soon as it is solved, and says whether to go on.
    pub heard: &'a mut dyn FnMut(SolvedPart<'_>) -> ControlFlow<()>,
}

/// A part that was solved.
pub struct SolvedPart<'a> {
    /// What is proven of it, a line of text.
    pub text: &'a str,
    /// How many parts are solved by now, with those that were known.
    pub done: usize,
    /// How many parts there are.
    pub of: usize,
}

/// A game that was solved by parts.
pub struct SolvedParts {
    /// The positions by their value.
    pub solved: Solved,
    /// A text that the game's players can be built with.
    pub book: String,
    /// A text by which a program that shares no code with this one can prove the solution again.
    pub certificate: String,
}

/// A solved game: all its positions, or all its openings.
pub struct Solved {
    /// The CPU time that the solution took, in this process, unless it was there already.
    pub cpu: Duration,
    /// The positions by their value.
    pub shares: Vec<Share>,
}

/// The positions of a solved game that have one value.
pub struct Share {
    /// What else they have in common; empty if nothing distinguishes them.
    pub kind: &'static str,
    /// The value for the mover; its distance counts if it is exact.
    pub value: Value,
    /// How many positions.
    pub positions: u64,
    /// How many up to the symmetries of the rules.
    pub classes: u64,
}
