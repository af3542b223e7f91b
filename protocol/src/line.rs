//! What a search found: its lines with their scores, and the work and the time that it took.

use std::ops::Neg;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A variation and its score.
///
/// ```
/// use plyd_protocol::Line;
///
/// let text = r#"{"rank":1,"move":"d4","pv":["d4","b3"],"depth":2,"score":{"bound":"exact","eval":120}}"#;
/// let line: Line = serde_json::from_str(text)?;
/// assert_eq!((line.mv.as_str(), line.score.and_then(|score| score.eval)), ("d4", Some(120)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Line {
    /// Counts the lines from 1, the best first.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub rank: u32,
    /// The first move.
    #[serde(rename = "move")]
    pub mv: String,
    /// The variation: legal plies, `move` the first, chance plies with a `~`.
    pub pv: Vec<String>,
    /// The depth completed; 0: nothing searched yet.
    pub depth: u32,
    /// The score; absent at depth 0 and for players that do not score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
}

/// A score from the root mover's view: at least one of `eval`, `wdl` and `proof`.
///
/// ```
/// use plyd_protocol::{ProofOutcome, Score};
///
/// let text = r#"{"bound":"exact","proof":{"outcome":"win","plies":5}}"#;
/// let score: Score = serde_json::from_str(text)?;
/// match (score.proof, score.eval) {
///     (Some(proof), _) => assert_eq!((proof.outcome, proof.plies), (ProofOutcome::Win, Some(5))),
///     (None, Some(eval)) => println!("{:+.2}", eval as f64 / 1000.0),
///     (None, None) => println!("{:?}", score.wdl),
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [{ "required": ["eval"] }, { "required": ["wdl"] }, { "required": ["proof"] }])))]
pub struct Score {
    /// How the score relates to the true one.
    pub bound: Bound,
    /// Thousandths of the game's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<i64>,
    /// The chances of win, draw and loss in ppm, 1,000,000 together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(max = 1_000_000))))]
    pub wdl: Option<[u32; 3]>,
    /// What is proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
}

impl Score {
    /// Whether a win of the root's mover is proven. A score that is only an upper bound proves none.
    ///
    /// ```
    /// use plyd_protocol::Score;
    ///
    /// let text = r#"{"bound":"lower","proof":{"outcome":"win","plies_max":7}}"#;
    /// let score: Score = serde_json::from_str(text)?;
    /// assert!(score.is_win() && !score.is_loss());
    /// assert!((-score).is_loss() && !(-score).is_win());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn is_win(&self) -> bool {
        self.bound != Bound::Upper && self.proves(ProofOutcome::Win)
    }

    /// Whether a draw is proven.
    #[must_use]
    pub fn is_draw(&self) -> bool {
        self.bound == Bound::Exact && self.proves(ProofOutcome::Draw)
    }

    /// Whether a loss is proven. A score that is only a lower bound proves none.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        self.bound != Bound::Lower && self.proves(ProofOutcome::Loss)
    }

    fn proves(&self, outcome: ProofOutcome) -> bool {
        self.proof.is_some_and(|proof| proof.outcome == outcome)
    }
}

/// The same score from the other side's view. A figure without an opposite, which a peer may send, becomes
/// the largest.
impl Neg for Score {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            bound: match self.bound {
                Bound::Exact => Bound::Exact,
                Bound::Lower => Bound::Upper,
                Bound::Upper => Bound::Lower,
            },
            eval: self.eval.map(i64::saturating_neg),
            wdl: self.wdl.map(|[win, draw, loss]| [loss, draw, win]),
            proof: self.proof.map(|proof| Proof {
                outcome: match proof.outcome {
                    ProofOutcome::Win => ProofOutcome::Loss,
                    ProofOutcome::Draw => ProofOutcome::Draw,
                    ProofOutcome::Loss => ProofOutcome::Win,
                },
                margin: proof.margin.map(i64::saturating_neg),
                ..proof
            }),
        }
    }
}

/// How a score relates to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The search's value.
    Exact,
    /// The value is at least this.
    Lower,
    /// The value is at most this.
    Upper,
}

/// A proven outcome, from the root mover's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Proof {
    /// The outcome under best play.
    pub outcome: ProofOutcome,
    /// The exact distance to the end under best play, in moves, chance plies not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// A bound of that distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plies_max: Option<u32>,
    /// The final difference in whole points or cells, scores so far included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<i64>,
}

/// The outcome of a [`Proof`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProofOutcome {
    /// The root's mover wins.
    Win,
    /// Neither wins.
    Draw,
    /// The root's mover loses.
    Loss,
}

/// The work of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Stats {
    /// Nodes searched, by all threads.
    pub nodes: u64,
    /// Nodes per second.
    pub nps: u64,
    /// Time since the start of the search.
    pub time_ms: u64,
    /// The depth completed.
    pub depth: u32,
    /// The deepest ply reached.
    pub seldepth: u32,
    /// The part of the hash table in use, in ppm.
    #[cfg_attr(feature = "schema", schemars(range(max = 1_000_000)))]
    pub hash_ppm: u32,
}

/// When a search was asked for, began and was decided, on the clock of `t_us`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Timing {
    /// The last byte of the line arrived.
    pub received_us: u64,
    /// The search began.
    pub started_us: u64,
    /// The end of the search was decided.
    pub decided_us: u64,
}
