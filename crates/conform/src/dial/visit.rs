//! A connection that a bot has opened to its ladder: the bot's lines, and what it was asked.
//!
//! Trusts no bot: no wait outlives the check's deadline, and a flood ends the check.

use std::collections::HashSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bot::{TIME, played, settled};
use crate::referee::Root;
use crate::requests::with;
use crate::trial::Trial;
use crate::verdict::{Checked, Stop, holds, text};
use plyd_bridge as bridge;
use plyd_client::{is_final_json, with_legal};
use plyd_protocol::{Clock, Command, GameRef, Go, InfoRequest, Limit, Position, Request, decode};

/// The most bytes that a bot may write over one connection: more than any check asks for.
const FLOOD: usize = 64 << 20;
/// The heartbeat in checks that are not about heartbeats, in ms: longer than any of them takes.
pub(super) const HEARTBEAT_MS: u64 = 300_000;
/// The clock of a bot whose offer names none, in checks of clocks and of several games at once.
const LONG: Clock = Clock::PerMove { ms: 20_000 };
/// How long a bot may take to close a connection that the ladder has ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// A connection.
pub(super) struct Visit {
    stream: TcpStream,
    /// What has come behind the last line.
    unread: Vec<u8>,
    received: usize,
    deadline: Instant,
    /// The requests that wait for their answers.
    asked: HashSet<String>,
    /// Answers that came while another one was awaited.
    answers: Vec<Value>,
    /// The games that go on, as the answers to further offers say.
    pub(super) games: Vec<String>,
}

/// A bot whose offer the ladder has accepted.
pub(super) struct Joined<'w> {
    pub(super) visit: Visit,
    /// What it offered.
    pub(super) offer: Value,
    trial: &'w Trial<'w>,
}

impl Visit {
    pub(super) fn new(stream: TcpStream, deadline: Instant) -> Checked<Self> {
        let set = stream.set_nonblocking(false).and_then(|()| stream.set_nodelay(true));
        set.map_err(|error| Stop::skipped(error.to_string()))?;
        let (asked, answers) = (HashSet::new(), Vec::new());
        Ok(Self { stream, unread: Vec::new(), received: 0, deadline, asked, answers, games: Vec::new() })
    }

