//! Why a call failed: the protocol's code, and a pointer to the argument that is to blame.

use plyd_core::engine::Fault;
use plyd_protocol::{ErrorCode, ErrorMessage, Outcome};
use serde::Serialize;

/// A refusal, as the agent reads it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct ToolError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    /// A JSON pointer (RFC 6901) into the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_ms: Option<u64>,
    /// How the game ended, if it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<Box<Outcome>>,
}

impl ToolError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), pointer: None, retry_ms: None, outcome: None }
    }

    /// The same with the argument that is to blame.
    pub(crate) fn at(self, pointer: impl Into<String>) -> Self {
        Self { pointer: Some(pointer.into()), ..self }
    }

    /// The same with the time after which another attempt may succeed.
    pub(crate) fn retry(self, retry_ms: u64) -> Self {
        Self { retry_ms: Some(retry_ms), ..self }
    }

    /// The same with its pointer renamed, if it begins so: where arguments are called otherwise than the
    /// fields of requests.
    pub(crate) fn renamed(mut self, field: &str, argument: &str) -> Self {
        if let Some(rest) = self.pointer.as_deref().and_then(|pointer| pointer.strip_prefix(field))
            && (rest.is_empty() || rest.starts_with('/'))
        {
            self.pointer = Some(format!("{argument}{rest}"));
        }
        self
    }

    /// The same without a pointer, where nothing that the caller gave is to blame.
    pub(crate) fn unplaced(self) -> Self {
        Self { pointer: None, ..self }
    }
}

impl From<ErrorMessage> for ToolError {
    fn from(error: ErrorMessage) -> Self {
        let ErrorMessage { code, message, pointer, retry_ms, outcome, .. } = error;
        Self { code, message, pointer, retry_ms, outcome: outcome.map(Box::new) }
    }
}

impl From<Fault> for ToolError {
    fn from(fault: Fault) -> Self {
        let error = Self::new(plyd_bridge::error_code(fault.code), fault.message.clone());
        Self { pointer: plyd_bridge::pointer(&fault.place), ..error }
    }
}

/// What went wrong on this side.
pub(crate) fn internal(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::Internal, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_renamed_by_whole_parts() {
        let at = |pointer: &str| ToolError::new(ErrorCode::OutOfRange, "").at(pointer);
        let renamed = |pointer: &str| at(pointer).renamed("/options/level", "/level").pointer;
        assert_eq!(renamed("/options/level").as_deref(), Some("/level"));
        assert_eq!(renamed("/options/levels").as_deref(), Some("/options/levels"));
        assert_eq!(
            at("/position/start/x").renamed("/position/start", "/start").pointer.as_deref(),
            Some("/start/x")
        );
    }
}
