//! What a bot that has dialled promises about its offer and its games.

use std::time::Duration;

use serde_json::{Value, json};

use super::ladder::Ladder;
use super::visit::{HEARTBEAT_MS, read_clock};
use crate::bot::{MOST_MOVES, MOST_MOVES_IN_ALL, played};
use crate::requests::with;
use crate::trial::Trial;
use crate::verdict::{Checked, Stop, holds, list, number, text, texts};

/// How long the bot must be silent before its offer is answered.
const SILENCE: Duration = Duration::from_millis(300);
/// The moves that are played in each of several games.
const FEW_MOVES: usize = 4;
/// How many more games than it offers go on, for a bot that has come back with a smaller limit.
const MORE: usize = 2;
/// The longest line, in bytes.
const LONG: usize = 1 << 20;

pub(super) fn offer(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut visit = ladder.called()?;
    let offer = visit.offer()?;
    let is_token = offer["token"] == *ladder.token;
    holds(is_token, "the bot's `token`", || offer.to_string().replace(&ladder.token, "TOKEN"))?;
    let (min, max) = (number(&offer["protocol"], "min")?, number(&offer["protocol"], "max")?);
    holds((min..=max).contains(&1), "a `protocol` that holds version 1", || offer["protocol"].to_string())?;
    holds(number(&offer, "concurrency")? > 0, "a `concurrency` of at least 1", || "0".to_owned())?;
    for game in some(&offer, "games")? {
        text(game, "game")?;
        if game.get("presets").is_some() {
            texts(game, "presets")?;
        }
    }
    for clock in some(&offer, "clocks")? {
        holds(read_clock(clock).is_some(), "`clocks` as a `go` has them", || clock.to_string())?;
    }
    for program in ["client", "engine"] {
        let is_named = |name: &str| matches!(offer[program][name], Value::Null | Value::String(_));
        let expected = format!("`name` and `version` in `{program}`");
        let is_known =
            offer.get(program).is_none_or(Value::is_object) && is_named("name") && is_named("version");
        holds(is_known, expected, || offer[program].to_string())?;
    }
    let is_flag = offer.get("legal").is_none_or(Value::is_boolean);
    holds(is_flag, "`legal` true or false", || offer["legal"].to_string())
}

/// The items of a list that may be missing.
fn some<'m>(message: &'m Value, field: &str) -> Checked<&'m [Value]> {
    if message.get(field).is_none() { Ok(&[]) } else { list(message, field).map(Vec::as_slice) }
}

pub(super) fn turn(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut visit = ladder.called()?;
    let offer = visit.offer()?;
    visit.is_silent(SILENCE, "nothing until the offer is answered")?;
    visit.take(&offer, HEARTBEAT_MS)?;
    visit.ping("ping")?;
    let second = ladder.accept()?;
    holds(second.is_none(), "one connection", || "a second one beside the first".to_owned())
}

pub(super) fn pings(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    for id in ["1", "ping", "-.:_"] {
        bot.visit.ping(id)?;
    }
    let requests = (0..50).map(|number| json!({ "id": format!("many-{number}"), "cmd": "ping" }));
    let requests: Vec<Value> = requests.collect();
    for request in &requests {
        bot.visit.request(text(request, "id")?, request.to_string().as_bytes())?;
    }
    requests.iter().try_for_each(|request| bot.visit.answer(text(request, "id")?).map(drop))
}

pub(super) fn moves(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let starts = bot.starts()?;
    let most = MOST_MOVES.min(MOST_MOVES_IN_ALL / starts.len()).max(1);
    for (number, mut root) in starts.into_iter().enumerate() {
        let game = format!("moves-{number}");
        for index in 0..most {
            if root.outcome().is_some() {
                break;
            }
            root = bot.play(&format!("{number}-{index}"), &game, &root)?;
        }
        bot.visit.over(&format!("over-{number}"), &game)?;
    }
    Ok(())
}

pub(super) fn in_turn(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let starts = bot.starts()?;
    // Several games at once if it plays several, and one after the other if not.
    let at_once = bot.concurrency().min(3);
    let mut boards: Vec<_> = starts.iter().cycle().take(at_once.max(1)).cloned().collect();
    for index in 0..FEW_MOVES {
        for (number, board) in boards.iter_mut().enumerate() {
            if board.outcome().is_none() {
                let game = format!("turn-{number}");
                *board = bot.play(&format!("{game}-{index}"), &game, board)?;
            }
        }
    }
    Ok(())
}

pub(super) fn at_once(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let starts = bot.starts()?;
    let games: Vec<_> = starts.iter().cycle().take(bot.concurrency()).cloned().enumerate().collect();
    let mut asked = Vec::new();
    for (number, root) in &games {
        asked.push(bot.begin_quick(&format!("once-{number}"), &format!("once-{number}"), root)?);
    }
    for ((number, root), since) in games.iter().zip(asked) {
        let name = format!("once-{number}");
        played(root, &bot.decided(&name, &name, root, since)?)?;
    }
    Ok(())
}

pub(super) fn concurrency(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    let most = bot.concurrency();
    bot.plays_no_more_than(most, "game", &start)
}

