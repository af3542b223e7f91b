//! Requests that several test files send.

use serde_json::{Value, json};

use super::Peer;

/// `request` with further fields.
pub(crate) fn with(mut request: Value, fields: &Value) -> Value {
    let fields = fields.as_object().expect("an object of fields").clone();
    request.as_object_mut().expect("an object").extend(fields);
    request
}

/// A list of texts.
pub(crate) fn texts(list: &Value) -> Vec<String> {
    let text = |text: &Value| text.as_str().expect("a text").to_owned();
    list.as_array().unwrap_or_else(|| panic!("no list: {list}")).iter().map(text).collect()
}

/// What `inspect` answers; `game` holds the fields that name a session or a game and its rules.
pub(crate) fn inspect(peer: &mut Peer, game: &Value, position: &Value, want: &[&str]) -> Value {
    let request = json!({ "id": "inspect", "cmd": "inspect", "position": position, "want": want });
    peer.result(&with(request, game))
}

/// A `go` on a board that no search solves, with further fields, which may name a session opened on such a
/// board.
pub(crate) fn go(id: &str, fields: Value) -> Value {
    let mut request = json!({
        "id": id, "cmd": "go", "position": {}, "info": { "events": ["started", "best"] },
    });
    if fields.get("session").is_none() {
        request["game"] = json!("isolation");
        request["rules"] = json!({ "preset": "11x9" });
    }
    with(request, &fields)
}

/// A clock without end.
pub(crate) fn endless() -> Value {
    json!({ "kind": "none" })
}

/// Opens a session on that board.
pub(crate) fn open(peer: &mut Peer, session: &str) {
    let rules = json!({ "preset": "11x9" });
    peer.result(
        &json!({ "id": "n", "cmd": "newgame", "session": session, "game": "isolation", "rules": rules }),
    );
}

/// A `stop` of that request.
pub(crate) fn stop(target: &str) -> Value {
    json!({ "id": format!("stop-{target}"), "cmd": "stop", "target": target })
}

/// Where the final message of the id stands among all messages.
pub(crate) fn place(peer: &Peer, id: &str) -> usize {
    let is_final = |message: &&Value| message["id"] == id && message["type"] != "info";
    let found = peer.log.iter().rfind(is_final).unwrap_or_else(|| panic!("no final message of {id}"));
    found["seq"].as_u64().expect("a seq") as usize
}

/// Where the first message of the id stands among all messages.
pub(crate) fn first_place(peer: &Peer, id: &str) -> usize {
    let found =
        peer.log.iter().find(|message| message["id"] == id).unwrap_or_else(|| panic!("nothing of {id}"));
    found["seq"].as_u64().expect("a seq") as usize
}
