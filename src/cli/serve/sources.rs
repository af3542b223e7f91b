//! Where the settings of a daemon come from: a file, the environment, and the flags, each stronger than the
//! one before.
//!
//! The flags are declared once, for the command line. The settings of the other sources become flags as well:
//! so the same parsers check them, and whatever is wrong is reported with the place where it stands.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, FromArgMatches};

use super::given::{GivenSetting, Place, SettingError, Value};
use super::keys::{Key, Kind, LOG_FILTER, PREFIX, RUST_LOG, command, keys, variable};
use super::{Reading, Settings, file};
use crate::cli::failure::Failure;
use crate::cli::nearest::nearest;
use crate::cli::system::elements;
use crate::cli::verbosity::own_directives;

/// The most faults that are reported at once.
const MOST_FAULTS: usize = 20;

/// The flags of `plyd serve` as they were given. The settings follow from them and the other sources, as
/// often as those are read.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Given(ArgMatches);

/// A setting that is in force.
#[derive(Debug)]
pub(in crate::cli) struct InForce {
    pub(in crate::cli) key: Key,
    pub(in crate::cli) values: Vec<String>,
    pub(super) place: Place,
}

impl InForce {
    /// Whether nobody gave it.
    pub(in crate::cli) fn is_default(&self) -> bool {
        matches!(self.place, Place::Default)
    }
}

/// All settings that are in force.
#[derive(Debug)]
pub(in crate::cli) struct AllInForce {
    /// One by one, in the order of the help.
    pub(in crate::cli) list: Vec<InForce>,
    /// The file that was named.
    pub(in crate::cli) file: Option<PathBuf>,
    /// Whether SIGHUP lets them be read again; else it ends a daemon.
    pub(in crate::cli) is_read_again: bool,
}

/// The settings of all sources together.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) settings: Settings,
    /// The file that was named, by a flag or in the environment.
    pub(super) file: Option<PathBuf>,
    /// Those that a source sets, each from the strongest one.
    chosen: Vec<GivenSetting>,
}

