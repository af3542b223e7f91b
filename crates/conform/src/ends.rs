//! Ends: of the input, by `quit` and by signals, and what becomes of searches.

use std::io;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go, ping, session, stop, with};
use super::system::{Signal, send};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like};
use plyd_protocol::signals;

pub(super) const CHECKS: &[Check] = &[
    Check::new("eof-idle", "the end of input ends the connection, and a process with exit code 0", eof_idle),
    Check::new("eof-finish", "on_eof finish: limited searches finish, open-ended ones answer", eof_finish),
    Check::new("eof-stop", "on_eof stop: all searches answer at once", eof_stop),
    Check::new("eof-cancel", "on_eof cancel: all searches end `cancelled`", eof_cancel),
    Check::new("eof-default", "without `hello`, searches finish at the end of input", eof_default),
    Check::new("eof-ponder", "a ponder answers at the end of input, too", eof_ponder),
    Check::new("eof-queued", "a search that waits at the end of input answers, too", eof_queued),
    Check::new("eof-unanswered", "requests before the end of input are answered", eof_unanswered),
    Check::new("quit-finish", "quit lets limited searches finish", quit_finish),
    Check::new("quit-stop", "quit with stop ends all searches with a move", quit_stop),
    Check::new(
        "quit-last",
        "the result of `quit` is the last message, and no line after `quit` is read",
        quit_last,
    ),
    Check::new("quit-alone", "quit ends its own connection only", quit_alone),
    Check::new("terminate", "SIGTERM: `going_away`, every search answers, exit code 0", terminate),
    Check::new("interrupt", "SIGINT: `going_away`, every search answers, exit code 0", interrupt),
    Check::new("hangup", "SIGHUP: `going_away`, every search answers, exit code 0", hangup),
];

/// Starts one search that ends by itself, soon or in years, and some that do not.
fn start_all(peer: &mut Conversation<'_>, is_soon: bool) -> Checked {
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    let (nodes, ms) = if is_soon { (20_000_u64, 50_u64) } else { (1 << 50, 1 << 40) };
    peer.send(&go("nodes", &game, json!({ "limit": { "nodes": nodes } })))?;
    peer.send(&go("clock", &game, json!({ "clock": { "kind": "per_move", "ms": ms } })))?;
    peer.send(&go("endless", &game, endless()))?;
    if peer.has("anytime") {
        peer.send(&go("anytime", &game, json!({ "clock": { "kind": "anytime" } })))?;
    }
    peer.send(&go("session", &session("s"), endless()))?;
    Ok(())
}

/// Each search has its end: the limited ones and the others.
fn check_all(peer: &mut Conversation<'_>, limited: [&Value; 2], open: &Value) -> Checked {
    for (id, wanted) in [
        ("nodes", limited[0]),
        ("clock", limited[1]),
        ("endless", open),
        ("anytime", open),
        ("session", open),
    ] {
        if id == "anytime" && !peer.has(id) {
            continue;
        }
        like(&peer.last(id)?, wanted).map_err(|stop| stop.at(id))?;
    }
    peer.closed()?;
    peer.exit()
}

fn reason(reason: &str) -> Value {
    json!({ "type": "bestmove", "reason": reason })
}

fn at_eof(trial: &Trial<'_>, on_eof: &str) -> Checked {
    trial.needs_half_closing()?;
    let mut peer = trial.greet_with(&json!({ "on_eof": on_eof }))?;
    start_all(&mut peer, on_eof == "finish")?;
    peer.end_input();
    match on_eof {
        "finish" => check_all(&mut peer, [&reason("limit"), &reason("clock")], &reason("stopped")),
        "stop" => check_all(&mut peer, [&reason("stopped"); 2], &reason("stopped")),
        _ => {
            let cancelled = json!({ "type": "error", "code": "cancelled", "fatal": false });
            check_all(&mut peer, [&cancelled; 2], &cancelled)
        }
    }
}

fn eof_idle(trial: &Trial<'_>) -> Checked {
    let mut silent = trial.open()?;
    silent.end_input();
    silent.closed()?;
    holds(silent.log.is_empty(), "nothing to say", || format!("{} messages", silent.log.len()))?;
    silent.exit()?;
    let mut greeted = trial.greet()?;
    greeted.end_input();
    greeted.closed()?;
    greeted.exit()
}

fn eof_finish(trial: &Trial<'_>) -> Checked {
    at_eof(trial, "finish")
}

fn eof_stop(trial: &Trial<'_>) -> Checked {
    at_eof(trial, "stop")
}

fn eof_cancel(trial: &Trial<'_>) -> Checked {
    at_eof(trial, "cancel")
}

fn eof_default(trial: &Trial<'_>) -> Checked {
    trial.needs_stdio()?;
    let game = trial.greet()?.vast_game()?;
    let mut peer = trial.open()?;
    peer.send(&go("nodes", &game, json!({ "limit": { "nodes": 20_000 } })))?;
    peer.send(&go("endless", &game, endless()))?;
    peer.end_input();
    like(&peer.last("nodes")?, &reason("limit"))?;
    like(&peer.last("endless")?, &reason("stopped"))?;
    peer.closed()?;
    peer.exit()
}

fn eof_ponder(trial: &Trial<'_>) -> Checked {
    trial.needs_half_closing()?;
    for mode in ["ponder", "analyse"] {
        let mut peer = trial.greet()?;
        let game = peer.vast_game()?;
        peer.send(&go("g", &game, json!({ "mode": mode })))?;
        peer.info("g", "started")?;
        peer.end_input();
        like(&peer.last("g")?, &reason("stopped"))?;
        peer.closed()?;
        peer.exit()?;
    }
    Ok(())
}

