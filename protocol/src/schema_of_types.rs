//! The JSON Schema of both directions, made from the types. What a schema cannot say (`min <= max`, one line
//! per object, the order of faults) is in the specification only.

use crate::position::NAME_PATTERN;
use crate::*;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The words of these types may grow within version 1, so that a client takes any string. (The server takes
/// those that it knows: in requests all lists are closed.)
const OPEN: [&str; 8] =
    ["ConnectionState", "ErrorCode", "Mode", "NoticeKind", "Reason", "Role", "SearchState", "SettingKind"];

/// The schemas as the types say them. [`schemas`] are those of the files in `schema/`; a test compares both.
#[must_use]
pub fn schemas_of_types() -> Vec<(&'static str, Value)> {
    vec![("requests", requests()), ("messages", messages())]
}

/// The schemas of what a ladder and a bot that dialled it say to each other. Beside them stands no `seq` and
/// no `t_us`, and a bot's answers may lack what a server's have.
#[must_use]
pub fn ladder_schemas_of_types() -> Vec<(&'static str, Value)> {
    vec![("ladder_requests", ladder_requests()), ("ladder_messages", ladder_messages())]
}

fn requests() -> Value {
    let mut generator = usual().with_transform(RecursiveTransform(strict)).into_generator();
    let commands = [
        request::<Hello>(&mut generator, "hello"),
        request::<Ping>(&mut generator, "ping"),
        request::<Describe>(&mut generator, "describe"),
        request::<NewGame>(&mut generator, "newgame"),
        request::<SetOption>(&mut generator, "setoption"),
        request::<Close>(&mut generator, "close"),
        request::<Inspect>(&mut generator, "inspect"),
        request::<Go>(&mut generator, "go"),
        request::<Update>(&mut generator, "update"),
        request::<Stop>(&mut generator, "stop"),
        request::<Status>(&mut generator, "status"),
        request::<Connections>(&mut generator, "connections"),
        request::<Disconnect>(&mut generator, "disconnect"),
        request::<Quit>(&mut generator, "quit"),
    ];
    one_of(generator, "requests", "Request", "A line from the client.", commands)
}

fn messages() -> Value {
    let mut generator = usual().for_serialize().into_generator();
    let kinds = [
        result::<HelloResult>(&mut generator, "hello"),
        result::<PingResult>(&mut generator, "ping"),
        result::<DescribeResult>(&mut generator, "describe"),
        result::<NewGameResult>(&mut generator, "newgame"),
        result::<SetOptionResult>(&mut generator, "setoption"),
        result::<CloseResult>(&mut generator, "close"),
        result::<InspectResult>(&mut generator, "inspect"),
        result::<UpdateResult>(&mut generator, "update"),
        result::<StopResult>(&mut generator, "stop"),
        result::<StatusResult>(&mut generator, "status"),
        result::<ConnectionsResult>(&mut generator, "connections"),
        result::<DisconnectResult>(&mut generator, "disconnect"),
        result::<QuitResult>(&mut generator, "quit"),
        message::<Info>(&mut generator, "info", json!({})),
        message::<BestMove>(&mut generator, "bestmove", json!({})),
        message::<ErrorMessage>(&mut generator, "error", json!({})),
        message::<Notice>(&mut generator, "notice", json!({})),
    ];
    one_of(generator, "messages", "Message", "A line from the server.", kinds)
}

fn ladder_requests() -> Value {
    // What is written: a ladder writes records whole, with the null of a game that nobody has ended.
    let mut generator = usual().for_serialize().into_generator();
    let mut offer = request::<Offer>(&mut generator, "offer");
    require(&mut offer, &["id", "cmd", "protocol", "token"]);
    let commands = [
        offer,
        request::<Go>(&mut generator, "go"),
        request::<Ping>(&mut generator, "ping"),
        request::<Over>(&mut generator, "over"),
    ];
    let about = "A request between a ladder and a bot that dialled it: `offer` is the bot's, the others are the \
                 ladder's.";
    let mut root = one_of(generator, "ladder_requests", "LadderRequest", about, commands);
    // A ladder refuses fields that it does not know, and a bot skips them.
    for name in ["Offer", "OfferedGame", "Client", "Versions"] {
        let part = root.pointer_mut(&format!("/$defs/{name}"));
        if let Some(part) = part.and_then(|part| <&mut Schema>::try_from(part).ok()) {
            strict(part);
        }
    }
    root
}

fn ladder_messages() -> Value {
    let mut generator = usual().for_serialize().into_generator();
    let id = json!({ "description": "The id of the request.", "type": "string" });
    let of = |cmd: &str| json!({ "type": constant("result"), "id": id, "of": constant(cmd) });
    let mut best = with_head::<BestMove>(&mut generator, json!({ "type": constant("bestmove") }));
    require(&mut best, &["type", "id", "move"]);
    let mut error = with_head::<ErrorMessage>(&mut generator, json!({ "type": constant("error") }));
    require(&mut error, &["type", "id", "code"]);
    let retry =
        json!({ "description": "With `going_away`: when to dial again.", "type": "integer", "minimum": 0 });
    let mut notice =
        with_head::<Notice>(&mut generator, json!({ "type": constant("notice"), "retry_ms": retry }));
    require(&mut notice, &["type", "kind", "message"]);
    let over = schemars::json_schema!({
        "description": "The answer to an `over`.",
        "type": "object",
        "properties": of("over"),
        "required": ["type", "id", "of"],
    });
    let kinds = [
        with_head::<OfferResult>(&mut generator, of("offer")),
        with_head::<PingResult>(&mut generator, of("ping")),
        ("OverResult".to_owned(), over),
        best,
        error,
        notice,
    ];
    let about = "An answer of a ladder or of a bot that dialled it, or a notice of the ladder.";
    one_of(generator, "ladder_messages", "LadderMessage", about, kinds)
}

/// Makes these fields the only ones that a line must have.
fn require((_, schema): &mut (String, Schema), names: &[&str]) {
    schema.insert("required".to_owned(), json!(names));
}

fn usual() -> SchemaSettings {
    SchemaSettings::draft2020_12()
        .with_transform(RecursiveTransform(plain_text))
        .with_transform(RecursiveTransform(integers))
        .with_transform(RecursiveTransform(absent_not_null))
        .with_transform(RecursiveTransform(words))
        .with_transform(RecursiveTransform(conditions_apart))
        .with_transform(RecursiveTransform(bounds_apart))
        .with_transform(RecursiveTransform(named_reference))
}

/// The schema of a command's whole line.
fn request<T: JsonSchema>(generator: &mut SchemaGenerator, cmd: &str) -> (String, Schema) {
    let id = json!({
        "description": "Names the request within its connection.",
        "type": "string",
        "pattern": NAME_PATTERN,
    });
    with_head::<T>(generator, json!({ "id": id, "cmd": constant(cmd) }))
}

/// The schema of the whole line of a result.
fn result<T: JsonSchema>(generator: &mut SchemaGenerator, of: &str) -> (String, Schema) {
    let id = json!({ "description": "The id of the request.", "type": "string" });
    message::<T>(generator, "result", json!({ "id": id, "of": constant(of) }))
}

/// The schema of the whole line of a message; `more` fields follow the tag.
fn message<T: JsonSchema>(generator: &mut SchemaGenerator, tag: &str, more: Value) -> (String, Schema) {
    let mut head = json!({
        "seq": {
            "description": "Counts the messages of the connection, from 1 and without gaps.",
            "type": "integer",
            "minimum": 1,
        },
        "t_us": {
            "description": "When the message was written: microseconds of a monotonic clock whose zero is the server's.",
            "type": "integer",
            "minimum": 0,
        },
        "type": constant(tag),
    });
    if let (Value::Object(head), Value::Object(more)) = (&mut head, more) {
        head.extend(more);
    }
    with_head::<T>(generator, head)
}

fn constant(word: &str) -> Value {
    json!({ "type": "string", "const": word })
}

/// A type with more fields, all of them required, so that a line is one definition, its tag included: of a
/// tag beside a reference most generators of types make nothing.
fn with_head<T: JsonSchema>(generator: &mut SchemaGenerator, head: Value) -> (String, Schema) {
    let mut schema = T::json_schema(generator);
    let Value::Object(mut properties) = head else { return (T::schema_name().into(), schema) };
    let mut required: Vec<Value> = properties.keys().map(|name| json!(name)).collect();
    if let Some(Value::Array(own)) = schema.remove("required") {
        required.extend(own);
    }
    if let Some(Value::Object(own)) = schema.remove("properties") {
        properties.extend(own);
    }
    schema.insert("required".to_owned(), Value::Array(required));
    schema.insert("properties".to_owned(), Value::Object(properties));
    (T::schema_name().into(), schema)
}

fn one_of(
    mut generator: SchemaGenerator,
    name: &str,
    title: &str,
    description: &str,
    kinds: impl IntoIterator<Item = (String, Schema)>,
) -> Value {
    let mut schemas: Map<String, Value> = generator.definitions().clone();
    let mut refs = Vec::new();
    for (name, schema) in kinds {
        refs.push(reference(&name));
        schemas.insert(name, schema.to_value());
    }
    hoist(&mut schemas);
    let mut root = schemars::json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("urn:plyd:protocol:{VERSION}:{name}"),
        "title": title,
        "description": description,
        "oneOf": refs,
        "$defs": schemas,
    });
    for transform in generator.transforms_mut() {
        transform.transform(&mut root);
    }
    if name.ends_with("messages") {
        open(&mut root);
    }
    root.to_value()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Makes a definition of each kind of a type that has a title, so that it has a name wherever it is used.
