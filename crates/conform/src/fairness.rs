//! Fairness: the requests of one connection take no more than its share from another.
//!
//! Every server must answer each honest request. How soon it answers and how deep it searches is judged only
//! if the server promises it by a feature, in comparison with the same requests on an idle server.

use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::memory::large_board;
use super::preparation::is_unprepared;
use super::requests::{endless, go, inspect, ping, stop, with};
use super::time::{Sample, answer, judge, measured, ms};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, absent, holds, like, list, number};

/// The most searches that a greedy client starts: with two threads each if the server shares out its cores,
/// else a few with one.
const GREEDY: u64 = 64;
const FEW: u64 = 4;

/// How many moves an honest client asks for.
const MOVES: usize = 9;

/// The delay beyond its control's that an honest client may suffer from others.
const SHARE: Duration = ms(20);

/// How long a server may still search for a legal move if its position was not read in time.
const UNREAD: Duration = ms(250);

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "moves",
        "beside the endless searches of another connection, moves come in time and are searched",
        moves,
    ),
    Check::new("greedy", "each of many endless searches finds a legal move and ends when stopped", greedy),
    Check::new(
        "overload",
        "each search beyond what the cores can carry is answered or `overloaded`, a connection's only one last",
        overload,
    ),
    Check::new(
        "engines",
        "at the limit of searches the connection with the most makes room for another connection",
        engines,
    ),
    Check::new("questions", "questions of one connection delay no ping, stop or go of another", questions),
    Check::new(
        "unsearched",
        "a move that there was no time to search comes behind a `warning`, if it is not refused",
        unsearched,
    ),
    Check::new("unread", "a go whose clock ends before its position is read is answered in time", unread),
];

/// Starts as many endless searches as the server takes; returns their ids. The others are refused by a typed
/// error.
fn start_many(peer: &mut Conversation<'_>) -> Checked<Vec<String>> {
    let game = peer.vast_game()?;
    let (most, threads) = if peer.has("fair_share") { (GREEDY, 2) } else { (FEW, 1) };
    let threads = number(&peer.hello["limits"], "threads")?.min(threads);
    let count = number(&peer.hello["limits"], "requests")?.min(most);
    peer.retries = false;
    let fields =
        with(endless(), &json!({ "options": { "threads": threads }, "info": { "events": ["best"] } }));
    let ids: Vec<String> = (0..count).map(|n| format!("g{n}")).collect();
    let requests: Vec<Value> = ids.iter().map(|id| go(id, &game, fields.clone())).collect();
    peer.send_all(&requests)?;
    let mut taken = Vec::new();
    for id in ids {
        let index =
            peer.until(0, &format!("a move or a refusal of `{id}`"), |message| message["id"] == *id)?;
        let first = peer.log[index].message.clone();
        if first["type"] == "error" {
            let wanted = json!({ "code": "overloaded", "fatal": false });
            like(&first, &wanted)?;
            number(&first, "retry_ms")?;
        } else {
            peer.info(&id, "best")?;
            taken.push(id);
        }
    }
    holds(!taken.is_empty(), "some searches that are taken", || "none".into())?;
    Ok(taken)
}

/// Ends them.
fn stop_many(peer: &mut Conversation<'_>, ids: &[String]) -> Checked {
    peer.result(&json!({ "id": "halt", "cmd": "stop", "all": true }))?;
    for id in ids {
        let last = peer.last(id)?;
        // One that had not begun may have been refused meanwhile.
        if last["code"] != "overloaded" {
            like(&last, &json!({ "type": "bestmove", "reason": "stopped" }))?;
        }
    }
    Ok(())
}

/// Requests moves of 100 ms; returns how late each was, and how many were not searched a single ply.
fn play(peer: &mut Conversation<'_>, name: &str) -> Checked<(Vec<Sample>, usize)> {
    let game = peer.vast_game()?;
    let mut samples = Vec::new();
    let mut blind = 0;
    for round in 0..MOVES {
        let fields = json!({ "clock": { "kind": "per_move", "ms": 100 }, "info": { "events": [] } });
        let request = go(&format!("{name}{round}"), &game, fields);
        let (sample, best) = measured(ms(100), || answer(peer, &request))?;
        like(&best, &json!({ "type": "bestmove" }))?;
        blind += usize::from(list(&best, "lines")?[0]["depth"] == 0);
        samples.push(sample);
    }
    Ok((samples, blind))
}

