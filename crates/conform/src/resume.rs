//! Resuming: connections that outlive their sockets, and who may take them up.

use serde_json::{Value, json};

use super::conversation::{Conversation, Heard};
use super::requests::{endless, go, session, stop, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, absent, holds, like, number, text};

/// How long a check asks the server to keep a connection, in ms.
const KEEP_MS: u64 = 60_000;

/// The most bytes of messages that a check makes a server forget.
const MANY_BYTES: u64 = 16 << 20;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "promise",
        "a `hello` with `keep_ms` brings a token, a time and the lines read before",
        promise,
    ),
    Check::new("missed", "messages after `seq` come again, as they were, before what is new", missed),
    Check::new("kept", "a search goes on while no socket is there, and its answer comes once", kept),
    Check::new(
        "old-socket",
        "a socket that is still open hears `disconnected` and is closed, and nothing more is read of it",
        old_socket,
    ),
    Check::new("unknown", "a wrong token is `resume_unknown`, and nothing changes", unknown),
    Check::new("ahead", "a `seq` that was never sent is `out_of_range`, and a `hello` may follow", ahead),
    Check::new(
        "gap",
        "messages that are not kept any more are a `resume_gap`, and a `hello` may follow",
        gap,
    ),
    Check::new("over", "when the time is over, or after `quit`, the token is unknown", over),
];

/// A connection that the server promises to keep for `keep_ms`, and its token.
fn keep<'t>(trial: &Trial<'t>, keep_ms: u64) -> Checked<(Conversation<'t>, String)> {
    trial.needs_socket()?;
    if !trial.greet()?.has("resume") {
        return Err(Stop::skipped("connections end with their sockets: the server has no feature `resume`"));
    }
    let peer = trial.greet_with(&json!({ "resume": { "keep_ms": keep_ms } }))?;
    let Some(promise) = peer.hello.get("resume") else {
        return Err(Stop::skipped("the server has promised to keep as many connections as it allows"));
    };
    let token = text(promise, "token")?.to_owned();
    Ok((peer, token))
}

/// A `hello` that takes up the connection of that token after the message `seq`.
fn again(trial: &Trial<'_>, token: &str, seq: u64) -> Value {
    with(trial.hello(), &json!({ "id": "again", "resume": { "token": token, "seq": seq } }))
}

/// The number of the last message that came.
fn last_seq(peer: &Conversation<'_>) -> Checked<u64> {
    number(peer.log.last().map_or(&Value::Null, |heard| &heard.message), "seq")
}

/// Takes up a connection over a new one, after the message `seq`.
fn take_up<'t>(
    trial: &Trial<'t>,
    earlier: &Conversation<'t>,
    token: &str,
    seq: u64,
) -> Checked<Conversation<'t>> {
    let mut peer = trial.open()?;
    peer.follow(earlier, seq);
    peer.hello = peer.result(&again(trial, token, seq))?;
    Ok(peer)
}

/// A message without the time at which it was sent.
fn timeless(heard: &Heard) -> Value {
    let mut message = heard.message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.remove("t_us");
    }
    message
}

/// Begins a search without end in a session.
fn search(peer: &mut Conversation<'_>, id: &str) -> Checked {
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    peer.send(&go(id, &session("s"), endless()))?;
    peer.info(id, "best")?;
    Ok(())
}

/// Stops a search, which went on until now.
fn stopped(peer: &mut Conversation<'_>, id: &str) -> Checked {
    like(&peer.result(&stop(id))?, &json!({ "effect": "stopping", "targets": [id] }))?;
    like(&peer.last(id)?, &json!({ "type": "bestmove", "reason": "stopped" }))
}

fn promise(trial: &Trial<'_>) -> Checked {
    let (mut peer, token) = keep(trial, KEEP_MS)?;
    let limits = &peer.hello["limits"];
    for name in ["resume_connections", "resume_bytes"] {
        holds(number(limits, name)? > 0, format!("a positive `{name}`"), || limits.to_string())?;
    }
    let most = number(limits, "resume_ms")?;
    like(&peer.hello["resume"], &json!({ "keep_ms": most.min(KEEP_MS), "lines": 0 }))?;
    holds(token.len() >= 22, "a token of 128 random bits at least", || token.clone())?;
    peer.result(&json!({ "id": "quit", "cmd": "quit" }))?;
    peer.closed()?;
    // Another connection has another token, and a client that does not ask gets none.
    let (second, other) = keep(trial, KEEP_MS)?;
    holds(other != token, "a token of its own for each connection", || other.clone())?;
    drop(second);
    absent(&trial.greet()?.hello, "resume")
}

fn missed(trial: &Trial<'_>) -> Checked {
    for seen in 0..3 {
        let (mut first, token) = keep(trial, KEEP_MS)?;
        search(&mut first, "g")?;
        first.ping()?;
        let seq = last_seq(&first)?;
        let seq = [1, seq.div_ceil(2), seq][seen];
        let mut second = take_up(trial, &first, &token, seq)?;
        let lines = first.sent;
        like(&second.hello["resume"], &json!({ "lines": lines }))?;
        let old = first.log.iter().filter(|heard| heard.message["seq"].as_u64() > Some(seq));
        for (old, new) in old.zip(&second.log) {
            like(&timeless(new), &timeless(old))?;
        }
        stopped(&mut second, "g")?;
        // The lines are counted on.
        second.send_line(b"[]")?;
        like(&second.fault()?, &json!({ "code": "not_object", "line": lines + 3 }))?;
        second.result(&json!({ "id": "c", "cmd": "close", "session": "s" }))?;
    }
    Ok(())
}

