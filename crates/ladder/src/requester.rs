//! Whose a request of HTTP is.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::{Extensions, HeaderMap};

/// The address at the other end of the connection or, behind a proxy, the one that the proxy passes on.
pub(crate) fn address(extensions: &Extensions, headers: &HeaderMap, behind_proxy: bool) -> Option<IpAddr> {
    let connected = extensions.get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    if behind_proxy { forwarded(headers).or(connected) } else { connected }
}

/// The last one of the list: the proxy added it, and those before it are what others said.
fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").iter().next_back()?;
    last.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}
