//! Why a player forfeits a game.

use std::fmt;

use plyd_protocol::ErrorMessage;
use serde::{Deserialize, Serialize};

/// Why a player forfeits a game.
///
/// ```
/// use plyd_arena::{ForfeitReason, ForfeitKind};
///
/// let reason = ForfeitReason::new(ForfeitKind::Late, "12ms after its 100ms");
/// assert_eq!(reason.to_string(), "late: 12ms after its 100ms");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ForfeitReason {
    /// What kind of failure it is.
    pub kind: ForfeitKind,
    /// What happened, for people.
    pub message: String,
}

/// The ways to forfeit a game.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForfeitKind {
    /// A move that the rules do not allow.
    Illegal,
    /// An answer after the time.
    Late,
    /// The process does not start, ends, or closes its output; the connection cannot be made or breaks.
    Crash,
    /// The player did not answer, or did not read, until the referee gave up.
    #[serde(rename = "silence")]
    Timeout,
    /// An answer that the protocol does not allow, or an error.
    Protocol,
}

impl ForfeitKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Late, Self::Illegal, Self::Crash, Self::Timeout, Self::Protocol];

    /// The kind as records name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Illegal => "illegal",
            Self::Late => "late",
            Self::Crash => "crash",
            Self::Timeout => "silence",
            Self::Protocol => "protocol",
        }
    }
}

impl ForfeitReason {
    /// A reason of that kind.
    pub fn new(kind: ForfeitKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The forfeit of a player that answered the request `asked` with an error.
    #[must_use]
    pub fn refused(asked: &str, error: &ErrorMessage) -> Self {
        let place = error.pointer.as_deref().map(|pointer| format!(" at {pointer}")).unwrap_or_default();
        Self::new(ForfeitKind::Protocol, format!("`{asked}` was refused{place}: {}", error.message))
    }
}

impl fmt::Display for ForfeitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)
    }
}
