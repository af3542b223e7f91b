//! The JSON Schemas of what the API answers, made from the types.

use plyd_protocol::Record;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

/// A type of an answer.
pub(super) struct Type(fn(&mut SchemaGenerator) -> Schema);

impl Type {
    pub(super) fn of<T: JsonSchema>() -> Self {
        Self(|generator| generator.subschema_for::<T>())
    }

    /// A record of the protocol. A ladder's has the further fields of the arena's records, which the
    /// document leaves to their own.
    pub(super) fn record() -> Self {
        Self(|generator| generator.subschema_for::<Record>())
    }

    /// Its schema, a reference to one of the generator's definitions.
    pub(super) fn schema(&self, generator: &mut SchemaGenerator) -> Value {
        (self.0)(generator).to_value()
    }
}

/// A generator whose definitions stand where OpenAPI has them.
pub(super) fn generator() -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(plain))
        .with_transform(RecursiveTransform(integers));
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.into_generator()
}

/// Turns Rust's documentation into plain descriptions, without its examples.
fn plain(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let without_example = text.split("```").next().unwrap_or_default().trim_end();
        *text = without_example.replace('\n', " ").replace("[`", "`").replace("`]", "`");
    }
}

/// Drops Rust's names of integers, which say nothing to others.
fn integers(schema: &mut Schema) {
    let is_rusts = |format: &Value| format.as_str().is_some_and(|format| format.contains("int"));
    if schema.get("format").is_some_and(is_rusts) {
        schema.remove("format");
    }
    if schema.get("format") == Some(&json!("double")) {
        schema.remove("format");
    }
}
