//! Words of messages whose lists may grow within version 1, so that a client reads those of newer servers
//! too.

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
/// assert_eq!((words[1].known(), words[1].name()), (None, "resting"));
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

impl<T: Default> Default for OpenWord<T> {
    fn default() -> Self {
        Self::Known(T::default())
    }
}

/// A type whose values are words on the wire.
pub trait Named {
    /// The word.
    fn name(&self) -> &'static str;
}

impl<T: Named> OpenWord<T> {
    /// The word as it is on the wire.
    pub fn name(&self) -> &str {
        match self {
            Self::Known(known) => known.name(),
            Self::Other(word) => word,
        }
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

/// Implements [`Named`] for an enumeration.
macro_rules! named {
    ($type:ident: $($variant:ident $name:literal),+) => {
        impl $crate::Named for $type {
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}
pub(crate) use named;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectionState, Mode, Role, SearchState};

    fn compare<T: Named + Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug>(words: &[T]) {
        for known in words {
            let text = serde_json::to_string(known).unwrap();
            assert_eq!(text, format!("{:?}", known.name()));
            let read: OpenWord<T> = serde_json::from_str(&text).unwrap();
            assert_eq!((read.known(), serde_json::to_string(&read).unwrap()), (Some(known), text));
        }
        let read: OpenWord<T> = serde_json::from_str(r#""of tomorrow""#).unwrap();
        assert_eq!((read.known(), read.name()), (None, "of tomorrow"));
        assert!(serde_json::from_str::<OpenWord<T>>("1").is_err());
    }

    #[test]
    fn a_name_is_the_word_on_the_wire_and_others_are_kept() {
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