fn eof_queued(trial: &Trial<'_>) -> Checked {
    trial.needs_half_closing()?;
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    let s = session("s");
    peer.send(&go("a", &s, json!({ "limit": { "nodes": 200_000 } })))?;
    peer.send(&go("b", &s, json!({ "limit": { "nodes": 500 }, "queue": true })))?;
    peer.send(&go("c", &s, with(endless(), &json!({ "queue": true }))))?;
    peer.end_input();
    like(&peer.last("a")?, &reason("limit"))?;
    like(&peer.last("b")?, &reason("limit"))?;
    like(&peer.last("c")?, &reason("stopped"))?;
    peer.closed()
}

fn eof_unanswered(trial: &Trial<'_>) -> Checked {
    trial.needs_half_closing()?;
    let mut peer = trial.greet()?;
    let requests: Vec<Value> = (0..200).map(|n| ping(&format!("p{n}"))).collect();
    peer.send_all(&requests)?;
    peer.send(&json!({ "id": "d", "cmd": "describe", "what": "games" }))?;
    peer.end_input();
    for n in 0..200 {
        peer.last(&format!("p{n}"))?;
    }
    peer.last("d")?;
    peer.closed()
}

/// Quits; the result comes last.
fn quit(trial: &Trial<'_>, fields: &Value, limited: [&Value; 2]) -> Checked {
    let mut peer = trial.greet()?;
    start_all(&mut peer, fields.get("mode") != Some(&json!("stop")))?;
    peer.send(&with(json!({ "id": "quit", "cmd": "quit" }), fields))?;
    check_all(&mut peer, limited, &reason("stopped"))?;
    let last = peer.log.last().map(|heard| heard.message.clone()).unwrap_or_default();
    like(&last, &json!({ "type": "result", "of": "quit", "id": "quit" }))
}

fn quit_finish(trial: &Trial<'_>) -> Checked {
    for fields in [json!({}), json!({ "mode": "finish" })] {
        quit(trial, &fields, [&reason("limit"), &reason("clock")])?;
    }
    Ok(())
}

fn quit_stop(trial: &Trial<'_>) -> Checked {
    quit(trial, &json!({ "mode": "stop" }), [&reason("stopped"); 2])
}

fn quit_last(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.send_all(&[ping("before"), json!({ "id": "quit", "cmd": "quit" }), ping("behind"), json!([])])?;
    peer.last("before")?;
    peer.last("quit")?;
    peer.closed()?;
    let last = peer.log.last().map(|heard| heard.message.clone()).unwrap_or_default();
    like(&last, &json!({ "type": "result", "of": "quit", "id": "quit" }))?;
    peer.exit()
}

fn quit_alone(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    let mut other = trial.greet()?;
    let game = other.vast_game()?;
    other.send(&go("g", &game, endless()))?;
    other.info("g", "started")?;
    let mut peer = trial.greet()?;
    peer.result(&json!({ "id": "quit", "cmd": "quit", "mode": "stop" }))?;
    peer.closed()?;
    other.ping()?;
    holds(other.is_open("g"), "the other connection's search goes on", || "it ended".into())
}

fn signalled(trial: &Trial<'_>, signal: Signal) -> Checked {
    trial.needs_stdio()?;
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    for (id, fields) in
        [("endless", endless()), ("clock", json!({ "clock": { "kind": "per_move", "ms": 600_000 } }))]
    {
        peer.send(&go(id, &game, fields))?;
        peer.info(id, "started")?;
    }
    match peer.pid().map(|process| send(signal, process)) {
        Some(Ok(())) => {}
        Some(Err(error)) if error.kind() == io::ErrorKind::Unsupported => {
            return Err(Stop::skipped(error.to_string()));
        }
        _ => return Err(Stop::failed("a process that takes signals", "it is gone")),
    }
    // A server that lets searches go on still stops those that it is asked to stop.
    let drains = peer.hello["limits"]["drain_ms"].as_u64().is_some_and(|ms| ms > 0);
    if drains {
        peer.until(0, "a notice `going_away`", is_going_away)?;
        peer.refused(&go("late", &game, endless()), &json!({ "code": "shutting_down", "fatal": false }))?;
        peer.send_all(&["endless", "clock"].map(stop))?;
    }
    for id in ["endless", "clock"] {
        like(&peer.last(id)?, &reason(if drains { "stopped" } else { "shutdown" }))?;
    }
    peer.closed()?;
    let is_announced = peer.log.iter().any(|heard| is_going_away(&heard.message));
    holds(is_announced, "a notice `going_away`", || "none".into())?;
    peer.exit()
}

fn is_going_away(message: &Value) -> bool {
    message["type"] == "notice" && message["kind"] == "going_away"
}

fn terminate(trial: &Trial<'_>) -> Checked {
    signalled(trial, Signal::Term)
}

fn interrupt(trial: &Trial<'_>) -> Checked {
    signalled(trial, Signal::Int)
}

fn hangup(trial: &Trial<'_>) -> Checked {
    if let Err(error) = signals::let_children_heed_hangup() {
        return Err(Stop::skipped(format!("SIGHUP is ignored here: {error}")));
    }
    signalled(trial, Signal::Hup)
}
