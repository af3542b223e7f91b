//! What a client that is known by name may have: each of its limits counts over all its connections, and over
//! those of no other client.

// The functions beside the tests are called by them alone.

use crate::common::{go, open, stop, until, with};
use crate::identity::{Clients, endless_go, greet, hello, search};
use serde_json::json;

#[test]
fn connections_of_a_client_are_counted_together_and_those_of_others_apart() {
    let clients = Clients::new("connections");
    let alice = clients.add("alice", &["--connections", "2"]);
    let bob = clients.add("bob", &["--connections", "1"]);
    let server = clients.serve(&[]);
    let (mut first, mut second) = (greet(&server, &alice), server.connect());
    let limits = second.hello(json!({ "token": alice }))["limits"].clone();
    assert_eq!(limits["client"], json!({ "name": "alice", "role": "play", "connections": 2 }), "{limits}");
    let mut third = server.connect();
    let refused = third.ask(&hello(Some(&alice)));
    let wanted = [json!("too_many_connections"), json!("client.connections"), json!(true)];
    assert_eq!(["code", "limit", "fatal"].map(|field| refused[field].clone()), wanted, "{refused}");
    assert!(refused["retry_ms"].is_u64() && refused["message"].as_str().unwrap().contains("2 connections"));
    third.closed();
    greet(&server, &bob).ping();
    // Who leaves makes room.
    drop(second);
    until("its place is free", || server.connect().ask(&hello(Some(&alice)))["type"] == "result");
    first.ping();
}

#[test]
fn sessions_of_a_client_are_counted_over_its_connections() {
    let clients = Clients::new("sessions");
    let (alice, bob) = (clients.add("alice", &["--sessions", "3"]), clients.add("bob", &[]));
    let server = clients.serve(&[]);
    let (mut first, mut second) = (greet(&server, &alice), greet(&server, &alice));
    open(&mut first, "a");
    open(&mut first, "b");
    open(&mut second, "a");
    let new = json!({ "id": "more", "cmd": "newgame", "session": "more", "game": "isolation" });
    for peer in [&mut first, &mut second] {
        let refused = peer.ask(&new);
        assert_eq!(refused["code"], "too_many_sessions", "{refused}");
        assert!(refused["message"].as_str().unwrap().contains("3 sessions"), "{refused}");
        // One that is open may be reset.
        open(peer, "a");
    }
    open(&mut greet(&server, &bob), "more");
    first.result(&json!({ "id": "c", "cmd": "close", "session": "b" }));
    open(&mut second, "more");
    drop(second);
    until("its session is gone", || first.ask(&new)["type"] == "result");
}

#[test]
fn searches_and_threads_of_a_client_are_counted_over_its_connections() {
    for (limits, held) in [
        (&["--searches", "2"][..], json!({})),
        (&["--threads", "2"], json!({})),
        (&["--threads", "2", "--searches", "9"], json!({ "options": { "threads": 9 } })),
    ] {
        let clients = Clients::new("searches");
        let rights = [limits, &["--role", "analyse"]].concat();
        let (alice, bob) = (clients.add("alice", &rights), clients.add("bob", &[]));
        let server = clients.serve(&["--threads", "4"]);
        let (mut first, mut second) = (greet(&server, &alice), greet(&server, &alice));
        open(&mut first, "s");
        // One search with all the threads, or two with one each.
        search(&mut first, &endless_go("a", with(json!({ "session": "s" }), &held)));
        if held == json!({}) {
            search(&mut second, &endless_go("b", json!({ "mode": "analyse" })));
        }
        let small = json!({ "limit": { "nodes": 100 } });
        for mode in ["move", "ponder", "analyse"] {
            let mut more = go("more", small.clone());
            more["mode"] = mode.into();
            let refused = second.ask(&more);
            assert_eq!(refused["code"], "overloaded", "{limits:?}: {refused}");
            assert!(refused["retry_ms"].is_u64(), "{refused}");
            assert!(refused["message"].as_str().unwrap().contains("client"), "{refused}");
        }
        greet(&server, &bob).best(&go("other", small.clone()));
        // It may wait, and starts once there is room.
        second.send(&go("waits", json!({ "limit": { "nodes": 100 }, "queue": true })));
        second.ping();
        assert!(second.is_open("waits"), "{limits:?}");
        first.send(&stop("a"));
        assert_eq!(second.last("waits")["type"], "bestmove", "{limits:?}");
        assert_eq!(first.last("a")["reason"], "stopped");
    }
}

