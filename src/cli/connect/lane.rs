//! A process of the bot, which plays one game at a time.
//!
//! What the ladder asks reaches it under ids of our own, since ladders number from the start after each
//! connection. A process that speaks the whole protocol plays each game in a session, so that it remembers
//! between moves what it found; any other gets each `go` as it came.
//!
//! A process that fails in a search costs time, and no game: each `go` holds the whole game, so that a
//! process that is started anew is asked the same once more.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plyd_protocol::echo;
use rustix::fd::BorrowedFd;
use serde_json::{Value, json};

use super::answer::{Object, error, failed};
use super::search::RelayedSearch;
use crate::client::{LineError, Lines, Program, Reaper, is_final_type};

/// How long the bot may leave unread what it is sent, before it counts as hung. A pipe holds far more than a
/// `go`, so this is rare; all other games wait meanwhile.
const WRITE_TIMEOUT: Duration = Duration::from_millis(200);
/// How long a search that nobody waits for any more may go on.
const GRACE: Duration = Duration::from_secs(2);
/// How long a process that closed its output may take to end, so that its exit code can be reported.
const EXIT: Duration = Duration::from_millis(100);
/// The most lines that are read for nothing in a row.
const LINES: usize = 64;
/// The most requests about a search that wait for their answers.
const MOST_REQUESTS: usize = 64;
/// The one session of a bot that has sessions.
const SESSION: &str = "ladder";
/// The id of the `hello` that shows whether it has.
const HELLO: &str = "hello";
/// How much a bot may write during a search that is no message, in lines and in bytes. A language's runtime
/// or a line left over from debugging may say something there; whoever writes without end is broken.
const MOST_STRAYS: (usize, usize) = (64, 1 << 16);

/// How a bot is started.
pub(super) struct Bot {
    pub(super) program: Program,
    pub(super) reaper: Arc<Reaper>,
    /// Its options.
    pub(super) options: Object,
}

/// What there is to report of a process.
pub(super) enum News {
    /// It failed, and why.
    Failed(String),
    /// It wrote a line that is no message.
    Stray(String),
}

/// A process of the bot, and what it is doing.
pub(super) struct Lane {
    bot: Rc<Bot>,
    process: Option<Lines>,
    /// The game that it plays, by the ladder's name.
    pub(super) game: Option<String>,
    /// Whether it was asked for a move in it.
    pub(super) has_begun: bool,
    /// What it says it is, once it has answered `hello`.
    pub(super) engine: Option<Value>,
    /// Whether it has answered `hello`, and whether it has sessions.
    is_settled: bool,
    has_sessions: bool,
    /// Whether the session of the game is open, or is being opened.
    session: Session,
    /// The search that the ladder waits for.
    search: Option<RelayedSearch>,
    /// A search that nobody waits for any more, and until when it may go on.
    abandoned: Option<(String, Instant)>,
    /// The ladder's ids of the other requests that it was asked, by ours.
    asked: HashMap<String, String>,
    /// What becomes of requests whose process failed.
    failed: VecDeque<Object>,
    /// What is to be reported.
    pub(super) news: Vec<News>,
    /// The lines and bytes that were no message, since it was started or answered a search.
    strays: (usize, usize),
    /// Whether there may be more to read.
    pub(super) is_behind: bool,
    last: u64,
}

#[derive(PartialEq)]
enum Session {
    None,
    /// By the `newgame` of this id.
    Opening(String),
    Open,
}

impl Bot {
    fn start(&self) -> Result<Lines, LineError> {
        let mut lines = Lines::spawn(self.program.launch(Some(&self.reaper))?)?;
        lines.set_write_timeout(WRITE_TIMEOUT);
        let hello = json!({ "id": HELLO, "cmd": "hello", "protocol": { "min": 1, "max": 1 } });
        // Whoever reads from one that has ended already learns by what it ended.
        let _ended_already = lines.send(hello.to_string().as_bytes());
        Ok(lines)
    }
}

impl Lane {
    /// Starts a process of the bot.
    ///
    /// # Errors
    /// It does not start.
    pub(super) fn start(bot: &Rc<Bot>) -> Result<Self, LineError> {
        Ok(Self::of(bot, Some(bot.start()?)))
    }

    /// Another process of the same bot. If it does not start, whoever asks it first hears of that.
    pub(super) fn another(&self) -> Self {
        let mut lane = Self::of(&self.bot, self.bot.start().ok());
        (lane.is_settled, lane.has_sessions) = (self.is_settled, self.has_sessions);
        lane
    }

