//! Rules and options: from loose values to checked ones and back.
//!
//! [`Spec`]s say what names exist and which values they take; this module applies them and knows no game.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::effort::Effort;
use crate::engine::{AnyRoot, Entry, Fault, FaultCode, Place};
use crate::game::{Kind, Named, OpenError, Rules, Setting, Spec};
use crate::options::{COMMON, Options};

/// Rules or options as they were given, sorted by name.
///
/// ```
/// use plyd_core::engine::settings::Settings;
///
/// let settings = Settings::from_iter([("most", 5)]);
/// assert_eq!(settings.get("most"), Some(&5.into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, Setting>);

impl Settings {
    /// No settings.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The value that a name was given.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// Sets a name and gives its former value.
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

/// A random seed from its text, 1 to 16 lower-case hexadecimal digits.
#[must_use]
pub(super) fn parse_seed(text: &str) -> Option<u64> {
    let are_digits = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (are_digits && text.len() <= 16).then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// A player or an evaluator that was requested by its name in the previous version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Renamed {
    /// The option.
    pub option: &'static str,
    /// The name that was given.
    pub former: &'static str,
    /// Its present name.
    pub name: &'static str,
}

impl Renamed {
    /// The notice for an option that names something by the name `given`; none if that is the present name.
    #[must_use]
    pub fn new(option: &'static str, named: &Named, given: &str) -> Option<Self> {
        let former = named.former.filter(|former| *former == given)?;
        Some(Self { option, former, name: named.name })
    }
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { option, former, name } = self;
        write!(f, "`{option}`: `{former}` is called `{name}` now; the next version takes the new name only")
    }
}

/// The caps on the options of a search.
#[derive(Clone, Copy, Debug)]
pub struct Caps {
    /// Threads of one search.
    pub threads: usize,
    /// MiB of one table.
    pub hash_mb: usize,
}

/// The rules that a client gave, checked one by one; a rule that takes a seed and was not given gets `seed`.
///
/// ```
/// use plyd_core::engine::settings::{Settings, rules};
/// use plyd_core::nim;
///
/// let checked = rules(&nim::ENTRY, &Settings::from_iter([("most", 5)]), 0).unwrap();
/// assert_eq!(checked.int("most"), Some(5));
/// let fault = rules(&nim::ENTRY, &Settings::from_iter([("most", 500)]), 0).unwrap_err();
/// assert_eq!(fault.to_string(), "the rule `most`: expected an integer from 1 to 9");
/// ```
///
/// # Errors
/// `RulesUnsupported` at a rule.
pub fn rules(entry: &Entry, given: &Settings, seed: u64) -> Result<Rules, Fault> {
    let mut rules = Vec::new();
    for (name, value) in given.iter() {
        let spec = entry.rules.iter().find(|spec| spec.name == name).ok_or_else(|| {
            let known: Vec<&str> = entry.rules.iter().map(|spec| spec.name).collect();
            let message = format!("there is no such rule; {} has: {}", entry.name, known.join(", "));
            unsupported(name, message)
        })?;
        let value = checked(spec.kind, value).map_err(|message| unsupported(name, message))?;
        rules.push((spec.name, value));
    }
    for spec in entry.rules {
        if spec.kind == Kind::Seed && given.get(spec.name).is_none() {
            rules.push((spec.name, Setting::Text(format!("{seed:x}"))));
        }
    }
    Ok(Rules::new(rules))
}

/// Rules as the commands' `--rules` takes them: `NAME=VALUE` joined by commas. The values are of the right
/// kind, but otherwise unchecked.
///
/// ```
/// use plyd_core::engine::settings::written;
/// use plyd_core::nim;
///
/// assert_eq!(written(&nim::ENTRY, "most=5").unwrap().int("most"), Some(5));
/// assert_eq!(written(&nim::ENTRY, "most=5,least=1").unwrap_err(), "least=1");
/// ```
///
/// # Errors
/// The first part that names no rule of the game, or has a value of another kind.
pub fn written<'a>(entry: &Entry, text: &'a str) -> Result<Rules, &'a str> {
    let rules = text.split(',').filter(|rule| !rule.is_empty());
    let rules: Result<_, _> = rules.map(|rule| one_written(entry, rule).ok_or(rule)).collect();
    rules.map(Rules::new)
}

