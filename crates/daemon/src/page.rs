//! The page of `plyd gui`: the files of `gui/`, in the binary, so that nothing has to be installed beside it.
//!
//! Knows no HTTP, and of games only how each looks; the page is a client of the protocol like any other.

use plyd_core::engine::Entry;

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Content {
    /// Its type, as in `Content-Type`.
    pub mime: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// A file, by its path below the root, without a leading slash.
pub(crate) type File = (&'static str, Content);

/// The page, for the games of a process.
///
/// ```
/// use plyd_core::engine::Entry;
/// use plyd_daemon::page::Page;
///
/// static GAMES: &[&Entry] = &[&plyd_core::nim::ENTRY];
///
/// let page = Page::new(GAMES);
/// assert!(page.content("/").is_some_and(|content| content.mime.starts_with("text/html")));
/// assert!(page.content("/games/nim.js").is_some(), "each game has a look, if only the usual one");
/// assert!(page.content("/../Cargo.toml").is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The files; `index.html` is the one at `/`.
    files: &'static [File],
    /// The games, each with its look at `games/NAME.js`.
    games: &'static [&'static Entry],
}

impl Page {
    /// The page of `plyd gui` for these games.
    #[must_use]
    pub const fn new(games: &'static [&'static Entry]) -> Self {
        Self::of(FILES, games)
    }

    /// A page of these files.
    pub(crate) const fn of(files: &'static [File], games: &'static [&'static Entry]) -> Self {
        Self { files, games }
    }

    /// What is at the path of a request, such as `/` or `/style.css`; only what is listed exists.
    #[must_use]
    pub fn content(&self, path: &str) -> Option<Content> {
        let path = match path.strip_prefix('/')? {
            "" => "index.html",
            path => path,
        };
        if let Some(game) = path.strip_prefix("games/").and_then(|rest| rest.strip_suffix(".js")) {
            let entry = self.games.iter().find(|entry| entry.name == game)?;
            return Some(Content { mime: mime(".js"), bytes: look(entry).as_bytes() });
        }
        self.files.iter().find(|file| file.0 == path).map(|file| file.1)
    }
}

/// The JavaScript module that says how a game looks: the game's own, or an empty one for the usual look.
///
/// ```
/// let look = plyd_daemon::page::look(&plyd_core::nim::ENTRY);
/// assert!(look.starts_with("export default"));
/// ```
#[must_use]
pub fn look(game: &Entry) -> &'static str {
    game.look.unwrap_or("export default () => ({});\n")
}

/// The files of `gui/` at these paths. The crate's own `gui` is a link to that folder, so that a package of
/// the crate has them; `gui/plyd` is a link to the modules of the JavaScript package that browsers run.
macro_rules! files {
    ($($path:literal)*) => {
        &[$(($path, Content { mime: mime($path), bytes: include_bytes!(concat!("../gui/", $path)) })),*]
    };
}

static FILES: &[File] = files! {
    "address.js"
    "after-game.js"
    "analysis-panel.js"
    "analysis.js"
    "ask.js"
    "board-panel.js"
    "board.js"
    "changes.js"
    "clock.js"
    "dialogs.js"
    "dom.js"
    "download.js"
    "drawing.js"
    "editor.js"
    "explorer.js"
    "form.js"
    "graph.js"
    "history-panel.js"
    "icon.svg"
    "index.html"
    "input.js"
    "layers.js"
    "lesson.js"
    "library.js"
    "looks.js"
    "main.js"
    "miniature.js"
    "motion.js"
    "moves-panel.js"
    "opponents.js"
    "page.css"
    "pieces.js"
    "plyd/client.js"
    "plyd/errors.js"
    "plyd/retry.js"
    "plyd/search.js"
    "plyd/web.js"
    "preferences.js"
    "premoves.js"
    "questions.js"
    "record.js"
    "review-panel.js"
    "review.js"
    "seats-panel.js"
    "server.js"
    "share.js"
    "sound.js"
    "storage.js"
    "style.css"
    "symmetry.js"
    "table.js"
    "tree.js"
    "value.js"
    "values.js"
    "welcome.js"
    "words.js"
};

/// The type of a file by its ending. A file of another kind does not compile.
const fn mime(path: &str) -> &'static str {
    let bytes = path.as_bytes();
    match bytes {
        [.., b'.', b'h', b't', b'm', b'l'] => "text/html; charset=utf-8",
        [.., b'.', b'c', b's', b's'] => "text/css; charset=utf-8",
        [.., b'.', b'j', b's'] => "text/javascript; charset=utf-8",
        [.., b'.', b's', b'v', b'g'] => "image/svg+xml",
        _ => panic!("give the type of this kind of file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The paths of all files below a folder, sorted, except tests and the file that only marks
    /// them as modules for Node.
    fn files_of(folder: &Path, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if path == "package.json" || path == "tests" {
                continue;
            }
            // By its path: the package's folder is a link.
            if !entry.path().is_dir() {
                found.push(path);
            } else {
                found.extend(files_of(&entry.path(), &format!("{path}/")));
            }
        }
        found.sort();
        found
    }

    #[test]
    fn every_file_of_the_page_is_in_the_binary() {
        let mut embedded: Vec<String> = FILES.iter().map(|file| file.0.to_owned()).collect();
        embedded.sort();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gui");
        assert_eq!(embedded, files_of(&folder, ""), "the table in page.rs against the folder gui/");
    }

    #[test]
    fn the_page_is_small() {
        let total: usize = FILES.iter().map(|file| file.1.bytes.len()).sum();
        assert!(total < 400 << 10, "{total} bytes");
    }

    #[test]
    fn paths_are_found_as_they_are_listed() {
        static LOOKING: Entry = Entry { name: "nim", look: Some("look"), ..Entry::DEFAULT };
        static PLAIN: Entry = Entry { name: "plain", ..Entry::DEFAULT };
        static GAMES: [&Entry; 2] = [&LOOKING, &PLAIN];
        let page = Page::new(&GAMES);
        let file = |path: &str| FILES.iter().find(|file| file.0 == path).map(|file| file.1);
        let script = |text: &'static str| Some(Content { mime: mime(".js"), bytes: text.as_bytes() });
        for (path, found) in [
            ("/", file("index.html")),
            ("/index.html", file("index.html")),
            ("/style.css", file("style.css")),
            ("/games/nim.js", script("look")),
            ("/games/plain.js", script("export default () => ({});\n")),
            ("/games/isolation.js", None),
            ("/games/nim", None),
            ("/games/nim.js/", None),
            ("/games/.js", None),
            ("/games/../games/nim.js", None),
            ("/Style.css", None),
            ("//style.css", None),
            ("/./style.css", None),
            ("/../Cargo.toml", None),
            ("/tests/", None),
            ("/style.css/", None),
            ("style.css", None),
            ("", None),
        ] {
            assert_eq!(page.content(path), found, "{path}");
        }
    }
}
