//! Refused lines: each code of the protocol in each case that it names, and what a refusal leaves untouched.

// The functions beside the tests are called by them alone.
use crate::common::{Peer, Server};
use serde_json::{Value, json};

const KIB: usize = 1024;

/// Opens the sessions that `../crates/conform/src/refusals.txt` speaks of.
fn sessions(peer: &mut Peer) {
    let big = json!({ "preset": "11x9" });
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "l", "game": "l-game" }));
    for session in ["i", "busy", "pond"] {
        peer.result(
            &json!({ "id": "n", "cmd": "newgame", "session": session, "game": "isolation", "rules": big }),
        );
    }
    let started = json!({ "events": ["started"] });
    peer.send(&json!({
        "id": "mover", "cmd": "go", "session": "busy", "position": {}, "clock": { "kind": "none" }, "info": started,
    }));
    peer.send(&json!({
        "id": "ponder", "cmd": "go", "session": "pond", "position": {}, "mode": "ponder", "info": started,
    }));
    peer.info("mover", "started");
    peer.info("ponder", "started");
}

/// Checks an error against a row's id, code and pointer.
fn check(error: &Value, row: &str, [id, code, pointer]: [&str; 3]) {
    assert_eq!(error["type"], "error", "{row}\n{error}");
    assert_eq!(error["code"], code, "{row}\n{error}");
    assert_eq!(error["id"].as_str().unwrap_or("-"), id, "{row}\n{error}");
    if pointer != "*" {
        assert_eq!(error["pointer"].as_str().unwrap_or("-"), pointer, "{row}\n{error}");
    }
}

#[test]
fn every_row_of_the_table() {
    every_row(&Server::tcp(&["--threads", "2"]));
}

#[test]
fn every_row_of_the_table_over_websocket() {
    every_row(&Server::websocket(&["--threads", "2"]));
}

fn every_row(server: &Server) {
    let mut peer = server.greet(json!({}));
    sessions(&mut peer);
    let mut sent = 0;
    for row in include_str!("../../crates/conform/src/refusals.txt").lines() {
        if row.is_empty() || row.starts_with("# ") || row.starts_with("== ") {
            continue;
        }
        let [line, id, code, pointer] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("row {row}") };
        peer.line(line.as_bytes());
        let error = if id == "-" { peer.fault() } else { peer.last(id) };
        check(&error, row, [id, code, pointer]);
        assert_eq!(error["line"], peer.lines(), "{row}\n{error}");
        assert_eq!(error["fatal"], false, "{row}\n{error}");
        if code == "duplicate_id" {
            assert!(["mover", "ponder"].contains(&error["ref"].as_str().unwrap()), "{error}");
        }
        if code == "game_over" {
            assert_eq!(error["outcome"], json!({ "winner": "p2", "by": "stuck" }), "{error}");
        }
        peer.ping();
        sent += 1;
    }
    assert!(sent > 100);
    // What ran before the bad lines runs on.
    for id in ["mover", "ponder"] {
        assert!(peer.is_open(id), "{id} was ended by bad input");
        let stop = peer.result(&json!({ "id": "s", "cmd": "stop", "target": id }));
        assert_eq!(stop["effect"], "stopping", "{stop}");
        assert_eq!(peer.last(id)["reason"], "stopped");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let (_server, mut peer) = Server::stdio(&[]);
    let rows: [(&[u8], &str); 8] = [
        (b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xff\"}", "bad_utf8"),
        (b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\xed\xa0\x80\"}", "bad_utf8"),
        (b"\xc0\xaf", "bad_utf8"),
        (b"\xfe\xff\0{\0}", "bad_utf8"),
        (b"\xef\xbb\xbf{\"id\":\"1\",\"cmd\":\"ping\"}", "bad_json"),
        (b"{\"id\":\"1\",\"cmd\":\"ping\"}\0", "bad_json"),
        (b"{\"id\":\"1\",\"cmd\":\"ping\",\"echo\":\"\x01\"}", "bad_json"),
        (b"{\"id\":\"1\",\r\"cmd\":\"ping\",\"echo\":\"a\rb\"}", "bad_json"),
    ];
    for (line, code) in rows {
        let row = String::from_utf8_lossy(line).into_owned();
        peer.bytes(&[line, b"\n"].concat());
        check(&peer.fault(), &row, ["-", code, "-"]);
        peer.ping();
    }
}

