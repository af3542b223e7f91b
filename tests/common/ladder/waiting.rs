//! Bots that wait instead of searching: threads of this process, each with a connection of its own, that
//! answer with any legal move after a pause. Both ends of a hand-over are so read from one clock.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Ladder;
use super::answers::Answers;
use crate::common::Random;

/// The bots.
pub(crate) struct WaitingBots {
    threads: Vec<JoinHandle<Seen>>,
    state: Arc<State>,
}

struct State {
    answers: Answers,
    /// Whether times are taken.
    is_measured: AtomicBool,
    /// Whether the ladder may end connections.
    ends: AtomicBool,
}

/// How long bots wait before they answer: any time from the one to the other.
pub(crate) type Pause = (Duration, Duration);

/// What bots saw; times while they were taken.
#[derive(Default)]
pub(crate) struct Seen {
    /// From an opponent's answer to the question that follows from it.
    pub(crate) shares: Vec<Duration>,
    /// From the last answer in a game to its `over`.
    pub(crate) ends: Vec<Duration>,
    /// What the ladder's clock took for a move beyond what its bot took, in microseconds. The clock is
    /// stated in milliseconds, so that this may be wrong by one.
    pub(crate) beyond_us: Vec<i64>,
    /// The answers, and the games that were over, all the time.
    pub(crate) moves: u64,
    pub(crate) games: u64,
    /// What the ladder said of anybody's fault, and of connections that it ended.
    pub(crate) faults: Vec<String>,
}

impl Seen {
    fn extend(&mut self, other: Self) {
        self.shares.extend(other.shares);
        self.ends.extend(other.ends);
        self.beyond_us.extend(other.beyond_us);
        self.moves += other.moves;
        self.games += other.games;
        self.faults.extend(other.faults);
    }
}

impl WaitingBots {
    /// Lets a bot dial in for each token.
    pub(crate) fn start(address: SocketAddr, tokens: Vec<String>, pause: Pause, answers: &Answers) -> Self {
        let is_measured = AtomicBool::new(false);
        let state = Arc::new(State { answers: answers.clone(), is_measured, ends: AtomicBool::new(false) });
        let threads = tokens.into_iter().enumerate().map(|(number, token)| {
            let state = Arc::clone(&state);
            let random = Random::new(number as u64);
            let play = move || Bot::dial(address, &token, state, random, pause).play();
            thread::Builder::new().stack_size(256 << 10).spawn(play).expect("one thread more")
        });
        Self { threads: threads.collect(), state }
    }

    /// Takes times from now on, or no more.
    pub(crate) fn measure(&self, takes_times: bool) {
        self.state.is_measured.store(takes_times, Ordering::Relaxed);
    }

    /// Stops the ladder, which ends their connections, and waits for their ends. That no bot leaves before it
    /// keeps games from beginning for one that is gone.
    pub(crate) fn leave(self, ladder: &mut Ladder) -> Seen {
        self.state.ends.store(true, Ordering::Relaxed);
        ladder.stop();
        let mut seen = Seen::default();
        for thread in self.threads {
            seen.extend(thread.join().expect("no bot panics"));
        }
        seen
    }
}

/// A bot with one game at most.
struct Bot {
    state: Arc<State>,
    stream: BufReader<TcpStream>,
    /// What was read of the next line.
    line: Vec<u8>,
    random: Random,
    pause: Pause,
    pending: Option<Pending>,
    /// What the ladder's clock left at the question before, and how long the answer to it took.
    clocks: HashMap<u64, (i64, Duration)>,
    seen: Seen,
}

/// An answer that is due.
struct Pending {
    due: Instant,
    asked: Instant,
    game: u64,
    ply: usize,
    /// What the ladder's clock left, if it has one.
    left_ms: Option<i64>,
    line: String,
}

/// How long a bot waits for a line at once.
const LOOK: Duration = Duration::from_millis(100);

impl Bot {
    /// Dials until the ladder takes the bot: of many offers at once it has some dial again in a while.
    fn dial(address: SocketAddr, token: &str, state: Arc<State>, mut random: Random, pause: Pause) -> Self {
        let offer = json!({
            "id": "offer", "cmd": "offer", "protocol": { "min": 1, "max": 1 }, "token": token, "legal": true,
            "concurrency": 1,
        });
        loop {
            let stream = TcpStream::connect(address).expect("the ladder listens");
            stream.set_nodelay(true).expect("a socket of TCP");
            let mut stream = BufReader::new(stream);
            stream.get_mut().write_all(format!("{offer}\n").as_bytes()).expect("the ladder reads");
            let mut line = Vec::new();
            stream.read_until(b'\n', &mut line).expect("the ladder answers");
            let answer: Value = serde_json::from_slice(&line).expect("the ladder writes JSON");
            if answer["code"] == "too_many_connections" {
                thread::sleep(Duration::from_millis(200 + random.below(400) as u64));
                continue;
            }
            let (line, clocks, seen) = (Vec::new(), HashMap::new(), Seen::default());
            let mut bot = Self { state, stream, line, random, pause, pending: None, clocks, seen };
            bot.hear(&answer, Instant::now());
            return bot;
        }
    }

