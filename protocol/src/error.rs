//! The error codes, and what they say about the connection. Nothing here knows when a daemon raises them.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::IntoDeserializer;
use serde::de::value::{self, StrDeserializer};
use serde::{Deserialize, Serialize};

use crate::open::shown_as_on_the_wire;

/// The group of an [`ErrorCode`], which says what kind of trouble a client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// The line itself is wrong: a bug in the client.
    Line,
    /// The handshake is wrong or refused, it gave no right to the request, or the connection meant is gone.
    Connection,
    /// A limit of the server is reached: try again later.
    Resources,
    /// The session is not there or not free.
    Session,
    /// The game refuses its rules, position, move or option.
    Game,
    /// The search or the question was ended, as asked.
    Search,
    /// The server is at fault.
    Internal,
}

/// Why a request failed.
///
/// ```
/// use plyd_protocol::{ErrorClass, ErrorCode};
///
/// let code: ErrorCode = serde_json::from_str(r#""overloaded""#)?;
/// // The class says what a client may do about codes that it does not know one by one.
/// assert_eq!(code.class(), ErrorClass::Resources);
/// assert!(!code.fatal() && ErrorCode::AuthFailed.fatal());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The line is not UTF-8.
    BadUtf8,
    /// The line is not JSON as the protocol takes it.
    BadJson,
    /// The line is longer than allowed and was dropped.
    LineTooLong,
    /// The line is JSON, but no object.
    NotObject,
    /// The `id` is no string of 1-64 of `[A-Za-z0-9._:-]`.
    BadId,
    /// A request of that id is still in flight.
    DuplicateId,
    /// A required field is missing.
    MissingField,
    /// A field is not known where it stands.
    UnknownField,
    /// A value has another JSON type than its field.
    WrongType,
    /// A number has a fraction or an exponent.
    NotInteger,
    /// An integer, or the length or shape of a text, is outside what its field allows.
    OutOfRange,
    /// A word is not among those its field allows.
    BadEnum,
    /// The `cmd` is none of the protocol's.
    UnknownCmd,
    /// Another request came before `hello` where that must come first.
    HandshakeRequired,
    /// `hello` came twice.
    HandshakeRepeated,
    /// No protocol version is common.
    VersionUnsupported,
    /// A required feature is not there.
    FeatureUnsupported,
    /// The server wants a token.
    AuthRequired,
    /// The token is wrong, or not valid any more.
    AuthFailed,
    /// No connection is kept under this token.
    ResumeUnknown,
    /// Messages that were missed are not kept any more.
    ResumeGap,
    /// The client's role does not allow the request.
    Forbidden,
    /// No connection of that number or client is open.
    ConnectionUnknown,
    /// An operator ended the connection, or it goes on over another socket.
    Disconnected,
    /// A connection took longer than its limits allow: to say hello, or between two requests.
    TimedOut,
    /// All places for connections are taken.
    TooManyConnections,
    /// Too many requests are in flight.
    TooManyRequests,
    /// Too many sessions are open.
    TooManySessions,
    /// No core is free, or more is asked of the cores than they can carry in time.
    Overloaded,
    /// The server takes no new work.
    ShuttingDown,
    /// No session of that name is open.
    SessionUnknown,
    /// The session searches a move.
    SessionBusy,
    /// No game of that name is there.
    GameUnknown,
    /// A rule is unknown or impossible.
    RulesUnsupported,
    /// The position's text cannot be read.
    BadPosition,
    /// The position cannot occur, contradicts the rules, or cannot be searched.
    IllegalPosition,
    /// The rules ran out of their budget before they knew what the position is.
    Undecided,
    /// A move cannot be read or is not legal where it stands.
    IllegalMove,
    /// The game is over, so that there is nothing to search.
    GameOver,
    /// No option of that name is there.
    OptionUnknown,
    /// The option does not take that value.
    OptionInvalid,
    /// The search was cancelled.
    Cancelled,
    /// The request ended before its position was read.
    Unprepared,
    /// The server failed; its log has the details.
    Internal,
    /// A code that this version does not know: the list is open. `fatal` and `retry_ms` of the message say
    /// what a client can do.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Other,
}

shown_as_on_the_wire!(ErrorCode);

impl ErrorCode {
    /// The code with a name of the specification; none if this version does not know it.
    ///
    /// ```
    /// use plyd_protocol::ErrorCode;
    ///
    /// assert_eq!(ErrorCode::named("overloaded"), Some(ErrorCode::Overloaded));
    /// assert_eq!(ErrorCode::named("a_later_one"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name: StrDeserializer<'_, value::Error> = name.into_deserializer();
        Self::deserialize(name).ok().filter(|code| *code != Self::Other)
    }

    /// Every code that is known, in the order of the specification.
    pub const ALL: [Self; 44] = [
        Self::BadUtf8,
        Self::BadJson,
        Self::LineTooLong,
        Self::NotObject,
        Self::BadId,
        Self::DuplicateId,
        Self::MissingField,
        Self::UnknownField,
        Self::WrongType,
        Self::NotInteger,
        Self::OutOfRange,
        Self::BadEnum,
        Self::UnknownCmd,
        Self::HandshakeRequired,
        Self::HandshakeRepeated,
        Self::VersionUnsupported,
        Self::FeatureUnsupported,
        Self::AuthRequired,
        Self::AuthFailed,
        Self::ResumeUnknown,
        Self::ResumeGap,
        Self::Forbidden,
        Self::ConnectionUnknown,
        Self::Disconnected,
        Self::TimedOut,
        Self::TooManyConnections,
        Self::TooManyRequests,
        Self::TooManySessions,
        Self::Overloaded,
        Self::ShuttingDown,
        Self::SessionUnknown,
        Self::SessionBusy,
        Self::GameUnknown,
        Self::RulesUnsupported,
        Self::BadPosition,
        Self::IllegalPosition,
        Self::Undecided,
        Self::IllegalMove,
        Self::GameOver,
        Self::OptionUnknown,
        Self::OptionInvalid,
        Self::Cancelled,
        Self::Unprepared,
        Self::Internal,
    ];

    /// The group that the code belongs to.
    #[must_use]
    pub fn class(self) -> ErrorClass {
        match self {
            code if code <= Self::UnknownCmd => ErrorClass::Line,
            code if code <= Self::TooManyConnections => ErrorClass::Connection,
            code if code <= Self::ShuttingDown => ErrorClass::Resources,
            code if code <= Self::SessionBusy => ErrorClass::Session,
            code if code <= Self::OptionInvalid => ErrorClass::Game,
            Self::Cancelled | Self::Unprepared => ErrorClass::Search,
            _ => ErrorClass::Internal,
        }
    }

    /// Whether the connection closes after an error of this code. (An HTTP request on the raw port is fatal
    /// too; it is answered by a `bad_json` whose message says so.)
    #[must_use]
    pub fn fatal(self) -> bool {
        let goes_on = matches!(
            self,
            Self::HandshakeRepeated
                | Self::ResumeUnknown
                | Self::ResumeGap
                | Self::Forbidden
                | Self::ConnectionUnknown
        );
        self.class() == ErrorClass::Connection && !goes_on
    }
}