fn kept(trial: &Trial<'_>) -> Checked {
    if trial.is_unix() {
        return Err(Stop::skipped("a client cannot break a Unix socket"));
    }
    let (mut first, token) = keep(trial, KEEP_MS)?;
    search(&mut first, "g")?;
    let game = first.vast_game()?;
    first.send(&go("h", &game, json!({ "limit": { "nodes": 20_000 }, "info": { "events": [] } })))?;
    first.ping()?;
    let seq = last_seq(&first)?;
    let mut second = trial.open()?;
    second.follow(&first, seq);
    first.reset();
    second.hello = second.result(&again(trial, &token, seq))?;
    if second.is_awaited("h") {
        like(&second.last("h")?, &json!({ "type": "bestmove", "reason": "limit" }))?;
    }
    stopped(&mut second, "g")
}

fn old_socket(trial: &Trial<'_>) -> Checked {
    let (mut first, token) = keep(trial, KEEP_MS)?;
    search(&mut first, "g")?;
    let mut second = take_up(trial, &first, &token, last_seq(&first)?)?;
    let _closed_already = first.send(&stop("g"));
    first.closed()?;
    let last = first.log.last().map_or(&Value::Null, |heard| &heard.message);
    like(last, &json!({ "type": "error", "id": null, "line": 0, "code": "disconnected", "fatal": true }))?;
    second.ping()?;
    holds(second.is_open("g"), "no line of the old socket is read", || "the search was stopped".into())?;
    stopped(&mut second, "g")
}

fn unknown(trial: &Trial<'_>) -> Checked {
    let (mut first, token) = keep(trial, KEEP_MS)?;
    for wrong in [String::new(), format!("{token}0"), token.chars().skip(1).collect()] {
        let mut peer = trial.open()?;
        let wanted = json!({ "code": "resume_unknown", "pointer": "/resume/token", "fatal": false });
        peer.refused(&again(trial, &wrong, 1), &wanted)?;
        // It may come in without one.
        peer.result(&trial.hello())?;
        peer.ping()?;
    }
    first.ping()?;
    let seq = last_seq(&first)?;
    take_up(trial, &first, &token, seq)?.ping()
}

fn ahead(trial: &Trial<'_>) -> Checked {
    let (first, token) = keep(trial, KEEP_MS)?;
    let mut peer = trial.open()?;
    let wanted = json!({ "code": "out_of_range", "pointer": "/resume/seq", "fatal": false });
    peer.refused(&again(trial, &token, 1000), &wanted)?;
    let seq = last_seq(&first)?;
    peer.follow(&first, seq);
    peer.result(&again(trial, &token, seq))?;
    peer.ping()
}

fn gap(trial: &Trial<'_>) -> Checked {
    let (mut first, token) = keep(trial, KEEP_MS)?;
    let most = number(&first.hello["limits"], "resume_bytes")?;
    if most > MANY_BYTES {
        return Err(Stop::skipped(format!("{most} bytes are too many to try")));
    }
    let mut bytes = 0;
    for round in 0.. {
        if bytes > 2 * most {
            break;
        }
        let schema = json!({ "id": format!("d{round}"), "cmd": "describe", "what": "schema" });
        bytes += first.result(&schema)?.to_string().len() as u64;
    }
    let mut peer = trial.open()?;
    let wanted = json!({ "code": "resume_gap", "pointer": "/resume/seq", "fatal": false });
    peer.refused(&again(trial, &token, 1), &wanted)?;
    // The end of what was sent is there.
    let seq = last_seq(&first)?;
    peer.follow(&first, seq);
    peer.result(&again(trial, &token, seq))?;
    peer.ping()
}

fn over(trial: &Trial<'_>) -> Checked {
    let wanted = json!({ "code": "resume_unknown", "fatal": false });
    let (mut first, token) = keep(trial, KEEP_MS)?;
    first.result(&json!({ "id": "quit", "cmd": "quit" }))?;
    first.closed()?;
    trial.open()?.refused(&again(trial, &token, 1), &wanted)?;
    if trial.is_unix() {
        return Ok(());
    }
    let mut other = trial.greet()?;
    let sessions = |peer: &mut Conversation<'_>| -> Checked<u64> {
        number(&peer.result(&json!({ "id": "status", "cmd": "status" }))?, "sessions")
    };
    let before = sessions(&mut other)?;
    let (mut first, token) = keep(trial, 100)?;
    search(&mut first, "g")?;
    first.reset();
    while sessions(&mut other)? > before {
        holds(!trial.is_late(), "the connection ends when its time is over", || {
            "its session is open".into()
        })?;
    }
    trial.open()?.refused(&again(trial, &token, 1), &wanted).map(drop)
}
