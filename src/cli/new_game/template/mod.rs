//! The files that are written: a game called `my-game`, which is also a test of plyd, with other names put
//! in.

/// The files of the game's own folder: their names and contents.
const GAME: [(&str, &str); 8] = [
    ("mod.rs", include_str!("my_game/mod.rs")),
    ("rules.rs", include_str!("my_game/rules.rs")),
    ("notation.rs", include_str!("my_game/notation.rs")),
    ("eval.rs", include_str!("my_game/eval.rs")),
    ("oracle.rs", include_str!("my_game/oracle.rs")),
    ("perft.txt", include_str!("my_game/perft.txt")),
    ("levels.txt", include_str!("my_game/levels.txt")),
    ("look.js", include_str!("my_game/look.js")),
];

/// The other files of a crate. Its code is formatted and compiled by the same settings as plyd's, wherever it
/// is: it has copies of them.
const CRATE: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("crate/manifest.toml")),
    ("rustfmt.toml", include_str!("crate/rustfmt.toml")),
    (".cargo/config.toml", include_str!("crate/config.toml")),
    (".gitignore", include_str!("crate/gitignore")),
    ("README.md", include_str!("crate/README.md")),
    ("src/main.rs", include_str!("crate/main.rs")),
];

/// A file: its path in the folder that is written, with slashes, and what is in it.
pub(super) type File = (String, String);

/// The names of a game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names<'a> {
    pub(super) name: &'a str,
    pub(super) module: &'a str,
}

impl Names<'_> {
    fn put_in(self, text: &str) -> String {
        text.replace("my-game", self.name).replace("my_game", self.module)
    }

    /// The game's folder.
    pub(super) fn game(self) -> Vec<File> {
        GAME.iter().map(|(path, text)| ((*path).to_owned(), self.put_in(text))).collect()
    }

    /// A crate with the game, for plyd and its core in these folders, as texts of TOML.
    pub(super) fn package(self, plyd: &str, core: &str) -> Vec<File> {
        let put_in = |text: &str| self.put_in(text).replace("{{plyd}}", plyd).replace("{{plyd-core}}", core);
        let mut files: Vec<File> =
            CRATE.iter().map(|(path, text)| ((*path).to_owned(), put_in(text))).collect();
        files.extend(
            self.game().into_iter().map(|(path, text)| (format!("src/{}/{path}", self.module), text)),
        );
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn each_file_of_the_template_is_written() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/new_game/template");
        let count = |name: &str| std::fs::read_dir(folder.join(name)).unwrap().count();
        assert_eq!((count("my_game"), count("crate")), (GAME.len(), CRATE.len()));
    }

    #[test]
    fn names_are_put_in() {
        let names = Names { name: "tic-tac-toe", module: "tic_tac_toe" };
        let files = names.package("\"/plyd\"", "\"/plyd/crates/core\"");
        let paths: BTreeSet<&str> = files.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths.len(), GAME.len() + CRATE.len());
        assert!(paths.contains("src/tic_tac_toe/rules.rs"));
        for (path, text) in &files {
            assert!(!text.contains("my-game") && !text.contains("my_game") && !text.contains("{{"), "{path}");
            assert!(text.ends_with('\n'), "{path}");
        }
        let text = |path: &str| &files.iter().find(|file| file.0 == path).unwrap().1;
        assert!(text("Cargo.toml").contains("name = \"tic-tac-toe\""));
        assert!(text("Cargo.toml").contains("plyd-core = { path = \"/plyd/crates/core\" }"));
        assert!(text("src/main.rs").contains("mod tic_tac_toe;"));
        assert!(text("src/tic_tac_toe/mod.rs").contains("name: \"tic-tac-toe\""));
    }
}
