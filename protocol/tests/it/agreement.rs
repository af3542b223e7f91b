//! The decoder and the request schema say the same: what the schema says of each field is tried on the
//! decoder.

use plyd_protocol::{Command, DecodeError, Request, decode, schemas};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Requests that together hold every field.
const REQUESTS: &str = r#"
{"id":"1","cmd":"hello","protocol":{"min":0,"max":65535},"client":{"name":"c","version":"1"},"token":"t","require":["f"],"on_eof":"stop","resume":{"keep_ms":1}}
{"id":"1","cmd":"hello","protocol":{"min":0,"max":65535},"resume":{"token":"t","seq":1}}
{"id":"1","cmd":"ping","echo":"e"}
{"id":"1","cmd":"describe","what":"game","game":"ijk"}
{"id":"1","cmd":"newgame","session":"s","game":"ijk","rules":{"size":4},"options":{"threads":1},"seed":"ff"}
{"id":"1","cmd":"setoption","session":"s","options":{"threads":1}}
{"id":"1","cmd":"close","session":"s","connection":7}
{"id":"1","cmd":"inspect","session":"s","position":{"start":"p","moves":["m"]},"want":["eval"]}
{"id":"1","cmd":"inspect","game":"ijk","rules":{"size":4},"position":{}}
{"id":"1","cmd":"inspect","game":"ijk","position":{},"want":["edits"],"draft":"p"}
{"id":"1","cmd":"go","session":"s","position":{"start":"p","moves":["m"]},"mode":"move","clock":{"kind":"per_move","ms":1},"limit":{"nodes":1,"depth":1,"time_ms":1},"hard_ms":1,"elapsed_ms":1,"overhead_ms":1,"multipv":2,"searchmoves":["m"],"excludemoves":["m"],"info":{"events":["started"],"min_interval_ms":1},"options":{"depth":1},"queue":true}
{"id":"1","cmd":"go","game":"ijk","rules":{"size":4},"position":{},"clock":{"kind":"increment","me_ms":1,"opp_ms":1,"inc_ms":1,"opp_inc_ms":1,"moves_to_go":1}}
{"id":"1","cmd":"go","session":"s","position":{},"clock":{"kind":"delay","me_ms":1,"opp_ms":1,"delay_ms":1}}
{"id":"1","cmd":"go","session":"s","position":{},"clock":{"kind":"bank","turn_ms":1,"bank_ms":1}}
{"id":"1","cmd":"go","session":"s","position":{},"clock":{"kind":"anytime","hint_ms":1}}
{"id":"1","cmd":"go","session":"s","position":{},"clock":{"kind":"none"}}
{"id":"1","cmd":"update","target":"g","clock":{"kind":"none"},"limit":{"nodes":1},"hard_ms":1,"mode":"move"}
{"id":"1","cmd":"stop","target":"g","discard":true}
{"id":"1","cmd":"stop","session":"s","discard":true}
{"id":"1","cmd":"stop","all":true}
{"id":"1","cmd":"status"}
{"id":"1","cmd":"connections","after":7}
{"id":"1","cmd":"disconnect","connection":7}
{"id":"1","cmd":"disconnect","client":"alice"}
{"id":"1","cmd":"quit","mode":"stop"}
"#;

struct Check<'a> {
    schema: &'a Value,
    request: &'a Value,
    /// The places in the schema that were reached.
    reached: &'a mut BTreeSet<String>,
}

