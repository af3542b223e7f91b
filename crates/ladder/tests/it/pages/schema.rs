//! As much of JSON Schema (2020-12) as the API's document uses. A keyword that it does not know is an error,
//! so that none is passed over.

use serde_json::Value;

/// What says nothing about a value.
const NOTES: [&str; 5] = ["title", "description", "default", "examples", "format"];

/// Why a value is not what a schema of the document wants; nothing if it is.
pub(crate) fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(document, schema, value, "", &mut faults);
    faults
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let keywords = match schema {
        Value::Bool(true) => return,
        Value::Bool(false) => return faults.push(format!("{at}: nothing is allowed")),
        Value::Object(keywords) => keywords,
        _ => panic!("{schema} is no schema"),
    };
    let fits = |one: &Value| {
        let mut none = Vec::new();
        check(document, one, value, at, &mut none);
        none.is_empty()
    };
    let mut expect = |holds: bool, what: &str| {
        if !holds {
            faults.push(format!("{at}: {value} is not {what} {}", schema[what]));
        }
    };
    for (keyword, wanted) in keywords {
        let list = || wanted.as_array().unwrap();
        match keyword.as_str() {
            "type" => expect(types(wanted).any(|kind| is_of(kind, value)), "type"),
            "const" => expect(value == wanted, "const"),
            "enum" => expect(list().contains(value), "enum"),
            "anyOf" => expect(list().iter().any(fits), "anyOf"),
            "oneOf" => expect(list().iter().filter(|one| fits(one)).count() == 1, "oneOf"),
            "minimum" => expect(value.as_f64().is_none_or(|v| v >= wanted.as_f64().unwrap()), "minimum"),
            "maximum" => expect(value.as_f64().is_none_or(|v| v <= wanted.as_f64().unwrap()), "maximum"),
            "minItems" => {
                let few =
                    value.as_array().is_some_and(|items| (items.len() as u64) < wanted.as_u64().unwrap());
                expect(!few, "minItems");
            }
            "maxItems" => {
                let many =
                    value.as_array().is_some_and(|items| items.len() as u64 > wanted.as_u64().unwrap());
                expect(!many, "maxItems");
            }
            "required" => {
                let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
                expect(!value.is_object() || list().iter().all(has), "required");
            }
            "$ref" | "properties" | "additionalProperties" | "items" | "prefixItems" => {}
            known if NOTES.contains(&known) => {}
            unknown => panic!("{at}: this check does not know the keyword {unknown}"),
        }
    }
    if let Some(to) = keywords.get("$ref").and_then(Value::as_str) {
        let target = document.pointer(to.strip_prefix('#').unwrap());
        check(document, target.unwrap_or_else(|| panic!("{to} leads nowhere")), value, at, faults);
    }
    let properties = keywords.get("properties").and_then(Value::as_object);
    for (name, member) in value.as_object().into_iter().flatten() {
        let at = format!("{at}/{name}");
        match (properties.and_then(|known| known.get(name)), keywords.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema)) => check(document, schema, member, &at, faults),
            (None, None) => {}
        }
    }
    let first = keywords.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(schema) = first.get(index).or(keywords.get("items")) {
            check(document, schema, item, &format!("{at}/{index}"), faults);
        }
    }
}

fn types(wanted: &Value) -> impl Iterator<Item = &str> {
    let one = wanted.as_str().into_iter();
    one.chain(wanted.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type {other}"),
    }
}

#[test]
fn the_check_finds_faults() {
    use serde_json::json;
    let schema = json!({
        "type": "object", "required": ["a"],
        "properties": { "a": { "type": ["integer", "null"], "minimum": 1 }, "b": { "items": { "const": 7 } } },
        "additionalProperties": { "type": "string" },
    });
    for (value, count) in [
        (json!({ "a": 1 }), 0),
        (json!({ "a": null, "b": [7, 7], "c": "text" }), 0),
        (json!({}), 1),
        (json!({ "a": 0 }), 1),
        (json!({ "a": 1.5 }), 1),
        (json!({ "a": 1, "b": [7, 8] }), 1),
        (json!({ "a": 1, "c": 2 }), 1),
        (json!([]), 1),
    ] {
        assert_eq!(faults(&schema, &schema, &value).len(), count, "{value}");
    }
}
