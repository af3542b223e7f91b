//! Connections that outlive their sockets: who may take one up again, how many there are, and how they end.

use std::fs;

use crate::common::{Logged, open, stop, with};
use crate::identity::{Clients, endless_go, search};
use crate::operate::{called, find};
use crate::reload::{Daemon, IN_FORCE};
use crate::resume::{LONG, WAYS, again, come_back, hello, keep, last_seq, serve, until, until_kept};
use serde_json::json;

#[test]
fn who_has_no_right_token_is_refused_and_the_connection_stays_as_it_was() {
    let server = serve("tcp", &[]);
    let mut first = server.connect();
    let token = keep(&mut first, json!({}));
    search(&mut first, &endless_go("busy", json!({})));
    let longer = format!("{token}0");
    let fresh = format!("plyd_{}", "0123".repeat(8));
    let unknown = |token: &str| (json!({ "token": token, "seq": 1 }), "resume_unknown", "/resume/token");
    for (fields, code, pointer) in [
        unknown(""),
        unknown("secret"),
        unknown(&token[..36]),
        unknown(&longer),
        unknown(&fresh),
        (json!({ "token": token, "seq": 1_000_000 }), "out_of_range", "/resume/seq"),
        (json!({ "token": token, "seq": -1 }), "out_of_range", "/resume/seq"),
        (json!({ "token": token, "keep_ms": 1 }), "unknown_field", "/resume/keep_ms"),
        (json!({ "keep_ms": 0 }), "out_of_range", "/resume/keep_ms"),
        (json!({}), "missing_field", "/resume/keep_ms"),
    ] {
        let mut peer = server.connect();
        let error = peer.ask(&hello("x", json!({ "resume": fields })));
        assert_eq!(
            (&error["code"], &error["pointer"], &error["fatal"]),
            (&json!(code), &json!(pointer), &json!(false)),
            "{error}"
        );
        peer.result(&hello("y", json!({})));
    }
    // The id of the `hello` is one of the connection's.
    let mut peer = server.connect();
    peer.send(&hello("busy", json!({ "resume": { "token": token, "seq": 1 } })));
    let error = peer.fault();
    assert_eq!((&error["code"], &error["ref"]), (&json!("duplicate_id"), &json!("busy")), "{error}");
    // Who guesses on is answered on, and finds nothing.
    for guess in 0..100 {
        let error = peer.ask(&again(&format!("plyd_{guess:032x}"), 1));
        assert_eq!(error["code"], "resume_unknown", "{error}");
    }
    first.ping();
    assert!(first.is_open("busy"));
    let mut second = come_back(peer, &first, &token, last_seq(&first)).0;
    // An end in order is no break.
    second.result(&json!({ "id": "q", "cmd": "quit", "mode": "stop" }));
    second.closed();
    assert_eq!(server.connect().ask(&again(&token, 1))["code"], "resume_unknown");
    let mut first = server.connect();
    let token = keep(&mut first, json!({ "on_eof": "stop" }));
    search(&mut first, &endless_go("g", json!({})));
    first.end_input();
    assert_eq!(first.last("g")["reason"], "stopped");
    first.closed();
    assert_eq!(server.connect().ask(&again(&token, 1))["code"], "resume_unknown");
}

#[test]
fn a_connection_belongs_to_its_client_and_counts_towards_its_limits() {
    let clients = Clients::new("resume");
    let alice = clients.add("alice", &["--connections", "1"]);
    let bob = clients.add("bob", &[]);
    let server = clients.serve(&["--resume-ms", LONG]);
    let mut first = server.connect();
    let token = keep(&mut first, json!({ "token": alice }));
    search(&mut first, &endless_go("g", json!({})));
    first.reset();
    let seq = last_seq(&first);
    let of = |client: &str| with(again(&token, seq), &json!({ "token": client }));
    assert_eq!(server.connect().ask(&again(&token, seq))["code"], "auth_required");
    assert_eq!(server.connect().ask(&of(&bob))["code"], "resume_unknown");
    let more = server.connect().ask(&hello("more", json!({ "token": alice })));
    assert_eq!(more["code"], "too_many_connections", "{more}");
    let mut second = server.connect();
    second.follow(&first, seq);
    assert_eq!(second.result(&of(&alice))["limits"]["client"]["name"], "alice");
    assert!(second.is_open("g"));
    second.result(&stop("g"));
    assert_eq!(second.last("g")["reason"], "stopped");
}

