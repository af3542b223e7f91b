//! One connection to the server under test: a log of what was sent and received, and the waits.
//!
//! Trusts no server: no wait outlives the check's deadline, and a flood ends the check.

use std::collections::{HashMap, VecDeque};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::monitor::InvariantMonitor;
use super::requests::{newgame, ping, with};
use super::verdict::{Checked, Stop, holds, like};
use plyd_bridge::program::Log;
use plyd_client::{LONGEST_ANSWER, LineError, Lines, is_final_json};
use plyd_protocol::echo;

/// The most messages that the server may write to one connection: more than any check asks for.
const FLOOD_MESSAGES: usize = 200_000;

/// How long to wait for the end of the log of a program that closed its output.
const LOG_END: Duration = Duration::from_millis(500);

/// How long to wait for a server that was asked to quit at the end of a check.
const FAREWELL: Duration = Duration::from_millis(500);

/// How often a search that is refused as `overloaded` is sent again.
const RETRIES: u32 = 20;

/// The longest `retry_ms` that is waited for.
const LONGEST_RETRY: Duration = Duration::from_secs(2);

/// A search for a move, kept to be sent again if the server is overloaded.
struct PendingSearch {
    request: Value,
    /// When it was sent first.
    since: Instant,
    retries: u32,
    /// When it is to be sent again.
    due: Option<Instant>,
}

/// A connection to the server under test.
pub(super) struct Conversation<'w> {
    lines: Lines,
    deadline: Instant,
    /// The whole time of the check, which ends at the deadline.
    time: Duration,
    monitor: InvariantMonitor<'w>,
    /// Every message so far, in order; a line that is no JSON is null.
    pub log: Vec<Heard>,
    /// The places in the log of the finals that no check has taken yet.
    finals: HashMap<String, VecDeque<usize>>,
    /// The places in the log of errors without an id that no check has taken yet.
    faults: VecDeque<usize>,
    /// The searches that are sent again if they are `overloaded`.
    searches: HashMap<String, PendingSearch>,
    /// Whether searches are sent again; if not, `overloaded` is an ordinary answer.
    pub retries: bool,
    /// Each `overloaded` error after which a search was sent again; neither the log nor the finals contain
    /// them.
    pub overloads: Vec<Value>,
    /// How many lines were sent.
    pub sent: u64,
    /// The result of the `hello`.
    pub hello: Value,
    pings: u32,
    ended: bool,
    /// What the program writes to stderr, if it is kept.
    program_log: Option<Log>,
    /// What may be wrong if no answer comes.
    silence: Option<&'static str>,
}

/// A message and when it arrived.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    /// When the end of its line was read.
    pub at: Instant,
    /// The message; null if the line is no JSON.
    pub message: Value,
    /// The line if it is no JSON, cut for display.
    pub other: String,
}

impl<'w> Conversation<'w> {
    /// A connection on which nothing was said yet, of a check that has that time.
    pub(super) fn new(
        lines: Lines,
        (deadline, time): (Instant, Duration),
        monitor: InvariantMonitor<'w>,
    ) -> Self {
        let mut peer = Self {
            lines,
            deadline,
            time,
            monitor,
            log: Vec::new(),
            finals: HashMap::new(),
            faults: VecDeque::new(),
            searches: HashMap::new(),
            retries: true,
            overloads: Vec::new(),
            sent: 0,
            hello: Value::Null,
            pings: 0,
            ended: false,
            program_log: None,
            silence: None,
        };
        peer.lines.set_longest(LONGEST_ANSWER);
        peer.lines.set_write_timeout(deadline.saturating_duration_since(Instant::now()));
        peer
    }

    /// Failures then say how the program's log ended, and what may be wrong if it does not answer.
    pub(super) fn explained(mut self, program_log: Option<Log>, silence: Option<&'static str>) -> Self {
        (self.program_log, self.silence) = (program_log, silence);
        self
    }

    /// Why nothing can be sent or received, for people.
    fn reason(&self, error: &LineError) -> String {
        let log = self.program_log.as_ref();
        let more = match (error, log, self.silence) {
            (LineError::Closed, Some(log), _) => log.said_last(LOG_END),
            (LineError::TimedOut, _, hint) => self.slowness(hint),
            _ => String::new(),
        };
        format!("{error}{more}")
    }

