//! What the `body` of a `describe` result holds, by topic: a list of [`GameSummary`], a [`GameInfo`], a list
//! of [`SettingInfo`], the [`Schemas`], or the limits. The types know no game; a daemon fills them from its
//! registry.

#[cfg(feature = "schema")]
use crate::Limits;
use crate::OpenWord;
use crate::{Setting, Settings};
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A game in short (`what` `games`).
///
/// ```
/// use plyd_protocol::GameSummary;
///
/// let body = serde_json::json!([{ "name": "l-game", "title": "The L Game" }]);
/// let games: Vec<GameSummary> = serde_json::from_value(body)?;
/// assert_eq!(games[0].name, "l-game");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GameSummary {
    /// The name in requests.
    pub name: String,
    /// The name for people.
    pub title: String,
}

/// A game in full (`what` `game`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct GameInfo {
    /// The name in requests.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The rules' settings.
    pub rules: Vec<SettingInfo>,
    /// The options, those of every game included.
    pub options: Vec<SettingInfo>,
    /// The grammar of position texts.
    pub position: String,
    /// The grammar of move texts.
    pub moves: String,
    /// The unit of scores.
    pub unit: String,
    /// Whether chance plies occur under some rules.
    pub chance: bool,
    /// The evaluators, for the option `eval`.
    pub evaluators: Vec<Word>,
    /// The players, for the option `player`.
    pub players: Vec<Word>,
    /// How a game can end, the `by` of outcomes.
    pub by: Vec<Word>,
    /// How strong the default player is at each value of the option `level`; absent where that was not
    /// measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<LevelsInfo>,
    /// How the game is explained to those who have never played it, in steps to be played; absent where it is
    /// not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lesson: Vec<LessonStep>,
    /// Whether `inspect` has `edits` of its positions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub editor: bool,
}

/// A step of a lesson: some sentences, and a position in which the reader moves.
///
/// ```
/// use plyd_protocol::LessonStep;
///
/// let body = serde_json::json!({
///     "title": "The end", "text": "Who takes the last stone wins.", "task": "Take all three.",
///     "rules": { "most": 3 }, "start": "3 1", "solutions": ["3"],
/// });
/// let step: LessonStep = serde_json::from_value(body)?;
/// assert_eq!(step.solutions, ["3"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LessonStep {
    /// What it is about, in a few words.
    pub title: String,
    /// The explanation.
    pub text: String,
    /// What the reader is asked to do.
    pub task: String,
    /// The rules that differ from the defaults.
    #[serde(default)]
    pub rules: Settings,
    /// The position's text; absent: the rules' own start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The moves that do it; empty: any legal move.
    #[serde(default)]
    pub solutions: Vec<String>,
}

/// The strength of each level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LevelsInfo {
    /// How it was measured: a command, or where to read of it.
    pub measured_by: String,
    /// The levels, the weakest first.
    pub ratings: Vec<LevelRating>,
}

/// The strength of one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LevelRating {
    /// The value of the option `level`.
    pub level: u32,
    /// How much stronger than random moves it is, in Elo.
    pub elo: i32,
    /// Half the width of the 95 % interval of `elo`.
    pub error: u32,
}

/// The schemas of both directions (`what` `schema`).
///
/// ```
/// use plyd_protocol::Schemas;
///
/// let body = serde_json::json!({ "requests": { "title": "Request" }, "messages": { "title": "Message" } });
/// let schemas: Schemas = serde_json::from_value(body)?;
/// assert_eq!(schemas.requests["title"], "Request");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Schemas {
    /// That of a line from the client.
    pub requests: serde_json::Map<String, serde_json::Value>,
    /// That of a line from the server.
    pub messages: serde_json::Map<String, serde_json::Value>,
}

/// A word and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Word {
    /// The word.
    pub name: String,
    /// What it stands for.
    pub about: String,
}

/// A rule or an option.
///
/// ```
/// use plyd_protocol::{Setting, SettingInfo, SettingKind};
///
/// let body = serde_json::json!({
///     "name": "level", "type": "int", "min": 1, "max": 10, "default": 10, "about": "How strong.",
/// });
/// let level: SettingInfo = serde_json::from_value(body)?;
/// assert!(level.kind == SettingKind::Int && level.default == Some(Setting::Int(10)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SettingInfo {
    /// The name in requests.
    pub name: String,
    /// The type of its value.
    #[serde(rename = "type")]
    pub kind: OpenWord<SettingKind>,
    /// The value where none is given; absent: another setting decides, or a draw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Setting>,
    /// The least value of an integer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<i64>,
    /// The greatest value of an integer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// The values of a word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// What it sets.
    pub about: String,
}

/// The type of a [`SettingInfo`]'s value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SettingKind {
    /// A boolean.
    Bool,
    /// An integer of `min` to `max`.
    Int,
    /// One of `words`.
    Word,
    /// One of `words`, or an integer of `min` to `max`.
    WordOrInt,
    /// 1 to 16 lower-case hexadecimal digits.
    Seed,
    /// Any string.
    Text,
}

/// The schema of a `body`, by topic.
#[cfg(feature = "schema")]
pub(crate) fn body(generator: &mut SchemaGenerator) -> Schema {
    let games = generator.subschema_for::<Vec<GameSummary>>();
    let game = generator.subschema_for::<GameInfo>();
    let options = generator.subschema_for::<Vec<SettingInfo>>();
    let schemas = generator.subschema_for::<Schemas>();
    let limits = generator.subschema_for::<Limits>();
    json_schema!({ "anyOf": [games, game, options, schemas, limits] })
}