fn hoist(schemas: &mut Map<String, Value>) {
    let mut hoisted = Vec::new();
    for kinds in schemas.values_mut().filter_map(|schema| schema.get_mut("oneOf")?.as_array_mut()) {
        for kind in kinds {
            let title = kind.as_object_mut().and_then(|kind| kind.remove("title"));
            if let Some(title) = title.as_ref().and_then(Value::as_str) {
                hoisted.push((title.to_owned(), std::mem::replace(kind, reference(title))));
            }
        }
    }
    schemas.extend(hoisted);
}

/// Lets the lists that are open take words that are not known yet.
fn open(root: &mut Schema) {
    for name in OPEN {
        let Some(Value::Object(list)) = root.pointer_mut(&format!("/$defs/{name}")) else { continue };
        let known = json!({
            "description": "The words that are known so far.",
            "type": list.remove("type"),
            "enum": list.remove("enum"),
        });
        let known_name = format!("Known{name}");
        list.insert("anyOf".to_owned(), json!([reference(&known_name), { "type": "string" }]));
        if let Some(Value::Object(schemas)) = root.get_mut("$defs") {
            schemas.insert(known_name, known);
        }
    }
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

/// Writes a list of words as `enum`, with what each word means in the description.
fn words(schema: &mut Schema) {
    let Some(Value::Array(kinds)) = schema.get("oneOf") else { return };
    let word = |kind: &Value| Some((kind.get("const")?.clone(), kind.get("description")?.clone()));
    let Some(listed) = kinds.iter().map(word).collect::<Option<Vec<_>>>() else { return };
    let mut text = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut words = Vec::new();
    for (word, about) in listed {
        text +=
            &format!("\n- `{}`: {}", word.as_str().unwrap_or_default(), about.as_str().unwrap_or_default());
        words.push(word);
    }
    schema.remove("oneOf");
    schema.insert("description".to_owned(), json!(text));
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), Value::Array(words));
}

