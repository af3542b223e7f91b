//! The HTTP listener: pages for people, and WebSockets for bots, at whatever path they dial.
//!
//! A WebSocket becomes a stream of lines, which the hall takes as it takes one over TCP: a text message is a
//! line, and a line feed within a message is white space.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::serve::IncomingStream;
use hyper_util::rt::TokioIo;
use plyd_protocol::frames::{self, ControlFrame, Frames, Piece, Writer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex, split};
use tokio::sync::mpsc;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;

use super::door::Gate;
use super::listen::{BoxedStream, Connections};
use crate::play::Hall;
use crate::requester;

/// How much is read at once.
const CHUNK: usize = 1 << 14;

/// How many bytes of lines wait between a socket and the hall.
const BETWEEN: usize = 1 << 16;

/// What bots need that come as WebSockets.
#[derive(Clone)]
pub(super) struct Bots {
    pub(super) hall: Arc<Hall<Gate>>,
    /// Whether a proxy says whose a connection is.
    pub(super) behind_proxy: bool,
    /// Held as long as a connection is there.
    pub(super) alive: mpsc::Sender<()>,
}

impl axum::serve::Listener for Connections {
    type Io = BoxedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        self.next().await
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        Ok(self.address())
    }
}

/// Whose connection a request came over.
#[derive(Clone, Copy)]
struct Peer(SocketAddr);

impl Connected<IncomingStream<'_, Connections>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Self {
        Self(*stream.remote_addr())
    }
}

/// Serves pages, and bots over WebSockets, until `stop`.
///
/// # Errors
/// The listener breaks.
pub(super) async fn serve(
    connections: Connections,
    pages: Router,
    bots: Bots,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let router = pages
        .layer(from_fn_with_state(bots, take_bots))
        // Pages read an address of axum's own kind.
        .layer(axum::middleware::from_fn(async |mut request: Request, next: Next| {
            if let Some(ConnectInfo(Peer(address))) = request.extensions().get::<ConnectInfo<Peer>>().copied()
            {
                request.extensions_mut().insert(ConnectInfo(address));
            }
            next.run(request).await
        }));
    let service = router.into_make_service_with_connect_info::<Peer>();
    axum::serve(connections, service).with_graceful_shutdown(stop).await
}

/// Takes requests for a WebSocket, and leaves the others to the pages.
async fn take_bots(State(bots): State<Bots>, request: Request, next: Next) -> Response {
    if !has(request.headers(), UPGRADE.as_str(), "websocket") {
        return next.run(request).await;
    }
    let headers = request.headers();
    let key = headers.get(SEC_WEBSOCKET_KEY).cloned();
    let is_sound = request.method() == Method::GET && has(headers, CONNECTION.as_str(), "upgrade");
    let is_13 = headers.get(SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
    let (Some(key), true, true) = (key, is_sound, is_13) else {
        let version = [(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"))];
        let status = if is_13 { StatusCode::BAD_REQUEST } else { StatusCode::UPGRADE_REQUIRED };
        return (status, version, "a bot opens a WebSocket by RFC 6455\n").into_response();
    };
    let by = requester::address(request.extensions(), request.headers(), bots.behind_proxy);
    let upgraded = hyper::upgrade::on(request);
    tokio::spawn(async move {
        let _alive = bots.alive;
        // A peer that is gone by now needs nothing.
        if let Ok(upgraded) = upgraded.await {
            carry(TokioIo::new(upgraded), bots.hall, by).await;
        }
    });
    let accept = derive_accept_key(key.as_bytes());
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    if let Ok(accept) = HeaderValue::from_str(&accept) {
        headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    }
    response
}

/// Whether a header has a word among those in its lists.
fn has(headers: &HeaderMap, name: &str, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(word))
}

/// Carries the lines of a WebSocket to the hall and back, until either end is closed.
async fn carry<S>(socket: S, hall: Arc<Hall<Gate>>, by: Option<IpAddr>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (input, output) = split(socket);
    let (lines, other) = duplex(BETWEEN);
    let (from_hall, to_hall) = split(lines);
    // Pongs, and the end of the connection with its status.
    let (controls, control) = mpsc::channel(4);
    let reading = tokio::spawn(read(input, to_hall, controls));
    let writing = tokio::spawn(write(from_hall, output, control));
    hall.serve(other, by).await;
    // The hall has closed its end: what it said last is written, and then nobody reads any more.
    let _ended = writing.await;
    reading.abort();
}

/// What the writer is to write beside lines.
enum Control {
    Pong(Vec<u8>),
    Close(CloseCode, &'static str),
}

/// Reads frames and writes lines.
async fn read(
    mut input: impl AsyncRead + Unpin,
    mut lines: impl AsyncWrite + Unpin,
    controls: mpsc::Sender<Control>,
) {
    let mut frames = Frames::of(Writer::Client);
    let mut chunk = vec![0; CHUNK];
    let close = loop {
        let count = match input.read(&mut chunk).await {
            Ok(count) if count > 0 => count,
            Ok(_) | Err(_) => return,
        };
        let mut out = Vec::with_capacity(count);
        let mut rest = &mut chunk[..count];
        let end = loop {
            match frames.next(&mut rest) {
                Ok(None) => break None,
                Ok(Some(Piece::Text { bytes, is_last })) => {
                    out.extend(bytes.iter().map(|&byte| if byte == b'\n' { b'\r' } else { byte }));
                    if is_last {
                        out.push(b'\n');
                    }
                }
                Ok(Some(Piece::Control(ControlFrame::Ping(payload)))) => {
                    // One that pings faster than it reads need not have each answered.
                    let _enough = controls.try_send(Control::Pong(payload));
                }
                Ok(Some(Piece::Control(ControlFrame::Pong(_)))) => {}
                Ok(Some(Piece::Control(ControlFrame::Close(payload)))) => {
                    break Some((frames::close_status(&payload).unwrap_or(CloseCode::Normal), ""));
                }
                Err(violation) => break Some((violation.code, violation.reason)),
            }
        };
        if lines.write_all(&out).await.is_err() {
            return;
        }
        if let Some(end) = end {
            break end;
        }
    };
    let _written_anyway = controls.send(Control::Close(close.0, close.1)).await;
    // The hall sees the end of the lines.
    let _gone = lines.shutdown().await;
}

/// Reads lines and writes frames.
async fn write(
    mut lines: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    mut controls: mpsc::Receiver<Control>,
) {
    let (mut chunk, mut line) = (vec![0; CHUNK], Vec::new());
    let mut close = (CloseCode::Normal, "");
    let mut listens = true;
    loop {
        let mut out = Vec::new();
        tokio::select! {
            control = controls.recv(), if listens => match control {
                Some(Control::Pong(payload)) => frames::put_pong(&mut out, &payload),
                Some(Control::Close(code, reason)) => close = (code, reason),
                None => listens = false,
            },
            read = lines.read(&mut chunk) => match read {
                Ok(count) if count > 0 => {
                    for piece in chunk[..count].split_inclusive(|byte| *byte == b'\n') {
                        line.extend_from_slice(piece);
                        if line.pop_if(|last| *last == b'\n').is_some() {
                            frames::put_text_header(&mut out, line.len());
                            out.append(&mut line);
                        }
                    }
                }
                Ok(_) | Err(_) => break,
            },
        }
        if !out.is_empty() && (output.write_all(&out).await.is_err() || output.flush().await.is_err()) {
            return;
        }
    }
    let mut end = Vec::new();
    frames::put_close(&mut end, close.0, close.1);
    let _gone = output.write_all(&end).await;
    let _gone = output.shutdown().await;
}
