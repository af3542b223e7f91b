//! The least that a bot must speak: moves, and an answer to every request that it does not know.
//!
//! Asks as the arena does, without sessions, and sends the legal moves along. Moves are judged by the rules
//! here, so only games that are known here are asked for.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_client::{is_final_json, with_legal};
use plyd_protocol::{Clock, Command, GameRef, Go, InfoRequest, Limit, MAX_LINE, Position, Request};
use serde_json::{Value, json};

use super::conversation::{Conversation, Heard};
use super::referee::Root;
use super::trial::{Check, Trial};
use super::verdict::{Checked, Stop, holds, text};
use plyd_bridge::{self as bridge, program::JSON_LINES};
use plyd_core::engine::settings::{self, Settings};
use plyd_core::engine::{Entry, ToMove};

pub(super) const CHECKS: &[Check] = &[
    Check::new("answers", "a `go` is answered by a `bestmove` with a `move`", answers),
    Check::new("ids", "an answer has the id of its request", ids),
    Check::new("lines", "each line is one JSON object with a `type`, and nothing else is written", lines),
    Check::new("legal", "moves are legal, through whole games", legal),
    Check::new("once", "a request is answered once", once),
    Check::new("clocks", "a move comes within its clock, of whatever kind", clocks),
    Check::new("unknown-fields", "fields that it does not know change nothing", unknown_fields),
    Check::new(
        "unknown-requests",
        "what it does not know is `unknown_cmd`, and it plays on",
        unknown_requests,
    ),
    Check::new("long-lines", "a line of 1 MiB is read", long_lines),
    Check::new("games-in-turn", "each `go` is a game of its own, whatever came before", games_in_turn),
    Check::new("end", "its output ends when its input ends", end),
];

/// The most moves that a game is played for.
pub(super) const MOST_MOVES: usize = 60;

/// The most moves of all games that a check plays to their ends. A bot that uses up its clock takes half of
/// the time that a check has for them.
pub(super) const MOST_MOVES_IN_ALL: usize = 150;

/// The moves of a game whose lines are looked at.
const FEW_MOVES: usize = 6;

/// The games that are played in turn.
const BOARDS: usize = 3;

/// What a move has in the arena where nothing else is asked for.
const USUAL: Duration = Duration::from_millis(100);

/// The time for a move where time is not what is checked: a later one passes, too. It is short, as a bot may
/// use it up in each of many moves, which have to fit into the time of a check.
pub(super) const TIME: Clock = Clock::PerMove { ms: USUAL.as_millis() as i64 };

/// Lets a search end before its time where time is not what is checked.
const FEW_NODES: Limit = Limit { depth: None, nodes: Some(100), time_ms: None };

/// How often a move may be late before the clock counts as not kept: a busy machine makes one late, too.
const TRIES: usize = 3;

/// A bot, and what it was asked.
struct Bot<'w> {
    peer: Conversation<'w>,
    /// The ids of the requests that it has answered.
    answered: HashSet<String>,
}

impl<'w> Bot<'w> {
    /// Opens a connection; over a socket `hello` comes first, which a bot need not know.
    fn meet(trial: &Trial<'w>) -> Checked<Self> {
        let mut bot = Self { peer: trial.open()?, answered: HashSet::new() };
        if !trial.is_stdio() {
            bot.other(&trial.hello())?;
        }
        Ok(bot)
    }

    /// Sends a request and waits for its answer. What answers an earlier one again is skipped: a check of its
    /// own judges it.
    fn ask(&mut self, id: &str, line: &[u8]) -> Checked<(Instant, Heard)> {
        let mut from = self.peer.log.len();
        let sent = self.peer.send_line(line)?;
        loop {
            let at =
                self.peer.until(from, &format!("an answer to `{id}`, written at once"), is_final_json)?;
            let heard = self.peer.log[at].clone();
            match heard.message["id"].as_str() {
                Some(of) if of == id => {
                    self.answered.insert(id.to_owned());
                    return Ok((sent, heard));
                }
                Some(of) if self.answered.contains(of) => from = at + 1,
                _ => {
                    return Err(Stop::failed(
                        format!("an answer with the id `{id}`"),
                        heard.message.to_string(),
                    ));
                }
            }
        }
    }

