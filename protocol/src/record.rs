//! A game as it is kept and passed on.

use crate::{Outcome, Settings};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A game as JSON text: enough to play it through again. Later versions add fields and change none.
///
/// `start` and `moves` can be sent as the `position` of a request, `game` and `rules` beside them.
///
/// ```
/// use plyd_protocol::{GameRef, Go, Position, Record, Settings};
///
/// let record = Record {
///     record: Record::VERSION,
///     game: "l-game".to_owned(),
///     rules: Settings::new(),
///     start: "3 1 W 1 1 4 4 2 4 E 1".to_owned(),
///     moves: vec!["4_3_W".to_owned()],
///     result: None,
/// };
/// // A search of the position after its moves.
/// let game = GameRef::Game { game: record.game, rules: record.rules };
/// let go = Go::new(game, Position { start: Some(record.start), moves: record.moves });
/// assert_eq!(go.position.moves.len(), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Record {
    /// The version of the record's form, 1.
    pub record: u32,
    /// The game.
    pub game: String,
    /// The rules in force, all of them.
    pub rules: Settings,
    /// The position's text at the start, written even where it is the rules' own.
    pub start: String,
    /// The plies since, chance plies included.
    pub moves: Vec<String>,
    /// The outcome; null while the game goes on.
    pub result: Option<Outcome>,
}

impl Record {
    /// The version of the record's form.
    pub const VERSION: u32 = 1;
}
