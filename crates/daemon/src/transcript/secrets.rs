//! What a record keeps of a line: records are passed around, and must not contain a token.
//!
//! A token belongs in the field `token`, or in that of `resume`, and is blotted out there. A client that errs
//! may send it anywhere: a line that holds the server's own token elsewhere is withheld as a whole, and so is
//! a bad line that may have the field. Of the clients that are known by name, and of the connections that are
//! kept, there are only hashes: their tokens are found by the mark that they have.

use std::borrow::Cow;
use std::io;

use serde_json::value::{RawValue, to_raw_value};

use crate::config::clients::holds_token;

/// What is kept of a line that may hold a token which cannot be blotted out.
const WITHHELD: &str = "a bad line that may hold a token";
/// What is kept of an object that holds a token where none belongs.
const MISPLACED: &str = "a line that holds the token in the wrong place";

/// A line as the record keeps it: an object as it was written, without its token; anything else as a text.
///
/// # Errors
/// The text is no JSON, which cannot happen.
pub(super) fn message(bytes: &[u8], token: Option<&str>) -> io::Result<Box<RawValue>> {
    // A token is whole UTF-8, so that it comes through whatever stands before it.
    let line = String::from_utf8_lossy(bytes);
    let is_in = |text: &str| {
        token.is_some_and(|token| holds(text, token)) || holds_token(text) || holds_token(&unescaped(text))
    };
    let message = match serde_json::from_str::<&RawValue>(&line) {
        Ok(raw) if raw.get().starts_with('{') => {
            let kept = hide_token(raw)?.unwrap_or_else(|| raw.to_owned());
            if is_in(kept.get()) { to_raw_value(MISPLACED)? } else { kept }
        }
        Ok(_) | Err(_) if may_name_token(&line) || is_in(&line) => to_raw_value(WITHHELD)?,
        Ok(_) | Err(_) => to_raw_value(&line)?,
    };
    Ok(message)
}

/// Whether the word may stand in a line, as it is or with escapes.
fn may_name_token(line: &str) -> bool {
    line.contains("token") || line.contains("\\u")
}

/// The object with its token blotted out, if it has one.
fn hide_token(raw: &RawValue) -> io::Result<Option<Box<RawValue>>> {
    if !may_name_token(raw.get()) {
        return Ok(None);
    }
    let Ok(mut object) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get()) else {
        // Nested too deep, or a number or an escape that stands for nothing.
        return to_raw_value(WITHHELD).map(Some).map_err(io::Error::from);
    };
    let mut is_hidden = false;
    if let Some(token) = object.get_mut("token") {
        *token = "hidden".into();
        is_hidden = true;
    }
    let resume = object.get_mut("resume").and_then(serde_json::Value::as_object_mut);
    if let Some(token) = resume.and_then(|resume| resume.get_mut("token")) {
        *token = "hidden".into();
        is_hidden = true;
    }
    if is_hidden { Ok(Some(to_raw_value(&object)?)) } else { Ok(None) }
}

/// Whether a token stands in a text, as it is or with the escapes of JSON.
fn holds(text: &str, token: &str) -> bool {
    !token.is_empty() && (text.contains(token) || unescaped(text).contains(token))
}