#[test]
fn a_search_that_takes_the_place_of_another_needs_no_further_one() {
    let clients = Clients::new("superseded");
    let alice = clients.add("alice", &["--searches", "1", "--threads", "1", "--role", "analyse"]);
    let server = clients.serve(&["--threads", "2"]);
    let mut peer = greet(&server, &alice);
    open(&mut peer, "s");
    for round in 0..3 {
        let id = format!("a{round}");
        search(&mut peer, &endless_go(&id, json!({ "session": "s", "mode": "analyse" })));
    }
    peer.best(&go("m", json!({ "session": "s", "limit": { "nodes": 100 } })));
    for round in 0..3 {
        assert_eq!(peer.last(&format!("a{round}"))["reason"], "superseded");
    }
}

#[test]
fn options_are_bounded_by_what_the_client_may_have() {
    let clients = Clients::new("options");
    let alice = clients.add("alice", &["--threads", "2", "--memory-mb", "8"]);
    let (bob, carol) = (clients.add("bob", &[]), clients.add("carol", &["--role", "operate"]));
    let server = clients.serve(&["--threads", "3", "--hash-mb", "512"]);
    let wanted = json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation",
        "options": { "threads": 3, "hash_mb": 256 } });
    for (token, threads, hash_mb) in [(&alice, 2, 8), (&bob, 3, 256)] {
        let options = greet(&server, token).result(&wanted)["options"].clone();
        assert_eq!((&options["threads"], &options["hash_mb"]), (&json!(threads), &json!(hash_mb)));
    }
    // The tables of two connections together stay within it, while the server has far more.
    let (mut first, mut second) = (greet(&server, &alice), greet(&server, &alice));
    for peer in [&mut first, &mut second] {
        search(peer, &endless_go("g", json!({ "options": { "hash_mb": 256 } })));
        peer.info("g", "best");
    }
    let bytes = greet(&server, &carol).result(&json!({ "id": "t", "cmd": "status" }))["hash_bytes"].clone();
    assert_eq!(bytes, (4 + 2) << 20, "half of what is left each time");
}

#[test]
fn what_sessions_and_requests_of_a_client_hold_is_bounded_over_its_connections() {
    let clients = Clients::new("memory");
    let (alice, bob) = (clients.add("alice", &["--memory-mb", "1"]), clients.add("bob", &[]));
    let server = clients.serve(&["--threads", "2"]);
    let mut peers = [greet(&server, &alice), greet(&server, &alice)];
    // Some 16 KiB each, less than half of them on each connection.
    let new = |number: usize| json!({ "id": format!("n{number}"), "cmd": "newgame", "session": format!("s{number}"), "game": "l-game" });
    let full = (0..64).find(|number| {
        let answer = peers[number % 2].ask(&new(*number));
        assert!(answer["type"] == "result" || answer["code"] == "too_many_sessions", "{answer}");
        answer["type"] == "error"
    });
    let full = full.expect("1 MiB does not hold 64 sessions");
    assert!(full > 40, "{full} sessions are few");
    peers[0].result(&json!({ "id": "c", "cmd": "close", "session": "s0" }));
    peers[full % 2].result(&new(full));

    for number in 1..=full {
        peers[number % 2].result(&json!({ "id": "c", "cmd": "close", "session": format!("s{number}") }));
    }

    // Requests that wait for a search occupy what they have until it ends; two of these are too many.
    let [mut first, mut second] = peers;
    let large = |id: &str| {
        let list = vec!["a1"; 10_000];
        go(id, json!({ "session": "s", "queue": true, "limit": { "nodes": 100 }, "excludemoves": list }))
    };
    for peer in [&mut first, &mut second] {
        open(peer, "s");
        search(peer, &endless_go("g", json!({ "session": "s" })));
    }
    first.send(&large("kept"));
    first.ping();
    let refused = second.ask(&large("refused"));
    assert_eq!(refused["code"], "too_many_requests", "{refused}");
    assert!(refused["retry_ms"].is_u64(), "{refused}");
    let mut other = greet(&server, &bob);
    open(&mut other, "s");
    other.best(&large("other"));
    for peer in [&mut first, &mut second] {
        peer.result(&stop("g"));
    }
    assert_eq!(first.last("kept")["type"], "bestmove");
    second.best(&large("kept"));
}
