//! The form of the log: each event as one line, with the spans that it happened in, as text or as a JSON
//! object.
//!
//! Knows nothing of what is logged, but whatever it is, a line stays one line that a terminal can show:
//! control characters are escaped, long values are cut, and a text that holds a secret is not shown. The
//! thread that logs only notes the values ([`Noted`]); the thread that writes makes a line of them.

use std::fmt::{self, Write as _};
use std::iter;
use std::sync::Arc;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::{Form, LOG, is_secret, now};

/// The most characters of a value that are shown.
const LONGEST: usize = 4000;
/// What stands for a text that holds a secret.
const HIDDEN: &str = "hidden";

/// A layer of `tracing` that passes all events on to the log of the process.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Whether lines of text have colours.
    colors: bool,
}

impl Layer {
    /// A layer that writes for a terminal, with colours, or for anything else, without.
    #[must_use]
    pub fn new(is_terminal: bool) -> Self {
        Self { colors: is_terminal }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> tracing_subscriber::Layer<S> for Layer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(Arc::new(fields));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Arc<Fields>>()
        {
            let fields: &mut Fields = Arc::make_mut(fields);
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let mut noted = Noted::of(*metadata.level(), metadata.target(), fields);
        noted.colors = self.colors;
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            let fields = span.extensions().get::<Arc<Fields>>().cloned().unwrap_or_default();
            noted.spans.push((span.metadata().name(), fields));
        }
        LOG.append(noted);
    }
}

/// An event that is to become a line.
#[derive(Debug)]
pub(super) struct Noted {
    time: String,
    level: Level,
    target: &'static str,
    fields: Fields,
    /// The spans that it happened in with their fields, from the outermost in.
    spans: Vec<(&'static str, Arc<Fields>)>,
    /// Whether a line of text has colours.
    colors: bool,
}

impl Noted {
    /// Something that happened now, outside of any span.
    pub(super) fn of(level: Level, target: &'static str, fields: Fields) -> Self {
        Self { time: now(), level, target, fields, spans: Vec::new(), colors: false }
    }

    /// The approximate bytes of its line.
    pub(super) fn bytes(&self) -> usize {
        const ENVELOPE: usize = 100;
        let spans = self.spans.iter().map(|(name, fields)| name.len() + fields.bytes());
        ENVELOPE + self.target.len() + self.fields.bytes() + spans.sum::<usize>()
    }

    /// Its line.
    pub(super) fn line(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Json => self.json(),
        }
    }

