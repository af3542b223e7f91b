//! Connections that outlive their sockets: what goes on while a client is away, what it hears when it comes
//! back, and when nobody can.

// The functions beside the tests are called by them alone.
use std::io::{BufRead, BufReader, Write};
use std::time::Instant;

use crate::common::{self, Logged, Peer, Random, Server, TIMEOUT, go, open, stop, texts, websocket, with};
use crate::identity::{endless_go, search};
use crate::operate::find;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Longer than any test lasts.
pub(crate) const LONG: &str = "600000";

/// The ways to a server, both of which break.
pub(crate) const WAYS: [&str; 2] = ["tcp", "ws"];

/// A server that keeps connections, with these further arguments.
pub(crate) fn serve(way: &str, arguments: &[&str]) -> Server {
    let arguments = [&["--threads", "2", "--resume-ms", LONG], arguments].concat();
    if way == "ws" { Server::websocket(&arguments) } else { Server::tcp(&arguments) }
}

/// A `hello` with these fields.
pub(crate) fn hello(id: &str, fields: Value) -> Value {
    with(json!({ "id": id, "cmd": "hello", "protocol": { "min": 1, "max": 1 } }), &fields)
}

/// A `hello` that takes up the connection of that token, behind a message.
pub(crate) fn again(token: &str, seq: u64) -> Value {
    hello("again", json!({ "resume": { "token": token, "seq": seq } }))
}

/// Says `hello` on a connection, which the server promises to keep; the token.
pub(crate) fn keep(peer: &mut Peer, fields: Value) -> String {
    let result = peer.result(&hello("hello", with(json!({ "resume": { "keep_ms": 60_000 } }), &fields)));
    let promise = &result["resume"];
    assert_eq!((&promise["keep_ms"], &promise["lines"]), (&json!(60_000), &json!(0)), "{result}");
    assert!(texts(&result["features"]).contains(&"resume".to_owned()), "{result}");
    let token = promise["token"].as_str().unwrap().to_owned();
    assert!(token.len() == 37 && token.starts_with("plyd_"), "{token}");
    token
}

/// The number of the last message that came.
pub(crate) fn last_seq(peer: &Peer) -> u64 {
    peer.log.last().and_then(|message| message["seq"].as_u64()).expect("a message")
}

/// Comes back over another socket; what the result says of the promise.
pub(crate) fn come_back(mut next: Peer, earlier: &Peer, token: &str, seq: u64) -> (Peer, Value) {
    next.follow(earlier, seq);
    let result = next.result(&again(token, seq));
    (next, result["resume"].clone())
}

/// A message without the time at which it was sent.
fn timeless(message: &Value) -> Value {
    let mut message = message.clone();
    message.as_object_mut().unwrap().remove("t_us");
    message
}

/// Waits until the whole server reports those numbers.
pub(crate) fn until(peer: &mut Peer, wanted: &Value) -> Value {
    let end = Instant::now() + TIMEOUT;
    loop {
        let status = peer.result(&json!({ "id": "status", "cmd": "status" }));
        let fields = wanted.as_object().unwrap();
        if fields.iter().all(|(name, number)| status[name] == *number) {
            return status;
        }
        assert!(Instant::now() < end, "{wanted} never came: {status}");
    }
}

/// Waits until the connection whose client calls itself so is kept, as the operator sees it.
pub(crate) fn until_kept(operator: &mut Peer, name: &str) -> Value {
    let mut found = Value::Null;
    common::until("the connection is kept", || {
        found = find(operator, name);
        found["state"] == "kept"
    });
    found
}

/// A connection to a server whose log is read, over either way.
pub(crate) fn connect(server: &Logged, way: &str) -> Peer {
    if way == "tcp" {
        return server.connect();
    }
    let stream = server.socket(0);
    let socket = stream.try_clone().unwrap();
    let (lines, messages) = websocket::open(stream);
    Peer::new(Box::new(lines), messages).over(socket)
}

