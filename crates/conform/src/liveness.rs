//! Liveness: nothing that a client sends or leaves undone stops the server from answering.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::figures;
use super::referee::Root;
use super::requests::{endless, go, inspect, newgame, ping, session, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like, list, number};

/// The time within which a server must close a connection whose peer does not read: `stalled_ms`, and as much
/// more as a busy machine may take to fill the allowance of unsent bytes.
const STALLED: Duration = Duration::from_secs(40);

pub(super) const CHECKS: &[Check] = &[
    Check::new("questions-while-searching", "only a `go` waits for a search", while_searching),
    Check::new("status", "`status` counts what runs", status),
    Check::new("load", "`status` reports the true uptime and load", figures::load),
    Check::new("counters", "the counters of `status` grow with each thing done", figures::counters),
    Check::new("garbage", "lines of arbitrary bytes do not end the connection", garbage),
    Check::new("bad-lines", "a thousand bad lines get an error each", bad_lines),
    Check::new("pings", "five thousand pings at once are answered in order", pings),
    Check::new("slow-reader", "a slow reader misses no final message", slow_reader),
    Check::new("never-reads", "only a peer that never reads is cut off", never_reads),
    Check::new(
        "requests",
        "requests beyond the limit are `too_many_requests`, and stop is still taken",
        requests,
    ),
    Check::new("sessions", "sessions beyond the limit are `too_many_sessions`", sessions),
    Check::new("tables", "no search is refused for want of memory", tables),
    Check::new("history", "a game of a thousand plies is searched", history),
    Check::new("gone", "the searches of a peer that has left are cancelled", gone),
];

fn while_searching(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    let threads = number(&peer.hello["limits"], "threads")?.min(256);
    peer.send(&go("g", &session("s"), with(endless(), &json!({ "options": { "threads": threads } }))))?;
    peer.info("g", "started")?;
    for round in 0..10 {
        for (id, request) in [
            ("p", json!({ "cmd": "ping" })),
            ("t", json!({ "cmd": "status" })),
            ("i", inspect("", &game, &json!({}), &["legal", "hash", "board"])),
            ("is", inspect("", &session("s"), &json!({}), &["legal", "moves"])),
            ("d", json!({ "cmd": "describe", "what": "game", "game": game["game"] })),
            ("n", newgame("other", &game, json!({}))),
            ("o", json!({ "cmd": "setoption", "session": "s", "options": {} })),
        ] {
            peer.result(&with(request, &json!({ "id": format!("{id}{round}") })))?;
        }
    }
    holds(peer.is_open("g"), "the search goes on", || "it ended".into())
}

fn status(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    peer.send(&go("g", &session("s"), endless()))?;
    peer.info("g", "started")?;
    let result = peer.result(&json!({ "id": "t", "cmd": "status" }))?;
    for name in ["searches", "sessions", "threads"] {
        holds(number(&result, name)? >= 1, format!("at least 1 in `{name}`"), || result.to_string())?;
    }
    number(&result, "hash_bytes")?;
    let later = peer.result(&json!({ "id": "u", "cmd": "status" }))?;
    let (before, after) = (number(&result, "uptime_ms")?, number(&later, "uptime_ms")?);
    holds(result["counters"].is_object() && before <= after, "counters, and a time that runs", || {
        later.to_string()
    })
}

/// Numbers that are equal in every run (Marsaglia's xorshift).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn garbage(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let mut noise = Noise(0x9e37_79b9_7f4a_7c15);
    for round in 0..30 {
        // What is no text ends a WebSocket.
        let highest = if trial.is_websocket() { 0x7f } else { 0xff };
        let line: Vec<u8> = (0..noise.next() % 300).map(|_| noise.next() as u8 & highest).collect();
        peer.send_line(&line)?;
        // A line with a changed byte; its id may still be read, and its answer does not matter.
        let mut line =
            go(&format!("x{round}"), &json!({ "game": "isolation" }), json!({ "limit": { "nodes": 1 } }))
                .to_string()
                .into_bytes();
        let at = noise.next() as usize % line.len();
        line[at] = noise.next() as u8 & highest;
        peer.send_line(&line)?;
        peer.ping()?;
    }
    Ok(())
}

fn bad_lines(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let before = peer.sent;
    for _ in 0..10 {
        peer.send_line("{".repeat(9).as_bytes())?;
        peer.send_line(vec!["[]"; 99].join("\n").as_bytes())?;
    }
    for line in before + 1..=before + 1000 {
        like(&peer.fault()?, &json!({ "line": line, "id": null, "fatal": false }))?;
    }
    peer.ping()
}

fn pings(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let requests: Vec<Value> = (0..5000).map(|n| ping(&format!("p{n}"))).collect();
    for part in requests.chunks(500) {
        peer.send_all(part)?;
    }
    for n in 0..5000 {
        like(&peer.any_final()?, &json!({ "type": "result", "id": format!("p{n}") }))?;
    }
    Ok(())
}

fn slow_reader(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let all = json!({ "info": { "events": ["started", "best", "progress"] }, "limit": { "nodes": 20_000 } });
    // The unread bytes stay below the limit at which a server may drop the connection.
    let echo = "e".repeat(1000);
    let mut ids = Vec::new();
    for part in 0..10 {
        let search = format!("g{part}");
        peer.send(&go(&search, &game, all.clone()))?;
        ids.push(search);
        let pings = (0..300).map(|n| format!("p{part}-{n}"));
        let requests: Vec<Value> = pings.map(|id| with(ping(&id), &json!({ "echo": echo }))).collect();
        peer.send_all(&requests)?;
        ids.extend(requests.iter().filter_map(|request| request["id"].as_str().map(str::to_owned)));
    }
    for id in ids {
        peer.last(&id)?;
    }
    Ok(())
}

