//! Preparation: what a server does with positions that take its rules long to read.
//!
//! Judged only if the feature `preparation` promises a bound. The boards of `slow.txt` are slow for a solver
//! that searches; a server that finds out at once has nothing to be undecided about, and passes.

use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::requests::{endless, go, inspect, newgame, session, stop};
use super::time::{judge, measured, ms};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like, list, number};

/// How long after the end of a search the server may still look for a legal move, and how late it may then
/// answer.
const UNPREPARED: Duration = ms(1250);

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "undecided",
        "what the rules cannot decide within their bounds is `undecided`; equal questions get equal answers",
        undecided,
    ),
    Check::new(
        "placed",
        "a go plays an `undecided` move as given, warns about it first, and claims no proof",
        placed,
    ),
    Check::new("stopped", "a stop ends the reading of a position with a move or `unprepared`", stopped),
    Check::new("closed", "a close ends within 1 s the reading of positions for its session", closed),
];

/// A connection to a server that promises bounds, and the slow positions.
fn greet<'t>(trial: &Trial<'t>) -> Checked<(Conversation<'t>, Vec<Value>)> {
    let peer = trial.greet()?;
    peer.needs("sudoku")?;
    if !peer.has("preparation") {
        return Err(Stop::skipped("no bound of the reading of positions is promised"));
    }
    Ok((peer, slow_positions()))
}

/// The positions of `slow.txt`.
pub(super) fn slow_positions() -> Vec<Value> {
    let rows = include_str!("slow.txt").lines().filter(|line| !line.starts_with('#'));
    let position = |row: &str| {
        let (start, mv) = row.split_once(" | ").expect("a start and a move");
        json!({ "start": start, "moves": [mv] })
    };
    rows.map(position).collect()
}

fn sudoku() -> Value {
    json!({ "game": "sudoku" })
}

/// Whether the answer is `undecided`, which must be at one of these places.
fn is_undecided(answer: &Value, places: &[&str]) -> Checked<bool> {
    if answer["type"] == "result" {
        return Ok(false);
    }
    like(answer, &json!({ "type": "error", "code": "undecided", "fatal": false }))?;
    let is_there = places.iter().any(|place| answer["pointer"] == *place);
    holds(is_there, format!("a pointer of {places:?}"), || answer.to_string())?;
    Ok(true)
}

/// Whether the server answers `undecided` to a question about that position.
fn ask(peer: &mut Conversation<'_>, id: &str, position: &Value) -> Checked<(bool, Value)> {
    let answer = peer.ask(&inspect(id, &sudoku(), position, &["legal"]))?;
    let is_open = is_undecided(&answer, &["/position/start", "/position/moves/0"])?;
    Ok((is_open, json!({ "code": answer["code"], "pointer": answer["pointer"], "legal": answer["legal"] })))
}

fn undecided(trial: &Trial<'_>) -> Checked {
    let (mut peer, slow) = greet(trial)?;
    for position in &slow {
        let (_, first) = ask(&mut peer, "first", position)?;
        // Reading it only in part must not have changed the position.
        let short = json!({ "position": position, "clock": { "kind": "per_move", "ms": 0 } });
        peer.ask(&go("cut", &sudoku(), short))?;
        let (_, again) = ask(&mut peer, "again", position)?;
        holds(again == first, format!("{first} again"), || again.to_string())?;
    }
    let start = json!({ "start": slow[0]["start"] });
    let answer = peer.ask(&inspect("moves", &sudoku(), &start, &["text", "moves"]))?;
    if is_undecided(&answer, &["/want/1"])? {
        let board = peer.result(&inspect("board", &sudoku(), &start, &["board"]))?;
        let is_marked = list(&board["board"], "marks")?.iter().any(|mark| mark["mark"] == "undecided");
        holds(is_marked, "a mark `undecided` where a move is", || board.to_string())?;
    }
    peer.ping()
}

