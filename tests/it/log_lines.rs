//! What the lines of the log look like: text or JSON, with the connection and the request that they are
//! about, and nothing in them that a peer could do harm with.

// The functions beside the tests are called by them alone.
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Instant;

use crate::common::{Folder, Logged, Peer, go, open, process};
use crate::identity::Clients;
use rustix::process::Signal;
use serde_json::{Value, json};

/// What no log may show: characters that command a terminal, end a line or turn it around.
const HOSTILE: &str =
    "\u{1b}[2J\r\n2026-01-01T00:00:00.0Z ERROR plyd: forged\t\u{7}\0\u{7f}\u{85}\u{9b}31m\u{2028}\u{202e}";

/// A line of JSON as the log promises it.
fn object(line: &str) -> Value {
    let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["fields", "level", "spans", "target", "time"], "{line}");
    let time = object["time"].as_str().unwrap();
    assert!(time.len() >= 20 && time.contains('T') && time.ends_with('Z'), "{line}");
    assert!(
        ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"].contains(&object["level"].as_str().unwrap()),
        "{line}"
    );
    assert!(object["fields"]["message"].is_string() && object["target"].is_string(), "{line}");
    assert!(object["spans"].as_array().unwrap().iter().all(|span| span["name"].is_string()), "{line}");
    object
}

fn hello(fields: &Value) -> Value {
    crate::common::with(json!({ "id": "h", "cmd": "hello", "protocol": { "min": 1, "max": 1 } }), fields)
}

/// Sends bytes and reads until the daemon closes.
fn exchange(mut socket: TcpStream, bytes: &[u8]) {
    socket.write_all(bytes).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    let _reset_or_end = socket.read_to_end(&mut answer);
}

