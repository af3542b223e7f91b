//! Comparing two final messages without what differs from run to run.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

/// Fields that belong to one run only, or to one release.
const VOLATILE: [&str; 9] =
    ["seq", "t_us", "timing", "nps", "time_ms", "skipped", "uptime_ms", "version", "token"];
/// Fields of a `bestmove` that depend on how far the search came.
const PROGRESS: [&str; 4] = ["move", "ponder", "lines", "stats"];
/// Lists to which a later release may add games: the `games` of a `hello`, the body of a `describe`.
const GROWING: [&str; 2] = ["/games", "/body"];
/// What an error's message says before it lists the games.
const GAMES: &str = "the games are: ";
/// The reasons of a `bestmove` that do not depend on time.
const REPEATABLE: [&str; 3] = ["proven", "limit", "only_move"];

/// A place where two messages differ.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Part {
    /// A JSON pointer.
    pointer: String,
    recorded: Option<Value>,
    received: Option<Value>,
}

impl fmt::Display for Part {
    /// The recorded value behind a minus, the received one behind a plus.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = &self.pointer;
        match (&self.recorded, &self.received) {
            (Some(recorded), Some(received)) => {
                write!(f, "  - {pointer} {recorded}\n  + {pointer} {received}")
            }
            (Some(recorded), None) => write!(f, "  - {pointer} {recorded}"),
            (None, Some(received)) => write!(f, "  + {pointer} {received}"),
            (None, None) => Ok(()),
        }
    }
}

/// The places where two finals differ, in the order of their fields' names; none if they say the same.
/// `timed`: the limit that ended the search may have been one of time.
pub(super) fn parts(recorded: &Value, received: &Value, timed: bool) -> Vec<Part> {
    let (mut recorded, mut received) = (recorded.clone(), received.clone());
    let raced = is_raced(&recorded, timed) && is_raced(&received, timed);
    for message in [&mut recorded, &mut received] {
        strip(message);
        if let (true, Value::Object(fields)) = (raced, message) {
            PROGRESS.iter().for_each(|name| drop(fields.remove(*name)));
        }
    }
    let mut parts = Vec::new();
    walk(String::new(), Some(&recorded), Some(&received), &mut parts);
    parts
}

/// Whether the clock or another request ended the search, so that its depth depends on chance.
fn is_raced(message: &Value, timed: bool) -> bool {
    let reason = message["reason"].as_str();
    let repeats = reason.is_some_and(|it| REPEATABLE.contains(&it)) && !(timed && reason == Some("limit"));
    message["type"] == "bestmove" && !repeats
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !VOLATILE.contains(&name.as_str()));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        Value::String(text) => text.truncate(text.find(GAMES).map_or(text.len(), |at| at + GAMES.len())),
        _ => (),
    }
}

/// What a game is called in a list of games; nothing else has a name there.
fn name(item: &Value) -> Option<&str> {
    item.as_str().or_else(|| item["name"].as_str())
}

fn walk(pointer: String, recorded: Option<&Value>, received: Option<&Value>, parts: &mut Vec<Part>) {
    match (recorded, received) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for name in names {
                walk(plyd_protocol::pointer(&pointer, name), a.get(name), b.get(name), parts);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            let is_new = |item: &&Value| {
                name(item).is_some_and(|received| a.iter().all(|item| name(item) != Some(received)))
            };
            let is_growing = GROWING.contains(&pointer.as_str());
            let b: Vec<&Value> = b.iter().filter(|item| !(is_growing && is_new(item))).collect();
            for index in 0..a.len().max(b.len()) {
                walk(format!("{pointer}/{index}"), a.get(index), b.get(index).copied(), parts);
            }
        }
        (recorded, received) if recorded != received => {
            parts.push(Part { pointer, recorded: recorded.cloned(), received: received.cloned() });
        }
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pointers(recorded: &Value, received: &Value) -> Vec<String> {
        parts(recorded, received, false).into_iter().map(|part| part.pointer).collect()
    }

    fn best(reason: &str, nodes: u64) -> Value {
        json!({"type": "bestmove", "reason": reason, "move": "a", "seq": nodes, "hash": "1f",
            "lines": [{"pv": ["a"]}], "stats": {"nodes": nodes, "nps": nodes, "time_ms": nodes}})
    }

    #[test]
    fn stamps_never_count_and_nodes_only_without_a_race() {
        assert_eq!(pointers(&best("limit", 1), &best("limit", 1)), [""; 0]);
        assert_eq!(pointers(&best("limit", 1), &best("limit", 2)), ["/stats/nodes"]);
        assert_eq!(pointers(&best("stopped", 1), &best("stopped", 2)), [""; 0]);
        assert_eq!(pointers(&best("stopped", 1), &best("limit", 1)), ["/reason"]);
        assert!(parts(&best("limit", 1), &best("limit", 2), true).is_empty());
        assert!(!parts(&best("proven", 1), &best("proven", 2), true).is_empty());
    }

    #[test]
    fn games_that_are_new_are_no_difference() {
        let hello = |games: &[&str]| json!({"games": games, "features": ["a"]});
        let body = |games: &[&str]| json!({"body": games.iter().map(|name| json!({"name": name, "about": 1})).collect::<Vec<_>>()});
        let refused = |games: &str| json!({"message": format!("no game `x`; the games are: {games}")});
        assert_eq!(pointers(&hello(&["a", "b"]), &hello(&["c", "a", "b"])), [""; 0]);
        assert_eq!(pointers(&hello(&["a", "b"]), &hello(&["b", "c"])), ["/games/0", "/games/1"]);
        assert_eq!(pointers(&body(&["a"]), &body(&["a", "c"])), [""; 0]);
        assert_eq!(pointers(&body(&["a"]), &json!({"body": [{"name": "a"}]})), ["/body/0/about"]);
        assert_eq!(pointers(&refused("a"), &refused("a, c")), [""; 0]);
        assert_eq!(pointers(&json!({"features": ["a"]}), &json!({"features": ["a", "b"]})), ["/features/1"]);
    }

    #[test]
    fn missing_and_further_parts_are_listed() {
        let recorded = json!({"a": [1, 2], "b/c": null});
        let received = json!({"a": [1], "d": true});
        let lines: Vec<String> = parts(&recorded, &received, false).iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["  - /a/1 2", "  - /b~1c null", "  + /d true"]);
        let lines = parts(&json!({"a": 1}), &json!({"a": 2}), false)[0].to_string();
        assert_eq!(lines, "  - /a 1\n  + /a 2");
    }
}
