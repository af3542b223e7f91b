//! The result of a check.

use serde::Serialize;
use serde_json::Value;

/// The most characters of a text that a report repeats.
const LONGEST_TEXT: usize = 600;

/// How a check ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As the specification says.
    Passed,
    /// Right, but now and then later than promised: a warning.
    Slow,
    /// The server does not offer what the check needs, or the transport has no such thing.
    Skipped,
    /// Not as the specification says.
    Failed,
}

impl Verdict {
    /// The verdict as tables print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Slow => "slow",
            Self::Skipped => "skipped",
            Self::Failed => "FAILED",
        }
    }
}

/// Why a check ended early.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    /// Anything but passed.
    pub verdict: Verdict,
    /// What the specification says, or what a skipped check needs.
    pub expected: String,
    /// What came.
    pub came: String,
    /// Whether it failed by its times alone, which another look may refute.
    pub is_late: bool,
}

/// The result of a check's steps.
pub(super) type Checked<T = ()> = Result<T, Stop>;

impl Stop {
    /// Something is not as the specification says.
    pub(super) fn failed(expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Failed,
            expected: cut(expected.into()),
            came: cut(came.into()),
            is_late: false,
        }
    }

    /// Something came too late.
    pub(super) fn late(expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { is_late: true, ..Self::failed(expected, came) }
    }

    /// The same failure as one that a busy machine may have caused, so that the check is made again.
    pub(super) fn if_repeated(self) -> Self {
        Self { is_late: true, ..self }
    }

    /// Something came late, but came.
    pub(super) fn slow(expected: impl Into<String>, came: impl Into<String>) -> Self {
        Self { verdict: Verdict::Slow, ..Self::failed(expected, came) }
    }

    /// What the check needs is not there.
    pub(super) fn skipped(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Skipped, ..Self::failed(why, "") }
    }

    /// Puts a place before what was expected.
    pub(super) fn at(self, place: &str) -> Self {
        Self { expected: cut(format!("{place}: {}", self.expected)), ..self }
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// Fails unless `is_so`.
pub(super) fn holds(is_so: bool, expected: impl Into<String>, came: impl FnOnce() -> String) -> Checked {
    if is_so { Ok(()) } else { Err(Stop::failed(expected, came())) }
}

/// Fails unless the message has each of these fields with that value; objects in it may have further fields.
pub(super) fn like(message: &Value, fields: &Value) -> Checked {
    holds(matches(message, fields), fields.to_string(), || message.to_string())
}

fn matches(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(fields), Value::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| fields.get(name).is_some_and(|field| matches(field, wanted)))
        }
        _ => value == wanted,
    }
}

/// Fails if the message has that field.
pub(super) fn absent(message: &Value, field: &str) -> Checked {
    holds(message.get(field).is_none(), format!("no `{field}`"), || message.to_string())
}

/// A text among a message's fields.
pub(super) fn text<'m>(message: &'m Value, field: &str) -> Checked<&'m str> {
    message[field].as_str().ok_or_else(|| Stop::failed(format!("a text `{field}`"), message.to_string()))
}

/// A whole number among a message's fields.
pub(super) fn number(message: &Value, field: &str) -> Checked<u64> {
    message[field].as_u64().ok_or_else(|| Stop::failed(format!("a number `{field}`"), message.to_string()))
}

/// A list among a message's fields.
pub(super) fn list<'m>(message: &'m Value, field: &str) -> Checked<&'m Vec<Value>> {
    message[field].as_array().ok_or_else(|| Stop::failed(format!("a list `{field}`"), message.to_string()))
}

/// A list of texts among a message's fields.
pub(super) fn texts(message: &Value, field: &str) -> Checked<Vec<String>> {
    let items = list(message, field)?.iter().map(|item| item.as_str().map(str::to_owned));
    items
        .collect::<Option<_>>()
        .ok_or_else(|| Stop::failed(format!("texts in `{field}`"), message.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_message_may_say_more_than_is_asked_for() {
        let message = json!({ "a": 1, "b": { "c": [1], "d": 2 } });
        for (fields, is_like) in [
            (json!({}), true),
            (json!({ "a": 1 }), true),
            (json!({ "b": { "d": 2 } }), true),
            (json!({ "a": null }), false),
            (json!({ "e": null }), false),
            (json!({ "b": { "c": [] } }), false),
        ] {
            assert_eq!(like(&message, &fields).is_ok(), is_like, "{fields}");
        }
        assert!(absent(&message, "e").is_ok() && absent(&message, "a").is_err());
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let stop = Stop::failed("ü".repeat(2 * LONGEST_TEXT), "short");
        assert_eq!((stop.expected.chars().count(), &*stop.came), (LONGEST_TEXT + 3, "short"));
    }
}
