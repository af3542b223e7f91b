//! Ids and order: which request a message is about, which message comes first, and what belongs to a
//! connection.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::figures;
use super::requests::{endless, go, inspect, newgame, ping, session, stop, update, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like, number};
use plyd_client::is_final_json;

pub(super) const CHECKS: &[Check] = &[
    Check::watched("seq", "`seq` counts a connection's messages from 1 without gaps"),
    Check::watched("stamps", "`t_us` never runs backwards"),
    Check::new("clock", "`t_us` counts microseconds", figures::clock),
    Check::watched("one-final", "each request gets one final message"),
    Check::watched("infos-first", "`info` messages come before the final message"),
    Check::watched("notices", "a notice about a request comes before its final message"),
    Check::new("of", "a result names the command of its request", of),
    Check::new("shapes", "ids of 1 to 64 of A-Z a-z 0-9 . _ : - are taken", shapes),
    Check::refusals("bad-ids", "any other id is `bad_id`, a missing one `missing_field`"),
    Check::refusals("names", "sessions and targets have the shape of an id"),
    Check::refusals("unknown-commands", "any other command is `unknown_cmd`, a missing one `missing_field`"),
    Check::refusals("unknown-sessions", "a session that is not open is `session_unknown`"),
    Check::refusals("duplicates", "an id in flight is `duplicate_id` with id null, and `ref` names it"),
    Check::new("first-goes-on", "a duplicate id leaves the first request alone", first_goes_on),
    Check::new("free-again", "an id is free once its final message came", free_again),
    Check::new("at-once-in-order", "ping, status, stop and update are answered in their order", at_once),
    Check::new("questions-in-order", "questions about rules are answered in their order", questions),
    Check::new(
        "session-in-order",
        "requests of a session take effect in the order of their lines",
        in_session,
    ),
    Check::new("finished-ids", "the last 1,024 finished ids are remembered", finished),
    Check::new("sessions-apart", "sessions keep their games and options apart", apart),
    Check::new("connections-apart", "ids and sessions belong to their connection", connections),
    Check::new("same-for-all", "a stop of another connection's search is `unknown`", strangers),
];

fn of(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    like(&peer.hello, &json!({ "of": "hello", "id": "hello" }))?;
    for request in [
        ping("1"),
        json!({ "id": "2", "cmd": "describe", "what": "games" }),
        newgame("s", &game, json!({ "id": "3" })),
        json!({ "id": "4", "cmd": "setoption", "session": "s", "options": {} }),
        inspect("5", &session("s"), &json!({}), &["to_move"]),
        json!({ "id": "6", "cmd": "status" }),
        update("never", json!({ "id": "7", "limit": { "nodes": 5 } })),
        json!({ "id": "8", "cmd": "stop", "all": true }),
        json!({ "id": "9", "cmd": "close", "session": "s" }),
        json!({ "id": "10", "cmd": "quit" }),
    ] {
        let result = peer.result(&request)?;
        like(&result, &json!({ "id": request["id"], "of": request["cmd"] }))?;
    }
    Ok(())
}

fn shapes(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    for id in ["a", "0", ".", "-", ":", "_", "Az09._:-", &"x".repeat(64)] {
        like(&peer.result(&ping(id))?, &json!({ "id": id }))?;
    }
    let game = peer.vast_game()?;
    for (id, session) in [("1", "._:-"), ("2", &*"s".repeat(64))] {
        like(&peer.result(&newgame(session, &game, json!({ "id": id })))?, &json!({ "session": session }))?;
    }
    Ok(())
}

fn first_goes_on(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.send(&go("g", &game, endless()))?;
    peer.info("g", "started")?;
    for request in
        [ping("g"), go("g", &game, json!({ "limit": { "nodes": 1 } })), json!({ "id": "g", "cmd": "status" })]
    {
        peer.send(&request)?;
        like(&peer.fault()?, &json!({ "code": "duplicate_id", "id": null, "ref": "g", "line": peer.sent }))?;
    }
    peer.ping()?;
    holds(peer.is_open("g"), "the first request goes on", || "it ended".into())?;
    like(&peer.result(&stop("g"))?, &json!({ "effect": "stopping" }))?;
    like(&peer.last("g")?, &json!({ "type": "bestmove", "reason": "stopped" }))
}

fn free_again(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for _ in 0..20 {
        peer.best(&go("g", &game, json!({ "limit": { "nodes": 1 } })))?;
        peer.result(&ping("g"))?;
    }
    Ok(())
}

/// The finals of these requests come in the order of the list.
fn in_order(peer: &mut Conversation<'_>, requests: &[Value]) -> Checked {
    peer.send_all(requests)?;
    for request in requests {
        peer.last(request["id"].as_str().unwrap_or_default())?;
    }
    let places: Vec<usize> = requests
        .iter()
        .map(|request| peer.place(request["id"].as_str().unwrap_or_default()))
        .collect::<Checked<_>>()?;
    holds(places.is_sorted(), "answers in the order of the requests", || format!("at {places:?}"))
}

fn at_once(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.send(&go("g", &game, endless()))?;
    peer.info("g", "started")?;
    let requests: Vec<Value> = (0..200)
        .map(|n| {
            let fields = match n % 4 {
                0 => json!({ "cmd": "ping" }),
                1 => json!({ "cmd": "status" }),
                2 => json!({ "cmd": "stop", "target": "never" }),
                _ => json!({ "cmd": "update", "target": "never", "limit": { "nodes": 1 } }),
            };
            with(fields, &json!({ "id": format!("q{n}") }))
        })
        .collect();
    in_order(&mut peer, &requests)
}