impl<'a> Check<'a> {
    fn follow(&self, schema: &'a Value) -> &'a Value {
        let reference = if schema["allOf"].is_array() { &schema["allOf"][0] } else { schema };
        match reference["$ref"].as_str() {
            Some(path) => self.schema.pointer(path.trim_start_matches('#')).expect(path),
            None => schema,
        }
    }

    /// Decodes the request with the value at `pointer` replaced, or removed.
    fn with(&self, pointer: &str, value: Option<Value>) -> Result<Request, DecodeError> {
        let mut request = self.request.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let parent = request.pointer_mut(parent).unwrap();
        match (parent, value) {
            (Value::Object(fields), Some(value)) => drop(fields.insert(name.to_owned(), value)),
            (Value::Object(fields), None) => drop(fields.remove(name)),
            (parent, value) => parent[name.parse::<usize>().unwrap()] = value.unwrap(),
        }
        decode(request.to_string().as_bytes())
    }

    fn refused(&self, pointer: &str, value: Option<Value>, code: &str) {
        let case = format!("{} with {value:?} at {pointer}", self.request);
        let fault = self.with(pointer, value).expect_err(&case);
        let found = serde_json::to_value(fault.code).unwrap();
        assert_eq!((found.as_str(), fault.pointer.as_deref()), (Some(code), Some(pointer)), "{case}");
    }

    fn taken(&self, pointer: &str, value: Value) {
        let case = format!("{} with {value} at {pointer}", self.request);
        self.with(pointer, Some(value)).expect(&case);
    }

    fn value(&mut self, schema: &'a Value, pointer: &str) {
        let schema = self.follow(schema);
        if schema.get("const").is_none() {
            self.refused(pointer, Some(Value::Null), if pointer == "/id" { "bad_id" } else { "wrong_type" });
        }
        match schema["type"].as_str() {
            Some("integer") => {
                let (min, max) = (schema["minimum"].as_i64().unwrap(), schema["maximum"].as_i64().unwrap());
                self.taken(pointer, json!(min));
                self.taken(pointer, json!(max));
                self.refused(pointer, Some(json!(min - 1)), "out_of_range");
                self.refused(pointer, Some(json!(max + 1)), "out_of_range");
                self.refused(pointer, Some(json!(1.5)), "not_integer");
                self.refused(pointer, Some(json!("1")), "wrong_type");
            }
            Some("string") => {
                if let Some(words) = schema["enum"].as_array() {
                    words.iter().for_each(|word| self.taken(pointer, word.clone()));
                    self.refused(pointer, Some(json!("no such word")), "bad_enum");
                }
                if schema.get("pattern").is_some() {
                    let code = if pointer == "/id" { "bad_id" } else { "out_of_range" };
                    self.refused(pointer, Some(json!("é /")), code);
                    self.refused(pointer, Some(json!("")), code);
                }
                if let Some(max) = schema["maxLength"].as_u64() {
                    self.taken(pointer, json!("é".repeat(max as usize)));
                    self.refused(pointer, Some(json!("é".repeat(max as usize + 1))), "out_of_range");
                }
            }
            Some("boolean") => self.refused(pointer, Some(json!(1)), "wrong_type"),
            Some("array") => {
                self.refused(pointer, Some(json!({})), "wrong_type");
                self.value(&schema["items"], &format!("{pointer}/0"));
            }
            Some("object") => self.object(schema, pointer),
            _ => self.one_of(schema, pointer),
        }
    }

    /// A clock: declared as the list of its kinds.
    fn one_of(&mut self, schema: &'a Value, pointer: &str) {
        let Some(kinds) = schema["oneOf"].as_array() else {
            return;
        };
        let word = &self.request.pointer(pointer).unwrap()["kind"];
        let is_it = |kind: &&Value| kind["properties"]["kind"]["const"] == *word;
        let kind = kinds.iter().map(|kind| self.follow(kind)).find(is_it).unwrap();
        self.refused(&format!("{pointer}/kind"), Some(json!("no such word")), "bad_enum");
        self.object(kind, pointer);
    }

    fn object(&mut self, schema: &'a Value, pointer: &str) {
        self.taken(&format!("{pointer}/x_more"), json!([1.5, null]));
        if schema["unevaluatedProperties"] == false {
            assert_eq!(schema["then"]["patternProperties"]["^x_"], true, "{pointer}");
            self.refused(&format!("{pointer}/more"), Some(Value::Null), "unknown_field");
        } else {
            let setting = format!("{pointer}/more");
            for value in [json!(true), json!(-1), json!("text")] {
                self.taken(&setting, value);
            }
            self.refused(&setting, Some(json!([])), "wrong_type");
            self.refused(&setting, Some(json!(0.5)), "not_integer");
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            self.refused(&format!("{pointer}/{}", name.as_str().unwrap()), None, "missing_field");
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let field = format!("{pointer}/{name}");
            if self.request.pointer(&field).is_none() {
                continue;
            }
            self.reached.insert(format!("{property:p}"));
            self.value(property, &field);
            if let (Some(default), Ok(without)) = (property.get("default"), self.with(&field, None)) {
                assert_eq!(self.with(&field, Some(default.clone())), Ok(without), "{field}");
            }
        }
    }
}

fn properties<'a>(schema: &'a Value, all: &mut Vec<(String, &'a Value)>) {
    if let Value::Object(fields) = schema {
        for (name, property) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
            all.push((name.clone(), property));
        }
        // Conditions repeat properties that stand elsewhere.
        let parts = fields.iter().filter(|(key, _)| !["if", "then"].contains(&key.as_str()));
        parts.for_each(|(_, value)| properties(value, all));
    }
    if let Value::Array(items) = schema {
        items.iter().for_each(|item| properties(item, all));
    }
}

#[test]
fn what_the_schema_says_of_each_field_holds_for_the_decoder() {
    let (name, schema) = schemas().swap_remove(0);
    assert_eq!(name, "requests");
    let follow = |kind: &Value| {
        let path = kind["$ref"].as_str().unwrap().trim_start_matches('#');
        schema.pointer(path).expect(path)
    };
    let commands: Vec<&Value> = schema["oneOf"].as_array().unwrap().iter().map(follow).collect();
    let cmd = |command: &Value| command["properties"]["cmd"]["const"].as_str().unwrap().to_owned();
    assert_eq!(commands.iter().map(|command| cmd(command)).collect::<Vec<_>>(), Command::NAMES);
    let mut reached = BTreeSet::new();
    for line in REQUESTS.trim().lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        decode(line.as_bytes()).expect(line);
        let command = commands.iter().find(|command| cmd(command) == request["cmd"]).expect(line);
        Check { schema: &schema, request: &request, reached: &mut reached }.object(command, "");
    }
    let mut all = Vec::new();
    properties(&schema, &mut all);
    for (name, property) in all {
        assert!(
            reached.contains(&format!("{property:p}")),
            "no request of this test has `{name}`: {property}"
        );
    }
}
