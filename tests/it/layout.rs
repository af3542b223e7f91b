//! The shape of the code, as `src/lib.rs` describes it: which crate knows which, and no circle between the
//! modules of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with its folder and the crates of this workspace that it may know; those of the games come to
/// them, each of which knows the core alone.
const CRATES: [(&str, &str, &[&str]); 12] = [
    ("plyd-core", "crates/core", &[]),
    (GAMES, "crates/games", &["plyd-core"]),
    ("plyd-protocol", "protocol", &[]),
    ("plyd-client", "crates/client", &["plyd-protocol"]),
    ("plyd-bridge", "crates/bridge", &["plyd-core", "plyd-protocol"]),
    ("plyd-daemon", "crates/daemon", &["plyd-bridge", "plyd-core", "plyd-protocol"]),
    ("plyd-arena", "crates/arena", &["plyd-bridge", "plyd-client", "plyd-core", "plyd-protocol"]),
    ("plyd-conform", "crates/conform", &["plyd-bridge", "plyd-client", "plyd-core", "plyd-protocol"]),
    (
        "plyd-ladder",
        "crates/ladder",
        &["plyd-arena", "plyd-bridge", "plyd-client", "plyd-core", "plyd-protocol"],
    ),
    ("plyd-fleet", "crates/fleet", &["plyd-arena", "plyd-bridge", "plyd-core", "plyd-protocol"]),
    ("plyd-mcp", "crates/mcp", &["plyd-bridge", "plyd-core", "plyd-daemon", "plyd-protocol"]),
    (
        "plyd",
        "",
        &[
            "plyd-arena",
            "plyd-bridge",
            "plyd-client",
            "plyd-conform",
            "plyd-core",
            "plyd-daemon",
            "plyd-fleet",
            "plyd-games",
            "plyd-ladder",
            "plyd-mcp",
            "plyd-protocol",
        ],
    ),
];

/// The crate that knows those of all games, which are in its folder.
const GAMES: &str = "plyd-games";

/// The crates of the searches and the games, which are functions of their arguments and the clock; with them
/// the crate of each game.
const FUNCTIONAL: [&str; 2] = ["plyd-core", GAMES];

/// All that they may know of others, on any system, directly or below: a mathematical library, what
/// prefetches memory, and what reads the CPU time of a thread.
const LIBRARIES: [&str; 9] = [
    "bitflags",
    "errno",
    "libc",
    "libm",
    "linux-raw-sys",
    "prefetch-index",
    "rustix",
    "windows-link",
    "windows-sys",
];

/// Words that they must not use, each with the one module that may. The environment says how much tests
/// check.
const IMPURE: [(&str, Option<&str>); 9] = [
    ("env", Some("engine::conformance::chosen")),
    ("fs", None),
    ("io", None),
    ("net", None),
    ("process", None),
    ("os", None),
    ("Instant", Some(CLOCK)),
    ("SystemTime", Some(CLOCK)),
    ("rustix", Some(CLOCK)),
];

/// The module that reads time.
const CLOCK: &str = "search::clock";

/// The module that a crate's own file is.
const LIB: &str = "lib";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// A crate of this workspace.
struct Crate {
    name: String,
    folder: PathBuf,
    known: BTreeSet<String>,
    is_game: bool,
}

impl Crate {
    fn is_functional(&self) -> bool {
        self.is_game || FUNCTIONAL.contains(&&*self.name)
    }
}

fn crates() -> Vec<Crate> {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
    let mut crates: Vec<Crate> = CRATES
        .iter()
        .map(|(name, folder, known)| Crate {
            name: (*name).to_owned(),
            folder: root().join(folder),
            known: names(known),
            is_game: false,
        })
        .collect();
    let all = crates.iter().position(|one| one.name == GAMES).unwrap();
    for entry in fs::read_dir(&crates[all].folder).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("Cargo.toml").is_file() {
            let name = format!("plyd-{}", folder.file_name().unwrap().to_str().unwrap());
            crates[all].known.insert(name.clone());
            let known = names(&["plyd-core"]);
            crates.push(Crate { name, folder, known, is_game: true });
        }
    }
    crates
}

/// The names of what a manifest needs to build, on any system; what tests need is left out.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_list = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let (before, name) = section.rsplit_once("dependencies").unwrap_or((section, "."));
            is_list = name.is_empty() && !before.ends_with("dev-");
            // A section of its own, such as `[dependencies.serde]`.
            let own = name.strip_prefix('.').filter(|name| !name.is_empty() && !before.ends_with("dev-"));
            names.extend(own.map(str::to_owned));
        } else if is_list && !line.starts_with('#') && !line.is_empty() {
            names.insert(line.split(['.', ' ', '=']).next().unwrap().to_owned());
        }
    }
    names
}