#[test]
fn searches_sessions_and_messages_outlive_a_reset() {
    for way in WAYS {
        let server = serve(way, &[]);
        // The client has the first message alone, half of them, or all.
        for part in [0, 1, 2] {
            let mut first = server.connect();
            let token = keep(&mut first, json!({}));
            open(&mut first, "s");
            first.send(&go("ends", json!({ "limit": { "nodes": 100_000 } })));
            search(&mut first, &endless_go("endless", json!({ "session": "s" })));
            first.info("endless", "best");
            first.reset();
            let all = last_seq(&first);
            let seq = [1, all.div_ceil(2), all][part];
            let (mut second, promise) = come_back(server.connect(), &first, &token, seq);
            assert_eq!(promise, json!({ "keep_ms": 60_000, "lines": 4 }), "{way}");
            // What the first socket brought comes again as it was.
            let missed = &first.log[seq as usize..];
            for (old, new) in missed.iter().zip(&second.log) {
                assert_eq!(timeless(old), timeless(new), "{way}, from {seq} on");
            }
            assert!(second.log.len() > missed.len());
            let is_known = first.log[..seq as usize]
                .iter()
                .any(|message| message["id"] == "ends" && message["type"] == "bestmove");
            if !is_known {
                assert_eq!(second.last("ends")["reason"], "limit", "{way}");
            }
            assert_eq!(second.result(&stop("endless"))["effect"], "stopping", "{way}");
            assert_eq!(second.last("endless")["reason"], "stopped");
            let more = go("more", json!({ "session": "s", "limit": { "nodes": 1000 } }));
            assert_eq!(second.best(&more)["type"], "bestmove");
            // The same token is good for the next time.
            second.reset();
            let seq = last_seq(&second);
            let (mut third, promise) = come_back(server.connect(), &second, &token, seq);
            assert_eq!(promise["lines"], 7, "{way}: two more requests and the second hello");
            assert_eq!(third.log.len(), 1, "{way}: {:?}", third.log);
            third.result(&json!({ "id": "c", "cmd": "close", "session": "s" }));
            assert_eq!(third.open(), 0);
        }
    }
}

#[test]
fn a_socket_that_is_still_open_is_closed_and_changes_nothing_any_more() {
    let arguments =
        ["--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--threads", "2", "--resume-ms", LONG, "-v"];
    let server = Logged::start(&arguments, &[], 2);
    let mut first = server.connect();
    let token = keep(&mut first, json!({}));
    search(&mut first, &endless_go("g", json!({})));
    let seq = last_seq(&first);
    // Over whichever way.
    let (lines, messages) = websocket::open(server.socket(1));
    let other = Peer::new(Box::new(lines), messages);
    let (mut second, promise) = come_back(other, &first, &token, seq);
    assert_eq!(promise["lines"], 2);
    first.send(&stop("g"));
    let end = first.closed().last().unwrap();
    assert_eq!(
        [&end["type"], &end["code"], &end["fatal"], &end["id"], &end["line"]],
        [&json!("error"), &json!("disconnected"), &json!(true), &Value::Null, &json!(0)],
        "{end}"
    );
    second.ping();
    assert!(second.is_open("g"), "the search goes on");
    assert_eq!(second.result(&stop("g"))["targets"], json!(["g"]));
    assert_eq!(second.last("g")["reason"], "stopped");
}

#[test]
fn lines_are_counted_on_and_those_that_were_lost_can_be_told() {
    let server = serve("tcp", &[]);
    let mut first = server.connect();
    let token = keep(&mut first, json!({}));
    first.line(b"[]");
    assert_eq!(first.fault()["line"], 2);
    first.line(b"");
    first.ping();
    first.reset();
    let mut second = server.connect();
    // What comes before the `hello` is of the new connection.
    second.line(b"{}");
    let fault = second.fault();
    assert_eq!((&fault["seq"], &fault["line"]), (&json!(1), &json!(1)));
    let (mut second, promise) = come_back(second, &first, &token, last_seq(&first));
    assert_eq!(promise["lines"], 4, "with the blank one");
    second.line(b"[]");
    assert_eq!(second.fault()["line"], 6, "the hello was the fifth");
    let late = second.ask(&json!({ "id": "late", "cmd": "hello", "protocol": { "min": 1, "max": 1 } }));
    assert_eq!((&late["code"], &late["line"]), (&json!("handshake_repeated"), &json!(7)), "{late}");
}

