//! Races: who wins when two things happen at once, and what becomes of the other.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go, newgame, session, stop, update, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, absent, holds, like, number, text, texts};

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "stop-decides",
        "`stopping` comes before the bestmove that it causes, `already_finished` after the bestmove",
        stop_decides,
    ),
    Check::new("stop-behind-go", "a stop right behind its go gets a legal move", stop_behind_go),
    Check::new("stop-unknown", "a stop of an unknown target is `unknown`", stop_unknown),
    Check::new("stop-twice", "a stop of a finished search is `already_finished`", stop_twice),
    Check::new("stop-session", "a stop of a session ends its searches and no other", stop_session),
    Check::new("stop-all", "a stop of all lists the searches that it ends", stop_all),
    Check::new("stop-idle", "a stop when no search runs is `already_finished`", stop_idle),
    Check::refusals("stop-one-target", "a second target of a stop is `unknown_field`"),
    Check::new("discard", "a discarded search ends in `cancelled`", discard),
    Check::new(
        "ponder-superseded",
        "a go in a session that ponders ends the ponder first",
        ponder_superseded,
    ),
    Check::new(
        "analysis-superseded",
        "a go in a session that analyses ends the analysis first",
        analysis_superseded,
    ),
    Check::new("refused-go", "a refused go supersedes nothing", refused_go),
    Check::refusals("busy", "a go in a session that searches a move is `session_busy`"),
    Check::new("queue", "with `queue` it waits its turn, and its clock stands still", queue),
    Check::new("stop-queued", "a stopped go that waits answers with a move", stop_queued),
    Check::new("newgame-closes", "a newgame ends its session's search first, `closed`", newgame_closes),
    Check::new("close-closes", "a close ends its session's search first, `closed`", close_closes),
    Check::new("ponderhit", "update to mode move starts the clock", ponderhit),
    Check::new(
        "ponderhit-clock",
        "a ponderhit without any clock is refused and changes nothing",
        ponderhit_clock,
    ),
    Check::new(
        "update-limits",
        "update replaces clock, limit and hard_ms of a running search",
        update_limits,
    ),
    Check::new(
        "update-late",
        "an update of a finished search is answered by an effect, not an error",
        update_late,
    ),
    Check::new(
        "update-queued",
        "an update of a go that waits leaves it waiting, and counts then",
        update_queued,
    ),
    Check::new("update-move", "an update to the mode that a search has is `updated`", update_move),
    Check::new(
        "cores",
        "a search for a move takes the cores of an analysis; an analysis takes no occupied cores",
        cores,
    ),
    Check::new(
        "set-while-searching",
        "a `setoption` during a search applies to the next one",
        set_while_searching,
    ),
];

/// A greeted connection with the sessions named.
fn begin<'a>(trial: &Trial<'a>, names: &[&str]) -> Checked<(Conversation<'a>, Value)> {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.sessions(names, &game)?;
    Ok((peer, game))
}

/// Starts a search and waits until it runs.
fn start(peer: &mut Conversation<'_>, request: &Value) -> Checked {
    peer.send(request)?;
    peer.info(text(request, "id")?, "started").map(drop)
}

fn stop_decides(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    // From too early to too late, in steps that suit the speed of the server.
    for round in 0..60_u32 {
        let id = format!("g{round}");
        let nodes = 1_u64 << (round % 20);
        let search = go(&id, &game, json!({ "limit": { "nodes": nodes }, "info": { "events": [] } }));
        if round % 3 == 0 {
            peer.send_all(&[search, stop(&id)])?;
        } else {
            peer.send(&search)?;
            for _ in 0..round % 7 {
                peer.ping()?;
            }
            peer.send(&stop(&id))?;
        }
        let result = peer.last(&format!("stop-{id}"))?;
        let best = peer.last(&id)?;
        like(&best, &json!({ "type": "bestmove" }))?;
        let is_first = peer.place(&format!("stop-{id}"))? < peer.place(&id)?;
        let came = || format!("{result} and {best}");
        match text(&result, "effect")? {
            "stopping" => {
                let is_stopped = best["reason"] == "stopped" && result["targets"] == json!([id]);
                holds(is_first && is_stopped, "`stopping` with its target, then a bestmove `stopped`", came)?;
            }
            "already_finished" => {
                let is_over = best["reason"] != "stopped" && result["targets"] == json!([]);
                holds(
                    !is_first && is_over,
                    "a bestmove that is not `stopped`, then `already_finished`",
                    came,
                )?;
            }
            _ => return Err(Stop::failed("`stopping` or `already_finished`", came())),
        }
    }
    Ok(())
}

