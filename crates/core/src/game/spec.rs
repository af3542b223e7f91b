//! What can be set or chosen by name, and the rules that were set.

use std::error::Error;
use std::fmt;

/// A value of a rule or an option.
///
/// ```
/// use plyd_core::game::Setting;
///
/// let values: [Setting; 3] = [true.into(), 7.into(), "left".into()];
/// assert_eq!(values.map(|value| value.to_string()), ["true", "7", "left"]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Setting {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A word.
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
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Setting {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Text(value) => value.fmt(f),
        }
    }
}

/// Which values a rule or an option takes.
///
/// ```
/// use plyd_core::engine::settings;
/// use plyd_core::game::Kind;
///
/// let sizes = Kind::ChoiceOrInt { choices: &["usual", "large"], min: 5, max: 25 };
/// assert_eq!(settings::default(sizes), Some("usual".into()));
/// assert_eq!(settings::default(Kind::Int { min: 1, max: 9, default: None }), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Yes or no.
    Bool {
        /// The value when absent; none where it depends on other settings, which `about` explains.
        default: Option<bool>,
    },
    /// A whole number in an inclusive range.
    Int {
        /// The smallest value.
        min: i64,
        /// The largest value.
        max: i64,
        /// The value when absent; none where it depends on other settings, which `about` explains.
        default: Option<i64>,
    },
    /// One of some words; the first is the default.
    Choice(&'static [&'static str]),
    /// One of some words; which of them when absent depends on other settings, as `about` explains.
    OpenChoice(&'static [&'static str]),
    /// One of some words (the first is the default) or a whole number in an inclusive range.
    ChoiceOrInt {
        /// The words.
        choices: &'static [&'static str],
        /// The smallest number.
        min: i64,
        /// The largest number.
        max: i64,
    },
    /// A seed: 1 to 16 lower-case hex digits, drawn when absent.
    Seed,
}

/// A rule or an option: its name, the values it takes, what it is for.
///
/// ```
/// use plyd_core::game::{Kind, Spec};
///
/// /// Read by `rules.int("width").unwrap_or(7)`.
/// const WIDTH: Spec = Spec {
///     name: "width",
///     kind: Kind::Int { min: 4, max: 9, default: Some(7) },
///     about: "The number of columns.",
/// };
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The name on the wire.
    pub name: &'static str,
    /// The values.
    pub kind: Kind,
    /// One sentence for people.
    pub about: &'static str,
}

/// Something chosen by name (an evaluator, a player, an ending) and what it is.
///
/// ```
/// use plyd_core::game::Named;
///
/// /// An evaluator whose name was another one in the version before.
/// static EVALUATORS: [Named; 2] = [
///     Named::new("mobility", "The mover's moves less the opponent's."),
///     Named::new("territory", "The cells that the mover reaches first.").formerly("voronoi"),
/// ];
/// let found = Named::find(EVALUATORS.iter(), "voronoi");
/// assert_eq!(found.map(|named| named.name), Some("territory"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// The name on the wire.
    pub name: &'static str,
    /// One sentence for people.
    pub about: &'static str,
    /// Its name in the previous version, which is still accepted.
    pub former: Option<&'static str>,
}

impl Named {
    /// Something that never had another name.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, former: None }
    }

    /// The same with its name in the previous version, which is still accepted.
    #[must_use]
    pub const fn formerly(self, former: &'static str) -> Self {
        Self { former: Some(former), ..self }
    }

    /// The item of a list that has a name now, or else the one that had it before.
    pub fn find(mut list: impl Iterator<Item = &'static Self> + Clone, name: &str) -> Option<&'static Self> {
        let today = list.clone().find(|named| named.name == name);
        today.or_else(|| list.find(|named| named.former == Some(name)))
    }
}

/// The rules that a client gave explicitly, each checked against its [`Spec`].
///
/// ```
/// use plyd_core::game::Rules;
///
/// let rules = Rules::new(vec![("width", 9.into()), ("torus", true.into())]);
/// assert_eq!((rules.int("width"), rules.bool("torus"), rules.text("walls")), (Some(9), Some(true), None));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Rules(Vec<(&'static str, Setting)>);

impl Rules {
    /// Rules from checked settings.
    #[must_use]
    pub fn new(settings: Vec<(&'static str, Setting)>) -> Self {
        Self(settings)
    }

    /// The rule's explicit value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// The explicit rules, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    /// The rule's explicit value, if it is a whole number.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Setting::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// The rule's explicit value, if it is a word.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Setting::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// The rule's explicit value, if it is yes or no.
    #[must_use]
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Some(Setting::Bool(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Why a game cannot be opened with some rules and a start text.
///
/// ```
/// use plyd_core::game::OpenError;
///
/// let error = OpenError::Rule { name: "width", message: "an even number is needed".to_owned() };
/// assert_eq!(error.to_string(), "the rule `width`: an even number is needed");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OpenError {
    /// A rule's value is impossible, alone or beside the others.
    Rule {
        /// The rule.
        name: &'static str,
        /// What is wrong, in a sentence.
        message: String,
    },
    /// The start text cannot be read.
    Malformed(String),
    /// The start text can be read, but no such position exists under the rules, or it contradicts a rule that
    /// was given explicitly.
    Impossible(String),
}

impl OpenError {
    /// What is wrong, in a sentence, with the name of the rule if a rule is to blame.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Rule { name, message } => format!("the rule `{name}`: {message}"),
            Self::Malformed(message) | Self::Impossible(message) => message.clone(),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { .. } => f.write_str(&self.message()),
            Self::Malformed(_) | Self::Impossible(_) => write!(f, "the start: {}", self.message()),
        }
    }
}

impl Error for OpenError {}
