//! The files in `schema/` are what the types say, and what the specification says of them.

use crate::readme::{README, examples};
use plyd_protocol::{schemas, schemas_of_types};
use serde_json::Value;
use std::collections::BTreeSet;
use std::{env, fs, path::Path};

#[test]
fn schema_files_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    for (name, schema) in schemas_of_types() {
        let path = folder.join(name).with_extension("json");
        if env::var_os("UPDATE_SCHEMA").is_some() {
            fs::write(&path, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
            continue;
        }
        let file: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let renew = "UPDATE_SCHEMA=1 cargo test -p plyd-protocol --test it schema";
        assert!(file == schema, "schema/{name}.json is stale; `{renew}` renews it");
    }
}

#[test]
fn the_schemas_that_are_built_in_are_those_of_the_types() {
    // As texts: so do clients get them.
    let texts = |schemas: Vec<(&'static str, Value)>| {
        schemas.into_iter().map(|(name, schema)| (name, schema.to_string()))
    };
    assert!(texts(schemas()).eq(texts(schemas_of_types())), "`UPDATE_SCHEMA=1` renews the files, see above");
}

/// The definitions of a schema's lines.
fn lines(schema: &Value) -> Vec<&Value> {
    let kinds = schema["oneOf"].as_array().unwrap().iter();
    kinds.map(|kind| follow(schema, kind)).collect()
}

fn follow<'a>(schema: &'a Value, part: &'a Value) -> &'a Value {
    let reference = if part["allOf"].is_array() { &part["allOf"][0] } else { part };
    match reference["$ref"].as_str() {
        Some(path) => schema.pointer(path.trim_start_matches('#')).expect(path),
        None => part,
    }
}

#[test]
fn each_example_of_the_specification_is_one_definition_with_all_of_its_fields() {
    let schemas: Vec<Value> = schemas().into_iter().map(|(_, schema)| schema).collect();
    let mut seen = BTreeSet::new();
    for (line, value) in examples() {
        let schema = &schemas[usize::from(value.get("cmd").is_none())];
        let is_it = |definition: &&&Value| {
            let tag = |name: &str| definition["properties"][name].get("const") == value.get(name);
            ["cmd", "type", "of"].into_iter().all(tag)
        };
        let lines = lines(schema);
        let found: Vec<&&Value> = lines.iter().filter(is_it).collect();
        let [definition] = found[..] else { panic!("{} definitions of {line}", found.len()) };
        let fields: BTreeSet<&String> = value.as_object().unwrap().keys().collect();
        let known: BTreeSet<&String> = definition["properties"].as_object().unwrap().keys().collect();
        assert!(fields.is_subset(&known), "{line}");
        let required = definition["required"].as_array().unwrap();
        assert!(required.iter().all(|name| value.get(name.as_str().unwrap()).is_some()), "{line}");
        seen.insert(definition.to_string());
    }
    assert_eq!(seen.len(), schemas.iter().map(|schema| lines(schema).len()).sum::<usize>());
}

#[test]
fn lists_are_open_and_closed_as_the_specification_says() {
    let table = README.split_once("| list | is | an unknown word |\n").expect("the table").1;
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    let told: Vec<(&str, bool)> = cells.map(|cells| (cells[0], cells[1] == "open")).collect();
    let messages = schemas().swap_remove(1).1;
    let mut lists = 0;
    for definition in messages["$defs"].as_object().unwrap().values() {
        for (name, part) in definition["properties"].as_object().into_iter().flatten() {
            let part = follow(&messages, part);
            let part = match part["anyOf"].as_array().map(Vec::as_slice) {
                Some([word, null]) if null["type"] == "null" => follow(&messages, word),
                _ => part,
            };
            let closed = ["enum", "const"].iter().any(|key| part.get(key).is_some());
            let open =
                part["anyOf"].get(0).is_some_and(|known| follow(&messages, known).get("enum").is_some());
            if closed || open {
                lists += 1;
                let is_told = told
                    .iter()
                    .any(|(words, is_open)| *is_open == open && words.contains(&format!("`{name}`")));
                assert!(is_told, "{name}: open {open} in {definition}");
            }
        }
    }
    assert!(lists > 20, "{lists}");
}
