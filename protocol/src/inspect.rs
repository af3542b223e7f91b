//! What `inspect` answers: what the rules say about a position.

use crate::{Board, Edits, Hash, Outcome, Record, Score};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

/// What the rules say about a position: the fields that were wanted.
///
/// ```
/// use plyd_protocol::{InspectResult, ToMove};
///
/// let found: InspectResult = serde_json::from_str(r#"{"to_move":"p1","outcome":null,"legal":["a1"]}"#)?;
/// assert_eq!(found.to_move, Some(ToMove::P1));
/// assert_eq!(found.outcome, Some(None), "it was asked for, and the game goes on");
/// assert_eq!(found.eval, None, "it was not asked for");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InspectResult {
    /// Who is to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_move: Option<ToMove>,
    /// The outcome; null while the game goes on.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "nullable_outcome"))]
    pub outcome: Option<Option<Outcome>>,
    /// The legal moves' texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<String>>,
    /// The legal moves, each with what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<MoveInfo>>,
    /// The chance outcomes; empty where a player is to move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<Vec<ChanceInfo>>,
    /// The board to be drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The position's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The position's hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// The static evaluation in thousandths, from the mover's view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<i64>,
    /// The game so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// The position as the game's own referee writes it, where that is another text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The board as a picture: the text of one SVG element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub svg: Option<String>,
    /// The legal moves as numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions: Option<Actions>,
    /// The advantage in thousandths with which most games under these rules are won.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decisive: Option<i64>,
    /// What the game's book of solved positions says of this one, if it holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book: Option<Book>,
    /// What can be changed by hand in the draft; absent where the game has no editor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<Edits>,
}

/// What a book of solved positions says of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Book {
    /// What the position is worth, from the mover's view.
    pub score: Score,
    /// The moves that the book can judge, the best first.
    pub moves: Vec<BookMove>,
}

/// What a book says of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BookMove {
    /// The move's text.
    #[serde(rename = "move")]
    pub mv: String,
    /// The other moves that a symmetry makes of it: what is said of one holds for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<String>,
    /// What it is worth, from the view of the one who makes it.
    pub score: Score,
    /// What its replies are worth, if the book knows all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Replies>,
    /// A reply that wins or draws, if the book names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// How many of the replies to a move win, draw and lose, for the one who replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Replies {
    /// Replies that win.
    pub wins: u32,
    /// Replies that draw.
    pub draws: u32,
    /// Replies that lose.
    pub losses: u32,
}

/// Who is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToMove {
    /// The player who moves first by the rules.
    P1,
    /// The other one.
    P2,
    /// Neither: a chance outcome comes next.
    Chance,
}

/// A legal move and what follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MoveInfo {
    /// The move's text.
    #[serde(rename = "move")]
    pub mv: String,
    /// The text of the position after it.
    pub text: String,
    /// The static evaluation after it in thousandths, from the view of the one who makes the move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eval: Option<i64>,
    /// The outcome, if the move ends the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// A chance outcome and its probability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ChanceInfo {
    /// The outcome's text, with its `~`.
    #[serde(rename = "move")]
    pub mv: String,
    /// Its probability in ppm; together 1,000,000, the remainder on the first.
    #[cfg_attr(feature = "schema", schemars(range(max = 1_000_000)))]
    pub ppm: u32,
}

/// The legal moves as numbers, for programs that learn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Actions {
    /// How many actions there are under these rules: each number is below.
    pub count: u32,
    /// The number of each legal move, in the order of `legal`.
    pub legal: Vec<u32>,
}

/// Distinguishes a field that is there and null (`Some(None)`) from one that is not there (`None`).
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The schema of an outcome that can be null, not only absent.
#[cfg(feature = "schema")]
fn nullable_outcome(generator: &mut SchemaGenerator) -> Schema {
    let outcome = generator.subschema_for::<Outcome>();
    json_schema!({ "oneOf": [outcome, { "type": "null" }] })
}
