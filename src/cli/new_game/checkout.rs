//! A clone of plyd's repository: where it is, and its registry of games.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The most columns of a line, as in `rustfmt.toml`.
const COLUMNS: usize = 110;
/// How the list of the games begins.
const REGISTRY: &str = "pub static REGISTRY: &[&Entry] =";

/// A clone of plyd.
#[derive(Clone, Debug)]
pub(super) struct Checkout {
    /// Its folder, from the root of the file system.
    pub(super) root: PathBuf,
}

impl Checkout {
    /// The clone in a folder, if it is one.
    pub(super) fn at(root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let manifest = fs::read_to_string(root.join("Cargo.toml")).ok()?;
        let is_plyd = manifest.lines().any(|line| line == "name = \"plyd\"");
        let checkout = Self { root };
        (is_plyd && checkout.registry().is_file() && checkout.core().is_dir()).then_some(checkout)
    }

    /// The clone in which the current folder is, if it is in one.
    pub(super) fn around() -> io::Result<Option<Self>> {
        Ok(env::current_dir()?.ancestors().find_map(Self::at))
    }

    /// The clone of whose workspace a folder would be a member, if it is to be in the `crates` of one.
    pub(super) fn that_takes(folder: &Path) -> Option<Self> {
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        if parent.ends_with("crates") { Self::at(parent.parent()?) } else { None }
    }

    /// The crate of the games.
    pub(super) fn games(&self) -> PathBuf {
        self.root.join("crates/games/src")
    }

    /// The file that lists the games.
    pub(super) fn registry(&self) -> PathBuf {
        self.games().join("lib.rs")
    }

    /// The crate of the interfaces.
    pub(super) fn core(&self) -> PathBuf {
        self.root.join("crates/core")
    }

    /// The versions of dependencies that plyd is tested with. Cargo takes from it what a crate that builds on
    /// plyd needs, and drops the rest.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn lock(&self) -> Result<String, String> {
        let path = self.root.join("Cargo.lock");
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// The list of the games with one more, as rustfmt writes it.
///
/// # Errors
/// The module is there already, or the list does not look as expected.
pub(super) fn registered(text: &str, module: &str) -> Result<String, String> {
    let text = with_module(text, module)?;
    let unexpected = || format!("it has no `{REGISTRY}` with a list");
    let from = text.find(REGISTRY).ok_or_else(unexpected)?;
    let (before, rest) = text.split_at(from);
    let (list, after) = rest[REGISTRY.len()..].split_once("];").ok_or_else(unexpected)?;
    let list = list.trim().strip_prefix("&[").ok_or_else(unexpected)?;
    let mut games: Vec<&str> = list.split(',').map(str::trim).filter(|game| !game.is_empty()).collect();
    let game = format!("&{module}::ENTRY");
    games.push(&game);
    let line = format!("&[{}];", games.join(", "));
    let list = if REGISTRY.len() + 1 + line.len() <= COLUMNS {
        format!(" {line}")
    } else if 4 + line.len() <= COLUMNS {
        format!("\n    {line}")
    } else {
        format!(" &[\n    {},\n];", games.join(",\n    "))
    };
    Ok(format!("{before}{REGISTRY}{list}{after}"))
}

/// The text with one more module, in the order of their names.
fn with_module(text: &str, module: &str) -> Result<String, String> {
    let name = |line: &str| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        Some(line.strip_prefix("mod ")?.strip_suffix(';')?.to_owned())
    };
    let mut lines: Vec<&str> = text.lines().collect();
    let modules: Vec<(usize, String)> =
        lines.iter().enumerate().filter_map(|(at, line)| Some((at, name(line)?))).collect();
    if modules.iter().any(|(_, name)| name == module) {
        return Err(format!("it has a module `{module}` already"));
    }
    let Some((last, _)) = modules.last() else { return Err("it has no modules".to_owned()) };
    let mut at = modules.iter().find(|(_, name)| &**name > module).map_or(last + 1, |(at, _)| *at);
    // An attribute stays with its module.
    while at > 0 && lines[at - 1].starts_with("#[") {
        at -= 1;
    }
    let line = format!("pub mod {module};");
    lines.insert(at, &line);
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! The games.\n\nuse plyd_core::engine::Entry;\n\npub mod chess;\npub mod go;\n#[cfg(test)]\nmod tests;\n\n\
        /// All.\npub static REGISTRY: &[&Entry] = &[&chess::ENTRY, &go::ENTRY];\n";

    #[test]
    fn modules_are_in_order_and_attributes_stay_where_they_are() {
        for (module, between) in [
            ("bao", "\n\npub mod bao;\npub mod chess;"),
            ("fanorona", "pub mod chess;\npub mod fanorona;\npub mod go;"),
            ("shogi", "pub mod go;\npub mod shogi;\n#[cfg(test)]\nmod tests;"),
            ("zertz", "#[cfg(test)]\nmod tests;\npub mod zertz;\n\n"),
        ] {
            let text = registered(TEXT, module).unwrap();
            assert!(text.contains(between), "{text}");
            let list = format!("= &[&chess::ENTRY, &go::ENTRY, &{module}::ENTRY];\n");
            assert!(text.ends_with(&list), "{text}");
        }
    }

    #[test]
    fn a_long_list_is_broken_as_rustfmt_breaks_it() {
        let long = |length: usize| "m".repeat(length);
        let text = registered(TEXT, &long(35)).unwrap();
        assert!(text.contains("= &[&chess::ENTRY, &go::ENTRY, &mmm"), "{text}");
        let text = registered(TEXT, &long(50)).unwrap();
        assert!(text.contains("=\n    &[&chess::ENTRY, &go::ENTRY, &mmm"), "{text}");
        let text = registered(TEXT, &long(80)).unwrap();
        assert!(text.contains("= &[\n    &chess::ENTRY,\n    &go::ENTRY,\n    &mmm"), "{text}");
        assert!(text.ends_with("m::ENTRY,\n];\n"), "{text}");
        let again = registered(&text, "hex").unwrap();
        assert!(again.ends_with("m::ENTRY,\n    &hex::ENTRY,\n];\n"), "{again}");
    }

    #[test]
    fn what_is_no_list_of_games_is_left_alone() {
        for (text, module, words) in [
            (TEXT, "go", "module `go` already"),
            (TEXT, "tests", "module `tests` already"),
            ("", "hex", "no modules"),
            ("mod a;\n", "hex", "no `pub static REGISTRY"),
            ("mod a;\npub static REGISTRY: &[&Entry] = all();\n", "hex", "no `pub static REGISTRY"),
            ("mod a;\npub static REGISTRY: &[&Entry] = all([]);\n", "hex", "no `pub static REGISTRY"),
        ] {
            let message = registered(text, module).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }
}
