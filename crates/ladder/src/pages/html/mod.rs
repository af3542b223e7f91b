//! The pages for people: what the API answers, as HTML that needs no script but for live boards.

mod graph;
mod lists;
mod table;
mod views;
mod words;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use super::refusal::{Kind, Refusal};
use super::site::Site;

pub(super) use words::{interval, whole};

/// The routes of the pages.
pub(super) fn router() -> Router<Arc<Site>> {
    Router::new()
        .route("/", get(views::index))
        .route("/pool/{id}", get(views::pool))
        .route("/bot/{id}", get(views::bot))
        .route("/games", get(views::games))
        .route("/game/{id}", get(views::game))
        .route("/api", get(views::api))
}

/// A page.
pub(super) fn page(template: &impl Template) -> Result<Response, Refusal> {
    match template.render() {
        Ok(text) => Ok(Html(text).into_response()),
        Err(_) => Err(Refusal::new(Kind::Failed, "the ladder failed to write this page")),
    }
}

/// Why a request was not answered.
#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalPage<'a> {
    ladder: &'a str,
    title: &'a str,
    message: &'a str,
    asks_again: bool,
}

/// A refusal as a page, with the status and the headers of the answer that it was. If it is worth a try, and
/// `is_seen` says that the page was only to be looked at, the browser asks again by itself.
pub(super) fn refused(site: &Site, refusal: &Refusal, answer: Response, is_seen: bool) -> Response {
    let status = refusal.kind.status();
    let title = status.canonical_reason().unwrap_or("Refused");
    let again = refusal.kind.retry().filter(|_| is_seen);
    let template = RefusalPage {
        ladder: &site.settings.name,
        title,
        message: &refusal.message,
        asks_again: again.is_some(),
    };
    let Ok(page) = page(&template) else { return answer };
    let (mut head, _) = answer.into_parts();
    let (of_page, body) = page.into_parts();
    // The kind and the length of the body are the page's.
    head.headers.remove(axum::http::header::CONTENT_LENGTH);
    head.headers.extend(of_page.headers);
    if let Some(after) = again {
        head.headers.insert(axum::http::header::REFRESH, after.as_secs().into());
    }
    Response::from_parts(head, body)
}
