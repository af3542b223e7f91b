//! When searches end and what they report until then, through the wire alone: clocks, limits, reasons, infos.

use crate::common::{Server, with};
use crate::wire_search::check_best;
use serde_json::{Value, json};

#[test]
fn every_clock_and_limit_answers() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let rules = json!({ "game": "isolation", "rules": { "preset": "11x9" } });
    let position = json!({ "moves": ["f5", "c4"] });
    let far = 9_007_199_254_740_991_i64;
    for (fields, reason) in [
        (json!({ "clock": { "kind": "per_move", "ms": 20 } }), "clock"),
        (json!({ "clock": { "kind": "per_move", "ms": 0 } }), "clock"),
        (json!({ "clock": { "kind": "per_move", "ms": -50 } }), "clock"),
        (json!({ "clock": { "kind": "per_move", "ms": -far } }), "clock"),
        (json!({ "clock": { "kind": "increment", "me_ms": 200, "inc_ms": 0 } }), "clock"),
        (json!({ "clock": { "kind": "increment", "me_ms": 0, "inc_ms": 0 } }), "clock"),
        (json!({ "clock": { "kind": "increment", "me_ms": -1, "opp_ms": -1, "inc_ms": 5 } }), "clock"),
        (
            json!({ "clock": { "kind": "increment", "me_ms": 100, "opp_ms": 90, "inc_ms": 1, "opp_inc_ms": 2,
            "moves_to_go": 3 } }),
            "clock",
        ),
        (json!({ "clock": { "kind": "delay", "me_ms": 100, "delay_ms": 10 } }), "clock"),
        (json!({ "clock": { "kind": "delay", "me_ms": 0, "opp_ms": 5, "delay_ms": 0 } }), "clock"),
        (json!({ "clock": { "kind": "delay", "me_ms": -9, "delay_ms": 30 } }), "clock"),
        (json!({ "clock": { "kind": "bank", "turn_ms": 20, "bank_ms": 100 } }), "clock"),
        (json!({ "clock": { "kind": "bank", "turn_ms": 0, "bank_ms": 0 } }), "clock"),
        (json!({ "clock": { "kind": "bank", "turn_ms": -5, "bank_ms": -5 } }), "clock"),
        (json!({ "clock": { "kind": "per_move", "ms": 60_000 }, "elapsed_ms": 59_990 }), "clock"),
        (json!({ "clock": { "kind": "per_move", "ms": 60_000 }, "overhead_ms": 59_990 }), "clock"),
        (
            json!({ "clock": { "kind": "per_move", "ms": 10 }, "elapsed_ms": far, "overhead_ms": far }),
            "clock",
        ),
        (
            json!({ "clock": { "kind": "bank", "turn_ms": far, "bank_ms": far }, "limit": { "nodes": 10 } }),
            "limit",
        ),
        (
            json!({ "clock": { "kind": "increment", "me_ms": far, "inc_ms": far, "moves_to_go": 1 }, "hard_ms": far,
                "limit": { "nodes": 10 }, "info": { "min_interval_ms": far } }),
            "limit",
        ),
        (json!({ "clock": { "kind": "none" }, "hard_ms": 20 }), "deadline"),
        (json!({ "clock": { "kind": "none" }, "hard_ms": 0 }), "deadline"),
        (json!({ "clock": { "kind": "per_move", "ms": far }, "hard_ms": 20 }), "deadline"),
        (json!({ "clock": { "kind": "anytime", "hint_ms": 5 }, "hard_ms": 20 }), "deadline"),
        (json!({ "mode": "analyse", "hard_ms": 20 }), "deadline"),
        (json!({ "mode": "ponder", "limit": { "nodes": 500 } }), "limit"),
        (json!({ "limit": { "time_ms": 15 } }), "limit"),
        (json!({ "limit": { "time_ms": 0 } }), "limit"),
        (json!({ "limit": { "nodes": 1 } }), "limit"),
        (json!({ "limit": { "nodes": far, "depth": 2 } }), "limit"),
        (json!({ "limit": { "depth": 1 }, "clock": { "kind": "none" } }), "limit"),
        (
            json!({ "limit": { "depth": 1000, "time_ms": 15 }, "clock": { "kind": "per_move", "ms": far } }),
            "limit",
        ),
    ] {
        let request = json!({ "id": "g", "cmd": "go", "position": position });
        let request = with(with(request, &rules), &fields);
        let best = peer.best(&request);
        assert_eq!(best["reason"], reason, "{request} -> {best}");
        check_best(&mut peer, &rules, &position, &best, &request);
    }
}

#[test]
fn limits_are_kept() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let go = |limit: Value| {
        json!({ "id": "g", "cmd": "go", "game": "isolation", "rules": { "preset": "11x9" }, "limit": limit,
            "position": { "moves": ["f5", "d4"] } })
    };
    for nodes in [1, 10, 1000, 1025, 50_000] {
        let best = peer.best(&go(json!({ "nodes": nodes })));
        assert!(best["stats"]["nodes"].as_u64().unwrap() <= nodes, "{nodes}: {best}");
    }
    for depth in [1, 2, 5] {
        let best = peer.best(&go(json!({ "depth": depth })));
        assert_eq!(best["lines"][0]["depth"], depth, "{best}");
    }
}

