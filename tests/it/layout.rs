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
    ("plyd-ladder", "crates/ladder", &["plyd-arena", "plyd-bridge", "plyd-core", "plyd-protocol"]),
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
            "plyd-ladder",
            "plyd-protocol",
        ],
    ),
];

/// What the searches and the games must not know.
const FOREIGN: [&str; 4] = ["serde", "serde_json", "tokio", "tracing"];

/// The daemon's state is one value under one lock, with a file a concept; `shared` holds the lock, and the
/// threads take it. These files know each other, and no others do.
const STATE: [&str; 21] = [
    "conn",
    "heartbeat",
    "holdings",
    "identity",
    "intake",
    "job",
    "kept",
    "metrics",
    "places",
    "pool",
    "prepare",
    "refusals",
    "reload",
    "schedule",
    "session",
    "shared",
    "state",
    "threads",
    "transport",
    "unread",
    "worker",
];

/// Modules of a folder that know each other because they are one concept; no others do.
const CIRCLES: [(&str, &[&str]); 1] = [("crates/daemon/src", &STATE)];

/// The module that a crate's own file is.
const LIB: &str = "lib";

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

/// The modules of a folder, each with those of the same folder that it names, itself or in its own folder. A
/// name that the folder's file only passes on is its module's. Of a crate the file `lib` is a module, too, if
/// others name what it defines.
fn modules(files: &[(Vec<String>, String)], within: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let depth = within.len();
    let inside = files.iter().filter(|(path, _)| path.len() > depth && path.starts_with(within));
    let mut known: BTreeMap<String, BTreeSet<String>> =
        inside.clone().map(|(path, _)| (path[depth].clone(), BTreeSet::new())).collect();
    let own = files.iter().find(|(path, _)| path == within).map_or("", |(_, text)| text);
    let mut names: BTreeMap<String, String> =
        known.keys().map(|module| (module.clone(), module.clone())).collect();
    for (name, module) in passed_on(own) {
        if known.contains_key(&module) {
            names.entry(name).or_insert(module);
        }
    }
    if within.is_empty() {
        let of_lib = known.keys().filter(|module| is_used(own, module)).cloned().collect();
        names.extend(defined(own).map(|name| (name, LIB.to_owned())));
        known.insert(LIB.to_owned(), of_lib);
    }
    for (path, text) in inside {
        let from_top = within.iter().fold("crate::".to_owned(), |way, name| way + name + "::");
        let from_here = "super::".repeat(path.len() - depth);
        let named = paths(text, &[from_top, from_here]).into_iter();
        let others = named.filter_map(|name| names.get(&name).cloned()).filter(|name| *name != path[depth]);
        known.entry(path[depth].clone()).or_default().extend(others);
    }
    known
}

/// The names that a file passes on from its modules, each with the module.
fn passed_on(code: &str) -> Vec<(String, String)> {
    let uses = code.split('\n').enumerate().filter(|(_, line)| line.starts_with("pub"));
    let uses = uses.filter_map(|(at, line)| Some((at, line.split_once(" use ")?.1)));
    let mut names = Vec::new();
    for (at, first) in uses {
        let rest = code.split('\n').skip(at + 1);
        let all: String = std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ");
        let mut words = words(all.split(';').next().unwrap()).skip_while(|word| word == "self");
        if let Some(module) = words.next() {
            names.extend(words.map(|name| (name, module.clone())));
        }
    }
    names
}

/// The names of what a file defines.
fn defined(code: &str) -> impl Iterator<Item = String> + '_ {
    const KINDS: [&str; 7] = ["struct", "enum", "trait", "type", "fn", "const", "static"];
    code.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| {
        let is_kind = |word: &String| KINDS.contains(&word.as_str());
        words(line).skip_while(|word| !is_kind(word)).find(|word| !is_kind(word))
    })
}

/// Whether a file uses a module of its own, and does not only pass on what it holds.
fn is_used(code: &str, module: &str) -> bool {
    let way = format!("{module}::");
    let is_begin = |at: usize| {
        let before = code[..at].strip_suffix("crate::").unwrap_or(&code[..at]);
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
    };
    let is_passed_on = |at: usize| code[..at].lines().last().is_some_and(|line| line.starts_with("pub"));
    code.match_indices(&way).any(|(at, _)| is_begin(at) && !is_passed_on(at))
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|word| !word.is_empty()).map(str::to_owned)
}

/// The files of a folder by the paths of their modules, without tests; a crate's own file has an empty path.
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
            if module == [LIB] {
                module.clear();
            }
            if module != ["main"] && !module.iter().any(|name| name == "tests") {
                files.push((module, without_tests(&fs::read_to_string(path).unwrap())));
            }
        }
    }
}

/// The code of a file: no comments, and no tests, which stand last.
fn without_tests(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
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
        let mut words = words(group.unwrap_or(rest));
        // A group names several; what stands deeper in it does no harm.
        if group.is_some() {
            names.extend(words);
        } else {
            names.extend(words.next());
        }
    }
    names
}

#[test]
fn a_circle_through_what_a_file_passes_on_or_defines_is_found() {
    let file = |path: &[&str], text: &str| {
        (path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), text.to_owned())
    };
    let files = [
        file(
            &[],
            "mod a;\nmod b;\nmod c;\npub use a::{\n    A,\n    Other,\n};\npub(crate) use b::B;\nuse c::C;\n\
             pub const fn new() {}\n\
             pub struct Match {\n    c: C,\n}\n",
        ),
        file(&["a"], "use super::B;\n"),
        file(&["b"], "use crate::{Other, std};\n"),
        file(&["c"], "use crate::{Match, new};\n"),
    ];
    let known = modules(&files, &[]);
    let of = |module: &str| known[module].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!([of("a"), of("b"), of("c"), of(LIB)], [vec!["b"], vec!["a"], vec![LIB], vec!["c"]]);
}