    fn of(bot: &Rc<Bot>, process: Option<Lines>) -> Self {
        Self {
            bot: Rc::clone(bot),
            process,
            game: None,
            has_begun: false,
            engine: None,
            is_settled: false,
            has_sessions: false,
            session: Session::None,
            search: None,
            abandoned: None,
            asked: HashMap::new(),
            failed: VecDeque::new(),
            news: Vec::new(),
            strays: (0, 0),
            is_behind: false,
            last: 0,
        }
    }

    /// Waits until the process shows whether it has sessions, so that no game begins while it starts.
    ///
    /// # Errors
    /// It has ended.
    pub(super) fn settle(&mut self, deadline: Instant) -> Result<(), String> {
        while !self.is_settled
            && let Some(process) = &mut self.process
        {
            match process.next(deadline) {
                // Nothing was asked, so nothing is answered.
                Ok(line) => drop(self.take(&line.bytes)),
                Err(LineError::TimedOut) => break,
                Err(error) => return Err(self.exit(&error.to_string(), deadline)),
            }
        }
        Ok(())
    }

    /// Whether it opens a session for each game, with the bot's options.
    pub(super) fn has_sessions(&self) -> bool {
        self.has_sessions
    }

    /// The request that opens a session for a game.
    pub(super) fn newgame(&self, game: &Object) -> Object {
        let mut opened = Object::new();
        opened.insert("cmd".into(), json!("newgame"));
        opened.insert("session".into(), json!(SESSION));
        for field in ["game", "rules"] {
            opened.extend(game.get(field).map(|value| (field.to_owned(), value.clone())));
        }
        opened.insert("options".into(), Value::Object(self.bot.options.clone()));
        opened
    }

    /// Asks the process before there is a game, and waits for its answer; none if it does not come in time.
    pub(super) fn ask(&mut self, request: Object, deadline: Instant) -> Option<Object> {
        let id = self.number();
        self.asked.insert(id.clone(), id.clone());
        self.send(&id, request);
        while let Some(Ok(line)) = self.process.as_mut().map(|process| process.next(deadline)) {
            let answer = self.take(&line.bytes);
            if let Some(answer) = answer.filter(|answer| answer.get("id") == Some(&json!(id))) {
                return Some(answer);
            }
        }
        self.asked.remove(&id);
        None
    }

