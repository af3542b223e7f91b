//! What goes wrong between us and the server.

/// Why something cannot be had of the server.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// It is not there, or does not answer; it may be later.
    #[error("{0}")]
    Away(String),
    /// It is there and says no; it will again.
    #[error("{0}")]
    Refused(String),
    /// What was to be done here failed, such as writing a file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl FleetError {
    /// Something that may be better later.
    pub(super) fn away(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self::Away(format!("{what}: {error}"))
    }
}
