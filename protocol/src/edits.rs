//! What can be changed by hand in a position's text, for editors that know no rules.

use crate::{Board, Cell, Player, Side};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A draft: a position's text that may break the rules, with what can be chosen in it.
///
/// ```
/// use plyd_protocol::Edits;
///
/// let text = r#"{ "text": "3 1", "edits": [{ "what": "To move", "choices": [
///     { "label": "Player 1", "owner": "p1", "so": true, "from": 3, "to": 3, "put": "" },
///     { "label": "Player 2", "owner": "p2", "from": 2, "to": 3, "put": "2" }
/// ] }] }"#;
/// let draft: Edits = serde_json::from_str(text)?;
/// assert_eq!(draft.edits[0].choices[1].apply(&draft.text), "3 2");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Edits {
    /// The draft in its usual form, which the choices change; as it was sent where it cannot be read.
    pub text: String,
    /// The board to be drawn; absent where the draft cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// What can be changed; empty where the draft cannot be read.
    pub edits: Vec<Edit>,
    /// What is wrong with the draft that was sent; absent where it is a position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<EditFault>,
}

/// A place of a position where something can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Edit {
    /// What is chosen, in a word or two for people, such as `Cell` or `To move`.
    pub what: String,
    /// The cell that it is about; absent: the position as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Cell>,
    /// The side of the cell that it is about; absent: the cell itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// What can be chosen.
    pub choices: Vec<EditChoice>,
}

/// What can be chosen for a place, and the change of the text that chooses it. To choose what is so already
/// takes it away, if it can be missing, and changes nothing otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EditChoice {
    /// What it is, in a few words for people.
    pub label: String,
    /// The kind of piece that it puts there, if it puts one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece: Option<String>,
    /// Whose it is, or whom it is about; absent: nobody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Player>,
    /// Whether it is so already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub so: bool,
    /// The first character of the text that is replaced.
    pub from: u32,
    /// The character after the last one that is replaced.
    pub to: u32,
    /// What takes their place.
    pub put: String,
}

impl EditChoice {
    /// The draft's text after the change.
    #[must_use]
    pub fn apply(&self, text: &str) -> String {
        let before = text.chars().take(self.from as usize);
        before.chain(self.put.chars()).chain(text.chars().skip(self.to as usize)).collect()
    }
}

/// What is wrong with a draft.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct EditFault {
    /// What is wrong, in a sentence.
    pub message: String,
    /// The character of the draft at which it is wrong, from 0; at most the draft's length.
    pub offset: u32,
    /// The cell that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<Cell>,
}
