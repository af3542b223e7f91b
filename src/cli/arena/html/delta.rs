//! What changes from one JSON value to the next, so that the boards of a game take little more room than its
//! moves.
//!
//! - An object `{key: change}` changes those members, of an object or an array; `length` shortens or
//!   lengthens an array.
//! - An array `[value]` is a value instead of what was there, or anew.
//! - An empty array removes the member.

use serde_json::{Map, Value};

/// What turns `old` into `new`.
pub(super) fn delta(old: &Value, new: &Value) -> Value {
    changes(old, new).unwrap_or_else(|| Value::Object(Map::new()))
}

/// The same; none if nothing changes.
fn changes(old: &Value, new: &Value) -> Option<Value> {
    match (old, new) {
        _ if old == new => None,
        (Value::Object(old), Value::Object(new)) => {
            let gone = old.keys().filter(|key| !new.contains_key(*key));
            let gone = gone.map(|key| (key.clone(), Value::Array(Vec::new())));
            let changed =
                new.iter().filter_map(|(key, value)| Some((key.clone(), member(old.get(key), value)?)));
            Some(Value::Object(gone.chain(changed).collect()))
        }
        (Value::Array(old), Value::Array(new)) => {
            let length = (old.len() != new.len()).then(|| ("length".to_owned(), new.len().into()));
            let changed = new
                .iter()
                .enumerate()
                .filter_map(|(index, value)| Some((index.to_string(), member(old.get(index), value)?)));
            Some(Value::Object(length.into_iter().chain(changed).collect()))
        }
        _ => Some(Value::Array(vec![new.clone()])),
    }
}

fn member(old: Option<&Value>, new: &Value) -> Option<Value> {
    match old {
        Some(old) => changes(old, new),
        None => Some(Value::Array(vec![new.clone()])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// As the page's script has it.
    fn patched(old: Option<&Value>, delta: &Value) -> Value {
        let members = match delta {
            Value::Array(new) => return new[0].clone(),
            Value::Object(members) => members,
            other => panic!("{other}"),
        };
        match old {
            Some(Value::Array(old)) => {
                let length = members.get("length").and_then(Value::as_u64).map_or(old.len(), |n| n as usize);
                let part = |index: usize| match members.get(&index.to_string()) {
                    Some(part) => patched(old.get(index), part),
                    None => old[index].clone(),
                };
                Value::Array((0..length).map(part).collect())
            }
            Some(Value::Object(old)) => {
                let mut new = old.clone();
                for (key, part) in members {
                    if part == &json!([]) {
                        new.remove(key);
                    } else {
                        new.insert(key.clone(), patched(old.get(key), part));
                    }
                }
                Value::Object(new)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn changes_lead_from_each_value_to_each_other() {
        let values = [
            json!({}),
            json!({ "a": 1 }),
            json!({ "a": 1, "b": [1, 2, 3] }),
            json!({ "a": 2, "b": [1, 5] }),
            json!({ "b": [] }),
            json!({ "b": [{ "c": [] }, null, "x", [[1]]] }),
            json!({ "b": [{ "c": [1], "d": {} }, 1, [2], [[2], 3]] }),
            json!({ "a": null, "b": { "0": 1, "length": 7 } }),
        ];
        for old in &values {
            for new in &values {
                let delta = delta(old, new);
                assert_eq!(&patched(Some(old), &delta), new, "{old} to {new} by {delta}");
            }
        }
        assert_eq!(delta(&values[2], &values[2]), json!({}), "nothing changes");
        assert_eq!(delta(&values[2], &values[3]), json!({ "a": [2], "b": { "length": 2, "1": [5] } }));
    }
}