/// How late the median of these was.
fn median(samples: &[Sample]) -> Duration {
    let mut excess: Vec<Duration> = samples.iter().map(Sample::excess).collect();
    excess.sort();
    excess[excess.len() / 2]
}

fn moves(trial: &Trial<'_>) -> Checked {
    trial.needs_several_connections()?;
    let mut honest = trial.greet()?;
    let (alone, blind_alone) = play(&mut honest, "alone")?;
    let mut other = trial.greet()?;
    let ids = start_many(&mut other)?;
    let (beside, blind) = play(&mut honest, "beside")?;
    if honest.has("fair_share") {
        judge("a move within 100 ms beside another connection's searches", &beside, SHARE + median(&alone))?;
        // A machine that others keep busy may leave a search no time at all, but not each time.
        let is_busy = alone.iter().chain(&beside).any(Sample::is_disturbed);
        let most = if is_busy { MOVES - 1 } else { blind_alone + MOVES / 3 };
        let expected = format!("{} moves or more that are searched", MOVES.saturating_sub(most));
        holds(blind <= most, expected, || format!("{}", MOVES - blind)).map_err(Stop::if_repeated)?;
    }
    stop_many(&mut other, &ids)
}

fn greedy(trial: &Trial<'_>) -> Checked {
    trial.needs_several_connections()?;
    let mut honest = trial.greet()?;
    let mut other = trial.greet()?;
    let ids = start_many(&mut other)?;
    // Requests beside them are answered, for both connections.
    for round in 0..20 {
        let id = format!("p{round}");
        honest.result(&ping(&id))?;
        other.result(&ping(&id))?;
    }
    for id in ids.iter().step_by(3) {
        honest.result(&json!({ "id": "d", "cmd": "describe", "what": "games" }))?;
        like(&other.result(&stop(id))?, &json!({ "effect": "stopping", "targets": [id] }))?;
        like(&other.last(id)?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    }
    let others: Vec<String> =
        ids.iter().enumerate().filter(|(n, _)| n % 3 != 0).map(|(_, id)| id.clone()).collect();
    stop_many(&mut other, &others)
}

/// What must come with a move of depth 0.
const WARNED: &str = "a `warning` before a move that there was no time to search";

/// Whether a move was searched, or the answer says why not: by its reason, or by a warning before it.
fn says_whether_searched(peer: &Conversation<'_>, best: &Value) -> bool {
    let lacked_time = ["clock", "deadline", "limit"].iter().any(|reason| best["reason"] == *reason);
    let is_unsearched =
        best["lines"][0]["depth"] == 0 && best["lines"][0]["score"].get("proof").is_none() && lacked_time;
    let warning = json!({ "type": "notice", "kind": "warning", "id": best["id"] });
    !is_unsearched || peer.log.iter().any(|heard| like(&heard.message, &warning).is_ok())
}

fn overload(trial: &Trial<'_>) -> Checked {
    trial.needs_several_connections()?;
    let mut honest = trial.greet()?;
    let mut other = trial.greet()?;
    other.retries = false;
    let game = other.vast_game()?;
    let is_shared = other.has("fair_share");
    let limit = |name: &str| number(&other.hello["limits"], name);
    let most = limit("requests")?.saturating_sub(1).min(GREEDY);
    let threads = if is_shared { limit("threads")?.min(2) } else { 1 };
    let fields = json!({ "clock": { "kind": "per_move", "ms": 300 }, "options": { "threads": threads },
        "info": { "events": ["started"] } });
    let waiting = with(fields.clone(), &json!({ "queue": true }));
    let short = with(fields.clone(), &json!({ "clock": { "kind": "per_move", "ms": 3 } }));
    let waits = |n: u64| is_shared && n % 4 == 3;
    for round in 0..3 {
        let id = |n: u64| format!("g{round}-{n}");
        let mut requests: Vec<Value> = (0..most)
            .map(|n| go(&id(n), &game, if waits(n) { waiting.clone() } else { fields.clone() }))
            .collect();
        requests.push(go("short", &game, short.clone()));
        other.send_all(&requests)?;
        // A retry after an `overloaded` stays within its clock.
        honest.best(&go(&format!("only{round}"), &game, fields.clone()))?;
        for n in 0..most {
            let last = other.last(&id(n))?;
            if is_refused(&other, &last, is_shared)? {
                holds(!waits(n), "no refusal of a search with `queue`", || last.to_string())?;
                holds(
                    other.first_place(&id(n))? == other.place(&id(n))?,
                    "no refusal behind an `info`",
                    || last.to_string(),
                )?;
            }
        }
        // A go whose time is almost over is refused as well, if it cannot be searched.
        let last = other.last("short")?;
        is_refused(&other, &last, is_shared)?;
    }
    let refused = honest.overloads.len();
    // If the machine stands still while its clock runs, too little is left of that.
    holds(refused == 0, "no refusal of a connection's only search beside so many of another one", || {
        format!("{refused}")
    })
    .map_err(Stop::if_repeated)
}

/// Whether a search was refused for the load. Else it was answered, or ended before its position was read, as
/// it may on a busy machine: no legal move was known a second after its clock had run out.
fn is_refused(peer: &Conversation<'_>, last: &Value, is_shared: bool) -> Result<bool, Stop> {
    if is_unprepared(last) {
        return Ok(false);
    }
    if last["type"] == "error" {
        like(last, &json!({ "code": "overloaded", "fatal": false }))?;
        number(last, "retry_ms")?;
        return Ok(true);
    }
    like(last, &json!({ "type": "bestmove" }))?;
    holds(!is_shared || says_whether_searched(peer, last), WARNED, || last.to_string())?;
    Ok(false)
}

fn unsearched(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    if !peer.has("fair_share") {
        return Err(Stop::skipped("cores are not shared out"));
    }
    let game = peer.vast_game()?;
    // Clocks that are over when they come, and one that is hardly begun.
    let clocks = [-5, 0, 1].map(|ms| json!({ "clock": { "kind": "per_move", "ms": ms } }));
    let limits = [json!({ "limit": { "time_ms": 0 } }), with(endless(), &json!({ "hard_ms": 0 }))];
    for (n, fields) in clocks.into_iter().chain(limits).enumerate() {
        let id = format!("u{n}");
        let best = peer.best(&go(&id, &game, fields))?;
        holds(says_whether_searched(&peer, &best), WARNED, || best.to_string())?;
    }
    Ok(())
}

fn engines(trial: &Trial<'_>) -> Checked {
    trial.needs_several_connections()?;
    let mut honest = trial.greet()?;
    let most = match honest.hello["limits"]["engines"].as_u64() {
        Some(most) if most <= GREEDY => most,
        Some(most) => return Err(Stop::skipped(format!("{most} searches are too many to try"))),
        None => return Err(Stop::skipped("no limit of searches is announced")),
    };
    let mut greedy = trial.greet()?;
    greedy.retries = false;
    let game = greedy.vast_game()?;
    let fields = with(endless(), &json!({ "info": { "events": ["best"] } }));
    for n in 0..most {
        let id = format!("g{n}");
        greedy.send(&go(&id, &game, fields.clone()))?;
        greedy.info(&id, "best")?;
    }
    // No connection has more searches than the one that asks.
    let refused = greedy.refused(&go("more", &game, fields.clone()), &json!({ "code": "overloaded" }))?;
    number(&refused, "retry_ms")?;
    honest.best(&go("m", &game, json!({ "clock": { "kind": "per_move", "ms": 100 } })))?;
    let superseded = greedy.last(&format!("g{}", most - 1))?;
    like(&superseded, &json!({ "type": "bestmove", "reason": "superseded" }))?;
    absent(&superseded, "superseded_by")?;
    // The place is free again.
    greedy.send(&go("again", &game, fields))?;
    greedy.info("again", "best")?;
    holds(honest.overloads.is_empty(), "no refusal of a connection with fewer searches", || {
        format!("{}", honest.overloads.len())
    })
}

/// Waits for a ping, a stop and a description, each some times.
fn ask(peer: &mut Conversation<'_>, name: &str) -> Checked<Vec<Sample>> {
    let game = peer.vast_game()?;
    let mut samples = Vec::new();
    for round in 0..MOVES {
        let id = format!("{name}-p{round}");
        let (sample, _) = measured(Duration::ZERO, || answer(peer, &ping(&id)))?;
        samples.push(sample);
        let id = format!("{name}-d{round}");
        let request = json!({ "id": id, "cmd": "describe", "what": "game", "game": game["game"] });
        let (sample, result) = measured(Duration::ZERO, || answer(peer, &request))?;
        like(&result, &json!({ "type": "result" }))?;
        samples.push(sample);
        let id = format!("{name}-g{round}");
        peer.send(&go(&id, &game, endless()))?;
        peer.info(&id, "started")?;
        let (sample, _) = measured(Duration::ZERO, || {
            let sent = peer.send(&stop(&id))?;
            let heard = peer.last_heard(&id)?;
            Ok((sent, heard.at, heard.message))
        })?;
        samples.push(sample);
    }
    Ok(samples)
}

fn questions(trial: &Trial<'_>) -> Checked {
    trial.needs_several_connections()?;
    let mut honest = trial.greet()?;
    let alone = ask(&mut honest, "alone")?;
    let mut other = trial.greet()?;
    let game = other.vast_game()?;
    // Slow questions are asked only if the server promises a bound for them.
    let is_bounded = other.has("preparation") && other.offers("sudoku");
    let most = number(&other.hello["limits"], "requests")?.min(64);
    let requests: Vec<Value> = (0..most)
        .map(|n| {
            let id = format!("q{n}");
            if is_bounded && n % 8 == 0 {
                let sudoku = json!({ "game": "sudoku" });
                inspect(&id, &sudoku, &json!({ "start": large_board(n) }), &["legal"])
            } else {
                inspect(&id, &game, &json!({}), &["moves", "board", "eval"])
            }
        })
        .collect();
    other.send_all(&requests)?;
    let beside = ask(&mut honest, "beside")?;
    let played = play(&mut honest, "move")?.0;
    // The connection that asks is still read, too.
    other.ping()?;
    if is_bounded {
        judge("answers beside slow questions of another connection", &beside, SHARE + 2 * median(&alone))?;
        judge("moves beside slow questions of another connection", &played, SHARE)?;
    } else {
        for n in 0..most {
            other.last(&format!("q{n}"))?;
        }
        return Ok(());
    }
    // What it leaves behind delays no other connection.
    other.vanish();
    let after = ask(&mut honest, "after")?;
    judge("answers after the asking connection has left", &after, SHARE + 2 * median(&alone))
}

fn unread(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("sudoku")?;
    let is_bounded = peer.has("preparation");
    let sudoku = json!({ "game": "sudoku" });
    let mut samples = Vec::new();
    for round in 0..MOVES as u64 {
        // Without the promise the board is a quick one.
        let position = if is_bounded { json!({ "start": large_board(round) }) } else { json!({}) };
        let fields = json!({ "position": position, "clock": { "kind": "per_move", "ms": 100 } });
        let id = format!("g{round}");
        let (sample, last) = measured(ms(100), || answer(&mut peer, &go(&id, &sudoku, fields)))?;
        let is_move = last["type"] == "bestmove";
        let is_error =
            ["unprepared", "undecided", "illegal_position"].iter().any(|code| last["code"] == *code);
        holds(is_move || is_bounded && is_error, "a move, or an error of its position", || last.to_string())?;
        samples.push(sample);
    }
    judge("an answer within 100 ms, or 250 ms later", &samples, UNREAD)
}
