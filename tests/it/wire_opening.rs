//! The opening of a connection: `hello`, tokens, versions, features, and strangers on the port.

// The functions beside the tests are called by them alone.
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::common::{Server, process};
use serde_json::{Value, json};

/// A `hello` with some fields replaced.
fn hello(fields: Value) -> Value {
    let mut request = json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
    request.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    request
}

#[test]
fn a_connection_that_opens_wrongly_is_closed() {
    let token = std::env::temp_dir().join(format!("plyd-token-{}", std::process::id()));
    std::fs::write(&token, "s3cret\n").unwrap();
    let open = Server::tcp(&[]);
    let guarded = Server::tcp(&["--token-file", token.to_str().unwrap()]);
    let future = json!({ "min": 2, "max": 3 });
    let rows = [
        (&open, json!({ "id": "h", "cmd": "ping" }), "handshake_required", "*"),
        (&open, json!({ "id": "h", "cmd": "quit" }), "handshake_required", "*"),
        (&open, hello(json!({ "protocol": future })), "version_unsupported", "/protocol"),
        (&open, hello(json!({ "protocol": { "min": 0, "max": 0 } })), "version_unsupported", "/protocol"),
        (&open, hello(json!({ "require": ["levitation"] })), "feature_unsupported", "/require/0"),
        (&guarded, hello(json!({})), "auth_required", "*"),
        (&guarded, hello(json!({ "token": "secret" })), "auth_failed", "/token"),
        (&guarded, hello(json!({ "token": "" })), "auth_failed", "/token"),
        (&guarded, hello(json!({ "token": "s3cret " })), "auth_failed", "/token"),
        // Version, token and features are checked in this order.
        (&guarded, hello(json!({ "protocol": future, "token": "x" })), "version_unsupported", "/protocol"),
        (&guarded, hello(json!({ "require": ["levitation"] })), "auth_required", "*"),
    ];
    for (server, request, code, pointer) in rows {
        let mut peer = server.connect();
        let error = peer.ask(&request);
        assert_eq!((&error["code"], &error["fatal"]), (&json!(code), &json!(true)), "{request}: {error}");
        assert_eq!(error["line"], 1, "{error}");
        if pointer != "*" {
            assert_eq!(error["pointer"], pointer, "{error}");
        }
        peer.send(&json!({ "id": "late", "cmd": "ping" }));
        assert_eq!(peer.closed().len(), 1, "nothing follows a fatal error");
    }
    guarded.greet(json!({ "token": "s3cret" })).ping();
    std::fs::remove_file(token).unwrap();
}

#[test]
fn bad_lines_before_hello_are_no_end() {
    let server = Server::tcp(&[]);
    let mut peer = server.connect();
    peer.bytes(b"\n{\"id\":\n");
    assert_eq!(peer.fault()["code"], "bad_json");
    let error = peer.ask(&json!({ "id": "h", "cmd": "hello" }));
    assert_eq!((&error["code"], &error["fatal"]), (&json!("missing_field"), &json!(false)), "{error}");
    let error = peer.ask(&hello(json!({ "wings": 2 })));
    assert_eq!((&error["code"], &error["fatal"]), (&json!("unknown_field"), &json!(false)), "{error}");
    peer.hello(json!({}));
    peer.ping();
}

#[test]
fn hello_comes_once_and_changes_nothing_after() {
    let (server, mut stdio) = Server::both(&[]);
    stdio.ping();
    let first = stdio.hello(json!({ "on_eof": "stop", "client": { "name": "n", "version": "v" } }));
    assert_eq!((&first["protocol"], &first["server"]["name"]), (&json!(1), &json!("plyd")), "{first}");
    let range = stdio_free_range(&server);
    assert_eq!(range, 1, "the highest common version is chosen");
    for peer in [&mut stdio, &mut server.greet(json!({}))] {
        let error = peer.ask(&hello(json!({ "on_eof": "cancel" })));
        assert_eq!(
            (&error["code"], &error["fatal"]),
            (&json!("handshake_repeated"), &json!(false)),
            "{error}"
        );
        let error = peer.ask(&hello(json!({ "protocol": { "min": 7, "max": 7 } })));
        assert_eq!(
            (&error["code"], &error["fatal"]),
            (&json!("handshake_repeated"), &json!(false)),
            "{error}"
        );
        peer.ping();
    }
    stdio.send(&json!({
        "id": "g", "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" }, "position": {},
        "clock": { "kind": "none" },
    }));
    stdio.end_input();
    assert_eq!(stdio.last("g")["reason"], "stopped", "on_eof of the first hello stands");
}

