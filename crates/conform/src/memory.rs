//! Memory: large requests are answered, or refused by a typed error, and the server goes on.

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::preparation::slow_positions;
use super::requests::{endless, go, inspect, ping, session, with};
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, like, list, number};

/// A line of about this many bytes is near the longest that is allowed.
const LARGE: usize = 1_000_000;

/// The most room that a check fills.
const MOST_ROOM: u64 = 64 << 20;

/// The number of slow questions that take far longer than reading the large ones after them.
const SLOW: usize = 8;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "large-questions",
        "large questions are answered, or refused by a typed error; those without room wait unread",
        large_questions,
    ),
    Check::new(
        "large-waiting",
        "large searches that wait in a session are accepted, or refused by a typed error",
        large_waiting,
    ),
    Check::new(
        "large-sessions",
        "sessions that are opened by large lines do not hold these lines",
        large_sessions,
    ),
    Check::new(
        "room",
        "if searches take all the room, the next one is `too_many_requests`, and a stop is still read",
        room,
    ),
    Check::new(
        "large-answer",
        "a large answer is delivered, or refused by a typed error beforehand",
        large_answer,
    ),
];

/// A board of sudoku with 25 x 25 cells, of which some two fifths are filled so that there is a solution.
pub(super) fn large_board(seed: u64) -> String {
    let mut noise = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut text = String::from("5 5");
    for cell in 0..625_u64 {
        let (row, column) = (cell / 25, cell % 25);
        // Marsaglia's xorshift.
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        // Each row is the one above moved on by a block, and by one cell more below each band.
        let value = (row * 5 + row / 5 + column) % 25 + 1;
        text += &if noise % 100 < 43 { format!(" {value}") } else { " .".to_owned() };
    }
    text
}

/// Whether the message is an answer, or a refusal for lack of room.
fn is_taken_or_refused(message: &Value, codes: &[&str]) -> Checked {
    let resources = ["too_many_requests", "too_many_sessions", "overloaded"];
    let code = message["code"].as_str().unwrap_or_default();
    let is_typed = message["type"] != "error" || resources.contains(&code) || codes.contains(&code);
    holds(
        is_typed && message["fatal"] != true,
        format!("an answer, or an error of {codes:?} or {resources:?}"),
        || message.to_string(),
    )
}

fn large_questions(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let start = "?".repeat(LARGE);
    let ask = |id: &str| inspect(id, &game, &json!({ "start": start }), &["legal"]);
    for round in 0..4 {
        let ids: Vec<String> = (0..8).map(|n| format!("q{round}-{n}")).collect();
        for id in &ids {
            peer.send(&ask(id))?;
        }
        // What is sent beside them is still read.
        peer.ping()?;
        for id in &ids {
            is_refused_start(&peer.last(id)?)?;
        }
    }
    if peer.has("byte_limits") {
        fill(&mut peer, &ask)?;
    }
    peer.best(&go("after", &game, json!({ "limit": { "nodes": 10 } }))).map(drop)
}

/// Asks more questions at once than there is room for, and a ping behind them, which can be read only when
/// some of them are done.
fn fill(peer: &mut Conversation<'_>, ask: &impl Fn(&str) -> Value) -> Checked {
    let bytes = number(&peer.hello["limits"], "request_bytes")?;
    if bytes > MOST_ROOM {
        return Ok(());
    }
    let slow: Vec<String> = (0..SLOW).map(|n| format!("slow{n}")).collect();
    let large: Vec<String> = (0..bytes / LARGE as u64 + 2).map(|n| format!("large{n}")).collect();
    // Questions without a session keep their order, so that no large one is done before the slow ones are.
    if peer.has("preparation") && peer.offers("sudoku") {
        let sudoku = json!({ "game": "sudoku" });
        for (id, position) in slow.iter().zip(slow_positions().iter().cycle()) {
            peer.send(&inspect(id, &sudoku, position, &["legal"]))?;
        }
    }
    for id in &large {
        peer.send(&ask(id))?;
    }
    peer.result(&ping("behind"))?;
    for id in &large {
        is_refused_start(&peer.last(id)?)?;
    }
    holds(
        peer.place(&large[0])? < peer.place("behind")?,
        format!("no reading beyond {bytes} bytes of requests"),
        || format!("a ping behind {} MB of open requests was answered", large.len()),
    )
}

/// The error of a `start` that is not a position.
fn is_refused_start(last: &Value) -> Checked {
    like(last, &json!({ "type": "error" }))?;
    is_taken_or_refused(last, &["bad_position", "illegal_position"])
}

