//! Named values, used for rules and for options. `describe` lists which names exist and what they
//! take; nothing here knows a game.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of a rule or an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Setting {
    /// A switch.
    Bool(bool),
    /// An integer, at most 2^53 - 1 in magnitude.
    Int(i64),
    /// A word, a seed or a text.
    Text(String),
}

impl From<bool> for Setting {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Setting {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Setting {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Setting {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

/// Rules or options by name, in the order of their names.
///
/// ```
/// use plyd_protocol::{Setting, Settings};
///
/// let options = Settings::from_iter([("player", "tree"), ("eval", "territory")]);
/// assert_eq!(options.get("player"), Some(&Setting::from("tree")));
/// assert_eq!(options.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["eval", "player"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct Settings(pub BTreeMap<String, Setting>);

impl Settings {
    /// No settings.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// Sets a name and gives its former value.
    ///
    /// ```
    /// use plyd_protocol::Settings;
    ///
    /// let mut options = Settings::new();
    /// options.insert("level", 3);
    /// options.insert("player", "tree");
    /// assert_eq!(serde_json::to_string(&options)?, r#"{"level":3,"player":"tree"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Setting>) -> Option<Setting> {
        self.0.insert(name.into(), value.into())
    }

    /// The names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<N: Into<String>, V: Into<Setting>> FromIterator<(N, V)> for Settings {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(iter: I) -> Self {
        Self(iter.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

/// Whether a field has the value that it has when it is left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
