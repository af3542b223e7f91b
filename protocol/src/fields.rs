//! Readers of single values and of objects, which record every fault and keep the one to report. They know
//! JSON types and ranges; `decode` says which fields a command has.
//!
//! A reader gives `None` after it has recorded a fault; the rest is read but never used, as the request
//! fails.

use crate::json::{Node, Value};
use crate::{ErrorCode, MAX_ID, Seed, Setting, Settings, echo, pointer};
use serde::de::{self, Deserialize, IntoDeserializer};
use std::{cell::RefCell, fmt, ops::RangeInclusive, rc::Rc};

/// The order in which faults are reported, wherever they are in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Unknown,
    Missing,
    Type,
    Value,
}

/// A fault, without the request's id.
pub(crate) struct FieldError {
    pub code: ErrorCode,
    pub pointer: String,
    pub message: String,
}

/// Keeps the fault to report: the first stage, there the first in the line, there the first recorded.
#[derive(Default)]
pub(crate) struct Faults(RefCell<Option<(Stage, usize, FieldError)>>);

impl Faults {
    fn record(&self, stage: Stage, at: usize, found: impl FnOnce() -> FieldError) {
        let mut first = self.0.borrow_mut();
        if first.as_ref().is_none_or(|(s, a, _)| (stage, at) < (*s, *a)) {
            *first = Some((stage, at, found()));
        }
    }

    /// The fault to report, if there is one.
    pub(crate) fn take_first(&self) -> Option<FieldError> {
        self.0.take().map(|(_, _, found)| found)
    }
}

/// Whether a name belongs to an extension, which is skipped.
pub(crate) fn is_extension(name: &str) -> bool {
    name.starts_with("x_")
}

/// Whether a text can be an id or the name of a session.
pub(crate) fn is_name(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._:-".contains(&b);
    (1..=MAX_ID).contains(&text.len()) && text.bytes().all(allowed)
}

/// A value of a request, with its place. The pointer is made only for a fault: a line may hold 200,000 moves.
pub(crate) struct Item<'a> {
    node: &'a Node,
    parent: Rc<str>,
    step: Step<'a>,
    faults: &'a Faults,
}

/// The last part of a pointer.
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

impl<'a> Item<'a> {
    fn fault<T>(&self, stage: Stage, code: ErrorCode, message: impl fmt::Display) -> Option<T> {
        self.faults.record(stage, self.node.at, || FieldError {
            code,
            pointer: self.pointer(),
            message: message.to_string(),
        });
        None
    }

    fn pointer(&self) -> String {
        match self.step {
            Step::Name(name) => pointer(&self.parent, name),
            Step::Index(index) => format!("{}/{index}", self.parent),
        }
    }

    fn wrong_type<T>(&self, wanted: &str) -> Option<T> {
        let message = format!("expected {wanted}, found {}", self.node.value.kind());
        self.fault(Stage::Type, ErrorCode::WrongType, message)
    }

    fn bad_value<T>(&self, code: ErrorCode, message: impl fmt::Display) -> Option<T> {
        self.fault(Stage::Value, code, message)
    }

    /// The values inside this one.
    fn members(&self, steps: impl Iterator<Item = (Step<'a>, &'a Node)>) -> impl Iterator<Item = Self> {
        let (parent, faults) = (Rc::<str>::from(self.pointer()), self.faults);
        steps.map(move |(step, node)| Item { node, parent: parent.clone(), step, faults })
    }

    fn str(&self) -> Option<&'a str> {
        match &self.node.value {
            Value::String(text) => Some(text),
            _ => self.wrong_type("a string"),
        }
    }

    fn integer(&self, range: RangeInclusive<i64>) -> Option<i64> {
        let Value::Number(text) = &self.node.value else {
            return self.wrong_type("an integer");
        };
        if text.contains(['.', 'e', 'E']) {
            let message = format!("expected an integer, found {}", echo(text));
            return self.fault(Stage::Type, ErrorCode::NotInteger, message);
        }
        match text.parse() {
            Ok(number) if range.contains(&number) => Some(number),
            _ => {
                let (min, max) = range.into_inner();
                self.bad_value(ErrorCode::OutOfRange, format_args!("{} is not in {min} to {max}", echo(text)))
            }
        }
    }
}

