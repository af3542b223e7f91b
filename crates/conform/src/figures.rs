//! Figures: the server's own counts and measurements, compared with those made from here.

use std::collections::HashMap;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{after, endless, go, inspect, ping, stop, with};
use super::trial::Trial;
use super::verdict::{Checked, Stop, holds, like, list, number, texts};

/// How long the figures of `status` may take to follow what they count.
const SETTLED: Duration = Duration::from_secs(5);

/// Two clocks of one machine drift apart by less than 1 / `DRIFT` of the time, and are read with less than
/// this error.
const DRIFT: u64 = 100;
const READ_US: u64 = 2000;

/// A `go` of one thread at a game's start that asks for every event.
fn all_events(id: &str, game: &Value, fields: &Value) -> Value {
    let info = json!({ "events": ["started", "best", "progress"] });
    go(id, game, with(json!({ "options": { "threads": 1 }, "info": info }), fields))
}

/// The messages about a search, in order.
fn about<'t>(peer: &'t Conversation<'_>, id: &str) -> Vec<&'t Value> {
    let is_it = |message: &&Value| message["id"] == id && message.get("stats").is_some();
    peer.log.iter().map(|heard| &heard.message).filter(is_it).collect()
}

/// `stats` count the nodes and the time that a search has taken.
pub(super) fn stats(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for (id, limit) in [("nodes", json!({ "nodes": 20_000 })), ("time", json!({ "time_ms": 100 }))] {
        // Before the write, since this thread may be stopped behind it.
        let sent = Instant::now();
        peer.send(&all_events(id, &game, &json!({ "limit": limit })))?;
        let heard = peer.last_heard(id)?;
        like(&heard.message, &json!({ "type": "bestmove" }))?;
        let most = heard.at.saturating_duration_since(sent).as_millis() as u64 + 1;
        let mut before: HashMap<String, (u64, u64)> = HashMap::new();
        for message in about(&peer, id) {
            let came = || message.to_string();
            let stats = &message["stats"];
            let (nodes, time_ms, nps) =
                (number(stats, "nodes")?, number(stats, "time_ms")?, number(stats, "nps")?);
            // One event may be written behind a newer one of another.
            let event = message["event"].as_str().unwrap_or("last");
            let (nodes_before, ms_before) = before.get(event).copied().unwrap_or_default();
            holds(
                nodes >= nodes_before && time_ms >= ms_before,
                format!("`nodes` from {nodes_before} and `time_ms` from {ms_before} on"),
                came,
            )?;
            holds(time_ms <= most, format!("`time_ms` of {most} at most, which the answer took"), came)?;
            // The time is cut to whole ms; the server may round as it likes.
            if time_ms >= 20 {
                let (least, most) =
                    (nodes * 1000 / (time_ms + 2) * 9 / 10, nodes * 1000 / (time_ms - 1) * 11 / 10);
                holds((least..=most + 1).contains(&nps), "`nps` of `nodes` in `time_ms`", came)?;
            }
            before.insert(event.to_owned(), (nodes, time_ms));
        }
        let (nodes, time_ms) = before.get("last").copied().unwrap_or_default();
        // A busy machine may search no node in so short a time.
        holds(nodes > 0 || id == "time", "some `nodes`", || heard.message.to_string())?;
        let at = |name: &str| number(&heard.message["timing"], name);
        // A start before the arrival breaks another promise.
        let began = at("started_us")?.max(at("received_us")?);
        let least = at("decided_us")?.saturating_sub(began) / 2000;
        holds(time_ms >= least, format!("`time_ms` of {least} at least"), || heard.message.to_string())?;
    }
    Ok(())
}

