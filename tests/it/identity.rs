//! Clients that are known by name: who is let in, what each may ask for, and what a new list changes while
//! they are connected. What each may have is in `identity_limits`, the file in `identity_files`.

// The functions beside the tests are called by them alone.
use std::fs;

use crate::common::scrape::Scrape;
use crate::common::{Folder, Logged, Peer, Server, endless, go, open, process, with};
use crate::reload::{Daemon, IN_FORCE, REFUSED};
use plyd_protocol::Command;
use serde_json::{Value, json};

/// Adds a client to a file, as people do; its token.
pub(crate) fn token(file: &str, name: &str, rights: &[&str]) -> String {
    let arguments = [&["token", "new", name, "--clients-file", file][..], rights].concat();
    let output = process::output(process::plyd(arguments));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.is_empty(), "{name}: {said}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// A `hello` with a token, if there is one.
pub(crate) fn hello(token: Option<&str>) -> Value {
    let mut hello = json!({ "id": "hello", "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
    if let Some(token) = token {
        hello["token"] = token.into();
    }
    hello
}

/// The clients of a test, each with its token.
pub(crate) struct Clients {
    pub(crate) folder: Folder,
    pub(crate) file: String,
}

impl Clients {
    pub(crate) fn new(name: &str) -> Self {
        let folder = Folder::new(&format!("identity-{name}"));
        let file = folder.path.join("clients.toml").to_str().unwrap().to_owned();
        Self { folder, file }
    }

    pub(crate) fn add(&self, name: &str, rights: &[&str]) -> String {
        token(&self.file, name, rights)
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        Server::tcp(&[&["--clients-file", &self.file], arguments].concat())
    }
}

pub(crate) fn greet(server: &Server, token: &str) -> Peer {
    server.greet(json!({ "token": token }))
}

/// A search that ends when it is stopped, with further fields.
pub(crate) fn endless_go(id: &str, fields: Value) -> Value {
    let mut go = go(id, fields);
    go["clock"] = endless();
    go
}

/// Begins a search and waits until it runs.
pub(crate) fn search(peer: &mut Peer, go: &Value) {
    peer.send(go);
    peer.info(go["id"].as_str().unwrap(), "started");
}

#[test]
fn whoever_has_no_token_or_another_one_stays_out() {
    let clients = Clients::new("hello");
    let (alice, bob) = (clients.add("alice", &[]), clients.add("bob", &["--role", "operate"]));
    let master = clients.folder.file("master", "open sesame\n");
    let socket = clients.folder.path.join("socket");
    let table = fs::read_to_string(&clients.file).unwrap();
    let hash = table.lines().find_map(|line| line.strip_prefix("token = ")).unwrap().trim_matches('"');
    let server = clients.serve(&["--token-file", &master, "--unix", socket.to_str().unwrap()]);
    let cut = &alice[..alice.len() - 1];
    let padded = format!("{alice} ");
    let upper = alice.to_uppercase();
    let wrong = ["", "alice", hash, cut, &padded, &upper].map(|token| (Some(token), "auth_failed"));
    let refused = [(None, "auth_required")].into_iter().chain(wrong).map(|(token, code)| {
        let mut peer = server.connect();
        peer.send(&hello(token));
        (peer, token, code)
    });
    // All at once: the answers to wrong tokens come later and later.
    for (mut peer, token, code) in refused.collect::<Vec<_>>() {
        let refused = peer.last("hello");
        assert_eq!(
            (&refused["code"], &refused["fatal"], &refused["pointer"]),
            (&json!(code), &json!(true), &json!("/token")),
            "{token:?}: {refused}"
        );
        peer.closed();
    }
    for (token, name, role) in [(&alice, "alice", "play"), (&bob, "bob", "operate")] {
        let client = server.connect().hello(json!({ "token": token }))["limits"]["client"].clone();
        assert_eq!(client, json!({ "name": name, "role": role }));
    }
    // The token of the server is there as before, and is nobody in particular.
    let mut anyone = server.connect();
    let greeting = anyone.hello(json!({ "token": "open sesame" }));
    assert_eq!(greeting["limits"].get("client"), None, "{greeting}");
    anyone.result(&json!({ "id": "s", "cmd": "status" }));
    let again = anyone.ask(&hello(Some(&alice)));
    assert_eq!((&again["code"], &again["fatal"]), (&json!("handshake_repeated"), &json!(false)));
    let unix = std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let mut local = Peer::new(Box::new(unix.try_clone().unwrap()), unix);
    assert_eq!(local.ask(&hello(None))["code"], "auth_required");
}

#[test]
fn a_process_that_starts_the_daemon_needs_no_token() {
    let clients = Clients::new("stdio");
    clients.add("alice", &[]);
    let (_server, mut peer) = Server::stdio(&["--clients-file", &clients.file]);
    peer.result(&json!({ "id": "s", "cmd": "status" }));
    assert_eq!(peer.hello(json!({}))["limits"].get("client"), None);
}

/// A request of each row of the specification's table, by the words of the row, with the least role.
fn table() -> Vec<(String, String)> {
    let page = include_str!("../../protocol/README.md");
    let rows = page.split("| request | least role |\n|---|---|\n").nth(1).expect("the table");
    let rows = rows.lines().take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.trim_matches('|').split_once(" | ").expect("two columns"));
    cells.map(|(asked, role)| (asked.trim().to_owned(), role.trim().trim_matches('`').to_owned())).collect()
}

/// Requests that are rows of the table: the words that the row begins with, the request, and the field that
/// asks for so much.
fn requests() -> Vec<(&'static str, Value, &'static str)> {
    let position = json!({ "game": "l-game", "position": {} });
    let go = |fields: Value| {
        let limit = json!({ "cmd": "go", "game": "l-game", "position": {}, "limit": { "nodes": 100 } });
        with(limit, &fields)
    };
    vec![
        ("`hello`", hello(None), "/cmd"),
        ("`ping`", json!({ "cmd": "ping" }), "/cmd"),
        ("`describe`", json!({ "cmd": "describe", "what": "limits" }), "/cmd"),
        ("`describe`", json!({ "cmd": "describe", "what": "game", "game": "l-game" }), "/cmd"),
        ("`newgame`", json!({ "cmd": "newgame", "session": "s", "game": "l-game" }), "/cmd"),
        ("`setoption`", json!({ "cmd": "setoption", "options": { "depth": 2 } }), "/cmd"),
        ("`setoption`", json!({ "cmd": "setoption", "session": "s", "options": { "depth": 2 } }), "/cmd"),
        ("`inspect`", with(json!({ "cmd": "inspect" }), &position), "/cmd"),
        ("`go` with `mode` `move`", go(json!({})), "/cmd"),
        ("`go` with `mode` `move`", go(json!({ "session": "s", "game": null })), "/cmd"),
        ("`go` with `mode` `move`", go(json!({ "mode": "ponder" })), "/cmd"),
        ("`go` with `mode` `analyse`", go(json!({ "mode": "analyse" })), "/mode"),
        ("`go` with `mode` `analyse`", go(json!({ "mode": "analyse", "queue": true })), "/mode"),
        ("`go` with `mode` `analyse`", go(json!({ "mode": "analyse", "multipv": 2 })), "/mode"),
        ("`go` with `mode` `analyse`", go(json!({ "multipv": 2 })), "/multipv"),
        ("`go` with `mode` `analyse`", go(json!({ "mode": "ponder", "multipv": 2 })), "/multipv"),
        ("`update`", json!({ "cmd": "update", "target": "nobody", "mode": "move" }), "/cmd"),
        ("`stop`", json!({ "cmd": "stop", "all": true }), "/cmd"),
        (
            "`close` with `connection`",
            json!({ "cmd": "close", "session": "s", "connection": 9007199254740991_u64 }),
            "/connection",
        ),
        ("`close`", json!({ "cmd": "close", "session": "s" }), "/cmd"),
        ("`status`", json!({ "cmd": "status" }), "/cmd"),
        ("`connections`", json!({ "cmd": "connections" }), "/cmd"),
        ("`disconnect`", json!({ "cmd": "disconnect", "connection": 9007199254740991_u64 }), "/cmd"),
        ("`quit`", json!({ "cmd": "quit" }), "/cmd"),
    ]
}

#[test]
fn a_role_allows_what_the_table_says_and_nothing_else() {
    const ROLES: [&str; 3] = ["play", "analyse", "operate"];
    let clients = Clients::new("roles");
    let tokens = ROLES.map(|role| clients.add(role, &["--role", role]));
    let (server, table) = (clients.serve(&["--threads", "2"]), table());
    let rows = |cmd: &str| table.iter().filter(|(asked, _)| asked.contains(&format!("`{cmd}`"))).count();
    for cmd in Command::NAMES {
        assert_eq!(rows(cmd), if ["go", "close"].contains(&cmd) { 2 } else { 1 }, "{cmd} in the table");
        let is_tried = requests().iter().any(|(_, request, _)| request["cmd"] == cmd);
        assert!(is_tried, "{cmd} is tried");
    }
    let rank = |role: &str| ROLES.iter().position(|of| *of == role).expect("a role");
    for (own, token) in tokens.iter().enumerate() {
        let mut peer = greet(&server, token);
        for (index, (row, mut request, field)) in requests().into_iter().enumerate() {
            let (_, least) = table.iter().find(|(asked, _)| asked.contains(row)).expect(row);
            request["id"] = format!("r{index}").into();
            if request["game"].is_null() {
                request.as_object_mut().unwrap().remove("game");
            }
            let case = format!("{request} by {}", ROLES[own]);
            let last = peer.ask(&request);
            if own < rank(least) {
                assert_eq!(
                    (&last["type"], &last["code"], &last["fatal"], &last["pointer"]),
                    (&json!("error"), &json!("forbidden"), &json!(false), &json!(field)),
                    "{case}: {last}"
                );
                let said = last["message"].as_str().unwrap();
                assert!(said.contains(least) && said.contains(ROLES[own]), "{said}");
            } else {
                // Twice, or what is not there.
                let is_refused = request["cmd"] == "hello" || request.get("connection").is_some();
                assert_eq!(last["type"] == "error", is_refused, "{case}: {last}");
                assert_ne!(last["code"], "forbidden", "{case}");
            }
        }
        peer.closed();
    }
}

#[test]
fn requests_beyond_a_role_are_warnings_in_the_log_and_bounded() {
    let clients = Clients::new("forbidden");
    let alice = clients.add("alice", &[]);
    // Without `-v`.
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--clients-file", &clients.file], &[], 1);
    let mut peer = daemon.greet(json!({ "token": alice }));
    let count = 50;
    for number in 0..count {
        let refused = peer.ask(&json!({ "id": format!("s{number}"), "cmd": "status" }));
        assert_eq!(refused["code"], "forbidden", "{refused}");
        // An error that is none of security.
        let wrong =
            peer.ask(&json!({ "id": format!("n{number}"), "cmd": "newgame", "session": "s", "game": "go" }));
        assert_eq!(wrong["type"], "error", "{wrong}");
    }
    drop(peer);
    let log = daemon.end();
    let lines: Vec<&String> = log.iter().filter(|line| line.contains("request refused")).collect();
    assert!((1..count).contains(&lines.len()), "{lines:#?}");
    for line in lines {
        for word in ["WARN", "code=\"forbidden\"", "client=\"alice\"", "cmd=\"status\""] {
            assert!(line.contains(word), "no {word}: {line}");
        }
    }
}

#[test]
fn a_new_list_of_clients_is_in_force_from_the_next_request_on() {
    let clients = Clients::new("list");
    let analyst = ["--role", "analyse", "--sessions", "5"];
    let (alice, bob) = (clients.add("alice", &analyst), clients.add("bob", &analyst));
    let carol = clients.add("carol", &[]);
    let file = fs::read_to_string(&clients.file).unwrap();
    let arguments = ["--clients-file", &clients.file, "--metrics", "127.0.0.1:0"];
    let mut daemon = Daemon::without_settings("list", &arguments);
    let metrics = daemon.log.metrics();
    let failed_logins = || Scrape::of(metrics).get("plyd_errors_total{code=\"auth_failed\"}");
    assert_eq!(failed_logins(), 0.0);
    let mut peers = [&alice, &bob, &carol].map(|token| daemon.greet(json!({ "token": token })));
    for peer in &mut peers {
        open(peer, "s");
        search(peer, &endless_go("g", json!({ "session": "s" })));
    }
    let [mut of_alice, mut of_bob, mut of_carol] = peers;

    // alice is gone, bob has fewer rights, carol more, and dave is new.
    let dave = clients.add("dave", &[]);
    let tables = fs::read_to_string(&clients.file).unwrap();
    let tables: Vec<&str> = tables.split("\n[").collect();
    assert_eq!(tables.len(), 4, "{tables:?}");
    let bobs = tables[1].replace("analyse", "play").replace("sessions = 5", "sessions = 1");
    let carols = tables[2].replace("role = \"play\"", "role = \"operate\"");
    fs::write(&clients.file, format!("[{bobs}\n[{carols}\n[{}", tables[3])).unwrap();
    daemon.hang_up();
    daemon.logged(IN_FORCE);
    let said = of_alice.closed();
    let (best, last) = (&said[said.len() - 2], said.last().unwrap());
    assert_eq!((&best["type"], &best["reason"]), (&json!("bestmove"), &json!("stopped")), "{best}");
    assert_eq!(
        (&last["code"], &last["fatal"], &last["id"], &last["line"]),
        (&json!("auth_failed"), &json!(true), &Value::Null, &json!(0)),
        "{last}"
    );
    assert_eq!(failed_logins(), 1.0, "each error that is sent is counted");
    assert_eq!(daemon.connect().ask(&hello(Some(&alice)))["code"], "auth_failed");
    for peer in [&mut of_bob, &mut of_carol] {
        peer.ping();
        assert!(peer.is_open("g"), "the search goes on");
    }
    let refused = of_bob.ask(&endless_go("a", json!({ "mode": "analyse" })));
    assert_eq!(refused["code"], "forbidden", "{refused}");
    let refused = of_bob.ask(&json!({ "id": "n", "cmd": "newgame", "session": "t", "game": "l-game" }));
    assert_eq!(refused["code"], "too_many_sessions", "{refused}");
    let limits = of_bob.result(&json!({ "id": "l", "cmd": "describe", "what": "limits" }))["body"].clone();
    assert_eq!(limits["client"], json!({ "name": "bob", "role": "play", "sessions": 1 }));
    of_carol.result(&json!({ "id": "t", "cmd": "status" }));
    daemon.greet(json!({ "token": dave })).ping();

    // What is wrong is said with its line, and nothing changes.
    fs::write(&clients.file, format!("{file}\n[eve]\nrole = \"pley\"\n")).unwrap();
    daemon.hang_up();
    let line = daemon.logged(REFUSED);
    let at = file.lines().count() + 3;
    let wanted = format!("clients.toml:{at}: role: give play, analyse, operate");
    assert!(line.contains(&wanted), "{line} without `{wanted}`");
    assert_eq!(of_bob.ask(&endless_go("a", json!({ "mode": "analyse" })))["code"], "forbidden");
    assert_eq!(daemon.connect().ask(&hello(Some(&alice)))["code"], "auth_failed");

    // Another token makes another client: whoever has the old one is out. Without any, nobody is let in.
    fs::write(&clients.file, "").unwrap();
    token(&clients.file, "bob", &analyst);
    daemon.hang_up();
    daemon.logged(IN_FORCE);
    for peer in [&mut of_bob, &mut of_carol] {
        assert_eq!(peer.closed().last().unwrap()["code"], "auth_failed");
    }
    fs::write(&clients.file, "").unwrap();
    daemon.hang_up();
    daemon.logged(IN_FORCE);
    for (token, code) in [(None, "auth_required"), (Some(bob.as_str()), "auth_failed")] {
        assert_eq!(daemon.connect().ask(&hello(token))["code"], code);
    }
    assert!(daemon.end().success());
}

#[test]
fn a_search_that_waits_for_a_limit_of_its_client_starts_when_a_new_list_lifts_it() {
    let clients = Clients::new("lifted");
    let alice = clients.add("alice", &["--searches", "1"]);
    let mut daemon = Daemon::without_settings("lifted", &["--clients-file", &clients.file]);
    let mut peer = daemon.greet(json!({ "token": alice }));
    search(&mut peer, &endless_go("g", json!({})));
    peer.send(&go("waits", json!({ "limit": { "nodes": 100 }, "queue": true })));
    peer.ping();
    assert!(peer.is_open("waits"));
    let table = fs::read_to_string(&clients.file).unwrap();
    fs::write(&clients.file, table.replace("searches = 1", "searches = 2")).unwrap();
    daemon.hang_up();
    assert_eq!(peer.last("waits")["type"], "bestmove");
    assert!(peer.is_open("g"));
    assert!(daemon.end().success());
}

#[test]
fn the_log_has_names_and_no_token_and_the_transcript_has_neither_right_nor_wrong_ones() {
    let clients = Clients::new("records");
    let alice = clients.add("alice", &[]);
    let other = Clients::new("others").add("stranger", &[]);
    let lines = clients.folder.path.join("lines");
    let arguments = ["--clients-file", &clients.file, "-vv", "--transcript", lines.to_str().unwrap()];
    let mut daemon = Daemon::without_settings("records", &arguments);
    for token in [&alice, &other] {
        let mut peer = daemon.connect();
        for line in [
            token.clone(),
            format!(r#"["{token}"]"#),
            format!(r#"{{"id":"x","cmd":"hello","token":"{token}""#),
            format!(r#"{{"id":"x","cmd":"{token}"}}"#),
            format!(r#"{{"id":"x","cmd":"ping","{token}":1}}"#),
        ] {
            peer.line(line.as_bytes());
        }
        if peer.ask(&hello(Some(token)))["type"] == "result" {
            peer.best(&go("g", json!({ "limit": { "nodes": 100 } })));
            peer.ask(&json!({ "id": "p", "cmd": "ping", "echo": format!("my token is {token}") }));
            peer.ask(&json!({ "id": "n", "cmd": "newgame", "session": "s", "game": token }));
            peer.ask(&json!({ "id": "q", "cmd": "quit" }));
        }
        peer.closed();
    }
    assert!(daemon.end().success());
    let log = daemon.log.rest();
    let text = fs::read_to_string(&lines).unwrap();
    for secret in [&alice, &other] {
        // The part that messages repeat is no longer than 64 characters.
        assert!(!text.contains(&secret[..20]) && !text.contains(&secret[20..40]), "{text}");
        assert!(!log.iter().any(|line| line.contains(&secret[20..40])), "{log:#?}");
    }
    assert!(text.contains(r#""token":"hidden""#) && text.contains("bestmove"), "{text}");
    let named = |what: &str| {
        let mut lines = log.iter().filter(|line| line.contains(what));
        lines.any(|line| line.contains("alice")).then_some(()).ok_or_else(|| format!("{what}: {log:#?}"))
    };
    for what in ["search", "connection closed"] {
        named(what).unwrap();
    }
    assert!(log.iter().any(|line| line.contains("wrong tokens")), "{log:#?}");
}
