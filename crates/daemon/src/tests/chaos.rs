//! Any order of events: each `go` ends in exactly one final message, and nothing is left over.

use std::collections::{HashMap, HashSet};

use plyd_protocol::Role;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::script::Stage;
use crate::config::clients::{Client, ClientLimits, TokenHash};

/// What can happen, by number; `pick` chooses among what there is.
fn happen(stage: &mut Stage, event: u8, pick: u8, number: usize) -> Option<String> {
    let name = format!("g{number}");
    let session = format!("s{}", pick % 2);
    let target = format!("g{}", usize::from(pick) % (number + 1));
    let mode = ["move", "analyse", "ponder"][usize::from(pick) % 3];
    let start = if pick.is_multiple_of(5) { "20" } else { "0" };
    let go = json!({
        "id": name, "cmd": "go", "position": { "start": start }, "mode": mode,
        "clock": { "kind": "per_move", "ms": u32::from(pick) % 50 }, "queue": pick.is_multiple_of(4),
        "options": { "threads": 1 + pick % 2 },
    });
    let with = |mut go: Value, field: &str, value: &str| {
        go[field] = value.into();
        go
    };
    let request = match event % 14 {
        0..=2 => with(go, "session", &session),
        3 => with(go, "game", "counting"),
        4 => json!({ "id": "x", "cmd": "newgame", "session": session, "game": "counting" }),
        5 => json!({ "id": "x", "cmd": "close", "session": session }),
        6 => json!({ "id": "x", "cmd": "stop", "target": target, "discard": pick.is_multiple_of(2) }),
        7 => json!({ "id": "x", "cmd": "update", "target": target, "mode": "move", "hard_ms": pick }),
        8 => json!({ "id": "x", "cmd": "stop", "session": session }),
        9 => {
            stage.hold = true;
            return None;
        }
        10 => {
            stage.hold = false;
            stage.prepare();
            return None;
        }
        11 => {
            stage.wait(u64::from(pick) * 3);
            return None;
        }
        12 => {
            stage.take_orders();
            let mut running: Vec<_> = stage.running.keys().copied().collect();
            running.sort_unstable();
            if let Some(job) = running.get(usize::from(pick) % running.len().max(1)) {
                stage.publish_to(*job, "+2", u32::from(pick));
            }
            return None;
        }
        _ => {
            stage.take_orders();
            let mut running: Vec<_> = stage.running.keys().copied().collect();
            running.sort_unstable();
            if let Some(job) = running.get(usize::from(pick) % running.len().max(1)) {
                stage.return_from(*job, ["proven", "limit", "clock", "panic"][usize::from(pick) % 4]);
            }
            return None;
        }
    };
    stage.request(&request.to_string());
    (request["cmd"] == "go").then_some(name)
}

proptest! {
    #[test]
    fn every_go_ends_once(
        events in prop::collection::vec((any::<u8>(), any::<u8>()), 0..80),
        searches in prop::option::of(1..4_u32),
        is_known: bool,
    ) {
        let mut stage = Stage::new();
        if is_known {
            let limits = ClientLimits { searches, threads: Some(2), sessions: Some(1), ..ClientLimits::default() };
            let client = Client { name: "a".into(), token: TokenHash::of("a"), role: Role::Analyse, limits };
            stage.state.become_client(stage.conn, client);
        }
        let (mut asked, mut messages) = (Vec::new(), Vec::new());
        for (event, pick) in events {
            asked.extend(happen(&mut stage, event, pick, asked.len()));
            messages.extend(std::iter::from_fn(|| stage.next()));
        }
        stage.hold = false;
        stage.prepare();
        stage.request(r#"{"id":"end","cmd":"stop","all":true}"#);
        // Longer than any deadline: a thread that has not come back by now is given up.
        for _ in 0..20 {
            messages.extend(std::iter::from_fn(|| stage.next()));
            stage.wait(1000);
        }
        stage.take_orders();
        let running: Vec<_> = stage.running.keys().copied().collect();
        for job in running {
            stage.return_from(job, "stopped");
        }
        messages.extend(std::iter::from_fn(|| stage.next()));
        let (mut finals, mut warned): (HashMap<String, usize>, HashSet<String>) = Default::default();
        for (message, seq) in messages.iter().zip(1_u64..) {
            prop_assert_eq!(message["seq"].as_u64(), Some(seq));
            let Some(id) = message["id"].as_str() else { continue };
            if message["type"] == "notice" {
                warned.insert(id.to_owned());
            }
            if message["type"] == "info" || message["type"] == "notice" {
                prop_assert!(!finals.contains_key(id), "news after the end: {}", message);
            } else {
                if message["type"] == "bestmove" {
                    prop_assert!(message["lines"][0]["move"] == message["move"], "{}", message);
                    let has_run_out = message["reason"] == "clock" || message["reason"] == "deadline";
                    let is_unsearched = has_run_out && message["lines"][0]["depth"] == 0;
                    prop_assert!(!is_unsearched || warned.contains(id), "a silent answer: {}", message);
                }
                *finals.entry(id.to_owned()).or_default() += 1;
            }
        }
        for name in &asked {
            prop_assert_eq!(finals.get(name), Some(&1), "{}", name);
        }
        let status = stage.state.status(stage.now_ns);
        prop_assert_eq!((status.searches, status.threads), (0, 0));
        stage.state.drop_conn(stage.conn, stage.now_ns, false);
        prop_assert!(stage.state.clients_hold_nothing());
    }
}