    /// Sends a request other than a `go`; returns its result or its error.
    fn other(&mut self, request: &Value) -> Checked<Value> {
        let (_, heard) =
            self.ask(request["id"].as_str().unwrap_or_default(), request.to_string().as_bytes())?;
        let is_other = ["result", "error"].map(Value::from).contains(&heard.message["type"]);
        holds(is_other, format!("a `result` or an `error` as the answer to {request}"), || {
            heard.message.to_string()
        })?;
        Ok(heard.message)
    }

    /// Asks for a move, which has to be legal; returns the position after it.
    fn play(&mut self, id: &str, root: &Root) -> Checked<Root> {
        let (_, heard) = self.ask(id, &question(id, root))?;
        played(root, &heard.message)
    }

    /// The start of the first game that it plays. Its first move may take as long as it likes: some languages
    /// are slow to start.
    fn start(&mut self, trial: &Trial<'_>) -> Checked<Root> {
        let mut starts = self.starts(trial, 1)?;
        Ok(starts.swap_remove(0))
    }

    /// The starts of the games that it plays: at most `most`, and at least one.
    fn starts(&mut self, trial: &Trial<'_>, most: usize) -> Checked<Vec<Root>> {
        let mut starts = Vec::new();
        let games = trial.games();
        for &entry in games {
            if starts.len() == most {
                break;
            }
            let id = format!("start-{}", entry.name);
            let root = start(entry)?;
            let (_, heard) = self.ask(&id, &unhurried(&id, &root))?;
            if heard.message["code"] != "game_unknown" {
                chosen(&heard.message)?;
                starts.push(root);
            }
        }
        if starts.is_empty() {
            let names: Vec<&str> = games.iter().map(|entry| entry.name).collect();
            return Err(Stop::failed(
                format!("a bot that plays one of {}", names.join(", ")),
                "`game_unknown`",
            ));
        }
        Ok(starts)
    }
}

/// Where a game begins under its usual rules.
fn start(entry: &'static Entry) -> Checked<Root> {
    let begun =
        settings::rules(entry, &Settings::new(), 0).and_then(|rules| settings::open(entry, &rules, None));
    Ok(settled(begun.map_err(|fault| Stop::skipped(fault.message))?))
}

/// The position after what chance decides: its first outcome.
pub(super) fn settled(mut root: Root) -> Root {
    while root.to_move() == ToMove::Chance {
        let first = root.chance().into_iter().next().map(|outcome| outcome.mv);
        root = root.extend(&[first.expect("chance has an outcome")]).expect("it is one of the position");
    }
    root
}

/// The line that asks for a move where time is not what is checked.
fn question(id: &str, root: &Root) -> Vec<u8> {
    asking(id, root, Some(TIME), FEW_NODES)
}

/// The same without a clock: its answer may take as long as it likes.
fn unhurried(id: &str, root: &Root) -> Vec<u8> {
    asking(id, root, None, FEW_NODES)
}

/// The same by a clock alone, which is what is checked.
fn timed(id: &str, root: &Root, clock: Clock) -> Vec<u8> {
    asking(id, root, Some(clock), Limit::default())
}

fn asking(id: &str, root: &Root, clock: Option<Clock>, limit: Limit) -> Vec<u8> {
    let game = GameRef::Game { game: root.entry().name.to_owned(), rules: bridge::rules(&root.rules()) };
    let position = Position { start: Some(root.start_text()), moves: root.played().to_vec() };
    let info = InfoRequest { events: Vec::new(), min_interval_ms: 0 };
    let go = Go { clock, limit, info, ..Go::new(game, position) };
    with_legal(&Request { id: id.to_owned(), command: Command::Go(Box::new(go)) }, &root.legal())
}

/// The question for the first move of a game, whose answer may take as long as it likes.
pub(super) fn first_question(entry: &'static Entry) -> Checked<Vec<u8>> {
    Ok(unhurried(&format!("start-{}", entry.name), &start(entry)?))
}

