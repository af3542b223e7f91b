//! Searches whose first iteration takes longer than their clocks.

// The functions beside the tests are called by them alone.
use crate::common::{Peer, Server, endless, go, with};
use serde_json::{Value, json};

/// A position whose many moves keep this player busy for most of a second in its first iteration. Without a
/// deadline its only iteration never ends.
fn question() -> Value {
    json!({ "game": "sudoku", "rules": { "m": 5, "n": 5 }, "options": { "player": "minimax", "depth": 30 } })
}

/// The warnings about a request, with their places.
fn warnings<'a>(peer: &'a Peer, id: &str) -> Vec<&'a Value> {
    let is_it =
        |message: &&Value| message["type"] == "notice" && message["kind"] == "warning" && message["id"] == id;
    peer.log.iter().filter(is_it).collect()
}

#[test]
fn a_first_iteration_that_is_not_complete_in_time_gives_its_best_move_so_far_or_a_warning() {
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let question = question();
    let ask = json!({ "id": "i", "cmd": "inspect", "game": question["game"], "rules": question["rules"],
        "position": {}, "want": ["legal"] });
    let legal = peer.result(&ask)["legal"].clone();
    for reason in ["clock", "limit", "deadline"] {
        // Other programs may take so short a time from it that it does not even begin.
        let has_begun = (0..40).any(|round| {
            // From too short to begin to long enough to complete it, on slow machines and quick ones.
            let ms = 10 + 4 * round;
            let fields = match reason {
                "clock" => json!({ "clock": { "kind": "per_move", "ms": ms } }),
                "limit" => json!({ "limit": { "time_ms": ms } }),
                _ => json!({ "clock": endless(), "hard_ms": ms }),
            };
            let id = format!("{reason}-{round}");
            // Nothing but its time ends it.
            let best = peer.best(&with(go(&id, fields), &question));
            assert_eq!(best["reason"], json!(reason), "{best}");
            assert!(legal.as_array().unwrap().contains(&best["move"]), "{best}");
            let is_searched = best["lines"][0]["depth"] != json!(0);
            let warnings = warnings(&peer, &id);
            assert_eq!(warnings.len(), usize::from(!is_searched), "{best} after {warnings:?}");
            let is_before = |warning: &&Value| warning["seq"].as_u64() < best["seq"].as_u64();
            assert!(warnings.iter().all(is_before), "{warnings:?} behind {best}");
            // The best of the moves that it came to.
            is_searched && best["stats"]["depth"] == json!(0)
        });
        assert!(has_begun, "{reason}: no search of {question} began");
    }
}

/// The extra: it keeps its core for 100 ms beyond its minimum of 10 ms, whoever else waits for turns.
#[test]
fn a_first_iteration_that_is_not_complete_keeps_its_core() {
    let others = 40;
    let question = question();
    let (_server, mut peer) = Server::stdio(&["--threads", "1"]);
    let nodes = |best: &Value| best["stats"]["nodes"].as_u64().unwrap();
    // Without the extra it has its minimum and one turn in 41, about a twentieth of the time; with it more
    // than a quarter. Other programs may take more of the core from some than from others, but not again and
    // again.
    let mut shares = Vec::new();
    for round in 0..10 {
        let other = |index: usize| format!("other{round}-{index}");
        for index in 0..others {
            peer.send(&with(go(&other(index), json!({ "limit": { "nodes": 1_u64 << 52 } })), &question));
        }
        peer.info(&other(0), "best");
        let id = format!("slow{round}");
        let best =
            peer.best(&with(go(&id, json!({ "clock": { "kind": "per_move", "ms": 400 } })), &question));
        let before: u64 = nodes(&best);
        peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }));
        peer.wait("all best moves", |peer| peer.open() == 0);
        let beside: u64 = (0..others).map(|index| nodes(&peer.last(&other(index)))).sum();
        shares.push(100 * before / (before + beside).max(1));
        if shares.last() >= Some(&15) {
            return;
        }
    }
    panic!("it had these parts of the nodes, in percent: {shares:?}");
}
