//! Browsers and their imitators: WebSocket with the raw bytes of its frames and with another author's client,
//! and HTTP as peers may send it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

use super::network::{Served, TIMEOUT, go};
use crate::page::{Content, Page};
use crate::state::outbox::Item;
use crate::{Config, Limits};
use plyd_core::search::clock::now_ns;

const HELLO: &str = r#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#;

static PAGE: Page = Page::of(
    &[
        ("index.html", Content { mime: "text/html", bytes: b"<p>" }),
        ("a/b.js", Content { mime: "text/javascript", bytes: b"let a;" }),
    ],
    &[],
);

/// A daemon on a port for browsers, with a page or without.
struct Site {
    served: Served,
    address: SocketAddr,
}

impl Site {
    fn new(limits: Limits, origins: &[&str]) -> Self {
        let served = Served::new(Config { limits, ..Config::default() });
        let origins: Vec<String> = origins.iter().map(|origin| (*origin).to_owned()).collect();
        let address = served.runtime.block_on(served.daemon.serve_ws("127.0.0.1:0", &origins)).unwrap();
        Self { served, address }
    }

    fn with_page() -> Self {
        let served = Served::new(Config::default());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let _inside = served.runtime.enter();
        served.daemon.serve_page(listener, PAGE).unwrap();
        Self { served, address }
    }

    fn socket(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// What comes back for these bytes until the server closes, with `Host` and `Origin` filled in.
    fn exchange(&self, request: &str) -> String {
        let mut socket = self.socket();
        let own = self.address.to_string();
        socket.write_all(request.replace("OWN", &own).as_bytes()).unwrap();
        let mut bytes = Vec::new();
        // A reset may follow the answer if the server did not read the rest.
        let _reset = socket.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A WebSocket that has said nothing.
    fn connect(&self) -> Client {
        let request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        let (socket, _) = tungstenite::client(request, self.socket()).unwrap();
        Client { socket, seq: 0 }
    }

    /// One that has shaken hands.
    fn greet(&self) -> Client {
        let mut client = self.connect();
        client.send(HELLO);
        assert_eq!(client.next()["of"], "hello");
        client
    }
}

struct Client {
    socket: WebSocket<TcpStream>,
    seq: u64,
}

impl Client {
    fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.socket.get_mut().write_all(bytes).unwrap();
    }

    /// The next message; checks that `seq` has no gap.
    fn next(&mut self) -> Value {
        loop {
            let text = match self.socket.read().unwrap() {
                Message::Text(text) => text,
                Message::Ping(_) | Message::Pong(_) => continue,
                other => panic!("{other:?}"),
            };
            let message: Value = serde_json::from_str(text.as_str()).unwrap();
            self.seq += 1;
            assert_eq!(message["seq"], self.seq, "{text}");
            return message;
        }
    }

    fn ping(&mut self) {
        self.send(r#"{"id":"p","cmd":"ping"}"#);
        assert_eq!(self.next()["of"], "ping");
    }

    /// The status with which the server closes, once all messages are read.
    fn closed(&mut self) -> Option<CloseCode> {
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => return frame.map(|frame| frame.code),
                Ok(_) => {}
                Err(error) => panic!("no close: {error}"),
            }
        }
    }
}

/// A frame of a client, with a mask of zeros.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    assert!(payload.len() < 126);
    [&[first, 0x80 | payload.len() as u8, 0, 0, 0, 0], payload].concat()
}

