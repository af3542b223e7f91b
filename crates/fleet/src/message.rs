//! What is sent for each pair: the job and its result.

use plyd_arena::PlayedGame;
use plyd_arena::tune::spsa::Probe;
use plyd_core::engine::AnyRoot;
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
    /// The settings that play, in a tuning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

impl Job {
    /// The job to play a pair from an opening, in a tuning by these settings.
    #[must_use]
    pub fn new(opening: &dyn AnyRoot, probe: Option<Probe>) -> Self {
        Self {
            rules: plyd_bridge::rules(&opening.rules()),
            start: opening.start_text(),
            moves: opening.played().to_vec(),
            probe,
        }
    }
}

/// What came of a pair of a tuning: the moves of both players, from which the points follow by the rules.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TrialResult {
    /// The worker that played it.
    pub worker: String,
    /// The moves of both games.
    pub games: [Vec<String>; 2],
}

/// What came of a pair of a match.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PairResult {
    /// The worker that played it.
    pub worker: String,
    /// In how many thousandths of their times the players were given, if the match wants that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<u32>,
    /// Both games.
    pub games: [PlayedGame; 2],
}

impl PairResult {
    /// The smallest and the largest scale of clocks: a machine beyond is too fast or too slow.
    pub const SCALES: [u32; 2] = [250, 4000];
}
