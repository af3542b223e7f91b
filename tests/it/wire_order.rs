//! Order and races of a connection: what each message may follow, and who wins when two things happen at
//! once.

// The functions beside the tests are called by them alone.
use crate::common::{Random, Server, endless, go, open, place, stop};
use serde_json::{Value, json};

/// The request under another id.
fn with_id(request: &Value, id: &str) -> Value {
    let mut request = request.clone();
    request["id"] = json!(id);
    request
}

/// Whether the move is legal at the start of the big board, where any cell is.
fn is_cell(mv: &Value) -> bool {
    let text = mv.as_str().unwrap();
    let (column, row) = text.split_at(1);
    ("a"..="k").contains(&column) && (1..=9).contains(&row.parse::<u32>().unwrap())
}

#[test]
fn stops_at_random_moments_are_decided_once() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let mut random = Random::new(1);
    let sessions = ["a", "b", "c"];
    for session in sessions {
        open(&mut peer, session);
    }
    let (mut stopping, mut finished) = (0, 0);
    for round in 0..300 {
        let id = format!("g{round}");
        let mut fields = match random.below(6) {
            0 => json!({ "limit": { "nodes": 1 + random.below(20_000) } }),
            1 => json!({ "clock": { "kind": "per_move", "ms": random.below(4) } }),
            2 => json!({ "limit": { "depth": 1 + random.below(4) } }),
            3 => json!({ "clock": { "kind": "anytime" } }),
            4 => json!({ "mode": "analyse", "limit": { "nodes": 1 + random.below(50_000) } }),
            _ => json!({ "mode": "ponder", "limit": { "time_ms": random.below(3) } }),
        };
        let session = (random.below(4) > 0).then(|| *random.pick(&sessions));
        if let Some(session) = session {
            fields["session"] = json!(session);
        }
        let request = go(&id, fields);
        let by_session = session.filter(|_| random.below(2) == 0);
        let halt = match by_session {
            Some(session) => json!({ "id": "s", "cmd": "stop", "session": session }),
            None => json!({ "id": "s", "cmd": "stop", "target": id }),
        };
        let waits = random.below(100);
        if waits < 10 {
            peer.send_all(&[request, halt]);
        } else {
            peer.send(&request);
            for _ in 10..waits {
                peer.ping();
            }
            peer.send(&halt);
        }
        let result = peer.last("s");
        let best = peer.last(&id);
        assert_eq!(best["type"], "bestmove", "{best}");
        assert!(is_cell(&best["move"]), "{best}");
        let (result_at, best_at) = (place(&peer, "s"), place(&peer, &id));
        match result["effect"].as_str().unwrap() {
            "stopping" => {
                assert!(result_at < best_at, "{result} {best}");
                assert_eq!(best["reason"], "stopped", "{result} {best}");
                assert_eq!(result["targets"], json!([id]));
                stopping += 1;
            }
            "already_finished" => {
                assert!(best_at < result_at, "{result} {best}");
                assert_ne!(best["reason"], "stopped", "{result} {best}");
                assert_eq!(result["targets"], json!([]));
                finished += 1;
            }
            effect => panic!("{effect}: {result}"),
        }
    }
    assert!(stopping >= 40 && finished >= 40, "the moments are not spread: {stopping} and {finished}");
}

#[test]
fn a_stop_right_behind_its_go_gets_a_legal_move() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    open(&mut peer, "s");
    for (round, fields) in [
        json!({ "session": "s", "clock": endless() }),
        json!({ "session": "s", "mode": "ponder" }),
        json!({ "mode": "analyse" }),
        json!({ "clock": { "kind": "anytime" } }),
        json!({ "session": "s", "clock": { "kind": "per_move", "ms": 60_000 }, "queue": true }),
    ]
    .iter()
    .cycle()
    .take(50)
    .enumerate()
    {
        let id = format!("g{round}");
        peer.send_all(&[go(&id, fields.clone()), stop(&id)]);
        let result = peer.last(&format!("stop-{id}"));
        assert_eq!((&result["effect"], &result["targets"]), (&json!("stopping"), &json!([id])), "{result}");
        let best = peer.last(&id);
        assert_eq!(best["reason"], "stopped", "{best}");
        assert!(is_cell(&best["move"]), "{best}");
    }
}

