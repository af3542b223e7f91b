//! The game and the position that a command is about, from its arguments.

use std::io::{self, Write};
use std::sync::Arc;

use crate::bridge;
use crate::engine::settings::{self, Caps, Renamed};
use crate::engine::{AnyRoot, Entry};
use crate::game::{Kind, Rules, Spec};
use crate::options::{COMMON, Options};
use plyd_protocol::{Position, Seed, Setting, Settings};

use super::failure::Failure;
use super::{parse, registry};

/// The seed of everything that is drawn, unless a setting names another: the same command gives the same
/// answer.
const SEED: u64 = 0;

#[derive(Debug, clap::Args)]
pub(super) struct PositionArgs {
    /// The game; `plyd describe` says what each is
    #[arg(value_parser = registry::parser())]
    game: &'static Entry,
    /// The position's text; the rules' initial position when absent
    #[arg(long, value_name = "TEXT")]
    position: Option<String>,
    /// Moves played since, chance outcomes included
    #[arg(long, value_name = "MOVE", num_args = 1..)]
    moves: Vec<String>,
    /// Rules by name, such as width=5,height=6; `plyd describe GAME` lists them
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = parse::assignment)]
    rules: Vec<(String, String)>,
}

impl PositionArgs {
    /// The game.
    pub(super) fn entry(&self) -> &'static Entry {
        self.game
    }

    /// Opens the game and plays the moves.
    pub(super) fn open(&self) -> Result<Arc<dyn AnyRoot>, Failure> {
        self.open_drawn(SEED)
    }

    /// Opens the game and plays the moves; what the rules draw by a seed that they are not given, such as the
    /// start, is drawn by `seed`.
    pub(super) fn open_drawn(&self, seed: u64) -> Result<Arc<dyn AnyRoot>, Failure> {
        let start = settings::open(self.game, &self.rules(seed)?, self.position.as_deref())?;
        Ok(start.extend(&self.moves)?)
    }

    /// The rules in force; `seed` as in [`Self::open_drawn`].
    pub(super) fn rules(&self, seed: u64) -> Result<Rules, Failure> {
        drawn_rules(self.game, &self.rules, seed)
    }

    /// The rules that were given, as the protocol sends them.
    pub(super) fn rule_settings(&self) -> Result<Settings, Failure> {
        once(&self.rules, "--rules")?;
        Ok(rule_settings(self.game, &self.rules))
    }

    /// The position's text and the moves, as they were given.
    pub(super) fn placed(&self) -> (Option<String>, Vec<String>) {
        (self.position.clone(), self.moves.clone())
    }

    /// Where a game begins for an engine that gets its moves alone: where the arguments say, as `open` gave
    /// it, or where the rules do.
    pub(super) fn startpos(&self, opened: &dyn AnyRoot) -> Position {
        if self.is_placed() {
            Position { start: Some(opened.start_text()), moves: opened.played().to_vec() }
        } else {
            Position::default()
        }
    }

    /// Whether a position or moves say where to begin.
    pub(super) fn is_placed(&self) -> bool {
        self.position.is_some() || !self.moves.is_empty()
    }
}

/// A game's rules from texts.
pub(super) fn rules(entry: &Entry, given: &[(String, String)]) -> Result<Rules, Failure> {
    drawn_rules(entry, given, SEED)
}

fn drawn_rules(entry: &Entry, given: &[(String, String)], seed: u64) -> Result<Rules, Failure> {
    once(given, "--rules")?;
    Ok(settings::rules(entry, &bridge::given(&typed(entry.rules.iter(), given)), seed)?)
}

/// A game's rules from texts, as the protocol sends them. Names that the game does not have stay texts.
pub(super) fn rule_settings(entry: &Entry, given: &[(String, String)]) -> Settings {
    typed(entry.rules.iter(), given)
}

/// Rules that draw a position draw the same one in each process: two engines of a match begin at one
/// position.
pub(super) fn drawn_alike(entry: &Entry, mut rules: Settings) -> Settings {
    for spec in entry.rules {
        if spec.kind == Kind::Seed && rules.get(spec.name).is_none() {
            rules.insert(spec.name, Seed(0).to_string());
        }
    }
    rules
}

/// A player's options from texts, as the protocol sends them. Names that the game does not have stay texts.
pub(super) fn option_settings(entry: &Entry, given: &[(String, String)]) -> Settings {
    typed(COMMON.iter().chain(entry.options()), given)
}

/// A player's options from texts, as far as this machine can serve them.
pub(super) fn options(entry: &Entry, given: &[(String, String)]) -> Result<Options, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let caps = Caps { threads, hash_mb: usize::MAX };
    once(given, "--option")?;
    let given = bridge::given(&option_settings(entry, given));
    warn(&settings::check_options(entry, &given)?);
    Ok(settings::options(entry, &given, SEED, caps)?)
}

/// The names among options that are others today; none if the game does not take the options.
pub(super) fn renamed(entry: &Entry, options: &Settings) -> Vec<Renamed> {
    settings::check_options(entry, &bridge::given(options)).unwrap_or_default()
}

/// Says on stderr which names are others today.
pub(super) fn warn(renamed: &[Renamed]) {
    for renamed in renamed {
        let _nobody_reads = writeln!(io::stderr(), "warning: {renamed}");
    }
}

/// Refuses a name that is given twice, as the protocol does.
pub(super) fn once(given: &[(String, String)], flag: &str) -> Result<(), Failure> {
    let twice =
        given.iter().enumerate().find(|(i, (name, _))| given[..*i].iter().any(|(other, _)| other == name));
    twice.map_or(Ok(()), |(_, (name, _))| Err(Failure::Usage(format!("{flag} names `{name}` twice"))))
}

/// Texts as the types that their settings take; what fits none stays a text, for the check to refuse.
fn typed<'a>(specs: impl Iterator<Item = &'a Spec> + Clone, given: &[(String, String)]) -> Settings {
    let kind = |name: &str| specs.clone().find(|spec| spec.name == name).map(|spec| spec.kind);
    given.iter().map(|(name, text)| (name.as_str(), setting(kind(name), text))).collect()
}

fn setting(kind: Option<Kind>, text: &str) -> Setting {
    let value = match kind {
        Some(Kind::Bool { .. }) => text.parse().ok().map(Setting::Bool),
        Some(Kind::Int { .. }) => text.parse().ok().map(Setting::Int),
        Some(Kind::ChoiceOrInt { choices, .. }) if !choices.contains(&text) => {
            text.parse().ok().map(Setting::Int)
        }
        _ => None,
    };
    value.unwrap_or_else(|| Setting::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_get_the_type_that_the_setting_takes() {
        let int = Kind::Int { min: 0, max: 9, default: None };
        let walls = Kind::ChoiceOrInt { choices: &["2023", "2022"], min: 0, max: 9 };
        for (kind, text, value) in [
            (int, "7", Setting::Int(7)),
            (int, "7x", Setting::Text("7x".into())),
            (Kind::Bool { default: Some(false) }, "true", Setting::Bool(true)),
            (Kind::Choice(&["7"]), "7", Setting::Text("7".into())),
            (walls, "2023", Setting::Text("2023".into())),
            (walls, "5", Setting::Int(5)),
            (Kind::Seed, "7", Setting::Text("7".into())),
        ] {
            assert_eq!(setting(Some(kind), text), value, "{kind:?} {text}");
        }
    }
}