    /// The next line until that instant; none if none came by then.
    ///
    /// # Errors
    /// The connection has ended, or what came is no object.
    fn line(&mut self, until: Instant) -> Result<Option<Value>, Ended> {
        let mut seen = 0;
        loop {
            if let Some(end) = self.unread[seen..].iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=seen + end).collect();
                let object = serde_json::from_slice(&line).ok().filter(Value::is_object);
                let shown = String::from_utf8_lossy(&line[..line.len() - 1]);
                return object.map(Some).ok_or_else(|| Ended::Nonsense(shown.into_owned()));
            }
            seen = self.unread.len();
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let mut chunk = [0; 64 << 10];
            let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(&mut chunk));
            match read {
                Ok(0) => return Err(Ended::Closed),
                Ok(count) => {
                    self.received += count;
                    if self.received > FLOOD {
                        return Err(Ended::Nonsense(format!("more than {FLOOD} bytes")));
                    }
                    self.unread.extend_from_slice(&chunk[..count]);
                }
                Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Ended::Closed),
            }
        }
    }

    /// The next line, which must come.
    pub(super) fn next(&mut self, expected: &str) -> Checked<Value> {
        match self.line(self.deadline) {
            Ok(Some(line)) => Ok(line),
            Ok(None) => Err(Stop::failed(expected, "nothing in the time of a check; --timeout gives more")),
            Err(ended) => Err(Stop::failed(expected, ended.text())),
        }
    }

    /// Fails if a line comes within that time, or the connection ends.
    pub(super) fn is_silent(&mut self, time: Duration, expected: &str) -> Checked {
        match self.line(self.deadline.min(Instant::now() + time)) {
            Ok(None) => Ok(()),
            Ok(Some(line)) => Err(Stop::failed(expected, line.to_string())),
            Err(ended) => Err(Stop::failed(expected, ended.text())),
        }
    }

    /// Waits until the bot closes the connection, whatever it still says.
    pub(super) fn closed(&mut self, expected: &str) -> Checked {
        loop {
            match self.line(self.deadline) {
                Ok(Some(_)) => {}
                Ok(None) => return Err(Stop::failed(expected, "the connection stays open")),
                Err(Ended::Closed) => return Ok(()),
                Err(ended) => return Err(Stop::failed(expected, ended.text())),
            }
        }
    }

    /// Ends the connection, in which everything that was sent can still be read.
    pub(super) fn end(mut self) {
        let _ended_already = self.stream.shutdown(Shutdown::Write);
        let until = self.deadline.min(Instant::now() + FAREWELL);
        while let Ok(Some(_)) = self.line(until) {}
    }

    /// Whether the connection ends before a request of this id is answered.
    pub(super) fn breaks_before(&mut self, id: &str) -> Checked<bool> {
        loop {
            match self.line(self.deadline) {
                Ok(Some(line)) if line["id"] == id && is_final_json(&line) => return Ok(false),
                Ok(Some(_)) => {}
                Ok(None) => return Err(Stop::failed("an answer, or the end of the connection", "neither")),
                Err(_) => return Ok(true),
            }
        }
    }

    /// Sends a line as it stands.
    pub(super) fn send_line(&mut self, line: &[u8]) -> Checked {
        let left = self.deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let sent = self.stream.set_write_timeout(Some(left));
        let sent = sent.and_then(|()| self.stream.write_all(&[line, b"\n"].concat()));
        sent.map_err(|error| Stop::failed("the bot reads what it is sent", error.to_string()))
    }

    /// Sends what is no request.
    pub(super) fn say(&mut self, message: &Value) -> Checked {
        self.send_line(message.to_string().as_bytes())
    }

    /// Sends a request of that id.
    pub(super) fn request(&mut self, id: &str, line: &[u8]) -> Checked {
        self.asked.insert(id.to_owned());
        self.send_line(line)
    }

    /// The answer to a request; whatever else comes must be an answer to another one, or news about one. An
    /// offer that comes is answered.
    pub(super) fn answer(&mut self, id: &str) -> Checked<Value> {
        if let Some(place) = self.answers.iter().position(|answer| answer["id"] == id) {
            return Ok(self.answers.remove(place));
        }
        loop {
            let line = self.next(&format!("an answer to `{id}`"))?;
            if line["cmd"] == "offer" {
                self.take(&line, HEARTBEAT_MS)?;
            } else if is_final_json(&line) {
                let of = line["id"].as_str().unwrap_or_default();
                let expected = "answers to what was asked on this connection, one to each request";
                holds(self.asked.remove(of), expected, || line.to_string())?;
                if of == id {
                    return Ok(line);
                }
                self.answers.push(line);
            } else {
                let is_news = ["info", "notice"].map(Value::from).contains(&line["type"]);
                holds(is_news, "a message with a known `type`", || line.to_string())?;
            }
        }
    }

    /// Whether the answer to a request has been read already.
    pub(super) fn is_answered(&self, id: &str) -> bool {
        self.answers.iter().any(|answer| answer["id"] == id)
    }

    /// Sends a request and waits for its answer.
    pub(super) fn ask(&mut self, request: &Value) -> Checked<Value> {
        let id = text(request, "id")?.to_owned();
        self.request(&id, request.to_string().as_bytes())?;
        self.answer(&id).map_err(|stop| stop.at(&request.to_string()))
    }

    /// Asks for a sign of life.
    pub(super) fn ping(&mut self, id: &str) -> Checked {
        let answer = self.ask(&json!({ "id": id, "cmd": "ping" }))?;
        let is_answer = answer["type"] == "result" || answer["code"] == "unknown_cmd";
        holds(is_answer, "a `result` of `ping`, or `unknown_cmd`", || answer.to_string())
    }

    /// Announces that a game is over.
    pub(super) fn over(&mut self, id: &str, game: &str) -> Checked {
        self.ended(id, game, &json!({}))
    }

    /// Announces that the first game of a pair is over, and which one is the second.
    pub(super) fn over_before(&mut self, id: &str, game: &str, next: &str) -> Checked {
        self.games.push(next.to_owned());
        self.ended(id, game, &json!({ "next": next }))
    }

    fn ended(&mut self, id: &str, game: &str, more: &Value) -> Checked {
        self.games.retain(|going| going != game);
        let over =
            json!({ "id": id, "cmd": "over", "x_game": game, "outcome": "drawn", "message": "by the suite" });
        let over = with(over, more);
        let answer = self.ask(&over)?;
        let is_answer = answer["type"] == "result" || answer["code"] == "unknown_cmd";
        holds(is_answer, "a `result` of `over`, or `unknown_cmd`", || answer.to_string())
    }

    /// Waits for the first offer.
    pub(super) fn offer(&mut self) -> Checked<Value> {
        let line = self.next("an `offer`")?;
        let is_offer = line["cmd"] == "offer" && line["id"].is_string();
        holds(is_offer, "an `offer` with an `id` as the first line", || line.to_string())?;
        Ok(line)
    }

    /// Accepts an offer.
    pub(super) fn take(&mut self, offer: &Value, heartbeat_ms: u64) -> Checked {
        self.say(&json!({
            "type": "result", "id": offer["id"], "of": "offer", "bot": "the bot", "concurrency": offer["concurrency"],
            "games": self.games, "heartbeat_ms": heartbeat_ms,
        }))
    }

    /// Refuses an offer.
    pub(super) fn refuse(&mut self, offer: &Value, more: &Value) -> Checked {
        let error = json!({ "type": "error", "id": offer["id"], "line": 1, "fatal": true });
        self.say(&with(error, more))
    }

    /// Waits for the first offer and accepts it.
    pub(super) fn joined<'w>(mut self, trial: &'w Trial<'w>, games: &[&str]) -> Checked<Joined<'w>> {
        self.games = games.iter().map(|game| (*game).to_owned()).collect();
        let offer = self.offer()?;
        self.take(&offer, HEARTBEAT_MS)?;
        Ok(Joined { visit: self, offer, trial })
    }
}

