//! The HTTP listener: pages for people, and WebSockets for bots, at whatever path they dial.
//!
//! Its connections are bounded, in all and by address, and one over which nobody asks anything, or reads what
//! is sent, is closed, so that the descriptors of bots and of the database are there. A WebSocket has a place
//! among the bots' instead.
//!
//! A WebSocket becomes a stream of lines, which the lobby takes as it takes one over TCP: a text message is a
//! line, and a line feed within a message is white space.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use plyd_protocol::frames::{self, ControlFrame, Frames, Piece, Writer};
use plyd_protocol::write_timeout::WriteTimeout;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex, split};
use tokio::sync::{mpsc, watch};
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;

use super::authenticator::TokenAuthenticator;
use super::listen::{BoxedStream, Connections};
use crate::play::{Lobby, Pace};
use crate::rates::{Peer, Places};
use crate::requester;

/// How much is read at once.
const CHUNK: usize = 1 << 14;

/// How many bytes of lines wait between a socket and the lobby.
const BETWEEN: usize = 1 << 16;

/// The most bytes of a request's head.
const HEAD: usize = 1 << 16;

/// How the connections of browsers are treated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Http {
    /// The most connections at once; WebSockets are bots', and do not count.
    pub connections: usize,
    /// The most of them from one address. Behind a proxy all have one, and this says nothing.
    pub connections_of_address: usize,
    /// How long a connection may take until the head of its next request is there, or until it takes more of
    /// what it is sent.
    pub head_within: Duration,
}

impl Default for Http {
    /// 2,000 connections, 200 of one address, and 30 s.
    fn default() -> Self {
        Self { connections: 2000, connections_of_address: 200, head_within: Duration::from_secs(30) }
    }
}

impl Http {
    /// The places of all its listeners.
    pub(super) fn places(&self, behind_proxy: bool) -> Arc<Places> {
        Places::new(
            self.connections,
            if behind_proxy { self.connections } else { self.connections_of_address },
        )
    }
}

/// What bots need that come as WebSockets.
#[derive(Clone)]
pub(super) struct Bots {
    pub(super) lobby: Arc<Lobby<TokenAuthenticator>>,
    /// Whether a proxy says whose a connection is.
    pub(super) behind_proxy: bool,
    /// Held as long as a connection is there.
    pub(super) alive: mpsc::Sender<()>,
}

/// Pages that bots find over WebSockets, too.
pub(super) fn with_bots(pages: Router, bots: Bots) -> Router {
    pages.layer(from_fn_with_state(bots, take_bots))
}

/// Serves pages until `stop`; then the requests that are there are answered. Each connection holds `alive`.
pub(super) async fn serve(
    mut connections: Connections,
    pages: Router,
    places: Arc<Places>,
    head_within: Duration,
    alive: mpsc::Sender<()>,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let service = TowerToHyperService::new(pages);
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(head_within).max_buf_size(HEAD);
    let listener = connections.address();
    let (stopping, is_stopping) = watch::channel(());
    let take = async {
        loop {
            let (stream, address) = connections.next().await;
            let Some(place) = places.take(Peer::of(Some(address.ip()))) else {
                tracing::debug!(target: super::LOG, peer = %address, %listener, "too many connections of browsers");
                continue;
            };
            let (server, service, stop) = (server.clone(), service.clone(), is_stopping.clone());
            let held = (place, alive.clone());
            tokio::spawn(async move {
                let stream = WriteTimeout::new(stream, head_within);
                attend(&server, service, stream, address, stop).await;
                drop(held);
            });
        }
    };
    tokio::select! {
        () = take => {}
        () = stop => {}
    }
    drop((stopping, is_stopping));
}

/// Serves a connection to its end; once the ladder stops, to the end of the request that is there.
async fn attend(
    server: &http1::Builder,
    pages: TowerToHyperService<Router>,
    stream: WriteTimeout<BoxedStream>,
    address: SocketAddr,
    mut stop: watch::Receiver<()>,
) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        pages.call(request)
    });
    let connection = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        // The sender is never used, but dropped.
        _ = stop.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(target: super::LOG, peer = %address, %error, "a connection of a browser broke");
    }
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
            carry(TokioIo::new(upgraded), bots.lobby, by).await;
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

