//! A process of the bot, which plays one game at a time.
//!
//! What the ladder asks reaches it under ids of our own, since ladders number from the start after each
//! connection. A process that speaks the whole protocol plays each game in a session, so that it remembers
//! between moves what it found; any other gets each `go` as it came.

use std::collections::HashMap;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_protocol::echo;
use serde_json::{Map, Value, json};

use crate::client::{LineError, Lines, Program, Reaper};

/// How long the bot may leave unread what it is sent, before it counts as hung.
const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a bot may take to end once its input has.
const FAREWELL: Duration = Duration::from_secs(1);
/// The most lines that are read for nothing in a row.
const LINES: usize = 64;
/// The one session of a bot that has sessions.
const SESSION: &str = "ladder";
/// The id of the `hello` that shows whether it has.
const HELLO: &str = "hello";
/// What an answer about our own `newgame` is named.
const NEWGAME: &str = "newgame";

/// An object of JSON.
pub(super) type Object = Map<String, Value>;

/// How a bot is started.
pub(super) struct Bot {
    pub(super) program: Program,
    pub(super) reaper: Arc<Reaper>,
    /// Options for a bot that has options.
    pub(super) options: Object,
}

/// A process of the bot, and what it is doing.
pub(super) struct Lane {
    process: Option<Lines>,
    /// The game that it plays, by the ladder's name.
    pub(super) game: Option<String>,
    /// Whether it has answered `hello`, which shows whether it has sessions.
    is_settled: bool,
    pub(super) has_sessions: bool,
    /// Whether the game is played in a session.
    in_session: bool,
    /// By our ids: the ladder's. None: nobody waits for it any more.
    asked: HashMap<String, Option<String>>,
    /// The id of the `go` that it was asked last.
    searching: Option<String>,
    /// Why the session could not be opened.
    refused: Option<Object>,
    /// What becomes of a search whose process could not be written to.
    failed: Option<Object>,
    last: u64,
}

impl Bot {
    fn start(&self) -> Result<Lines, LineError> {
        let mut lines = Lines::spawn(self.program.launch(Some(&self.reaper))?)?;
        lines.set_write_timeout(WRITE_TIMEOUT);
        lines.send(
            json!({ "id": HELLO, "cmd": "hello", "protocol": { "min": 1, "max": 1 } }).to_string().as_bytes(),
        )?;
        Ok(lines)
    }
}

impl Lane {
    /// Starts a process of the bot.
    ///
    /// # Errors
    /// It does not start.
    pub(super) fn start(bot: &Bot) -> Result<Self, LineError> {
        Ok(Self {
            process: Some(bot.start()?),
            game: None,
            is_settled: false,
            has_sessions: false,
            in_session: false,
            asked: HashMap::new(),
            searching: None,
            refused: None,
            failed: None,
            last: 0,
        })
    }

    /// Waits until the process shows whether it has sessions, so that no game begins while it starts.
    pub(super) fn settle(&mut self, deadline: Instant) {
        while !self.is_settled && self.process.is_some() {
            let Some(lines) = &mut self.process else { return };
            match lines.next(deadline) {
                Ok(line) => match serde_json::from_slice(&line.bytes) {
                    Ok(message) => drop(self.heard(message)),
                    // Whoever asks for a move first will hear of it.
                    Err(_) => return,
                },
                Err(_) => return,
            }
        }
    }

