//! SIGTERM with `--drain-ms`: what was taken in goes on, nothing else begins, and who insists need not wait.

use std::net::TcpStream;
use std::time::Instant;

use crate::common::{Logged, Peer, Server, TIMEOUT, endless, go, open, process, stop};
use rustix::process::Signal;
use serde_json::{Value, json};

/// Longer than any test lasts: what ends before that was not ended by it.
const FOR_EVER: &str = "4000000000";

/// Waits until nobody listens there any more.
fn refused(server: &Server) {
    let end = Instant::now() + TIMEOUT;
    while TcpStream::connect(server.address()).is_ok() {
        assert!(Instant::now() < end, "it listens still");
    }
}

fn shutting_down(peer: &mut Peer, request: &Value) {
    let error = peer.ask(request);
    assert_eq!((&error["code"], &error["fatal"]), (&json!("shutting_down"), &json!(false)), "{error}");
    assert!(error["message"].as_str().unwrap().contains("connect again"), "{error}");
}

/// Where the notice of the end stands among all messages.
fn announced(peer: &Peer) -> usize {
    peer.log.iter().position(|message| message["kind"] == "going_away").expect("a notice")
}

/// A service that was asked to end, and waits for the search `g` of a client.
fn ending() -> (Logged, Peer) {
    let daemon = Logged::start(&["--tcp", "127.0.0.1:0", "--drain-ms", FOR_EVER], &[], 1);
    let mut peer = daemon.greet(json!({}));
    peer.send(&go("g", json!({ "clock": endless() })));
    peer.info("g", "started");
    process::signal(&daemon.process, Signal::TERM);
    (daemon, peer)
}

#[test]
fn the_log_of_a_service_says_that_it_ends_and_what_it_waits_for() {
    let (daemon, mut peer) = ending();
    daemon.wait_for("ending, as a signal asks: 1 search may go on for 4000000s");
    peer.result(&stop("g"));
    let lines = daemon.rest();
    assert!(lines.last().is_some_and(|line| line.ends_with(" ended")), "{lines:?}");
    let quiet = Logged::start(&["--tcp", "127.0.0.1:0"], &[], 1).end();
    assert!(quiet.iter().any(|line| line.contains("no search is in flight")), "{quiet:?}");
}

#[test]
fn a_second_signal_that_loses_a_search_is_a_warning() {
    let (daemon, mut peer) = ending();
    peer.notice("going_away");
    process::signal(&daemon.process, Signal::TERM);
    let lines = daemon.rest();
    let is_warning =
        |line: &String| line.contains("WARN") && line.contains("ending at once; 1 search gets no answer");
    assert!(lines.iter().any(is_warning), "{lines:?}");
}

#[test]
fn searches_in_flight_go_on_to_their_own_end() {
    let (mut server, mut stdio) = Server::both(&["--threads", "16", "--drain-ms", FOR_EVER]);
    assert_eq!(stdio.hello(json!({}))["limits"]["drain_ms"], 4_000_000_000_u64);
    let mut peer = server.greet(json!({}));
    let mut idle = server.greet(json!({}));
    open(&mut peer, "q");
    for (id, fields) in [
        ("endless", json!({ "clock": endless() })),
        ("ponder", json!({ "mode": "ponder" })),
        ("first", json!({ "session": "q", "clock": endless() })),
    ] {
        peer.send(&go(id, fields));
        peer.info(id, "started");
    }
    // Begins only when the other is over.
    peer.send(&go("queued", json!({ "session": "q", "queue": true, "limit": { "nodes": 2000 } })));
    peer.ping();
    server.signal(Signal::TERM);
    peer.notice("going_away");
    idle.notice("going_away");
    refused(&server);
    // Nothing new begins, and whoever asks learns what to do.
    shutting_down(&mut peer, &go("late", json!({ "limit": { "nodes": 1 } })));
    shutting_down(&mut peer, &json!({ "id": "n", "cmd": "newgame", "session": "r", "game": "isolation" }));
    shutting_down(&mut idle, &json!({ "id": "i", "cmd": "inspect", "game": "isolation", "position": {} }));
    // What is in flight can be asked after, changed and stopped.
    peer.ping();
    idle.ping();
    idle.result(&json!({ "id": "s", "cmd": "status" }));
    let clock = json!({ "kind": "per_move", "ms": 30 });
    let update = json!({ "id": "u", "cmd": "update", "target": "ponder", "mode": "move", "clock": clock });
    assert_eq!(peer.result(&update)["effect"], "updated");
    assert_eq!(peer.last("ponder")["reason"], "clock");
    for (id, reason) in [("first", "stopped"), ("queued", "limit"), ("endless", "stopped")] {
        if reason == "stopped" {
            assert_eq!(peer.result(&stop(id))["effect"], "stopping");
        }
        assert_eq!(peer.last(id)["reason"], reason, "{id}");
    }
    // Then there is nothing more to wait for.
    for peer in [&mut peer, &mut idle, &mut stdio] {
        peer.closed();
        assert_eq!(peer.open(), 0);
    }
    assert!(server.exit().success());
}

