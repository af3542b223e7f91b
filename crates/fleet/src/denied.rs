//! Why a worker plays no pair of a match.

/// Why a worker plays no pair of a match, for people. That stays so while it runs: its operator does not
/// allow it, or it is of another build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Denied(pub String);
