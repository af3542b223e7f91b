//! Streamable HTTP: one path on a socket that listens, for whom the daemon's rules let in.
//!
//! There are no sessions: a request is answered by its response, and what lasts between requests are kept
//! games.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION,
    HOST, HeaderName, ORIGIN, VARY, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use plyd_daemon::{Credentials, Guard};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::tools::Tools;

/// The path that hosts send to.
pub const PATH: &str = "/mcp";

/// Who may come in.
struct Door {
    guard: Guard,
    credentials: Credentials,
    /// How long a request may take, with its body: a call ends by itself, but nothing bounds its sender.
    longest: Duration,
}

/// Serves hosts on a socket that listens, until `end` is over: those who show a token, if there are any, and
/// of pages in browsers those of these origins and of the same host. Connections beyond those that
/// [`Bounds`](crate::Bounds) allow are answered by status 503.
///
/// # Errors
/// The socket cannot be used.
pub async fn serve(
    tools: Tools,
    listener: TcpListener,
    origins: &[String],
    credentials: Credentials,
    end: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let address: SocketAddr = listener.local_addr()?;
    let bounds = tools.bounds();
    let (connections, silence) = (bounds.connections, bounds.silence);
    let longest = bounds.search + 2 * bounds.other;
    let door = Arc::new(Door { guard: Guard::new(address.ip(), origins), credentials, longest });
    // Host and Origin are checked at the door, by the daemon's rules, which know the address.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(bounds.request_bytes)
        .disable_allowed_hosts();
    let stop = config.cancellation_token.clone();
    let service = StreamableHttpService::new(
        move || Ok(tools.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let router = Router::new().route_service(PATH, service).layer(from_fn_with_state(door, enter));
    let end = async move {
        end.await;
        stop.cancel();
    };
    crate::connections::serve(listener, router, connections, silence, end).await;
    Ok(())
}

/// Lets a request in, or refuses it.
async fn enter(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let mut response = match door.admits_page(request.headers()) {
        Err(refusal) => return refusal.into_response(),
        // A browser asks before it sends a page's request, and shows no token.
        Ok(()) if request.method() == Method::OPTIONS => MAY_SEND.into_response(),
        Ok(()) => match door.admits(request.headers()) {
            Ok(()) => match timeout(door.longest, next.run(request)).await {
                Ok(response) => response,
                Err(_) => StatusCode::REQUEST_TIMEOUT.into_response(),
            },
            Err(refusal) => refusal.into_response(),
        },
    };
    if let Some(origin) = origin {
        // The browser gives the answer to the page.
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        response.headers_mut().insert(VARY, HeaderValue::from_static("Origin"));
    }
    response
}

/// What a page of an origin that is let in may send.
const MAY_SEND: (StatusCode, [(HeaderName, &str); 2]) = (
    StatusCode::NO_CONTENT,
    [
        (ACCESS_CONTROL_ALLOW_METHODS, "POST"),
        (
            ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, accept, mcp-protocol-version, mcp-session-id",
        ),
    ],
);

/// Why a request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refusal {
    Host,
    Origin,
    Token,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Host => (StatusCode::FORBIDDEN, "the Host names another server\n").into_response(),
            Self::Origin => (StatusCode::FORBIDDEN, "pages of this Origin may not use it\n").into_response(),
            Self::Token => {
                let how = [(WWW_AUTHENTICATE, "Bearer")];
                (StatusCode::UNAUTHORIZED, how, "send a token: Authorization: Bearer TOKEN\n").into_response()
            }
        }
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

impl Door {
    /// Whether a page in a browser may send requests; a program is none.
    fn admits_page(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = text(headers, HOST).unwrap_or_default();
        // A page whose name was made to point here has no token; a proxy passes on the name that it has.
        if !self.guard.knows_host(host) && !self.credentials.are_needed() {
            return Err(Refusal::Host);
        }
        if text(headers, ORIGIN).is_some_and(|origin| !self.guard.lets_in(origin, host)) {
            return Err(Refusal::Origin);
        }
        Ok(())
    }

    /// Whether a request may do what it asks for.
    fn admits(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        self.admits_page(headers)?;
        let token = text(headers, AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        if self.credentials.admit(token) { Ok(()) } else { Err(Refusal::Token) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(token: Option<&str>) -> Door {
        let guard = Guard::new([127, 0, 0, 1].into(), &["https://games.example".to_owned()]);
        let credentials = Credentials::new(token.map(str::to_owned), None);
        Door { guard, credentials, longest: Duration::MAX }
    }

    fn admitted(door: &Door, headers: &[(HeaderName, &str)]) -> Result<(), Refusal> {
        let headers = headers.iter().map(|(name, value)| (name.clone(), value.parse().unwrap()));
        door.admits(&headers.collect())
    }

    #[test]
    fn strangers_stay_outside() {
        let open = door(None);
        let here = || (HOST, "127.0.0.1:7120");
        assert_eq!(admitted(&open, &[here()]), Ok(()));
        assert_eq!(admitted(&open, &[here(), (ORIGIN, "https://games.example")]), Ok(()));
        assert_eq!(admitted(&open, &[here(), (ORIGIN, "http://127.0.0.1:7120")]), Ok(()));
        assert_eq!(admitted(&open, &[here(), (ORIGIN, "https://evil.example")]), Err(Refusal::Origin));
        assert_eq!(admitted(&open, &[here(), (ORIGIN, "null")]), Err(Refusal::Origin));
        assert_eq!(admitted(&open, &[(HOST, "evil.example")]), Err(Refusal::Host));
        assert_eq!(admitted(&open, &[]), Err(Refusal::Host));
        let locked = door(Some("secret"));
        assert_eq!(admitted(&locked, &[here()]), Err(Refusal::Token));
        assert_eq!(admitted(&locked, &[here(), (AUTHORIZATION, "Bearer other")]), Err(Refusal::Token));
        assert_eq!(admitted(&locked, &[here(), (AUTHORIZATION, "Basic secret")]), Err(Refusal::Token));
        assert_eq!(admitted(&locked, &[here(), (AUTHORIZATION, "bearer secret")]), Ok(()));
    }
}