    /// A line of text: time, level, spans, target, message and fields.
    fn text(&self) -> String {
        let (dim, plain) = if self.colors { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
        let color = match self.level {
            _ if !self.colors => "",
            Level::ERROR => "\x1b[31m",
            Level::WARN => "\x1b[33m",
            Level::INFO => "\x1b[32m",
            Level::DEBUG => "\x1b[34m",
            Level::TRACE => "\x1b[35m",
        };
        let mut line = format!("{dim}{}{plain} {color}{:>5}{plain} ", self.time, self.level.as_str());
        for (name, fields) in &self.spans {
            line += name;
            line.push('{');
            put_text_fields(&mut line, fields);
            line += "}:";
        }
        line += if self.spans.is_empty() { "" } else { " " };
        let _infallible = write!(line, "{dim}{}:{plain} ", self.target);
        put_text_fields(&mut line, &self.fields);
        line.push('\n');
        line
    }

    /// A line that is a JSON object: `time`, `level`, `target`, `fields` with the `message`, and `spans` from
    /// the outermost in, each with its `name` and its fields.
    fn json(&self) -> String {
        let mut line = format!("{{\"time\":\"{}\",\"level\":\"{}\",\"target\":", self.time, self.level);
        put_json_text(&mut line, self.target);
        line += ",\"fields\":{";
        put_json_fields(&mut line, &self.fields, true);
        line += "},\"spans\":[";
        for (index, (name, fields)) in self.spans.iter().enumerate() {
            line += if index > 0 { ",{\"name\":" } else { "{\"name\":" };
            put_json_text(&mut line, name);
            put_json_fields(&mut line, fields, false);
            line.push('}');
        }
        line += "]}\n";
        line
    }
}

/// What stands in an event or a span, in the order in which it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

#[derive(Clone, Debug)]
enum Value {
    /// A number, true or false, as it is written.
    Plain(String),
    /// A text that was given as such.
    Text(String),
    /// A value as it shows itself.
    Shown(String),
}

impl Fields {
    /// A message and texts.
    pub(super) fn of(message: &str, texts: &[(&'static str, &str)]) -> Self {
        let texts = texts.iter().map(|(name, text)| (*name, Value::Text(shown(name, text))));
        Self(iter::once(("message", Value::Shown(message.to_owned()))).chain(texts).collect())
    }

    /// The approximate bytes that they take in a line.
    fn bytes(&self) -> usize {
        let of = |(name, value): &(&str, Value)| match value {
            Value::Plain(text) | Value::Text(text) | Value::Shown(text) => name.len() + text.len() + 6,
        };
        self.0.iter().map(of).sum()
    }

    /// Sets a field; a span's may be set again.
    fn set(&mut self, field: &Field, value: Value) {
        match self.0.iter_mut().find(|(name, _)| *name == field.name()) {
            Some((_, old)) => *old = value,
            None => self.0.push((field.name(), value)),
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        let text = value.to_string();
        self.set(field, if value.is_finite() { Value::Plain(text) } else { Value::Text(text) });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, Value::Plain(value.to_string()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, Value::Plain(value.to_string()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, Value::Plain(value.to_string()));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, Value::Text(shown(field.name(), value)));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, Value::Shown(shown(field.name(), &format!("{value:?}"))));
    }
}

/// A message and fields, as `name=value`.
fn put_text_fields(line: &mut String, Fields(fields): &Fields) {
    let is_message = |(name, _): &&(&str, Value)| *name == "message";
    let ordered = fields.iter().filter(is_message).chain(fields.iter().filter(|field| !is_message(field)));
    for (index, (name, value)) in ordered.enumerate() {
        line.push_str(if index > 0 { " " } else { "" });
        if *name != "message" {
            line.push_str(name);
            line.push('=');
        }
        match value {
            Value::Plain(text) => line.push_str(text),
            Value::Shown(text) => line.extend(text.chars().flat_map(escaped)),
            Value::Text(text) => {
                line.push('"');
                for c in text.chars() {
                    line.push_str(if matches!(c, '"' | '\\') { "\\" } else { "" });
                    line.extend(escaped(c));
                }
                line.push('"');
            }
        }
    }
}

fn put_json_fields(line: &mut String, Fields(fields): &Fields, is_first: bool) {
    for (index, (name, value)) in fields.iter().enumerate() {
        line.push_str(if is_first && index == 0 { "" } else { "," });
        put_json_text(line, name);
        line.push(':');
        match value {
            Value::Plain(text) => line.push_str(text),
            Value::Shown(text) | Value::Text(text) => put_json_text(line, text),
        }
    }
}

fn put_json_text(line: &mut String, text: &str) {
    line.push('"');
    for c in text.chars() {
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            c if is_hidden(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _infallible = write!(line, "\\u{unit:04x}");
                }
            }
            c => line.push(c),
        }
    }
    line.push('"');
}

/// What is shown of a value. A value that holds a secret is hidden, unless it is a message, which is the
/// daemon's own; a long one is cut.
fn shown(name: &str, text: &str) -> String {
    if name != "message" && is_secret(text) {
        return HIDDEN.to_owned();
    }
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a character moves the cursor, turns the text around, or cannot be seen.
fn is_hidden(c: char) -> bool {
    !(' '..='~').contains(&c) && c.escape_debug().len() > 1
}

/// A character, or what stands for one that is hidden.
pub(super) fn escaped(c: char) -> impl Iterator<Item = char> {
    let hidden = is_hidden(c).then(|| c.escape_debug());
    let seen = hidden.is_none().then_some(c);
    hidden.into_iter().flatten().chain(seen)
}