#[test]
fn a_client_that_is_taken_off_the_list_loses_what_waits_for_it() {
    let clients = Clients::new("resume-removed");
    let operator = clients.add("operator", &["--role", "operate"]);
    let rest = fs::read_to_string(&clients.file).unwrap();
    let alice = clients.add("alice", &[]);
    let arguments = ["--clients-file", &clients.file, "--resume-ms", LONG];
    let mut daemon = Daemon::without_settings("resume", &arguments);
    let mut operator = daemon.greet(json!({ "token": operator }));
    let mut first = daemon.connect();
    let token = keep(&mut first, json!({ "token": alice }));
    open(&mut first, "s");
    search(&mut first, &endless_go("g", json!({ "session": "s" })));
    first.reset();
    operator.ping();
    fs::write(&clients.file, rest).unwrap();
    daemon.hang_up();
    daemon.logged(IN_FORCE);
    until(&mut operator, &json!({ "searches": 0, "sessions": 0 }));
    // Nor does it belong to whoever gets the name.
    let alice = crate::identity::token(&clients.file, "alice", &[]);
    daemon.hang_up();
    daemon.logged(IN_FORCE);
    let refused = daemon.connect().ask(&with(again(&token, 1), &json!({ "token": alice })));
    assert_eq!(refused["code"], "resume_unknown", "{refused}");
    assert!(daemon.end().success());
}

#[test]
fn so_many_connections_have_the_promise_and_others_end_as_ever() {
    // All call from one address, which gets no more than are left for others: two of four.
    let server = serve("tcp", &["--resume-connections", "4", "--connections", "4"]);
    let (mut first, mut second, mut third) = (server.connect(), server.connect(), server.connect());
    let token = keep(&mut first, json!({}));
    keep(&mut second, json!({}));
    let asked = json!({ "resume": { "keep_ms": 1000 } });
    let result = third.hello(asked.clone());
    assert_eq!(
        (result.get("resume"), &result["limits"]["resume_connections"]),
        (None, &json!(4)),
        "{result}"
    );
    search(&mut first, &endless_go("g", json!({})));
    search(&mut third, &endless_go("g", json!({})));
    first.reset();
    third.reset();
    let mut watching = server.greet(json!({}));
    let status = until(&mut watching, &json!({ "searches": 1 }));
    assert_eq!(status["counters"]["cancelled"], 1, "{status}");
    // One that waits has its place among the connections.
    let mut fourth = server.greet(json!({}));
    let refused = server.connect().ask(&hello("fifth", json!({})));
    assert_eq!(refused["code"], "too_many_connections", "{refused}");
    let mut first = come_back(server.connect(), &first, &token, last_seq(&first)).0;
    assert!(first.is_open("g"));
    // Who leaves makes room for another promise.
    for peer in [&mut second, &mut fourth] {
        peer.result(&json!({ "id": "q", "cmd": "quit" }));
        peer.closed();
    }
    keep(&mut server.connect(), json!({}));
    first.ping();
}

#[test]
fn each_client_has_promises_left() {
    let clients = Clients::new("resume-fair");
    let (alice, bob) = (clients.add("alice", &[]), clients.add("bob", &[]));
    let server = clients.serve(&["--resume-ms", LONG, "--resume-connections", "4"]);
    let asked = |token: &str| json!({ "token": token, "resume": { "keep_ms": 60_000 } });
    let mut peers = Vec::new();
    let mut promised = |token: &str| {
        let mut peer = server.connect();
        let is_promised = peer.hello(asked(token)).get("resume").is_some();
        peers.push(peer);
        is_promised
    };
    let promised = [&alice, &alice, &alice, &bob, &bob].map(|token| promised(token));
    assert_eq!(promised, [true, true, false, true, false]);
}

