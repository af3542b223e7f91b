//! The page of `plyd gui`: the files of `gui/`, in the binary, so that nothing has to be installed beside it.
//!
//! Knows no HTTP and no game; the page is a client of the protocol like any other.

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its path below the root, without a leading slash.
    pub path: &'static str,
    /// Its type, as in `Content-Type`.
    pub mime: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// Files that are served together.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// The files; `index.html` is the one at `/`.
    pub files: &'static [File],
}

impl Page {
    /// The file at the path of a request, such as `/` or `/style.css`; only listed files exist.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&File> {
        let path = match path.strip_prefix('/')? {
            "" => "index.html",
            path => path,
        };
        self.files.iter().find(|file| file.path == path)
    }
}

/// The files of `gui/` at these paths.
macro_rules! files {
    ($($path:literal)*) => {
        &[$(File { path: $path, mime: mime($path), bytes: include_bytes!(concat!("../../../gui/", $path)) }),*]
    };
}

/// The page of `plyd gui`.
pub static PAGE: Page = Page {
    files: files! {
        "analysis-panel.js"
        "analysis.js"
        "board-panel.js"
        "board.js"
        "changes.js"
        "clock.js"
        "connection.js"
        "dialogs.js"
        "dom.js"
        "form.js"
        "games/colosseum.js"
        "games/ijk.js"
        "games/index.js"
        "games/isolation.js"
        "games/l-game.js"
        "games/sudoku.js"
        "graph.js"
        "icon.svg"
        "index.html"
        "input.js"
        "main.js"
        "moves-panel.js"
        "pieces.js"
        "record.js"
        "seats-panel.js"
        "server.js"
        "storage.js"
        "style.css"
        "symmetry.js"
        "table.js"
        "words.js"
    },
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
            if !entry.file_type().unwrap().is_dir() {
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
        let mut embedded: Vec<String> = PAGE.files.iter().map(|file| file.path.to_owned()).collect();
        embedded.sort();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gui");
        assert_eq!(embedded, files_of(&folder, ""), "the table in page.rs against the folder gui/");
    }

    #[test]
    fn the_page_is_small() {
        let total: usize = PAGE.files.iter().map(|file| file.bytes.len()).sum();
        assert!(total < 160 << 10, "{total} bytes");
    }

    #[test]
    fn paths_are_found_as_they_are_listed() {
        for (path, found) in [
            ("/", Some("index.html")),
            ("/index.html", Some("index.html")),
            ("/style.css", Some("style.css")),
            ("/Style.css", None),
            ("//style.css", None),
            ("/./style.css", None),
            ("/../Cargo.toml", None),
            ("/tests/", None),
            ("/style.css/", None),
            ("style.css", None),
            ("", None),
        ] {
            assert_eq!(PAGE.file(path).map(|file| file.path), found, "{path}");
        }
    }
}
