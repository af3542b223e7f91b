//! Sessions and cores: who waits, who is refused, and whose search ends for whose.

// The functions beside the tests are called by them alone.
use crate::common::{Server, endless, first_place, go, open, place, stop};
use serde_json::{Value, json};

#[test]
fn a_session_that_searches_a_move_is_busy_or_has_a_queue() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    open(&mut peer, "s");
    let mover = |id: &str, fields: Value| {
        let mut all = json!({ "session": "s", "clock": endless() });
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        go(id, all)
    };
    peer.send(&mover("a", json!({})));
    for mode in ["move", "analyse", "ponder"] {
        assert_eq!(peer.ask(&mover("b", json!({ "mode": mode })))["code"], "session_busy", "{mode}");
    }
    peer.send(&mover("c", json!({ "queue": true })));
    peer.send(&mover("d", json!({ "queue": true, "clock": { "kind": "per_move", "ms": 20 } })));
    peer.send(&mover("e", json!({ "queue": true })));
    // A stop takes one out of the queue; it answers a move all the same.
    peer.result(&stop("c"));
    let best = peer.last("c");
    assert_eq!(best["reason"], "stopped", "{best}");
    assert!(["a", "d", "e"].iter().all(|id| peer.is_open(id)));
    let result =
        peer.result(&json!({ "id": "u", "cmd": "update", "target": "e", "limit": { "nodes": 3000 } }));
    assert_eq!(result["effect"], "updated", "{result}");
    // A clock in the queue has not started: `d` gets its time once `a` has ended.
    peer.result(&stop("a"));
    assert_eq!(peer.last("a")["reason"], "stopped");
    assert_eq!(peer.last("d")["reason"], "clock");
    assert_eq!(peer.last("e")["reason"], "limit");
    assert!(place(&peer, "a") < first_place(&peer, "d"));
    assert!(place(&peer, "d") < first_place(&peer, "e"));
}

#[test]
fn a_go_supersedes_what_ponders_or_analyses() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    open(&mut peer, "s");
    let mut round = 0;
    for mode in ["ponder", "analyse"] {
        for next in
            [json!({ "limit": { "nodes": 500 } }), json!({ "mode": "ponder" }), json!({ "mode": "analyse" })]
        {
            for started in [false, true] {
                round += 1;
                let (old, new) = (format!("old{round}"), format!("new{round}"));
                let mut next = next.clone();
                next["session"] = json!("s");
                next["position"] = json!({ "moves": ["d4", "b3"] });
                peer.send(&go(&old, json!({ "session": "s", "mode": mode })));
                if started {
                    peer.info(&old, "started");
                }
                peer.send(&go(&new, next));
                let best = peer.last(&old);
                assert_eq!(
                    (&best["reason"], &best["superseded_by"]),
                    (&json!("superseded"), &json!(new)),
                    "{best}"
                );
                peer.info(&new, "started");
                assert!(place(&peer, &old) < first_place(&peer, &new));
                peer.result(&json!({ "id": "s", "cmd": "stop", "session": "s" }));
                assert_eq!(peer.last(&new)["type"], "bestmove");
            }
        }
    }
}

#[test]
fn a_go_that_is_refused_supersedes_nothing() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    open(&mut peer, "s");
    peer.send(&go("ponder", json!({ "session": "s", "mode": "ponder" })));
    peer.info("ponder", "started");
    for (fields, code) in [
        (json!({ "position": { "moves": ["a1", "a1"] } }), "illegal_move"),
        (json!({ "position": { "start": "?" } }), "bad_position"),
        (json!({ "position": { "start": "1xx/xxx/xx2 1" } }), "illegal_position"),
        (json!({ "searchmoves": ["z1"] }), "illegal_move"),
        (json!({ "options": { "player": "nobody" } }), "option_invalid"),
    ] {
        let mut fields = fields;
        fields["session"] = json!("s");
        fields["limit"] = json!({ "nodes": 100 });
        let error = peer.ask(&go("g", fields));
        assert_eq!(error["code"], code, "{error}");
        assert!(peer.is_open("ponder"), "ended by {error}");
    }
    let result = peer.result(&json!({ "id": "u", "cmd": "update", "target": "ponder", "mode": "move",
        "clock": { "kind": "per_move", "ms": 5 } }));
    assert_eq!(result["effect"], "updated", "{result}");
    assert_eq!(peer.last("ponder")["reason"], "clock");
}

