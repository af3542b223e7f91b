//! What handlers take from a request, refused in the one way.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use serde::de::DeserializeOwned;

use super::refusal::Refusal;
use super::settings::Settings;
use super::site::Site;
use crate::rates::Peer;
use crate::requester;

/// The one number in the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) u64);

impl FromRequestParts<Arc<Site>> for Number {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Refusal> {
        let nothing = || Refusal::not_found("number");
        let Path(text) = Path::<String>::from_request_parts(parts, site).await.map_err(|_| nothing())?;
        number(&text).map(Self).ok_or_else(nothing)
    }
}

/// A number as this site writes it: without a sign or zeros before it, so that each thing has one address.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// What stands behind the question mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct UrlQuery<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<Site>> for UrlQuery<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Refusal> {
        let Query(asked) = Query::<T>::from_request_parts(parts, site).await?;
        Ok(Self(asked))
    }
}

impl FromRequestParts<Arc<Site>> for Peer {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Refusal> {
        Ok(peer(&parts.extensions, &parts.headers, &site.settings))
    }
}

/// Whose request it is.
pub(super) fn peer(extensions: &Extensions, headers: &HeaderMap, settings: &Settings) -> Peer {
    Peer::of(requester::address(extensions, headers, settings.behind_proxy))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::extract::ConnectInfo;

    use super::*;

    #[test]
    fn a_number_has_one_address() {
        let read =
            ["7", "0", "18446744073709551615", "07", "+7", "-7", "7.", " 7", "", "x", "18446744073709551616"]
                .map(number);
        let expected = [Some(7), Some(0), Some(u64::MAX), None, None, None, None, None, None, None, None];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_a_stranger_writes_about_its_address_counts_for_nothing() {
        let connected: SocketAddr = "192.0.2.1:5".parse().unwrap();
        let mut extensions = Extensions::new();
        extensions.insert(ConnectInfo(connected));
        let is = |address: &str| Peer::of(Some(address.parse().unwrap()));
        for (forwarded, behind_proxy, expected) in [
            (&["198.51.100.7"][..], false, "192.0.2.1"),
            (&["198.51.100.7"], true, "198.51.100.7"),
            (&["10.0.0.1, 198.51.100.7"], true, "198.51.100.7"),
            (&["10.0.0.1", "10.0.0.2 , 2001:db8::1"], true, "2001:db8::1"),
            (&["nonsense"], true, "192.0.2.1"),
            (&[], true, "192.0.2.1"),
        ] {
            let mut headers = HeaderMap::new();
            for value in forwarded {
                headers.append("x-forwarded-for", value.parse().unwrap());
            }
            let settings = Settings { behind_proxy, ..Settings::default() };
            assert_eq!(peer(&extensions, &headers, &settings), is(expected), "{forwarded:?} {behind_proxy}");
        }
    }
}