/// A rule from `name=value`.
fn one_written(entry: &Entry, rule: &str) -> Option<(&'static str, Setting)> {
    let (name, value) = rule.split_once('=')?;
    let spec = entry.rules.iter().find(|spec| spec.name == name)?;
    let value = match spec.kind {
        Kind::Bool { .. } => Setting::Bool(value.parse().ok()?),
        Kind::Int { .. } => Setting::Int(value.parse().ok()?),
        Kind::Choice(_) | Kind::OpenChoice(_) | Kind::Seed => Setting::from(value),
        Kind::ChoiceOrInt { .. } => value.parse().map_or_else(|_| Setting::from(value), Setting::Int),
    };
    Some((spec.name, value))
}

/// Opens a game; if that fails, says which part of the request is to blame.
///
/// ```
/// use plyd_core::engine::settings::open;
/// use plyd_core::game::Rules;
/// use plyd_core::nim;
///
/// let root = open(&nim::ENTRY, &Rules::default(), Some("5 2")).unwrap();
/// assert_eq!((root.text(), root.legal().len()), ("5 2".to_owned(), 3));
/// ```
///
/// # Errors
/// `RulesUnsupported` at a rule; `BadPosition`, `IllegalPosition` or `Undecided` at the start.
pub fn open(entry: &Entry, rules: &Rules, start: Option<&str>) -> Result<Arc<dyn AnyRoot>, Fault> {
    let root = open_within(entry, rules, start, &Effort::free())?;
    root.doubt().map_or(Ok(root), |doubt| Err(doubt.into()))
}

/// The same within an effort; the start is opened even if the rules do not find out whether it is possible.
///
/// ```
/// use plyd_core::effort::Effort;
/// use plyd_core::engine::settings::open_within;
/// use plyd_core::game::Rules;
/// use plyd_core::nim;
///
/// let root = open_within(&nim::ENTRY, &Rules::default(), Some("5 2"), &Effort::free()).unwrap();
/// assert!(root.doubt().is_none());
/// ```
///
/// # Errors
/// As [`open`], without `Undecided`.
pub fn open_within(
    entry: &Entry,
    rules: &Rules,
    start: Option<&str>,
    effort: &Arc<Effort>,
) -> Result<Arc<dyn AnyRoot>, Fault> {
    let at_start = |code, message| Fault::new(code, Place::Start, message);
    (entry.open)(rules, start, effort).map_err(|error| match error {
        OpenError::Rule { name, message } => unsupported(name, message),
        OpenError::Malformed(message) => at_start(FaultCode::BadPosition, message),
        OpenError::Impossible(message) => at_start(FaultCode::IllegalPosition, message),
    })
}

