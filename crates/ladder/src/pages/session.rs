//! Who is logged in, by the cookie of the request; and the tokens of forms.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, COOKIE, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use sha2::{Digest, Sha256};

use crate::OwnerId;
use crate::now_ms;
use crate::pages::refusal::{Kind, Refusal};
use crate::pages::settings::Settings;
use crate::pages::site::Site;
use crate::store::{Account, Secret};

/// An owner who is logged in.
pub(super) struct Session {
    pub(super) account: Account,
    /// The login's secret.
    pub(super) login: String,
}

impl Session {
    /// The token of this login's forms.
    pub(super) fn csrf(&self) -> String {
        csrf(&self.login)
    }

    /// Refuses a form that is not of this login.
    pub(super) fn expect(&self, csrf: &str) -> Result<(), Refusal> {
        expect(&self.login, csrf)
    }
}

impl FromRequestParts<Arc<Site>> for Session {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Refusal> {
        let nobody = || {
            let message = "you are not logged in: follow the link of your invitation, or ask whoever runs the \
                           ladder for a new one";
            Refusal::new(Kind::NotLoggedIn, message)
        };
        expect_same_site(&parts.headers)?;
        let login = cookie(&parts.headers, login_name(&site.settings)).ok_or_else(nobody)?;
        let asked = login.clone();
        let account = site.read(move |store| store.login(&asked, now_ms())).await?;
        Ok(Self { account: account.ok_or_else(nobody)?, login })
    }
}

/// The owner who looks at a page that is for everybody; nobody else has a login.
pub(super) struct Visitor(pub(super) Option<OwnerId>);

impl FromRequestParts<Arc<Site>> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Infallible> {
        let session = Session::from_request_parts(parts, site).await.ok();
        Ok(Self(session.map(|session| session.account.id)))
    }
}

/// A page that nobody else is to see, not even from a cache.
pub(super) fn private(answer: Response) -> Response {
    let mut answer = answer;
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// The name of a login's cookie. Browsers take one that begins with `__Host-` over TLS alone, and from no
/// neighbour of this host.
pub(super) fn login_name(settings: &Settings) -> &'static str {
    if settings.over_tls { "__Host-plyd-login" } else { "plyd-login" }
}

/// The name of the cookie that belongs to the form by which one logs in.
pub(super) fn visit_name(settings: &Settings) -> &'static str {
    if settings.over_tls { "__Host-plyd-visit" } else { "plyd-visit" }
}

/// A cookie for so many seconds, which no script reads and no other site's form sends; 0 takes it away.
pub(super) fn set_cookie(settings: &Settings, name: &str, value: &str, seconds: u64) -> HeaderValue {
    let secure = if settings.over_tls { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::from_str(&text).expect("a secret has letters and digits alone")
}

/// The value of a cookie of the request, if it may be one of ours.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let lists = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = lists.flat_map(|list| list.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let value = pairs.into_iter().find(|(known, _)| *known == name)?.1;
    let is_secret =
        value.len() <= LONGEST && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_secret.then(|| value.to_owned())
}

/// The longest secret of ours.
const LONGEST: usize = 128;

/// A secret for a visitor who is not logged in.
pub(super) fn new_visit() -> Result<String, Refusal> {
    let drawn = Secret::draw().map_err(|_| Refusal::new(Kind::Failed, "the system has no randomness"))?;
    Ok(drawn.text().to_owned())
}

/// The token of the forms that belong to a cookie's secret: it says nothing about the secret.
pub(super) fn csrf(secret: &str) -> String {
    let hash = Sha256::digest(format!("form:{secret}").as_bytes());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a form whose token does not belong to that secret.
pub(super) fn expect(secret: &str, token: &str) -> Result<(), Refusal> {
    // Hashes are compared, whose time says nothing about what they were made of.
    let same = Sha256::digest(csrf(secret).as_bytes()) == Sha256::digest(token.as_bytes());
    same.then_some(()).ok_or_else(out_of_date)
}

/// Why a form is refused that does not belong to the cookie that came with it.
pub(super) fn out_of_date() -> Refusal {
    let message = "this form is out of date or of another login: go back, reload the page, and try again";
    Refusal::new(Kind::Forbidden, message)
}

/// Refuses what a browser says that another site sent.
pub(super) fn expect_same_site(headers: &HeaderMap) -> Result<(), Refusal> {
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    let mode = headers.get("sec-fetch-mode").and_then(|value| value.to_str().ok());
    // To follow a link from elsewhere is no harm; forms have an origin.
    let is_link = mode == Some("navigate") && !headers.contains_key(ORIGIN);
    if matches!(site, Some("cross-site" | "same-site")) && !is_link {
        return Err(Refusal::new(Kind::Forbidden, "this came from another site"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others_if_it_may_be_ours() {
        for (lists, found) in [
            (&["plyd-login=plyd_0f"][..], Some("plyd_0f")),
            (&["a=b; plyd-login=plyd_0f; c=d"], Some("plyd_0f")),
            (&["a=b", "plyd-login=plyd_0f"], Some("plyd_0f")),
            (&["xplyd-login=plyd_0f"], None),
            (&["plyd-login=a\"b"], None),
            (&["plyd-login"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for list in lists {
                headers.append(COOKIE, list.parse().unwrap());
            }
            assert_eq!(cookie(&headers, "plyd-login").as_deref(), found, "{lists:?}");
        }
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, format!("plyd-login={}", "a".repeat(129)).parse().unwrap());
        assert_eq!(cookie(&headers, "plyd-login"), None);
    }

    #[test]
    fn a_forms_token_belongs_to_one_secret() {
        assert!(expect("a", &csrf("a")).is_ok());
        for token in [csrf("b"), String::new(), "a".into(), csrf("a").to_uppercase()] {
            assert_eq!(expect("a", &token).unwrap_err().kind, Kind::Forbidden, "{token}");
        }
    }

    #[test]
    fn cookies_are_for_this_site_alone() {
        let plain = Settings::default();
        let shown = |settings: &Settings| {
            set_cookie(settings, login_name(settings), "plyd_0f", 9).to_str().unwrap().to_owned()
        };
        assert_eq!(shown(&plain), "plyd-login=plyd_0f; Path=/; Max-Age=9; HttpOnly; SameSite=Lax");
        let secure = Settings { over_tls: true, ..plain };
        assert_eq!(
            shown(&secure),
            "__Host-plyd-login=plyd_0f; Path=/; Max-Age=9; HttpOnly; SameSite=Lax; Secure"
        );
    }
}
