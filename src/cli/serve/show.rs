//! The settings in force, as `plyd serve --check` prints them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use super::given::Place;
use super::keys::Kind;
use super::sources::InForce;
use crate::cli::columns::Columns;
use crate::cli::failure::Failure;
use crate::cli::{styled, write_json};

/// Lists the settings, each with its value and where that stands.
pub(super) fn show(list: &[InForce], out: &mut impl Write) -> Result<(), Failure> {
    let mut table = Columns::new(["setting", "value", "from"]);
    for InForce { key, values, place } in list {
        let value = if values.is_empty() { "-".to_owned() } else { values.join(", ") };
        table.row([key.name(), &styled::line(&value), &styled::line(&place.to_string())]);
    }
    Ok(write!(out, "{table}\nok\n")?)
}

/// A setting as `--check --json` has it.
#[derive(serde::Serialize)]
struct Shown<'a> {
    name: &'a str,
    value: serde_json::Value,
    from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<&'a str>,
}

impl<'a> Shown<'a> {
    fn new(InForce { key, values, place }: &'a InForce) -> Self {
        let (from, file, line, variable) = match place {
            Place::Default => ("default", None, None, None),
            Place::Unread(path) => ("file", Some(path), None, None),
            Place::File { path, line } => ("file", Some(path), Some(*line), None),
            Place::Environment(name) => ("environment", None, None, Some(name.as_str())),
            Place::Flag => ("flag", None, None, None),
        };
        let first = values.first();
        let value = match key.kind() {
            Kind::List => json!(values),
            Kind::Text => json!(first),
            // What is in force is a value of its form.
            Kind::Switch => json!(first.and_then(|text| text.parse::<bool>().ok())),
            Kind::Number | Kind::Count => json!(first.and_then(|text| text.parse::<u64>().ok())),
        };
        let file = file.map(|path| path.to_string_lossy());
        Self { name: key.name(), value, from, file, line, variable }
    }
}

/// The same as an object.
pub(super) fn show_json(list: &[InForce], out: &mut impl Write) -> Result<(), Failure> {
    let settings: Vec<Shown<'_>> = list.iter().map(Shown::new).collect();
    write_json(out, &BTreeMap::from([("settings", settings)]))
}
