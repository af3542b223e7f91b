//! A search for a move with a deadline is a real search by every player: its first iteration is complete.
//!
//! The deadlines are far away and each search is stopped once it has an answer of depth 1, so that nothing
//! here depends on how busy the machine is.

use crate::common::{Peer, Server, endless, stop, with};
use crate::games::games;
use serde_json::{Value, json};

/// Far above what a first iteration takes.
const FAR_MS: u64 = 3_600_000;

/// Rules beside the usual ones: boards whose iterations take long.
const LARGE: &[(&str, &[(&str, &str)])] = &[
    ("isolation", &[("preset", "11x9")]),
    ("colosseum", &[("size", "12")]),
    ("sudoku", &[("m", "4"), ("n", "4")]),
    ("sudoku", &[("m", "5"), ("n", "5")]),
];

/// Players that do not look ahead, as the specification says.
const BLIND: &[&str] = &["random"];

/// All kinds of deadlines.
fn deadlines() -> [Value; 4] {
    [
        json!({ "clock": { "kind": "per_move", "ms": FAR_MS } }),
        json!({ "clock": { "kind": "increment", "me_ms": FAR_MS, "inc_ms": 0 } }),
        json!({ "limit": { "time_ms": FAR_MS } }),
        json!({ "clock": endless(), "hard_ms": FAR_MS }),
    ]
}

fn rules(game: &str) -> Vec<Value> {
    let large = LARGE.iter().filter(|(name, _)| *name == game).map(|(_, rules)| {
        let value = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number));
        rules.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect::<Value>()
    });
    std::iter::once(json!({})).chain(large).collect()
}

/// Whether the message is of the request and has a line that was searched, or is proven.
fn is_searched(message: &Value, id: &str) -> bool {
    let line = &message["lines"][0];
    message["id"] == id && (line["depth"].as_u64() >= Some(1) || line["score"].get("proof").is_some())
}

/// Waits until a `go` is searched or over, ends it, and gives its answer.
fn answer(peer: &mut Peer, go: &Value) -> Value {
    let id = go["id"].as_str().unwrap();
    let before = peer.log.len();
    peer.send(go);
    peer.wait(&format!("answer of depth 1 to {go}"), |peer| {
        !peer.is_open(id) || peer.log[before..].iter().any(|message| is_searched(message, id))
    });
    peer.result(&stop(id));
    let best = peer.last(id);
    let warned = peer.log[before..].iter().filter(|message| message["kind"] == "warning").count();
    assert_eq!((&best["type"], warned), (&json!("bestmove"), 0), "{go} -> {best}");
    best
}

#[test]
fn every_player_has_searched_a_ply_when_its_deadline_comes() {
    let (_server, mut peer) = Server::stdio(&[]);
    let mut asked = 0;
    for game in games() {
        let described =
            peer.result(&json!({ "id": "d", "cmd": "describe", "what": "game", "game": game.name }));
        let players: Vec<String> = described["body"]["players"]
            .as_array()
            .unwrap()
            .iter()
            .map(|player| player["name"].as_str().unwrap().to_owned())
            .collect();
        for (rules, player) in rules(game.name).iter().flat_map(|it| players.iter().map(move |of| (it, of))) {
            for deadline in deadlines() {
                asked += 1;
                let go = json!({
                    "id": format!("g{asked}"), "cmd": "go", "game": game.name, "rules": rules, "position": {},
                    "options": { "player": player, "hash_mb": 1 }, "info": { "events": ["best"] },
                });
                let best = answer(&mut peer, &with(go, &deadline));
                let is_blind = BLIND.contains(&player.as_str()) || best["reason"] == "only_move";
                assert!(is_blind || is_searched(&best, best["id"].as_str().unwrap()), "{player}: {best}");
            }
        }
    }
    assert!(asked > 0);
}

#[test]
fn a_search_that_gets_its_deadline_later_has_searched_a_ply_too() {
    let (_server, mut peer) = Server::stdio(&[]);
    for game in games() {
        for player in ["minimax", "alphabeta"] {
            let go = json!({
                "id": "g", "cmd": "go", "game": game.name, "position": {}, "mode": "ponder",
                // More than any of them gets through.
                "options": { "player": player, "depth": 30, "hash_mb": 1 }, "info": { "events": ["started", "best"] },
            });
            peer.send(&go);
            peer.wait("the start", |peer| {
                peer.log.iter().any(|message| message["id"] == "g" && message["event"] == "started")
            });
            let update = json!({
                "id": "u", "cmd": "update", "target": "g", "mode": "move",
                "clock": { "kind": "per_move", "ms": FAR_MS },
            });
            peer.result(&update);
            peer.wait("answer of depth 1", |peer| {
                !peer.is_open("g") || peer.log.iter().any(|message| is_searched(message, "g"))
            });
            peer.result(&stop("g"));
            let best = peer.last("g");
            assert!(is_searched(&best, "g"), "{player}: {best}");
            peer.log.clear();
        }
    }
}