/// Carries the lines of a WebSocket to the lobby and back, until either end is closed.
async fn carry<S>(socket: S, lobby: Arc<Lobby<TokenAuthenticator>>, by: Option<IpAddr>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (input, output) = split(socket);
    let (lines, other) = duplex(BETWEEN);
    let (from_lobby, to_lobby) = split(lines);
    // Pongs, and the end of the connection with its status.
    let (controls, control) = mpsc::channel(4);
    let reading = tokio::spawn(read(input, to_lobby, controls, Pace::new(lobby.frame_bytes_a_second())));
    let writing = tokio::spawn(write(from_lobby, output, control));
    lobby.serve(other, by).await;
    // The lobby has closed its end: what it said last is written, and then nobody reads any more.
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
    mut pace: Pace,
) {
    let mut frames = Frames::of(Writer::Client);
    let mut chunk = vec![0; CHUNK];
    let close = loop {
        // Pings, and frames without a text in them, never reach the lobby, which bounds lines alone.
        pace.wait().await;
        let count = match input.read(&mut chunk).await {
            Ok(count) if count > 0 => count,
            Ok(_) | Err(_) => return,
        };
        pace.spend(count);
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
    // The lobby sees the end of the lines.
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

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncBufReadExt, BufReader};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::timeout;

    use super::*;
    use crate::serve::Listener;

    /// Longer than any of these tests takes, whatever else the machine does.
    const LONG: Duration = Duration::from_secs(120);

    /// Serves a page; gives its address, and what stops it.
    async fn open(http: &Http, behind_proxy: bool) -> (SocketAddr, tokio::sync::oneshot::Sender<()>) {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let connections = Listener { socket, tls: None }.connections().unwrap();
        let (alive, _) = mpsc::channel(1);
        let page = Router::new()
            .route("/", get(async || "a page"))
            // More than the buffers between two sockets hold.
            .route("/large", get(async || vec![0; 32 << 20]));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let places = http.places(behind_proxy);
        let stopped = async { drop(stopped.await) };
        tokio::spawn(serve(connections, page, places, http.head_within, alive, stopped));
        (address, stop)
    }

    /// Asks for the page over a connection of its own; whether it came.
    async fn has_page(address: SocketAddr) -> bool {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = "GET / HTTP/1.1\r\nHost: ladder\r\nConnection: close\r\n\r\n";
        let _closed_at_once = stream.write_all(request.as_bytes()).await;
        let mut answer = Vec::new();
        let _reset = timeout(LONG, stream.read_to_end(&mut answer)).await.expect("an end");
        String::from_utf8(answer).unwrap().ends_with("a page")
    }

    async fn until_page(address: SocketAddr) {
        let found = async {
            while !has_page(address).await {
                tokio::task::yield_now().await;
            }
        };
        timeout(LONG, found).await.expect("the page is served again");
    }

    #[tokio::test]
    async fn silent_connections_lose_their_places() {
        let http =
            Http { connections: 4, connections_of_address: 4, head_within: Duration::from_millis(300) };
        let (address, _stop) = open(&http, false).await;
        for silence in ["", "GET / HTTP/1.1\r\nHost: la", "GET / HTTP/1.1\r\nHost: ladder\r\n\r\n"] {
            let mut silent = Vec::new();
            for _ in 0..4 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(silence.as_bytes()).await.unwrap();
                silent.push(stream);
            }
            until_page(address).await;
            for mut stream in silent {
                let ended = timeout(LONG, stream.read_to_end(&mut Vec::new())).await;
                assert!(ended.is_ok(), "it is closed after {silence:?}");
            }
        }
    }

    #[tokio::test]
    async fn connections_that_leave_a_page_unread_lose_their_places() {
        let http =
            Http { connections: 4, connections_of_address: 4, head_within: Duration::from_millis(300) };
        let (address, stop) = open(&http, false).await;
        let mut unread = Vec::new();
        for _ in 0..4 {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(b"GET /large HTTP/1.1\r\nHost: ladder\r\n\r\n").await.unwrap();
            // It is sent: the place is not lost for silence.
            stream.peek(&mut [0]).await.unwrap();
            unread.push(stream);
        }
        until_page(address).await;
        drop(stop);
    }

    #[tokio::test]
    async fn one_address_has_so_many_places_unless_all_come_through_a_proxy() {
        for (behind_proxy, all, served) in
            [(false, 9, false), (false, 2, false), (true, 9, true), (true, 2, false)]
        {
            let http = Http { connections: all, connections_of_address: 2, head_within: LONG };
            let (address, _stop) = open(&http, behind_proxy).await;
            let mut kept = Vec::new();
            for _ in 0..2 {
                let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
                stream.write_all(b"GET / HTTP/1.1\r\nHost: ladder\r\n\r\n").await.unwrap();
                let mut head = String::new();
                timeout(LONG, stream.read_line(&mut head)).await.unwrap().unwrap();
                assert_eq!(head, "HTTP/1.1 200 OK\r\n");
                kept.push(stream);
            }
            assert_eq!(has_page(address).await, served, "{behind_proxy} {all}");
            drop(kept);
            until_page(address).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pings_without_end_are_read_at_a_rate() {
        let (mut near, far) = duplex(1 << 16);
        let (lines, _lobby) = duplex(BETWEEN);
        // Nobody reads the pongs, as of one that does not read.
        let (controls, _unread) = mpsc::channel(4);
        let reading = tokio::spawn(read(far, lines, controls, Pace::new(1 << 20)));
        let begun = tokio::time::Instant::now();
        // A frame of a client: a ping of four bytes under a mask of zeros.
        let pings = [0x89, 0x84, 0, 0, 0, 0, b'p', b'i', b'n', b'g'].repeat(1 << 14);
        let (mut written, most) = (0, 8);
        while written < most << 20 {
            near.write_all(&pings).await.unwrap();
            written += pings.len();
        }
        // The clock stands still while anything is done, so that this is the time that was waited.
        let waited = begun.elapsed().as_secs();
        assert!((most as u64 - 3..=most as u64).contains(&waited), "{most} MiB after {waited} s");
        reading.abort();
    }

    #[tokio::test]
    async fn a_stop_closes_connections_over_which_nothing_is_asked() {
        let (address, stop) = open(&Http { head_within: LONG, ..Http::default() }, false).await;
        let mut idle = BufReader::new(TcpStream::connect(address).await.unwrap());
        idle.write_all(b"GET / HTTP/1.1\r\nHost: ladder\r\n\r\n").await.unwrap();
        let mut head = String::new();
        timeout(LONG, idle.read_line(&mut head)).await.unwrap().unwrap();
        stop.send(()).unwrap();
        let mut rest = Vec::new();
        timeout(LONG, idle.read_to_end(&mut rest)).await.expect("it is closed").unwrap();
        assert!(rest.ends_with(b"a page"));
    }
}