#[test]
fn a_client_that_is_cut_off_again_and_again_gets_each_answer_once() {
    for (way, seed) in WAYS.into_iter().zip([7, 8]) {
        let server = serve(way, &[]);
        let mut random = Random::new(seed);
        let mut peer = server.connect();
        let token = keep(&mut peer, json!({}));
        // The lines of the connection, as far as the server has them.
        let mut sent = vec![Value::Null];
        for round in 0..25 {
            for number in 0..random.below(8) {
                let id = format!("r{round}-{number}");
                let request = match random.below(4) {
                    0 => json!({ "id": id, "cmd": "inspect", "game": "isolation", "position": {} }),
                    1 => go(&id, json!({ "limit": { "nodes": 20_000 }, "queue": true })),
                    2 => json!({ "id": id, "cmd": "newgame", "session": "s", "game": "l-game" }),
                    _ => json!({ "id": id, "cmd": "ping" }),
                };
                peer.send(&request);
                sent.push(request);
            }
            if random.below(2) == 0 && sent.len() > 1 {
                let id = sent.last().unwrap()["id"].as_str().unwrap().to_owned();
                peer.wait("the last answer", |peer| !peer.is_open(&id));
            }
            // Now and then the server does not know that the socket is of no use any more.
            if random.below(3) > 0 {
                peer.reset();
            }
            let seq = last_seq(&peer);
            let mut next = server.connect();
            next.follow(&peer, seq);
            let id = format!("hello-{round}");
            let request = hello(&id, json!({ "resume": { "token": token, "seq": seq } }));
            let result = next.result(&request);
            let read = result["resume"]["lines"].as_u64().unwrap() as usize;
            assert!(read >= 1 && read <= sent.len(), "{read} of {} lines", sent.len());
            let lost = sent.split_off(read);
            sent.push(request);
            for request in lost {
                next.bytes(format!("{request}\n").as_bytes());
                sent.push(request);
            }
            peer = next;
        }
        // The ledger knows each request of all rounds, and takes no answer twice.
        peer.wait("all answers", |peer| peer.open() == 0);
        peer.ping();
    }
}

#[test]
fn nobody_is_waited_for_longer_than_promised() {
    for way in WAYS {
        let listen = format!("--{way}");
        let arguments = [&listen, "127.0.0.1:0", "--threads", "2", "--resume-ms", "700", "-v"];
        let server = Logged::start(&arguments, &[], 1);
        let mut watching = connect(&server, way);
        watching.hello(json!({}));
        // No more than the server allows, and no more than was asked for.
        for (asked, given) in [(u64::from(u32::MAX), 700), (50, 50)] {
            let mut first = connect(&server, way);
            let result = first.result(&hello("hello", json!({ "resume": { "keep_ms": asked } })));
            assert_eq!(result["resume"]["keep_ms"], given, "{result}");
            assert_eq!(result["limits"]["resume_ms"], 700, "{result}");
            let token = result["resume"]["token"].as_str().unwrap();
            open(&mut first, "s");
            search(&mut first, &endless_go("g", json!({ "session": "s" })));
            first.reset();
            let line = server.wait_for("the socket broke; the connection waits");
            assert!(line.contains(&format!("keep_ms={given}")), "{line}");
            server.wait_for("the client did not come back in time");
            until(&mut watching, &json!({ "searches": 0, "sessions": 0 }));
            let refused = connect(&server, way).ask(&again(token, last_seq(&first)));
            assert_eq!(refused["code"], "resume_unknown", "{refused}");
        }
        let counters = until(&mut watching, &json!({}))["counters"].clone();
        assert_eq!(
            (&counters["cancelled"], &counters["connections_dropped"]),
            (&json!(2), &json!(2)),
            "{way}"
        );
    }
}