#[test]
fn http_on_standard_input_is_named() {
    let (_server, mut peer) = Server::stdio(&[]);
    for (line, is_http) in [("GET / HTTP/1.1\r", true), ("POST /x", true), ("go: x", false), ("go", false)] {
        peer.bytes(format!("{line}\n").as_bytes());
        let fault = peer.fault();
        check(&fault, line, ["-", "bad_json", "-"]);
        assert_eq!(fault["fatal"], false, "{fault}");
        assert_eq!(fault["message"].as_str().unwrap().contains("this is HTTP"), is_http, "{fault}");
        peer.ping();
    }
}

#[test]
fn lines_are_counted_whatever_is_in_them() {
    let (mut server, mut peer) = Server::stdio(&[]);
    // Each fault with the number of the line that it is on.
    let chunks: [(&[u8], u64); 5] = [
        (b"\n\r\n  \n[]\n", 4),
        (b"{\"id\":\"a\",\"cmd\":\"ping\"}\r\n\n[]\r\n", 7),
        (b"\t{\"id\":\"b\",\"cmd\":\"ping\"} \r\n[]\n", 9),
        (&[&[b'x'; 3 * KIB * KIB][..], b"\n[]\n"].concat(), 11),
        (b"\n\n[]\n", 14),
    ];
    peer.expect("a");
    peer.expect("b");
    for (bytes, line) in chunks {
        peer.bytes(bytes);
        let mut fault = peer.fault();
        if fault["code"] == "line_too_long" {
            assert_eq!(fault["line"], line - 1, "{fault}");
            fault = peer.fault();
        }
        assert_eq!(fault["code"], "not_object", "{fault}");
        assert_eq!(fault["line"], line, "{fault}");
    }
    peer.last("a");
    peer.last("b");
    // The last line needs no LF, good or bad.
    peer.expect("z");
    peer.bytes(b"{\"id\":\"z\",\"cmd\":\"ping\"}");
    peer.end_input();
    assert_eq!(peer.last("z")["of"], "ping");
    peer.closed();
    assert!(server.exit().success());
}

#[test]
fn a_bad_last_line_without_its_end_is_answered() {
    for (last, code) in
        [(&b"{\"id\":"[..], "bad_json"), (&[b' '; KIB * KIB + 1][..], "line_too_long"), (b"\xff", "bad_utf8")]
    {
        let (mut server, mut peer) = Server::stdio(&[]);
        peer.bytes(last);
        peer.end_input();
        assert_eq!(peer.fault()["code"], code);
        assert_eq!(peer.closed().len(), 1);
        assert!(server.exit().success());
    }
}

/// A ping, or a `hello`, of exactly that many bytes.
fn line_of(request: &Value, bytes: usize) -> Vec<u8> {
    let mut request = request.clone();
    request["x_pad"] = json!("");
    let bare = request.to_string().len();
    request["x_pad"] = json!("p".repeat(bytes - bare));
    request.to_string().into_bytes()
}

