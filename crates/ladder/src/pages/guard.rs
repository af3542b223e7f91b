//! What holds for every request: how often one may ask, and the headers by which a browser shows a page
//! without giving it away.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::timeout;

use super::api::API;
use super::extract::peer;
use super::html;
use super::refusal::{Kind, Refusal};
use super::site::Site;

/// The longest address of a request.
const LONGEST: usize = 2048;

/// How long a request may take until its answer begins: some send half a body, and then nothing.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Nothing runs or is shown that this site does not serve as a file.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Answers a request, or refuses it, as JSON or as a page.
pub(super) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with(API);
    // To load it once more changes nothing.
    let is_seen = request.method() == Method::GET;
    let response = match refused(&site, &request) {
        Some(refusal) => refusal.into_response(),
        None => match site.answer(timeout(LONGEST_WAIT, next.run(request))).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => {
                let message = format!("no whole request came within {LONGEST_WAIT:?}");
                Refusal::bad_request(message).into_response()
            }
            Err(failed) => failed.into_response(),
        },
    };
    let mut response = match response.extensions().get::<Refusal>().cloned() {
        Some(refusal) if !is_api => html::refused(&site, &refusal, response, is_seen),
        _ => response,
    };
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(X_FRAME_OPTIONS, "DENY");
    // Forms of this site say where they come from.
    set(REFERRER_POLICY, "same-origin");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(CACHE_CONTROL, "no-cache");
    if is_api {
        // It is public, and looks at no cookie.
        set(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        set(HeaderName::from_static("cross-origin-resource-policy"), "cross-origin");
    } else {
        set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    }
    response
}

fn refused(site: &Site, request: &Request) -> Option<Refusal> {
    if !site.admits(peer(request.extensions(), request.headers(), &site.settings)) {
        let message = "you ask too often: wait for a second, and ask less often";
        return Some(Refusal::new(Kind::TooManyRequests, message));
    }
    let length = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    (length > LONGEST).then(|| Refusal::bad_request(format!("an address has {LONGEST} bytes at most")))
}
