//! Options of players: what every game's players take, checked against their specifications.
//!
//! Knows names and ranges, not what a search makes of them.

use std::error::Error;
use std::fmt;

use crate::game::{Kind, Setting, Spec};

pub mod weights;

/// The options that players of every game take. `player` and `eval` take the names that a game lists.
pub const COMMON: &[Spec] = &[
    Spec { name: "player", kind: Kind::Choice(&[]), about: "Who plays: a name from the game's players." },
    Spec {
        name: "depth",
        kind: Kind::Int { min: 1, max: 1000, default: None },
        about: "The depth limit of the player in plies; absent: the player's own.",
    },
    Spec {
        name: "eval",
        kind: Kind::Choice(&[]),
        about: "The evaluation: a name from the game's evaluators.",
    },
    Spec {
        name: "threads",
        kind: Kind::Int { min: 1, max: 256, default: Some(1) },
        about: "Threads of one search; never more than the daemon allows.",
    },
    Spec {
        name: "hash_mb",
        kind: Kind::Int { min: 1, max: 65_536, default: Some(16) },
        about: "Size of the transposition table in MiB, within the daemon's memory.",
    },
    Spec { name: "seed", kind: Kind::Seed, about: "Seed of the player's own random choices." },
    Spec {
        name: "level",
        kind: Kind::Int { min: 1, max: FULL_LEVEL as i64, default: Some(FULL_LEVEL as i64) },
        about: "Strength: below 10 the player searches fewer plies and nodes, often picks another good move than the best, and now and then moves like level 1.",
    },
    Spec {
        name: "variety",
        kind: Kind::Int { min: 0, max: 1_000_000, default: Some(0) },
        about: "Pick at random among moves whose scores are less than this many thousandths below the best; 1: equal ones, 0: off. No effect at a level that picks at random itself.",
    },
    Spec {
        name: "deterministic",
        kind: Kind::Bool { default: Some(false) },
        about: "Search with one thread, and let the clock decide nothing but the limits: the same request gets the same answer.",
    },
];

/// An option of games that are solved before the distance to their end is known.
pub const EXACT: Spec = Spec {
    name: "exact",
    kind: Kind::Bool { default: Some(false) },
    about: "Whether the default player searches on when the outcome is proven, until its distance is exact.",
};

/// The level at which a player is not weakened.
pub const FULL_LEVEL: u32 = 10;

/// An option that a player cannot have.
///
/// ```
/// use plyd_core::nim::{Nim, Rest};
/// use plyd_core::options::Options;
/// use plyd_core::search::players;
///
/// let options = Options { player: "grandmaster".to_owned(), ..Options::default() };
/// let error = players::build(&Nim { most: 3 }, Rest, &options).err().expect("there is no such player");
/// assert!(error.to_string().starts_with("the option `player`: `grandmaster` is no player"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionError {
    /// The option.
    pub name: &'static str,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the option `{}`: {}", self.name, self.message)
    }
}

impl Error for OptionError {}

/// The effective options of a player.
///
/// ```
/// use plyd_core::options::Options;
///
/// let beginner = Options { level: 1, seed: 7, ..Options::default() };
/// let strongest = Options { hash_mb: 256, threads: 4, ..Options::default() };
/// assert!(beginner.level < strongest.level);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Who plays.
    pub player: String,
    /// The player's depth limit in plies.
    pub depth: Option<u32>,
    /// The evaluation; empty: the player's own if it has one, else the game's first.
    pub eval: String,
    /// Threads of one search.
    pub threads: usize,
    /// Size of the transposition table in MiB.
    pub hash_mb: usize,
    /// Seed of the player's own choices.
    pub seed: u64,
    /// Strength from 1 to 10; 10 is not weakened.
    pub level: u32,
    /// The move is drawn from those whose scores differ by less than this many thousandths; 0: the best is
    /// played.
    pub variety: u32,
    /// One thread, and no clock in decisions but the limits.
    pub deterministic: bool,
    /// The game's own options that were given.
    pub own: Vec<(&'static str, Setting)>,
}

impl Default for Options {
    /// The game's default player and evaluation, at full strength.
    fn default() -> Self {
        Self {
            player: "default".to_owned(),
            depth: None,
            eval: String::new(),
            threads: 1,
            hash_mb: 16,
            seed: 0,
            level: FULL_LEVEL,
            variety: 0,
            deterministic: false,
            own: Vec::new(),
        }
    }
}

impl Options {
    /// Whether a proven outcome without its exact distance leaves something to search for: see [`EXACT`].
    #[must_use]
    pub fn exact(&self) -> bool {
        self.own_bool(EXACT.name).unwrap_or(false)
    }

    /// Refuses any evaluation but those of `taken`, for players that can use no other; if none is named, the
    /// player uses its own.
    ///
    /// ```
    /// use plyd_core::options::Options;
    ///
    /// let asked = |eval: &str| {
    ///     let (player, eval) = ("published".to_owned(), eval.to_owned());
    ///     Options { player, eval, ..Options::default() }.expect_eval(&["gradient", "smoothness"])
    /// };
    /// assert!(asked("").is_ok() && asked("gradient").is_ok());
    /// let error = asked("lead").unwrap_err();
    /// assert_eq!(error.message, "the player `published` takes one of these alone: gradient, smoothness");
    /// ```
    ///
    /// # Errors
    /// The evaluation is none of these.
    pub fn expect_eval(&self, taken: &[&str]) -> Result<(), OptionError> {
        if self.eval.is_empty() || taken.contains(&self.eval.as_str()) {
            return Ok(());
        }
        let message = format!("the player `{}` takes one of these alone: {}", self.player, taken.join(", "));
        Err(OptionError { name: "eval", message })
    }

    /// A weight of an evaluation: the given one or its default.
    #[must_use]
    pub fn weight(&self, spec: &Spec) -> i32 {
        let given = self.own.iter().find(|(given, _)| *given == spec.name);
        match given {
            // Checked against its range, which 32 bits hold.
            Some((_, Setting::Int(value))) => *value as i32,
            _ => weights::default(spec),
        }
    }

    /// The game's own option of that name, if it is yes or no and was given.
    ///
    /// ```
    /// use plyd_core::options::Options;
    ///
    /// let options = Options { own: vec![("solver", false.into())], ..Options::default() };
    /// assert_eq!((options.own_bool("solver"), options.own_bool("book")), (Some(false), None));
    /// ```
    #[must_use]
    pub fn own_bool(&self, name: &str) -> Option<bool> {
        self.own.iter().find(|(given, _)| *given == name).and_then(|(_, value)| match value {
            Setting::Bool(value) => Some(*value),
            _ => None,
        })
    }
}