#[test]
fn discard_ends_in_an_error() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    open(&mut peer, "s");
    for (fields, selector) in [
        (json!({ "clock": endless() }), json!({ "target": "g" })),
        (json!({ "session": "s", "mode": "ponder" }), json!({ "session": "s" })),
        (json!({ "mode": "analyse" }), json!({ "all": true })),
    ] {
        peer.send(&go("g", fields));
        let mut halt = json!({ "id": "s", "cmd": "stop", "discard": true });
        halt.as_object_mut().unwrap().extend(selector.as_object().unwrap().clone());
        let result = peer.result(&halt);
        assert_eq!((&result["effect"], &result["targets"]), (&json!("stopping"), &json!(["g"])), "{result}");
        let error = peer.last("g");
        assert_eq!((&error["code"], &error["fatal"]), (&json!("cancelled"), &json!(false)), "{error}");
        assert!(place(&peer, "s") < place(&peer, "g"));
        let again = peer.result(&stop("g"));
        assert_eq!(
            (&again["effect"], &again["targets"]),
            (&json!("already_finished"), &json!([])),
            "{again}"
        );
    }
    // The session is as good as before.
    let best = peer.best(&go("g", json!({ "session": "s", "limit": { "nodes": 100 } })));
    assert_eq!(best["reason"], "limit", "{best}");
}

#[test]
fn stop_names_what_it_ends() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    open(&mut peer, "s");
    let selectors = [json!({ "all": true }), json!({ "session": "s" })];
    for selector in &selectors {
        let mut idle = selector.clone();
        idle["id"] = json!("s");
        idle["cmd"] = json!("stop");
        let result = peer.result(&idle);
        assert_eq!(
            (&result["effect"], &result["targets"]),
            (&json!("already_finished"), &json!([])),
            "{result}"
        );
    }
    assert_eq!(peer.result(&stop("never"))["effect"], "unknown");
    peer.send(&go("a", json!({ "session": "s", "clock": endless() })));
    peer.send(&go("b", json!({ "session": "s", "clock": endless(), "queue": true })));
    peer.send(&go("c", json!({ "clock": endless() })));
    peer.send(&go("d", json!({ "clock": endless() })));
    assert_eq!(peer.result(&stop("d"))["targets"], json!(["d"]));
    peer.wait("the end of d", |peer| !peer.is_open("d"));
    let mut result = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }))["targets"].clone();
    result.as_array_mut().unwrap().sort_by_key(Value::to_string);
    assert_eq!(result, json!(["a", "b", "c"]));
    for id in ["a", "b", "c", "d"] {
        assert_eq!(peer.last(id)["reason"], "stopped", "{id}");
    }
}

#[test]
fn the_last_finished_ids_are_remembered() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let update = |target: &str| json!({ "id": "u", "cmd": "update", "target": target, "hard_ms": 5 });
    for round in 0..1200 {
        peer.best(&go(&format!("g{round}"), json!({ "limit": { "nodes": 1 }, "info": { "events": [] } })));
    }
    for (id, effect) in
        [("g0", "unknown"), ("g100", "unknown"), ("g1000", "already_finished"), ("g1199", "already_finished")]
    {
        assert_eq!(peer.result(&stop(id))["effect"], effect, "{id}");
        assert_eq!(peer.result(&update(id))["effect"], effect, "{id}");
    }
    assert_eq!(peer.result(&update("never"))["effect"], "unknown");
}

#[test]
fn update_changes_a_running_search() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    open(&mut peer, "s");
    let short = json!({ "kind": "per_move", "ms": 15 });
    // The go's fields, the update's, and why the search then ends.
    for (fields, change, reason) in [
        (json!({ "mode": "ponder" }), json!({ "mode": "move", "clock": short }), "clock"),
        (json!({ "mode": "ponder", "clock": short }), json!({ "mode": "move" }), "clock"),
        (
            json!({ "mode": "ponder" }),
            json!({ "mode": "move", "clock": { "kind": "per_move", "ms": 0 } }),
            "clock",
        ),
        (json!({ "mode": "ponder" }), json!({ "mode": "move", "limit": { "nodes": 10 } }), "limit"),
        (json!({ "mode": "analyse" }), json!({ "mode": "move", "clock": short }), "clock"),
        (json!({ "mode": "analyse" }), json!({ "limit": { "time_ms": 5 } }), "limit"),
        (json!({ "mode": "analyse" }), json!({ "hard_ms": 5 }), "deadline"),
        (json!({ "clock": endless() }), json!({ "clock": short }), "clock"),
        (json!({ "clock": endless() }), json!({ "mode": "move", "limit": { "depth": 1 } }), "limit"),
        (json!({ "clock": { "kind": "per_move", "ms": 600_000 } }), json!({ "clock": short }), "clock"),
        (json!({ "clock": { "kind": "anytime" } }), json!({ "hard_ms": 0 }), "deadline"),
    ] {
        for session in [None, Some("s")] {
            let mut fields = fields.clone();
            if let Some(session) = session {
                fields["session"] = json!(session);
            }
            let mut change = change.clone();
            change["id"] = json!("u");
            change["cmd"] = json!("update");
            change["target"] = json!("g");
            peer.send(&go("g", fields.clone()));
            peer.ping();
            let result = peer.result(&change);
            assert_eq!(result["effect"], "updated", "{fields} {change}");
            let best = peer.last("g");
            assert_eq!(best["reason"], reason, "{fields} {change} {best}");
            assert!(place(&peer, "u") < place(&peer, "g"));
            assert_eq!(peer.result(&change)["effect"], "already_finished", "{fields} {change}");
        }
    }
}

