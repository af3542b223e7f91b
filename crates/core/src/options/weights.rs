//! Weights of evaluations: whole numbers that a text file in the game's folder gives and players take as
//! options.
//!
//! The file is read by the compiler, so a weight that is missing, malformed or out of its range is an error
//! of the build, and a default costs nothing at run time. Knows no game; `plyd tune` finds better values.

use crate::game::{Kind, Spec};

/// The weights of an evaluator.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// The weights as options, each made by [`spec`].
    pub list: &'static [Spec],
    /// The text that gives their defaults: lines of a name and a whole number, and comments after `#`.
    pub file: &'static str,
}

/// What `plyd tune` may change: the weights of one evaluator.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// The evaluator's name.
    pub evaluator: &'static str,
    /// Its weights.
    pub weights: Weights,
}

/// No weight is larger in magnitude: sums of some thousand products with counts of cells stay within 32 bits.
pub const MOST: i64 = 100_000;

/// A weight as an option: its default is what `file` gives it.
///
/// ```
/// use plyd_core::game::Spec;
/// use plyd_core::options::weights;
///
/// /// What `include_str!("weights.txt")` would be.
/// const FILE: &str = "# found by plyd tune\nopen_three 90\n";
/// const OPEN_THREE: Spec = weights::spec(FILE, "open_three", 0, 1000, "The worth of an open row of three.");
/// assert_eq!(weights::default(&OPEN_THREE), 90);
/// ```
///
/// # Panics
/// If the file does not name the weight exactly once with a whole number from `min` to `max`; in a constant,
/// at compile time.
#[must_use]
pub const fn spec(file: &str, name: &'static str, min: i64, max: i64, about: &'static str) -> Spec {
    assert!(-MOST <= min && min < max && max <= MOST, "a weight's range is too wide or empty");
    let default = value(file, name);
    assert!(min <= default && default <= max, "a weight is out of its range");
    Spec { name, kind: Kind::Int { min, max, default: Some(default) }, about }
}

/// The default of a weight.
///
/// # Panics
/// For an option that [`spec`] did not make.
#[must_use]
pub const fn default(spec: &Spec) -> i32 {
    match spec.kind {
        // Within `MOST`.
        Kind::Int { default: Some(value), .. } => value as i32,
        _ => panic!("a weight is a whole number with a default"),
    }
}

/// The number beside a name in a file of weights.
const fn value(file: &str, name: &str) -> i64 {
    let (file, name) = (file.as_bytes(), name.as_bytes());
    let mut found = None;
    let mut at = 0;
    while at < file.len() {
        if is_named(file, at, name) {
            assert!(found.is_none(), "the file names a weight twice");
            found = Some(number(file, at + name.len() + 1));
        }
        while at < file.len() && file[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    found.expect("the file does not name a weight")
}

/// Whether the line that begins at `at` begins with the name and a blank.
const fn is_named(file: &[u8], at: usize, name: &[u8]) -> bool {
    if at + name.len() >= file.len() || file[at + name.len()] != b' ' {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        if file[at + i] != name[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The whole number from `at` to the end of the line.
const fn number(file: &[u8], mut at: usize) -> i64 {
    let is_negative = at < file.len() && file[at] == b'-';
    if is_negative {
        at += 1;
    }
    let (begin, mut value) = (at, 0);
    while at < file.len() && file[at] != b'\n' {
        assert!(file[at].is_ascii_digit() && value <= MOST, "a weight is no whole number of few digits");
        value = 10 * value + (file[at] - b'0') as i64;
        at += 1;
    }
    assert!(at > begin, "a weight has no number");
    if is_negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn a_file_gives_each_name_its_number() {
        let file = "# ab 9: a comment\nab 1\n\nabc -20\nb 300";
        for (name, expected) in [("ab", 1), ("abc", -20), ("b", 300)] {
            assert_eq!(value(file, name), expected, "{name}");
        }
    }

    #[test]
    fn mistakes_in_a_file_do_not_compile() {
        for file in [
            "",
            "a",
            "a ",
            "a\n",
            "a 1\na 2",
            "a -",
            "a 1.5",
            "a 1 2",
            "a  1",
            "a 99999999",
            "ab 1",
            "a 11",
            "a -1",
        ] {
            assert!(catch_unwind(|| spec(file, "a", 0, 10, "")).is_err(), "{file:?}");
        }
        assert!(catch_unwind(|| spec("a 10", "a", 0, 10, "")).is_ok());
    }
}