    /// What may be wrong if no answer has come in time: the peer may be silent, or too slow for the check.
    fn slowness(&self, hint: Option<&str>) -> String {
        let answers = self.log.iter().filter(|heard| is_final_json(&heard.message));
        let times: Vec<Instant> = answers.map(|heard| heard.at).collect();
        let Some(&last) = times.last() else {
            return hint.map(|hint| format!(": {hint}")).unwrap_or_default();
        };
        let left = self.deadline.saturating_duration_since(last);
        let times = match times.len() {
            1 => "once".to_owned(),
            count => format!("{count} times, the last"),
        };
        let after = self.time.saturating_sub(left).as_secs_f64();
        let came = format!(": it answered {times} after {after:.1} s");
        match hint {
            // One that answers until then needs more time; one that is silent for longer does not answer.
            _ if left < self.time / 2 => {
                let more = 10 * self.time.as_secs().max(1);
                let time = self.time;
                format!("{came}; the time of a check, {time:?}, is over: --timeout {more}s gives more")
            }
            Some(hint) => format!("{came}; {hint}"),
            None => String::new(),
        }
    }

    /// Sends a request; returns when its last byte was sent. Skips the check if the server lacks a feature
    /// that the request uses.
    pub(super) fn send(&mut self, request: &Value) -> Checked<Instant> {
        self.needs_features_of(request)?;
        self.send_line(request.to_string().as_bytes())
    }

    /// The same for several requests in one write.
    pub(super) fn send_all(&mut self, requests: &[Value]) -> Checked<Instant> {
        requests.iter().try_for_each(|request| self.needs_features_of(request))?;
        let lines: Vec<String> = requests.iter().map(Value::to_string).collect();
        self.send_line(lines.join("\n").as_bytes())
    }

    /// Sends a line, or several, without the last line end.
    pub(super) fn send_line(&mut self, line: &[u8]) -> Checked<Instant> {
        for line in line.split(|&byte| byte == b'\n') {
            self.sent += 1;
            self.monitor.sent(line);
            self.remember(line);
        }
        self.lines
            .send(line)
            .map_err(|error| Stop::failed("the server reads what it is sent", self.reason(&error)))
    }

    /// Sends bytes as they are; the lines that they begin are not counted.
    pub(super) fn send_bytes(&mut self, bytes: &[u8]) -> Checked<Instant> {
        let sent = self.lines.send_bytes(bytes);
        sent.map_err(|error| Stop::failed("the server reads what it is sent", error.to_string()))
    }

    /// Sends the frames of a WebSocket as they are.
    pub(super) fn send_frames(&mut self, frames: &[u8]) -> Checked<Instant> {
        let sent = self.lines.send_raw(frames);
        sent.map_err(|error| Stop::failed("the server reads what it is sent", error.to_string()))
    }

    /// The payload of the last pong of a WebSocket.
    pub(super) fn pong(&self) -> Option<&[u8]> {
        self.lines.pong()
    }

    /// Sends bytes repeatedly until the connection is closed; returns whether that was in time.
    pub(super) fn pour(&mut self, bytes: &[u8], time: Duration) -> Checked<bool> {
        let end = self.deadline.min(Instant::now() + time);
        self.lines.set_write_timeout(time);
        while Instant::now() < end {
            match self.lines.send_bytes(bytes) {
                Ok(_) => {}
                Err(LineError::Closed) => return Ok(true),
                Err(error) => return Err(Stop::failed("the server reads on, or closes", error.to_string())),
            }
        }
        Ok(false)
    }

    /// Notes a request whose line was sent in parts.
    pub(super) fn note(&mut self, line: &[u8]) {
        self.sent += 1;
        self.monitor.sent(line);
    }

    /// Waits for the final message of a request.
    pub(super) fn last(&mut self, id: &str) -> Checked<Value> {
        self.last_heard(id).map(|heard| heard.message)
    }

    /// The final message of a request with its arrival.
    pub(super) fn last_heard(&mut self, id: &str) -> Checked<Heard> {
        loop {
            if let Some(index) = self.finals.get_mut(id).and_then(VecDeque::pop_front) {
                return Ok(self.log[index].clone());
            }
            self.hear(&format!("the final message of `{id}`"))?;
        }
    }

    /// Waits for the next error without an id.
    pub(super) fn fault(&mut self) -> Checked<Value> {
        loop {
            if let Some(index) = self.faults.pop_front() {
                return Ok(self.log[index].message.clone());
            }
            self.hear("an error without an id")?;
        }
    }