/// Puts what is demanded of several fields together behind a `then`: validators heed it, and generators of
/// types see one object, not a choice between several.
fn conditions_apart(schema: &mut Schema) {
    if schema.get("properties").is_some() {
        for key in ["oneOf", "anyOf"] {
            if let Some(condition) = schema.remove(key) {
                demand(schema, key, condition);
            }
        }
    }
}

/// Takes the bounds off integers of which generators would make types of their own: the elements of arrays,
/// and kinds of a setting, which keeps them behind a `then`.
fn bounds_apart(schema: &mut Schema) {
    if let Some(Value::Object(item)) = schema.get_mut("items")
        && item.get("type").is_some_and(|kind| kind == "integer")
    {
        item.remove("minimum");
        item.remove("maximum");
    }
    let kinds = schema.get_mut("anyOf").and_then(Value::as_array_mut);
    let integer = kinds.and_then(|kinds| kinds.iter_mut().find(|kind| kind["type"] == "integer"));
    let bounds =
        integer.and_then(Value::as_object_mut).map(|kind| [kind.remove("minimum"), kind.remove("maximum")]);
    if let Some([Some(least), Some(most)]) = bounds {
        demand(schema, "minimum", least);
        demand(schema, "maximum", most);
    }
}

/// Demands something by a `then` of which generators of types make nothing.
fn demand(schema: &mut Schema, key: &str, what: Value) {
    let object = schema.ensure_object();
    object.entry("if").or_insert(json!(true));
    let then = object.entry("then").or_insert_with(|| json!({}));
    then[key] = what;
}

/// Writes a reference that has a description as `allOf`: by what stands beside it, it would be a type of its
/// own.
fn named_reference(schema: &mut Schema) {
    if schema.as_object().is_some_and(|object| object.len() > 1)
        && let Some(reference) = schema.remove("$ref")
    {
        schema.insert("allOf".to_owned(), json!([{ "$ref": reference }]));
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

/// Refuses unknown fields, and lets those of extensions pass; the latter by a `then`, as a pattern makes all
/// names possible in generated types. Where each name is possible anyway, those of extensions are as others.
fn strict(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("type").is_some_and(|kind| mentions(kind, "object")) {
        schema.insert("unevaluatedProperties".to_owned(), json!(false));
        demand(schema, "patternProperties", json!({ "^x_": true }));
    }
}

fn mentions(kind: &Value, name: &str) -> bool {
    match kind {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == name),
        kind => kind == name,
    }
}