fn never_reads(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let line = with(ping("p"), &json!({ "echo": "e".repeat(1000) })).to_string();
    let is_closed = peer.pour(format!("{line}\n").repeat(64).as_bytes(), STALLED)?;
    peer.vanish();
    holds(is_closed, "the connection is closed at 8 MiB unsent", || "it takes more and more".into())?;
    trial.greet()?.ping()
}

fn requests(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let most = number(&peer.hello["limits"], "requests")? as usize;
    if most > 5000 {
        return Err(Stop::skipped(format!("{most} requests in flight are too many to try")));
    }
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    let fields = with(endless(), &json!({ "queue": true, "info": { "events": [] } }));
    let requests: Vec<Value> =
        (0..most + 50).map(|n| go(&format!("g{n}"), &session("s"), fields.clone())).collect();
    peer.send_all(&requests)?;
    for n in most..most + 50 {
        like(&peer.last(&format!("g{n}"))?, &json!({ "type": "error", "code": "too_many_requests" }))?;
    }
    let result = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }))?;
    let targets = list(&result, "targets")?.len();
    holds(targets == most, format!("{most} searches that end"), || format!("{targets}"))?;
    for n in 0..most {
        like(&peer.last(&format!("g{n}"))?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    }
    peer.best(&go("after", &session("s"), json!({ "limit": { "nodes": 1 } }))).map(drop)
}

fn sessions(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let most = number(&peer.hello["limits"], "sessions")?;
    if most > 1000 {
        return Err(Stop::skipped(format!("{most} sessions are too many to try")));
    }
    let game = peer.vast_game()?;
    let open = |n: u64| newgame(&format!("s{n}"), &game, json!({}));
    for n in 0..most {
        peer.result(&open(n))?;
    }
    peer.refused(&open(most), &json!({ "code": "too_many_sessions", "fatal": false }))?;
    // One that is open is reset, and one that is closed makes room.
    peer.result(&open(0))?;
    peer.result(&json!({ "id": "c", "cmd": "close", "session": "s1" }))?;
    peer.result(&open(most)).map(drop)
}

fn tables(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let described = peer.result(&json!({ "id": "d", "cmd": "describe", "what": "options" }))?;
    let table = list(&described, "body")?.iter().find(|option| option["name"] == "hash_mb");
    let most = table.and_then(|table| table["max"].as_u64()).unwrap_or(1 << 20);
    let count = number(&peer.hello["limits"], "sessions")?.min(8);
    let fields = with(endless(), &json!({ "info": { "events": ["best"] } }));
    for n in 0..count {
        let name = format!("s{n}");
        peer.result(&newgame(&name, &game, json!({ "options": { "hash_mb": most } })))?;
        let id = format!("g{n}");
        peer.send(&go(&id, &session(&name), fields.clone()))?;
        peer.info(&id, "best")?;
    }
    peer.result(&json!({ "id": "halt", "cmd": "stop", "all": true }))?;
    (0..count).try_for_each(|n| like(&peer.last(&format!("g{n}"))?, &json!({ "reason": "stopped" })))
}

/// Four plies of the L Game after which its start is there again, with tokens that stay.
fn cycle(start: &Root) -> Option<Vec<String>> {
    let text = start.text();
    let words: Vec<&str> = text.split(' ').collect();
    let home = [words.get(..3)?.join(" "), words.get(7..10)?.join(" ")];
    for first in start.legal() {
        let one = start.extend(std::slice::from_ref(&first)).ok()?;
        for second in one.legal() {
            let plies = vec![first.clone(), second, home[0].clone(), home[1].clone()];
            if start.extend(&plies).is_ok_and(|root| root.text() == text) {
                return Some(plies);
            }
        }
    }
    None
}

/// A game of the L Game that goes round so often.
pub(super) fn rounds(trial: &Trial<'_>, game: &Value, count: usize) -> Checked<Vec<String>> {
    let start = trial.referee().root(game, &json!({}));
    let plies = start.as_ref().and_then(cycle);
    let plies = plies.ok_or_else(|| Stop::skipped("no way leads back to the start"))?;
    Ok(plies.iter().cycle().take(plies.len() * count).cloned().collect())
}

fn history(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("l-game")?;
    let game = json!({ "game": "l-game", "rules": { "neutrals": "none" } });
    let position = json!({ "moves": rounds(trial, &game, 250)? });
    let start = peer.result(&inspect("i", &game, &json!({}), &["hash", "text"]))?;
    let end = peer.result(&inspect("j", &game, &position, &["hash", "text"]))?;
    like(&end, &json!({ "text": start["text"], "hash": start["hash"] }))?;
    peer.best(&go("g", &game, json!({ "position": position, "limit": { "depth": 2 } }))).map(drop)
}

fn gone(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    let mut watcher = trial.greet()?;
    let before = number(&watcher.result(&json!({ "id": "t", "cmd": "status" }))?, "searches")?;
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.send(&go("g", &game, endless()))?;
    peer.send(&go("h", &game, json!({ "mode": "analyse", "queue": true })))?;
    peer.info("g", "started")?;
    peer.vanish();
    loop {
        let now = number(&watcher.result(&json!({ "id": "t", "cmd": "status" }))?, "searches")?;
        if now <= before {
            return watcher.ping();
        }
        let is_late = Instant::now() >= trial.deadline;
        holds(!is_late, format!("{before} searches again"), || format!("{now}"))?;
    }
}