#[test]
fn what_is_not_kept_any_more_is_a_gap_that_the_client_hears_of() {
    let server = serve("tcp", &["--resume-mb", "1"]);
    let mut first = server.connect();
    let token = keep(&mut first, json!({}));
    open(&mut first, "s");
    let mut bytes = 0;
    while bytes < 3 << 20 {
        let schema = first.result(&json!({ "id": format!("d{bytes}"), "cmd": "describe", "what": "schema" }));
        bytes += schema.to_string().len();
    }
    first.reset();
    let last = last_seq(&first);
    let mut socket = server.socket();
    let mut lines = BufReader::new(socket.try_clone().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    for seq in [0, 1, 2] {
        writeln!(socket, "{}", again(&token, seq)).unwrap();
        let error = next();
        assert_eq!(
            (&error["code"], &error["pointer"], &error["fatal"]),
            (&json!("resume_gap"), &json!("/resume/seq"), &json!(false)),
            "{error}"
        );
    }
    // Without a number comes what there is, and the numbers say what is missing.
    writeln!(socket, "{}", hello("again", json!({ "resume": { "token": token } }))).unwrap();
    let mut came = vec![next()];
    while came.last().unwrap()["id"] != "again" {
        came.push(next());
    }
    let result = came.pop().unwrap();
    assert_eq!((&result["type"], &result["seq"]), (&json!("result"), &json!(last + 1)), "{result}");
    let missed = &first.log[first.log.len() - came.len()..];
    assert!(came.iter().map(timeless).eq(missed.iter().map(timeless)));
    let kept: usize = came.iter().map(|message| message.to_string().len()).sum();
    assert!(kept > 1 << 19 && kept <= 1 << 20, "{kept} bytes");
    writeln!(socket, "{}", json!({ "id": "c", "cmd": "close", "session": "s" })).unwrap();
    assert_eq!(next()["type"], "result");
}

#[test]
fn a_server_that_ends_waits_for_nobody() {
    for drain in ["0", "4000000000"] {
        let mut server = serve("tcp", &["--drain-ms", drain]);
        let mut away = server.connect();
        keep(&mut away, json!({ "client": { "name": "away" } }));
        search(&mut away, &endless_go("g", json!({})));
        let mut there = server.connect();
        keep(&mut there, json!({}));
        search(&mut there, &endless_go("g", json!({})));
        away.reset();
        until_kept(&mut there, "away");
        server.signal(Signal::TERM);
        there.notice("going_away");
        if drain != "0" {
            // Its search would go on for ever, and nobody could come back.
            there.reset();
        }
        assert!(server.exit().success());
    }
}

#[test]
fn without_the_flag_and_on_standard_streams_nothing_is_kept() {
    let asked = json!({ "resume": { "keep_ms": 60_000 } });
    let (_greeted, mut stdio) = Server::both(&["--resume-ms", LONG]);
    let off = Server::tcp(&[]);
    let mut plain = off.connect();
    for result in [stdio.hello(asked.clone()), plain.hello(asked)] {
        assert_eq!((result.get("resume"), result["limits"].get("resume_ms")), (None, None), "{result}");
        assert!(!texts(&result["features"]).contains(&"resume".to_owned()), "{result}");
    }
    let refused = off.connect().ask(&hello("x", json!({ "require": ["resume"] })));
    assert_eq!(refused["code"], "feature_unsupported", "{refused}");
    assert_eq!(off.connect().ask(&again("plyd_0123456789abcdef", 0))["code"], "resume_unknown");
    search(&mut plain, &endless_go("g", json!({})));
    plain.reset();
    let status = until(&mut off.greet(json!({})), &json!({ "searches": 0 }));
    assert_eq!(status["counters"]["cancelled"], 1, "{status}");
    // A process that started the server does not take up what belongs to a socket.
    let (server, mut stdio) = Server::both(&["--resume-ms", LONG]);
    let mut first = server.connect();
    let token = keep(&mut first, json!({}));
    assert_eq!(stdio.ask(&again(&token, 1))["code"], "resume_unknown");
    first.ping();
}
