//! What to say of a server that closes a connection before it answers: it may speak TLS.

use std::io::ErrorKind;

use crate::client::{Address, ClientError, LineError};

/// Why there is no answer to a greeting, with what to ask instead if TLS is served there.
pub(super) fn unanswered(address: &Address, error: &ClientError) -> String {
    hint(address, error).map_or_else(|| error.to_string(), |hint| format!("{error}. {hint}"))
}

/// What to ask instead, if such an error may mean TLS: its servers close a connection that speaks something
/// else.
pub(super) fn hint(address: &Address, error: &ClientError) -> Option<String> {
    let is_cut = match error {
        ClientError::Line(LineError::Closed) => true,
        ClientError::Line(LineError::Connect(error)) => matches!(
            error.kind(),
            ErrorKind::ConnectionReset | ErrorKind::InvalidData | ErrorKind::UnexpectedEof
        ),
        _ => false,
    };
    match address {
        Address::Tcp(place) if is_cut => Some(instead(&format!("tls={place}"))),
        Address::WebSocket(place) if is_cut => Some(instead(&format!("wss={place}"))),
        _ => None,
    }
}

/// What to ask instead, if TLS is served there.
pub(super) fn instead(place: &str) -> String {
    format!("If it serves TLS, ask {place} by a name that its certificate has")
}