/// `timing` is on the clock of `t_us`, and true.
pub(super) fn timing(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for round in 0..3 {
        let id = format!("g{round}");
        let before = stamp(&peer.result(&ping(&format!("before{round}")))?)?;
        let sent = Instant::now();
        peer.send(&go(&id, &game, endless()))?;
        let started = stamp(&peer.info(&id, "started")?.message)?;
        thread::sleep(Duration::from_millis(60));
        let during = stamp(&peer.result(&ping(&format!("during{round}")))?)?;
        peer.send(&stop(&id))?;
        let heard = peer.last_heard(&id)?;
        let best = heard.message;
        let at = |name: &str| number(&best["timing"], name);
        let (received, began, decided) = (at("received_us")?, at("started_us")?, at("decided_us")?);
        let came = || best.to_string();
        holds(
            received >= before,
            format!("received after {before}, the `t_us` of an answer heard before the go was sent"),
            came,
        )?;
        holds(began <= started, format!("started by {started}, the `t_us` of its `started`"), came)?;
        holds(
            decided >= during,
            format!("decided after {during}, the `t_us` of an answer heard before the stop was sent"),
            came,
        )?;
        let most = us(heard.at.saturating_duration_since(sent));
        holds(
            decided.saturating_sub(received) <= most + most / DRIFT + READ_US,
            format!("{most} us from received to decided at most, which the answer took"),
            came,
        )?;
    }
    Ok(())
}

fn stamp(message: &Value) -> Checked<u64> {
    number(message, "t_us")
}

fn us(time: Duration) -> u64 {
    time.as_micros() as u64
}

/// `t_us` runs as a clock here does.
pub(super) fn clock(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let mut ping_at = |id: &str| -> Checked<(Instant, Instant, u64)> {
        let sent = Instant::now();
        peer.send(&ping(id))?;
        let heard = peer.last_heard(id)?;
        Ok((sent, heard.at, stamp(&heard.message)?))
    };
    let first = ping_at("sooner")?;
    thread::sleep(Duration::from_millis(200));
    let last = ping_at("later")?;
    let least = us(last.0.saturating_duration_since(first.1));
    let most = us(last.1.saturating_duration_since(first.0));
    let passed = last.2.saturating_sub(first.2);
    let (least, most) = (least - least / DRIFT - READ_US.min(least / 2), most + most / DRIFT + READ_US);
    holds((least..=most).contains(&passed), format!("{least} to {most} us between two answers"), || {
        format!("{passed}")
    })
}

/// Messages that a newer one of their event replaced are counted in `skipped`.
pub(super) fn skipped(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    // Some plies into the game there are fewer moves, so that depths follow each other fast.
    let mut position = json!({});
    for _ in 0..4 {
        let legal = texts(&peer.result(&inspect("i", &game, &position, &["legal"]))?, "legal")?;
        let Some(mv) = legal.get(legal.len() / 2) else { break };
        position = after(&position, std::slice::from_ref(mv));
    }
    let fields = json!({ "position": position, "limit": { "time_ms": 400 } });
    peer.best(&all_events("all", &game, &fields))?;
    // Depths that this search completes, however large its steps are.
    let depths: Vec<u64> = progress(&peer, "all")?.into_iter().map(|(depth, _)| depth).collect();
    for interval in [30_u64, 60, 120, 180] {
        let id = format!("every{interval}");
        let info = json!({ "events": ["progress"], "min_interval_ms": interval });
        peer.best(&all_events(&id, &game, &with(fields.clone(), &json!({ "info": info }))))?;
        let mut replaced = 0;
        for pair in progress(&peer, &id)?.windows(2) {
            let ((from, _), (to, skipped)) = (pair[0], pair[1]);
            let between = depths.iter().filter(|&&depth| from < depth && depth < to).count() as u64;
            holds(
                skipped >= between,
                format!("a `skipped` of {between} at least for the depths between {from} and {to}"),
                || format!("{skipped}, with `min_interval_ms` {interval}"),
            )?;
            replaced += between;
        }
        if replaced > 0 {
            return Ok(());
        }
    }
    Err(Stop::skipped("nothing was replaced within 400 ms"))
}

