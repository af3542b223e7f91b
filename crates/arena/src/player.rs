//! Who plays: the program to start or the address to call, its options, its clock and its limits.

use plyd_protocol::{Limit, Settings};

use super::TimeControl;
pub use plyd_client::{Address, Program};

/// A player of a match.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_arena::{Address, Player, Program, TimeControl};
/// use plyd_protocol::Settings;
///
/// let plyd = Address::Program(Program { path: "plyd".into(), arguments: Vec::new() });
/// let time = TimeControl::PerMove(Duration::from_millis(50));
/// let weak = Player { time, options: Settings::from_iter([("level", 3)]), ..Player::new("weak", plyd) };
/// assert_eq!((weak.name.as_str(), weak.token), ("weak", None));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Player {
    /// What the tables and records call it.
    pub name: String,
    /// Where it is found.
    pub address: Address,
    /// The token that a server wants, if it wants one.
    pub token: Option<String>,
    /// What distinguishes its program from another build of it; none if that is not known.
    pub build: Option<String>,
    /// Its options, as `newgame` sends them.
    pub options: Settings,
    /// Its clock.
    pub time: TimeControl,
    /// Limits of each search.
    pub limit: Limit,
    /// Whether each `go` brings it the legal moves (`x_legal`).
    pub legal: bool,
}

impl Player {
    /// A player without options, and without a clock or a limit: give it one of them, or its searches end
    /// only if they prove the best move.
    #[must_use]
    pub fn new(name: impl Into<String>, address: Address) -> Self {
        Self {
            name: name.into(),
            address,
            token: None,
            build: None,
            options: Settings::new(),
            time: TimeControl::Unlimited,
            limit: Limit::default(),
            legal: false,
        }
    }
}