#[test]
fn clients_hear_of_the_end_before_anything_else_happens() {
    let (mut server, mut stdio) = Server::both(&["--threads", "16", "--drain-ms", "300"]);
    let mut peer = server.greet(json!({}));
    for peer in [&mut peer, &mut stdio] {
        for (id, fields) in [
            ("endless", json!({ "clock": endless() })),
            ("long", json!({ "clock": { "kind": "per_move", "ms": 1_000_000_000 } })),
            ("analysis", json!({ "mode": "analyse" })),
        ] {
            peer.send(&go(id, fields));
            peer.info(id, "started");
        }
    }
    server.signal(Signal::TERM);
    for peer in [&mut peer, &mut stdio] {
        peer.closed();
        assert_eq!(peer.open(), 0);
        let notice = announced(peer);
        let message = peer.log[notice]["message"].as_str().unwrap();
        assert!(message.contains("300 ms"), "{message}");
        for id in ["endless", "long", "analysis"] {
            let place = peer.log.iter().rposition(|message| message["id"] == id).unwrap();
            let best = &peer.log[place];
            assert_eq!((&best["type"], &best["reason"]), (&json!("bestmove"), &json!("shutdown")), "{best}");
            assert!(place > notice, "{best}");
        }
    }
    assert!(server.exit().success());
}

#[test]
fn an_idle_daemon_ends_at_once_and_a_second_signal_ends_a_busy_one() {
    let mut idle = Server::tcp(&["--drain-ms", FOR_EVER]);
    let mut peer = idle.greet(json!({}));
    idle.signal(Signal::TERM);
    peer.closed();
    peer.notice("going_away");
    assert!(idle.exit().success());
    let mut busy = Server::tcp(&["--drain-ms", FOR_EVER]);
    let mut peer = busy.greet(json!({}));
    peer.send(&go("g", json!({ "clock": endless() })));
    peer.info("g", "started");
    busy.signal(Signal::TERM);
    peer.notice("going_away");
    assert!(busy.runs());
    busy.signal(Signal::TERM);
    assert!(busy.exit().success());
}

#[test]
fn a_connection_that_ends_within_the_drain_is_not_waited_for() {
    let mut server = Server::tcp(&["--drain-ms", FOR_EVER]);
    let mut peer = server.greet(json!({ "on_eof": "stop" }));
    let mut gone = server.greet(json!({ "on_eof": "cancel" }));
    for peer in [&mut peer, &mut gone] {
        peer.send(&go("g", json!({ "clock": endless() })));
        peer.info("g", "started");
    }
    server.signal(Signal::TERM);
    for peer in [&mut peer, &mut gone] {
        peer.notice("going_away");
        peer.end_input();
        peer.closed();
    }
    assert_eq!(peer.last("g")["reason"], "stopped");
    assert_eq!(gone.last("g")["code"], "cancelled");
    assert!(server.exit().success());
}

#[test]
fn conform_checks_a_server_that_drains() {
    let checks = ["terminate", "interrupt", "hangup"].map(|name| format!("--only=ends/{name}"));
    let server = ["--", process::PLYD, "serve", "--drain-ms", FOR_EVER];
    let arguments = ["conform"].into_iter().chain(checks.iter().map(String::as_str)).chain(server);
    let output = process::output(process::plyd(arguments));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("3 passed"), "{said}");
}