    /// Where its lines come from, while it runs.
    pub(super) fn input(&self) -> Option<BorrowedFd<'_>> {
        self.process.as_ref().map(Lines::input)
    }

    /// Asks for a move in the game that it plays; the answer comes from [`Lane::next`], whatever happens.
    pub(super) fn go(&mut self, go: Object, theirs: &str) {
        if self.search.is_some() {
            let message = "this game has a search already: stop that one first";
            return self.failed.push_back(error(theirs, "session_busy", message));
        }
        let (ours, theirs, at) = (self.number(), theirs.to_owned(), Instant::now());
        self.search = Some(RelayedSearch { ours, theirs, go, at, is_repeatable: true, held: Vec::new() });
        self.search();
    }

    /// Sends the search to the process, which is started if need be, or opens its session first.
    fn search(&mut self) {
        if self.process.is_none() {
            match self.bot.start() {
                Ok(process) => (self.process, self.session) = (Some(process), Session::None),
                Err(error) => return self.fail(&error.to_string()),
            }
        }
        let Some(search) = &self.search else { return };
        let (ours, mut go) = (search.ours.clone(), search.now());
        match self.session {
            Session::None if self.has_sessions => {
                let opened = self.newgame(&go);
                // Each has an id of its own: the answer to an earlier one, whose game is given up, may come
                // yet.
                let id = self.number();
                self.session = Session::Opening(id.clone());
                return self.send(&id, opened);
            }
            // The search goes out when its session is open.
            Session::Opening(_) => return,
            Session::Open => {
                go.remove("game");
                go.remove("rules");
                go.insert("session".into(), json!(SESSION));
            }
            Session::None if !self.bot.options.is_empty() => {
                go.insert("options".into(), Value::Object(self.bot.options.clone()));
            }
            Session::None => {}
        }
        self.send(&ours, go);
        let held = self.search.as_mut().map(|search| std::mem::take(&mut search.held));
        self.send_all(held.unwrap_or_default());
    }

    fn send_all(&mut self, requests: Vec<(String, Object)>) {
        for (id, request) in requests {
            self.send(&id, request);
        }
    }

    /// Passes a request about the running search on, such as `stop`; the answer comes from [`Lane::next`].
    pub(super) fn pass(&mut self, mut request: Object, theirs: &str) {
        let Some(search) = &mut self.search else { return };
        search.is_repeatable = false;
        if self.asked.len() >= MOST_REQUESTS {
            let message = "the bot does not answer what it was asked before";
            return self.failed.push_back(error(theirs, "too_many_requests", message));
        }
        request.insert("target".into(), json!(search.ours));
        let ours = self.number();
        self.asked.insert(ours.clone(), theirs.to_owned());
        self.send_behind(ours, request);
    }

    /// Sends a request about the search, once that is sent.
    fn send_behind(&mut self, ours: String, request: Object) {
        match (&self.session, &mut self.search) {
            // Before the search it would find nothing to stop.
            (Session::Opening(_), Some(search)) => search.held.push((ours, request)),
            _ => self.send(&ours, request),
        }
    }

    /// Stops the running search, if there is one, and returns the ladder's id of it. The process's answer is
    /// for nobody: the ladder stops all searches, and gets one answer.
    pub(super) fn stop(&mut self, discard: Option<&Value>) -> Option<String> {
        let search = self.search.as_mut()?;
        search.is_repeatable = false;
        let (theirs, target) = (search.theirs.clone(), search.ours.clone());
        // A ladder that says it again and again while the session opens has said it.
        if search.held.len() < MOST_REQUESTS {
            let mut request = Object::new();
            request.insert("cmd".into(), json!("stop"));
            request.insert("target".into(), json!(target));
            request.extend(discard.map(|discard| ("discard".to_owned(), discard.clone())));
            let ours = self.number();
            self.send_behind(ours, request);
        }
        Some(theirs)
    }

    /// Whether the ladder waits for the answer to that `go`.
    pub(super) fn searches(&self, theirs: &str) -> bool {
        self.search.as_ref().is_some_and(|search| search.theirs == theirs)
    }

    /// Forgets who asked, since nobody is there any more; the search is to end.
    pub(super) fn abandon(&mut self) {
        self.asked.clear();
        self.failed.clear();
        let Some(RelayedSearch { ours, .. }) = self.search.take() else { return };
        if matches!(self.session, Session::Opening(_)) {
            // It was not sent yet.
            self.session = Session::None;
            return;
        }
        let stop = json!({ "cmd": "stop", "target": ours, "discard": true });
        let until = match self.abandoned {
            // Two of them: the process does not end its searches.
            Some((_, until)) => until,
            None => Instant::now() + GRACE,
        };
        self.abandoned = Some((ours, until));
        if let Value::Object(stop) = stop {
            let id = self.number();
            self.send(&id, stop);
        }
    }

    /// Begins a game, or has none to play.
    pub(super) fn play(&mut self, game: Option<String>) {
        self.abandon();
        (self.game, self.has_begun, self.session) = (game, false, Session::None);
    }

    /// The next line for the ladder, if there is one: an answer of the bot, or what became of a request.
    pub(super) fn next(&mut self) -> Option<Object> {
        self.is_behind = false;
        for _ in 0..LINES {
            if let Some(failed) = self.failed.pop_front() {
                return Some(failed);
            }
            let line = match self.process.as_mut()?.next(Instant::now()) {
                Ok(line) => line.bytes,
                Err(LineError::TimedOut) => {
                    // All that it wrote was read: whether it has ended a search that was given up is known.
                    self.end_overdue(Duration::ZERO);
                    return None;
                }
                Err(error) => {
                    self.fail(&error.to_string());
                    continue;
                }
            };
            if let Some(message) = self.take(&line) {
                return Some(message);
            }
        }
        // Somewhere in what a process writes without end its answer may stand, but not for ever.
        self.end_overdue(GRACE);
        self.is_behind = true;
        None
    }

    /// Ends a process that goes on with a search that nobody waits for, for that much longer than it may.
    /// What was asked since then goes to one that listens.
    fn end_overdue(&mut self, longer: Duration) {
        if self.abandoned.as_ref().is_none_or(|(_, until)| Instant::now() < *until + longer) {
            return;
        }
        self.end("it did not end a search that nobody waits for".into());
        if self.search.is_some() {
            self.search();
        }
    }

    /// A line of the bot as the ladder gets it; none if it is not for the ladder.
    fn take(&mut self, line: &[u8]) -> Option<Object> {
        if let Ok(Value::Object(message)) = serde_json::from_slice(line) {
            return self.heard(message);
        }
        let (lines, bytes) = self.strays;
        self.strays = (lines + 1, bytes + line.len());
        let shown = echo(&String::from_utf8_lossy(line));
        // What begins like a message was to be one: the answer that is waited for does not come any more.
        let was_message = line.trim_ascii_start().starts_with(b"{");
        if was_message || self.strays.0 > MOST_STRAYS.0 || self.strays.1 > MOST_STRAYS.1 {
            self.fail(&format!("it wrote what is no message: `{shown}`"));
        } else {
            self.news.push(News::Stray(shown));
        }
        None
    }

    /// A message of the bot as the ladder gets it; none if it is not for the ladder.
    fn heard(&mut self, mut message: Object) -> Option<Object> {
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = message.get("id").and_then(Value::as_str)?.to_owned();
        match id.as_str() {
            // A process that is started again is the same program.
            HELLO if self.is_settled => return None,
            HELLO => {
                (self.is_settled, self.has_sessions) = (true, kind == "result");
                self.engine = message.remove("server");
                return None;
            }
            ours if matches!(&self.session, Session::Opening(id) if id == ours) => {
                if !is_final_type(&kind) {
                    return None;
                }
                if kind == "result" {
                    self.session = Session::Open;
                    self.search();
                    return None;
                }
                self.session = Session::None;
                if message.get("code").is_some_and(|code| code == "unknown_cmd") {
                    self.has_sessions = false;
                    self.search();
                    return None;
                }
                let search = self.search.take()?;
                // Each is answered, if only by there being no such search.
                self.send_all(search.held);
                message.insert("id".into(), json!(search.theirs));
            }
            ours => {
                let is_search = self.search.as_ref().is_some_and(|search| search.ours == ours);
                // A notice may name the search that it is about; it is no answer to it.
                let is_final = is_final_type(&kind);
                let theirs = match kind.as_str() {
                    _ if self.abandoned.as_ref().is_some_and(|(abandoned, _)| abandoned == ours) => {
                        if is_final {
                            self.abandoned = None;
                        }
                        return None;
                    }
                    _ if !is_final && is_search => self.search.as_ref()?.theirs.clone(),
                    _ if !is_final => return None,
                    _ if is_search => {
                        self.strays = (0, 0);
                        self.search.take()?.theirs
                    }
                    _ => self.asked.remove(ours)?,
                };
                message.insert("id".into(), json!(theirs));
            }
        }
        // Several processes number their messages each for itself.
        message.remove("seq");
        message.remove("t_us");
        Some(message)
    }

    /// Ends a process that failed. Its search is asked once more, of another one; a second failure in the
    /// same search is its answer.
    fn fail(&mut self, why: &str) {
        let why = self.exit(why, Instant::now() + EXIT);
        self.end(why.clone());
        let Some(mut search) = self.search.take() else { return };
        if search.is_repeatable {
            (search.ours, search.is_repeatable) = (self.number(), false);
            self.search = Some(search);
            self.search();
        } else {
            self.failed.push_back(failed(&search.theirs, &why));
        }
    }

    /// How the process has ended, or else what is wrong with it.
    fn exit(&mut self, why: &str, deadline: Instant) -> String {
        let exit = self.process.as_mut().and_then(|process| process.wait_exit(deadline).ok().flatten());
        exit.map_or_else(|| why.to_owned(), |status| format!("it ended, {status}"))
    }

    /// Ends the process; what it was asked about its search is answered by errors.
    fn end(&mut self, why: String) {
        self.process = None;
        (self.session, self.abandoned, self.strays) = (Session::None, None, (0, 0));
        self.failed.extend(self.asked.drain().map(|(_, theirs)| failed(&theirs, &why)));
        self.news.push(News::Failed(why));
    }

    /// The next id of our own.
    fn number(&mut self) -> String {
        self.last += 1;
        self.last.to_string()
    }

    fn send(&mut self, id: &str, mut request: Object) {
        // The id stands first and `x_legal` last, as bots without a reader of JSON want them; the other
        // fields are sorted by their names.
        request.remove("id");
        let legal = request.remove("x_legal").map(|legal| format!(",\"x_legal\":{legal}"));
        let rest = Value::Object(request).to_string();
        let rest = &rest[1..rest.len() - 1];
        let line = format!("{{\"id\":{},{rest}{}}}", json!(id), legal.unwrap_or_default());
        let Some(process) = &mut self.process else { return };
        if let Err(error) = process.send(line.as_bytes()) {
            self.fail(&error.to_string());
        }
    }

    /// Ends the input of the process, which may have something to write down.
    pub(super) fn finish(&mut self) {
        if let Some(process) = &mut self.process {
            process.finish_input();
        }
    }

    /// Whether the process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        let process = self.process.as_mut();
        process.is_none_or(|process| !matches!(process.wait_exit(Instant::now()), Err(LineError::TimedOut)))
    }

    /// Waits for the end of the process, which is killed at the deadline.
    pub(super) fn leave(mut self, deadline: Instant) {
        if let Some(process) = &mut self.process {
            let _killed_then = process.wait_exit(deadline);
        }
    }
}
