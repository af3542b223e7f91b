//! Ends: of the input, by `quit` and by signals, and what becomes of searches.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go, ping, session, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like};
use plyd_protocol::client::signals;

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
fn start_all(talk: &mut Conversation<'_>, is_soon: bool) -> Checked {
    let game = talk.vast_game()?;
    talk.sessions(&["s"], &game)?;
    let (nodes, ms) = if is_soon { (20_000_u64, 50_u64) } else { (1 << 50, 1 << 40) };
    talk.send(&go("nodes", &game, json!({ "limit": { "nodes": nodes } })))?;
    talk.send(&go("clock", &game, json!({ "clock": { "kind": "per_move", "ms": ms } })))?;
    talk.send(&go("endless", &game, endless()))?;
    talk.send(&go("anytime", &game, json!({ "clock": { "kind": "anytime" } })))?;
    talk.send(&go("session", &session("s"), endless()))?;
    Ok(())
}

/// Each search has its end: the limited ones and the others.
fn check_all(talk: &mut Conversation<'_>, limited: [&Value; 2], open: &Value) -> Checked {
    for (id, wanted) in [
        ("nodes", limited[0]),
        ("clock", limited[1]),
        ("endless", open),
        ("anytime", open),
        ("session", open),
    ] {
        like(&talk.last(id)?, wanted).map_err(|stop| stop.at(id))?;
    }
    talk.closed()?;
    talk.exit()
}

fn reason(reason: &str) -> Value {
    json!({ "type": "bestmove", "reason": reason })
}

fn at_eof(trial: &Trial<'_>, on_eof: &str) -> Checked {
    trial.needs_half_closing()?;
    let mut talk = trial.greet_with(&json!({ "on_eof": on_eof }))?;
    start_all(&mut talk, on_eof == "finish")?;
    talk.end_input();
    match on_eof {
        "finish" => check_all(&mut talk, [&reason("limit"), &reason("clock")], &reason("stopped")),
        "stop" => check_all(&mut talk, [&reason("stopped"); 2], &reason("stopped")),
        _ => {
            let cancelled = json!({ "type": "error", "code": "cancelled", "fatal": false });
            check_all(&mut talk, [&cancelled; 2], &cancelled)
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
    let mut talk = trial.open()?;
    talk.send(&go("nodes", &game, json!({ "limit": { "nodes": 20_000 } })))?;
    talk.send(&go("endless", &game, endless()))?;
    talk.end_input();
    like(&talk.last("nodes")?, &reason("limit"))?;
    like(&talk.last("endless")?, &reason("stopped"))?;
    talk.closed()?;
    talk.exit()
}

fn eof_ponder(trial: &Trial<'_>) -> Checked {
    trial.needs_half_closing()?;
    for mode in ["ponder", "analyse"] {
        let mut talk = trial.greet()?;
        let game = talk.vast_game()?;
        talk.send(&go("g", &game, json!({ "mode": mode })))?;
        talk.info("g", "started")?;
        talk.end_input();
        like(&talk.last("g")?, &reason("stopped"))?;
        talk.closed()?;
        talk.exit()?;
    }
    Ok(())
}

fn eof_queued(trial: &Trial<'_>) -> Checked {
    trial.needs_half_closing()?;
    let mut talk = trial.greet()?;
    let game = talk.vast_game()?;
    talk.sessions(&["s"], &game)?;
    let s = session("s");
    talk.send(&go("a", &s, json!({ "limit": { "nodes": 200_000 } })))?;
    talk.send(&go("b", &s, json!({ "limit": { "nodes": 500 }, "queue": true })))?;
    talk.send(&go("c", &s, with(endless(), &json!({ "queue": true }))))?;
    talk.end_input();
    like(&talk.last("a")?, &reason("limit"))?;
    like(&talk.last("b")?, &reason("limit"))?;
    like(&talk.last("c")?, &reason("stopped"))?;
    talk.closed()
}

fn eof_unanswered(trial: &Trial<'_>) -> Checked {
    trial.needs_half_closing()?;
    let mut talk = trial.greet()?;
    let requests: Vec<Value> = (0..200).map(|n| ping(&format!("p{n}"))).collect();
    talk.send_all(&requests)?;
    talk.send(&json!({ "id": "d", "cmd": "describe", "what": "games" }))?;
    talk.end_input();
    for n in 0..200 {
        talk.last(&format!("p{n}"))?;
    }
    talk.last("d")?;
    talk.closed()
}

/// Quits; the result comes last.
fn quit(trial: &Trial<'_>, fields: &Value, limited: [&Value; 2]) -> Checked {
    let mut talk = trial.greet()?;
    start_all(&mut talk, fields.get("mode") != Some(&json!("stop")))?;
    talk.send(&with(json!({ "id": "quit", "cmd": "quit" }), fields))?;
    check_all(&mut talk, limited, &reason("stopped"))?;
    let last = talk.log.last().map(|heard| heard.message.clone()).unwrap_or_default();
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
    let mut talk = trial.greet()?;
    talk.send_all(&[ping("before"), json!({ "id": "quit", "cmd": "quit" }), ping("behind"), json!([])])?;
    talk.last("before")?;
    talk.last("quit")?;
    talk.closed()?;
    let last = talk.log.last().map(|heard| heard.message.clone()).unwrap_or_default();
    like(&last, &json!({ "type": "result", "of": "quit", "id": "quit" }))?;
    talk.exit()
}

fn quit_alone(trial: &Trial<'_>) -> Checked {
    trial.needs_socket()?;
    let mut other = trial.greet()?;
    let game = other.vast_game()?;
    other.send(&go("g", &game, endless()))?;
    other.info("g", "started")?;
    let mut talk = trial.greet()?;
    talk.result(&json!({ "id": "quit", "cmd": "quit", "mode": "stop" }))?;
    talk.closed()?;
    other.ping()?;
    holds(other.is_open("g"), "the other connection's search goes on", || "it ended".into())
}

fn signalled(trial: &Trial<'_>, signal: Signal) -> Checked {
    trial.needs_stdio()?;
    let mut talk = trial.greet()?;
    let game = talk.vast_game()?;
    for (id, fields) in
        [("endless", endless()), ("clock", json!({ "clock": { "kind": "per_move", "ms": 600_000 } }))]
    {
        talk.send(&go(id, &game, fields))?;
        talk.info(id, "started")?;
    }
    let process = talk.pid().and_then(|pid| Pid::from_raw(pid as i32));
    let sent = process.map(|process| kill_process(process, signal));
    if !matches!(sent, Some(Ok(()))) {
        return Err(Stop::failed("a process that takes signals", "it is gone"));
    }
    for id in ["endless", "clock"] {
        like(&talk.last(id)?, &reason("shutdown"))?;
    }
    talk.closed()?;
    let is_announced = talk
        .log
        .iter()
        .any(|heard| heard.message["type"] == "notice" && heard.message["kind"] == "going_away");
    holds(is_announced, "a notice `going_away`", || "none".into())?;
    talk.exit()
}

fn terminate(trial: &Trial<'_>) -> Checked {
    signalled(trial, Signal::TERM)
}

fn interrupt(trial: &Trial<'_>) -> Checked {
    signalled(trial, Signal::INT)
}

fn hangup(trial: &Trial<'_>) -> Checked {
    if let Err(error) = signals::let_children_heed_hangup() {
        return Err(Stop::skipped(format!("SIGHUP is ignored here: {error}")));
    }
    signalled(trial, Signal::HUP)
}
