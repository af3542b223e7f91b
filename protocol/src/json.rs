//! From bytes to a tree, as strictly as the protocol wants JSON: no byte-order mark, no key twice, no lone
//! surrogate, no number past an f64, at most [`MAX_DEPTH`] levels. It knows no field and no command.
//!
//! Two passes: serde_json checks the syntax, and unescapes strings; the tree is read here. So numbers keep
//! their source text, each value its place in the line, nothing recurses deeper than the limit, and depth
//! costs nothing.

use crate::{ErrorCode, MAX_DEPTH, echo};
use serde_json::value::RawValue;
use std::fmt;

/// A value and the byte at which it starts in the line.
#[derive(Debug, PartialEq)]
pub(crate) struct Node {
    pub at: usize,
    pub value: Value,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// The number's source text.
    Number(String),
    String(String),
    Array(Vec<Node>),
    /// The fields in the order of the line.
    Object(Vec<(String, Node)>),
}

impl Value {
    /// The type's name with its article, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// Why a line is no JSON object, and in which words.
#[derive(Debug, PartialEq)]
pub(crate) struct Malformed {
    pub code: ErrorCode,
    pub message: String,
}

impl Malformed {
    fn json(message: impl fmt::Display) -> Self {
        Self { code: ErrorCode::BadJson, message: message.to_string() }
    }

    /// What serde_json says, with the place as a byte of the line, counted from 1: an error has a field
    /// `line` of its own. A message of a WebSocket may hold line feeds.
    fn syntax(text: &str, error: &serde_json::Error) -> Self {
        let said = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let before: usize =
            text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        Self::json(format_args!("{} at byte {}", said.trim_end_matches(&place), before + error.column()))
    }

    /// What is left to go wrong once the syntax is checked: serde_json looks at surrogates only when it
    /// unescapes.
    fn surrogate(_: serde_json::Error) -> Self {
        Self::json("a lone surrogate in a string")
    }
}

/// Reads a line into the fields of its object.
pub(crate) fn parse(line: &[u8]) -> Result<Vec<(String, Node)>, Malformed> {
    let text = str::from_utf8(line).map_err(|error| Malformed {
        code: ErrorCode::BadUtf8,
        message: format!("not UTF-8 at byte {}", error.valid_up_to() + 1),
    })?;
    if text.starts_with('\u{feff}') {
        return Err(Malformed::json("a byte-order mark"));
    }
    let _checked: &RawValue = serde_json::from_str(text).map_err(|error| Malformed::syntax(text, &error))?;
    match (Reader { line: text, at: 0 }).node(1)?.value {
        Value::Object(fields) => Ok(fields),
        other => Err(Malformed {
            code: ErrorCode::NotObject,
            message: format!("expected an object, found {}", other.kind()),
        }),
    }
}

/// Reads text whose syntax is already checked, in one pass.
struct Reader<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads one value; `depth` is the level of it if it nests.
    fn node(&mut self, depth: usize) -> Result<Node, Malformed> {
        let first = self.peek();
        let at = self.at;
        if depth > MAX_DEPTH && matches!(first, Some(b'{' | b'[')) {
            return Err(Malformed::json(format_args!("nested deeper than {MAX_DEPTH}")));
        }
        let value = match first {
            Some(b'{') => Value::Object(self.object(depth)?),
            Some(b'[') => {
                let mut items = Vec::new();
                while self.enter(b']') {
                    items.push(self.node(depth + 1)?);
                }
                Value::Array(items)
            }
            Some(b'"') => Value::String(self.string()?),
            _ => match self.word() {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "null" => Value::Null,
                text => Value::Number(number(text)?),
            },
        };
        Ok(Node { at, value })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<(String, Node)>, Malformed> {
        let mut fields = Vec::new();
        while self.enter(b'}') {
            let name = self.string()?;
            self.peek();
            // The colon.
            self.at += 1;
            fields.push((name, self.node(depth + 1)?));
        }
        let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Malformed::json(format_args!("the key `{}` twice", echo(pair[0]))));
        }
        Ok(fields)
    }

    /// Skips the bracket or comma at hand; whether a value follows. If not, skips the closing bracket.
    fn enter(&mut self, close: u8) -> bool {
        if self.peek() != Some(close) {
            self.at += 1;
        }
        let follows = self.peek().is_some_and(|byte| byte != close);
        self.at += usize::from(!follows);
        follows
    }

    fn string(&mut self) -> Result<String, Malformed> {
        let mut escaped = false;
        let ends = |byte: u8| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        };
        let inner = self.line.as_bytes()[self.at + 1..].iter().copied().position(ends);
        let text = self.take(inner.expect("the syntax was checked") + 2);
        serde_json::from_str(text).map_err(Malformed::surrogate)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> &'a str {
        let rest = &self.line[self.at..];
        self.take(rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len()))
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.line.as_bytes()[self.at..];
        let space = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.at += space;
        rest.get(space).copied()
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let text = &self.line[self.at..self.at + bytes];
        self.at += bytes;
        text
    }
}