#[test]
fn close_and_newgame_end_the_search_first() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    for fields in [json!({ "clock": endless() }), json!({ "mode": "ponder" }), json!({ "mode": "analyse" })] {
        for end in [
            json!({ "id": "end", "cmd": "close", "session": "s" }),
            json!({ "id": "end", "cmd": "newgame", "session": "s", "game": "l-game" }),
        ] {
            for started in [true, false] {
                open(&mut peer, "s");
                let mut fields = fields.clone();
                fields["session"] = json!("s");
                peer.send(&go("g", fields));
                if started {
                    peer.info("g", "started");
                }
                peer.result(&end);
                let best = peer.last("g");
                assert_eq!(
                    (&best["type"], &best["reason"]),
                    (&json!("bestmove"), &json!("closed")),
                    "{end} {best}"
                );
                assert!(place(&peer, "g") < place(&peer, "end"), "{end}");
            }
        }
    }
    // What waits for the session ends with it, too.
    open(&mut peer, "s");
    peer.send(&go("a", json!({ "session": "s", "clock": endless() })));
    peer.send(&go("b", json!({ "session": "s", "clock": endless(), "queue": true })));
    peer.result(&json!({ "id": "end", "cmd": "close", "session": "s" }));
    for id in ["a", "b"] {
        assert_eq!(peer.last(id)["reason"], "closed", "{id}");
        assert!(place(&peer, id) < place(&peer, "end"), "{id}");
    }
}

#[test]
fn a_move_takes_the_slot_of_an_analysis() {
    for mode in ["analyse", "ponder"] {
        let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
        open(&mut peer, "s");
        peer.send(&go("old", json!({ "session": "s", "mode": mode })));
        peer.info("old", "started");
        peer.send(&go("new", json!({ "clock": endless() })));
        let best = peer.last("old");
        assert_eq!(
            (&best["reason"], &best["superseded_by"]),
            (&json!("superseded"), &json!("new")),
            "{best}"
        );
        peer.info("new", "started");
        assert!(place(&peer, "old") < first_place(&peer, "new"));
        // No core for a further analysis; one that waits gets it.
        for mode in ["analyse", "ponder"] {
            let error = peer.ask(&go("no", json!({ "mode": mode })));
            assert_eq!((&error["code"], &error["fatal"]), (&json!("overloaded"), &json!(false)), "{error}");
        }
        peer.send(&go("waits", json!({ "mode": mode, "queue": true })));
        // A further move runs beside the first.
        let beside = peer.best(&go("beside", json!({ "limit": { "nodes": 5000 } })));
        assert_eq!(beside["reason"], "limit", "{beside}");
        assert!(peer.is_open("new") && peer.is_open("waits"));
        peer.result(&stop("new"));
        assert_eq!(peer.last("new")["reason"], "stopped");
        peer.info("waits", "started");
        assert!(place(&peer, "new") < first_place(&peer, "waits"));
        peer.result(&stop("waits"));
        assert_eq!(peer.last("waits")["reason"], "stopped");
    }
}

#[test]
fn cores_are_shared_by_connections() {
    let server = Server::tcp(&["--threads", "1"]);
    let (mut first, mut second) = (server.greet(json!({})), server.greet(json!({})));
    first.send(&go("g", json!({ "mode": "analyse" })));
    first.info("g", "started");
    assert_eq!(second.ask(&go("g", json!({ "mode": "analyse" })))["code"], "overloaded");
    // Ids belong to their connection: this is another `g`, and nobody else's to stop.
    assert_eq!(second.result(&stop("g"))["effect"], "already_finished");
    assert_eq!(second.result(&json!({ "id": "s", "cmd": "stop", "all": true }))["targets"], json!([]));
    assert!(first.is_open("g"));
    assert_eq!(second.best(&go("m", json!({ "limit": { "nodes": 100 } })))["reason"], "limit");
    let best = first.last("g");
    assert_eq!((&best["type"], &best["reason"]), (&json!("bestmove"), &json!("superseded")), "{best}");
    // Moves run beside each other, however many.
    for round in 0..8 {
        let peer = if round % 2 == 0 { &mut first } else { &mut second };
        peer.send(&go(&format!("m{round}"), json!({ "clock": endless() })));
    }
    for round in 0..8 {
        let peer = if round % 2 == 0 { &mut first } else { &mut second };
        peer.info(&format!("m{round}"), "best");
    }
    for peer in [&mut first, &mut second] {
        let result = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
        assert_eq!(result["targets"].as_array().unwrap().len(), 4, "{result}");
        peer.wait("all best moves", |peer| peer.open() == 0);
    }
}