#[test]
fn a_ponderhit_needs_a_clock_from_somewhere() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    peer.send(&go("g", json!({ "mode": "ponder" })));
    for change in [json!({}), json!({ "limit": {} }), json!({ "hard_ms": 50_000 })] {
        let mut change = change;
        change["id"] = json!("u");
        change["cmd"] = json!("update");
        change["target"] = json!("g");
        change["mode"] = json!("move");
        let error = peer.ask(&change);
        assert_eq!(
            (&error["code"], &error["pointer"]),
            (&json!("missing_field"), &json!("/clock")),
            "{error}"
        );
    }
    assert!(peer.is_open("g"), "a refused update changes nothing");
    peer.result(&stop("g"));
    assert_eq!(peer.last("g")["reason"], "stopped");
}

#[test]
fn questions_are_answered_in_order_beside_a_search() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    peer.send(&go("g", json!({ "clock": endless(), "options": { "threads": 2 } })));
    peer.info("g", "started");
    let mut requests = Vec::new();
    for round in 0..200 {
        requests.push(match round % 5 {
            0 => json!({ "cmd": "ping", "echo": "x" }),
            1 => json!({ "cmd": "status" }),
            2 => json!({ "cmd": "inspect", "game": "l-game", "position": {}, "want": ["legal"] }),
            3 => json!({ "cmd": "describe", "what": "options" }),
            _ => json!({ "cmd": "stop", "target": "never" }),
        });
        requests[round]["id"] = json!(format!("q{round}"));
    }
    peer.send_all(&requests);
    for round in 0..200 {
        assert_eq!(peer.last(&format!("q{round}"))["type"], "result");
    }
    // What needs no rules is answered ahead of what does; each of the two in its order.
    for at_once in [true, false] {
        let order: Vec<&str> = peer
            .log
            .iter()
            .filter(|message| message["type"] == "result")
            .filter(|message| {
                ["ping", "status", "stop"].contains(&message["of"].as_str().unwrap()) == at_once
            })
            .map(|message| message["id"].as_str().unwrap())
            .collect();
        let mut sorted = order.clone();
        sorted.sort_by_key(|id| id[1..].parse::<u32>().unwrap());
        assert_eq!(order, sorted);
    }
    assert!(peer.is_open("g"));
}

#[test]
fn requests_of_a_session_take_effect_in_the_order_of_their_lines() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let newgame = json!({ "id": "n", "cmd": "newgame", "session": "s", "game": "isolation", "rules": { "preset": "11x9" } });
    let set = json!({ "id": "o", "cmd": "setoption", "session": "s", "options": { "player": "random" } });
    let close = json!({ "id": "c", "cmd": "close", "session": "s" });
    let halt = json!({ "id": "h", "cmd": "stop", "session": "s" });
    for _ in 0..20 {
        // Nothing is waited for between these lines.
        let inspect =
            json!({ "id": "i", "cmd": "inspect", "session": "s", "position": {}, "want": ["legal"] });
        let go = go("g", json!({ "session": "s", "clock": endless() }));
        peer.send_all(&[newgame.clone(), inspect.clone(), go.clone(), halt.clone()]);
        assert_eq!(peer.last("n")["type"], "result");
        assert_eq!(peer.last("i")["legal"].as_array().unwrap().len(), 99);
        let result = peer.last("h");
        assert_eq!((&result["effect"], &result["targets"]), (&json!("stopping"), &json!(["g"])), "{result}");
        assert_eq!(peer.last("g")["reason"], "stopped");
        let again = with_id(&newgame, "again");
        peer.send_all(&[newgame.clone(), go.clone(), set.clone(), close.clone(), inspect, again]);
        assert_eq!(peer.last("o")["options"]["player"], "random");
        assert_eq!(peer.last("g")["reason"], "closed");
        assert_eq!(peer.last("c")["type"], "result");
        assert_eq!(peer.last("i")["code"], "session_unknown");
        assert_eq!(peer.last("n")["type"], "result");
        assert_eq!(peer.last("again")["type"], "result");
    }
}
