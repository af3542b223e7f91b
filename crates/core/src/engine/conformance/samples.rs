//! The positions that a game supplies for its checks: its start, those with perft counts, and those of its
//! benchmark.

use std::fmt;
use std::sync::Arc;

use crate::effort::Effort;
use crate::engine::settings;
use crate::engine::{AnyRoot, Entry, ToMove};
use crate::game::Rules;

/// A position that a game supplies: rules, and where it starts.
///
/// ```
/// use plyd_core::engine::conformance::Sample;
/// use plyd_core::nim;
///
/// let sample = Sample::new(&nim::ENTRY, "most=5", "9 1").unwrap();
/// assert_eq!(sample.to_string(), "nim most=5: 9 1");
/// assert_eq!(sample.root().unwrap().legal().len(), 5);
/// assert!(Sample::new(&nim::ENTRY, "least=5", "").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Sample {
    /// The game.
    pub entry: &'static Entry,
    /// The rules; those that are not named have their defaults.
    pub rules: Rules,
    /// The position's text; none for the rules' own start.
    pub start: Option<String>,
}

impl Sample {
    /// A sample from rules, written as `name=value` joined by commas, and a position's text; either may be
    /// empty.
    ///
    /// # Errors
    /// A rule that the game does not have, or a value that it does not take.
    pub fn new(entry: &'static Entry, rules: &str, start: &str) -> Result<Self, String> {
        let rules = settings::written(entry, rules).map_err(|rule| {
            let names: Vec<&str> = entry.rules.iter().map(|rule| rule.name).collect();
            format!(
                "{}: `{rule}` is no rule; rules are `NAME=VALUE` joined by commas, with the names {names:?}",
                entry.name
            )
        })?;
        let start = Some(start.to_owned()).filter(|text| !text.is_empty());
        let given = rules.iter().map(|(name, value)| (name, value.clone())).collect();
        settings::rules(entry, &given, 0).map_err(|fault| format!("{}: {fault}", entry.name))?;
        Ok(Self { entry, rules, start })
    }

    /// Another position under the same rules.
    #[must_use]
    pub fn at(&self, text: &str) -> Self {
        Self { start: Some(text.to_owned()), ..self.clone() }
    }

    /// The position.
    ///
    /// # Errors
    /// The game refuses the rules or the position.
    pub fn root(&self) -> Result<Arc<dyn AnyRoot>, String> {
        (self.entry.open)(&self.rules, self.start.as_deref(), &Effort::free())
            .map_err(|error| format!("{self}: {error:?}"))
    }

    /// The rules as the commands take them.
    #[must_use]
    pub fn rules_text(&self) -> String {
        self.rules.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.entry.name, self.rules_text(), self.start.as_deref().unwrap_or("start"))
    }
}

/// All positions that a game supplies.
///
/// ```
/// use plyd_core::engine::conformance::samples;
/// use plyd_core::nim;
///
/// // The start, the position with counts, and that of the benchmark.
/// let samples = samples(&nim::ENTRY).unwrap();
/// let starts: Vec<Option<&str>> = samples.iter().map(|sample| sample.start.as_deref()).collect();
/// assert_eq!(starts, [None, Some("5 1"), Some("21 1")]);
/// ```
///
/// # Errors
/// The first that cannot be read.
pub fn samples(entry: &'static Entry) -> Result<Vec<Sample>, String> {
    let mut samples = vec![Sample::new(entry, "", "")?];
    samples.extend(counted(entry)?.into_iter().map(|(sample, _)| sample));
    for bench in entry.bench {
        samples.push(Sample::new(entry, bench.rules, bench.position)?);
    }
    Ok(samples)
}

/// At most `most` of these positions that are not over and have at most `moves` moves or outcomes each,
/// spread over as many different rules as possible.
///
/// ```
/// use plyd_core::engine::conformance::few;
/// use plyd_core::nim;
///
/// assert_eq!(few(&nim::ENTRY, 2, 100).unwrap().len(), 2);
/// ```
///
/// # Errors
/// There is none, or one cannot be read.
pub fn few(entry: &'static Entry, most: usize, moves: usize) -> Result<Vec<Sample>, String> {
    let mut left = Vec::new();
    for sample in samples(entry)? {
        let root = sample.root()?;
        if root.outcome().is_none() && next(root.as_ref()).len() <= moves {
            left.push(sample);
        }
    }
    let mut few: Vec<Sample> = Vec::new();
    while few.len() < most {
        let alike = |sample: &Sample| few.iter().filter(|other| other.rules == sample.rules).count();
        let Some(at) = (0..left.len()).min_by_key(|&at| alike(&left[at])) else { break };
        few.push(left.remove(at));
    }
    if few.is_empty() {
        return Err(format!(
            "{}: every position that the game brings is over or has more than {moves} moves: add a later one to `bench` \
             or `perft.txt`",
            entry.name
        ));
    }
    Ok(few)
}

/// The positions of a game's perft counts, with the counts from depth 1 on.
///
/// ```
/// use plyd_core::engine::conformance::counted;
/// use plyd_core::nim;
///
/// let (sample, counts) = counted(&nim::ENTRY).unwrap().remove(0);
/// assert_eq!((sample.start.as_deref(), &counts[..]), (Some("5 1"), &[3, 8, 10, 5, 1][..]));
/// ```
///
/// # Errors
/// A line that is not `RULES | POSITION | d1 d2 d3 ...`.
pub fn counted(entry: &'static Entry) -> Result<Vec<(Sample, Vec<u64>)>, String> {
    let lines = entry.perft.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let read = |line: &str| {
        let malformed = || format!("{}: `{line}` is not `RULES | POSITION | d1 d2 d3 ...`", entry.name);
        let [rules, position, counts] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            return Err(malformed());
        };
        let counts: Option<Vec<u64>> = counts.split_whitespace().map(|count| count.parse().ok()).collect();
        let counts = counts.filter(|counts| !counts.is_empty()).ok_or_else(malformed)?;
        Ok((Sample::new(entry, rules, position)?, counts))
    };
    lines.map(read).collect()
}

/// What can be played: the moves, or at a chance node the outcomes.
///
/// ```
/// use plyd_core::engine::conformance::next;
/// use plyd_core::nim;
/// use plyd_core::play::Position;
///
/// assert_eq!(next(Position::start(&nim::ENTRY).root().as_ref()), ["1", "2", "3"]);
/// ```
#[must_use]
pub fn next(root: &dyn AnyRoot) -> Vec<String> {
    match root.to_move() {
        ToMove::Chance => root.chance().into_iter().map(|outcome| outcome.mv).collect(),
        ToMove::Player(_) => root.legal(),
    }
}
