//! The JSON Schema of both directions, made from the types. What a schema cannot say (`min <= max`, one line
//! per object, the order of faults) is in the specification only.

use crate::position::NAME_PATTERN;
use crate::*;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The schemas as the types say them. [`schemas`] are those of the files in `schema/`; a test compares both.
#[must_use]
pub fn schemas_of_types() -> Vec<(&'static str, Value)> {
    vec![("requests", requests()), ("messages", messages())]
}

fn requests() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(plain_text))
        .with_transform(RecursiveTransform(integers))
        .with_transform(RecursiveTransform(absent_not_null))
        .with_transform(RecursiveTransform(strict));
    let mut generator = settings.into_generator();
    let commands = [
        command::<Hello>(&mut generator, "hello"),
        command::<Ping>(&mut generator, "ping"),
        command::<Describe>(&mut generator, "describe"),
        command::<NewGame>(&mut generator, "newgame"),
        command::<SetOption>(&mut generator, "setoption"),
        command::<Close>(&mut generator, "close"),
        command::<Inspect>(&mut generator, "inspect"),
        command::<Go>(&mut generator, "go"),
        command::<Update>(&mut generator, "update"),
        command::<Stop>(&mut generator, "stop"),
        command::<Status>(&mut generator, "status"),
        command::<Connections>(&mut generator, "connections"),
        command::<Disconnect>(&mut generator, "disconnect"),
        command::<Quit>(&mut generator, "quit"),
    ];
    one_of(generator, "Request", "A line from the client.", commands)
}

/// The schema of a command's whole line.
fn command<T: JsonSchema>(generator: &mut SchemaGenerator, cmd: &'static str) -> (&'static str, Schema) {
    let mut schema = T::json_schema(generator);
    let head = json!({
        "id": {
            "description": "Names the request within its connection.",
            "type": "string",
            "pattern": NAME_PATTERN,
        },
        "cmd": { "const": cmd },
    });
    prepend(&mut schema, "properties", head);
    let mut required = vec![json!("id"), json!("cmd")];
    if let Some(Value::Array(own)) = schema.remove("required") {
        required.extend(own);
    }
    schema.insert("required".to_owned(), Value::Array(required));
    (cmd, schema)
}

fn messages() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(plain_text))
        .with_transform(RecursiveTransform(integers))
        .with_transform(RecursiveTransform(absent_not_null));
    let mut schema = settings.into_generator().into_root_schema_for::<Envelope>();
    schema.insert("title".to_owned(), json!("Message"));
    schema.to_value()
}

fn one_of(
    mut generator: SchemaGenerator,
    title: &str,
    description: &str,
    kinds: impl IntoIterator<Item = (&'static str, Schema)>,
) -> Value {
    let mut schemas: Map<String, Value> = generator.definitions().clone();
    let mut refs = Vec::new();
    for (name, schema) in kinds {
        refs.push(json!({ "$ref": format!("#/$defs/{name}") }));
        schemas.insert(name.to_owned(), schema.to_value());
    }
    let mut root = schemars::json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        "oneOf": refs,
        "$defs": schemas,
    });
    for transform in generator.transforms_mut() {
        transform.transform(&mut root);
    }
    root.to_value()
}

fn prepend(schema: &mut Schema, key: &str, head: Value) {
    let (Value::Object(mut head), tail) = (head, schema.remove(key)) else {
        return;
    };
    if let Some(Value::Object(tail)) = tail {
        head.extend(tail);
    }
    schema.insert(key.to_owned(), Value::Object(head));
}

/// Turns Rust's documentation into plain descriptions, without its examples.
fn plain_text(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let without_example = text.split("```").next().unwrap_or_default().trim_end();
        *text = without_example.replace('\n', " ").replace("[`", "`").replace("`]", "`");
    }
}

/// Bounds integers as the protocol does, and drops Rust's formats.
fn integers(schema: &mut Schema) {
    if schema.get("type").is_some_and(|kind| mentions(kind, "integer")) {
        schema.remove("format");
        let object = schema.ensure_object();
        object.entry("minimum").or_insert(json!(-MAX_INT));
        object.entry("maximum").or_insert(json!(MAX_INT));
    }
}

/// Takes null from fields that are left out when they hold nothing. (A field that can be both says so by
/// `oneOf`.)
fn absent_not_null(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for (name, property) in properties {
        let Value::Object(property) = property else {
            continue;
        };
        if mentions(&required, name) {
            continue;
        }
        if let Some(Value::Array(kinds)) = property.get_mut("type") {
            kinds.retain(|kind| kind != "null");
            if let [kind] = kinds.as_slice() {
                property["type"] = kind.clone();
            }
        }
        let null = json!({ "type": "null" });
        if let Some(Value::Array(either)) = property.get("anyOf")
            && let [Value::Object(kind), other] = either.as_slice()
            && *other == null
        {
            let kind = kind.clone();
            property.remove("anyOf");
            property.extend(kind);
        }
    }
}

/// Refuses unknown fields, and lets those of extensions pass.
fn strict(schema: &mut Schema) {
    if schema.get("type").is_some_and(|kind| mentions(kind, "object")) {
        let object = schema.ensure_object();
        object.entry("additionalProperties").or_insert(json!(false));
        object.insert("patternProperties".to_owned(), json!({ "^x_": true }));
    }
}

fn mentions(kind: &Value, name: &str) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == name),
        kind => kind == name,
    }
}
