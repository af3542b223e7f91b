//! The settings of a daemon as `plyd serve` declares its flags: the names that they have elsewhere, and the
//! form of their values there.
//!
//! Knows no source of settings and no single setting: a new flag is a setting of all sources by itself.

use std::any::TypeId;
use std::ffi::OsString;

use clap::{Arg, ArgAction};

use super::Settings;

/// What the names of environment variables begin with.
pub(super) const PREFIX: &str = "PLYD_SERVE_";

/// The variable by which any program's log is filtered.
pub(super) const RUST_LOG: &str = "RUST_LOG";
/// The setting that it stands for, if no variable of ours sets it.
pub(super) const LOG_FILTER: &str = "log-filter";

/// The form of a setting's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cli) enum Kind {
    /// True or false.
    Switch,
    /// A number.
    Number,
    /// A flag whose value is the number of times it is given.
    Count,
    /// A text; an empty one is none.
    Text,
    /// Any number of texts.
    List,
}

/// A setting.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Key(Arg);

/// All settings, in the order of the help.
pub(in crate::cli) fn keys() -> Vec<Key> {
    keys_of::<Settings>()
}

/// The settings that are declared as these flags.
pub(super) fn keys_of<A: clap::Args>() -> Vec<Key> {
    command::<A>().get_arguments().cloned().map(Key).collect()
}

/// What reads flags that are settings.
pub(super) fn command<A: clap::Args>() -> clap::Command {
    A::augment_args(bare())
}

fn bare() -> clap::Command {
    clap::Command::new("serve").no_binary_name(true).disable_help_flag(true)
}

/// The name of the environment variable that stands for a flag.
pub(super) fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase().replace('-', "_"))
}

impl Key {
    /// Its name in a file, which is that of the flag.
    pub(in crate::cli) fn name(&self) -> &str {
        self.0.get_long().expect("each flag has a long name")
    }

    /// Its name in the parser.
    pub(super) fn id(&self) -> &str {
        self.0.get_id().as_str()
    }

    /// What the help says of it.
    pub(in crate::cli) fn about(&self) -> String {
        let help = self.0.get_long_help().or(self.0.get_help());
        help.map(ToString::to_string).unwrap_or_default()
    }

    /// The heading that it stands under in the help.
    pub(in crate::cli) fn heading(&self) -> Option<&str> {
        self.0.get_help_heading()
    }

    /// The form of its values.
    pub(in crate::cli) fn kind(&self) -> Kind {
        let has_type = |wanted: TypeId| self.0.get_value_parser().type_id() == wanted;
        match self.0.get_action() {
            ArgAction::Append => Kind::List,
            ArgAction::Count => Kind::Count,
            _ if has_type(TypeId::of::<bool>()) => Kind::Switch,
            _ if has_type(TypeId::of::<u32>()) => Kind::Number,
            _ => Kind::Text,
        }
    }

    /// The value that it has if nothing sets it, unless that depends on others or on the machine.
    pub(super) fn default(&self) -> Option<String> {
        let declared = self.0.get_default_values().first();
        let declared = declared.map(|value| value.to_string_lossy().into_owned());
        declared.or_else(|| (self.kind() == Kind::Count).then(|| "0".to_owned()))
    }

    /// The flags that give it a value.
    pub(super) fn flags(&self, value: &OsString) -> Vec<OsString> {
        let flag = format!("--{}", self.name());
        if self.kind() == Kind::Count {
            let count = value.to_str().and_then(|text| text.parse().ok()).unwrap_or(0);
            return vec![flag.into(); count];
        }
        let mut with_value = OsString::from(flag + "=");
        with_value.push(value);
        vec![with_value]
    }

    /// Whether it may have a value.
    ///
    /// # Errors
    /// What to give instead.
    pub(super) fn check(&self, value: &OsString) -> Result<(), String> {
        if self.kind() == Kind::Count {
            let count = value.to_str().and_then(|text| text.parse::<u8>().ok());
            return count.filter(|count| *count <= 3).map(drop).ok_or("give a number from 0 to 3".into());
        }
        bare().arg(self.0.clone()).try_get_matches_from(self.flags(value)).map(drop).map_err(|error| {
            use std::error::Error;
            error.source().map_or_else(|| error.kind().to_string(), ToString::to_string)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_a_form() {
        let of = |kind: Kind| {
            let keys = keys();
            keys.iter().filter(|key| key.kind() == kind).map(|key| key.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(Kind::List), ["tcp", "ws", "ws-origin"]);
        assert_eq!(of(Kind::Switch), ["stdio", "insecure"]);
        assert_eq!(of(Kind::Count), ["verbose"]);
        assert_eq!(
            of(Kind::Text),
            [
                "metrics",
                "tls-cert",
                "tls-key",
                "tls-client-ca",
                "unix",
                "token-file",
                "clients-file",
                "transcript",
                "log-format",
                "log-filter",
            ]
        );
        assert_eq!(of(Kind::Number).len(), keys().len() - 16);
        assert!(keys().iter().all(|key| !key.about().is_empty()));
    }
}