/// An integer of any length, or a fraction that an f64 can hold.
fn number(text: &str) -> Result<String, Malformed> {
    let integer = !text.contains(['.', 'e', 'E']);
    if integer || text.parse().is_ok_and(f64::is_finite) {
        Ok(text.to_owned())
    } else {
        Err(Malformed::json("number out of range"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &[u8]) -> Option<ErrorCode> {
        parse(line).err().map(|malformed| malformed.code)
    }

    #[test]
    fn numbers_keep_their_text_and_values_their_place() {
        let fields = parse(br#" {"a": -0, "b": [1.50e2]}"#).unwrap();
        assert_eq!(fields[0].1, Node { at: 7, value: Value::Number("-0".into()) });
        let inner = Node { at: 17, value: Value::Number("1.50e2".into()) };
        assert_eq!(fields[1].1, Node { at: 16, value: Value::Array(vec![inner]) });
    }

    #[test]
    fn white_space_and_escapes_end_nothing_early() {
        let fields = parse(br#"{ "a\"}" : [ ] , "b" : [ "\\" , {} , "]," ,-1 , true,null ] } "#).unwrap();
        let Value::Array(items) = &fields[1].1.value else { panic!("{fields:?}") };
        let values: Vec<&Value> = items.iter().map(|item| &item.value).collect();
        let text = |text: &str| Value::String(text.into());
        let number = Value::Number("-1".into());
        let (slash, bracket) = (text("\\"), text("],"));
        let object = Value::Object(Vec::new());
        assert_eq!((fields[0].0.as_str(), &fields[0].1.value), ("a\"}", &Value::Array(Vec::new())));
        assert_eq!(values, [&slash, &object, &bracket, &number, &Value::Bool(true), &Value::Null]);
    }

    #[test]
    fn depth_costs_nothing() {
        let time = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            let line = format!("{{\"x\":{open}\"{}\"{close}}}", "x".repeat(1 << 20));
            let run = || {
                let start = std::time::Instant::now();
                assert!(parse(line.as_bytes()).is_ok());
                start.elapsed()
            };
            (0..10).map(|_| run()).min()
        };
        let (flat, deep) = (time(0).unwrap(), time(MAX_DEPTH - 1).unwrap());
        assert!(deep < flat * 4, "{deep:?} for a deep line, {flat:?} for a flat one");
    }

    #[test]
    fn depth_is_limited_to_the_level() {
        let nested = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n - 1), "]".repeat(n - 1));
        assert_eq!(code(nested(MAX_DEPTH).as_bytes()), None);
        assert_eq!(code(nested(MAX_DEPTH + 1).as_bytes()), Some(ErrorCode::BadJson));
    }

    #[test]
    fn a_mebibyte_of_brackets_or_keys_is_harmless() {
        for open in ["[", "{\"a\":", "[[],"] {
            assert_eq!(code(open.repeat(crate::MAX_LINE / open.len()).as_bytes()), Some(ErrorCode::BadJson));
        }
        let closed = format!("{}{}", "[".repeat(1 << 19), "]".repeat(1 << 19));
        assert_eq!(code(closed.as_bytes()), Some(ErrorCode::BadJson));
        let keys: Vec<String> = (0..80_000).map(|n| format!("\"{n:x}\":0")).collect();
        assert_eq!(parse(format!("{{{}}}", keys.join(",")).as_bytes()).unwrap().len(), 80_000);
    }
}