#[test]
fn lines_up_to_a_mebibyte_are_read() {
    let (_server, mut peer) = Server::stdio(&[]);
    let ping = json!({ "id": "p", "cmd": "ping" });
    for (bytes, fits) in
        [(KIB * KIB, true), (KIB * KIB + 1, false), (5 * KIB * KIB, false), (KIB * KIB, true)]
    {
        let line = line_of(&ping, bytes);
        if fits {
            peer.line(&line);
            assert_eq!(peer.last("p")["type"], "result");
            // The line end does not count.
            peer.expect("p");
            peer.bytes(&[&line[..], b"\r\n"].concat());
            assert_eq!(peer.last("p")["type"], "result");
        } else {
            peer.bytes(&[&line[..], b"\n"].concat());
            let fault = peer.fault();
            assert_eq!(
                (&fault["code"], &fault["fatal"]),
                (&json!("line_too_long"), &json!(false)),
                "{fault}"
            );
            peer.ping();
        }
    }
    let answers = peer.log.len();
    peer.ping();
    assert_eq!(peer.log.len(), answers + 1, "an over-long line is answered once");
}

#[test]
fn lines_before_hello_are_short() {
    let server = Server::tcp(&[]);
    let hello = json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
    let mut peer = server.connect();
    peer.bytes(&[&line_of(&hello, 16 * KIB + 1)[..], b"\n"].concat());
    let fault = peer.fault();
    assert_eq!((&fault["code"], &fault["fatal"]), (&json!("line_too_long"), &json!(false)), "{fault}");
    peer.line(&line_of(&hello, 16 * KIB));
    assert_eq!(peer.last("h")["type"], "result");
    peer.line(&line_of(&json!({ "id": "p", "cmd": "ping" }), KIB * KIB));
    assert_eq!(peer.last("p")["type"], "result");
}

