//! The files of the pages: the ladder's own, and those of the boards, which somebody else has.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::refusal::Refusal;

/// A file of the boards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct File {
    /// Its type, as in `Content-Type`.
    pub mime: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// The files of the boards, those of `plyd gui`, each by its path, such as `/board.js`.
pub type Files = Arc<dyn Fn(&str) -> Option<File> + Send + Sync>;

/// The ladder's own, by their names.
const OWN: [(&str, File); 5] = [
    ("events.js", file("text/javascript; charset=utf-8", include_bytes!("static/events.js"))),
    ("game.js", file("text/javascript; charset=utf-8", include_bytes!("static/game.js"))),
    ("games.js", file("text/javascript; charset=utf-8", include_bytes!("static/games.js"))),
    ("ladder.css", file("text/css; charset=utf-8", include_bytes!("static/ladder.css"))),
    ("icon.svg", file("image/svg+xml", include_bytes!("static/icon.svg"))),
];

const fn file(mime: &'static str, bytes: &'static [u8]) -> File {
    File { mime, bytes }
}

/// One of the ladder's own.
pub(super) async fn own(Path(name): Path<String>) -> Result<Response, Refusal> {
    let found = OWN.iter().find(|(known, _)| *known == name);
    found.map(|(_, file)| file.into_response()).ok_or_else(|| Refusal::not_found("file"))
}

/// One of the boards'. Their page is not among them: it belongs to a daemon.
pub(super) async fn boards(
    State(files): State<Files>,
    Path(path): Path<String>,
) -> Result<Response, Refusal> {
    let found = files(&format!("/{path}")).filter(|file| !file.mime.starts_with("text/html"));
    found.map(IntoResponse::into_response).ok_or_else(|| Refusal::not_found("file"))
}

impl IntoResponse for &File {
    fn into_response(self) -> Response {
        (*self).into_response()
    }
}

impl IntoResponse for File {
    fn into_response(self) -> Response {
        let mut response = self.bytes.into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.mime));
        // A newer ladder has newer ones under the same names.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
        response
    }
}