    /// Waits for the next final message of whatever request, which may be one without an id.
    pub(super) fn any_final(&mut self) -> Checked<Value> {
        loop {
            let index = self.hear("a final message")?;
            let message = self.log[index].message.clone();
            if is_final_json(&message) {
                self.faults.clear();
                if let Some(queue) = message["id"].as_str().and_then(|id| self.finals.get_mut(id)) {
                    queue.pop_back();
                }
                return Ok(message);
            }
        }
    }

    /// Sends a request and waits for its final message.
    pub(super) fn ask(&mut self, request: &Value) -> Checked<Value> {
        self.send(request)?;
        self.last(request["id"].as_str().unwrap_or_default())
    }

    /// Sends a request that must succeed; returns its result.
    pub(super) fn result(&mut self, request: &Value) -> Checked<Value> {
        let last = self.ask(request)?;
        like(&last, &json!({ "type": "result" })).map_err(|stop| stop.at(&request.to_string()))?;
        Ok(last)
    }

    /// Sends a `go` that must be answered by a move; returns the `bestmove`.
    pub(super) fn best(&mut self, request: &Value) -> Checked<Value> {
        let last = self.ask(request)?;
        like(&last, &json!({ "type": "bestmove" })).map_err(|stop| stop.at(&request.to_string()))?;
        Ok(last)
    }

    /// Sends a request that must be refused by an error with those fields; returns the error.
    pub(super) fn refused(&mut self, request: &Value, fields: &Value) -> Checked<Value> {
        self.send(request)?;
        let id = request["id"].as_str().unwrap_or_default();
        // Even if it is `overloaded`, it is not sent again.
        self.searches.remove(id);
        let last = self.last(id)?;
        like(&last, &with(json!({ "type": "error" }), fields))
            .map_err(|stop| stop.at(&request.to_string()))?;
        Ok(last)
    }

    /// Waits for news of a search.
    pub(super) fn info(&mut self, id: &str, event: &str) -> Checked<Heard> {
        let is_it = |message: &Value| {
            message["id"] == id
                && (message["event"] == event || is_final_json(message) && message["of"] != "update")
        };
        let index = self.until(0, &format!("`{event}` of `{id}`"), is_it)?;
        let heard = self.log[index].clone();
        holds(heard.message["event"] == event, format!("`{event}` of `{id}` before its end"), || {
            heard.message.to_string()
        })?;
        Ok(heard)
    }

    /// Waits for a message at that place of the log or after it; returns its place.
    pub(super) fn until(
        &mut self,
        from: usize,
        what: &str,
        is_it: impl Fn(&Value) -> bool,
    ) -> Checked<usize> {
        let mut next = from;
        loop {
            while next < self.log.len() {
                if is_it(&self.log[next].message) {
                    return Ok(next);
                }
                next += 1;
            }
            self.hear(what)?;
        }
    }

    /// Sends a `ping` and waits for its answer: what was sent before, and is answered at once, has been
    /// answered by then.
    pub(super) fn ping(&mut self) -> Checked {
        self.pings += 1;
        let id = format!("ping-{}", self.pings);
        self.result(&ping(&id)).map(drop)
    }

    /// Whether the server offers a game.
    pub(super) fn offers(&self, game: &str) -> bool {
        self.hello["games"].as_array().is_some_and(|games| games.iter().any(|name| name == game))
    }

    /// Whether the server has a feature.
    pub(super) fn has(&self, feature: &str) -> bool {
        self.hello["features"].as_array().is_some_and(|features| features.iter().any(|name| name == feature))
    }

    /// The feature that a request of a search uses, or its option, and that the server lacks. Before the
    /// `hello` nothing is known.
    pub(super) fn lacking(&self, request: &Value) -> Option<&'static str> {
        if !self.hello["features"].is_array() {
            return None;
        }
        let mode = request["mode"].as_str().unwrap_or_default();
        let is_ponderhit = request["cmd"] == "update" && mode == "move";
        let features = [
            ("analyse", mode == "analyse"),
            ("anytime", request["clock"]["kind"] == "anytime"),
            ("deterministic", request["options"].get("deterministic").is_some()),
            ("hard_ms", request.get("hard_ms").is_some()),
            ("multipv", request.get("multipv").is_some()),
            ("ponder", mode == "ponder" || is_ponderhit),
            ("queue", request.get("queue").is_some()),
        ];
        let lacks =
            |(feature, is_used): (&'static str, bool)| (is_used && !self.has(feature)).then_some(feature);
        features.into_iter().find_map(lacks)
    }

