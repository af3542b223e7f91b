//! `plyd new-game`: the game that it writes, what it refuses, and what is left if it fails. That the game
//! that is written compiles under another name is checked by `.ci/run`.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::process;
use plyd::engine::conformance;
use plyd::games::REGISTRY;

#[allow(unreachable_pub, reason = "the template is public where it is written to")]
#[path = "../../src/cli/new_game/template/my_game/lib.rs"]
mod my_game;

// The names of games below are such as nobody's game has, so that the tests pass beside any game.

/// A folder for a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("plyd-new-game-{}-{number}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// As much of a clone of plyd as the command looks at.
    fn checkout() -> Self {
        let folder = Self::new();
        let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
        fs::create_dir_all(folder.0.join("crates/games/src")).unwrap();
        fs::create_dir_all(folder.0.join("crates/core")).unwrap();
        for file in ["Cargo.toml", "Cargo.lock", "crates/games/Cargo.toml", "crates/games/src/lib.rs"] {
            fs::copy(ours.join(file), folder.0.join(file)).unwrap();
        }
        folder
    }

    fn run(&self, below: &str, arguments: &[&str]) -> Output {
        let mut launch = process::plyd([&["new-game"], arguments].concat());
        launch.command.current_dir(self.0.join(below));
        process::output(launch)
    }

    /// What it printed.
    fn done(&self, below: &str, arguments: &[&str]) -> String {
        let output = self.run(below, arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it where it has to refuse; what it says, and nothing is changed.
    fn refused(&self, below: &str, arguments: &[&str], code: i32) -> String {
        let before = self.files();
        let output = self.run(below, arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(self.files(), before, "{arguments:?}");
        text
    }

    /// A file of it.
    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }

    /// All that is in it by path: the texts of files, and nothing for what is none.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.0.clone()];
        while let Some(path) = open.pop() {
            let is_folder = path.symlink_metadata().unwrap().is_dir();
            if is_folder {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            let text = if is_folder { String::new() } else { fs::read_to_string(&path).unwrap_or_default() };
            found.insert(path.strip_prefix(&self.0).unwrap().to_owned(), text);
        }
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_game_passes_the_checks_of_every_game() {
    conformance::all(&my_game::ENTRY).unwrap();
}

/// The lines of a text without their indentation, and without empty ones.
fn trimmed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn the_code_in_the_tutorial_is_that_of_the_game_that_is_written() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tutorial = fs::read_to_string(ours.join("docs/adding-a-game.md")).unwrap();
    let folder = fs::read_dir(ours.join("src/cli/new_game/template/my_game")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let code = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let files: Vec<String> = code.map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut pieces = 0;
    for piece in tutorial.split("```rust\n").skip(1) {
        let piece = trimmed(piece.split("```").next().unwrap());
        let is_part = |file: &String| trimmed(file).windows(piece.len()).any(|lines| lines == piece);
        assert!(files.iter().any(is_part), "in no file of the template: {piece:#?}");
        pieces += 1;
    }
    assert!(pieces >= 10, "{pieces} pieces of code are few");
}

/// What a trait has no default for: its types, constants and methods.
fn required(source: &str, name: &str) -> Vec<String> {
    let body = source.split_once(&format!("\npub trait {name}")).unwrap().1.split_once("\n}\n").unwrap().0;
    let starts = ["    fn ", "    type ", "    const "];
    let items = body.match_indices('\n').filter_map(|(at, _)| {
        let item = starts.iter().find_map(|start| body[at + 1..].strip_prefix(start))?;
        let end = item.find([';', '{', '=']).unwrap();
        item[end..].starts_with(';').then(|| item.split(['(', ':', '<', ';']).next().unwrap().to_owned())
    });
    items.collect()
}

#[test]
fn the_table_of_what_a_game_must_provide_is_whole() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(ours.join(path)).unwrap();
    let tutorial = read("docs/adding-a-game.md");
    let table =
        tutorial.split_once("## What a game must provide").unwrap().1.split_once("\n| derived").unwrap().0;
    let words: Vec<&str> = table.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for (path, name) in [
        ("crates/core/src/game/mod.rs", "Game"),
        ("crates/core/src/game/notation.rs", "Notation"),
        ("crates/core/src/game/evaluator.rs", "Evaluator"),
        ("crates/core/src/engine/mod.rs", "Playable"),
    ] {
        let required = required(&read(path), name);
        assert!(required.len() >= 2, "{name}: {required:?}");
        for item in required {
            assert!(words.contains(&&*item), "{name}::{item} is missing in the table");
        }
    }
}

#[test]
fn a_game_is_added_to_a_clone() {
    let clone = Folder::checkout();
    let before = clone.files();
    let output = clone.done("crates", &["five-untaken"]);
    let after = clone.files();
    let new: Vec<&str> =
        after.keys().filter(|path| !before.contains_key(*path)).map(|path| path.to_str().unwrap()).collect();
    let game = "crates/games/five-untaken";
    let files =
        ["eval.rs", "levels.txt", "lib.rs", "look.js", "notation.rs", "oracle.rs", "perft.txt", "rules.rs"];
    let source = files.iter().map(|file| format!("{game}/src/{file}"));
    let expected: Vec<String> = [format!("{game}/Cargo.toml")].into_iter().chain(source).collect();
    assert_eq!(new[0], game);
    assert!(new[1..].iter().filter(|path| !path.ends_with("/src")).eq(&expected), "{new:?}");
    for file in &expected {
        assert!(output.contains(&format!("/{file}\n")), "{output}");
        assert!(!after[Path::new(file)].contains("my-game"), "{file}");
    }
    assert!(after[Path::new(&format!("{game}/src/lib.rs"))].contains("name: \"five-untaken\""));
    let changed: Vec<&PathBuf> = before.keys().filter(|path| after[*path] != before[*path]).collect();
    assert_eq!(changed, [Path::new("crates/games/Cargo.toml"), Path::new("crates/games/src/lib.rs")]);
    let dependency = "\nplyd-five-untaken = { path = \"five-untaken\", version = ";
    assert!(after[changed[0]].contains(dependency), "{}", after[changed[0]]);
    let list = &after[changed[1]];
    for game in ["l_game", "isolation", "sudoku", "colosseum", "ijk", "five_untaken"] {
        assert!(list.contains(&format!("\n    {game} = plyd_{game},\n")), "{list}");
    }
    for words in [
        "cargo run --release -- go five-untaken",
        "PLYD_GAME=five-untaken cargo test --test it conformance\n",
        "cargo test -p plyd-five-untaken\n",
        "adding-a-game.md",
    ] {
        assert!(output.contains(words), "{output}");
    }
    // Lines may end as on Windows.
    let windows = clone.text("crates/games/src/lib.rs").replace('\n', "\r\n");
    fs::write(clone.0.join("crates/games/src/lib.rs"), &windows).unwrap();
    clone.done("", &["four-untaken"]);
    let list = clone.text("crates/games/src/lib.rs");
    assert_eq!(list.replace("    four_untaken = plyd_four_untaken,\r\n", ""), windows);
    // Two games of other names have room beside it, and it is not written twice.
    assert!(clone.refused("", &["five-untaken"], 2).contains("already"));
    clone.done("", &["untaken"]);
    clone.done("", &["also-untaken"]);
}

#[test]
fn a_game_becomes_a_crate_of_its_own() {
    let clone = Folder::checkout();
    let odd = Folder(clone.0.with_extension("a \"b\""));
    symlink(&clone.0, &odd.0).unwrap();
    let outside = Folder::new();
    for (given, below) in [(clone.0.to_str(), ""), (odd.0.to_str(), "")] {
        let output = outside.done(below, &["tic-untaken", "--crate", "mine", "--plyd", given.unwrap()]);
        let files = outside.files();
        let text = |path: &str| &*files[Path::new(path)];
        assert_eq!(files.keys().filter(|path| path.extension().is_some()).count(), 14, "{files:?}");
        // It is formatted and compiled as plyd is, with the same versions of dependencies.
        for file in ["rustfmt.toml", ".cargo/config.toml", "Cargo.lock"] {
            let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            assert_eq!(text(&format!("mine/{file}")), fs::read_to_string(ours).unwrap());
        }
        for (path, words) in [
            ("mine/Cargo.toml", "name = \"tic-untaken\"".to_owned()),
            (
                "mine/Cargo.toml",
                format!("plyd = {{ path = \"{}\" }}", clone.0.canonicalize().unwrap().display()),
            ),
            ("mine/Cargo.toml", "/crates/core\" }".to_owned()),
            ("mine/.gitignore", "/target".to_owned()),
            ("mine/README.md", "cargo run -- go tic-untaken".to_owned()),
            ("mine/src/main.rs", "main_with(&[&tic_untaken::ENTRY])".to_owned()),
            ("mine/src/lib.rs", "name: \"tic-untaken\"".to_owned()),
        ] {
            assert!(text(path).contains(&words), "{path} without {words}: {}", text(path));
        }
        assert!(output.contains("wrote mine/src/rules.rs") && output.contains("cd mine"), "{output}");
        assert!(files.values().all(|text| !text.contains("my-game") && !text.contains("my_game")));
        fs::remove_dir_all(outside.0.join("mine")).unwrap();
    }
    // Inside of a clone nothing need be said about where it is, and the clone stays as it is.
    let before = clone.files();
    clone.done("crates/core", &["untaken", "--crate", "../../untaken"]);
    let after = clone.files();
    assert!(after[Path::new("untaken/Cargo.toml")].contains("[workspace]"));
    assert!(before.iter().all(|(path, text)| after[path] == *text));
    // The name in an odd path is a string of TOML.
    fs::create_dir(outside.0.join("c \"d\"")).unwrap();
    let moved = outside.0.join("c \"d\"/plyd");
    fs::rename(&clone.0, &moved).unwrap();
    let output = outside.done("", &["untaken", "--crate", "untaken", "--plyd", "c \"d\"/plyd"]);
    let guide = moved.canonicalize().unwrap().join("docs/adding-a-game.md");
    assert!(output.contains(&guide.display().to_string()), "{output}");
    let manifest = &outside.files()[Path::new("untaken/Cargo.toml")];
    assert!(manifest.contains("/c \\\"d\\\"/plyd\" }"), "{manifest}");
}

#[test]
fn names_that_are_none_are_refused() {
    let clone = Folder::checkout();
    let long = "a".repeat(10_000);
    let names = [
        "",
        "Hex",
        "2048",
        "a b",
        "a--b",
        "a-",
        "a_b",
        "../../untaken",
        "/untaken",
        "untaken.rs",
        "é",
        "a\nb",
        "\u{1b}[2J",
        "match",
        "plyd",
        "std",
        "self",
        "tests",
        &long,
    ];
    for name in names.into_iter().chain(REGISTRY.iter().map(|entry| entry.name)) {
        for form in [&[name][..], &[name, "--crate", "mine"], &["--", name]] {
            let output = clone.refused("", form, 2);
            assert!(
                ["take lower-case", "take another"].iter().any(|words| output.contains(words)),
                "{output}"
            );
            assert!(!output.contains('\u{1b}'), "{output}");
        }
    }
    // The name that other tests take for a game that nobody adds.
    assert!(clone.refused("", &["no_such_game"], 2).contains("take lower-case"));
    for arguments in
        [&[][..], &["-a"], &["untaken", "go"], &["untaken", "--plyd", "."], &["untaken", "--crate", ""]]
    {
        clone.refused("", arguments, 2);
    }
}

#[test]
fn nothing_that_is_there_is_overwritten() {
    let clone = Folder::checkout();
    let games = clone.0.join("crates/games");
    fs::create_dir(games.join("untaken")).unwrap();
    fs::write(games.join("one-untaken"), "one").unwrap();
    symlink("nowhere", games.join("two-untaken")).unwrap();
    for name in ["untaken", "one-untaken", "two-untaken", "games", "src"] {
        assert!(clone.refused("", &[name], 2).contains("is there already"), "{name}");
    }
    assert!(clone.refused("", &["drafts"], 1).contains("module `drafts`"));
    fs::create_dir(clone.0.join("empty")).unwrap();
    fs::write(clone.0.join("file"), "text").unwrap();
    symlink("nowhere", clone.0.join("link")).unwrap();
    for folder in ["empty", "file", "link", ".", "..", "crates/", "/"] {
        let output = clone.refused("", &["untaken", "--crate", folder], 2);
        assert!(output.contains("is there already"), "{folder}: {output}");
    }
}

#[test]
fn a_crate_of_its_own_is_not_put_among_those_of_plyd() {
    let clone = Folder::checkout();
    let link = Folder(clone.0.with_extension("link"));
    symlink(&clone.0, &link.0).unwrap();
    let linked = link.0.join("crates/untaken");
    for (below, folder) in [
        ("", "crates/untaken"),
        ("", "./crates/../crates/untaken/"),
        ("crates", "untaken"),
        ("crates/core", "../untaken"),
        ("crates", "games/untaken"),
        ("", linked.to_str().unwrap()),
    ] {
        let output = clone.refused(below, &["untaken", "--crate", folder], 2);
        assert!(output.contains("leave out --crate"), "{folder}: {output}");
    }
    // Other folders called `crates` take it.
    fs::create_dir(clone.0.join("crates/core/crates")).unwrap();
    clone.done("", &["untaken", "--crate", "crates/core/crates/untaken"]);
}

#[test]
fn a_folder_that_is_no_clone_is_named() {
    let folder = Folder::new();
    assert!(folder.refused("", &["untaken"], 2).contains("--crate DIR --plyd PATH"));
    assert!(folder.refused("", &["untaken", "--crate", "mine"], 2).contains("give --plyd PATH"));
    for plyd in [".", "nowhere", "/"] {
        let output = folder.refused("", &["untaken", "--crate", "mine", "--plyd", plyd], 2);
        assert!(output.contains(&format!("--plyd {plyd}: there is no clone")), "{output}");
    }
    // The manifest of another project, and a clone without its list of games.
    let clone = Folder::checkout();
    fs::write(clone.0.join("Cargo.toml"), "[package]\nname = \"other\"\n").unwrap();
    assert!(clone.refused("", &["untaken"], 2).contains("no clone"));
    let clone = Folder::checkout();
    fs::remove_file(clone.0.join("crates/games/src/lib.rs")).unwrap();
    assert!(clone.refused("", &["untaken"], 2).contains("no clone"));
    // One without the versions that a crate is to have.
    let clone = Folder::checkout();
    fs::remove_file(clone.0.join("Cargo.lock")).unwrap();
    assert!(clone.refused("", &["untaken", "--crate", "mine"], 1).contains("/Cargo.lock: No such file"));
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let clone = Folder::checkout();
    for folder in ["/proc/untaken", "missing/untaken", "Cargo.toml/untaken"] {
        let output = clone.refused("", &["untaken", "--crate", folder], 1);
        assert!(output.contains(&format!("cannot write {folder}: ")), "{output}");
    }
    let registry = clone.0.join("crates/games/src/lib.rs");
    let text = clone.text("crates/games/src/lib.rs");
    for broken in ["", "pub mod a;\n", "games! {}\n"] {
        fs::write(&registry, broken).unwrap();
        assert!(clone.refused("", &["untaken"], 1).contains("lib.rs: it has no"), "{broken}");
    }
    fs::write(&registry, text.replace("    ijk = ", "    untaken = a,\n    ijk = ")).unwrap();
    assert!(clone.refused("", &["untaken"], 1).contains("game `untaken` already"));
    fs::write(&registry, text).unwrap();
    let manifest = clone.0.join("crates/games/Cargo.toml");
    let text = clone.text("crates/games/Cargo.toml");
    for (broken, words) in [
        ("".to_owned(), "Cargo.toml: it has no list"),
        (text.replace("plyd-ijk", "plyd-untaken"), "needs `plyd-untaken` already"),
    ] {
        fs::write(&manifest, &broken).unwrap();
        assert!(clone.refused("", &["untaken"], 1).contains(words), "{broken}");
    }
    fs::write(&manifest, text).unwrap();
    // Whoever may do everything may write to them, too.
    let (games, source) = (clone.0.join("crates/games"), clone.0.join("crates/games/src"));
    for (path, mode) in [(&games, 0o555), (&source, 0o555), (&manifest, 0o444), (&registry, 0o444)] {
        let before = path.metadata().unwrap().permissions();
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        if !rustix::process::geteuid().is_root() {
            assert!(clone.refused("", &["untaken"], 1).contains("denied"));
        }
        fs::set_permissions(path, before).unwrap();
    }
    let before = clone.files();
    let mode = Permissions::from_mode(0o640);
    fs::set_permissions(&registry, mode.clone()).unwrap();
    clone.done("", &["untaken"]);
    assert_eq!(registry.metadata().unwrap().permissions().mode() & 0o777, mode.mode());
    assert_eq!(clone.files().len(), before.len() + 11);
}