/// A clock as a `go` has it, if it is one.
pub(super) fn read_clock(clock: &Value) -> Option<Clock> {
    let go = json!({ "id": "go", "cmd": "go", "game": "any", "position": {}, "clock": clock });
    match decode(go.to_string().as_bytes()).ok()?.command {
        Command::Go(go) => go.clock,
        _ => None,
    }
}

/// The time that a clock gives a first move, if it gives one.
fn budget(clock: &Clock) -> Option<Duration> {
    let ms = match *clock {
        Clock::PerMove { ms } => ms,
        Clock::Increment { me_ms, .. } => me_ms,
        Clock::Delay { me_ms, delay_ms, .. } => me_ms.saturating_add_unsigned(delay_ms),
        Clock::Bank { turn_ms, bank_ms } => turn_ms.saturating_add(bank_ms),
        Clock::Anytime { .. } | Clock::None => return None,
    };
    Some(Duration::from_millis(ms.try_into().unwrap_or(0)))
}

/// Why no line comes any more.
enum Ended {
    Closed,
    Nonsense(String),
}

impl Ended {
    fn text(&self) -> String {
        match self {
            Self::Closed => "the end of the connection".to_owned(),
            Self::Nonsense(line) => line.clone(),
        }
    }
}

impl Joined<'_> {
    /// The most games at once.
    pub(super) fn concurrency(&self) -> usize {
        self.offer["concurrency"].as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(0)
    }

    /// The starts of the games that it offers and that are known here; the one with the most moves comes
    /// first.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn starts(&self) -> Checked<Vec<Root>> {
        let known = self.trial.referee().0;
        let all = || -> Vec<Value> { known.iter().map(|entry| json!({ "game": entry.name })).collect() };
        let with_rules = |game: &Value| match &game["presets"][0] {
            Value::String(preset) => json!({ "game": game["game"], "rules": { "preset": preset } }),
            _ => json!({ "game": game["game"] }),
        };
        let games: Vec<Value> = match self.offer["games"].as_array() {
            Some(games) if !games.is_empty() => games.iter().map(with_rules).collect(),
            _ => all(),
        };
        let open = |game: &Value| self.trial.referee().root(game, &json!({})).map(settled);
        let mut starts: Vec<Root> = games.iter().filter_map(open).collect();
        starts.sort_by_key(|root| std::cmp::Reverse(root.legal().len()));
        if starts.is_empty() {
            return Err(Stop::skipped("it offers no game that is known here"));
        }
        Ok(starts)
    }

    /// The clock with which each of its games begins; `usual` if its offer names none.
    fn clock(&self, usual: Clock) -> Clock {
        read_clock(&self.offer["clocks"][0]).unwrap_or(usual)
    }

    /// The line that asks for a move in a game. A quick question has a limit that ends the search long before
    /// a long clock does. The clock has run for `elapsed`.
    fn question(
        &self,
        id: &str,
        game: &str,
        root: &Root,
        (clock, is_quick): (Clock, bool),
        elapsed: Duration,
    ) -> Vec<u8> {
        let rules = bridge::rules(&root.rules());
        let place = GameRef::Game { game: root.entry().name.to_owned(), rules };
        let position = Position { start: Some(root.start_text()), moves: root.played().to_vec() };
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        let limit = Limit { nodes: is_quick.then_some(100), ..Limit::default() };
        let info = InfoRequest { events: Vec::new(), min_interval_ms: 0 };
        let go = Go { clock: Some(clock), limit, info, elapsed_ms, ..Go::new(place, position) };
        let request = Request { id: id.to_owned(), command: Command::Go(Box::new(go)) };
        let line = with_legal(&request, &root.legal());
        let line = String::from_utf8(line).expect("JSON is UTF-8");
        let (head, legal) = line.split_at(line.rfind(r#","x_legal":"#).unwrap_or(line.len() - 1));
        let legal = if self.offer["legal"] == true { legal } else { "}" };
        format!("{head},\"x_game\":{}{legal}", json!(game)).into_bytes()
    }

    /// Asks for a move in a game, and does not wait for it.
    pub(super) fn begin(&mut self, id: &str, game: &str, root: &Root) -> Checked {
        let line = self.question(id, game, root, (self.clock(LONG), false), Duration::ZERO);
        self.visit.request(id, &line)
    }

    /// Asks for a move in a game with a limit that ends the search soon; returns when it was asked.
    pub(super) fn begin_quick(&mut self, id: &str, game: &str, root: &Root) -> Checked<Instant> {
        self.ask_quick(id, game, root, self.clock(LONG))
    }

    fn ask_quick(&mut self, id: &str, game: &str, root: &Root, clock: Clock) -> Checked<Instant> {
        let line = self.question(id, game, root, (clock, true), Duration::ZERO);
        self.visit.request(id, &line)?;
        Ok(Instant::now())
    }

    /// Waits for the answer to a `go` that was begun then, whatever it is. A bot that is `overloaded` is
    /// asked again after the pause that it wants, under another id, while its clock runs on.
    pub(super) fn decided(&mut self, id: &str, game: &str, root: &Root, since: Instant) -> Checked<Value> {
        let clock = self.clock(LONG);
        let end = budget(&clock).map(|budget| since + budget);
        self.settled(id, game, root, clock, (since, end))
    }

    /// The same until `end`, or the end of the check.
    fn settled(
        &mut self,
        id: &str,
        game: &str,
        root: &Root,
        clock: Clock,
        (since, end): (Instant, Option<Instant>),
    ) -> Checked<Value> {
        let (mut asked, mut times) = (id.to_owned(), 1);
        loop {
            let answer = self.visit.answer(&asked)?;
            if answer["code"] != "overloaded" {
                return Ok(answer);
            }
            let pause = answer["retry_ms"].as_u64().map(Duration::from_millis);
            let again = pause.and_then(|pause| Instant::now().checked_add(pause));
            let ends = self.visit.deadline.min(end.unwrap_or(self.visit.deadline));
            let Some(again) = again.filter(|again| *again < ends) else {
                return Err(Stop::failed("a move before the clock ends", answer.to_string()));
            };
            thread::sleep(again.saturating_duration_since(Instant::now()));
            times += 1;
            asked = format!("{id}.{times}");
            let line = self.question(&asked, game, root, (clock, true), since.elapsed());
            self.visit.request(&asked, &line)?;
        }
    }

    /// Asks for a move in a game; the answer, whatever it is. Its clock is short, as a bot may use it up in
    /// each of many moves, but a later answer passes, too.
    pub(super) fn asked(&mut self, id: &str, game: &str, root: &Root) -> Checked<Value> {
        let clock = self.clock(TIME);
        let since = self.ask_quick(id, game, root, clock)?;
        self.settled(id, game, root, clock, (since, None))
    }

    /// Asks for a move in a game, which has to be legal; returns the position after it.
    pub(super) fn play(&mut self, id: &str, game: &str, root: &Root) -> Checked<Root> {
        let answer = self.asked(id, game, root)?;
        played(root, &answer)
    }

    /// Plays a move in each of `most` games with names that begin with `name`, all from the same start, and
    /// asks for a move in one more, which is to be refused.
    pub(super) fn plays_no_more_than(&mut self, most: usize, name: &str, root: &Root) -> Checked {
        for number in 0..most {
            self.play(&format!("{name}-{number}"), &format!("{name}-{number}"), root)?;
        }
        let answer = self.asked(&format!("{name}-more"), &format!("{name}-more"), root)?;
        let expected =
            format!("`too_many_sessions` for a game beyond the {} that were offered", self.concurrency());
        holds(answer["code"] == "too_many_sessions", expected, || answer.to_string())
    }
}