pub(super) fn limit(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let bot = ladder.joined(&[])?;
    let (start, most) = (bot.starts()?.swap_remove(0), bot.concurrency());
    drop(bot);
    // The games that go on show how many it offered before: here `MORE` more than now.
    let before: Vec<String> = (0..most + MORE).map(|number| format!("before-{number}")).collect();
    let mut bot = ladder.joined(&before.iter().map(String::as_str).collect::<Vec<_>>())?;
    for (number, game) in before.iter().enumerate() {
        bot.play(&format!("on-{number}"), game, &start)?;
    }
    for (number, game) in before.iter().enumerate().take(MORE) {
        bot.visit.over(&format!("over-{number}"), game)?;
        bot.plays_no_more_than(0, &format!("further-{number}"), &start)?;
    }
    bot.visit.over("over-last", &before[MORE])?;
    bot.plays_no_more_than(1, "next", &start)
}

pub(super) fn over(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    let most = bot.concurrency();
    bot.plays_no_more_than(most, "game", &start)?;
    bot.visit.over("over-0", "game-0")?;
    // The end of a game that it does not play changes nothing.
    bot.visit.over("over-none", "no-such-game")?;
    bot.plays_no_more_than(1, "next", &start)
}

pub(super) fn busy(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    bot.begin("first", "game", &start)?;
    bot.begin("second", "game", &start)?;
    bot.visit.request("stop", br#"{"id":"stop","cmd":"stop","target":"first"}"#)?;
    let answer = bot.visit.answer("second")?;
    // It may have been so quick that it was free again.
    let was_free = answer["type"] == "bestmove" && bot.visit.is_answered("first");
    let expected = "`session_busy` for a second `go` in a game while the first is being answered";
    holds(was_free || answer["code"] == "session_busy", expected, || answer.to_string())?;
    let stopped = bot.visit.answer("stop")?;
    // It may be asked before the search has begun, as when the game is opened first.
    let is_known = stopped["effect"] != "unknown" || bot.visit.is_answered("first");
    holds(is_known, "`stop` reaches a `go` that is not answered yet", || stopped.to_string())?;
    played(&start, &bot.visit.answer("first")?)?;
    bot.play("third", "game", &start).map(drop)
}

pub(super) fn other_games(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    let clock = json!({ "kind": "per_move", "ms": 5000 });
    let go = json!({ "id": "other", "cmd": "go", "x_game": "game", "game": "x_future", "position": {}, "clock": clock });
    let answer = bot.visit.ask(&go)?;
    let is_refused = answer["type"] == "error" && answer["code"] == "game_unknown";
    holds(is_refused, "`game_unknown` for a game that nobody knows", || answer.to_string())?;
    bot.play("same", "game", &start).map(drop)
}

pub(super) fn odd_lines(trial: &Trial<'_>) -> Checked {
    let mut ladder = Ladder::start(trial)?;
    let mut bot = ladder.joined(&[])?;
    let start = bot.starts()?.swap_remove(0);
    bot.play("before", "game", &start)?;
    for message in [
        json!({}),
        json!({ "x_future": [1.5, null, { "deep": [[[[[[]]]]]] }] }),
        json!({ "type": "notice", "kind": "warning", "message": "you lose\u{1b}[2J too much" }),
        json!({ "type": "result", "id": "nobody", "of": "offer", "games": 7 }),
        json!({ "type": "bestmove", "id": "before", "move": "a1" }),
        json!({ "type": "x_future" }),
    ] {
        bot.visit.say(&message)?;
    }
    for (number, request) in [
        json!({ "cmd": "x_future", "target": "before" }),
        json!({ "cmd": "hello", "protocol": { "min": 1, "max": 1 } }),
        json!({ "cmd": "describe", "what": "games" }),
        json!({ "cmd": "stop", "target": "nobody" }),
        json!({ "cmd": "stop", "target": 7 }),
        json!({ "cmd": "stop", "all": true }),
        json!({ "cmd": "update", "target": "nobody", "clock": { "kind": "none" } }),
        json!({ "cmd": "over" }),
        json!({ "cmd": "over", "x_game": 7, "outcome": "\u{1b}[2J", "record": "none" }),
        json!({ "cmd": "ping", "x_pad": "x".repeat(LONG - 100) }),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("odd-{number}");
        let answer = bot.visit.ask(&with(request.clone(), &json!({ "id": id })))?;
        if request["cmd"] == "x_future" {
            holds(answer["code"] == "unknown_cmd", "an error `unknown_cmd`", || answer.to_string())?;
        }
        if request["all"] == true && answer["type"] == "result" {
            let expected = "the effect `already_finished`, as no search runs";
            holds(answer["effect"] == "already_finished", expected, || answer.to_string())?;
        }
        if request["target"] == "nobody" && answer["type"] == "result" {
            holds(answer["effect"] == "unknown", "the effect `unknown`", || answer.to_string())?;
        }
    }
    bot.play("after", "game", &start).map(drop)
}

pub(super) fn broken_lines(trial: &Trial<'_>) -> Checked {
    // Each line is sent to a program of its own: one that leaves each time would pause longer each time.
    for line in [&b"{\"id\":\"1\",\"cmd\":"[..], b"\xff\xfe", b"[]", b"17", b"no JSON"] {
        let mut ladder = Ladder::start(trial)?;
        let mut bot = ladder.joined(&[])?;
        let start = bot.starts()?.swap_remove(0);
        bot.play("before", "game", &start)?;
        bot.visit.send_line(line)?;
        // It may say so, or leave and come back.
        let _gone_already = bot.visit.send_line(br#"{"id":"ping","cmd":"ping"}"#);
        if bot.visit.breaks_before("ping")? {
            bot = ladder.joined(&["game"])?;
        }
        let at = |stop: Stop| stop.at(&String::from_utf8_lossy(line));
        bot.play("after", "game", &start).map_err(at)?;
    }
    Ok(())
}