/// The version chosen for a client that also speaks later ones.
fn stdio_free_range(server: &Server) -> u64 {
    let mut peer = server.connect();
    let result = peer.ask(&hello(json!({ "protocol": { "min": 0, "max": 65535 } })));
    result["protocol"].as_u64().unwrap()
}

#[test]
fn limits_and_games_are_listed() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let result = peer.hello(json!({}));
    let games: Vec<&str> = result["games"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(games.contains(&"l-game") && games.contains(&"isolation"), "{result}");
    let limits = &result["limits"];
    for (name, value) in [
        ("line_bytes", 1_048_576),
        ("nesting", 32),
        ("finished_ids", 1024),
        ("multipv", 1000),
        ("depth", 1000),
        ("unsent_bytes", 8_388_608),
        ("stalled_ms", 10_000),
        ("eof_ms", 10_000),
        ("shutdown_ms", 5000),
        ("threads", 2),
        ("request_bytes", 16 << 20),
        ("request_bytes_in_all", 256 << 20),
        ("session_bytes", 16 << 20),
        ("session_bytes_in_all", 256 << 20),
        ("unsent_bytes_in_all", 256 << 20),
        ("connections", 256),
        ("strangers", 64),
        ("connections_per_address", 0),
        ("hello_ms", 30_000),
        ("idle_ms", 0),
        ("keepalive_ms", 60_000),
    ] {
        assert_eq!(limits[name], value, "{name}");
    }
    let features = result["features"].as_array().unwrap().clone();
    let mut again = Server::stdio(&[]);
    again.1.hello(json!({ "require": features }));
    let topics = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "games" }));
    let named: Vec<&str> =
        topics["body"].as_array().unwrap().iter().filter_map(|g| g["name"].as_str()).collect();
    assert_eq!(named, games);
}

#[test]
fn other_protocols_on_the_port_are_turned_away() {
    let server = Server::tcp(&[]);
    // What a page can put into the body of a request that its browser sends.
    let hello = json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
    let body = format!("\r\n\r\n{hello}\n{{\"id\":\"p\",\"cmd\":\"ping\"}}\n");
    let long = format!("{} / HTTP/1.1\r\nHost: localhost", "M".repeat(17 << 10));
    for head in [
        "GET / HTTP/1.1\r\nHost: localhost",
        "POST /go HTTP/1.1\r\nContent-Length: 2",
        "OPTIONS * HTTP/1.1",
        "HEAD /index.html HTTP/1.0",
        "PROPFIND /x HTTP/1.1\r\nHost: localhost",
        "propfind /x HTTP/1.1",
        "\r\n\r\nREPORT /x HTTP/1.1",
        "M-SEARCH * HTTP/1.1",
        "X http://localhost/ HTTP/1.1",
        "CONNECT localhost:7117 HTTP/1.1",
        "GET /",
        "PRI * HTTP/2.0",
        &long,
    ] {
        for pieces in [1, 3] {
            let mut socket = server.socket();
            let bytes = format!("{head}{body}").into_bytes();
            for piece in [&bytes[..pieces], &bytes[pieces..pieces + 3], &bytes[pieces + 3..]] {
                // It may be closed before all is sent.
                let _closed = socket.write_all(piece);
            }
            let mut text = Vec::new();
            // A reset may follow the close, since the rest of the request is not read; the answer comes
            // before it.
            let _reset = socket.read_to_end(&mut text);
            let text = String::from_utf8(text).unwrap();
            let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let head = &head[..head.len().min(40)];
            // A line that is too long says so first.
            assert!((1..=2).contains(&lines.len()), "{head}: {text}");
            let last = lines.last().unwrap();
            assert_eq!((&last["code"], &last["fatal"]), (&json!("bad_json"), &json!(true)), "{head}: {text}");
            assert!(lines.iter().all(|line| line["id"].is_null()), "{head}: {text}");
        }
    }
    server.greet(json!({})).ping();
}

