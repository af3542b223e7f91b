//! What is sent for each pair: the job and its result.

use plyd_arena::PlayedGame;
use plyd_protocol::Settings;
use serde::{Deserialize, Serialize};

/// A pair of games that is to be played; its subject names the match and the pair.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The rules of its opening, whatever they draw included.
    pub rules: Settings,
    /// The text of the position where the opening begins.
    pub start: String,
    /// The plies of the opening.
    pub moves: Vec<String>,
}

/// What came of a pair.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PairResult {
    /// The worker that played it.
    pub worker: String,
    /// Both games.
    pub games: [PlayedGame; 2],
}