/// Reads a text that only a game or the daemon can judge.
pub(crate) fn any_text(item: Item<'_>) -> Option<String> {
    item.str().map(str::to_owned)
}

/// Reads a text of at most `max` characters.
pub(crate) fn text(max: usize) -> impl Fn(Item<'_>) -> Option<String> {
    move |item| {
        let text = item.str()?;
        // A character has up to four bytes: most texts need no count.
        let is_long = text.len() > max && (text.len() > 4 * max || text.chars().nth(max).is_some());
        if is_long {
            return item.bad_value(ErrorCode::OutOfRange, format_args!("longer than {max} characters"));
        }
        Some(text.to_owned())
    }
}

/// Reads an id or the name of a session.
pub(crate) fn name(item: Item<'_>) -> Option<String> {
    let text = item.str()?;
    if !is_name(text) {
        let message = format!("`{}` is not 1-{MAX_ID} of [A-Za-z0-9._:-]", echo(text));
        return item.bad_value(ErrorCode::OutOfRange, message);
    }
    Some(text.to_owned())
}

/// Reads a seed.
pub(crate) fn seed(item: Item<'_>) -> Option<Seed> {
    let text = item.str()?;
    match text.parse() {
        Ok(seed) => Some(seed),
        Err(error) => item.bad_value(ErrorCode::OutOfRange, format_args!("{error}, found `{}`", echo(text))),
    }
}

/// Reads a boolean.
pub(crate) fn flag(item: Item<'_>) -> Option<bool> {
    match item.node.value {
        Value::Bool(value) => Some(value),
        _ => item.wrong_type("a boolean"),
    }
}

/// Reads an integer of an inclusive range, which `T` must hold.
pub(crate) fn int<T: TryFrom<i64>>(min: i64, max: i64) -> impl Fn(Item<'_>) -> Option<T> {
    move |item| item.integer(min..=max).and_then(|number| number.try_into().ok())
}

/// Reads one of an enum's words.
pub(crate) fn word<'a, T: Deserialize<'a>>(item: Item<'a>) -> Option<T> {
    let text = item.str()?;
    match T::deserialize(text.into_deserializer()) {
        Ok(word) => Some(word),
        Err(Expected([only])) => {
            let message = format!("only `{only}` is possible, found `{}`", echo(text));
            item.bad_value(ErrorCode::BadEnum, message)
        }
        Err(Expected(words)) => {
            let message = format!("`{}` is none of {}", echo(text), words.join(", "));
            item.bad_value(ErrorCode::BadEnum, message)
        }
    }
}

/// The words that an enum accepts.
#[derive(Debug)]
struct Expected(&'static [&'static str]);

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected one of {}", self.0.join(", "))
    }
}

impl std::error::Error for Expected {}

impl de::Error for Expected {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self(expected)
    }
}

/// Reads an array of what `read` reads.
pub(crate) fn list<'a, T>(read: impl Fn(Item<'a>) -> Option<T>) -> impl Fn(Item<'a>) -> Option<Vec<T>> {
    move |item| match &item.node.value {
        Value::Array(nodes) => {
            let steps = nodes.iter().enumerate().map(|(index, node)| (Step::Index(index), node));
            Some(item.members(steps).filter_map(&read).collect())
        }
        _ => item.wrong_type("an array"),
    }
}

/// Reads rules or options: any names, extensions dropped.
pub(crate) fn settings(item: Item<'_>) -> Option<Settings> {
    let Value::Object(fields) = &item.node.value else {
        return item.wrong_type("an object");
    };
    let names = || fields.iter().filter(|(name, _)| !is_extension(name));
    let steps = names().map(|(name, node)| (Step::Name(name), node));
    let values = item.members(steps).map(setting);
    Some(names().zip(values).filter_map(|((name, _), value)| Some((name.as_str(), value?))).collect())
}

fn setting(item: Item<'_>) -> Option<Setting> {
    match &item.node.value {
        Value::Bool(value) => Some(Setting::Bool(*value)),
        Value::String(text) => Some(Setting::Text(text.clone())),
        Value::Number(_) => item.integer(-crate::MAX_INT..=crate::MAX_INT).map(Setting::Int),
        _ => item.wrong_type("a boolean, an integer or a string"),
    }
}