    fn needs_features_of(&self, request: &Value) -> Checked {
        match self.lacking(request) {
            Some(feature) => Err(Stop::skipped(format!("the server lacks the feature `{feature}`"))),
            None => Ok(()),
        }
    }

    /// Skips the check if the server does not offer a game.
    pub(super) fn needs(&self, game: &str) -> Checked {
        if self.offers(game) {
            Ok(())
        } else {
            Err(Stop::skipped(format!("the game `{game}` is not offered")))
        }
    }

    /// A game whose start no search solves within a check, as a request names it.
    pub(super) fn vast_game(&self) -> Checked<Value> {
        let games = [
            json!({ "game": "isolation", "rules": { "preset": "11x9" } }),
            json!({ "game": "colosseum", "rules": { "size": 8, "seed": "1" } }),
            json!({ "game": "ijk" }),
        ];
        let offered = games.into_iter().find(|game| self.offers(game["game"].as_str().unwrap_or_default()));
        offered.ok_or_else(|| Stop::skipped("no game of isolation, colosseum and ijk is offered"))
    }

    /// Opens sessions of that game.
    pub(super) fn sessions(&mut self, names: &[&str], game: &Value) -> Checked {
        names.iter().try_for_each(|name| self.result(&newgame(name, game, json!({}))).map(drop))
    }

    /// Whether no final message of a request was heard yet.
    pub(super) fn is_open(&self, id: &str) -> bool {
        !self.log.iter().any(|heard| is_final_json(&heard.message) && heard.message["id"] == id)
    }

    /// Where the last final message of the id stands in the log.
    pub(super) fn place(&self, id: &str) -> Checked<usize> {
        let is_it = |heard: &Heard| is_final_json(&heard.message) && heard.message["id"] == id;
        let place = self.log.iter().rposition(is_it);
        place.ok_or_else(|| Stop::failed(format!("a final message of `{id}`"), "none"))
    }

    /// Where the first message of the id stands in the log.
    pub(super) fn first_place(&self, id: &str) -> Checked<usize> {
        let place = self.log.iter().position(|heard| heard.message["id"] == id);
        place.ok_or_else(|| Stop::failed(format!("a message about `{id}`"), "none"))
    }

    /// Whether nothing unread has arrived; if something has, it is lost.
    pub(super) fn is_silent(&mut self) -> bool {
        matches!(self.lines.next(Instant::now()), Err(LineError::TimedOut))
    }

    /// Ends the input.
    pub(super) fn end_input(&mut self) {
        self.lines.finish_input();
    }

    /// Reads until the server closes the connection.
    pub(super) fn closed(&mut self) -> Checked {
        loop {
            match self.receive() {
                Ok(_) => {}
                Err(LineError::Closed) => return Ok(()),
                Err(error) => {
                    return Err(Stop::failed("the server closes the connection", error.to_string()));
                }
            }
        }
    }

    /// Reads until the server closes the WebSocket, which must be with that status.
    pub(super) fn closed_as(&mut self, status: u16) -> Checked {
        self.closed()?;
        let came = self.lines.status();
        holds(came == Some(status), format!("an end with status {status}"), || format!("{came:?}"))
    }

    /// Waits for the process to exit with success; does nothing over TCP.
    pub(super) fn exit(&mut self) -> Checked {
        let status = self.lines.wait_exit(self.deadline);
        let expected = "the process ends with exit code 0";
        match status {
            Ok(status) if status.as_ref().is_none_or(ExitStatus::success) => Ok(()),
            Ok(status) => {
                Err(Stop::failed(expected, status.map(|status| status.to_string()).unwrap_or_default()))
            }
            Err(_) => Err(Stop::failed(expected, "it runs on")),
        }
    }

    /// Breaks off the connection without a message.
    pub(super) fn vanish(mut self) {
        self.ended = true;
    }

    /// Breaks off the connection by a reset, which no server takes for the end of the input.
    pub(super) fn reset(mut self) {
        self.ended = true;
        self.lines.reset_at_end();
    }

    /// Resumes what another connection began, after its message `seq`.
    pub(super) fn follow(&mut self, earlier: &Self, seq: u64) {
        let later = earlier.log.iter().map(|heard| &heard.message);
        self.monitor.follow(&earlier.monitor, later, seq);
        self.sent = earlier.sent;
    }

