//! Words of messages whose lists may grow within version 1, so that a client reads those of newer servers
//! too.

use std::fmt;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

/// A word of an open list: one that this version knows, or another, which a client shows as it is.
///
/// ```
/// use plyd_protocol::{OpenWord, SearchState};
///
/// let words: Vec<OpenWord<SearchState>> = serde_json::from_str(r#"["searching","resting"]"#)?;
/// assert!(words[0] == SearchState::Searching);
/// assert_eq!((words[1].known(), words[1].to_string()), (None, "resting".to_owned()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OpenWord<T> {
    /// A word that this version knows.
    Known(T),
    /// Any other.
    Other(String),
}

impl<T> OpenWord<T> {
    /// The word, if this version knows it.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(known) => Some(known),
            Self::Other(_) => None,
        }
    }
}

/// The word as it is on the wire.
impl<T: Serialize> fmt::Display for OpenWord<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl<T: Default> Default for OpenWord<T> {
    fn default() -> Self {
        Self::Known(T::default())
    }
}

impl<T> From<T> for OpenWord<T> {
    fn from(known: T) -> Self {
        Self::Known(known)
    }
}

impl<T: PartialEq> PartialEq<T> for OpenWord<T> {
    fn eq(&self, other: &T) -> bool {
        self.known() == Some(other)
    }
}

/// That of the words known, under their name: the schema of all messages opens the list.
#[cfg(feature = "schema")]
impl<T: JsonSchema> JsonSchema for OpenWord<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Shows an enumeration by its word on the wire.
macro_rules! shown_as_on_the_wire {
    ($type:ty) => {
        /// The word as it is on the wire.
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                serde::Serialize::serialize(self, f)
            }
        }
    };
}
pub(crate) use shown_as_on_the_wire;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionState, Mode, Role, SearchState};

    fn compare<T: fmt::Display + fmt::Debug + Serialize + for<'de> Deserialize<'de> + PartialEq>(
        words: &[T],
    ) {
        for known in words {
            let text = serde_json::to_string(known).unwrap();
            assert_eq!(text, format!("\"{known}\""));
            let read: OpenWord<T> = serde_json::from_str(&text).unwrap();
            assert_eq!((read.known(), serde_json::to_string(&read).unwrap()), (Some(known), text));
        }
        let read: OpenWord<T> = serde_json::from_str(r#""of tomorrow""#).unwrap();
        assert_eq!((read.known(), &*read.to_string()), (None, "of tomorrow"));
        assert!(serde_json::from_str::<OpenWord<T>>("1").is_err());
    }

    #[test]
    fn words_are_shown_as_on_the_wire_and_others_are_kept() {
        use SearchState::{Preparing, Searching, Starting, Waiting};

        compare(&Role::ALL);
        compare(&[Mode::Move, Mode::Analyse, Mode::Ponder]);
        compare(&[Preparing, Waiting, Starting, Searching, SearchState::Open]);
        compare(&[
            ConnectionState::Stranger,
            ConnectionState::Open,
            ConnectionState::Closing,
            ConnectionState::Kept,
        ]);
    }
}