/// What each package of a lock file knows. Packages are `NAME VERSION`, and so is what they know if there are
/// several of that name; else it is the name.
fn locked(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let quoted = |line: &str| line.split('"').nth(1).map(str::to_owned);
    let read = |package: &str| {
        let field = |name: &str| package.lines().find_map(|line| line.strip_prefix(name).and_then(quoted));
        let list = package.split_once("dependencies = [").and_then(|(_, list)| list.split(']').next());
        let name = format!("{} {}", field("name = ").unwrap(), field("version = ").unwrap());
        (name, list.unwrap_or("").lines().filter_map(quoted).collect())
    };
    lock.split("[[package]]").skip(1).map(read).collect()
}

/// The names of all that these packages know, directly or below.
fn below(names: BTreeSet<String>, packages: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut left: Vec<String> = names.into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(package) = left.pop() {
        let is_it = |key: &String| *key == package || key.split(' ').next() == Some(&package);
        let known = packages.iter().filter(|(key, _)| is_it(key)).flat_map(|(_, known)| known);
        left.extend(known.filter(|other| !seen.contains(*other)).cloned());
        seen.insert(package);
    }
    seen.iter().map(|package| package.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn crates_know_only_those_above_them() {
    let packages = locked(&fs::read_to_string(root().join("Cargo.lock")).unwrap());
    for one in crates() {
        let is_functional = one.is_functional();
        let Crate { name, folder, known, .. } = one;
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let (ours, others): (BTreeSet<String>, BTreeSet<String>) =
            dependencies(&manifest).into_iter().partition(|of| of.starts_with("plyd-"));
        assert_eq!(ours, known, "{name}");
        if is_functional {
            let all = below(others, &packages);
            let more: Vec<&String> = all.iter().filter(|of| !LIBRARIES.contains(&of.as_str())).collect();
            assert!(more.is_empty(), "{name} knows {more:?}");
        }
    }
    let folders = fs::read_dir(root().join("crates")).unwrap().count();
    assert_eq!(folders + 2, CRATES.len(), "each crate stands in the table");
}

/// What a profile does not name is optimised as searches need it, which would make others slow to build.
#[test]
fn the_profiles_name_every_crate_that_does_not_search() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for (profile, others) in [("release", None), ("dist", None), ("dev", Some("plyd-protocol"))] {
        let (_, list) = manifest.split_once(&format!("\n[profile.{profile}.package]\n")).unwrap();
        let lines = list.lines().take_while(|line| !line.starts_with('['));
        let named: BTreeSet<&str> = lines.filter_map(|line| line.split(['.', ' ']).next()).collect();
        for (name, ..) in CRATES {
            let is_left_out = FUNCTIONAL.contains(&name) || others == Some(name);
            assert_eq!(named.contains(name), !is_left_out, "{profile}: {name}");
        }
    }
}

#[test]
fn what_a_crate_needs_is_found_in_every_section_and_below() {
    let manifest = "[package]\nname = \"a\"\n\n[dependencies]\n# No `x`.\nb.workspace = true\nc = \"1\"\n\n\
                    [dev-dependencies]\nd = \"1\"\n\n[target.'cfg(unix)'.dependencies]\ne = { version = \"1\" }\n\n\
                    [dependencies.f]\nversion = \"1\"\n\n[dev-dependencies.g]\nversion = \"1\"\n\n\
                    [build-dependencies]\nh = \"1\"\n\n[features]\ni = []\n";
    let names: Vec<String> = dependencies(manifest).into_iter().collect();
    assert_eq!(names, ["b", "c", "e", "f", "h"]);
    let lock = "version = 4\n\n[[package]]\nname = \"b\"\nversion = \"1.0.0\"\ndependencies = [\n \"k\",\n \"l 2.0.0\",\n]\n\n\
                [[package]]\nname = \"l\"\nversion = \"2.0.0\"\ndependencies = [\n \"b\",\n \"m\",\n]\n\n\
                [[package]]\nname = \"l\"\nversion = \"1.0.0\"\ndependencies = [\n \"of-another\",\n]\n\n\
                [[package]]\nname = \"n\"\nversion = \"1.0.0\"\n";
    let all = below(["b".to_owned()].into(), &locked(lock));
    assert_eq!(all.into_iter().collect::<Vec<_>>(), ["b", "k", "l", "m"]);
}

/// The impure words of a file that it must not use.
fn impure(module: &str, code: &str) -> Vec<&'static str> {
    // Of the standard library these are modules, and elsewhere ordinary words.
    let of_std = paths(code, &["std::".to_owned()]);
    let all: BTreeSet<String> = words(code).collect();
    let is_used = |word: &str| {
        let is_module = word.starts_with(|first: char| first.is_ascii_lowercase()) && word != "rustix";
        if is_module { of_std.iter().any(|name| name == word) } else { all.contains(word) }
    };
    let forbidden = IMPURE.iter().filter(|(word, who)| is_used(word) && *who != Some(module));
    forbidden.map(|(word, _)| *word).collect()
}