/// Does everything that a log could be harmed by.
fn assault(daemon: &Logged, token: &str) {
    let client = json!({ "name": HOSTILE, "version": HOSTILE });
    for wrong in ["open sesame2", &format!("{token}{HOSTILE}"), HOSTILE] {
        daemon.connect().ask(&hello(&json!({ "token": wrong, "client": client })));
    }
    daemon.connect().ask(&hello(&json!({ "client": client })));
    let mut peer = daemon.greet(json!({ "token": token, "client": client }));
    open(&mut peer, "s");
    peer.best(&go("search", json!({ "session": "s", "limit": { "nodes": 1 } })));
    // The token where none belongs, and hostile text wherever a request has a text.
    let mut lines = format!("{}\n", hello(&json!({ "token": token, "client": client })));
    lines += &format!("{}\n", json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation" }));
    for text in [HOSTILE, token] {
        let position = json!({ "start": text, "moves": [text] });
        for request in [
            json!({ "id": text, "cmd": "ping" }),
            json!({ "id": "1", "cmd": text }),
            json!({ "id": "2", "cmd": "ping", text: 1 }),
            json!({ "id": "3", "cmd": "go", "game": text, "limit": { "depth": 1 }, "position": {} }),
            json!({ "id": "4", "cmd": "go", "session": text, "limit": { "depth": 1 }, "position": {} }),
            json!({ "id": "5", "cmd": "go", "session": "s", "limit": { "depth": 1 }, "position": position }),
            json!({ "id": "6", "cmd": "setoption", "session": "s", "options": { text: text } }),
            json!({ "id": "7", "cmd": "newgame", "session": "t", "game": "isolation", "rules": { text: text } }),
            json!({ "id": "8", "cmd": "stop", "target": text }),
        ] {
            lines += &format!("{request}\n");
        }
        lines += &format!("{text}\n");
    }
    exchange(daemon.socket(0), &[lines.as_bytes(), b"\xff\xfe\x1b[2J\n"].concat());
    // A client that uses the token as its name.
    daemon
        .greet(json!({ "token": token, "client": { "name": token } }))
        .ask(&json!({ "id": "x", "cmd": "go" }));
    exchange(daemon.socket(0), b"GET /\x1b[2J HTTP/1.1\r\nHost: \x1b\r\n\r\n");
    exchange(daemon.socket(0), b"\x16\x03\x01\0\0");
    let upgrade = "GET /ws HTTP/1.1\r\nHost: \u{9b}31m\r\nOrigin: http://evil\t\u{202e}\r\nConnection: Upgrade\r\n\
                   Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                   Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    exchange(daemon.socket(1), upgrade.as_bytes());
    exchange(daemon.socket(1), b"\x1b]0;title\x07\r\n\r\n");
}

/// The daemon knows hashes alone of these tokens, and still shows none, nor most of one.
#[test]
fn tokens_of_clients_by_name_are_hidden() {
    let clients = Clients::new("log-lines");
    let token = clients.add("alice", &[]);
    let open_token = clients.folder.file("token", "open sesame");
    for format in ["text", "json"] {
        let arguments = ["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--clients-file", &clients.file];
        let more = ["--token-file", &open_token, "-vvv", "--log-format", format];
        let daemon = Logged::start(&[&arguments[..], &more].concat(), &[], 2);
        assault(&daemon, &token);
        // What calls itself so, and an id that is as long as ids may be.
        let client = json!({ "name": format!("it is {token}") });
        let mut peer = daemon.greet(json!({ "token": "open sesame", "client": client }));
        peer.ask(&json!({ "id": token[..64], "cmd": "go" }));
        let text = daemon.end().join("\n");
        assert!(!text.contains(&token[..16]), "{text}");
        let hidden = match format {
            "json" => [r#""client":"hidden""#, r#""id":"hidden""#],
            _ => [r#"client="hidden""#, r#"id="hidden""#],
        };
        for word in hidden {
            assert!(text.contains(word), "no {word}: {text}");
        }
    }
}

#[test]
fn whatever_peers_send_a_line_of_the_log_is_harmless() {
    let folder = Folder::new("log-hostile");
    let token = "open sesame";
    let file = folder.file("token", token);
    for format in ["text", "json"] {
        let arguments = ["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--token-file", &file];
        let arguments = [&arguments[..], &["-vvv", "--log-format", format]].concat();
        let daemon = Logged::start(&arguments, &[], 2);
        assault(&daemon, token);
        let lines = daemon.end();
        let text = lines.join("\n");
        assert!(!text.contains("sesame"), "{text}");
        for line in &lines {
            let is_shown = |c: char| !c.is_control() && !"\u{2028}\u{202e}".contains(c);
            assert!(line.chars().all(is_shown), "{line:?}");
            assert!(line.len() < 5000, "{line}");
            match format {
                "json" => drop(object(line)),
                _ => assert!(
                    line.starts_with("20") && line.split(' ').next().unwrap().ends_with('Z'),
                    "{line}"
                ),
            }
        }
        // All of it is there, in a form that does no harm.
        for word in ["auth_required", "wrong tokens", "bad_json", "bad_utf8", "unknown_cmd", "page refused"] {
            assert!(text.contains(word), "no {word}: {text}");
        }
        let words = match format {
            "json" => [
                r#""client":"\u001b[2J\u000d\n2026-"#,
                r#""client":"hidden""#,
                r#""reason":"foreign_protocol""#,
            ],
            _ => [r#"client="\u{1b}[2J\r\n2026-"#, r#"client="hidden""#, r#"reason="foreign_protocol""#],
        };
        for word in words {
            assert!(text.contains(word), "no {word}: {text}");
        }
    }
}

#[test]
fn lines_say_which_connection_and_which_request_they_are_about() {
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "-vv", "--log-format=json"], &[], 1);
    let socket = daemon.socket(0);
    let address = socket.local_addr().unwrap().to_string();
    let mut peer = Peer::tcp(socket.try_clone().unwrap(), socket);
    peer.hello(json!({ "client": { "name": "a \"client\"" } }));
    open(&mut peer, "s");
    peer.best(&go("g1", json!({ "session": "s", "limit": { "nodes": 100 } })));
    assert_eq!(
        peer.ask(&go(
            "g2",
            json!({ "session": "s", "limit": { "nodes": 1 }, "position": { "moves": ["?"] } })
        ))["type"],
        "error"
    );
    peer.ask(&json!({ "id": "u", "cmd": "setoption", "options": { "depht": 1 } }));
    drop(peer);
    let lines: Vec<Value> = daemon.end().iter().map(|line| object(line)).collect();
    let with = |message: &str| -> Vec<&Value> {
        lines.iter().filter(|line| line["fields"]["message"] == message).collect()
    };
    let connection = |line: &Value| line["spans"][0].clone();
    let expected = |client: Value| {
        let mut span = json!({ "name": "connection", "transport": "tcp", "peer": address });
        if client.is_string() {
            span["client"] = client;
        }
        span
    };
    let opened = &with("connection")[0];
    assert_eq!((&opened["level"], opened["spans"].as_array().unwrap().len()), (&json!("INFO"), 1));
    let mut span = connection(opened);
    let id = span["id"].take();
    assert!(id.is_u64(), "{opened}");
    span.as_object_mut().unwrap().remove("id");
    assert_eq!(span, expected(Value::Null));
    let search = &with("search")[0];
    let mut span = connection(search);
    assert_eq!(span["id"], id);
    span.as_object_mut().unwrap().remove("id");
    assert_eq!(span, expected(json!("a \"client\"")));
    assert_eq!(search["spans"][1], json!({ "name": "session", "id": "s", "game": "isolation" }));
    assert_eq!(search["spans"][2], json!({ "name": "request", "id": "g1", "cmd": "go" }));
    assert!(search["fields"]["nodes"].is_u64() && search["level"] == "DEBUG", "{search}");
    let refused = with("request refused");
    let requests: Vec<(&Value, &Value, &Value)> = refused
        .iter()
        .map(|line| {
            let request = line["spans"].as_array().unwrap().last().unwrap();
            (&line["fields"]["code"], &request["id"], &request["cmd"])
        })
        .collect();
    let expected = [("illegal_move", "g2", "go"), ("option_unknown", "u", "setoption")];
    let expected = expected.map(|(code, id, cmd)| (json!(code), json!(id), json!(cmd)));
    assert_eq!(requests, expected.each_ref().map(|(code, id, cmd)| (code, id, cmd)), "{refused:?}");
    assert_eq!(with("connection closed").len(), 1);
}

#[test]
fn lines_say_which_session_they_are_about() {
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "-v", "--log-format=json"], &[], 1);
    let mut peer = daemon.greet(json!({}));
    let newgame = |id: &str, game: &str| json!({ "id": id, "cmd": "newgame", "session": "s", "game": game, "rules": {} });
    let bad = |id: &str, whose: Value| {
        let go = json!({ "id": id, "cmd": "go", "position": { "moves": ["?"] }, "limit": { "nodes": 1 } });
        crate::common::with(go, &whose)
    };
    let in_s = || json!({ "session": "s" });
    // At once, so that each comes before the session is what it names.
    peer.send_all(&[
        newgame("n", "isolation"),
        bad("first", in_s()),
        newgame("again", "l-game"),
        bad("second", in_s()),
        newgame("unknown", "chess"),
        bad("third", in_s()),
        json!({ "id": "close", "cmd": "close", "session": "s" }),
        bad("closed", in_s()),
        bad("without", json!({ "game": "isolation" })),
    ]);
    for id in ["first", "second", "unknown", "third", "closed", "without"] {
        assert_eq!(peer.last(id)["type"], "error");
    }
    peer.last("close");
    drop(peer);
    let lines: Vec<Value> = daemon.end().iter().map(|line| object(line)).collect();
    let session = |game: &str| json!({ "name": "session", "id": "s", "game": game });
    for (id, cmd, spans) in [
        ("first", "go", vec![session("isolation")]),
        ("second", "go", vec![session("l-game")]),
        // What would have opened it anew is no part of the one that is open.
        ("unknown", "newgame", vec![]),
        ("third", "go", vec![session("l-game")]),
        ("closed", "go", vec![]),
        ("without", "go", vec![]),
    ] {
        let mut refused = lines.iter().filter(|line| line["fields"]["id"] == id);
        let line = refused.next().unwrap_or_else(|| panic!("no line about {id}"));
        let found = line["spans"].as_array().unwrap();
        assert_eq!(found[0]["name"], "connection", "{line}");
        let mut request = json!({ "name": "request", "id": id, "cmd": cmd });
        if spans.is_empty() && id != "without" {
            request["session"] = json!("s");
        }
        assert_eq!(found[1..], [spans, vec![request]].concat(), "{line}");
    }
}

