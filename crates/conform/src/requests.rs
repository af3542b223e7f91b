//! Requests that several groups send.

use serde_json::{Value, json};

/// `request` with further fields.
pub(super) fn with(mut request: Value, fields: &Value) -> Value {
    if let (Some(request), Some(fields)) = (request.as_object_mut(), fields.as_object()) {
        request.extend(fields.clone());
    }
    request
}

/// A `ping`.
pub(super) fn ping(id: &str) -> Value {
    json!({ "id": id, "cmd": "ping" })
}

/// A `go` at a game's start that asks for `started` and `best`; `whose` names a session, or a game and its
/// rules.
pub(super) fn go(id: &str, whose: &Value, fields: Value) -> Value {
    let request = json!({ "id": id, "cmd": "go", "position": {}, "info": { "events": ["started", "best"] } });
    with(with(request, whose), &fields)
}

/// A `stop` under the id `stop-TARGET`.
pub(super) fn stop(target: &str) -> Value {
    json!({ "id": format!("stop-{target}"), "cmd": "stop", "target": target })
}

/// An `update` under the id `update-TARGET`.
pub(super) fn update(target: &str, fields: Value) -> Value {
    with(json!({ "id": format!("update-{target}"), "cmd": "update", "target": target }), &fields)
}

/// An `inspect`; `whose` as in [`go`].
pub(super) fn inspect(id: &str, whose: &Value, position: &Value, want: &[&str]) -> Value {
    with(json!({ "id": id, "cmd": "inspect", "position": position, "want": want }), whose)
}

/// A `newgame` of that game under those rules.
pub(super) fn newgame(session: &str, game: &Value, fields: Value) -> Value {
    with(with(json!({ "id": format!("new-{session}"), "cmd": "newgame", "session": session }), game), &fields)
}

/// A session, as [`go`] and [`inspect`] name it.
pub(super) fn session(name: &str) -> Value {
    json!({ "session": name })
}

/// A clock without end.
pub(super) fn endless() -> Value {
    json!({ "clock": { "kind": "none" } })
}

/// The position some plies later.
pub(super) fn after(position: &Value, plies: &[String]) -> Value {
    let mut moves = position["moves"].as_array().cloned().unwrap_or_default();
    moves.extend(plies.iter().map(|ply| json!(ply)));
    with(position.clone(), &json!({ "moves": moves }))
}
