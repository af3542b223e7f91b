//! Why a request is refused, as its client reads it.

use plyd_bridge as bridge;
use plyd_core::engine::Fault;
use plyd_protocol as wire;
use plyd_protocol::ErrorCode;

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(crate) struct RequestError {
    /// The protocol's code.
    pub(super) code: ErrorCode,
    /// A JSON pointer into the request.
    pub(super) pointer: Option<String>,
    /// What is wrong, in a sentence.
    pub(super) message: String,
    /// The outcome, if the game is over.
    pub(super) outcome: Option<Box<wire::Outcome>>,
    /// When to try again.
    pub(super) retry_ms: Option<u64>,
    /// The limit for which the connection closes.
    pub(super) limit: Option<&'static str>,
}

impl RequestError {
    /// A refusal without a place in the request.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, pointer: None, message: message.into(), outcome: None, retry_ms: None, limit: None }
    }

    /// A request that ended before its position was read.
    pub(crate) fn unprepared() -> Self {
        Self::new(ErrorCode::Unprepared, "the request ended before its position was read")
    }

    /// Adds a pointer to the field at fault.
    pub(crate) fn at(self, pointer: &str) -> Self {
        Self { pointer: Some(pointer.to_owned()), ..self }
    }

    /// Adds the time after which to retry, in ms.
    pub(super) fn retry(self, ms: u64) -> Self {
        Self { retry_ms: Some(ms), ..self }
    }

    /// Adds the limit that is reached.
    pub(super) fn limit(self, name: &'static str) -> Self {
        Self { limit: Some(name), ..self }
    }

    /// The error as its client reads it.
    pub(super) fn into_message(
        self,
        id: Option<&str>,
        line: u64,
        reference: Option<String>,
        fatal: bool,
    ) -> wire::ErrorMessage {
        wire::ErrorMessage {
            id: id.map(str::to_owned),
            line,
            code: self.code,
            message: self.message,
            pointer: self.pointer,
            reference,
            retry_ms: self.retry_ms,
            limit: self.limit.map(str::to_owned),
            outcome: self.outcome.map(|outcome| *outcome),
            fatal,
        }
    }
}

impl From<Fault> for RequestError {
    fn from(fault: Fault) -> Self {
        Self {
            code: bridge::error_code(fault.code),
            pointer: bridge::pointer(&fault.place),
            message: fault.message,
            outcome: fault.outcome.map(|outcome| Box::new(bridge::outcome(outcome))),
            retry_ms: None,
            limit: None,
        }
    }
}