fn stop_behind_go(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &["s"])?;
    for round in 0..3 {
        for (index, (whose, fields)) in [
            (&session("s"), endless()),
            (&session("s"), json!({ "mode": "ponder" })),
            (&game, json!({ "mode": "analyse" })),
            (&game, json!({ "clock": { "kind": "anytime" } })),
            (&session("s"), json!({ "clock": { "kind": "per_move", "ms": 60_000 }, "queue": true })),
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("g{round}-{index}");
            peer.send_all(&[go(&id, whose, fields), stop(&id)])?;
            like(&peer.last(&format!("stop-{id}"))?, &json!({ "effect": "stopping", "targets": [id] }))?;
            like(&peer.last(&id)?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
        }
    }
    Ok(())
}

fn stop_unknown(trial: &Trial<'_>) -> Checked {
    let (mut peer, _) = begin(trial, &[])?;
    like(&peer.result(&stop("never"))?, &json!({ "effect": "unknown", "targets": [] }))?;
    let result = peer.result(&json!({ "id": "s", "cmd": "stop", "session": "never" }))?;
    like(&result, &json!({ "effect": "unknown", "targets": [] }))
}

fn stop_twice(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    start(&mut peer, &go("g", &game, endless()))?;
    like(&peer.result(&stop("g"))?, &json!({ "effect": "stopping", "targets": ["g"] }))?;
    peer.last("g")?;
    for id in ["again", "and-again"] {
        let result = peer.result(&with(stop("g"), &json!({ "id": id })))?;
        like(&result, &json!({ "effect": "already_finished", "targets": [] }))?;
    }
    Ok(())
}

fn stop_session(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &["s"])?;
    start(&mut peer, &go("other", &game, endless()))?;
    peer.send(&go("a", &session("s"), endless()))?;
    peer.send(&go("b", &session("s"), with(endless(), &json!({ "queue": true }))))?;
    let result = peer.result(&json!({ "id": "s", "cmd": "stop", "session": "s" }))?;
    let mut targets = texts(&result, "targets")?;
    targets.sort();
    holds(result["effect"] == "stopping" && targets == ["a", "b"], "`stopping` of a and b", || {
        result.to_string()
    })?;
    for id in ["a", "b"] {
        like(&peer.last(id)?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    }
    peer.ping()?;
    holds(peer.is_open("other"), "a search without the session goes on", || "it ended".into())
}

fn stop_all(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &["s"])?;
    peer.send(&go("a", &session("s"), endless()))?;
    peer.send(&go("b", &game, endless()))?;
    peer.send(&go("c", &game, endless()))?;
    let result = peer.result(&json!({ "id": "s", "cmd": "stop", "all": true }))?;
    let mut targets = texts(&result, "targets")?;
    targets.sort();
    let is_right = result["effect"] == "stopping" && targets == ["a", "b", "c"];
    holds(is_right, "`stopping` of a, b and c", || result.to_string())?;
    for id in ["a", "b", "c"] {
        like(&peer.last(id)?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
        holds(peer.place("s")? < peer.place(id)?, "the result before the moves", || format!("{id} first"))?;
    }
    Ok(())
}

fn stop_idle(trial: &Trial<'_>) -> Checked {
    let (mut peer, _) = begin(trial, &["s"])?;
    for (id, fields) in [("1", json!({ "all": true })), ("2", json!({ "session": "s" }))] {
        let result = peer.result(&with(json!({ "id": id, "cmd": "stop" }), &fields))?;
        like(&result, &json!({ "effect": "already_finished", "targets": [] }))?;
    }
    Ok(())
}

