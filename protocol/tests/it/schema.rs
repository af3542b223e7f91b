//! The files in `schema/` are what the types say.

use plyd_protocol::{schemas, schemas_of_types};
use serde_json::Value;
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
