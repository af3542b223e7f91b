//! How much the log says, which may change while a command runs.

use std::io::{self, IsTerminal};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Registry, registry, reload};

use crate::daemon::{self, log};

/// What the targets of plyd's log begin with.
const OURS: &str = "plyd";

/// What changes it.
#[derive(Clone, Debug)]
pub(super) struct Verbosity(reload::Handle<Targets, Registry>);

/// Starts to log warnings and errors.
pub(super) fn start() -> Verbosity {
    let (filter, handle) = reload::Layer::new(Filter::from(LevelFilter::WARN).targets());
    registry().with(filter).with(log::Layer::new(io::stderr().is_terminal())).init();
    Verbosity(handle)
}

impl Verbosity {
    /// Logs what the filter lets through.
    pub(super) fn set(&self, filter: &Filter) {
        self.0.reload(filter.targets()).expect("the log lasts as long as the process");
    }
}

/// What is logged: a level, and levels of targets that have another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Filter {
    level: LevelFilter,
    /// By the beginning of a target's name.
    targets: Vec<(String, LevelFilter)>,
}

impl From<LevelFilter> for Filter {
    fn from(level: LevelFilter) -> Self {
        Self { level, targets: Vec::new() }
    }
}

impl Filter {
    /// The same with these directives on top.
    pub(super) fn with(mut self, Directives(directives): &Directives) -> Self {
        for (target, level) in directives {
            match target {
                None => self.level = *level,
                Some(target) => self.targets.push((target.clone(), *level)),
            }
        }
        self
    }

    /// What is listened on, and what became of new settings, is shown unless that, or everything, is off.
    fn targets(&self) -> Targets {
        let always = [daemon::LISTENING, daemon::SETTINGS].map(|target| (target, LevelFilter::TRACE));
        let always = always.into_iter().filter(|_| self.level != LevelFilter::OFF);
        Targets::new().with_default(self.level).with_targets(always).with_targets(self.targets.clone())
    }
}

/// Directives of a filter: a level, or a target with its level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Directives(Vec<(Option<String>, LevelFilter)>);

impl Directives {
    /// Reads directives such as `warn,plyd_daemon::searches=debug`. A target alone is at its most.
    ///
    /// # Errors
    /// Which of them is none, and what to give instead.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        parts.map(directive).collect::<Result<_, _>>().map(Self)
    }
}

/// The directives in a text that concern plyd: the variable RUST_LOG is there for every program, and may name
/// others.
pub(super) fn own_directives(text: &str) -> String {
    let names_other = |part: &&str| {
        let is_level = part.parse::<LevelFilter>().is_ok();
        !is_level && !part.contains('=') && !part.starts_with(OURS)
    };
    text.split(',').map(str::trim).filter(|part| !names_other(part)).collect::<Vec<_>>().join(",")
}

fn directive(text: &str) -> Result<(Option<String>, LevelFilter), String> {
    let advice = "give a level (off, error, warn, info, debug, trace) or a target and its level, such as \
                  plyd_daemon=debug, with commas between them";
    let shown = || plyd_protocol::echo(text);
    if let Ok(level) = text.parse::<LevelFilter>() {
        return Ok((None, level));
    }
    let (target, level) = text.split_once('=').unwrap_or((text, "trace"));
    let is_target = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-');
    if target.is_empty() || !target.chars().all(is_target) {
        return Err(format!("`{}` names no target of the log: {advice}", shown()));
    }
    if !text.contains('=') && !target.starts_with(OURS) {
        return Err(format!("`{}` is no level: {advice}", shown()));
    }
    // An empty text would be parsed as a level.
    let level = Some(level).filter(|level| !level.is_empty()).and_then(|level| level.parse().ok());
    let level = level.ok_or_else(|| format!("`{}` ends with no level: {advice}", shown()))?;
    Ok((Some(target.to_owned()), level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    #[test]
    fn directives_are_levels_and_targets() {
        let filter = |level: LevelFilter, text: &str| {
            Filter::from(level).with(&Directives::read(text).unwrap()).targets()
        };
        for (level, text, target, most) in [
            (LevelFilter::WARN, "", "plyd_daemon::conn", Some(Level::WARN)),
            (LevelFilter::WARN, "debug", "plyd_daemon::conn", Some(Level::DEBUG)),
            (LevelFilter::INFO, "plyd_daemon::searches=debug", "plyd_daemon::conn", Some(Level::INFO)),
            (LevelFilter::INFO, "plyd_daemon::searches=debug", "plyd_daemon::searches", Some(Level::DEBUG)),
            (LevelFilter::INFO, "error, plyd_daemon", "plyd_daemon::conn", Some(Level::TRACE)),
            (LevelFilter::INFO, "plyd_daemon=WARN,my_game=trace", "my_game::rules", Some(Level::TRACE)),
            (LevelFilter::INFO, "warn", daemon::LISTENING, Some(Level::TRACE)),
            (LevelFilter::INFO, "plyd::listening=off", daemon::LISTENING, None),
            (LevelFilter::INFO, "off", daemon::LISTENING, None),
            (LevelFilter::INFO, "off,plyd::settings=info", daemon::SETTINGS, Some(Level::INFO)),
        ] {
            let targets = filter(level, text);
            let levels = [Level::TRACE, Level::DEBUG, Level::INFO, Level::WARN, Level::ERROR];
            let found = levels.into_iter().find(|level| targets.would_enable(target, level));
            assert_eq!(found, most, "{level} {text} {target}");
        }
    }

    #[test]
    fn what_is_no_directive_is_named() {
        for (text, words) in [
            ("inof", "`inof` is no level"),
            ("warn,plyd_daemon=inof", "`plyd_daemon=inof` ends with no level"),
            ("plyd_daemon=", "ends with no level"),
            ("=debug", "names no target"),
            ("plyd[span{id=3}]=debug", "names no target"),
            ("plyd=info=debug", "ends with no level"),
            ("plyd\u{1b}[2J=debug", "`plyd\\u{1b}[2J=debug` names no target"),
            ("warn;debug", "names no target"),
        ] {
            let error = Directives::read(text).unwrap_err();
            assert!(error.contains(words) && error.contains("plyd_daemon=debug"), "{text}: {error}");
        }
        assert_eq!(
            own_directives("hyper,debug, my_app ,plyd_daemon,tokio=warn"),
            "debug,plyd_daemon,tokio=warn"
        );
        assert_eq!(own_directives("hyper"), "");
    }
}
