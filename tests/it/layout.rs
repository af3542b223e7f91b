//! The shape of the code, as `src/lib.rs` describes it: which crate knows which, and no circle between the
//! modules of a folder.

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
    ("plyd-ladder", "crates/ladder", &["plyd-arena", "plyd-core", "plyd-protocol"]),
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

/// Modules of a folder that know each other because they are one concept; no others do.
const CIRCLES: [(&str, &[&str]); 2] = [
    ("crates/daemon/src", &STATE),
    // The rules say what a move does; a position is changed by methods of its rules.
    ("crates/games/src/sudoku", &["position", "rules"]),
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
    let (mut seen, mut circles) = (0, BTreeSet::from(CIRCLES.map(|(_, members)| members)));
    for (name, folder, _) in CRATES {
        let source = Path::new(folder).join("src");
        let mut files = Vec::new();
        collect(&root().join(&source), &mut Vec::new(), &mut files);
        let above = files.iter().flat_map(|(path, _)| (0..path.len()).map(|depth| path[..depth].to_vec()));
        let folders: BTreeSet<Vec<String>> = above.collect();
        for within in folders {
            let mut left = modules(&files, &within);
            seen += left.len();
            let place = within.iter().fold(source.clone(), |place, name| place.join(name));
            for (_, members) in CIRCLES.iter().filter(|(folder, _)| place == Path::new(folder)) {
                let has = |module: &String| members.contains(&module.as_str());
                left.iter_mut()
                    .filter(|(module, _)| has(module))
                    .for_each(|(_, of)| of.retain(|other| !has(other)));
                circles.remove(members);
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
            assert!(left.is_empty(), "{name} has a circle in {}: {left:#?}", place.display());
        }
    }
    assert!(seen > 250, "{seen} modules are few");
    assert!(circles.is_empty(), "there is no folder of {circles:?}");
}

/// The modules of a folder, each with those of the same folder that it names, itself or in its own folder.
fn modules(files: &[(Vec<String>, String)], within: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let depth = within.len();
    let inside = files.iter().filter(|(path, _)| path.len() > depth && path.starts_with(within));
    let mut known: BTreeMap<String, BTreeSet<String>> =
        inside.clone().map(|(path, _)| (path[depth].clone(), BTreeSet::new())).collect();
    let names: BTreeSet<String> = known.keys().cloned().collect();
    for (path, text) in inside {
        let from_top = within.iter().fold("crate::".to_owned(), |way, name| way + name + "::");
        let from_here = "super::".repeat(path.len() - depth);
        let named = paths(text, &[from_top, from_here]).into_iter();
        let others = named.filter(|name| names.contains(name) && *name != path[depth]);
        known.entry(path[depth].clone()).or_default().extend(others);
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

/// The names that follow one of these ways to a folder.
fn paths(code: &str, ways: &[String]) -> Vec<String> {
    // A way that begins or goes on with one more `super::` leads elsewhere.
    let leads =
        |at: usize, end: usize| !code[..at].ends_with("super::") && !code[end..].starts_with("super::");
    let ends = ways.iter().flat_map(|way| {
        code.match_indices(way).map(|(at, _)| (at, at + way.len())).filter(|(at, end)| leads(*at, *end))
    });
    let mut names = Vec::new();
    for (_, at) in ends {
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