#[test]
fn a_stranger_cannot_fill_the_log() {
    let began = Instant::now();
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "-v", "--strangers", "100"], &[], 1);
    let (connections, bad_lines) = (300, 15);
    for _ in 0..connections {
        let mut socket = daemon.socket(0);
        let mut text = String::new();
        for _ in 0..bad_lines {
            writeln!(text, "no json").unwrap();
        }
        socket.write_all(text.as_bytes()).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let answers = BufReader::new(socket).lines().map_while(Result::ok).count();
        assert_eq!(answers, bad_lines);
    }
    let lines = daemon.end();
    let seconds = began.elapsed().as_secs() as usize;
    let count = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
    let refused = count("code=\"bad_json\"");
    assert!(refused >= 20, "{lines:#?}");
    assert!(refused <= 21 + seconds / 10, "{refused} of {} in {seconds} s", connections * bad_lines);
    let opened = lines.iter().filter(|line| line.ends_with(": connection")).count();
    assert!(opened <= 201 + 2 * seconds, "{opened} of {connections} in {seconds} s");
}

#[test]
fn directives_say_what_is_logged_and_rust_log_does_too() {
    let folder = Folder::new("log-filter");
    let shown = |arguments: &[&str], variables: &[(&str, &str)]| {
        let path = folder.path.join("plyd.sock");
        let socket = path.to_str().unwrap();
        let mut launch = process::plyd([&["serve", "--stdio", "--unix", socket], arguments].concat());
        launch.command.envs(variables.iter().copied());
        let input = "{\"id\":\"1\",\"cmd\":\"go\",\"game\":\"isolation\",\"position\":{},\"limit\":{\"nodes\":1}}\n\
                     {\"id\":\"2\",\"cmd\":\"nothing\"}\n";
        launch.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = process::spawn(launch);
        process.take_stdin().unwrap().write_all(input.as_bytes()).unwrap();
        let answers = BufReader::new(process.take_stdout().unwrap()).lines().map(Result::unwrap);
        let is_final = |line: &String| line.contains("bestmove") || line.contains("unknown_cmd");
        assert_eq!(answers.filter(is_final).take(2).count(), 2);
        process::signal(&process, Signal::TERM);
        let text = String::from_utf8(process::outcome(process).stderr).unwrap();
        let words =
            ["listening", "stdio\"}: plyd_daemon::spans: connection", "unknown_cmd", ": search reason="];
        words.map(|word| text.contains(word))
    };
    for (arguments, variables, expected) in [
        (&[][..], &[][..], [true, false, false, false]),
        (&["-v"], &[], [true, true, true, false]),
        (&["-vv"], &[], [true, true, true, true]),
        (&["--log-filter", "plyd_daemon::searches=debug"], &[], [true, false, false, true]),
        (&["-v", "--log-filter=plyd_daemon::searches=debug"], &[], [true, true, true, true]),
        (&["-vv", "--log-filter", "info,plyd_daemon::spans=warn"], &[], [true, false, true, false]),
        (&["-vv", "--log-filter", "off"], &[], [false, false, false, false]),
        (&[], &[("RUST_LOG", "debug")], [true, true, true, true]),
        (&[], &[("RUST_LOG", "another_program")], [true, false, false, false]),
        (&[], &[("RUST_LOG", "debug"), ("PLYD_SERVE_LOG_FILTER", "info")], [true, true, true, false]),
        (&["--log-filter=warn"], &[("RUST_LOG", "debug")], [true, false, false, false]),
        (&["--no-env"], &[("RUST_LOG", "debug")], [true, false, false, false]),
    ] {
        assert_eq!(shown(arguments, variables), expected, "{arguments:?} {variables:?}");
    }
}

