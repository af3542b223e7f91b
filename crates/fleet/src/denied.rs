//! Why a worker does not play a pair.

use std::fmt;

/// Why a worker does not play a pair, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denied(pub String);

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