fn discard(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &["s"])?;
    for (id, whose, fields, target) in [
        ("a", &game, endless(), json!({ "target": "a" })),
        ("b", &session("s"), json!({ "mode": "ponder" }), json!({ "session": "s" })),
        ("c", &game, json!({ "mode": "analyse" }), json!({ "all": true })),
    ] {
        start(&mut peer, &go(id, whose, fields))?;
        let halt = json!({ "id": format!("s{id}"), "cmd": "stop", "discard": true });
        like(&peer.result(&with(halt, &target))?, &json!({ "effect": "stopping", "targets": [id] }))?;
        like(&peer.last(id)?, &json!({ "type": "error", "code": "cancelled", "fatal": false }))?;
    }
    peer.best(&go("after", &session("s"), json!({ "limit": { "nodes": 10 } }))).map(drop)
}

fn superseded(trial: &Trial<'_>, mode: &str) -> Checked {
    let (mut peer, _) = begin(trial, &["s"])?;
    let s = session("s");
    for (round, next) in
        [json!({ "limit": { "nodes": 500 } }), json!({ "mode": "ponder" }), json!({ "mode": "analyse" })]
            .into_iter()
            .enumerate()
    {
        let (old, new) = (format!("old{round}"), format!("new{round}"));
        start(&mut peer, &go(&old, &s, json!({ "mode": mode })))?;
        peer.send(&go(&new, &s, next))?;
        like(
            &peer.last(&old)?,
            &json!({ "type": "bestmove", "reason": "superseded", "superseded_by": new }),
        )?;
        peer.info(&new, "started")?;
        let is_first = peer.place(&old)? < peer.first_place(&new)?;
        holds(is_first, "the old search's bestmove before any message of the new one", || {
            "it came later".into()
        })?;
        peer.result(&json!({ "id": "halt", "cmd": "stop", "session": "s" }))?;
        like(&peer.last(&new)?, &json!({ "type": "bestmove" }))?;
    }
    Ok(())
}

fn ponder_superseded(trial: &Trial<'_>) -> Checked {
    superseded(trial, "ponder")
}

fn analysis_superseded(trial: &Trial<'_>) -> Checked {
    superseded(trial, "analyse")
}

fn refused_go(trial: &Trial<'_>) -> Checked {
    let (mut peer, _) = begin(trial, &["s"])?;
    let s = session("s");
    start(&mut peer, &go("p", &s, json!({ "mode": "ponder" })))?;
    for (id, fields, code) in [
        ("1", json!({ "position": { "moves": ["nonsense"] } }), "illegal_move"),
        ("2", json!({ "position": { "start": "?" } }), "bad_position"),
        ("3", json!({ "searchmoves": ["nonsense"] }), "illegal_move"),
        ("4", json!({ "options": { "player": "nobody" } }), "option_invalid"),
        ("5", json!({ "options": { "wings": 2 } }), "option_unknown"),
    ] {
        let request = go(id, &s, with(json!({ "limit": { "nodes": 100 } }), &fields));
        peer.refused(&request, &json!({ "code": code }))?;
        holds(peer.is_open("p"), "what ponders goes on", || format!("ended by {request}"))?;
    }
    like(&peer.result(&stop("p"))?, &json!({ "effect": "stopping" }))
}

fn queue(trial: &Trial<'_>) -> Checked {
    let (mut peer, _) = begin(trial, &["s"])?;
    let s = session("s");
    start(&mut peer, &go("a", &s, endless()))?;
    peer.send(&go("b", &s, json!({ "queue": true, "clock": { "kind": "per_move", "ms": 20 } })))?;
    peer.send(&go("c", &s, json!({ "queue": true, "limit": { "nodes": 1000 } })))?;
    // Longer than the clock of the waiting search, which stands still.
    let since = std::time::Instant::now();
    while since.elapsed().as_millis() < 60 {
        peer.ping()?;
    }
    holds(peer.is_open("b") && peer.is_open("c"), "both wait", || "one ended before its turn".into())?;
    like(&peer.result(&stop("a"))?, &json!({ "effect": "stopping", "targets": ["a"] }))?;
    like(&peer.last("a")?, &json!({ "reason": "stopped" }))?;
    like(&peer.last("b")?, &json!({ "type": "bestmove" }))?;
    like(&peer.last("c")?, &json!({ "type": "bestmove" }))?;
    let is_ordered = peer.place("a")? < peer.first_place("b")? && peer.place("b")? < peer.first_place("c")?;
    holds(is_ordered, "each begins when the one before has ended", || "another order".into())
}

