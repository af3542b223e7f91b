//! A clone of plyd's repository: where it is, and its lists of games.

use std::cmp::Ordering;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::template::Names;

/// How the list of the games begins and ends.
const REGISTRY: (&str, &str) = ("\ngames! {\n", "}\n");
/// How the list of what the crate of all games needs begins.
const DEPENDENCIES: &str = "\n[dependencies]\n";

/// A clone of plyd.
#[derive(Clone, Debug)]
pub(super) struct Checkout {
    /// Its folder, from the root of the file system.
    pub(super) root: PathBuf,
    /// The version of its crates.
    version: String,
}

impl Checkout {
    /// The clone in a folder, if it is one.
    pub(super) fn at(root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let manifest = fs::read_to_string(root.join("Cargo.toml")).ok()?;
        let is_plyd = manifest.lines().any(|line| line == "name = \"plyd\"");
        let version =
            manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))?;
        let checkout = Self { root, version: version.to_owned() };
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
        let crates = parent.parent().filter(|_| parent.ends_with("crates/games")).unwrap_or(&parent);
        if crates.ends_with("crates") { Self::at(crates.parent()?) } else { None }
    }

    /// The crate of all games, with the crate of each below it.
    pub(super) fn games(&self) -> PathBuf {
        self.root.join("crates/games")
    }

    /// The file that lists the games.
    pub(super) fn registry(&self) -> PathBuf {
        self.games().join("src/lib.rs")
    }

    /// The file that says what the crate of all games needs.
    pub(super) fn manifest(&self) -> PathBuf {
        self.games().join("Cargo.toml")
    }

    /// The crate of the interfaces.
    pub(super) fn core(&self) -> PathBuf {
        self.root.join("crates/core")
    }

    /// The manifest of the crate of all games with one more, in the order of their names.
    ///
    /// # Errors
    /// The game is there already, or the list does not look as expected.
    pub(super) fn depended_on(&self, text: &str, names: Names<'_>) -> Result<String, String> {
        depended_on(text, names, &self.version)
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

/// The list of the games with one more at its end.
///
/// # Errors
/// The game is there already, or the list does not look as expected.
pub(super) fn registered(text: &str, names: Names<'_>) -> Result<String, String> {
    let (begin, end) = REGISTRY;
    let unexpected = || format!("it has no list `{}`", begin.trim());
    let from = text.find(begin).ok_or_else(unexpected)? + begin.len();
    let to = from + text[from..].find(end).ok_or_else(unexpected)?;
    let module = names.module;
    if text[from..to].lines().any(|line| line.trim().starts_with(&format!("{module} ="))) {
        return Err(format!("it has a game `{module}` already"));
    }
    if text.lines().any(|line| line == format!("mod {module};")) {
        return Err(format!("it has a module `{module}`"));
    }
    Ok(format!("{}    {module} = plyd_{module},\n{}", &text[..to], &text[to..]))
}

fn depended_on(text: &str, names: Names<'_>, version: &str) -> Result<String, String> {
    let unexpected = || format!("it has no list `{}`", DEPENDENCIES.trim());
    let from = text.find(DEPENDENCIES).ok_or_else(unexpected)? + DEPENDENCIES.len();
    let package = format!("plyd-{}", names.name);
    let listed = text[from..].split_inclusive('\n').take_while(|line| !line.trim().is_empty());
    let mut to = from;
    for line in listed {
        match line.split(['.', ' ', '=']).next().unwrap_or("").cmp(&package) {
            Ordering::Less => to += line.len(),
            Ordering::Equal => return Err(format!("it needs `{package}` already")),
            Ordering::Greater => break,
        }
    }
    let name = names.name;
    Ok(format!(
        "{}{package} = {{ path = \"{name}\", version = \"{version}\" }}\n{}",
        &text[..to],
        &text[to..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: Names<'_> = Names { name: "tic-tac", module: "tic_tac" };

    #[test]
    fn a_game_is_listed_once() {
        let text = "//! The games.\n\ngames! {\n    go = plyd_go,\n}\n\n#[cfg(test)]\nmod tests {}\n";
        let after = registered(text, HEX).unwrap();
        let expected = text.replace("plyd_go,\n", "plyd_go,\n    tic_tac = plyd_tic_tac,\n");
        assert_eq!(after, expected);
        assert!(registered(&after, HEX).unwrap_err().contains("game `tic_tac` already"));
        let beside = format!("{text}#[cfg(test)]\nmod tic_tac;\n");
        assert!(registered(&beside, HEX).unwrap_err().contains("module `tic_tac`"));
        for text in ["", "games! {", "games! {\n}\n", "\ngames! {\n    go = plyd_go,"] {
            assert!(registered(text, HEX).unwrap_err().contains("no list `games! {`"), "{text}");
        }
    }

    #[test]
    fn what_is_needed_is_in_order() {
        let line = "plyd-tic-tac = { path = \"tic-tac\", version = \"1.2.3\" }\n";
        for (before, after) in [
            ("", ""),
            ("plyd-core.workspace = true\nplyd-go = { path = \"go\" }\n", ""),
            ("plyd-go = { path = \"go\" }\n", "plyd-zertz.workspace = true\n"),
            ("", "tokio.workspace = true\n\n[dev-dependencies]\na.workspace = true\n"),
            ("plyd-tic = { path = \"tic\" }\n", "plyd-tic-tac-toe = { path = \"tic-tac-toe\" }\n"),
        ] {
            let begin = "[package]\nname = \"plyd-games\"\n\n[dependencies]\n";
            let text = depended_on(&format!("{begin}{before}{after}"), HEX, "1.2.3").unwrap();
            assert_eq!(text, format!("{begin}{before}{line}{after}"));
            assert!(depended_on(&text, HEX, "1.2.3").unwrap_err().contains("`plyd-tic-tac` already"));
        }
        assert!(depended_on("[package]\n", HEX, "1.2.3").unwrap_err().contains("no list `[dependencies]`"));
    }
}