/// A text with the escapes of JSON replaced by what they stand for; the text need be no JSON.
fn unescaped(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find('\\') else { return Cow::Borrowed(text) };
    let mut plain = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        plain.push(match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => code_point(&mut rest),
            itself => itself,
        });
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The character whose digits a text begins with, behind `\u`; takes them off, and a second half with them.
fn code_point(rest: &mut &str) -> char {
    let unit = |text: &str| {
        let digits = text.get(..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        digits.and_then(|digits| u16::from_str_radix(digits, 16).ok())
    };
    let Some(first) = unit(rest) else { return char::REPLACEMENT_CHARACTER };
    *rest = &rest[4..];
    let second = rest.strip_prefix("\\u").and_then(unit);
    let decoded = char::decode_utf16([first].into_iter().chain(second)).next();
    let decoded = decoded.and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    if decoded.len_utf16() == 2 {
        *rest = &rest["\\uXXXX".len()..];
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_are_kept_as_json_and_no_token_is() {
        for (line, kept) in [
            (r#"{"id":"1", "cmd":"ping"}"#, r#"{"id":"1", "cmd":"ping"}"#),
            (r#"{"id":"1","token":"secret"}"#, r#"{"id":"1","token":"hidden"}"#),
            (r#"{"id":"1","cmd":"ping","echo":"token"}"#, r#"{"id":"1","cmd":"ping","echo":"token"}"#),
            (r#"{"resume":{"seq":1,"token":"secret"}}"#, r#"{"resume":{"seq":1,"token":"hidden"}}"#),
            (r#"{"resume":"a token"}"#, r#"{"resume":"a token"}"#),
            (r#"{"resume":{"token":1},"token":2}"#, r#"{"resume":{"token":"hidden"},"token":"hidden"}"#),
            ("null", r#""null""#),
            (r#""abc""#, r#""\"abc\"""#),
            (r#"{"id":"#, r#""{\"id\":""#),
            (r#"{"id":"1","token":"secret""#, r#""a bad line that may hold a token""#),
            (r#"{"id":"1","\u0074oken":"secret"}"#, r#"{"id":"1","token":"hidden"}"#),
        ] {
            assert_eq!(message(line.as_bytes(), None).unwrap().get(), kept);
        }
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for line in [
            r#"{"id":"1","\u0074oken":"secret""#,
            r#"["\u0074oken","secret"]"#,
            r#"{"token":"secret","x":"\ud800"}"#,
            r#"{"token":"secret","x":1e999}"#,
            &format!(r#"{{"token":"secret","x":{deep}}}"#),
        ] {
            assert!(!message(line.as_bytes(), None).unwrap().get().contains("secret"), "{line}");
        }
    }

    #[test]
    fn the_servers_token_is_kept_nowhere() {
        let token = "s3\"cr\u{e9}t/\u{1f511}";
        for line in [
            "s3\"cr\u{e9}t/\u{1f511}".as_bytes(),
            b"\xff s3\"cr\xc3\xa9t/\xf0\x9f\x94\x91 \xe2\x82",
            b"\xe2\x82s3\"cr\xc3\xa9t/\xf0\x9f\x94\x91",
            r#""s3\"crét/🔑""#.as_bytes(),
            br#"["s3\"cr\u00e9t\/\ud83d\udd11"]"#,
            br#"{"id":"s3\"cr\u00e9t\/\uD83D\uDD11""#,
            r#"{"id":"s3\"crét/🔑"}"#.as_bytes(),
            br#"{"id":"1","cmd":"ping","echo":"\u00733\"cr\u00E9t\/\ud83d\udd11"}"#,
            r#"{"s3\"crét/🔑":[1]}"#.as_bytes(),
            r#"{"id":"s3\"crét/🔑","token":"s3\"crét/🔑"}"#.as_bytes(),
        ] {
            let kept = message(line, Some(token)).unwrap();
            let text: String = serde_json::from_str(kept.get()).unwrap();
            assert!([WITHHELD, MISPLACED].contains(&text.as_str()), "{text}");
        }
        // Nothing else is withheld, least of all a `hello`.
        for (line, kept) in [
            (r#"{"id":"1","token":"s3\"crét/🔑"}"#, r#"{"id":"1","token":"hidden"}"#),
            (r#"{"id":"1","echo":"s3\"crét"}"#, r#"{"id":"1","echo":"s3\"crét"}"#),
            ("s3", r#""s3""#),
        ] {
            assert_eq!(message(line.as_bytes(), Some(token)).unwrap().get(), kept);
        }
    }

    #[test]
    fn a_clients_token_is_kept_nowhere_not_even_the_part_that_a_message_repeats() {
        let made = crate::config::clients::new_token(&[0x5e; 32]);
        for line in [
            made.clone(),
            format!(r#"["{made}"]"#),
            format!(r#"{{"id":"1","cmd":"ping","echo":"is it {made}?"}}"#),
            format!(r#"{{"id":"1","cmd":"hello","x_more":{{"token":"{made}"}}}}"#),
            format!(r#"{{"id":"1","cmd":"hello","token":"wrong","client":{{"name":"{made}"}}}}"#),
            format!(r#"{{"id":"{}"#, made.replace("yd_5", r"\u0079d\u005f5")),
            format!(r#"{{"id":"{}"}}"#, made.replace("yd_5", r"yd\u005f5")),
            format!(r#"{{"type":"error","message":"`{}` is no command"}}"#, &made[..64]),
        ] {
            let kept = message(line.as_bytes(), None).unwrap();
            let text: String = serde_json::from_str(kept.get()).unwrap();
            assert!([WITHHELD, MISPLACED].contains(&text.as_str()), "{text}");
        }
        let hello = format!(r#"{{"id":"1","cmd":"hello","token":"{made}"}}"#);
        let kept = message(hello.as_bytes(), None).unwrap();
        assert_eq!(kept.get(), r#"{"cmd":"hello","id":"1","token":"hidden"}"#);
    }

    #[test]
    fn escapes_stand_for_characters_and_broken_ones_for_nothing() {
        for (text, plain) in [
            ("plain", "plain"),
            (r#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{c}\n\r\t"),
            (r"a\u0041\u00e9\ud83d\udd11z", "aA\u{e9}\u{1f511}z"),
            (r"\ud83dx\udd11", "\u{fffd}x\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\u00g0\u+041", "\u{fffd}00g0\u{fffd}+041"),
            (r"\u00", "\u{fffd}00"),
            ("end\\", "end"),
        ] {
            assert_eq!(unescaped(text), plain, "{text}");
        }
    }
}