/// The same with more text before the legal moves, or the end if there are none.
fn with_more(id: &str, root: &Root, more: &str) -> Vec<u8> {
    let line = String::from_utf8(question(id, root)).expect("JSON is UTF-8");
    let (head, rest) = line.split_at(line.rfind(r#","x_legal":"#).unwrap_or(line.len() - 1));
    format!("{head},{more}{rest}").into_bytes()
}

/// The move of an answer.
fn chosen(message: &Value) -> Checked<&str> {
    holds(message["type"] == "bestmove", "a `bestmove`", || message.to_string())?;
    text(message, "move")
}

/// The position after the move of an answer.
pub(super) fn played(root: &Root, message: &Value) -> Checked<Root> {
    let mv = chosen(message)?.to_owned();
    match root.extend(&[mv]) {
        Ok(root) => Ok(settled(root)),
        Err(_) => {
            let first: Vec<String> = root.legal().into_iter().take(3).collect();
            let place = format!("{} after {:?}", root.entry().name, root.played());
            Err(Stop::failed(
                format!("a legal move, such as {}, in {place}", first.join(", ")),
                message.to_string(),
            ))
        }
    }
}

fn answers(trial: &Trial<'_>) -> Checked {
    Bot::meet(trial)?.start(trial).map(drop)
}

fn ids(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let root = bot.start(trial)?;
    let longest = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";
    for id in ["7", "-", ":", longest] {
        let (_, heard) = bot.ask(id, &question(id, &root))?;
        chosen(&heard.message)?;
    }
    Ok(())
}

fn lines(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let root = bot.start(trial)?;
    for index in 0..FEW_MOVES {
        let id = format!("line-{index}");
        bot.ask(&id, &question(&id, &root))?;
    }
    bot.other(&json!({ "id": "line-x", "cmd": "x_future" }))?;
    let types = ["result", "info", "bestmove", "error", "notice"].map(Value::from);
    let is_message = |heard: &&Heard| types.contains(&heard.message["type"]);
    match bot.peer.log.iter().find(|heard| !is_message(heard)) {
        Some(heard) if heard.message.is_null() => Err(Stop::failed(JSON_LINES, format!("`{}`", heard.other))),
        Some(heard) => Err(Stop::failed("an object with a known `type`", heard.message.to_string())),
        None => Ok(()),
    }
}

fn legal(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let starts = bot.starts(trial, usize::MAX)?;
    let most = MOST_MOVES.min(MOST_MOVES_IN_ALL / starts.len());
    for mut root in starts {
        for index in 0..most {
            if root.outcome().is_some() {
                break;
            }
            root = bot.play(&format!("{}-{index}", root.entry().name), &root)?;
        }
    }
    Ok(())
}

fn once(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let root = bot.start(trial)?;
    for id in ["once-1", "once-2", "once-3"] {
        bot.ask(id, &question(id, &root))?;
    }
    // What was answered again before this answer has arrived before it.
    bot.other(&json!({ "id": "once-x", "cmd": "x_future" }))?;
    let mut seen = HashSet::new();
    let finals = bot.peer.log.iter().filter(|heard| is_final_json(&heard.message));
    let again = finals.map(|heard| &heard.message).find(|message| !seen.insert(message["id"].to_string()));
    holds(again.is_none(), "one answer to each request", || again.unwrap_or(&Value::Null).to_string())
}

fn clocks(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let root = bot.start(trial)?;
    let kinds = [
        Clock::PerMove { ms: 1000 },
        Clock::Increment { me_ms: 1000, opp_ms: Some(1000), inc_ms: 0, opp_inc_ms: None, moves_to_go: None },
        Clock::Delay { me_ms: 500, opp_ms: None, delay_ms: 500 },
        Clock::Bank { turn_ms: 500, bank_ms: 500 },
    ];
    let allowed = Duration::from_secs(1);
    let mut late = None;
    for (kind, clock) in kinds.into_iter().enumerate() {
        let expected = || format!("a move within a second, by {}", json!(clock));
        for index in 0..TRIES {
            let id = format!("clock-{kind}-{index}");
            let (sent, heard) = bot.ask(&id, &timed(&id, &root, clock))?;
            chosen(&heard.message)?;
            let time = heard.at.saturating_duration_since(sent);
            if time <= allowed {
                break;
            }
            let came = format!("after {} ms", time.as_millis());
            if index + 1 == TRIES {
                return Err(Stop::failed(expected(), came));
            }
            late = Some(Stop::slow(expected(), came));
        }
    }
    late.map_or_else(|| usual_time(&mut bot, &root), Err)
}

/// A bot may need more time than the arena gives it by default, but should know that.
fn usual_time(bot: &mut Bot<'_>, root: &Root) -> Checked {
    let clock = Clock::PerMove { ms: USUAL.as_millis() as i64 };
    let mut fastest = Duration::MAX;
    for index in 0..TRIES {
        let id = format!("clock-usual-{index}");
        let (sent, heard) = bot.ask(&id, &timed(&id, root, clock))?;
        chosen(&heard.message)?;
        fastest = fastest.min(heard.at.saturating_duration_since(sent));
        if fastest <= USUAL {
            return Ok(());
        }
    }
    let expected = format!("a move within {USUAL:?}, which `plyd arena` gives a bot by default");
    Err(Stop::slow(
        expected,
        format!("after {} ms at best: there it needs more, such as time=1s", fastest.as_millis()),
    ))
}

fn unknown_fields(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let root = bot.start(trial)?;
    let rows = [
        r#""x_future":null"#,
        r#""x_future":-1.5e3"#,
        r#""x_future":"\"id\":\"no\", {\\ \u00e9 日本語""#,
        r#""x_future":{"id":"no","cmd":"no","move":"no","type":"no","moves":[[],{},[{"x_future":[]}]]}"#,
        r#""hard_ms":4000,"elapsed_ms":1,"overhead_ms":1,"queue":false,"x_future":[]"#,
    ];
    rows.into_iter().enumerate().try_for_each(|(index, more)| {
        let id = format!("field-{index}");
        let (_, heard) = bot.ask(&id, &with_more(&id, &root, more)).map_err(|stop| stop.at(more))?;
        played(&root, &heard.message).map(drop).map_err(|stop| stop.at(more))
    })
}

fn unknown_requests(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let root = bot.start(trial)?;
    let game = root.entry().name;
    for request in [
        json!({ "id": "other-1", "cmd": "ping" }),
        json!({ "id": "other-2", "cmd": "newgame", "session": "s", "game": game, "seed": "1" }),
        json!({ "id": "other-3", "cmd": "describe", "what": "games" }),
        json!({ "id": "other-4", "cmd": "setoption", "options": {} }),
        json!({ "id": "other-5", "cmd": "stop", "all": true }),
        json!({ "id": "other-6", "cmd": "close", "session": "s" }),
    ] {
        bot.other(&request)?;
    }
    let answer = bot.other(&json!({ "id": "other-7", "cmd": "x_future", "game": game, "moves": ["a"] }))?;
    holds(answer["code"] == "unknown_cmd", "an error `unknown_cmd`", || answer.to_string())?;
    bot.play("other-8", &root).map(drop)
}

fn long_lines(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    let root = bot.start(trial)?;
    for (id, length) in [("long-1", 100 << 10), ("long-2", MAX_LINE), ("long-3", 0)] {
        let line = |padding: usize| with_more(id, &root, &format!(r#""x_pad":"{}""#, "x".repeat(padding)));
        let (_, heard) = bot.ask(id, &line(length.saturating_sub(line(0).len())))?;
        played(&root, &heard.message)?;
    }
    Ok(())
}

fn games_in_turn(trial: &Trial<'_>) -> Checked {
    let mut bot = Bot::meet(trial)?;
    // The same game a second time, and others if it plays them.
    let mut starts = bot.starts(trial, BOARDS)?;
    starts.push(Arc::clone(&starts[0]));
    let mut boards = starts.clone();
    let mut count = 0;
    for _ in 0..FEW_MOVES {
        for (board, start) in boards.iter_mut().zip(&starts) {
            count += 1;
            *board = bot.play(&format!("turn-{count}"), board)?;
            if board.outcome().is_some() {
                board.clone_from(start);
            }
        }
    }
    Ok(())
}

fn end(trial: &Trial<'_>) -> Checked {
    trial.needs_stdio()?;
    let mut bot = Bot::meet(trial)?;
    bot.start(trial)?;
    bot.peer.end_input();
    bot.peer.closed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Plan;
    use plyd_client::Address;

    #[test]
    fn a_bot_that_uses_up_its_clock_has_time_for_all_moves_of_a_check() {
        let Clock::PerMove { ms } = TIME else { panic!("a clock of each move") };
        let takes = Duration::from_millis(ms as u64) * MOST_MOVES_IN_ALL as u32;
        assert!(2 * takes <= Plan::new(Address::program("bot")).timeout, "{takes:?}");
    }
}
