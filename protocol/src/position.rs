//! Where a request asks: in which game, and in which position.

#[cfg(feature = "schema")]
use std::borrow::Cow;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::Settings;

/// The shape of ids and of sessions' names.
#[cfg(feature = "schema")]
pub(crate) const NAME_PATTERN: &str = r"^[A-Za-z0-9._:-]{1,64}$";

/// Whose rules a request speaks of: an open session's, or those that it names itself. Flat in the request.
///
/// ```
/// use plyd_protocol::{GameRef, Settings};
///
/// let session = GameRef::Session { session: "s".to_owned() };
/// assert_eq!(serde_json::to_string(&session)?, r#"{"session":"s"}"#);
/// let rules = Settings::from_iter([("preset", "11x9")]);
/// let game = GameRef::Game { game: "isolation".to_owned(), rules };
/// assert_eq!(serde_json::to_string(&game)?, r#"{"game":"isolation","rules":{"preset":"11x9"}}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum GameRef {
    /// An open session.
    Session {
        /// The session's name.
        session: String,
    },
    /// No session: a game and its rules.
    Game {
        /// The game.
        game: String,
        /// Its rules.
        #[serde(skip_serializing_if = "Settings::is_empty")]
        rules: Settings,
    },
}

impl Default for GameRef {
    fn default() -> Self {
        Self::Session { session: String::new() }
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for GameRef {
    fn schema_name() -> Cow<'static, str> {
        "GameRef".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rules = generator.subschema_for::<Settings>();
        json_schema!({
            "type": "object",
            "properties": {
                "session": {
                    "description": "An open session; excludes `game` and `rules`.",
                    "type": "string",
                    "pattern": NAME_PATTERN,
                },
                "game": { "description": "The game, where no session is named.", "type": "string" },
                "rules": { "description": "Its rules.", "default": {}, "$ref": rules.get("$ref") },
            },
            "oneOf": [
                { "required": ["session"], "properties": { "game": false, "rules": false } },
                { "required": ["game"], "properties": { "session": false } },
            ],
        })
    }
}

/// A position: where a game started and what was played since.
///
/// ```
/// use plyd_protocol::Position;
///
/// let position = Position { moves: vec!["d4".to_owned(), "b3".to_owned()], ..Position::default() };
/// assert_eq!(serde_json::to_string(&position)?, r#"{"moves":["d4","b3"]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Position {
    /// The game's position text; absent: the initial position of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The plies played since, in the game's move text; one that starts with `~` is a chance outcome.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = [])))]
    pub moves: Vec<String>,
}
