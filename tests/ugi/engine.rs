//! `plyd ugi` as a process that a test speaks with by lines.

use std::fmt;
use std::io::Write;
use std::process::{ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Instant;

use plyd::client::Process;

use crate::common::{TIMEOUT, process};

/// An engine, killed when dropped. Its text, which each failure begins with, is what it was started with and
/// the position that it was sent last.
pub(crate) struct Engine {
    arguments: String,
    position: String,
    process: Process,
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Engine {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let (process, input, lines) = process::spoken_with(process::plyd([&["ugi"], arguments].concat()));
        Self { arguments: arguments.join(" "), position: String::new(), process, input: Some(input), lines }
    }

    pub(crate) fn say(&mut self, line: &str) {
        if line.starts_with("position ") {
            self.position = line.to_owned();
        }
        self.bytes(format!("{line}\n").as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let written = self.input.as_mut().unwrap().write_all(bytes);
        written.unwrap_or_else(|error| panic!("{self}: {error}"));
    }

    /// The lines up to the first that begins with this word.
    pub(crate) fn until(&mut self, word: &str) -> Vec<String> {
        let deadline = Instant::now() + TIMEOUT;
        let mut seen = Vec::new();
        loop {
            let line = self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
                .unwrap_or_else(|error| panic!("{self}: {error} before `{word}`: {seen:?}"));
            let is_it = line.split(' ').next() == Some(word);
            seen.push(line);
            if is_it {
                return seen;
            }
        }
    }

    /// Says something and gives what is written about it.
    pub(crate) fn notes(&mut self, line: &str) -> Vec<String> {
        self.say(line);
        self.sync()
    }

    /// What is written before all of the input so far is done.
    pub(crate) fn sync(&mut self) -> Vec<String> {
        self.say("isready");
        let mut lines = self.until("readyok");
        lines.pop();
        lines
    }

    pub(crate) fn query(&mut self, what: &str) -> String {
        self.say(&format!("query {what}"));
        let mut lines = self.until("response");
        // A search may run meanwhile.
        lines.retain(|line| !line.starts_with("info depth "));
        let [answer] = &lines[..] else { panic!("{self}: more than an answer: {lines:?}") };
        answer.strip_prefix("response ").unwrap().to_owned()
    }

    /// Searches; gives the lines before the answer, and the move.
    pub(crate) fn go(&mut self, how: &str) -> (Vec<String>, String) {
        self.say(&format!("go {how}"));
        let mut lines = self.until("bestmove");
        let last = lines.pop().unwrap();
        let words: Vec<&str> = last.split(' ').collect();
        let ["bestmove", mv] = words[..] else { panic!("{self}: not two words: {last}") };
        (lines, mv.to_owned())
    }

    /// The rest of the output, and how the process ended.
    pub(crate) fn end(mut self) -> (Vec<String>, ExitStatus) {
        self.input = None;
        let mut lines = Vec::new();
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Disconnected) => return (lines, process::exit(&mut self.process)),
                Err(error) => panic!("{self}: {error} before the end: {lines:?}"),
            }
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plyd ugi {}", self.arguments)?;
        // Of a long one the end is enough.
        let skipped = self.position.char_indices().rev().nth(500).map_or(0, |(at, _)| at);
        match &self.position[skipped..] {
            "" => Ok(()),
            end => write!(f, ": {}{end}", if skipped > 0 { "..." } else { "" }),
        }
    }
}