fn placed(trial: &Trial<'_>) -> Checked {
    let (mut peer, slow) = greet(trial)?;
    for (n, position) in slow.iter().enumerate() {
        let (is_open, _) = ask(&mut peer, "i", position)?;
        let id = format!("g{n}");
        let best = peer
            .best(&go(&id, &sudoku(), json!({ "position": position, "limit": { "nodes": 20 } })))
            .map_err(|stop| stop.at("a position whose last move may be bad"))?;
        // The requests after the move are read, too.
        peer.ping()?;
        if !is_open {
            continue;
        }
        let about: Vec<Value> = peer
            .log
            .iter()
            .map(|heard| heard.message.clone())
            .filter(|message| message["id"] == id)
            .collect();
        like(&about[0], &json!({ "type": "notice", "kind": "warning" }))
            .map_err(|stop| stop.at("before any other message of the go"))?;
        holds(best["reason"] != "proven", "no claim of a proof", || best.to_string())?;
        for message in &about {
            let mut lines = message["lines"].as_array().into_iter().flatten();
            let is_proof = lines.any(|line| line["score"].get("proof").is_some());
            holds(!is_proof, "no score with a `proof`", || message.to_string())?;
        }
    }
    Ok(())
}

/// Whether a request ended before its position was read.
pub(super) fn is_unprepared(last: &Value) -> bool {
    last["code"] == "unprepared" && last["fatal"] == false
}

/// A search whose position may not have been read answers with a move or `unprepared`.
fn is_move_or_unprepared(last: &Value) -> Checked {
    let is_right = last["type"] == "bestmove" || is_unprepared(last);
    holds(is_right, "a bestmove, or the error `unprepared`", || last.to_string())
}

fn stopped(trial: &Trial<'_>) -> Checked {
    let (mut peer, slow) = greet(trial)?;
    let mut samples = Vec::new();
    for (n, position) in slow.iter().cycle().take(6).enumerate() {
        let id = format!("g{n}");
        let (mut fields, mut request) = (endless(), stop(&id));
        fields["position"] = position.clone();
        request["id"] = json!("halt");
        peer.send(&go(&id, &sudoku(), fields))?;
        let (sample, last) = measured(Duration::ZERO, || {
            let sent = peer.send(&request)?;
            let heard = peer.last_heard(&id)?;
            Ok((sent, heard.at, heard.message))
        })?;
        is_move_or_unprepared(&last)?;
        like(&peer.last("halt")?, &json!({ "type": "result", "of": "stop" }))?;
        samples.push(sample);
    }
    judge("an answer within 1 s of the stop", &samples, UNPREPARED)
}

fn closed(trial: &Trial<'_>) -> Checked {
    let (mut peer, slow) = greet(trial)?;
    // Several seconds of work: a close that ends none of it is answered too late.
    let count = number(&peer.hello["limits"], "requests")?.saturating_sub(2).min(240) as usize;
    let s = session("s");
    let mut samples = Vec::new();
    for round in 0..3 {
        peer.result(&newgame("s", &sudoku(), json!({})))?;
        let question = |n: usize| format!("q{round}-{n}");
        let mut requests: Vec<Value> =
            (0..count).map(|n| inspect(&question(n), &s, &slow[n % slow.len()], &["legal"])).collect();
        let search = format!("g{round}");
        requests.push(go(&search, &s, endless()));
        requests.push(json!({ "id": "end", "cmd": "close", "session": "s" }));
        let (sample, end) = measured(Duration::ZERO, || {
            let sent = peer.send_all(&requests)?;
            let heard = peer.last_heard("end")?;
            Ok((sent, heard.at, heard.message))
        })?;
        like(&end, &json!({ "type": "result", "of": "close" }))?;
        samples.push(sample);
        let last = peer.last(&search)?;
        let is_right = last["reason"] == "closed" || last["code"] == "unprepared";
        holds(is_right, "a bestmove of reason `closed`, or `unprepared`", || last.to_string())?;
        for n in 0..count {
            let answer = peer.last(&question(n))?;
            let is_right = answer["type"] == "result"
                || ["undecided", "unprepared"].iter().any(|code| answer["code"] == *code);
            holds(is_right, "an answer, `undecided` or `unprepared`", || answer.to_string())?;
        }
    }
    judge("what is read for a session ends within 1 s of its close", &samples, UNPREPARED)?;
    peer.ping()
}