fn stop_queued(trial: &Trial<'_>) -> Checked {
    let (mut peer, _) = begin(trial, &["s"])?;
    let s = session("s");
    start(&mut peer, &go("a", &s, endless()))?;
    peer.send(&go("b", &s, with(endless(), &json!({ "queue": true }))))?;
    like(&peer.result(&stop("b"))?, &json!({ "effect": "stopping", "targets": ["b"] }))?;
    like(&peer.last("b")?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    holds(peer.is_open("a"), "the running search goes on", || "it ended".into())
}

fn closed_by(trial: &Trial<'_>, end: &Value) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    let s = session("s");
    for (round, fields) in
        [endless(), json!({ "mode": "ponder" }), json!({ "mode": "analyse" })].into_iter().enumerate()
    {
        peer.sessions(&["s"], &game)?;
        let id = format!("g{round}");
        start(&mut peer, &go(&id, &s, fields))?;
        peer.result(&with(end.clone(), &game_of(end, &game)))?;
        like(&peer.last(&id)?, &json!({ "type": "bestmove", "reason": "closed" }))?;
        let is_first = peer.place(&id)? < peer.place("end")?;
        holds(is_first, "the search's bestmove before the result", || "it came later".into())?;
    }
    Ok(())
}

/// What a request needs beside its command.
fn game_of(end: &Value, game: &Value) -> Value {
    if end["cmd"] == "newgame" { game.clone() } else { json!({}) }
}

fn newgame_closes(trial: &Trial<'_>) -> Checked {
    closed_by(trial, &newgame("s", &json!({}), json!({ "id": "end" })))
}

fn close_closes(trial: &Trial<'_>) -> Checked {
    closed_by(trial, &json!({ "id": "end", "cmd": "close", "session": "s" }))
}

fn ponderhit(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &["s"])?;
    let short = json!({ "kind": "per_move", "ms": 30 });
    for (round, (whose, fields, change)) in [
        (&session("s"), json!({ "mode": "ponder" }), json!({ "mode": "move", "clock": short })),
        (&game, json!({ "mode": "ponder", "clock": short }), json!({ "mode": "move" })),
        (&game, json!({ "mode": "analyse" }), json!({ "mode": "move", "clock": short })),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("g{round}");
        start(&mut peer, &go(&id, whose, fields))?;
        peer.ping()?;
        holds(peer.is_open(&id), "a ponder whose clock stands", || "it ended before the update".into())?;
        like(&peer.result(&update(&id, change))?, &json!({ "effect": "updated" }))?;
        like(&peer.last(&id)?, &json!({ "type": "bestmove", "reason": "clock" }))?;
    }
    Ok(())
}

fn ponderhit_clock(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    start(&mut peer, &go("g", &game, json!({ "mode": "ponder" })))?;
    for (id, fields) in [("1", json!({})), ("2", json!({ "limit": {} })), ("3", json!({ "hard_ms": 50_000 }))]
    {
        let request = with(update("g", json!({ "id": id, "mode": "move" })), &fields);
        peer.refused(&request, &json!({ "code": "missing_field", "pointer": "/clock" }))?;
    }
    holds(peer.is_open("g"), "it ponders on", || "it ended".into())?;
    like(&peer.result(&stop("g"))?, &json!({ "effect": "stopping" }))
}

