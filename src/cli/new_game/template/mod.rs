//! The files that are written: a game called `my-game`, which is also a test of plyd, with other names put
//! in.

/// The files of the game's own crate: their names in `src` and contents.
const GAME: [(&str, &str); 8] = [
    ("lib.rs", include_str!("my_game/lib.rs")),
    ("rules.rs", include_str!("my_game/rules.rs")),
    ("notation.rs", include_str!("my_game/notation.rs")),
    ("eval.rs", include_str!("my_game/eval.rs")),
    ("oracle.rs", include_str!("my_game/oracle.rs")),
    ("perft.txt", include_str!("my_game/perft.txt")),
    ("levels.txt", include_str!("my_game/levels.txt")),
    ("look.js", include_str!("my_game/look.js")),
];

/// The manifest of a crate in a clone of plyd.
const MEMBER: &str = include_str!("member/manifest.toml");

/// The other files of a crate elsewhere, which is also a program. Its code is formatted and compiled by the
/// same settings as plyd's, wherever it is: it has copies of them.
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

    /// The game, as a crate.
    fn game(self) -> impl Iterator<Item = File> {
        GAME.iter().map(move |(path, text)| (format!("src/{path}"), self.put_in(text)))
    }

    /// The game as a crate of plyd's own.
    pub(super) fn member(self) -> Vec<File> {
        let manifest = ("Cargo.toml".to_owned(), self.put_in(MEMBER));
        [manifest].into_iter().chain(self.game()).collect()
    }

    /// The game and a plyd with it, for plyd and its core in these folders, as texts of TOML.
    pub(super) fn package(self, plyd: &str, core: &str) -> Vec<File> {
        let put_in = |text: &str| self.put_in(text).replace("{{plyd}}", plyd).replace("{{plyd-core}}", core);
        let others = CRATE.iter().map(|(path, text)| ((*path).to_owned(), put_in(text)));
        others.chain(self.game()).collect()
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
        let member = names.member();
        assert_eq!(member.len(), GAME.len() + 1);
        let files = names.package("\"/plyd\"", "\"/plyd/crates/core\"");
        let paths: BTreeSet<&str> = files.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths.len(), GAME.len() + CRATE.len());
        assert!(paths.contains("src/rules.rs"));
        for (path, text) in files.iter().chain(&member) {
            assert!(!text.contains("my-game") && !text.contains("my_game") && !text.contains("{{"), "{path}");
            assert!(text.ends_with('\n'), "{path}");
        }
        let text = |path: &str| &files.iter().find(|file| file.0 == path).unwrap().1;
        assert!(text("Cargo.toml").contains("name = \"tic-tac-toe\""));
        assert!(text("Cargo.toml").contains("plyd-core = { path = \"/plyd/crates/core\" }"));
        assert!(text("src/main.rs").contains("&tic_tac_toe::ENTRY"));
        assert!(text("src/lib.rs").contains("name: \"tic-tac-toe\""));
        assert!(member[0].1.contains("name = \"plyd-tic-tac-toe\""));
    }
}
