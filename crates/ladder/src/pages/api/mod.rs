//! The API: JSON under `/api/v1`, the same that the pages show, with a document of all of it (OpenAPI 3.1).
//!
//! It gives what is public and changes nothing, so that any page may ask it. What it answers only grows:
//! fields and addresses are added, and none is taken away or changes its meaning.

mod answers;
mod document;
mod endpoints;
mod schemas;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

pub(super) use endpoints::API;

use super::site::Site;

/// The routes, to be nested at [`API`].
pub(super) fn router() -> Router<Arc<Site>> {
    let routes = endpoints::endpoints().into_iter();
    let router = routes.fold(Router::new(), |router, endpoint| endpoint.add_to(router));
    let document = document::document().to_string();
    router.route("/openapi.json", get(async move || answers::json(document.clone())))
}

/// The addresses, and what each answers.
pub(super) fn addresses() -> Vec<(&'static str, &'static str)> {
    endpoints::endpoints().into_iter().map(|endpoint| (endpoint.path, endpoint.summary)).collect()
}