/// As with `Config::ws_origins`: behind a proxy all pages come from this machine.
#[test]
fn where_pages_of_another_origin_are_served_nobody_without_a_name_is_an_operator() {
    for (origins, may) in [(&[][..], true), (&["https://games.example"], false)] {
        let site = Site::new(Limits::default(), origins);
        let mut client = site.greet();
        client.send(r#"{"id":"c","cmd":"connections"}"#);
        assert_eq!(client.next()["code"] != "forbidden", may, "{origins:?}");
    }
}

#[test]
fn a_conversation_is_that_of_any_socket() {
    let site = Site::new(Limits::default(), &[]);
    let mut client = site.connect();
    client.send("");
    client.send(HELLO);
    let hello = client.next();
    assert!(hello["features"].as_array().unwrap().contains(&json!("websocket")), "{hello}");
    client.send(&go("g", "steady", r#""mode":"analyse""#));
    assert_eq!(client.next()["event"], "best");
    client.send("{\"id\":\"s\",\"cmd\":\"stop\",\"target\":\"g\"}\r\n");
    let mut finals = std::iter::from_fn(|| Some(client.next())).filter(|message| message["type"] != "info");
    assert_eq!(finals.next().unwrap()["effect"], "stopping");
    assert_eq!(finals.next().unwrap()["reason"], "stopped");
    client.send("no JSON");
    // The blank message counted as a line; the line end within a message is white space.
    let error = client.next();
    assert_eq!((&error["code"], &error["line"]), (&json!("bad_json"), &json!(5)), "{error}");
    client.send(r#"{"id":"q","cmd":"quit"}"#);
    assert_eq!(client.next()["of"], "quit");
    assert_eq!(client.closed(), Some(CloseCode::Normal));
}

#[test]
fn fragments_and_pings_are_put_in_order() {
    let site = Site::new(Limits::default(), &[]);
    let mut client = site.greet();
    client.raw(&frame(0x01, br#"{"id":"p","#));
    client.raw(&frame(0x89, b"are you there"));
    client.raw(&frame(0x00, b""));
    client.raw(&frame(0x80, br#""cmd":"ping"}"#));
    let (mut pongs, mut results) = (0, 0);
    while (pongs, results) != (1, 1) {
        match client.socket.read().unwrap() {
            Message::Pong(payload) if payload == "are you there" => pongs += 1,
            Message::Text(text) if text.contains(r#""of":"ping""#) => results += 1,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_large_answer_is_one_message_among_others() {
    let site = Site::new(Limits::default(), &[]);
    let mut client = site.greet();
    let pad = "x".repeat(3 << 20);
    site.served.daemon.shared.with(|state| {
        let conn = *state.conns.keys().next().expect("the connection is open");
        state.send(conn, Item::body(json!({ "pad": pad }).to_string()), now_ns());
    });
    client.send(r#"{"id":"p","cmd":"ping"}"#);
    assert!(client.next()["pad"] == pad, "the answer differs");
    assert_eq!(client.next()["of"], "ping");
}

#[test]
fn long_messages_are_dropped_and_answered() {
    let site = Site::new(Limits::default(), &[]);
    let mut client = site.connect();
    client.send(&"x".repeat(20_000));
    assert_eq!(client.next()["code"], "line_too_long", "16 KiB are allowed before hello");
    client.send(HELLO);
    assert_eq!(client.next()["of"], "hello");
    client.send(&json!({ "id": "p", "cmd": "ping", "x_pad": "x".repeat(1_000_000) }).to_string());
    assert_eq!(client.next()["of"], "ping");
    client.send(&"x".repeat(3_000_000));
    let error = client.next();
    assert_eq!((&error["code"], &error["fatal"]), (&json!("line_too_long"), &json!(false)));
    // A message that promises more than any memory holds, fragment by fragment.
    client.raw(&[0x01, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]);
    for _ in 0..64 {
        client.raw(&[b'y'; 256 << 10]);
    }
    // The end of a fragment of 256 MiB would come some time; other connections go on meanwhile.
    site.greet().ping();
}

#[test]
fn what_breaks_the_rules_of_frames_ends_the_connection() {
    let table: &[(&str, Vec<u8>, Option<&str>, CloseCode)] = &[
        ("binary", frame(0x82, b"{}"), None, CloseCode::Unsupported),
        ("no UTF-8", frame(0x81, b"\xff"), Some("bad_utf8"), CloseCode::Invalid),
        (
            "half a character",
            frame(0x81, "\u{e9}".as_bytes()[..1].into()),
            Some("bad_utf8"),
            CloseCode::Invalid,
        ),
        ("no mask", vec![0x81, 2, b'{', b'}'], None, CloseCode::Protocol),
        ("compressed", frame(0xc1, b"{}"), None, CloseCode::Protocol),
        ("an unknown kind", frame(0x84, b"{}"), None, CloseCode::Protocol),
        ("a status nobody may send", frame(0x88, b"\x03\xed"), None, CloseCode::Protocol),
        ("a close", frame(0x88, b"\x0f\xa0bye"), None, CloseCode::Library(4000)),
        ("a close without status", frame(0x88, b""), None, CloseCode::Normal),
    ];
    let site = Site::new(Limits::default(), &[]);
    for (name, bytes, error, code) in table {
        let mut client = site.greet();
        client.send(&go("g", "steady", r#""mode":"analyse""#));
        while client.next()["event"] != "best" {}
        client.raw(bytes);
        if let Some(error) = error {
            let answer = loop {
                let message = client.next();
                if message["type"] == "error" {
                    break message;
                }
            };
            assert_eq!((&answer["code"], &answer["fatal"]), (&json!(error), &json!(false)), "{name}");
        }
        assert_eq!(client.closed(), Some(*code), "{name}");
        site.served.wait_until("its search is cancelled", |daemon| daemon.status().searches == 0);
    }
}

#[test]
fn strangers_are_turned_away_like_on_any_socket() {
    let site = Site::new(Limits { connections: 3, bad_lines: 3, ..Limits::default() }, &[]);
    let mut client = site.connect();
    client.send(r#"{"id":"p","cmd":"ping"}"#);
    let error = client.next();
    assert_eq!((&error["code"], &error["fatal"]), (&json!("handshake_required"), &json!(true)));
    client.closed();
    let mut client = site.connect();
    (0..3).for_each(|_| client.send("x"));
    (0..3).for_each(|_| assert_eq!(client.next()["code"], "bad_json"));
    assert_eq!(client.next()["kind"], "protocol_abuse");
    client.closed();
    site.served.wait_until("both are gone", |daemon| daemon.shared.lock().conns.is_empty());
    let _three: Vec<Client> = (0..3).map(|_| site.greet()).collect();
    let mut fourth = site.connect();
    fourth.send(r#"{"id":"h","cmd":"hello","protocol":{"min":1,"max":1}}"#);
    assert_eq!(fourth.next()["code"], "too_many_connections");
    fourth.closed();
}

#[test]
fn a_peer_that_never_reads_is_cut_off() {
    let site = Site::new(Limits { unsent_bytes: 1 << 20, ..Limits::default() }, &[]);
    let mut deaf = site.greet();
    deaf.send(&go("g", "chatty", r#""mode":"analyse""#));
    let mut flood = deaf.socket.get_ref().try_clone().unwrap();
    let ping = frame(0x81, format!(r#"{{"id":"p","cmd":"ping","echo":"{}"}}"#, "x".repeat(80)).as_bytes());
    let pings = [ping.repeat(100), frame(0x89, b"and so are pings").repeat(100)].concat();
    let flooding = std::thread::spawn(move || while flood.write_all(&pings).is_ok() {});
    site.served.wait_until("the peer is cut off", |daemon| daemon.status().counters.connections_dropped == 1);
    flooding.join().unwrap();
    site.served.wait_until("its search is cancelled", |daemon| daemon.status().searches == 0);
    assert_eq!(site.served.daemon.shared.lock().conns.len(), 0);
}

#[test]
fn a_peer_that_vanishes_has_its_searches_cancelled() {
    let site = Site::new(Limits::default(), &[]);
    let mut client = site.greet();
    client.send(&go("g", "chatty", r#""mode":"analyse""#));
    client.next();
    // There is no half-closed state: the end of the stream is the end of the connection.
    client.socket.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
    site.served.wait_until("the search is cancelled", |daemon| daemon.status().searches == 0);
}

#[test]
fn a_peer_is_asked_whether_it_is_there() {
    // A busy machine may keep the peer that answers from doing so in time, but not each time when it has
    // ever more time.
    let kept = (0..8).map(|doubled| Duration::from_millis(300 << doubled)).any(is_the_silent_one_cut_off);
    assert!(kept, "the peer that answers is cut off, too");
}

/// Whether only the silent one of two peers is cut off; it is in any case.
fn is_the_silent_one_cut_off(silence: Duration) -> bool {
    let site = Site::new(Limits { silence, ..Limits::default() }, &[]);
    let mut awake = site.greet();
    let asleep = site.greet();
    let dropped = || site.served.daemon.status().counters.connections_dropped;
    for _ in 0..5 {
        // Reading one ping answers it.
        match awake.socket.read() {
            Ok(Message::Ping(_)) if awake.socket.flush().is_ok() => {}
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => panic!("{message:?}"),
            // It was cut off.
            _ => return false,
        }
    }
    site.served.wait_until("the silent one is cut off", |_| dropped() >= 1);
    drop(asleep);
    if dropped() > 1 || awake.socket.send(Message::text(r#"{"id":"p","cmd":"ping"}"#)).is_err() {
        return false;
    }
    loop {
        match awake.socket.read() {
            Ok(Message::Text(text)) => return text.contains(r#""of":"ping""#),
            Ok(Message::Ping(_)) => {}
            _ => return false,
        }
    }
}

#[test]
fn other_origins_and_foreign_names_are_kept_out() {
    let site = Site::new(Limits::default(), &["https://games.example"]);
    let ask = |lines: &str| {
        let head = "GET /ws HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
                    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        // Frames that come with the request are read, too: a close ends the connection.
        let close = "\u{0}"; // not a frame of a client: the connection fails
        let answer = site.exchange(&format!("{head}{lines}\r\n{close}{close}"));
        answer[9..12].parse::<u16>().unwrap_or_else(|_| panic!("{lines}: {answer}"))
    };
    for (lines, status) in [
        ("Host: OWN\r\n", 101),
        ("Host: games.example\r\n", 101),
        ("Host: OWN\r\nOrigin: http://OWN\r\n", 101),
        ("Host: OWN\r\nOrigin: https://games.example\r\n", 101),
        ("Host: localhost:1\r\nOrigin: http://localhost:1\r\n", 101),
        ("Host: OWN\r\nOrigin: https://evil.example\r\n", 403),
        ("Host: OWN\r\nOrigin: null\r\n", 403),
        ("Host: OWN\r\nOrigin: \r\n", 403),
        ("Host: OWN\r\nOrigin: http://OWN\r\nOrigin: http://OWN\r\n", 403),
        ("Host: OWN\r\nOrigin: http://OWN.evil.example\r\n", 403),
        // A name that its owner made point here.
        ("Host: evil.example:7118\r\nOrigin: http://evil.example:7118\r\n", 403),
        ("Origin: http://OWN\r\n", 403),
    ] {
        assert_eq!(ask(lines), status, "{lines}");
    }
}

#[test]
fn handshakes_and_other_requests_are_answered_in_their_own_words() {
    let site = Site::new(Limits::default(), &[]);
    let upgrade = "Host: OWN\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for (request, status) in [
        (format!("GET /else HTTP/1.1\r\n{upgrade}{key}Sec-WebSocket-Version: 13\r\n\r\n"), 404),
        (format!("POST /ws HTTP/1.1\r\n{upgrade}{key}Sec-WebSocket-Version: 13\r\n\r\n"), 400),
        (format!("GET /ws HTTP/1.0\r\n{upgrade}{key}Sec-WebSocket-Version: 13\r\n\r\n"), 400),
        (format!("GET /ws HTTP/1.1\r\n{upgrade}{key}Sec-WebSocket-Version: 8\r\n\r\n"), 400),
        (format!("GET /ws HTTP/1.1\r\n{upgrade}Sec-WebSocket-Version: 13\r\n\r\n"), 400),
        ("GET /ws HTTP/1.1\r\nHost: OWN\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n".into(), 426),
        (
            "GET /ws HTTP/1.1\r\nHost: OWN\r\nUpgrade: h2c, WebSocket\r\nConnection: Upgrade\r\n\r\n".into(),
            400,
        ),
        ("GET /ws HTTP/1.1\r\nHost: OWN\r\n\r\n".into(), 426),
        ("GET / HTTP/1.1\r\nHost: OWN\r\n\r\n".into(), 426),
        ("POST / HTTP/1.1\r\nHost: OWN\r\n\r\n".into(), 405),
        (format!("{HELLO}\n"), 400),
        ("\u{16}\u{3}\u{1}".into(), 400),
    ] {
        let answer = site.exchange(&request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}\n{answer}");
    }
}

#[test]
fn the_page_is_served_to_those_who_name_this_machine() {
    let site = Site::with_page();
    let long = "x".repeat(9000);
    for (request, status, words) in [
        ("GET / HTTP/1.1\r\nHost: OWN\r\nConnection: close\r\n\r\n", 200, "<p>"),
        (
            "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n",
            200,
            "connect-src 'self' ws://localhost wss://localhost;",
        ),
        ("GET /a/b.js?v=1 HTTP/1.1\r\nHost: OWN\r\nConnection: close\r\n\r\n", 200, "text/javascript"),
        ("HEAD /a/b.js HTTP/1.1\r\nHost: OWN\r\nConnection: close\r\n\r\n", 200, "Content-Length: 6"),
        ("GET / HTTP/1.1\r\nHost: OWN\r\nUpgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n", 200, "<p>"),
        ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "Host"),
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "localhost"),
        ("GET / HTTP/1.1\r\nHost: 192.168.0.1\r\n\r\n", 403, "localhost"),
        ("GET / HTTP/1.1\r\nHost: OWN, evil.example\r\n\r\n", 403, "localhost"),
        ("GET /a/../a/b.js HTTP/1.1\r\nHost: OWN\r\n\r\n", 404, "no such file"),
        ("GET /../../etc/passwd HTTP/1.1\r\nHost: OWN\r\n\r\n", 404, "no such file"),
        ("GET /%2e%2e/Cargo.toml HTTP/1.1\r\nHost: OWN\r\n\r\n", 404, "no such file"),
        ("GET /..\\Cargo.toml HTTP/1.1\r\nHost: OWN\r\n\r\n", 404, "no such file"),
        ("POST / HTTP/1.1\r\nHost: OWN\r\nContent-Length: 3\r\n\r\na=b", 405, "Allow: GET, HEAD"),
        ("DELETE / HTTP/1.1\r\nHost: OWN\r\n\r\n", 405, "Allow: GET, HEAD"),
        ("OPTIONS * HTTP/1.1\r\nHost: OWN\r\n\r\n", 405, "Allow: GET, HEAD"),
        (&format!("GET /{long} HTTP/1.1\r\nHost: OWN\r\n\r\n"), 431, "8 KiB"),
        (&format!("GET / HTTP/1.1\r\nHost: OWN\r\nCookie: {long}\r\n\r\n"), 431, "8 KiB"),
    ] {
        let answer = site.exchange(request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}\n{answer}");
        assert!(answer.contains(words), "{request}\n{answer}");
        assert!(answer.contains("nosniff") && answer.contains("no-store"), "{answer}");
        assert!(request.starts_with("GET") || !answer.ends_with("let a;"), "{answer}");
    }
    // Two requests in one packet, then a third: the connection stays until it is asked to close.
    let ask = "GET / HTTP/1.1\r\nHost: OWN\r\n\r\n";
    let answers =
        site.exchange(&format!("{ask}{ask}GET / HTTP/1.1\r\nHost: OWN\r\nConnection: close\r\n\r\n"));
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
}

#[test]
fn peers_that_dawdle_keep_nobody_out() {
    let site = Site::with_page();
    let mut dawdlers: Vec<TcpStream> = (0..200).map(|_| site.socket()).collect();
    for dawdler in &mut dawdlers {
        // The first ones may have been sent away already.
        let _gone = dawdler.write_all(b"GET / HTTP/1.1\r\nHost: ");
    }
    let answer = site.exchange("GET / HTTP/1.1\r\nHost: OWN\r\nConnection: close\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Those who came first have left.
    let mut byte = [0];
    match dawdlers[0].read(&mut byte) {
        Ok(0) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        other => panic!("the first dawdler is still there: {other:?}"),
    }
    site.connect().send(HELLO);
}