    /// Where its lines come from, while it runs.
    pub(super) fn input(&self) -> Option<BorrowedFd<'_>> {
        self.process.as_ref().map(Lines::input)
    }

    /// Asks for a move in the game that it plays.
    ///
    /// # Errors
    /// Why it cannot be asked; it is ended then.
    pub(super) fn go(&mut self, bot: &Bot, mut go: Object, theirs: &str) -> Result<(), String> {
        if self.process.is_none() {
            let process = bot.start().map_err(|error| error.to_string())?;
            (self.process, self.has_sessions, self.in_session) = (Some(process), false, false);
        }
        if self.has_sessions && !self.in_session {
            let mut opened = Object::new();
            opened.extend([("id".into(), json!(NEWGAME)), ("cmd".into(), json!("newgame"))]);
            opened.insert("session".into(), json!(SESSION));
            for field in ["game", "rules"] {
                opened.extend(go.get(field).map(|value| (field.to_owned(), value.clone())));
            }
            opened.insert("options".into(), Value::Object(bot.options.clone()));
            (self.in_session, self.refused) = (true, None);
            self.send(&opened)?;
        }
        if self.in_session {
            go.remove("game");
            go.remove("rules");
            go.insert("session".into(), json!(SESSION));
        }
        self.searching = Some(self.ask(go, Some(theirs))?);
        Ok(())
    }

    /// Passes a request about the running search on, such as `stop`, if that search is the one meant.
    ///
    /// # Errors
    /// As for [`Lane::go`].
    pub(super) fn pass(&mut self, mut request: Object, theirs: &str) -> Result<(), String> {
        if let Some(searching) = &self.searching {
            request.insert("target".into(), json!(searching));
        }
        self.ask(request, Some(theirs)).map(drop)
    }

    /// Whether the ladder waits for the answer to that `go`.
    pub(super) fn searches(&self, theirs: &str) -> bool {
        let asked = self.searching.as_ref().and_then(|ours| self.asked.get(ours));
        asked.is_some_and(|asked| asked.as_deref() == Some(theirs))
    }

    /// Forgets who asked, since nobody is there any more; the search ends.
    pub(super) fn abandon(&mut self) {
        self.asked.values_mut().for_each(|theirs| *theirs = None);
        if let Some(searching) = self.searching.take().filter(|ours| self.asked.contains_key(ours)) {
            let stop = json!({ "cmd": "stop", "target": searching, "discard": true });
            if let Value::Object(stop) = stop {
                let _ended = self.ask(stop, None);
            }
        }
    }

    /// Begins a game, or has none to play.
    pub(super) fn play(&mut self, game: Option<String>) {
        self.abandon();
        (self.game, self.in_session) = (game, false);
    }

    /// The next line for the ladder, if there is one: an answer of the bot, or what became of it. Of a bot
    /// that always has more to say this returns after some lines.
    pub(super) fn next(&mut self) -> Option<Object> {
        if let Some(failed) = self.failed.take() {
            return Some(failed);
        }
        for _ in 0..LINES {
            let line = match self.process.as_mut()?.next(Instant::now()) {
                Ok(line) => line.bytes,
                Err(LineError::TimedOut) => return None,
                Err(error) => return self.fail(&error.to_string()),
            };
            let Ok(Value::Object(message)) = serde_json::from_slice(&line) else {
                let line = echo(&String::from_utf8_lossy(&line));
                return self.fail(&format!("it wrote what is no message: `{line}`"));
            };
            if let Some(message) = self.heard(message) {
                return Some(message);
            }
        }
        None
    }

    /// A message of the bot as the ladder gets it; none if it is not for the ladder.
    fn heard(&mut self, mut message: Object) -> Option<Object> {
        let is_final = message.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "info");
        let is_error = message.get("type").is_some_and(|kind| kind == "error");
        match message.get("id").and_then(Value::as_str)? {
            HELLO => {
                (self.is_settled, self.has_sessions) = (true, !is_error);
                return None;
            }
            NEWGAME => {
                self.refused = is_error.then_some(message);
                return None;
            }
            ours => {
                let ours = ours.to_owned();
                let theirs = match is_final {
                    true => self.asked.remove(&ours)?,
                    false => self.asked.get(&ours)?.clone(),
                }?;
                // A session that was refused is why the search was.
                if is_error && let Some(refused) = self.refused.take() {
                    (message, self.in_session) = (refused, false);
                }
                // Several processes number their messages each for itself.
                message.remove("seq");
                message.remove("t_us");
                message.insert("id".into(), json!(theirs));
            }
        }
        Some(message)
    }

    /// Ends the process. What it was asked is answered by an error, the search first.
    fn fail(&mut self, why: &str) -> Option<Object> {
        self.process = None;
        let searching = self.searching.take().and_then(|ours| self.asked.remove(&ours)).flatten();
        self.asked.clear();
        (self.has_sessions, self.in_session) = (false, false);
        searching.map(|id| error(&id, "internal", &format!("the bot failed: {why}")))
    }

    fn ask(&mut self, mut request: Object, theirs: Option<&str>) -> Result<String, String> {
        self.last += 1;
        let ours = self.last.to_string();
        request.insert("id".into(), json!(ours));
        self.send(&request)?;
        self.asked.insert(ours.clone(), theirs.map(str::to_owned));
        Ok(ours)
    }

    fn send(&mut self, request: &Object) -> Result<(), String> {
        // The id stands first and `x_legal` last, as bots without a reader of JSON want them; the other
        // fields are sorted by their names.
        let mut request = request.clone();
        let id = request.remove("id").unwrap_or_default();
        let rest = Value::Object(request).to_string();
        let line = format!("{{\"id\":{id},{}", &rest[1..]).into_bytes();
        let process = self.process.as_mut().ok_or("it has ended")?;
        match process.send(&line) {
            Ok(_) => Ok(()),
            Err(error) => {
                self.failed = self.fail(&error.to_string());
                Err(error.to_string())
            }
        }
    }

    /// Ends the input of the process, which may have something to write down, and waits for it for a moment.
    pub(super) fn leave(mut self) {
        if let Some(process) = &mut self.process {
            process.finish_input();
            let _killed_then = process.wait_exit(Instant::now() + FAREWELL);
        }
    }
}

/// An error for the ladder.
pub(super) fn error(id: &str, code: &str, message: &str) -> Object {
    let error = json!({ "type": "error", "id": id, "code": code, "message": message, "fatal": false });
    match error {
        Value::Object(error) => error,
        _ => Object::new(),
    }
}