    /// Whether a final message of the request is still to come, on this connection or on an earlier one.
    pub(super) fn is_awaited(&self, id: &str) -> bool {
        self.monitor.is_awaited(id) || self.finals.get(id).is_some_and(|finals| !finals.is_empty())
    }

    /// The server's process; none over TCP.
    pub(super) fn pid(&self) -> Option<u32> {
        self.lines.pid()
    }

    /// Waits for the next message of any kind; returns its place in the log.
    fn hear(&mut self, what: &str) -> Checked<usize> {
        self.receive().map_err(|error| Stop::failed(what, self.reason(&error)))
    }

    fn receive(&mut self) -> Result<usize, LineError> {
        loop {
            let due = self.searches.values().filter_map(|search| search.due).min();
            let now = Instant::now();
            if due.is_some_and(|due| due <= now) {
                self.ask_again(now)?;
                continue;
            }
            if now >= self.deadline || self.log.len() >= FLOOD_MESSAGES {
                return Err(LineError::TimedOut);
            }
            let wait = due.map_or(self.deadline, |due| due.min(self.deadline));
            let line = match self.lines.next(wait) {
                Err(LineError::TimedOut) if due.is_some() => continue,
                line => line.inspect_err(|_| self.ended = true)?,
            };
            let message: Value = serde_json::from_slice(&line.bytes).unwrap_or_default();
            self.monitor.heard(&line.bytes, &message, self.sent);
            if is_final_json(&message) && self.waits_again(&message, line.at) {
                self.overloads.push(message);
                continue;
            }
            let index = self.log.len();
            if is_final_json(&message) {
                match message["id"].as_str() {
                    Some(id) => self.finals.entry(id.to_owned()).or_default().push_back(index),
                    None => self.faults.push_back(index),
                }
            }
            let other =
                if message.is_null() { echo(&String::from_utf8_lossy(&line.bytes)) } else { String::new() };
            self.log.push(Heard { at: line.at, message, other });
            return Ok(index);
        }
    }

    /// Notes a search for a move.
    fn remember(&mut self, line: &[u8]) {
        // Most lines are no such search; lines of a megabyte are not parsed for it.
        if line.len() > 64 << 10 || !line.windows(4).any(|part| part == br#""go""#) {
            return;
        }
        let Ok(request) = serde_json::from_slice::<Value>(line) else { return };
        if let (Some(id), "go", None | Some("move")) = (
            request["id"].as_str(),
            request["cmd"].as_str().unwrap_or_default(),
            request.get("mode").and_then(Value::as_str),
        ) {
            let search =
                PendingSearch { request: request.clone(), since: Instant::now(), retries: 0, due: None };
            self.searches.entry(id.to_owned()).or_insert(search);
        }
    }

    /// Whether the final message only says when to ask again.
    fn waits_again(&mut self, message: &Value, at: Instant) -> bool {
        let Some(id) = message["id"].as_str() else { return false };
        if let (Some(search), "overloaded", Some(retry_ms)) = (
            self.searches.get_mut(id),
            message["code"].as_str().unwrap_or_default(),
            message["retry_ms"].as_u64(),
        ) && self.retries
            && search.retries < RETRIES
        {
            search.retries += 1;
            search.due = Some(at + Duration::from_millis(retry_ms).min(LONGEST_RETRY));
            return true;
        }
        self.searches.remove(id);
        false
    }

    /// Sends due searches again, with the clock that is left.
    fn ask_again(&mut self, now: Instant) -> Result<(), LineError> {
        for search in self.searches.values_mut().filter(|search| search.due.is_some_and(|due| due <= now)) {
            search.due = None;
            let mut request = search.request.clone();
            if request.get("clock").is_some() {
                let elapsed = request["elapsed_ms"].as_u64().unwrap_or(0);
                request["elapsed_ms"] = json!(elapsed + search.since.elapsed().as_millis() as u64);
            }
            let line = request.to_string().into_bytes();
            self.sent += 1;
            self.monitor.sent(&line);
            self.lines.send(&line)?;
        }
        Ok(())
    }
}

impl Drop for Conversation<'_> {
    /// Ends the conversation, so that the server can use the threads of its searches for the next one; a
    /// process is just killed.
    fn drop(&mut self) {
        if self.ended || self.lines.pid().is_some() {
            return;
        }
        self.deadline = Instant::now() + FAREWELL;
        self.lines.set_write_timeout(FAREWELL);
        let _gone_already = self.send_line(br#"{"id":"bye","cmd":"quit","mode":"stop"}"#);
        while self.receive().is_ok() {}
    }
}
