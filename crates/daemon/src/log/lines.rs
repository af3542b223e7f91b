//! The form of the log: each event as one line, with the spans that it happened in, as text or as a JSON
//! object.
//!
//! Knows nothing of what is logged, but whatever it is, a line stays one line that a terminal can show:
//! control characters are escaped, long values are cut, and a text that holds a secret is not shown.

use std::fmt::{self, Write as _};
use std::iter;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use super::{Form, LOG, form, is_secret, now};

/// The most characters of a value that are shown.
const LONGEST: usize = 4000;
/// What stands for a text that holds a secret.
const HIDDEN: &str = "hidden";

/// Gives the lines of all events to the log of the process.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Whether lines of text have colours.
    colors: bool,
}

impl Layer {
    /// Lines for a terminal, or for anything else.
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
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let scope = context.event_scope(event);
        let spans = scope.into_iter().flat_map(|scope| scope.from_root());
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        let line = match form() {
            Form::Text => text(self.colors, level, target, &fields, spans),
            Form::Json => json(level, target, &fields, spans),
        };
        LOG.append(line.as_bytes());
    }
}

/// What stands in an event or a span, in the order in which it came.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Value)>);

#[derive(Debug)]
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
        let texts = texts.iter().map(|(name, text)| (*name, Value::Text((*text).to_owned())));
        Self(iter::once(("message", Value::Shown(message.to_owned()))).chain(texts).collect())
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
        self.set(field, Value::Text(value.to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, Value::Shown(format!("{value:?}")));
    }
}

/// A line of text: time, level, spans, target, message and fields.
fn text<'a, S: LookupSpan<'a> + 'a>(
    colors: bool,
    level: Level,
    target: &str,
    fields: &Fields,
    spans: impl Iterator<Item = SpanRef<'a, S>>,
) -> String {
    let (dim, plain) = if colors { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    let color = match level {
        _ if !colors => "",
        Level::ERROR => "\x1b[31m",
        Level::WARN => "\x1b[33m",
        Level::INFO => "\x1b[32m",
        Level::DEBUG => "\x1b[34m",
        Level::TRACE => "\x1b[35m",
    };
    let mut line = format!("{dim}{}{plain} {color}{:>5}{plain} ", now(), level.as_str());
    let mut is_within = false;
    for span in spans {
        line += span.name();
        if let Some(fields) = span.extensions().get::<Fields>() {
            line.push('{');
            put_text_fields(&mut line, fields);
            line.push('}');
        }
        line.push(':');
        is_within = true;
    }
    line += if is_within { " " } else { "" };
    let _infallible = write!(line, "{dim}{target}:{plain} ");
    put_text_fields(&mut line, fields);
    line.push('\n');
    line
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
            Value::Shown(text) => line.extend(bounded(kept(name, text)).flat_map(escaped)),
            Value::Text(text) => {
                line.push('"');
                for c in bounded(kept(name, text)) {
                    line.push_str(if matches!(c, '"' | '\\') { "\\" } else { "" });
                    line.extend(escaped(c));
                }
                line.push('"');
            }
        }
    }
}

/// A line that is a JSON object: `time`, `level`, `target`, `fields` with the `message`, and `spans` from the
/// outermost in, each with its `name` and its fields.
pub(super) fn json<'a, S: LookupSpan<'a> + 'a>(
    level: Level,
    target: &str,
    fields: &Fields,
    spans: impl Iterator<Item = SpanRef<'a, S>>,
) -> String {
    let mut line = format!("{{\"time\":\"{}\",\"level\":\"{level}\",\"target\":", now());
    put_json_text(&mut line, target);
    line += ",\"fields\":{";
    put_json_fields(&mut line, fields, true);
    line += "},\"spans\":[";
    for (index, span) in spans.enumerate() {
        line += if index > 0 { ",{\"name\":" } else { "{\"name\":" };
        put_json_text(&mut line, span.name());
        if let Some(fields) = span.extensions().get::<Fields>() {
            put_json_fields(&mut line, fields, false);
        }
        line.push('}');
    }
    line += "]}\n";
    line
}

fn put_json_fields(line: &mut String, Fields(fields): &Fields, is_first: bool) {
    for (index, (name, value)) in fields.iter().enumerate() {
        line.push_str(if is_first && index == 0 { "" } else { "," });
        put_json_text(line, name);
        line.push(':');
        match value {
            Value::Plain(text) => line.push_str(text),
            Value::Shown(text) | Value::Text(text) => put_json_text(line, kept(name, text)),
        }
    }
}

fn put_json_text(line: &mut String, text: &str) {
    line.push('"');
    for c in bounded(text) {
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

/// The text of a value, unless it holds a secret; a message is the daemon's own.
fn kept<'a>(name: &str, text: &'a str) -> &'a str {
    if name != "message" && is_secret(text) { HIDDEN } else { text }
}

/// The characters of a text that are shown.
fn bounded(text: &str) -> impl Iterator<Item = char> {
    let is_cut = text.len() > LONGEST && text.chars().nth(LONGEST).is_some();
    text.chars().take(LONGEST).chain(is_cut.then_some('…'))
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