/// Starts a server that refuses to start: its exit code, and what it says on stderr.
fn refusal(mut launch: plyd::client::Launch) -> (Option<i32>, String) {
    launch.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = process::spawn(launch);
    let code = process::exit(&mut process).code();
    let (mut stdout, mut stderr) = (String::new(), String::new());
    process.take_stdout().unwrap().read_to_string(&mut stdout).unwrap();
    process.take_stderr().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stdout, "", "nothing but the protocol");
    (code, stderr)
}

/// A path of this test, and nothing there.
fn fresh(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("plyd-{name}-{}", std::process::id()));
    let _none = std::fs::remove_file(&path);
    path
}

#[test]
fn a_transcript_that_nobody_reads_is_refused_at_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let pipe = fresh("unread");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let (code, stderr) = refusal(process::plyd(["serve", "--transcript", pipe.to_str().unwrap()]));
    std::fs::remove_file(&pipe).unwrap();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("nobody reads this pipe; open it for reading"), "{stderr}");
}

#[test]
fn a_transcript_keeps_off_the_streams_that_carry_the_protocol() {
    let file = fresh("shared");
    let script = "exec \"$0\" serve --transcript \"$1\" >>\"$1\"";
    let shared = ["-c", script, process::PLYD, file.to_str().unwrap()];
    for launch in [
        process::plyd(["serve", "--transcript", "/dev/stdout"]),
        process::plyd(["serve", "--stdio", "--tcp", "127.0.0.1:0", "--transcript", "/dev/stdout"]),
        process::plyd(["serve", "--transcript", "/dev/stdin"]),
        process::launch(Command::new("sh").args(shared)),
    ] {
        let (code, stderr) = refusal(launch);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("is the standard input or output, which carries the protocol"), "{stderr}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "");
    std::fs::remove_file(&file).unwrap();
    // Where sockets carry it, the output is free.
    Server::tcp(&["--transcript", "/dev/stdout"]).greet(json!({})).ping();
}

#[test]
fn no_line_of_a_transcript_holds_the_token() {
    use std::os::unix::fs::PermissionsExt;
    let (token, path) = (fresh("kept-token"), fresh("kept"));
    std::fs::write(&token, "sEcReT\n").unwrap();
    let mut server =
        Server::tcp(&["--token-file", token.to_str().unwrap(), "--transcript", path.to_str().unwrap()]);
    let mut peer = server.connect();
    let bad: [&[u8]; 7] = [
        b"sEcReT",
        b"\xff sEcReT",
        b"\"sEcRe\\u0054\"",
        b"[\"sEcReT\"]",
        b"{\"id\":\"h\",\"cmd\":\"hello\",\"tok\":\"sEcReT\"}",
        b"{\"id\":\"h\",\"cmd\":\"hello\",\"token\":\"sEcReT\"",
        b"{\"id\":\"i\",\"cmd\":\"sEcReT\",\"token\":\"sEcReT\"}",
    ];
    for line in bad {
        peer.line(line);
    }
    peer.hello(json!({ "token": "sEcReT" }));
    peer.ping();
    server.signal(rustix::process::Signal::TERM);
    peer.closed();
    assert!(server.exit().success());
    let text = std::fs::read_to_string(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    for file in [token, path] {
        std::fs::remove_file(file).unwrap();
    }
    // Seven bad lines, `hello`, `ping`, and an answer to each.
    assert!(text.lines().count() >= 18 && text.contains(r#""token":"hidden""#), "{text}");
    assert!(!text.contains("sEcRe"), "{text}");
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

#[test]
fn a_token_file_without_end_is_refused() {
    let long = fresh("long-token");
    std::fs::write(&long, "x".repeat(4097)).unwrap();
    for path in ["/dev/zero", long.to_str().unwrap()] {
        let (code, stderr) = refusal(process::plyd(["serve", "--token-file", path]));
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("at most 4096 characters"), "{stderr}");
    }
    // The longest token is none too long.
    let token = "x".repeat(4096);
    std::fs::write(&long, format!("{token}\r\n")).unwrap();
    let server = Server::tcp(&["--token-file", long.to_str().unwrap()]);
    std::fs::remove_file(&long).unwrap();
    server.greet(json!({ "token": token })).ping();
}
