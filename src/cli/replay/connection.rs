//! One connection of a replay: what it sent, which finals it still owes, and how they differed.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::time::{Duration, Instant};

use crate::client::{LineError, Lines, is_final_json};
use serde_json::Value;

use super::compare;

/// A connection to the server under test.
pub(super) struct Connection {
    lines: Lines,
    timeout: Duration,
    /// Finals recorded since the last line that was sent.
    owed: VecDeque<Value>,
    /// Finals that arrived and were not asked for yet.
    arrived: Vec<Value>,
    /// The searches that a time limits, by id.
    timed: HashSet<String>,
    /// The client ended its input. A WebSocket has no end of one direction alone: it stays open until what is
    /// owed has arrived.
    input_ended: bool,
    /// Nothing more can be learned here: a final is missing.
    broken: bool,
    result: Comparison,
}

/// The result of a connection.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Lines sent.
    pub sent: usize,
    /// Finals compared.
    pub compared: usize,
    /// What differed.
    pub differences: Vec<Difference>,
}

/// A difference from the recording.
#[derive(Debug)]
pub(super) struct Difference {
    /// Which request, by its id or its line.
    request: String,
    /// What is different.
    message: String,
    /// The parts that differ.
    parts: Vec<compare::Part>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.request, self.message)?;
        self.parts.iter().try_for_each(|part| write!(f, "\n{part}"))
    }
}

impl Connection {
    /// A fresh connection, on which no wait is longer than `timeout`.
    pub(super) fn new(lines: Lines, timeout: Duration) -> Self {
        Self {
            lines,
            timeout,
            owed: VecDeque::new(),
            arrived: Vec::new(),
            timed: HashSet::new(),
            input_ended: false,
            broken: false,
            result: Comparison::default(),
        }
    }

    /// Expects this final, if not yet.
    pub(super) fn owe(&mut self, message: Value) {
        self.owed.push_back(message);
    }

    /// Sends a line once everything owed has arrived.
    pub(super) fn send(&mut self, line: &str) {
        self.settle();
        if self.broken {
            return;
        }
        if self.lines.send(line.as_bytes()).is_err() {
            self.differ(format!("line {}", self.result.sent + 1), "the server closed the connection".into());
            self.broken = true;
            return;
        }
        self.result.sent += 1;
        if let Ok(request) = serde_json::from_str::<Value>(line)
            && request.pointer("/limit/time_ms").is_some()
            && let Some(id) = request.get("target").or(request.get("id")).and_then(Value::as_str)
        {
            self.timed.insert(id.to_owned());
        }
    }

    /// Ends the input once everything owed has arrived.
    pub(super) fn end(&mut self) {
        self.settle();
        self.finish_input();
    }

    /// Ends the input now; over a WebSocket, once everything recorded behind it has arrived.
    pub(super) fn finish_input(&mut self) {
        self.input_ended = true;
        if self.lines.answers_after_input() {
            self.lines.finish_input();
        }
    }

    /// Waits for what is owed and for the server's end of the connection.
    pub(super) fn close(mut self) -> Comparison {
        self.settle();
        if !self.broken {
            self.lines.finish_input();
            self.drain();
        }
        self.result
    }

    /// Takes each final that is owed, in whatever order they arrive: those of two sessions have none.
    fn settle(&mut self) {
        while let Some(recorded) = self.owed.pop_front() {
            if self.broken {
                continue;
            }
            let request = request(&recorded);
            match self.take(&request) {
                Ok(received) => {
                    self.result.compared += 1;
                    let timed = recorded["id"].as_str().is_some_and(|id| self.timed.contains(id));
                    let parts = compare::parts(&recorded, &received, timed);
                    if !parts.is_empty() {
                        let message = "the answer differs".to_owned();
                        self.result.differences.push(Difference { request, message, parts });
                    }
                }
                Err(message) => {
                    self.differ(request, message);
                    self.broken = true;
                }
            }
        }
    }

    fn take(&mut self, request_wanted: &str) -> Result<Value, String> {
        let deadline = Instant::now() + self.timeout;
        loop {
            if let Some(index) = self.arrived.iter().position(|message| request(message) == request_wanted) {
                return Ok(self.arrived.remove(index));
            }
            let line = self.lines.next(deadline).map_err(|error| match error {
                LineError::TimedOut if self.input_ended && !self.lines.answers_after_input() => format!(
                    "no answer within {:?}. If it comes only at the end of the input, it cannot be replayed over \
                     WebSocket, which ends in both directions at once",
                    self.timeout
                ),
                LineError::TimedOut => format!("no answer within {:?}", self.timeout),
                other => format!("no answer: {other}"),
            })?;
            let message: Value = serde_json::from_slice(&line.bytes)
                .map_err(|_| format!("the server wrote `{}`", String::from_utf8_lossy(&line.bytes)))?;
            if is_final_json(&message) {
                self.arrived.push(message);
            }
        }
    }

    /// Reads on to the end: nothing more may come, and a child process must end well.
    fn drain(&mut self) {
        let deadline = Instant::now() + self.timeout;
        loop {
            match self.lines.next(deadline) {
                Ok(line) => {
                    let message = serde_json::from_slice(&line.bytes).unwrap_or(Value::Null);
                    if is_final_json(&message) {
                        self.arrived.push(message);
                    }
                    // It may write without end.
                    if Instant::now() >= deadline {
                        return self.differ("end of input".into(), "the server writes on and on".into());
                    }
                }
                Err(LineError::TimedOut) => {
                    return self.differ("end of input".into(), "the connection stays open".into());
                }
                Err(_) => break,
            }
        }
        for message in std::mem::take(&mut self.arrived) {
            self.differ(request(&message), format!("an answer that was not recorded: {message}"));
        }
        match self.lines.wait_exit(deadline) {
            Ok(Some(status)) if !status.success() => self.differ("end of input".into(), status.to_string()),
            Ok(_) => (),
            Err(error) => self.differ("end of input".into(), format!("the server does not end: {error}")),
        }
    }

    fn differ(&mut self, request: String, message: String) {
        self.result.differences.push(Difference { request, message, parts: Vec::new() });
    }
}

/// The request that a final is about: by its id, or by its line if the id could not be read.
fn request(message: &Value) -> String {
    match message["id"].as_str() {
        Some(id) => format!("request `{id}`"),
        None => format!("line {}", message["line"]),
    }
}
