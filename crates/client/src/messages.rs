//! Which request a message is about, and whether it is the last one.

use plyd_protocol::Message;

/// Whether the message is the last one about its request.
///
/// ```
/// use plyd_client::is_final;
/// use plyd_protocol::{ErrorCode, ErrorMessage, Message, Notice, NoticeKind};
///
/// let error = ErrorMessage::new(Some("7".to_owned()), 3, ErrorCode::Overloaded, "later");
/// assert!(is_final(&Message::Error(Box::new(error))));
/// assert!(!is_final(&Message::Notice(Notice::new(NoticeKind::GoingAway, "bye"))));
/// ```
#[must_use]
pub fn is_final(message: &Message) -> bool {
    !matches!(message, Message::Info(_) | Message::Notice(_))
}

/// [`is_final`] of a message as plain JSON, which may have fields that this crate does not know.
///
/// ```
/// use plyd_client::is_final_json;
/// use serde_json::json;
///
/// assert!(is_final_json(&json!({ "type": "bestmove", "id": "g" })));
/// assert!(!is_final_json(&json!({ "type": "info", "id": "g" })));
/// ```
#[must_use]
pub fn is_final_json(message: &serde_json::Value) -> bool {
    message["type"].as_str().is_some_and(is_final_type)
}

/// Whether messages of that `type` are final: [`is_final`] by the name of the type alone.
///
/// ```
/// use plyd_client::is_final_type;
///
/// assert!(is_final_type("error") && !is_final_type("notice"));
/// ```
#[must_use]
pub fn is_final_type(name: &str) -> bool {
    matches!(name, "result" | "bestmove" | "error")
}

/// The id of the request that the message is about.
///
/// ```
/// use plyd_client::message_id;
/// use plyd_protocol::{ErrorCode, ErrorMessage, Message};
///
/// let error = ErrorMessage::new(Some("7".to_owned()), 3, ErrorCode::Overloaded, "later");
/// assert_eq!(message_id(&Message::Error(Box::new(error))), Some("7"));
/// ```
#[must_use]
pub fn message_id(message: &Message) -> Option<&str> {
    match message {
        Message::Result(result) => Some(&result.id),
        Message::Info(info) => Some(&info.id),
        Message::BestMove(best) => Some(&best.id),
        Message::Error(error) => error.id.as_deref(),
        Message::Notice(_) => None,
    }
}