/// Reads an object by its fields; any that `read` did not ask for is unknown.
pub(crate) fn object<'a, T>(read: impl Fn(&mut Fields<'a>) -> T) -> impl Fn(Item<'a>) -> Option<T> {
    move |item| match &item.node.value {
        Value::Object(fields) => {
            let mut fields = Fields::new(fields, item.node.at, item.pointer(), item.faults);
            let value = read(&mut fields);
            fields.finish();
            Some(value)
        }
        _ => item.wrong_type("an object"),
    }
}

/// The fields of an object while they are read.
pub(crate) struct Fields<'a> {
    fields: &'a [(String, Node)],
    at: usize,
    pointer: Rc<str>,
    faults: &'a Faults,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(fields: &'a [(String, Node)], at: usize, pointer: String, faults: &'a Faults) -> Self {
        Self { fields, at, pointer: pointer.into(), faults, known: Vec::new() }
    }

    fn node(&self, name: &str) -> Option<&'a Node> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, node)| node)
    }

    /// The raw value of a field, for what depends on more than one.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.node(name).map(|node| &node.value)
    }

    /// Whether a field is there, right or wrong.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.node(name).is_some()
    }

    /// Says that a field may stand here, whatever it holds.
    pub(crate) fn known(&mut self, name: &'static str) {
        self.known.push(name);
    }

    /// Reads a field that may be absent.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl Fn(Item<'a>) -> Option<T>,
    ) -> Option<T> {
        self.known(name);
        let node = self.node(name)?;
        read(Item { node, parent: self.pointer.clone(), step: Step::Name(name), faults: self.faults })
    }

    /// Reads a field that stands for `default` when absent.
    pub(crate) fn or<T>(
        &mut self,
        name: &'static str,
        default: T,
        read: impl Fn(Item<'a>) -> Option<T>,
    ) -> T {
        self.optional(name, read).unwrap_or(default)
    }

    /// Reads a field that must be there.
    pub(crate) fn required<T: Default>(
        &mut self,
        name: &'static str,
        read: impl Fn(Item<'a>) -> Option<T>,
    ) -> T {
        if !self.has(name) {
            self.missing(name);
        }
        self.optional(name, read).unwrap_or_default()
    }

    /// Records that a field is missing.
    pub(crate) fn missing(&self, name: &str) {
        self.lacks(name, || format!("missing field `{name}`"));
    }

    /// Records that one of several fields is missing; the message says which would do, the pointer is that of
    /// `name`.
    pub(crate) fn missing_any(&self, name: &str, message: &str) {
        self.lacks(name, || message.to_owned());
    }

    fn lacks(&self, name: &str, message: impl FnOnce() -> String) {
        self.record(Stage::Missing, self.at, ErrorCode::MissingField, name, message);
    }

    /// Records that a field, if it is there, has no place beside another.
    pub(crate) fn excluded(&mut self, name: &'static str, other: &str) {
        self.known(name);
        if let Some(node) = self.node(name) {
            let message = || format!("`{name}` cannot stand beside `{other}`");
            self.record(Stage::Unknown, node.at, ErrorCode::UnknownField, name, message);
        }
    }

    /// Records that a field's value does not fit another's.
    pub(crate) fn misfit(&self, name: &str, message: &str) {
        if let Some(node) = self.node(name) {
            self.record(Stage::Value, node.at, ErrorCode::OutOfRange, name, || message.to_owned());
        }
    }

    /// Records the fields that are left.
    pub(crate) fn finish(self) {
        for (name, node) in self.fields {
            if !self.known.contains(&name.as_str()) && !is_extension(name) {
                let message = || format!("unknown field `{}`", echo(name));
                self.record(Stage::Unknown, node.at, ErrorCode::UnknownField, name, message);
            }
        }
    }

    fn record(&self, stage: Stage, at: usize, code: ErrorCode, name: &str, message: impl FnOnce() -> String) {
        self.faults.record(stage, at, || FieldError {
            code,
            pointer: pointer(&self.pointer, name),
            message: message(),
        });
    }
}
