//! A port that browsers reach: the door to WebSocket connections, and the files of a page beside it.
//!
//! A visitor that has not become a connection holds one of few places, as a peer does that shakes hands with
//! TLS before it is a visitor: peers that send nothing, or a byte now and then, keep no one out.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tungstenite::handshake::server::create_response;
use tungstenite::http::header::{HOST, ORIGIN, UPGRADE};
use tungstenite::http::{Method, Request, StatusCode};

use super::http::{self, Answer};
use super::net::{pause, prepare};
use super::newcomers::{Newcomers, Places, Progress};
use super::reading::{LINGER, drain};
use super::{foreign, tls, websocket};
use crate::page::Page;
use crate::runtime::Shared;
use crate::site::Site;
use crate::spans::Origin;
use crate::state::refusals::Refusal;

/// Visitors at once: some ten browsers that fetch a page, with six connections each.
pub(super) const VISITORS: Places = Places { all: 64, of_network: 0 };

/// The outcome of a request.
enum Response {
    /// It is answered.
    Answer(Answer),
    /// It becomes a WebSocket after this answer.
    Upgrade(Vec<u8>),
}

impl Site {
    fn response(&self, shared: &Arc<Shared>, request: &Request<()>) -> Response {
        if asks_for_websocket(request) {
            return self.upgrade(shared, request).map_or_else(Response::Answer, Response::Upgrade);
        }
        if let Err(refusal) = http::refuse_changes(request) {
            return Response::Answer(refusal);
        }
        Response::Answer(match &self.page {
            Some(page) => self.file(request, page),
            None => {
                let message = "this port serves WebSocket alone; `plyd gui` serves a page";
                Answer::refusal(StatusCode::UPGRADE_REQUIRED, message).with("Upgrade", "websocket")
            }
        })
    }

    /// The answer that makes a request a WebSocket.
    ///
    /// # Errors
    /// The refusal.
    fn upgrade(&self, shared: &Arc<Shared>, request: &Request<()>) -> Result<Vec<u8>, Answer> {
        if !matches!(request.uri().path(), "/" | "/ws") {
            return Err(Answer::refusal(StatusCode::NOT_FOUND, "the WebSocket is at /ws"));
        }
        let accepted = create_response(request).map_err(|error| {
            Answer::refusal(StatusCode::BAD_REQUEST, &error.to_string()).with("Sec-WebSocket-Version", "13")
        })?;
        let host = http::header(request, HOST.as_str()).unwrap_or_default();
        // Programs that are no browsers send no origin: nobody but their user sent them here.
        if request.headers().contains_key(ORIGIN) {
            let origin = http::header(request, ORIGIN.as_str()).unwrap_or_default();
            if !self.guard().lets_in(origin, host) {
                shared.with(|state| state.note_foreign_page(origin, host));
                let message = if self.page.is_some() {
                    "pages of this origin may not connect; the page of this port may"
                } else {
                    "pages of this origin may not connect; `plyd serve --ws-origin` allows one"
                };
                return Err(Answer::refusal(StatusCode::FORBIDDEN, message));
            }
        }
        let mut bytes = Vec::new();
        tungstenite::handshake::server::write_response(&mut bytes, &accepted).map_err(|error| {
            tracing::error!(%error, "cannot write a handshake");
            Answer::refusal(StatusCode::INTERNAL_SERVER_ERROR, "the server failed")
        })?;
        Ok(bytes)
    }

