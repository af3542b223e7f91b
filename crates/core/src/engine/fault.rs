//! Why a game or its players refuse a request, and which part of it is to blame.

use std::error::Error;
use std::fmt;

use super::Doubt;
use crate::game::Outcome;
use crate::options::OptionError;

/// Why a request cannot be carried out in a game.
///
/// ```
/// use plyd_core::engine::{FaultCode, Place};
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// let fault = Position::start(&nim::ENTRY).play("9").unwrap_err();
/// assert_eq!((fault.code, fault.place), (FaultCode::IllegalMove, Place::Ply(0)));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What kind of mistake it is.
    pub code: FaultCode,
    /// The part of the request that is to blame.
    pub place: Place,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The outcome, if the game is over.
    pub outcome: Option<Outcome>,
}

/// The kinds of [`Fault`]s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultCode {
    /// A rule that the game does not have, or a value that it does not take.
    RulesUnsupported,
    /// A start text that cannot be read.
    BadPosition,
    /// A position that the rules do not allow, or one in which nobody is to move.
    IllegalPosition,
    /// A move that the rules do not allow.
    IllegalMove,
    /// The game is over.
    GameOver,
    /// An option that no player of the game has.
    OptionUnknown,
    /// An option's value that is not available.
    OptionInvalid,
    /// The rules used up their own budget before they knew the answer.
    Undecided,
    /// The request ended before there was an answer.
    Unprepared,
}

/// A part of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// No part in particular.
    Request,
    /// The rule of that name.
    Rule(String),
    /// The option of that name.
    Option(String),
    /// The position as a whole.
    Position,
    /// The position's start text.
    Start,
    /// The ply of that index, counted from the start.
    Ply(usize),
    /// The move of that index among those to choose from.
    SearchMove(usize),
    /// The move of that index among those left out.
    ExcludeMove(usize),
    /// All moves that are left out.
    ExcludeMoves,
}

impl Fault {
    /// A fault without an outcome.
    pub fn new(code: FaultCode, place: Place, message: impl Into<String>) -> Self {
        Self { code, place, message: message.into(), outcome: None }
    }

    /// An option that a player cannot have.
    pub(super) fn option(name: &str, message: String) -> Self {
        Self::new(FaultCode::OptionInvalid, Place::Option(name.to_owned()), message)
    }

    /// A move that the rules do not allow.
    pub(super) fn illegal(place: Place, message: impl Into<String>) -> Self {
        Self::new(FaultCode::IllegalMove, place, message)
    }

    /// The effort ended before there was an answer.
    pub(super) fn unprepared(place: Place) -> Self {
        Self::new(FaultCode::Unprepared, place, "the request ended before its position was read")
    }
}

impl From<OptionError> for Fault {
    fn from(OptionError { name, message }: OptionError) -> Self {
        Self::option(name, message)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.message;
        match &self.place {
            Place::Request | Place::Position => f.write_str(message),
            Place::Rule(name) => write!(f, "the rule `{name}`: {message}"),
            Place::Option(name) => write!(f, "the option `{name}`: {message}"),
            Place::Start => write!(f, "the start: {message}"),
            Place::Ply(index) => write!(f, "ply {}: {message}", index + 1),
            Place::SearchMove(index) => write!(f, "searchmoves {}: {message}", index + 1),
            Place::ExcludeMove(index) => write!(f, "excludemoves {}: {message}", index + 1),
            Place::ExcludeMoves => write!(f, "excludemoves: {message}"),
        }
    }
}

impl Error for Fault {}

impl From<Doubt> for Fault {
    fn from(doubt: Doubt) -> Self {
        let (place, what) = match doubt {
            Doubt::Start => (Place::Start, "whether the start is possible"),
            Doubt::Ply(index) => (Place::Ply(index), "what this move does"),
        };
        let message = format!("the rules ran out of their budget before they knew {what}");
        Self::new(FaultCode::Undecided, place, message)
    }
}
