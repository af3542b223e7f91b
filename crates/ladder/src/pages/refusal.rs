//! Why a request is not answered: for programs as JSON (RFC 9457), for people as a page.

use std::borrow::Cow;
use std::time::Duration;

use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::store::StoreError;

/// Why a request is not answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    pub(super) kind: Kind,
    /// What is wrong and what to do, for people.
    pub(super) message: Cow<'static, str>,
}

/// The kinds of refusals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The request makes no sense.
    BadRequest,
    /// One has to log in first.
    NotLoggedIn,
    /// The one who is logged in may not do it, or the form was not of this site.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// It is there, and answers to other methods.
    WrongMethod,
    /// The request is too large.
    TooLarge,
    /// This address asks too often.
    TooManyRequests,
    /// There are too many spectators.
    TooManySpectators,
    /// The ladder has too much to do.
    Overloaded,
    /// The ladder failed.
    Failed,
}

/// A refusal as the API writes it, of the type `application/problem+json` (RFC 9457).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub(super) struct Problem {
    /// What kind it is.
    pub(super) code: Kind,
    /// The status of the answer.
    pub(super) status: u16,
    /// The status in words.
    pub(super) title: String,
    /// What is wrong and what to do, for people.
    pub(super) detail: String,
    /// When to ask again, in milliseconds, if that is worth a try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) retry_ms: Option<u64>,
}

impl Kind {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::NotLoggedIn => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::TooManySpectators | Self::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// When to ask again.
    pub(super) fn retry(self) -> Option<Duration> {
        match self {
            Self::TooManyRequests | Self::Overloaded => Some(Duration::from_secs(1)),
            Self::TooManySpectators => Some(Duration::from_secs(30)),
            _ => None,
        }
    }
}

impl Refusal {
    pub(super) fn new(kind: Kind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn not_found(what: &str) -> Self {
        Self::new(Kind::NotFound, format!("there is no such {what}"))
    }

    pub(super) fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Kind::BadRequest, message)
    }

    pub(super) fn is_not_found(&self) -> bool {
        self.kind == Kind::NotFound
    }

    /// The same, but what made no sense to the database is a thing that is not there.
    pub(super) fn or_not_found(self, what: &str) -> Self {
        if self.kind == Kind::BadRequest { Self::not_found(what) } else { self }
    }

    pub(super) fn problem(&self) -> Problem {
        let status = self.kind.status();
        Problem {
            code: self.kind,
            status: status.as_u16(),
            title: status.canonical_reason().unwrap_or_default().into(),
            detail: self.message.clone().into_owned(),
            retry_ms: self.kind.retry().map(|after| after.as_secs() * 1000),
        }
    }
}

/// What the database refuses is a matter of the request; its failures are not for the public.
impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(message) => Self::bad_request(message),
            error if error.is_lost() => {
                Self::new(Kind::Overloaded, "the ladder's database does not answer: try again in a second")
            }
            _ => Self::new(Kind::Failed, "the ladder's database failed; try again later"),
        }
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        // Programmers' words for what went wrong stand before the reason.
        let text = rejection.body_text();
        let reason = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
        Self::bad_request(format!("the address is wrong after its `?`: {reason}"))
    }
}

impl From<FormRejection> for Refusal {
    fn from(rejection: FormRejection) -> Self {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            return Self::new(Kind::TooLarge, "the form is too large");
        }
        Self::bad_request("this is not the form of the page")
    }
}

/// The answer is that of the API. Pages find the refusal in its extensions, and put theirs in its place.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = serde_json::to_vec(&self.problem()).expect("it has texts for keys and plain values");
        let mut response = (self.kind.status(), body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(after) = self.kind.retry() {
            headers.insert(RETRY_AFTER, HeaderValue::from(after.as_secs()));
        }
        response.extensions_mut().insert(self);
        response
    }
}