fn questions(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    peer.send(&go("g", &game, endless()))?;
    for whose in [&game, &session("s")] {
        let requests: Vec<Value> = (0..100)
            .map(|n| {
                // A slow question, then a quick one.
                let want = if n % 2 == 0 { "moves" } else { "to_move" };
                inspect(&format!("q{n}"), whose, &json!({}), &[want])
            })
            .collect();
        in_order(&mut peer, &requests)?;
    }
    Ok(())
}

fn in_session(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let s = session("s");
    let open = newgame("s", &game, json!({}));
    let close = json!({ "id": "close", "cmd": "close", "session": "s" });
    let halt = json!({ "id": "halt", "cmd": "stop", "session": "s" });
    for _ in 0..5 {
        let question = inspect("i", &s, &json!({}), &["to_move"]);
        peer.send_all(&[open.clone(), question.clone(), go("g", &s, endless()), halt.clone()])?;
        like(&peer.last("new-s")?, &json!({ "type": "result" }))?;
        like(&peer.last("i")?, &json!({ "type": "result" }))?;
        like(&peer.last("halt")?, &json!({ "effect": "stopping", "targets": ["g"] }))?;
        like(&peer.last("g")?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
        let set =
            json!({ "id": "set", "cmd": "setoption", "session": "s", "options": { "player": "random" } });
        peer.send_all(&[
            open.clone(),
            set,
            close.clone(),
            question,
            with(open.clone(), &json!({ "id": "again" })),
        ])?;
        like(&peer.last("new-s")?, &json!({ "type": "result" }))?;
        like(&peer.last("set")?, &json!({ "type": "result" }))?;
        like(&peer.last("close")?, &json!({ "type": "result" }))?;
        like(&peer.last("i")?, &json!({ "type": "error", "code": "session_unknown" }))?;
        like(&peer.last("again")?, &json!({ "type": "result" }))?;
    }
    Ok(())
}

fn finished(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let in_flight = number(&peer.hello["limits"], "requests")?.clamp(1, 32) as usize;
    const COUNT: usize = 1200;
    let fields = json!({ "limit": { "nodes": 1 }, "info": { "events": [] } });
    for first in (0..COUNT).step_by(in_flight) {
        let ids: Vec<String> = (first..COUNT.min(first + in_flight)).map(|n| format!("g{n}")).collect();
        let requests: Vec<Value> = ids.iter().map(|id| go(id, &game, fields.clone())).collect();
        peer.send_all(&requests)?;
        for id in &ids {
            like(&peer.last(id)?, &json!({ "type": "bestmove" }))?;
        }
    }
    for (id, effect) in [
        ("g0", "unknown"),
        ("g100", "unknown"),
        ("g230", "already_finished"),
        ("g1199", "already_finished"),
        ("never", "unknown"),
    ] {
        like(&peer.result(&stop(id))?, &json!({ "effect": effect })).map_err(|stop| stop.at(id))?;
        like(&peer.result(&update(id, json!({ "limit": { "nodes": 5 } })))?, &json!({ "effect": effect }))?;
    }
    Ok(())
}

fn apart(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.sessions(&["a", "b"], &game)?;
    let set = |id: &str, name: &str, options: Value| {
        with(session(name), &json!({ "id": id, "cmd": "setoption", "options": options }))
    };
    peer.result(&set("1", "a", json!({ "seed": "3" })))?;
    peer.result(&set("2", "b", json!({ "seed": "5" })))?;
    for (id, name, seed) in [("3", "a", "3"), ("4", "b", "5")] {
        let result = peer.result(&set(id, name, json!({})))?;
        like(&result, &json!({ "options": { "seed": seed } }))?;
    }
    peer.send(&go("ga", &session("a"), endless()))?;
    peer.info("ga", "started")?;
    peer.result(&json!({ "id": "5", "cmd": "close", "session": "b" }))?;
    holds(peer.is_open("ga"), "closing one session leaves the other's search alone", || "it ended".into())?;
    let other = inspect("6", &session("b"), &json!({}), &["to_move"]);
    peer.refused(&other, &json!({ "code": "session_unknown", "pointer": "/session" })).map(drop)
}

fn connections(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    let (mut one, mut other) = (trial.greet()?, trial.greet()?);
    let game = one.vast_game()?;
    one.sessions(&["s"], &game)?;
    let question = inspect("i", &session("s"), &json!({}), &["to_move"]);
    one.result(&question)?;
    other.refused(&question, &json!({ "code": "session_unknown" }))?;
    one.send(&go("g", &session("s"), endless()))?;
    one.info("g", "started")?;
    // Neither is the id in use here, nor does the answer go there.
    other.result(&ping("g"))?;
    one.ping()?;
    holds(one.is_open("g"), "a search of its own", || "it ended".into())?;
    let finals = other.log.iter().filter(|heard| is_final_json(&heard.message)).count();
    holds(finals == 3, "3 answers", || format!("{finals}"))
}

fn strangers(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    let (mut one, mut other) = (trial.greet()?, trial.greet()?);
    let game = one.vast_game()?;
    one.send(&go("g", &game, endless()))?;
    one.info("g", "started")?;
    like(&other.result(&stop("g"))?, &json!({ "effect": "unknown", "targets": [] }))?;
    let all = other.result(&json!({ "id": "all", "cmd": "stop", "all": true }))?;
    like(&all, &json!({ "effect": "already_finished", "targets": [] }))?;
    one.ping()?;
    if one.is_open("g") { Ok(()) } else { Err(Stop::failed("the search goes on", "it ended")) }
}