#[test]
fn nesting_and_skipped_fields() {
    let (_server, mut peer) = Server::stdio(&[]);
    // The outermost object is the first level.
    for (depth, fits) in [(31, true), (32, false), (5000, false)] {
        let line = format!(r#"{{"id":"p","cmd":"ping","x_a":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        if fits {
            peer.line(line.as_bytes());
            assert_eq!(peer.last("p")["type"], "result");
        } else {
            peer.bytes(format!("{line}\n").as_bytes());
            assert_eq!(peer.fault()["code"], "bad_json");
        }
    }
    for skipped in ["null", "1.5", "-1e9", "[null,{}]", "9007199254740993", "true", r#""\ud83c\udfb2""#] {
        peer.line(format!(r#"{{"x_a":{skipped},"id":"p","cmd":"ping","x_":1}}"#).as_bytes());
        assert_eq!(peer.last("p")["type"], "result", "{skipped}");
    }
    let escaped = br#"{"\u0069d":"p","cmd":"\u0070ing","echo":"\ud83c\udfb2\n\u0000"}"#;
    peer.line(escaped);
    assert_eq!(peer.last("p")["echo"], "\u{1f3b2}\n\0");
}

#[test]
fn text_of_the_client_is_escaped_and_cut() {
    let (_server, mut peer) = Server::stdio(&[]);
    let long = "a".repeat(300);
    let rows = [
        json!({ "id": "e", "cmd": long }),
        json!({ "id": "e", "cmd": "ping", long.as_str(): 1 }),
        json!({ "id": "e", "cmd": "describe", "what": long }),
        json!({ "id": "e", "cmd": "newgame", "session": "s", "game": long }),
        json!({ "id": "e", "cmd": "newgame", "session": long, "game": "l-game" }),
        json!({ "id": "e", "cmd": "newgame", "session": "s", "game": "l-game", "rules": { long.as_str(): 1 } }),
        json!({ "id": "e", "cmd": "setoption", "options": { "player": long } }),
        json!({ "id": "e", "cmd": "setoption", "options": { long.as_str(): long } }),
        json!({ "id": "e", "cmd": "inspect", "game": "l-game", "position": { "start": long } }),
        json!({ "id": "e", "cmd": "inspect", "game": "isolation", "position": { "moves": ["d4", long] } }),
        json!({ "id": "e", "cmd": "go", "session": "s", "position": {}, "clock": { "kind": long } }),
    ];
    for row in rows {
        let error = peer.ask(&row);
        assert_eq!(error["type"], "error", "{error}");
        for field in ["message", "pointer"] {
            let text = error[field].as_str().unwrap_or_default();
            assert!(!text.contains(&"a".repeat(65)), "{row}: {error}");
        }
    }
    peer.bytes(format!("{}\n", json!({ "id": long, "cmd": "ping" })).as_bytes());
    assert!(!peer.fault().to_string().contains(&"a".repeat(65)));
    for dirt in ["\u{1b}[2J", "\0", "\r\n", "\u{7f}", "\u{202e}"] {
        let error = peer.ask(&json!({ "id": "e", "cmd": dirt }));
        assert!(!error["message"].as_str().unwrap().contains(dirt), "{error}");
        let error = peer
            .ask(&json!({ "id": "e", "cmd": "inspect", "game": "l-game", "position": { "start": dirt } }));
        assert!(!error["message"].as_str().unwrap().contains(dirt), "{error}");
    }
}

#[test]
fn an_id_in_use_is_refused_without_harm() {
    let (_server, mut peer) = Server::stdio(&[]);
    let go = json!({
        "id": "g", "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" }, "position": {},
        "clock": { "kind": "none" },
    });
    peer.send(&go);
    peer.send(&go);
    let fault = peer.fault();
    assert_eq!((&fault["code"], &fault["ref"]), (&json!("duplicate_id"), &json!("g")), "{fault}");
    assert_eq!((&fault["pointer"], &fault["line"]), (&json!("/id"), &json!(2)), "{fault}");
    assert!(peer.is_open("g"));
    peer.result(&json!({ "id": "s", "cmd": "stop", "target": "g" }));
    assert_eq!(peer.last("g")["reason"], "stopped");
    // A finished id is free again.
    peer.send(&go);
    peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
    assert_eq!(peer.last("g")["reason"], "stopped");
}

#[test]
fn options_are_set_all_or_none() {
    let (_server, mut peer) = Server::stdio(&[]);
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation" }));
    let set = |options: Value| json!({ "id": "o", "cmd": "setoption", "session": "s", "options": options });
    let before = peer.result(&set(json!({ "depth": 3 })))["options"].clone();
    assert_eq!(before["depth"], 3);
    for bad in [
        json!({ "depth": 5, "wings": 1 }),
        json!({ "depth": 5, "player": "nobody" }),
        json!({ "level": 2, "depth": 0 }),
        json!({ "depth": 5, "level": "high" }),
    ] {
        assert_eq!(peer.ask(&set(bad.clone()))["type"], "error", "{bad}");
        assert_eq!(peer.result(&set(json!({})))["options"], before, "{bad}");
    }
    // A reset that fails leaves the session as it was.
    let bad =
        json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "rules": { "width": 1 } });
    assert_eq!(peer.ask(&bad)["code"], "rules_unsupported");
    assert_eq!(peer.result(&set(json!({})))["options"], before);
}

#[test]
fn what_is_refused_with_a_closed_session() {
    let (_server, mut peer) = Server::stdio(&[]);
    peer.result(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "l-game" }));
    peer.result(&json!({ "id": "c", "cmd": "close", "session": "s" }));
    for request in [
        json!({ "id": "x", "cmd": "close", "session": "s" }),
        json!({ "id": "x", "cmd": "inspect", "session": "s", "position": {} }),
        json!({ "id": "x", "cmd": "go", "session": "s", "position": {}, "limit": { "nodes": 9 } }),
        json!({ "id": "x", "cmd": "setoption", "session": "s", "options": {} }),
    ] {
        assert_eq!(peer.ask(&request)["code"], "session_unknown", "{request}");
    }
    let stop = peer.result(&json!({ "id": "x", "cmd": "stop", "session": "s" }));
    assert_eq!((&stop["effect"], &stop["targets"]), (&json!("unknown"), &json!([])), "{stop}");
}
