//! The shape of the code, as `src/lib.rs` describes it: which crate knows which, and no circle between the
//! modules of a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with its folder and the crates of this workspace that it may know.
const CRATES: [(&str, &str, &[&str]); 9] = [
    ("plyd-core", "crates/core", &[]),
    ("plyd-games", "crates/games", &["plyd-core"]),
    ("plyd-protocol", "protocol", &[]),
    ("plyd-bridge", "crates/bridge", &["plyd-core", "plyd-protocol"]),
    ("plyd-daemon", "crates/daemon", &["plyd-bridge", "plyd-core", "plyd-protocol"]),
    ("plyd-arena", "crates/arena", &["plyd-bridge", "plyd-core", "plyd-protocol"]),
    ("plyd-conform", "crates/conform", &["plyd-bridge", "plyd-core", "plyd-protocol"]),
    ("plyd-ladder", "crates/ladder", &["plyd-arena", "plyd-core"]),
    (
        "plyd",
        "",
        &[
            "plyd-arena",
            "plyd-bridge",
            "plyd-conform",
            "plyd-core",
            "plyd-daemon",
            "plyd-games",
            "plyd-protocol",
        ],
    ),
];

/// What the searches and the games must not know.
const FOREIGN: [&str; 4] = ["serde", "serde_json", "tokio", "tracing"];

/// The daemon's state is one value under one lock, with a file a concept: these files know each other, and no
/// others do.
const STATE: [&str; 19] = [
    "conn",
    "holdings",
    "identity",
    "intake",
    "job",
    "kept",
    "metrics",
    "places",
    "prepare",
    "refusals",
    "schedule",
    "session",
    "spans",
    "state",
    "threads",
    "timers",
    "transport",
    "waiting",
    "worker",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The names in a manifest's `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let names = lines.take_while(|line| !line.starts_with('['));
    names
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split(['.', ' ', '=']).next().unwrap().to_owned())
        .collect()
}

#[test]
fn crates_know_only_those_above_them() {
    for (name, folder, allowed) in CRATES {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let known = dependencies(&manifest);
        let ours: BTreeSet<&str> =
            known.iter().map(String::as_str).filter(|of| of.starts_with("plyd-")).collect();
        assert_eq!(ours, allowed.iter().copied().collect(), "{name}");
        if ["plyd-core", "plyd-games"].contains(&name) {
            let foreign: Vec<&str> = FOREIGN.into_iter().filter(|of| known.contains(*of)).collect();
            assert_eq!(foreign, [""; 0], "{name}");
        }
    }
    let folders = fs::read_dir(root().join("crates")).unwrap().count();
    assert_eq!(folders + 2, CRATES.len(), "each crate stands in the table");
}

#[test]
fn no_modules_know_each_other_in_a_circle() {
    let mut seen = 0;
    for (name, folder, _) in CRATES {
        let known = modules(&root().join(folder).join("src"));
        seen += known.len();
        let mut left = known;
        if name == "plyd-daemon" {
            let state = left.iter_mut().filter(|(module, _)| STATE.contains(&module.as_str()));
            state.for_each(|(_, of)| of.retain(|other| !STATE.contains(&other.as_str())));
        }
        // Whoever knows nobody who is left cannot be in a circle.
        loop {
            let names: BTreeSet<String> = left.keys().cloned().collect();
            let before = left.len();
            left.retain(|_, of| of.iter().any(|other| names.contains(other)));
            if left.len() == before {
                break;
            }
        }
        assert!(left.is_empty(), "{name} has a circle: {left:#?}");
    }
    assert!(seen > 50, "{seen} modules are few");
}

/// The top modules of a crate, each with those that it names.
fn modules(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut files = Vec::new();
    collect(source, &mut Vec::new(), &mut files);
    let tops: BTreeSet<String> = files.iter().map(|(path, _)| path[0].clone()).collect();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in &files {
        let names =
            paths(text, path.len()).into_iter().filter(|name| tops.contains(name) && *name != path[0]);
        known.entry(path[0].clone()).or_default().extend(names);
    }
    known
}

/// The files of a folder by the paths of their modules, without tests and without the crate's own file.
fn collect(folder: &Path, within: &mut Vec<String>, files: &mut Vec<(Vec<String>, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            within.push(stem);
            collect(&path, within, files);
            within.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let mut module = within.clone();
            if stem != "mod" {
                module.push(stem);
            }
            let is_root = within.is_empty() && ["lib", "main"].contains(&module[0].as_str());
            if !is_root && !module.iter().any(|name| name == "tests") {
                files.push((module, without_tests(&fs::read_to_string(path).unwrap())));
            }
        }
    }
}

/// The code of a file: no comments, and no tests, which stand last.
fn without_tests(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod tests").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The names that follow `crate::`, and `super::` where that leads to the crate's root from a module so deep.
fn paths(code: &str, depth: usize) -> Vec<String> {
    let root = "super::".repeat(depth);
    let ends = ["crate::", &root]
        .map(|way| code.match_indices(way).map(|(at, _)| at + way.len()).collect::<Vec<_>>());
    let mut names = Vec::new();
    for at in ends.into_iter().flatten() {
        let rest = &code[at..];
        let group = rest.strip_prefix('{').map(|group| group.split(';').next().unwrap());
        let mut words = group
            .unwrap_or(rest)
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .map(str::to_owned);
        // A group names several; what stands deeper in it does no harm.
        if group.is_some() {
            names.extend(words);
        } else {
            names.extend(words.next());
        }
    }
    names
}