/// The depth and `skipped` of each `progress` of a search.
fn progress(peer: &Conversation<'_>, id: &str) -> Checked<Vec<(u64, u64)>> {
    let infos = about(peer, id).into_iter().filter(|message| message["event"] == "progress");
    infos
        .map(|message| {
            let depth = list(message, "lines")?.first().map_or(Ok(0), |line| number(line, "depth"))?;
            Ok((depth, message["skipped"].as_u64().unwrap_or(0)))
        })
        .collect()
}

/// The counters of `status` grow with each thing done.
pub(super) fn counters(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let status = json!({ "id": "status", "cmd": "status" });
    let before = peer.result(&status)?["counters"].clone();
    let mut nodes = 0;
    for round in 0..3 {
        let fields = json!({ "limit": { "nodes": 2000 } });
        nodes += number(&peer.best(&go(&format!("g{round}"), &game, fields))?["stats"], "nodes")?;
    }
    peer.send(&go("away", &game, endless()))?;
    peer.info("away", "started")?;
    peer.result(&with(stop("away"), &json!({ "discard": true })))?;
    like(&peer.last("away")?, &json!({ "code": "cancelled" }))?;
    for _ in 0..5 {
        peer.send_line(b"[]")?;
        peer.fault()?;
    }
    let mut skipped = 0;
    let info = json!({ "events": ["best", "progress"], "min_interval_ms": 40 });
    peer.best(&go("g", &game, json!({ "limit": { "time_ms": 150 }, "info": info })))?;
    for message in about(&peer, "g") {
        skipped += message["skipped"].as_u64().unwrap_or(0);
    }
    let lines = peer.sent - 2;
    let end = Instant::now() + SETTLED;
    let wanted = [
        // This connection, and its hello, were there before.
        ("connections", 0, 1),
        ("lines", lines, 1),
        ("errors", 5, 0),
        ("searches", 5, 0),
        ("cancelled", 1, 0),
        ("nodes", nodes, 0),
        ("info_skipped", skipped, 0),
        ("connections_dropped", 0, 0),
        ("failed", 0, 0),
        ("abandoned", 0, 0),
    ];
    let wanted = wanted.into_iter().chain(peer.has("log_lost").then_some(("log_lost", 0, 0)));
    let wanted: Vec<(&str, u64, u64)> = wanted.collect();
    loop {
        let result = peer.result(&status)?["counters"].clone();
        let mut late = None;
        for &(name, more, least) in &wanted {
            let (was, is) = (number(&before, name)?, number(&result, name)?);
            if is < (was + more).max(least) {
                late = Some(format!("`{name}` of {} at least", (was + more).max(least)));
            }
        }
        let Some(expected) = late else { return Ok(()) };
        if Instant::now() >= end {
            return Err(Stop::failed(expected, result.to_string()));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The load in `status`: no less than what is known from here, and no more than the limits.
pub(super) fn load(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let status = json!({ "id": "status", "cmd": "status" });
    peer.sessions(&["a", "b", "c"], &game)?;
    let sent = Instant::now();
    let first = number(&peer.result(&status)?, "uptime_ms")?;
    let first_heard = Instant::now();
    thread::sleep(Duration::from_millis(100));
    let last_sent = Instant::now();
    let result = peer.result(&status)?;
    let passed = number(&result, "uptime_ms")?.saturating_sub(first);
    let least = last_sent.saturating_duration_since(first_heard).as_millis() as u64;
    let most = sent.elapsed().as_millis() as u64;
    let bounds = (least - least / DRIFT).saturating_sub(2)..=most + most / DRIFT + 2;
    holds(bounds.contains(&passed), format!("an `uptime_ms` that grew by {least} to {most}"), || {
        format!("{passed}")
    })?;
    holds(number(&result, "sessions")? >= 3, "3 sessions or more", || result.to_string())?;
    let most = number(&peer.hello["limits"], "hash_bytes")?;
    holds(number(&result, "hash_bytes")? <= most, format!("`hash_bytes` of {most} at most"), || {
        result.to_string()
    })
}