/// Checks options of a game's players; gives those whose values have been renamed since the previous version.
///
/// ```
/// use plyd_core::engine::settings::{Settings, check_options};
/// use plyd_core::nim;
///
/// assert_eq!(check_options(&nim::ENTRY, &Settings::from_iter([("level", 3)])), Ok(Vec::new()));
/// let fault = check_options(&nim::ENTRY, &Settings::from_iter([("level", 11)])).unwrap_err();
/// assert_eq!(fault.to_string(), "the option `level`: expected an integer from 1 to 10");
/// ```
///
/// # Errors
/// `OptionUnknown` or `OptionInvalid` at an option.
pub fn check_options(entry: &Entry, given: &Settings) -> Result<Vec<Renamed>, Fault> {
    let checked = given.iter().map(|(name, value)| option(entry, name, value).map(|found| found.renamed));
    Ok(checked.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Checks options that are meant for any game: at least one of the games must take each of them. Gives those
/// whose values have been renamed in all games that take them.
///
/// ```
/// use plyd_core::engine::settings::{Settings, check_any_options};
/// use plyd_core::nim;
///
/// assert_eq!(check_any_options(&[&nim::ENTRY], &Settings::from_iter([("level", 3)])), Ok(Vec::new()));
/// assert!(check_any_options(&[&nim::ENTRY], &Settings::from_iter([("volume", 3)])).is_err());
/// ```
///
/// # Errors
/// `OptionUnknown` or `OptionInvalid` at an option.
pub fn check_any_options(games: &[&Entry], given: &Settings) -> Result<Vec<Renamed>, Fault> {
    let mut renamed = Vec::new();
    for (name, value) in given.iter() {
        let mut worst = option_fault(FaultCode::OptionUnknown, name, "no game has this option".to_owned());
        let mut taken = Vec::new();
        for entry in games {
            match option(entry, name, value) {
                Ok(found) => taken.push(found.renamed),
                Err(fault) if fault.code == FaultCode::OptionInvalid => worst = fault,
                Err(_) => {}
            }
        }
        if taken.is_empty() {
            return Err(worst);
        }
        renamed.extend(taken.into_iter().min_by_key(Option::is_some).flatten());
    }
    Ok(renamed)
}

/// Those of the options `given` for any game that this game takes.
///
/// ```
/// use plyd_core::engine::settings::{Settings, applicable};
/// use plyd_core::nim;
///
/// let given = Settings::from_iter([("level", 3), ("volume", 3)]);
/// assert_eq!(applicable(&nim::ENTRY, &given), Settings::from_iter([("level", 3)]));
/// ```
#[must_use]
pub fn applicable(entry: &Entry, given: &Settings) -> Settings {
    given
        .iter()
        .filter(|(name, value)| option(entry, name, value).is_ok())
        .map(|(name, value)| (name, value.clone()))
        .collect()
}

/// `below`, overridden by `above`.
///
/// ```
/// use plyd_core::engine::settings::{Settings, layered};
///
/// let below = Settings::from_iter([("level", 3), ("depth", 8)]);
/// let all = layered(&below, &Settings::from_iter([("level", 5)]));
/// assert_eq!(all, Settings::from_iter([("level", 5), ("depth", 8)]));
/// ```
#[must_use]
pub fn layered(below: &Settings, above: &Settings) -> Settings {
    let mut all = below.clone();
    for (name, value) in above.iter() {
        all.insert(name, value.clone());
    }
    all
}

/// The effective options: `given`, which are checked, over the defaults, within `caps`.
///
/// ```
/// use plyd_core::engine::settings::{Caps, Settings, options};
/// use plyd_core::nim;
///
/// let given = Settings::from_iter([("player", "greedy")]);
/// let caps = Caps { threads: 1, hash_mb: 64 };
/// assert_eq!(options(&nim::ENTRY, &given, 0, caps).unwrap().player, "greedy");
/// assert!(options(&nim::ENTRY, &Settings::from_iter([("player", "grandmaster")]), 0, caps).is_err());
/// ```
///
/// # Errors
/// `OptionUnknown` or `OptionInvalid` at an option, if `given` was not checked.
pub fn options(entry: &Entry, given: &Settings, seed: u64, caps: Caps) -> Result<Options, Fault> {
    // No evaluation is named unless one was given, because some players have their own.
    let player = entry.players().next().map_or_else(String::new, |named| named.name.to_owned());
    let mut options = Options { player, seed, ..Options::default() };
    for (name, value) in given.iter() {
        let Checked { spec, value, .. } = option(entry, name, value)?;
        match (spec.name, value) {
            ("player", Setting::Text(text)) => options.player = text,
            ("eval", Setting::Text(text)) => options.eval = text,
            ("depth", Setting::Int(depth)) => options.depth = Some(depth as u32),
            ("threads", Setting::Int(threads)) => options.threads = threads as usize,
            ("level", Setting::Int(level)) => options.level = level as u32,
            ("variety", Setting::Int(variety)) => options.variety = variety as u32,
            ("hash_mb", Setting::Int(mb)) => options.hash_mb = mb as usize,
            ("seed", Setting::Text(text)) => options.seed = parse_seed(&text).unwrap_or(seed),
            ("deterministic", Setting::Bool(yes)) => options.deterministic = yes,
            (name, value) => options.own.push((name, value)),
        }
    }
    options.threads = if options.deterministic { 1 } else { options.threads.min(caps.threads).max(1) };
    options.hash_mb = options.hash_mb.min(caps.hash_mb).max(1);
    Ok(options)
}

/// All effective options; one without a value and a default is absent.
///
/// ```
/// use plyd_core::engine::settings::effective;
/// use plyd_core::nim;
/// use plyd_core::options::Options;
///
/// let all = effective(&nim::ENTRY, &Options { level: 3, ..Options::default() });
/// assert_eq!((all.get("level"), all.get("eval")), (Some(&3.into()), Some(&"rest".into())));
/// ```
#[must_use]
pub fn effective(entry: &Entry, options: &Options) -> Settings {
    let mut all = Settings::new();
    all.insert("player", options.player.as_str());
    if let Some(depth) = options.depth {
        all.insert("depth", i64::from(depth));
    }
    let first = || entry.evaluators().next().map(|named| named.name);
    if let Some(eval) = Some(options.eval.as_str()).filter(|eval| !eval.is_empty()).or_else(first) {
        all.insert("eval", eval);
    }
    all.insert("threads", options.threads as i64);
    all.insert("hash_mb", options.hash_mb as i64);
    all.insert("seed", format!("{:x}", options.seed));
    all.insert("level", i64::from(options.level));
    all.insert("variety", i64::from(options.variety));
    all.insert("deterministic", options.deterministic);
    for spec in entry.options() {
        let given = options.own.iter().find(|(name, _)| *name == spec.name).map(|(_, value)| value.clone());
        if let Some(value) = given.or_else(|| default(spec.kind)) {
            all.insert(spec.name, value);
        }
    }
    all
}

/// The value of a setting that was not given, if its specification names one.
///
/// ```
/// use plyd_core::engine::settings::default;
/// use plyd_core::game::Kind;
///
/// assert_eq!(default(Kind::Choice(&["none", "one"])), Some("none".into()));
/// assert_eq!(default(Kind::Seed), None);
/// ```
#[must_use]
pub fn default(kind: Kind) -> Option<Setting> {
    match kind {
        Kind::Bool { default } => default.map(Setting::Bool),
        Kind::Int { default, .. } => default.map(Setting::Int),
        Kind::Choice(choices) | Kind::ChoiceOrInt { choices, .. } => {
            choices.first().map(|first| (*first).into())
        }
        Kind::OpenChoice(_) | Kind::Seed => None,
    }
}

/// An option that a game takes.
struct Checked {
    spec: &'static Spec,
    /// Its value; a former name of a player or an evaluator is replaced by the present one.
    value: Setting,
    renamed: Option<Renamed>,
}

fn option(entry: &Entry, name: &str, value: &Setting) -> Result<Checked, Fault> {
    let known = || COMMON.iter().chain(entry.options());
    let spec = known().find(|spec| spec.name == name).ok_or_else(|| {
        let known: Vec<&str> = known().map(|spec| spec.name).collect();
        let message = format!("there is no such option; there are: {}", known.join(", "));
        option_fault(FaultCode::OptionUnknown, name, message)
    })?;
    let checked = match name {
        "player" => named(spec, entry.players(), value),
        "eval" => named(spec, entry.evaluators(), value),
        _ => checked(spec.kind, value).map(|value| Checked { spec, value, renamed: None }),
    };
    checked.map_err(|message| option_fault(FaultCode::OptionInvalid, name, message))
}

/// An option whose value is one of some names.
fn named(
    spec: &'static Spec,
    names: impl Iterator<Item = &'static Named> + Clone,
    value: &Setting,
) -> Result<Checked, String> {
    let found = match value {
        Setting::Text(given) => Named::find(names.clone(), given).map(|named| (named, given)),
        _ => None,
    };
    let (named, given) = found.ok_or_else(|| {
        let names: Vec<&str> = names.map(|named| named.name).collect();
        format!("expected one of: {}", names.join(", "))
    })?;
    Ok(Checked { spec, value: named.name.into(), renamed: Renamed::new(spec.name, named, given) })
}

fn checked(kind: Kind, value: &Setting) -> Result<Setting, String> {
    use Setting::{Bool, Int, Text};
    match (kind, value) {
        (Kind::Bool { .. }, Bool(value)) => Ok(Setting::Bool(*value)),
        (Kind::Int { min, max, .. } | Kind::ChoiceOrInt { min, max, .. }, Int(value))
            if (min..=max).contains(value) =>
        {
            Ok(Setting::Int(*value))
        }
        (
            Kind::Choice(choices) | Kind::OpenChoice(choices) | Kind::ChoiceOrInt { choices, .. },
            Text(text),
        ) if choices.contains(&text.as_str()) => Ok(Setting::Text(text.clone())),
        (Kind::Seed, Text(text)) if parse_seed(text).is_some() => Ok(Setting::Text(text.clone())),
        _ => Err(match kind {
            Kind::Bool { .. } => "expected true or false".to_owned(),
            Kind::Int { min, max, .. } => format!("expected an integer from {min} to {max}"),
            Kind::Choice(choices) | Kind::OpenChoice(choices) => {
                format!("expected one of: {}", choices.join(", "))
            }
            Kind::ChoiceOrInt { choices, min, max } => {
                format!("expected one of the texts {}, or an integer from {min} to {max}", choices.join(", "))
            }
            Kind::Seed => "expected 1 to 16 lower-case hexadecimal digits".to_owned(),
        }),
    }
}

fn unsupported(name: &str, message: String) -> Fault {
    Fault::new(FaultCode::RulesUnsupported, Place::Rule(name.to_owned()), message)
}

fn option_fault(code: FaultCode, name: &str, message: String) -> Fault {
    Fault::new(code, Place::Option(name.to_owned()), message)
}
