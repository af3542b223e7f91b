//! Random requests without waiting, over several connections: each ends once, and no two messages contradict.

// The functions beside the tests are called by them alone.
use std::collections::{HashMap, HashSet};

use crate::common::{Peer, Random, Server, is_whole};
use serde_json::{Value, json};

/// The requests of the storm that a `stop` by their id ends, beside searches.
const QUESTIONS: [&str; 3] = ["newgame", "setoption", "inspect"];

/// A random request; it may be refused, but not for its form.
fn request(random: &mut Random, id: String, sent: usize) -> Value {
    let session = *random.pick(&["a", "b", "c"]);
    let target = format!("r{}", sent.saturating_sub(1 + random.below(12)));
    let few = ["d4", "b3", "f5"];
    let moves = &few[..random.below(4)];
    let mut request = match random.below(32) {
        0 => {
            json!({ "cmd": "newgame", "session": session, "game": random.pick(&["isolation", "isolation", "isolation", "isolation", "l-game"]) })
        }
        1 => json!({ "cmd": "close", "session": session }),
        2 => json!({ "cmd": "setoption", "session": session, "options": { "depth": 1 + random.below(20) } }),
        3 => json!({ "cmd": "inspect", "session": session, "position": { "moves": moves } }),
        4 => json!({ "cmd": "ping", "echo": "x" }),
        5 => json!({ "cmd": "stop", "target": target }),
        6 => json!({ "cmd": "stop", "session": session, "discard": random.below(2) == 0 }),
        7 => json!({ "cmd": "stop", "target": target, "discard": true }),
        8 => {
            json!({ "cmd": "update", "target": target, "mode": "move", "clock": { "kind": "per_move", "ms": random.below(5) } })
        }
        9 => json!({ "cmd": "update", "target": target, "limit": { "nodes": 1 + random.below(2000) } }),
        _ => {
            let ends = match random.below(12) {
                0 => json!({ "clock": { "kind": "none" } }),
                1 => json!({ "mode": "ponder" }),
                2 => json!({ "mode": "analyse" }),
                3 => json!({ "mode": "analyse", "hard_ms": random.below(8) }),
                4 => json!({ "clock": { "kind": "anytime" } }),
                5..8 => json!({ "clock": { "kind": "per_move", "ms": random.below(6) } }),
                _ => json!({ "limit": { "nodes": 1 + random.below(5000) } }),
            };
            let mut go = json!({ "cmd": "go", "position": { "moves": moves }, "queue": random.below(3) > 0,
                "info": { "events": ["started", "best", "progress"] } });
            if random.below(4) == 0 {
                go["game"] = json!("isolation");
            } else {
                go["session"] = json!(session);
            }
            go.as_object_mut().unwrap().extend(ends.as_object().unwrap().clone());
            go
        }
    };
    request["id"] = json!(id);
    request
}

/// The number of a request in the order of sending.
fn number(id: &str) -> usize {
    id[1..].parse().unwrap()
}

/// Whether a `close` or a `newgame` of a search's session was sent between the search and another request,
/// and took effect.
fn is_closed_before(
    target: &str,
    id: &str,
    requests: &HashMap<String, Value>,
    finals: &HashMap<&str, &Value>,
) -> bool {
    let session = &requests[target]["session"];
    let mut between = (number(target) + 1..number(id)).map(|number| format!("r{number}"));
    session.is_string()
        && between.any(|id| {
            let request = &requests[&id];
            ["close", "newgame"].iter().any(|cmd| request["cmd"] == *cmd)
                && request["session"] == *session
                && finals[id.as_str()]["type"] == "result"
        })
}