#[test]
fn a_bad_directive_is_an_error_that_says_where_it_stands() {
    for (arguments, variables, words) in [
        (&["--log-filter", "inof"][..], &[][..], "`inof` is no level"),
        (&["--log-format", "yaml"], &[], "give text or json"),
        (&[], &[("RUST_LOG", "plyd_daemon=loud")], "RUST_LOG: `plyd_daemon=loud` ends with no level"),
        (&[], &[("PLYD_SERVE_LOG_FORMAT", "xml")], "PLYD_SERVE_LOG_FORMAT: give text or json"),
    ] {
        let mut launch = process::plyd([&["serve"], arguments].concat());
        launch.command.envs(variables.iter().copied());
        let output = process::output(launch);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_failure_to_start_is_a_line_of_the_log_if_that_is_json() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = process::output(process::plyd(["serve", "--log-format=json", "--tcp", &address]));
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    let line = object(text.trim_end());
    let message = line["fields"]["message"].as_str().unwrap();
    assert!(line["level"] == "ERROR" && message.contains("another server may run there"), "{line}");
}

#[test]
fn nothing_is_said_to_be_served_by_a_daemon_that_cannot_start() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = Folder::new("log-taken");
    let socket = folder.path.join("socket");
    let served = ["serve", "--tcp", "127.0.0.1:0", "--unix", socket.to_str().unwrap(), "--metrics", &address];
    let output = process::output(process::plyd(served));
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(&address) && said.contains("has not ended yet"), "{said}");
    assert!(!said.contains("listening on 127") && !said.contains("listening on /"), "{said}");
    assert!(!socket.exists(), "its socket is gone with it");
}

