//! How a game ended, and who its players are.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The end of a game.
///
/// ```
/// use plyd_protocol::{Outcome, Player};
///
/// let outcome: Outcome = serde_json::from_str(r#"{"winner":"p2","by":"stuck"}"#)?;
/// assert_eq!((outcome.winner, outcome.scores), (Some(Player::P2), None));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Outcome {
    /// The winner; null: a draw.
    pub winner: Option<Player>,
    /// How the game ended, a word that `describe` lists for the game.
    pub by: String,
    /// The final scores `[p1, p2]` in whole units, in games that score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<[i64; 2]>,
}

/// A player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Player {
    /// The player who moves first by the rules.
    P1,
    /// The other one.
    P2,
}