fn large_waiting(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    peer.sessions(&["s"], &game)?;
    let s = session("s");
    peer.send(&go("first", &s, endless()))?;
    peer.info("first", "started")?;
    peer.retries = false;
    // What is not read would occupy nothing once it is decoded.
    let result = peer.result(&inspect("moves", &s, &json!({}), &["legal"]))?;
    let mv = list(&result, "legal")?.first().and_then(Value::as_str).unwrap_or_default().to_owned();
    let large = json!({ "queue": true, "excludemoves": vec![mv.as_str(); LARGE / (mv.len() + 3)] });
    // Less in all than any server must hold for one connection.
    let ids: Vec<String> = (0..8).map(|n| format!("w{n}")).collect();
    for id in &ids {
        peer.send(&go(id, &s, with(endless(), &large)))?;
    }
    peer.ping()?;
    like(
        &peer.result(&json!({ "id": "halt", "cmd": "stop", "all": true }))?,
        &json!({ "effect": "stopping" }),
    )?;
    for id in ids.iter().map(String::as_str).chain(["first"]) {
        let last = peer.last(id)?;
        is_taken_or_refused(&last, &[])?;
    }
    peer.best(&go("after", &s, json!({ "limit": { "nodes": 10 } }))).map(drop)
}

fn large_sessions(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    let game = peer.vast_game()?;
    let limits = &peer.hello["limits"];
    let bytes = limits["session_bytes"].as_u64().filter(|_| peer.has("byte_limits"));
    // More lines than sessions may hold, if that limit is announced.
    let count = bytes.map_or(16, |bytes| bytes.min(MOST_ROOM) / LARGE as u64 + 2);
    for n in 0..count.min(number(limits, "sessions")?) {
        let (id, name) = (format!("open{n}"), format!("s{n}"));
        let padded = json!({ "id": id, "cmd": "newgame", "session": name, "x_padding": "x".repeat(LARGE) });
        let opened = peer.ask(&with(padded, &game))?;
        match bytes {
            // A skipped field is no text of rules or options.
            Some(_) => like(&opened, &json!({ "type": "result", "of": "newgame" }))?,
            None => is_taken_or_refused(&opened, &[])?,
        }
    }
    peer.ping()
}

fn room(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("isolation")?;
    if !peer.has("byte_limits") {
        return Err(Stop::skipped("no room for requests is promised"));
    }
    let bytes = number(&peer.hello["limits"], "request_bytes")?;
    if bytes > MOST_ROOM {
        return Err(Stop::skipped(format!("{bytes} bytes of requests are too many to try")));
    }
    peer.retries = false;
    let game = json!({ "game": "isolation", "rules": { "preset": "11x9" } });
    let list = json!({ "excludemoves": vec!["a1"; LARGE / 5] });
    // A request occupies no less than its line, so that one of these is too many in the end.
    let most = bytes / LARGE as u64 + 2;
    let mut taken = Vec::new();
    let refused = loop {
        let id = format!("g{}", taken.len());
        peer.send(&go(&id, &game, with(endless(), &list)))?;
        let first = peer.until(0, &format!("news of `{id}`"), |message| message["id"] == *id)?;
        let first = peer.log[first].message.clone();
        if first["type"] == "error" {
            break first;
        }
        taken.push(id);
        holds(taken.len() as u64 <= most, format!("{most} such searches at most"), || "more".into())?;
    };
    like(&refused, &json!({ "code": "too_many_requests", "fatal": false }))?;
    // One at least is taken, however large.
    holds(!taken.is_empty(), "a request beside which there is no other", || refused.to_string())?;
    peer.ping()?;
    peer.result(&json!({ "id": "t", "cmd": "status" }))?;
    let halt = peer.result(&json!({ "id": "halt", "cmd": "stop", "all": true }))?;
    like(&halt, &json!({ "effect": "stopping" }))?;
    for id in &taken {
        like(&peer.last(id)?, &json!({ "type": "bestmove", "reason": "stopped" }))?;
    }
    let after = with(list, &json!({ "limit": { "nodes": 10 } }));
    peer.best(&go("after", &game, after)).map(drop)
}

fn large_answer(trial: &Trial<'_>) -> Checked {
    let mut peer = trial.greet()?;
    peer.needs("sudoku")?;
    // Some 15,000 moves, each with a position of 625 cells, are more than `unsent_bytes`. Where no feature
    // promises that, a quarter of it is asked for.
    let size = if peer.has("byte_limits") { 5 } else { 4 };
    let question = json!({ "game": "sudoku", "rules": { "m": size, "n": size } });
    let last = peer.ask(&inspect("large", &question, &json!({}), &["moves"]))?;
    is_taken_or_refused(&last, &["undecided", "too_large", "answer_too_large", "result_too_large"])?;
    if last["code"] == "overloaded" {
        number(&last, "retry_ms")?;
    }
    peer.ping()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::referee::Referee;
    use plyd_games::REGISTRY;

    #[test]
    fn a_large_board_is_one_of_sudoku() {
        let text = large_board(3);
        let filled = text.split(' ').skip(2).filter(|cell| *cell != ".").count();
        assert!((200..340).contains(&filled), "{filled}");
        assert_eq!(text.split(' ').count(), 2 + 625);
        // The same rule on a small board, whose solver is quick.
        let rows: Vec<String> = (0..16_u32)
            .map(|cell| ((cell / 4 * 2 + cell / 8 + cell % 4) % 4 + 1).to_string())
            .enumerate()
            .map(|(cell, value)| if cell % 3 == 0 { ".".into() } else { value })
            .collect();
        let position = json!({ "start": format!("2 2 {}", rows.join(" ")) });
        assert!(Referee(REGISTRY).root(&json!({ "game": "sudoku" }), &position).is_some(), "{position}");
    }
}