#[test]
fn lost_lines_are_reported_in_the_form_of_the_others() {
    let mut launch = process::plyd(["serve", "--stdio", "-vvv", "--log-format", "json"]);
    launch.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = process::spawn(launch);
    let mut peer = Peer::new(Box::new(process.take_stdin().unwrap()), process.take_stdout().unwrap());
    let stderr = process.take_stderr().unwrap();
    peer.hello(json!({}));
    let lost = |peer: &mut Peer| {
        peer.result(&json!({ "id": "status", "cmd": "status" }))["counters"]["log_lost"].as_u64().unwrap()
    };
    while lost(&mut peer) == 0 {
        for number in 0..100 {
            peer.best(&go(&format!("{number:060}"), json!({ "limit": { "nodes": 1 } })));
        }
    }
    let reading = std::thread::spawn(move || {
        BufReader::new(stderr).lines().map(|line| object(&line.unwrap())).collect::<Vec<_>>()
    });
    peer.end_input();
    peer.closed();
    assert!(process::exit(&mut process).success());
    let lines = reading.join().unwrap();
    let reports = lines.iter().filter(|line| line["target"] == "plyd::log").collect::<Vec<_>>();
    assert!(!reports.is_empty(), "no line about the lost ones");
    let message = reports[0]["fields"]["message"].as_str().unwrap();
    // The first gap may be a single line.
    let is_report =
        [" lines of the log were lost", " line of the log was lost"].iter().any(|it| message.ends_with(it));
    assert!(is_report && reports[0]["level"] == "WARN", "{message}");
}

#[test]
fn form_and_filter_of_a_running_daemon_change_with_its_settings() {
    let folder = Folder::new("log-reload");
    let file = folder.file("plyd.toml", "verbose = 1\n");
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--config", &file], &[], 1);
    let mut peer = daemon.greet(json!({ "client": { "name": "old" } }));
    fs::write(&file, "log-format = 'json'\nlog-filter = 'plyd_daemon::searches=debug'\n").unwrap();
    process::signal(&daemon.process, Signal::HUP);
    daemon.wait_for("the settings are read again");
    peer.best(&go("g", json!({ "limit": { "nodes": 1 } })));
    // What began before is named in the new form, too.
    let line = object(&daemon.wait_for("\"search\""));
    assert_eq!(
        (&line["spans"][0]["client"], &line["spans"][1]["id"]),
        (&json!("old"), &json!("g")),
        "{line}"
    );
    fs::write(&file, "verbose = 1\n").unwrap();
    process::signal(&daemon.process, Signal::HUP);
    daemon.wait_for("the settings are read again");
    daemon.greet(json!({}));
    let line = daemon.wait_for("connection");
    assert!(line.contains(" INFO connection{id="), "{line}");
    daemon.end();
}