impl Default for Given {
    /// No flags.
    fn default() -> Self {
        let command = <Self as clap::Args>::augment_args(clap::Command::new("serve").no_binary_name(true));
        let nothing: [OsString; 0] = [];
        Self(command.get_matches_from(nothing))
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl clap::Args for Given {
    fn augment_args(command: clap::Command) -> clap::Command {
        Settings::augment_args(Reading::augment_args(command))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Settings::augment_args_for_update(Reading::augment_args_for_update(command))
    }
}

impl Given {
    /// Reads the other sources and puts all together; `has_handed` if there are sockets to serve that no
    /// setting names.
    ///
    /// # Errors
    /// All that is wrong with them, a line each.
    pub(super) fn gather(&self, has_handed: bool) -> Result<Gathered, Failure> {
        let Reading { config, no_env } = self.reading();
        let keys = keys();
        let variables = std::env::vars_os().filter(|_| !no_env);
        let (environment, named, mut faults) = environment(&keys, variables);
        let file = config.or(named);
        let (in_file, in_form) = file.as_deref().map(|path| file::read(&keys, path)).unwrap_or_default();
        let sources = [in_file, environment, self.flags(&keys)];
        faults.extend(in_form);
        faults.extend(sources.iter().flatten().flat_map(GivenSetting::faults));
        if faults.is_empty() {
            return together(file, sources.into_iter().flatten().collect(), has_handed);
        }
        Err(refusal(faults))
    }

    /// The settings that are in force.
    ///
    /// # Errors
    /// All that is wrong with them, a line each.
    pub(in crate::cli) fn in_force(&self) -> Result<AllInForce, Failure> {
        let gathered = self.gather(false)?;
        let (list, is_read_again) = (gathered.list(), gathered.is_read_again());
        Ok(AllInForce { list, file: gathered.file, is_read_again })
    }

    /// The settings that are flags.
    fn flags(&self, keys: &[Key]) -> Vec<GivenSetting> {
        let is_given = |key: &&Key| self.0.value_source(key.id()) == Some(ValueSource::CommandLine);
        let found = keys.iter().filter(is_given).map(|key| {
            let texts: Vec<OsString> = match key.kind() {
                // `-vvvv` is as good as `-vvv`.
                Kind::Count => vec![self.0.get_count(key.id()).min(3).to_string().into()],
                _ => self.0.get_raw(key.id()).into_iter().flatten().map(ToOwned::to_owned).collect(),
            };
            let values = texts.into_iter().map(|text| Value { text, place: Place::Flag }).collect();
            GivenSetting { key: key.clone(), values, place: Place::Flag }
        });
        found.collect()
    }

    /// The flags that say what is to be read.
    fn reading(&self) -> Reading {
        Reading::from_arg_matches(&self.0).expect("the parser took them")
    }
}

impl Gathered {
    /// Whether they name a file that SIGHUP lets be read again.
    pub(super) fn is_read_again(&self) -> bool {
        let Settings { tls_cert, clients_file, .. } = &self.settings;
        self.file.is_some() || tls_cert.is_some() || clients_file.is_some()
    }

    /// The settings one by one, in the order of the help.
    pub(super) fn list(&self) -> Vec<InForce> {
        let list = keys().into_iter().map(|key| {
            let found = self.chosen.iter().find(|found| found.key.name() == key.name());
            let place = found.map_or(Place::Default, |found| found.place.clone());
            let values: Vec<String> = match found {
                Some(found) => {
                    found.values.iter().map(|value| value.text.to_string_lossy().into_owned()).collect()
                }
                None => self.settings.unset(key.name()).or_else(|| key.default()).into_iter().collect(),
            };
            InForce { key, values, place }
        });
        list.collect()
    }
}

impl InForce {
    /// The flags that set it, if a flag or the environment does.
    pub(in crate::cli) fn flags(&self) -> Vec<OsString> {
        match self.place {
            Place::Flag | Place::Environment(_) => {
                self.values.iter().flat_map(|value| self.key.flags(&value.into())).collect()
            }
            Place::Default | Place::Unread(_) | Place::File { .. } => Vec::new(),
        }
    }
}

/// All that is wrong, a line each.
pub(super) fn refusal(mut faults: Vec<SettingError>) -> Failure {
    // One mistake may be found twice, by its form and by what is left of it.
    faults.sort_by(|one, other| one.place.cmp(&other.place));
    faults.dedup_by(|later, first| later.place == first.place);
    let more = faults.len().saturating_sub(MOST_FAULTS);
    let shown =
        faults.iter().take(MOST_FAULTS).map(|SettingError { place, message }| format!("{place}: {message}"));
    let more = (more > 0).then(|| format!("and {more} more"));
    Failure::Usage(shown.chain(more).collect::<Vec<_>>().join("\n"))
}

/// The settings that are in force if none is set.
///
/// # Errors
/// The declaration of the flags contradicts itself, which a test rules out.
pub(in crate::cli) fn defaults() -> Result<Vec<InForce>, Failure> {
    Ok(together(None, Vec::new(), false)?.list())
}

/// The settings in variables of the environment, the file of settings that one may name, and what is wrong. A
/// variable with an empty value counts as not set.
fn environment(
    keys: &[Key],
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> (Vec<GivenSetting>, Option<PathBuf>, Vec<SettingError>) {
    let (mut found, mut config, mut faults) = (Vec::new(), None, Vec::new());
    let variables = variables
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
        .filter(|(_, value)| !value.is_empty());
    let (mut ours, others): (Vec<_>, Vec<_>) = variables.partition(|(name, _)| name.starts_with(PREFIX));
    ours.sort();
    let is_filtered = ours.iter().any(|(name, _)| *name == variable(LOG_FILTER));
    let rust_log = others.into_iter().find(|(name, _)| name == RUST_LOG && !is_filtered);
    found.extend(rust_log.and_then(|(name, value)| of_every_program(keys, name, &value)));
    for (name, value) in ours {
        let place = Place::Environment(name.clone());
        if name == variable("config") {
            config = Some(PathBuf::from(value));
        } else if let Some(key) = keys.iter().find(|key| variable(key.name()) == name) {
            let texts = match key.kind() {
                Kind::List => elements(&value),
                _ => vec![value],
            };
            let values = texts.into_iter().map(|text| Value { text, place: place.clone() }).collect();
            found.push(GivenSetting { key: key.clone(), values, place });
        } else {
            let names = keys.iter().map(|key| variable(key.name())).chain([variable("config")]);
            let message = format!("there is no such setting; the nearest is {}", nearest(&name, names));
            faults.push(SettingError { place, message });
        }
    }
    (found, config, faults)
}

/// The filter of the log in the variable that is there for every program, as far as it concerns this one.
fn of_every_program(keys: &[Key], name: String, value: &OsStr) -> Option<GivenSetting> {
    let key = keys.iter().find(|key| key.name() == LOG_FILTER)?.clone();
    let directives = own_directives(&value.to_string_lossy());
    let place = Place::Environment(name);
    let values = vec![Value { text: directives.clone().into(), place: place.clone() }];
    (!directives.is_empty()).then_some(GivenSetting { key, values, place })
}

/// Puts settings together, of which later ones are stronger.
fn together(
    file: Option<PathBuf>,
    sources: Vec<GivenSetting>,
    has_handed: bool,
) -> Result<Gathered, Failure> {
    let mut chosen: Vec<GivenSetting> = Vec::new();
    for found in sources {
        chosen.retain(|weaker| weaker.key.name() != found.key.name());
        chosen.push(found);
    }
    let settings = Settings { has_handed, ..parsed(&chosen)? };
    if let Some((name, message)) = settings.contradiction() {
        let places = chosen.iter().filter(|found| found.key.name() == name).map(|found| &found.place);
        let places: Vec<String> = places.map(|place| format!("{place}: ")).collect();
        return Err(Failure::Usage(format!("{}{name}: {message}", places.concat())));
    }
    Ok(Gathered { settings, file, chosen })
}

/// What is declared as flags, from settings that are checked.
pub(super) fn parsed<A: clap::Args>(settings: &[GivenSetting]) -> Result<A, Failure> {
    let values = |found: &GivenSetting| -> Vec<OsString> {
        found.values.iter().flat_map(|value| found.key.flags(&value.text)).collect()
    };
    let flags: Vec<OsString> = settings.iter().flat_map(values).collect();
    let matches = command::<A>().try_get_matches_from(flags);
    let parsed = matches.and_then(|matches| A::from_arg_matches(&matches));
    parsed.map_err(|error| Failure::Usage(error.to_string()))
}
