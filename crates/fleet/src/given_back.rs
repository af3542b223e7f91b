//! Why a worker gives a pair back.

use super::denied::Denied;

/// Why a worker gives a pair back.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(super) enum GivenBack {
    /// It plays no pair of the match: it may not, or cannot, and that stays so.
    #[error("{}", .0.0)]
    Denied(Denied),
    /// What was sent is no pair of the match, whoever takes it.
    #[error("{0}")]
    Malformed(String),
    /// It came to no end this time, and may the next time, here or elsewhere.
    #[error("{0}")]
    Failed(String),
}

impl From<Denied> for GivenBack {
    fn from(denied: Denied) -> Self {
        Self::Denied(denied)
    }
}