#[test]
fn an_unknown_deadline_gets_every_better_move() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let rules = json!({ "game": "isolation", "rules": { "preset": "11x9" } });
    for info in [
        json!({}),
        json!({ "info": { "events": [] } }),
        json!({ "info": { "events": [], "min_interval_ms": 60_000 } }),
    ] {
        let request =
            json!({ "id": "g", "cmd": "go", "position": {}, "clock": { "kind": "anytime", "hint_ms": 1 } });
        let before = peer.log.len();
        peer.send(&with(with(request, &rules), &info));
        for _ in 0..50 {
            peer.ping();
        }
        peer.wait("a best", |peer| peer.log[before..].iter().any(|message| message["event"] == "best"));
        assert!(peer.is_open("g"), "it goes on until it is stopped");
        peer.result(&json!({ "id": "s", "cmd": "stop", "target": "g" }));
        let best = peer.last("g");
        assert_eq!(best["reason"], "stopped", "{best}");
        let better: Vec<&Value> =
            peer.log[before..].iter().filter(|message| message["event"] == "best").collect();
        assert_eq!(better.last().unwrap()["move"], best["move"], "the last better move was sent: {best}");
    }
}

#[test]
fn infos_come_as_asked() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    for (info, allowed) in [
        (json!({}), vec!["best"]),
        (json!({ "events": [] }), vec![]),
        (json!({ "events": ["started"] }), vec!["started"]),
        (json!({ "events": ["progress", "started"] }), vec!["progress", "started"]),
        (json!({ "events": ["best", "best"], "min_interval_ms": 60_000 }), vec!["best"]),
    ] {
        let before = peer.log.len();
        peer.best(&json!({ "id": "g", "cmd": "go", "game": "isolation", "position": {}, "info": info,
            "rules": { "preset": "11x9" }, "limit": { "nodes": 100_000 } }));
        let events: Vec<&str> = peer.log[before..]
            .iter()
            .filter(|m| m["type"] == "info")
            .map(|m| m["event"].as_str().unwrap())
            .collect();
        assert!(events.iter().all(|event| allowed.contains(event)), "{info}: {events:?}");
        for event in &allowed {
            assert!(events.contains(event), "{info}: {events:?}");
        }
        if info.get("min_interval_ms").is_some() {
            assert_eq!(events.len(), 1, "{info}: {events:?}");
        }
        if allowed.contains(&"started") {
            assert_eq!(events[0], "started", "{info}: {events:?}");
            assert_eq!(events.iter().filter(|event| **event == "started").count(), 1);
        }
    }
}

#[test]
fn one_move_is_played_at_once_in_mode_move_only() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    let rows = [
        "...........",
        "...........",
        "...........",
        "...........",
        "...........",
        "...........",
        "2..........",
    ];
    let start = format!("1........../..x......../{} 1", rows.join("/"));
    let go = |fields: Value| {
        with(json!({ "id": "g", "cmd": "go", "game": "isolation", "position": { "start": start } }), &fields)
    };
    for clock in [json!({ "kind": "none" }), json!({ "kind": "per_move", "ms": 600_000 })] {
        let best = peer.best(&go(json!({ "clock": clock })));
        assert_eq!((&best["reason"], &best["move"]), (&json!("only_move"), &json!("b3")), "{best}");
        assert_eq!(best["lines"].as_array().unwrap().len(), 1, "{best}");
    }
    for mode in ["analyse", "ponder"] {
        let best = peer.best(&go(json!({ "mode": mode, "limit": { "nodes": 3000 } })));
        assert_eq!((&best["reason"], &best["move"]), (&json!("limit"), &json!("b3")), "{best}");
    }
}

#[test]
fn a_solved_position_ends_every_search_at_once() {
    let (_server, mut peer) = Server::stdio(&["--threads", "2"]);
    for fields in [
        json!({ "mode": "ponder" }),
        json!({ "mode": "analyse" }),
        json!({ "clock": { "kind": "none" } }),
        json!({ "clock": { "kind": "anytime" } }),
        json!({ "clock": { "kind": "per_move", "ms": 600_000 } }),
        json!({ "mode": "analyse", "multipv": 3 }),
    ] {
        for (rules, moves) in [
            (json!({ "game": "l-game" }), json!([])),
            (json!({ "game": "isolation", "rules": { "width": 4, "height": 4 } }), json!(["a1", "d3"])),
        ] {
            let request = json!({ "id": "g", "cmd": "go", "position": { "moves": moves } });
            let request = with(with(request, &rules), &fields);
            let best = peer.best(&request);
            assert_eq!(best["reason"], "proven", "{request} -> {best}");
            for line in best["lines"].as_array().unwrap() {
                assert!(line["score"]["proof"].is_object(), "{request} -> {best}");
            }
        }
    }
}