    fn file(&self, request: &Request<()>, page: &Page) -> Answer {
        let host = match http::own_host(request, &self.guard()) {
            Ok(host) => host,
            Err(refusal) => return refusal,
        };
        let Some(content) = page.content(request.uri().path()) else {
            return Answer::refusal(StatusCode::NOT_FOUND, "there is no such file");
        };
        // Some browsers do not take a WebSocket of the same host for 'self'. The host is known to be
        // harmless.
        let policy = format!(
            "default-src 'self'; connect-src 'self' ws://{host} wss://{host}; img-src 'self' data:; object-src 'none'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let mut answer = Answer::found(content.mime, content.bytes).of_page(policy);
        answer.is_last = http::wants_close(request);
        answer
    }
}

/// Whether a request is to become a WebSocket; what else it might become may be ignored.
fn asks_for_websocket(request: &Request<()>) -> bool {
    let protocols = request.headers().get_all(UPGRADE).iter().filter_map(|value| value.to_str().ok());
    protocols.flat_map(|list| list.split(',')).any(|name| name.trim().eq_ignore_ascii_case("websocket"))
}

/// Accepts visitors forever, over TLS if that is served; a page is for this machine alone.
pub(crate) async fn accept(shared: Arc<Shared>, listener: Arc<TcpListener>, site: Arc<Site>) {
    let handshakes = Newcomers::new(Refusal::Handshakes);
    let visitors = Arc::new(Newcomers::new(Refusal::Visitors));
    loop {
        match listener.accept().await {
            Ok((stream, peer)) if site.page.is_none() && shared.tls.is_some() => {
                prepare(&shared, &stream);
                let (shared, site, visitors) =
                    (Arc::clone(&shared), Arc::clone(&site), Arc::clone(&visitors));
                handshakes.begin(&Arc::clone(&shared), peer, tls::places(&shared), |progress| {
                    secure(shared, site, visitors, stream, peer, progress)
                });
            }
            Ok((stream, peer)) => {
                prepare(&shared, &stream);
                let (site, split) = (Arc::clone(&site), TcpStream::into_split);
                visitors.begin(&shared, peer, VISITORS, |progress| {
                    visit(Arc::clone(&shared), site, stream, split, Origin::WebSocket(peer), progress)
                });
            }
            Err(error) => pause(&error).await,
        }
    }
}

/// Makes a peer a visitor once it has shaken hands.
async fn secure(
    shared: Arc<Shared>,
    site: Arc<Site>,
    visitors: Arc<Newcomers>,
    stream: TcpStream,
    peer: SocketAddr,
    progress: Progress,
) {
    if let Some(stream) = tls::accept(&shared, stream, peer, progress).await {
        let (split, origin) = (tokio::io::split, Origin::SecureWebSocket(peer));
        visitors.begin(&Arc::clone(&shared), peer, VISITORS, |progress| {
            visit(shared, site, stream, split, origin, progress)
        });
    }
}

/// Answers a peer until it leaves, is turned away, or becomes a WebSocket of that origin.
async fn visit<S, R, W>(
    shared: Arc<Shared>,
    site: Arc<Site>,
    mut stream: S,
    split: impl FnOnce(S) -> (R, W),
    origin: Origin,
    progress: Progress,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let mut ahead = Vec::new();
    loop {
        let (answer, is_head_only) = match http::next_request(&mut stream, &mut ahead).await {
            Ok(None) => return,
            Err(refusal) => {
                if foreign::protocol(&ahead) == Some(foreign::TLS) {
                    let peer = origin.peer();
                    peer.into_iter()
                        .for_each(|peer| shared.lock().note_peer(peer, Refusal::TlsOnPlain, None));
                }
                (refusal, false)
            }
            Ok(Some(request)) => match site.response(&shared, &request) {
                Response::Answer(answer) => (answer, request.method() == Method::HEAD),
                Response::Upgrade(accepted) => {
                    if stream.write_all(&accepted).await.is_ok() && stream.flush().await.is_ok() {
                        let (input, output) = split(stream);
                        websocket::connect(&shared, input, output, ahead, origin);
                    }
                    return;
                }
            },
        };
        if http::write(&mut stream, &answer, is_head_only).await.is_err() {
            return;
        }
        if answer.is_last {
            break;
        }
        progress.note();
    }
    if let Ok(Ok(())) = tokio::time::timeout(LINGER, stream.shutdown()).await {
        drain(&shared, stream).await;
    }
}
