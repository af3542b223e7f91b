//! What the ladder is answered, as JSON.

use serde_json::{Map, Value, json};

/// An object of JSON.
pub(super) type Object = Map<String, Value>;

/// A result without more in it.
pub(super) fn result(id: &str, of: &str) -> Object {
    [("type", "result"), ("id", id), ("of", of)]
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .into_iter()
        .collect()
}

/// The answer to what a process was asked that failed.
pub(super) fn failed(id: &str, why: &str) -> Object {
    error(id, "internal", &format!("the bot failed: {why}"))
}

/// An error for the ladder.
pub(super) fn error(id: &str, code: &str, message: &str) -> Object {
    let error = json!({ "type": "error", "id": id, "code": code, "message": message, "fatal": false });
    match error {
        Value::Object(error) => error,
        _ => Object::new(),
    }
}