#[test]
fn the_searches_and_the_games_do_no_io_and_read_time_in_one_place() {
    let (mut seen, mut found) = (0, Vec::new());
    for Crate { name, folder, .. } in crates().into_iter().filter(Crate::is_functional) {
        let mut files = Vec::new();
        collect(&folder.join("src"), &mut Vec::new(), &mut files);
        seen += files.len();
        for (path, code) in files {
            let module = path.join("::");
            found.extend(impure(&module, &code).into_iter().map(|word| format!("{name} {module}: {word}")));
        }
    }
    assert!(seen > 80, "{seen} files are few");
    assert!(found.is_empty(), "{found:#?}");
    for (module, code, words) in [
        ("play", "let x = std::fs::read(path);", &["fs"][..]),
        ("play", "use std::{cmp, io::Read};", &["io"]),
        ("play", "use std::time::Instant;", &["Instant"]),
        (CLOCK, "use std::time::Instant;\nrustix::time::now();", &[]),
        ("play", "rustix::fs::open(path);", &["rustix"]),
        ("play", "// std::cmp\nlet process = of.env;", &[]),
    ] {
        assert_eq!(impure(module, code), words, "{code}");
    }
}

/// A folder's own file and its modules may know each other: that is how one value is written with a file a
/// concept, such as the daemon's `State`. So may the `lib.rs` and the modules of a game's crate.
#[test]
fn no_modules_know_each_other_in_a_circle() {
    let mut seen = 0;
    for Crate { name, folder, is_game, .. } in crates() {
        let source = folder.join("src");
        let mut files = Vec::new();
        collect(&source, &mut Vec::new(), &mut files);
        let above = files.iter().flat_map(|(path, _)| (0..path.len()).map(|depth| path[..depth].to_vec()));
        let folders: BTreeSet<Vec<String>> = above.collect();
        for within in folders {
            let mut left = modules(&files, &within, !is_game);
            seen += left.len();
            // Whoever knows nobody who is left cannot be in a circle.
            loop {
                let names: BTreeSet<String> = left.keys().cloned().collect();
                let before = left.len();
                left.retain(|_, of| of.iter().any(|other| names.contains(other)));
                if left.len() == before {
                    break;
                }
            }
            let place = within.iter().fold(source.clone(), |place, name| place.join(name));
            assert!(left.is_empty(), "{name} has a circle in {}: {left:#?}", place.display());
        }
    }
    assert!(seen > 250, "{seen} modules are few");
}

/// The layers of the daemon, each with the value that it is about. The circles above would let a higher layer
/// give methods to the value of a lower one, and that layer call them: no path names their file.
const LAYERS: [(&str, &str); 3] = [("state", "State"), ("runtime", "Shared"), ("daemon", "Daemon")];

#[test]
fn the_values_of_the_daemons_layers_have_their_methods_there() {
    for (path, code) in daemon_files() {
        for (layer, value) in LAYERS {
            let has_methods = code.lines().any(|line| line == format!("impl {value} {{"));
            assert!(!has_methods || path.first().is_some_and(|first| first == layer), "{value}: {path:?}");
        }
    }
}

#[test]
fn log_lines_of_the_daemons_layers_name_their_targets() {
    // Else the target is the path of the module, which filters of users would have to follow.
    let mut seen = 0;
    for (path, code) in daemon_files() {
        if !path.first().is_some_and(|first| LAYERS.iter().any(|(layer, _)| first == layer)) {
            continue;
        }
        let levels = ["trace", "debug", "info", "warn", "error"].map(|level| format!("tracing::{level}!("));
        for begin in levels.iter().map(String::as_str).chain(["bounded!("]) {
            for (at, _) in code.match_indices(begin) {
                let line = code[at..].split(';').next().unwrap();
                assert!(line.contains("target: "), "{path:?}: {line}");
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen} lines are few");
}

fn daemon_files() -> Vec<(Vec<String>, String)> {
    let mut files = Vec::new();
    collect(&root().join("crates/daemon/src"), &mut Vec::new(), &mut files);
    files
}

/// The modules of a folder, each with those of the same folder that it names, itself or in its own folder. A
/// name that the folder's file only passes on is its module's. Of a crate the file `lib` is a module, too, if
/// it is to be one and others name what it defines.
fn modules(
    files: &[(Vec<String>, String)],
    within: &[String],
    with_lib: bool,
) -> BTreeMap<String, BTreeSet<String>> {
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
    if within.is_empty() && with_lib {
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
    let known = modules(&files, &[], true);
    let of = |module: &str| known[module].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!([of("a"), of("b"), of("c"), of(LIB)], [vec!["b"], vec!["a"], vec![LIB], vec!["c"]]);
}