fn update_limits(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    for (round, (fields, change, reason)) in [
        (json!({ "mode": "analyse" }), json!({ "limit": { "time_ms": 5 } }), "limit"),
        (json!({ "mode": "analyse" }), json!({ "limit": { "nodes": 10 } }), "limit"),
        (json!({ "mode": "ponder" }), json!({ "hard_ms": 5 }), "deadline"),
        (endless(), json!({ "clock": { "kind": "per_move", "ms": 20 } }), "clock"),
        (endless(), json!({ "hard_ms": 0 }), "deadline"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("g{round}");
        start(&mut peer, &go(&id, &game, fields))?;
        like(&peer.result(&update(&id, change.clone()))?, &json!({ "effect": "updated" }))?;
        let best = peer.last(&id)?;
        like(&best, &json!({ "type": "bestmove", "reason": reason }))
            .map_err(|stop| stop.at(&change.to_string()))?;
        let is_first = peer.place(&format!("update-{id}"))? < peer.place(&id)?;
        holds(is_first, "the result before the move", || "it came later".into())?;
    }
    Ok(())
}

fn update_late(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    peer.best(&go("g", &game, json!({ "limit": { "nodes": 1 } })))?;
    let change = json!({ "limit": { "nodes": 5 } });
    like(&peer.result(&update("g", change.clone()))?, &json!({ "effect": "already_finished" }))?;
    like(&peer.result(&update("never", change))?, &json!({ "effect": "unknown" }))
}

fn update_queued(trial: &Trial<'_>) -> Checked {
    let (mut peer, _) = begin(trial, &["s"])?;
    let s = session("s");
    start(&mut peer, &go("a", &s, endless()))?;
    peer.send(&go("b", &s, with(endless(), &json!({ "queue": true }))))?;
    let change = json!({ "clock": { "kind": "per_move", "ms": 20 } });
    like(&peer.result(&update("b", change))?, &json!({ "effect": "updated" }))?;
    peer.result(&stop("a"))?;
    like(&peer.last("a")?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    like(&peer.last("b")?, &json!({ "type": "bestmove", "reason": "clock" }))?;
    let is_first = peer.place("a")? < peer.place("b")?;
    holds(is_first, "the clock of the one that waits stands still", || "it ended first".into())
}

fn update_move(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    start(&mut peer, &go("m", &game, endless()))?;
    like(&peer.result(&update("m", json!({ "mode": "move" })))?, &json!({ "effect": "updated" }))?;
    holds(peer.is_open("m"), "the search goes on", || "it ended".into())?;
    peer.result(&stop("m"))?;
    like(&peer.last("m")?, &json!({ "type": "bestmove", "reason": "stopped" }))
}

fn cores(trial: &Trial<'_>) -> Checked {
    let (mut peer, game) = begin(trial, &[])?;
    let searches = number(&peer.hello["limits"], "searches")?;
    if searches > 64 {
        return Err(Stop::skipped(format!("{searches} searches are too many to start")));
    }
    for index in 0..searches {
        start(&mut peer, &go(&format!("a{index}"), &game, json!({ "mode": "analyse" })))?;
    }
    for mode in ["analyse", "ponder"] {
        peer.refused(
            &go(mode, &game, json!({ "mode": mode })),
            &json!({ "code": "overloaded", "fatal": false, "retry_ms": 1000 }),
        )?;
    }
    peer.send(&go("waits", &game, json!({ "mode": "analyse", "queue": true })))?;
    peer.send(&go("move", &game, endless()))?;
    // The server chooses whose cores it takes.
    let from = peer.log.len();
    let index = peer.until(from, "the bestmove of the analysis whose cores are taken", |message| {
        message["type"] == "bestmove"
    })?;
    let best = peer.log[index].message.clone();
    like(&best, &json!({ "reason": "superseded", "superseded_by": "move" }))?;
    peer.info("move", "started")?;
    holds(peer.is_open("waits"), "an analysis with `queue` waits", || "it ended".into())?;
    // If no analysis is left to end, a search for a move runs beside the others.
    for index in 0..searches {
        start(&mut peer, &go(&format!("m{index}"), &game, endless()))?;
    }
    absent(&peer.result(&json!({ "id": "t", "cmd": "status" }))?, "code")
}

fn set_while_searching(trial: &Trial<'_>) -> Checked {
    let (mut peer, _) = begin(trial, &["s"])?;
    let s = session("s");
    start(&mut peer, &go("g", &s, json!({ "mode": "ponder" })))?;
    let set = json!({ "id": "o", "cmd": "setoption", "session": "s", "options": { "player": "random" } });
    like(&peer.result(&set)?, &json!({ "options": { "player": "random" } }))?;
    peer.ping()?;
    holds(peer.is_open("g"), "the search goes on", || "it ended".into())?;
    peer.result(&stop("g"))?;
    like(&peer.last("g")?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    // It answers at once, as the player that was set does.
    like(&peer.best(&go("h", &s, endless()))?, &json!({ "reason": "limit" }))
}
