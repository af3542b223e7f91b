//! What operators ask: who is connected, and the end of sessions and connections of others.
//!
//! Judged only if the server has the feature `operate` and lets the suite's client use it.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go, session, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like, list, number};
use plyd_protocol::MAX_INT;

pub(super) const CHECKS: &[Check] = &[
    Check::new("list", "`connections` lists each connection once, with its sessions and searches", listed),
    Check::new("close", "`close` of another connection's session ends its search with a move", close),
    Check::new(
        "disconnect",
        "a connection that is ended answers its searches, then `disconnected`",
        disconnect,
    ),
    Check::new("unknown", "what is not there is `connection_unknown`, or `session_unknown`", unknown),
];

/// A connection that may operate.
fn operator<'a>(trial: &Trial<'a>) -> Checked<Conversation<'a>> {
    let mut peer = trial.greet()?;
    if !peer.has("operate") {
        return Err(Stop::skipped("the server has not the feature `operate`"));
    }
    let asked = peer.ask(&json!({ "id": "may", "cmd": "connections" }))?;
    if asked["code"] == "forbidden" {
        return Err(Stop::skipped("the suite's client has not the role `operate`"));
    }
    Ok(peer)
}

/// A connection under a name of its own, with a session `s` in which a search `g` goes on.
fn searcher<'a>(trial: &Trial<'a>) -> Checked<(Conversation<'a>, String)> {
    let name = format!("{}-{}", trial.name, std::process::id());
    let mut peer = trial.greet_with(&json!({ "client": { "name": name } }))?;
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    peer.send(&go("g", &session("s"), endless()))?;
    peer.info("g", "started")?;
    Ok((peer, name))
}

/// All connections, page by page.
fn connections(peer: &mut Conversation<'_>) -> Checked<Vec<Value>> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = peer.result(&json!({ "id": "page", "cmd": "connections", "after": after }))?;
        for connection in list(&page, "connections")? {
            let number = number(connection, "connection")?;
            holds(number > after, format!("numbers that grow, above {after}"), || page.to_string())?;
            after = number;
            all.push(connection.clone());
        }
        holds(number(&page, "count")? >= 1, "a `count` of 1 at least", || page.to_string())?;
        if page.get("next").is_none() {
            return Ok(all);
        }
        holds(page["next"] == after, format!("a `next` of {after}, the last of the page"), || {
            page.to_string()
        })?;
    }
}

/// The connection whose client has that name.
fn find(all: &[Value], name: &str) -> Checked<Value> {
    let mut found = all.iter().filter(|connection| connection["name"] == name);
    let one = found.next().filter(|_| found.next().is_none()).cloned();
    one.ok_or_else(|| Stop::failed(format!("one connection named `{name}`"), json!(all).to_string()))
}

fn listed(trial: &Trial<'_>) -> Checked {
    drop(operator(trial)?);
    let (mut peer, name) = searcher(trial)?;
    let own = find(&connections(&mut peer)?, &name)?;
    like(&own, &json!({ "state": "open" }))?;
    // The question itself was answered at once, and is no longer in flight.
    holds(number(&own, "requests")? >= 1, "a request in flight", || own.to_string())?;
    let sessions = list(&own, "sessions")?;
    holds(sessions.len() == 1, "one session", || own.to_string())?;
    like(&sessions[0], &json!({ "session": "s" }))?;
    let searches = list(&own, "searches")?;
    holds(searches.len() == 1, "one search", || own.to_string())?;
    like(&searches[0], &json!({ "id": "g", "session": "s", "mode": "move", "game": sessions[0]["game"] }))?;
    holds(
        ["starting", "searching"].iter().any(|state| searches[0]["state"] == *state),
        "it has begun",
        || own.to_string(),
    )?;
    number(&searches[0]["stats"], "nodes")?;
    number(&own, "age_ms").map(drop)
}

fn close(trial: &Trial<'_>) -> Checked {
    trial.needs_several_connections()?;
    let mut operator = operator(trial)?;
    let (mut peer, name) = searcher(trial)?;
    let connection = number(&find(&connections(&mut operator)?, &name)?, "connection")?;
    let close = json!({ "id": "c", "cmd": "close", "session": "s", "connection": connection });
    like(&operator.result(&close)?, &json!({ "of": "close", "session": "s", "connection": connection }))?;
    like(&peer.last("g")?, &json!({ "type": "bestmove", "reason": "closed" }))?;
    let end = peer.place("g")?;
    let warned = peer.until(0, "a `warning`", |message| message["kind"] == "warning")?;
    holds(warned < end, "the `warning` before the end of the search", || "it came later".into())?;
    peer.refused(
        &go("h", &session("s"), json!({ "limit": { "nodes": 1 } })),
        &json!({ "code": "session_unknown", "fatal": false }),
    )?;
    operator.refused(&close, &json!({ "code": "session_unknown", "pointer": "/session", "fatal": false }))?;
    peer.ping()
}

fn disconnect(trial: &Trial<'_>) -> Checked {
    trial.needs_several_connections()?;
    let mut operator = operator(trial)?;
    let (mut peer, name) = searcher(trial)?;
    let connection = number(&find(&connections(&mut operator)?, &name)?, "connection")?;
    let disconnect = json!({ "id": "d", "cmd": "disconnect", "connection": connection });
    like(&operator.result(&disconnect)?, &json!({ "of": "disconnect", "connections": [connection] }))?;
    like(&peer.last("g")?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    let end = json!({ "code": "disconnected", "id": null, "line": 0, "fatal": true });
    like(&peer.fault()?, &end)?;
    peer.closed()?;
    let is_last = peer.log.last().is_some_and(|heard| heard.message["code"] == "disconnected");
    holds(is_last, "`disconnected` as the last message", || "others behind it".into())?;
    operator.refused(&disconnect, &json!({ "code": "connection_unknown", "pointer": "/connection" }))?;
    operator.ping()
}

fn unknown(trial: &Trial<'_>) -> Checked {
    let mut peer = operator(trial)?;
    for (request, code, pointer) in [
        (json!({ "cmd": "disconnect", "connection": MAX_INT }), "connection_unknown", "/connection"),
        (json!({ "cmd": "disconnect", "client": "no such client" }), "connection_unknown", "/client"),
        (
            json!({ "cmd": "close", "session": "s", "connection": MAX_INT }),
            "connection_unknown",
            "/connection",
        ),
    ] {
        let wanted = json!({ "code": code, "pointer": pointer, "fatal": false });
        peer.refused(&with(request, &json!({ "id": "u" })), &wanted)?;
    }
    peer.ping()
}
