//! What was received, as answers repeat it: text escaped, and cut so that no answer grows with the request.

use serde_json::Value;

use crate::MAX_ECHO;

/// Client text as a message may repeat it: escaped, and cut to 64 characters and an ellipsis.
///
/// ```
/// assert_eq!(plyd_protocol::echo("a\nb"), "a\\nb");
/// ```
#[must_use]
pub fn echo(text: &str) -> String {
    let mut out = String::new();
    let mut room = MAX_ECHO;
    for c in text.chars() {
        let escaped = c.escape_debug();
        match room.checked_sub(escaped.len()) {
            Some(left) => room = left,
            None => return out + "…",
        }
        out.extend(escaped);
    }
    out
}

/// What kind a value is, in words.
///
/// ```
/// assert_eq!(plyd_protocol::kind_of(&serde_json::json!([1])), "an array");
/// ```
#[must_use]
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The JSON pointer to the member `name` (or the item of that index) of what `parent` points to. A name
/// longer than 64 characters is left out, so that the pointer ends at its parent.
///
/// ```
/// assert_eq!(plyd_protocol::pointer("/rules", "a/b"), "/rules/a~1b");
/// ```
#[must_use]
pub fn pointer(parent: &str, name: &str) -> String {
    if name.chars().nth(MAX_ECHO).is_some() {
        return parent.to_owned();
    }
    format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_64_characters_and_never_inside_an_escape() {
        assert_eq!(echo(&"x".repeat(64)), "x".repeat(64));
        assert_eq!(echo(&"x".repeat(65)), "x".repeat(64) + "…");
        assert_eq!(echo(&("x".repeat(63) + "\n")), "x".repeat(63) + "…");
    }

    #[test]
    fn pointers_are_escaped_and_bounded() {
        assert_eq!(pointer("", "~/"), "/~0~1");
        assert_eq!(pointer("/clock", &"é".repeat(64)), format!("/clock/{}", "é".repeat(64)));
        assert_eq!(pointer("/clock", &"é".repeat(65)), "/clock");
    }
}