#[test]
fn an_operator_sees_what_waits_for_its_client_and_may_end_it() {
    for way in WAYS {
        let server = serve(way, &[]);
        let mut operator = called(&server, "operator");
        let mut first = server.connect();
        let token = keep(&mut first, json!({ "client": { "name": "away" } }));
        open(&mut first, "s");
        search(&mut first, &endless_go("g", json!({ "session": "s" })));
        let number = find(&mut operator, "away")["connection"].clone();
        first.reset();
        let seq = last_seq(&first);
        let one = until_kept(&mut operator, "away");
        assert_eq!(
            (&one["connection"], &one["searches"][0]["id"], &one["sessions"][0]["session"]),
            (&number, &json!("g"), &json!("s")),
            "{one}"
        );
        // What happens to it meanwhile waits for the client.
        operator.result(&json!({ "id": "c", "cmd": "close", "session": "s", "connection": number }));
        let mut second = come_back(server.connect(), &first, &token, seq).0;
        assert_eq!(second.last("g")["reason"], "closed");
        second.notice("warning");
        assert_eq!(find(&mut operator, "away")["state"], "open");
        search(&mut second, &endless_go("h", json!({})));
        second.reset();
        until_kept(&mut operator, "away");
        let ended = operator.result(&json!({ "id": "d", "cmd": "disconnect", "connection": number }));
        assert_eq!(ended["connections"], json!([number]), "{ended}");
        assert_eq!(operator.result(&json!({ "id": "k", "cmd": "connections" }))["count"], 1);
        let status = until(&mut operator, &json!({ "searches": 0, "sessions": 0 }));
        assert_eq!(status["counters"]["connections_dropped"], 1, "{status}");
        assert_eq!(server.connect().ask(&again(&token, seq))["code"], "resume_unknown");
    }
}

#[test]
fn the_token_stands_in_no_log_and_no_transcript() {
    let folder = crate::common::Folder::new("resume-secrets");
    let lines = folder.path.join("lines");
    let arguments = ["--tcp", "127.0.0.1:0", "--resume-ms", LONG, "-vvv", "--transcript"];
    let server = Logged::start(&[&arguments[..], &[lines.to_str().unwrap()]].concat(), &[], 1);
    let mut first = server.connect();
    let token = keep(&mut first, json!({}));
    first.ping();
    first.reset();
    // Whoever comes back sooner takes the connection from a socket that is still open.
    server.wait_for("the socket broke");
    // All that came behind the answer with the token comes again.
    let (mut second, _) = come_back(server.connect(), &first, &token, 1);
    // One digit is another one, whichever it was.
    let wrong = format!("{}{}", &token[..36], if token.ends_with('0') { '1' } else { '0' });
    for bad in [again(&wrong, 1).to_string(), format!(r#"{{"id":"x","cmd":"hello","resume":"{token}"}}"#)] {
        let mut peer = server.connect();
        peer.line(bad.as_bytes());
        assert_eq!(peer.last(if bad.contains("again") { "again" } else { "x" })["type"], "error");
    }
    second.line(format!("[\"{token}\"]").as_bytes());
    second.fault();
    second.result(&json!({ "id": "q", "cmd": "quit" }));
    second.closed();
    let log = server.end();
    let text = fs::read_to_string(&lines).unwrap();
    assert!(text.contains(r#""token":"hidden""#), "{text}");
    for secret in [&token[..20], &token[20..], &wrong[..20]] {
        assert!(!text.contains(secret), "{text}");
        assert!(!log.iter().any(|line| line.contains(secret)), "{log:#?}");
    }
    for what in ["the socket broke", "takes its connection up"] {
        assert!(log.iter().any(|line| line.contains(what)), "{what}: {log:#?}");
    }
}