    fn play(mut self) -> Seen {
        loop {
            let now = Instant::now();
            if let Some(pending) = self.pending.take_if(|pending| pending.due <= now) {
                self.answer(&pending);
            }
            let wait = self.pending.as_ref().map_or(LOOK, |pending| pending.due.duration_since(now));
            let wait = wait.clamp(Duration::from_millis(1), LOOK);
            self.stream.get_ref().set_read_timeout(Some(wait)).expect("a time that is not zero");
            match self.stream.read_until(b'\n', &mut self.line) {
                Ok(_) if self.line.ends_with(b"\n") => {
                    let at = Instant::now();
                    let message = serde_json::from_slice(&self.line).expect("the ladder writes JSON");
                    self.line.clear();
                    self.hear(&message, at);
                }
                Err(error) if is_early(error.kind()) => {}
                end => {
                    if !self.state.ends.load(Ordering::Relaxed) {
                        self.seen.faults.push(format!("the ladder ended a connection: {end:?}"));
                    }
                    return self.seen;
                }
            }
        }
    }

    fn hear(&mut self, message: &Value, at: Instant) {
        let id = &message["id"];
        match message["cmd"].as_str() {
            Some("go") => self.think(message, at),
            Some("ping") => self.send(&json!({ "id": id, "type": "result", "of": "ping" }).to_string()),
            Some(command) => {
                if command == "over" {
                    self.end(message, at);
                }
                self.send(&json!({ "id": id, "type": "error", "code": "unknown_cmd" }).to_string());
            }
            None if message["type"] == "error" => self.seen.faults.push(message.to_string()),
            None => {}
        }
    }

    fn think(&mut self, go: &Value, at: Instant) {
        let game = game(go);
        let ply = go["position"]["moves"].as_array().map_or(0, Vec::len);
        let before = self.state.answers.asked(game, ply);
        let is_measured = self.state.is_measured.load(Ordering::Relaxed);
        if let Some(before) = before.filter(|_| is_measured) {
            self.seen.shares.push(at.duration_since(before));
        }
        let (left_ms, inc_ms) = (go["clock"]["me_ms"].as_i64(), go["clock"]["inc_ms"].as_i64());
        if let (Some((before, took)), Some(left), Some(inc), true) =
            (self.clocks.remove(&game), left_ms, inc_ms, is_measured)
        {
            let charged_us = 1000 * (before + inc - left);
            self.seen.beyond_us.push(charged_us - took.as_micros() as i64);
        }
        let legal = go["x_legal"].as_array().expect("the legal moves, as the offer wants");
        let line = json!({ "id": go["id"], "type": "bestmove", "move": self.random.pick(legal) });
        let (least, most) = self.pause;
        let pause = least + (most - least) * self.random.below(1001) as u32 / 1000;
        // The longest games have some twenty moves of a bot: it leaves itself time for them.
        let left = left_ms.map_or(pause, |left_ms| Duration::from_millis(left_ms.max(0).unsigned_abs() / 8));
        let pause = pause.min(left);
        let line = line.to_string();
        self.pending = Some(Pending { due: at + pause, asked: at, game, ply, left_ms, line });
    }

    fn answer(&mut self, pending: &Pending) {
        let at = Instant::now();
        self.state.answers.answered(pending.game, pending.ply, at);
        self.send(&pending.line);
        if let Some(left_ms) = pending.left_ms {
            self.clocks.insert(pending.game, (left_ms, at.duration_since(pending.asked)));
        }
        self.seen.moves += 1;
    }

    fn end(&mut self, over: &Value, at: Instant) {
        let game = game(over);
        let last = self.state.answers.over(game);
        if let Some(last) = last.filter(|_| self.state.is_measured.load(Ordering::Relaxed)) {
            self.seen.ends.push(at.duration_since(last));
        }
        self.clocks.remove(&game);
        self.pending = None;
        self.seen.games += 1;
    }

    fn send(&mut self, line: &str) {
        // A ladder that has ended the connection is noticed where it is read.
        let _gone = self.stream.get_mut().write_all(format!("{line}\n").as_bytes());
    }
}

/// The number of the game that a line is about.
fn game(message: &Value) -> u64 {
    let name = message["x_game"].as_str().expect("the game's name");
    name.trim_start_matches('g').parse().expect("a game's number behind a `g`")
}

/// Whether reading ended because the time to wait was over.
fn is_early(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