/// Checks what the messages say of each other.
fn check(peer: &Peer, requests: &HashMap<String, Value>) {
    let mut finals: HashMap<&str, &Value> = HashMap::new();
    for message in peer.log.iter().filter(|message| message["type"] != "info") {
        finals.insert(message["id"].as_str().unwrap_or_else(|| panic!("{message}")), message);
    }
    for (id, request) in requests {
        let last = finals.get(id.as_str()).unwrap_or_else(|| panic!("no final message: {request}"));
        match last["type"].as_str().unwrap() {
            "bestmove" => assert_eq!(request["cmd"], "go", "{request} -> {last}"),
            "result" => assert_eq!(request["cmd"], last["of"], "{request} -> {last}"),
            _ => {
                let refusals = [
                    "session_unknown",
                    "session_busy",
                    "overloaded",
                    "illegal_move",
                    "cancelled",
                    "missing_field",
                    "game_over",
                ];
                // Where the machine stands still for long enough, a position is not read in time.
                let is_late =
                    last["code"] == "unprepared" && (request["cmd"] == "go" || request["cmd"] == "inspect");
                assert!(is_late || refusals.contains(&last["code"].as_str().unwrap()), "{request} -> {last}");
            }
        }
        for target in last["targets"].as_array().into_iter().flatten() {
            let end = finals[target.as_str().unwrap()];
            assert!(end["seq"].as_u64() > last["seq"].as_u64(), "{last} but {end}");
            // A go that proves bad while it is read ends in its error, and one whose session is being closed
            // when the stop comes ends for that. A question is answered where that takes no time.
            let is_due = match (&requests[target.as_str().unwrap()]["cmd"], end["reason"].as_str()) {
                (_, None) if end["type"] == "error" => true,
                (go, Some("closed")) if go == "go" => {
                    is_closed_before(target.as_str().unwrap(), id, requests, &finals)
                }
                (go, reason) if go == "go" => reason == Some("stopped"),
                (cmd, _) => QUESTIONS.iter().any(|question| cmd == question) && end["type"] == "result",
            };
            assert!(is_due, "{request} -> {last} but {end}");
        }
        if last["effect"] == "already_finished" && request.get("target").is_some() {
            let end = finals[request["target"].as_str().unwrap()];
            assert!(end["seq"].as_u64() < last["seq"].as_u64(), "{last} but {end}");
        }
        if let Some(by) = last["superseded_by"].as_str() {
            let first = peer.log.iter().find(|message| message["id"] == by).unwrap();
            assert!(first["seq"].as_u64() > last["seq"].as_u64(), "{last} but {first}");
        }
    }
}

#[test]
fn a_storm_of_requests_ends_each_once() {
    let mut reasons = HashSet::new();
    for threads in ["1", "4"] {
        let mut server = Server::tcp(&["--threads", threads, "--hash-mb", "256"]);
        let mut random = Random::new(17);
        let mut peers: Vec<(Peer, HashMap<String, Value>)> =
            (0..3).map(|_| (server.greet(json!({ "on_eof": "stop" })), HashMap::new())).collect();
        for (peer, _) in &mut peers {
            for session in ["a", "b", "c"] {
                let newgame = json!({ "id": "n", "cmd": "newgame", "session": session, "game": "isolation" });
                peer.result(&newgame);
            }
        }
        for round in 0..if is_whole() { 150 } else { 50 } {
            for (peer, sent) in &mut peers {
                let burst: Vec<Value> = (0..1 + random.below(12))
                    .map(|_| {
                        let id = format!("r{}", sent.len());
                        let request = request(&mut random, id.clone(), sent.len());
                        sent.insert(id, request.clone());
                        request
                    })
                    .collect();
                peer.send_all(&burst);
                if round % 4 == 0 {
                    peer.ping();
                }
                // Far below the limit of requests in flight.
                if peer.open() > 60 {
                    peer.send(&json!({ "id": "all", "cmd": "stop", "all": true }));
                    peer.wait("the end of all", |peer| peer.open() == 0);
                }
            }
        }
        for (peer, sent) in &mut peers {
            peer.end_input();
            peer.closed();
            assert_eq!(peer.open(), 0);
            check(peer, sent);
            reasons
                .extend(peer.log.iter().filter_map(|message| Some(message["reason"].as_str()?.to_owned())));
        }
        let mut watcher = server.greet(json!({}));
        let mut status = watcher.result(&json!({ "id": "t", "cmd": "status" }));
        while status["searches"] != 0 {
            status = watcher.result(&json!({ "id": "t", "cmd": "status" }));
        }
        assert_eq!((&status["sessions"], &status["counters"]["failed"]), (&json!(0), &json!(0)), "{status}");
        assert_eq!(status["counters"]["abandoned"], 0, "{status}");
        assert!(server.runs());
    }
    for reason in ["clock", "limit", "stopped", "superseded", "closed"] {
        assert!(reasons.contains(reason), "the storm was too weak: {reasons:?}");
    }
}
