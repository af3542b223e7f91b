//! A setting as it is found in a source: its values, where each stands, and what is wrong with it.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use super::keys::{Key, Kind};

/// Where a value stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::cli) enum Place {
    /// In no source: the default.
    Default,
    /// A file that cannot be read.
    Unread(PathBuf),
    /// A line of a file.
    File { path: PathBuf, line: usize },
    /// A variable of the environment.
    Environment(String),
    /// The command line.
    Flag,
}

/// A value in one of the sources.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) text: OsString,
    pub(super) place: Place,
}

/// What is wrong, and where.
#[derive(Debug)]
pub(super) struct SettingError {
    pub(super) place: Place,
    pub(super) message: String,
}

/// A setting in one of the sources.
#[derive(Debug)]
pub(super) struct GivenSetting {
    pub(super) key: Key,
    pub(super) values: Vec<Value>,
    pub(super) place: Place,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "default"),
            Self::Unread(path) => write!(f, "{}", path.display()),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "{name}"),
            Self::Flag => write!(f, "flag"),
        }
    }
}

impl GivenSetting {
    /// What is wrong with its values.
    pub(super) fn faults(&self) -> impl Iterator<Item = SettingError> {
        self.values.iter().enumerate().filter_map(|(index, Value { text, place })| {
            let message = self.key.check(text).err()?;
            let name = self.key.name();
            let message = match place {
                _ if self.key.kind() == Kind::List => format!("{name}[{index}]: {message}"),
                Place::File { .. } => format!("{name}: {message}"),
                _ => message,
            };
            Some(SettingError { place: place.clone(), message })
        })
    }
}
