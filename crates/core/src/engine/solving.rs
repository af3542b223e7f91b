//! Games that are solved whole: how that is asked for, and what comes of it.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::game::{OpenError, Rules};
use crate::score::Value;

/// Solves a game under some rules.
///
/// # Errors
/// A rule under which the game cannot be solved, an earlier certificate that cannot be read, or the end that
/// [`Certificate::line`] asked for.
pub type Solve = fn(&Rules, &mut Solving<'_>) -> Result<Solved, OpenError>;

/// How a game is to be solved, and who hears how far it has come.
pub struct Solving<'a> {
    /// How many parts are solved side by side, if the game has parts.
    pub threads: usize,
    /// The certificate that is wanted beside the values; none: only the values.
    pub certificate: Option<Certificate<'a>>,
    /// Hears from time to time how many parts are solved, and how many there are.
    pub progress: &'a mut dyn FnMut(usize, usize),
}

/// A text by which a program that shares no code with this one can prove a solution again.
pub struct Certificate<'a> {
    /// The ply up to which it names the winning moves. What follows its reader has to solve.
    pub plies: u32,
    /// What an earlier run wrote of it: whole lines in any order, which are not solved again.
    pub known: &'a str,
    /// Hears each new line as soon as it is proven, without the line's end, and says whether to go on.
    pub line: &'a mut dyn FnMut(&str) -> ControlFlow<()>,
}

/// A solved game: all its positions, or all its openings.
pub struct Solved {
    /// The CPU time that the solution took, in this process, unless it was there already.
    pub cpu: Duration,
    /// The positions by their value.
    pub shares: Vec<Share>,
    /// The solution as a text that the game's players can be built with, if there is one.
    pub book: Option<String>,
    /// All lines of the certificate in their order, if one was asked for and the game has any.
    pub certificate: Option<String>,
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
