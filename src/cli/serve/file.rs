//! Files of settings: TOML, the names of the flags as keys; flat, or a table for each that has such settings.
//!
//! Knows the form of each setting, not what its value means. Whatever the file holds is read or refused with
//! its line.

use std::ffi::OsString;
use std::io::Read;
use std::path::Path;

use plyd_protocol::echo;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::given::{GivenSetting, Place, SettingError, Value};
use super::keys::{Key, Kind};
use crate::cli::nearest::nearest;
use crate::cli::system::open_without_waiting;

/// The most that a file may hold.
const MOST_BYTES: usize = 64 << 10;

/// A table with settings.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) found: Vec<GivenSetting>,
    /// Whether all that stands in it was found.
    pub(super) is_whole: bool,
}

/// The settings in a file, and what is wrong with it.
pub(super) fn read(keys: &[Key], path: &Path) -> (Vec<GivenSetting>, Vec<SettingError>) {
    let mut found = Vec::new();
    let faults = read_each(path, MOST_BYTES, |lines, name, value| {
        let setting = lines.setting(keys, name, value).map(|setting| found.push(setting));
        setting.err().into_iter().collect()
    });
    (found, faults)
}

/// The tables in a file of at most so many bytes, each with such settings, and what is wrong with it.
pub(super) fn read_tables(keys: &[Key], path: &Path, most: usize) -> (Vec<Table>, Vec<SettingError>) {
    let mut tables = Vec::new();
    let faults = read_each(path, most, |lines, name, value| {
        let place = lines.place(name.span().start);
        let DeValue::Table(settings) = value.get_ref() else {
            let message = format!("give a table, `[{}]`, and its settings below", echo(name.get_ref()));
            return vec![SettingError { place, message }];
        };
        let (mut found, mut faults) = (Vec::new(), Vec::new());
        for (name, value) in settings {
            match lines.setting(keys, name, value) {
                Ok(setting) => found.push(setting),
                Err(fault) => faults.push(fault),
            }
        }
        let (name, is_whole) = (name.get_ref().to_string(), faults.is_empty());
        tables.push(Table { name, place, found, is_whole });
        faults
    });
    (tables, faults)
}

/// Calls `take` with each name at the top of a file, and its value; returns what is wrong with the file, and
/// what `take` finds wrong.
fn read_each(
    path: &Path,
    most: usize,
    mut take: impl FnMut(&Lines<'_>, &Spanned<DeString<'_>>, &Spanned<DeValue<'_>>) -> Vec<SettingError>,
) -> Vec<SettingError> {
    let text = match text(path, most) {
        Ok(text) => text,
        Err(message) => return vec![SettingError { place: Place::Unread(path.to_owned()), message }],
    };
    let lines = Lines::new(path, &text);
    let (table, errors) = DeTable::parse_recoverable(&text);
    let of_form = errors.iter().map(|error| {
        let at = error.span().map_or(0, |span| span.start);
        SettingError { place: lines.place(at), message: error.message().to_owned() }
    });
    let mut faults: Vec<SettingError> = of_form.collect();
    for (name, value) in table.get_ref() {
        faults.extend(take(&lines, name, value));
    }
    faults
}

/// The text of a file, if it is one that settings can stand in.
fn text(path: &Path, most: usize) -> Result<String, String> {
    let file = open_without_waiting(path).map_err(|error| error.to_string())?;
    if !file.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("this is no regular file".into());
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > most {
        return Err(format!("the file has more than {most} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        format!("line {}: this is no UTF-8", 1 + before.iter().filter(|byte| **byte == b'\n').count())
    })
}

/// A file of settings, to say in which line something stands.
struct Lines<'a> {
    path: &'a Path,
    /// Where each line but the first begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(path: &'a Path, text: &str) -> Self {
        let starts = text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        Self { path, starts: starts.collect() }
    }

    /// The line of a byte of the text.
    fn place(&self, at: usize) -> Place {
        let line = 1 + self.starts.partition_point(|start| *start <= at);
        Place::File { path: self.path.to_owned(), line }
    }

    fn setting(
        &self,
        keys: &[Key],
        name: &Spanned<impl AsRef<str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<GivenSetting, SettingError> {
        let (at, name) = (name.span().start, name.get_ref().as_ref());
        let fault = |message: String| SettingError { place: self.place(at), message };
        let Some(key) = keys.iter().find(|key| key.name() == name) else {
            if matches!(value.get_ref(), DeValue::Table(_)) {
                let name = echo(name);
                let message = "leave its name out, and write the settings of plyd without one";
                return Err(fault(format!("there is no setting `{name}`; if it is a table, {message}")));
            }
            let near = nearest(name, keys.iter().map(|key| key.name().to_owned()));
            return Err(fault(format!("there is no setting `{}`; the nearest is `{near}`", echo(name))));
        };
        let wrong = || fault(format!("{name}: {}", form(key.kind())));
        let values = match (key.kind(), value.get_ref()) {
            (Kind::List, DeValue::Array(elements)) => {
                let texts = elements.iter().enumerate().map(|(index, element)| {
                    self.text_value(element).ok_or_else(|| {
                        let message = format!("{name}[{index}]: {}", form(Kind::Text));
                        SettingError { place: self.place(element.span().start), message }
                    })
                });
                texts.collect::<Result<_, _>>()?
            }
            (Kind::Text, DeValue::String(text)) if text.is_empty() => Vec::new(),
            (Kind::Text, DeValue::String(_)) => self.text_value(value).into_iter().collect(),
            (Kind::Switch, DeValue::Boolean(is_on)) => vec![self.value(value, is_on.to_string())],
            (Kind::Number | Kind::Count, DeValue::Integer(number)) => {
                // One that is too large is refused with its bounds, as any other.
                let number = i64::from_str_radix(number.as_str(), number.radix()).unwrap_or(i64::MAX);
                vec![self.value(value, number.to_string())]
            }
            _ => return Err(wrong()),
        };
        Ok(GivenSetting { key: key.clone(), values, place: self.place(at) })
    }

    fn text_value(&self, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        value.get_ref().as_str().map(|text| self.value(value, text.to_owned()))
    }

    fn value(&self, value: &Spanned<DeValue<'_>>, text: String) -> Value {
        Value { text: OsString::from(text), place: self.place(value.span().start) }
    }
}

/// How to write a value.
fn form(kind: Kind) -> &'static str {
    match kind {
        Kind::Switch => "give true or false, without quotes",
        Kind::Number | Kind::Count => "give a whole number, without quotes",
        Kind::Text => "give a text in quotes",
        Kind::List => "give a list of texts, such as [\"one\", \"other\"]",
    }
}
