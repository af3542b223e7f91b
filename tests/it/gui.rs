//! `plyd gui` and `plyd serve --ws` as people start them: the real binary, what it prints, serves and
//! refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{ChildStdout, Output, Stdio};

use crate::common::websocket::open;
use crate::common::{Peer, Server, TIMEOUT, process};
use crate::games::games;
use plyd::client::Process;
use plyd::daemon::page;
use rustix::process::Signal;
use serde_json::json;

/// A running `plyd gui`, killed when dropped.
struct Gui {
    process: Process,
    address: SocketAddr,
    _stdout: BufReader<ChildStdout>,
}

impl Gui {
    fn start(arguments: &[&str]) -> Self {
        let mut launch = process::plyd([&["gui", "--no-open"], arguments].concat());
        launch.command.stdout(Stdio::piped());
        let mut process = process::spawn(launch);
        let mut stdout = BufReader::new(process.take_stdout().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/\n"));
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).parse().unwrap();
        Self { process, address, _stdout: stdout }
    }

    fn socket(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket
    }

    /// The head and the body of what is at a path.
    fn get(&self, path: &str) -> (String, Vec<u8>) {
        let mut socket = self.socket();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        socket.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        socket.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let body = bytes.split_off(end + 4);
        (String::from_utf8(bytes).unwrap(), body)
    }
}

fn run(arguments: &[&str]) -> Output {
    process::output(process::plyd(arguments))
}

#[test]
fn the_page_comes_with_all_it_asks_for() {
    let gui = Gui::start(&["--port", "0"]);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gui");
    let (head, body) = gui.get("/");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    for words in
        ["text/html; charset=utf-8", "default-src 'self'", "frame-ancestors 'none'", "nosniff", "no-store"]
    {
        assert!(head.contains(words), "{head} without {words}");
    }
    assert_eq!(body, std::fs::read(folder.join("index.html")).unwrap());
    let (head, script) = gui.get("/main.js");
    assert!(head.contains("text/javascript"), "{head}");
    assert_eq!(script, std::fs::read(folder.join("main.js")).unwrap());
    for entry in games() {
        let (head, look) = gui.get(&format!("/games/{}.js", entry.name));
        assert!(head.contains("text/javascript"), "{head}");
        assert_eq!(String::from_utf8(look).unwrap(), page::look(entry), "{}", entry.name);
    }
    assert!(gui.get("/games/no_such_game.js").0.starts_with("HTTP/1.1 404"));
    assert!(gui.get("/Cargo.toml").0.starts_with("HTTP/1.1 404"));
    let (lines, messages) = open(gui.socket());
    let mut peer = Peer::new(Box::new(lines), messages);
    let hello = peer.hello(json!({ "require": ["websocket"] }));
    assert!(hello["games"].as_array().unwrap().len() >= 5, "{hello}");
}

#[test]
fn a_signal_lets_searches_answer_and_ends_it() {
    let mut gui = Gui::start(&["--port", "0"]);
    let (lines, messages) = open(gui.socket());
    let mut peer = Peer::new(Box::new(lines), messages);
    peer.hello(json!({}));
    peer.send(
        &json!({ "id": "g", "cmd": "go", "game": "isolation", "position": {}, "clock": { "kind": "none" },
        "rules": { "preset": "11x9" }, "info": { "events": ["started"] } }),
    );
    peer.info("g", "started");
    process::signal(&gui.process, Signal::INT);
    peer.notice("going_away");
    assert_eq!(peer.last("g")["reason"], "shutdown");
    assert_eq!(process::exit(&mut gui.process).code(), Some(0));
}

#[test]
fn other_machines_are_let_in_only_when_that_is_asked_for() {
    let output = run(&["gui", "--no-open", "--host", "0.0.0.0"]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--remote"), "{text}");
    let gui = Gui::start(&["--host", "0.0.0.0", "--remote", "--port", "0"]);
    assert!(gui.address.ip().is_loopback(), "what is printed can be opened here");
    assert!(gui.get("/").0.starts_with("HTTP/1.1 200"));
}

#[test]
fn a_port_that_is_taken_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = run(&["gui", "--no-open", "--port", &port]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(&port) && text.contains("--port"), "{text}");
    let output = run(&["serve", "--ws", &format!("127.0.0.1:{port}")]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

#[test]
fn origins_are_checked_on_the_command_line() {
    for arguments in [
        &["serve", "--ws", "127.0.0.1:0", "--ws-origin", "example.org"][..],
        &["serve", "--ws", "127.0.0.1:0", "--ws-origin", "https://example.org/page"],
        &["serve", "--ws-origin", "https://example.org"],
        &["serve", "--ws", "7118"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}

#[test]
fn a_game_is_searched_over_websocket() {
    let server = Server::websocket(&["--threads", "1"]);
    let mut peer = server.greet(json!({}));
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "l-game" }));
    let best = peer
        .best(&json!({ "id": "g", "cmd": "go", "session": "s", "position": {}, "limit": { "nodes": 1000 },
        "multipv": 3 }));
    assert_eq!(best["lines"][0]["move"], best["move"], "{best}");
    peer.ping();
}
