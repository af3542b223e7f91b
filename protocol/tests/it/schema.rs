//! The files in `schema/` are what the types say, and what the specification says of them.

use crate::readme::{README, examples};
use plyd_protocol::{ladder_schemas_of_types, schemas, schemas_of_types};
use serde_json::Value;
use std::collections::BTreeSet;
use std::{env, fs, path::Path};

#[test]
fn schema_files_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
    for (name, schema) in schemas_of_types().into_iter().chain(ladder_schemas_of_types()) {
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
        seen.insert(definition(&schemas, line, &value).to_string());
    }
    assert_eq!(seen.len(), schemas.iter().map(|schema| lines(schema).len()).sum::<usize>());
}

/// The one definition of a line in the schemas of requests and of messages, which has all of its fields.
fn definition<'a>(schemas: &'a [Value], line: &str, value: &Value) -> &'a Value {
    let schema = &schemas[usize::from(value.get("cmd").is_none())];
    let is_it = |definition: &&&Value| {
        let tag = |name: &str| definition["properties"][name].get("const") == value.get(name);
        ["cmd", "type", "of"].into_iter().all(tag)
    };
    let lines = lines(schema);
    let found: Vec<&&Value> = lines.iter().filter(is_it).collect();
    let [definition] = found[..] else { panic!("{} definitions of {line}", found.len()) };
    let fields: BTreeSet<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .filter(|name| !name.starts_with("x_"))
        .collect();
    let known: BTreeSet<&str> =
        definition["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert!(fields.is_subset(&known), "{line}");
    let required = definition["required"].as_array().unwrap();
    assert!(required.iter().all(|name| value.get(name.as_str().unwrap()).is_some()), "{line}");
    definition
}

#[test]
fn what_a_ladder_and_a_bot_say_in_the_specification_is_in_their_schemas() {
    let schemas: Vec<Value> = ladder_schemas_of_types().into_iter().map(|(_, schema)| schema).collect();
    let chapter = README.split_once("## 13. ").expect("the chapter").1;
    let block = chapter.split("```").nth(1).expect("its examples");
    let lines: Vec<&str> = block.lines().filter(|line| line.starts_with('{')).collect();
    assert_eq!(lines.len(), 6);
    for line in lines {
        definition(&schemas, line, &serde_json::from_str(line).expect(line));
    }
}

#[test]
fn the_fields_of_an_offer_and_an_over_are_those_of_the_specification() {
    let schema = &ladder_schemas_of_types()[0].1;
    for (name, heading) in [("Offer", "| field of `offer` | |\n"), ("Over", "| field of `over` | |\n")] {
        let table = README.split_once(heading).expect(heading).1;
        let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
        let told = rows.flat_map(|row| row.split('|').nth(1).unwrap().split(", ")).map(str::trim);
        let told: BTreeSet<&str> = told.map(|name| name.trim_matches('`')).collect();
        let known = schema["$defs"][name]["properties"].as_object().unwrap();
        let known: BTreeSet<&str> =
            known.keys().map(String::as_str).filter(|name| !["id", "cmd"].contains(name)).collect();
        assert_eq!(known, told);
    }
}

#[test]
fn lists_are_open_and_closed_as_the_specification_says() {
    let table = README.split_once("| list | is | an unknown word |\n").expect("the table").1;
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    let told: Vec<(&str, bool)> = cells.map(|cells| (cells[0], cells[1] == "open")).collect();
    let mut lists = 0;
    for (_, messages) in [schemas().swap_remove(1), ladder_schemas_of_types().swap_remove(1)] {
        lists += lists_as_told(&messages, &told);
    }
    assert!(lists > 20, "{lists}");
}

/// How many fields of messages hold a word of a list, each open or closed as it is told.
fn lists_as_told(messages: &Value, told: &[(&str, bool)]) -> usize {
    let mut lists = 0;
    for definition in messages["$defs"].as_object().unwrap().values() {
        for (name, part) in definition["properties"].as_object().into_iter().flatten() {
            let part = follow(messages, part);
            let part = match part["anyOf"].as_array().map(Vec::as_slice) {
                Some([word, null]) if null["type"] == "null" => follow(messages, word),
                _ => part,
            };
            let closed = ["enum", "const"].iter().any(|key| part.get(key).is_some());
            let open =
                part["anyOf"].get(0).is_some_and(|known| follow(messages, known).get("enum").is_some());
            if closed || open {
                lists += 1;
                let is_told = told
                    .iter()
                    .any(|(words, is_open)| *is_open == open && words.contains(&format!("`{name}`")));
                assert!(is_told, "{name}: open {open} in {definition}");
            }
        }
    }
    lists
}
