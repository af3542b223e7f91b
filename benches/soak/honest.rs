//! Clients that behave, and know what they are owed: every answer is compared with what the rules say in this
//! process.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use plyd::bridge;
use plyd::client::Answer;
use plyd::engine::AnyRoot;
use plyd::engine::settings;
use plyd::games::REGISTRY;
use plyd::zobrist::SplitMix64;
use plyd_protocol::{
    BestMove, Clock, Command, ErrorCode, GameRef, Go, InfoEvent, Inspect, Limit, Message, Mode, Ping,
    Position, ResultBody, Want,
};

use crate::conversation::{Conversation, Trouble, wrong};
use crate::regular::Regular;
use crate::server::{Door, Outcome, TIMEOUT};

/// Nobody is waited for as long as this unless the machine stood still: it was suspended, say, or its
/// programs were stopped.
const STANDSTILL: Duration = Duration::from_secs(5);

/// What the ends of the daemon mean for the others.
#[derive(Default)]
pub(crate) struct Weather {
    /// Kills of the daemon, which excuse everything.
    pub(crate) kills: Ends,
    /// Orderly ends, which excuse what the daemon had not begun.
    pub(crate) ends: Ends,
    /// Whether everybody is to leave.
    pub(crate) is_calm: AtomicBool,
    /// Whether it is over.
    pub(crate) is_over: AtomicBool,
    /// Those who have not left.
    pub(crate) present: AtomicUsize,
    /// When the time was looked at last.
    looked: Mutex<Option<Instant>>,
    /// How often the machine stood still, which excuses everything.
    standstills: AtomicU64,
}

/// Ends of one kind: how often one began or was over. The number is odd while the daemon ends.
#[derive(Default)]
pub(crate) struct Ends(AtomicU64);

impl Ends {
    /// An end begins, or is over.
    pub(crate) fn turn(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn since(&self, before: u64) -> bool {
        before % 2 == 1 || self.0.load(Ordering::SeqCst) != before
    }
}

/// How often the daemon had ended at some instant, and the machine had stood still.
#[derive(Clone, Copy)]
pub(crate) struct EndsSoFar {
    kills: u64,
    ends: u64,
    standstills: u64,
}

impl Weather {
    /// What happened so far.
    pub(crate) fn now(&self) -> EndsSoFar {
        let count = |ends: &Ends| ends.0.load(Ordering::SeqCst);
        EndsSoFar { kills: count(&self.kills), ends: count(&self.ends), standstills: self.standstills() }
    }

    /// Looks at the time until it is over.
    pub(crate) fn keep_time(&self) {
        while !self.is_over.load(Ordering::SeqCst) {
            self.standstills();
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// How often the machine stood still. Whoever is the first to go on notices it.
    pub(crate) fn standstills(&self) -> u64 {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.replace(Instant::now()).is_some_and(|before| before.elapsed() > STANDSTILL) {
            self.standstills.fetch_add(1, Ordering::SeqCst);
        }
        self.standstills.load(Ordering::SeqCst)
    }

    /// Whether an end since then excuses that something was lost; what the daemon had begun, by a kill alone.
    pub(crate) fn excuses(&self, since: EndsSoFar, was_begun: bool) -> bool {
        let stood_still = self.standstills() != since.standstills;
        stood_still || self.kills.since(since.kills) || !was_begun && self.ends.since(since.ends)
    }

    /// Whether clients may go on.
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_calm.load(Ordering::SeqCst) && !self.is_over.load(Ordering::SeqCst)
    }
}

/// What was asked and answered.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) asked: u64,
    pub(crate) answered: u64,
    pub(crate) moves: u64,
    pub(crate) overloaded: u64,
    /// Searches whose time was over before their position was read.
    pub(crate) unprepared: u64,
    /// Connections that the end of the daemon ended.
    pub(crate) cut_off: u64,
    /// Requests beyond the client's role, which were refused.
    pub(crate) forbidden: u64,
    /// Connections that were not accepted.
    pub(crate) refused: u64,
    /// Sockets that were lost while a search was owed, and replaced.
    pub(crate) resumed: u64,
    /// Of these, before the search had its answer.
    pub(crate) resumed_early: u64,
    /// Requests that had not arrived when their socket was lost.
    pub(crate) sent_again: u64,
    pub(crate) complaints: Vec<String>,
}

impl Tally {
    /// Adds another client's.
    pub(crate) fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.answered += other.answered;
        self.moves += other.moves;
        self.overloaded += other.overloaded;
        self.unprepared += other.unprepared;
        self.cut_off += other.cut_off;
        self.forbidden += other.forbidden;
        self.refused += other.refused;
        self.resumed += other.resumed;
        self.resumed_early += other.resumed_early;
        self.sent_again += other.sent_again;
        self.complaints.extend(other.complaints);
        self.complaints.truncate(20);
    }
}

/// A client that asks until it is over.
pub(crate) struct Honest<'a> {
    pub(crate) door: Door,
    pub(crate) random: SplitMix64,
    pub(crate) weather: &'a Weather,
    pub(crate) tally: Tally,
    /// What it plays, if it is known by name and plays whole games.
    pub(crate) regular: Option<Regular>,
}

impl Honest<'_> {
    /// Asks until it is over, on one connection after the other.
    pub(crate) fn run(mut self) -> Tally {
        let mut refused_since = None;
        while !self.weather.is_over.load(Ordering::SeqCst) {
            // First, so that a calm waits for this one or this one sees the calm.
            self.weather.present.fetch_add(1, Ordering::SeqCst);
            if !self.weather.goes_on() {
                self.weather.present.fetch_sub(1, Ordering::SeqCst);
                refused_since = None;
                thread::sleep(Duration::from_millis(20));
                continue;
            }
            let ends = self.weather.now();
            match self.enter() {
                Ok(conversation) => {
                    refused_since = None;
                    self.converse(conversation, ends);
                }
                Err(Trouble::Lost(error, _) | Trouble::Wrong(error)) => {
                    self.tally.refused += 1;
                    if self.regular.is_some() && !self.weather.excuses(ends, false) {
                        self.complain(format!("not let in: {error}"));
                    }
                    let since = *refused_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > TIMEOUT {
                        self.complain(format!("no connection for {} s: {error}", TIMEOUT.as_secs()));
                        refused_since = None;
                    }
                    thread::sleep(Duration::from_millis(20));
                }
            }
            self.weather.present.fetch_sub(1, Ordering::SeqCst);
        }
        self.tally
    }

    fn enter(&self) -> Result<Conversation, Trouble> {
        match &self.regular {
            Some(regular) if regular.resumes => Conversation::enter_resumable(&self.door, &regular.name),
            Some(regular) => Conversation::enter(&self.door, &regular.name),
            None => Conversation::enter(&self.door, "honest"),
        }
    }

    fn complain(&mut self, complaint: String) {
        self.tally.complaints.push(complaint);
    }

    /// Uses one connection until it ends, or it is time to leave.
    fn converse(&mut self, mut conversation: Conversation, ends: EndsSoFar) {
        if let Some(regular) = &mut self.regular {
            regular.is_seated = false;
        }
        while self.weather.goes_on() {
            self.tally.asked += 1;
            let asked = match self.regular {
                Some(_) => self.play(&mut conversation),
                None => self.ask(&mut conversation),
            };
            match asked {
                Ok(()) => self.tally.answered += 1,
                Err(Trouble::Wrong(complaint)) => return self.complain(complaint),
                Err(Trouble::Lost(error, was_owed)) => {
                    if self.weather.excuses(ends, was_owed) {
                        self.tally.cut_off += 1;
                    } else {
                        self.complain(format!("lost without a kill: {error}"));
                    }
                    return;
                }
            }
        }
        conversation.leave();
    }

    /// Asks something and checks the answer.
    fn ask(&mut self, conversation: &mut Conversation) -> Result<(), Trouble> {
        if self.random.below(8) == 0 {
            return self.ping(conversation);
        }
        let root = self.position().map_err(|error| Trouble::Wrong(error.to_string()))?;
        match self.random.below(8) {
            0..3 => inspect(conversation, root.as_ref()),
            3..5 => {
                let limit = Limit { nodes: Some(1 + self.random.below(3000) as u64), ..Limit::default() };
                self.go(conversation, root.as_ref(), |go| go.limit = limit)
            }
            5..7 => {
                let ms = 5 + self.random.below(50) as i64;
                self.go(conversation, root.as_ref(), |go| go.clock = Some(Clock::PerMove { ms }))
            }
            _ => self.analyse(conversation, root.as_ref()),
        }
    }

    /// Asks for a sign of life.
    pub(crate) fn ping(&mut self, conversation: &mut Conversation) -> Result<(), Trouble> {
        let echo = Some(self.random.next().to_string());
        let id = conversation.send(Command::Ping(Ping { echo: echo.clone() }))?;
        match conversation.settle(&id)?.last.envelope.message {
            Message::Result(result) => match result.body {
                ResultBody::Ping(ping) if ping.echo == echo => Ok(()),
                other => Err(wrong("a ping", &other)),
            },
            other => Err(other.to_body().into()),
        }
    }

    /// The first position of some game.
    pub(crate) fn opening(&mut self) -> Outcome<Arc<dyn AnyRoot>> {
        let entry = REGISTRY[self.random.below(REGISTRY.len())];
        let rules = plyd_protocol::Settings::new();
        settings::rules(entry, &bridge::given(&rules), self.random.next())
            .and_then(|rules| settings::open(entry, &rules, None))
            .map_err(|fault| fault.message.into())
    }

    /// A position of some game after some random moves, in which a move is to be made.
    fn position(&mut self) -> Outcome<Arc<dyn AnyRoot>> {
        loop {
            let mut root = self.opening()?;
            for _ in 0..self.random.below(6) {
                let mut plies = root.legal();
                plies.extend(root.chance().into_iter().map(|outcome| outcome.mv));
                if plies.is_empty() {
                    break;
                }
                let ply = plies.swap_remove(self.random.below(plies.len()));
                root = root.extend(&[ply]).map_err(|fault| fault.message)?;
            }
            if !root.legal().is_empty() {
                return Ok(root);
            }
        }
    }

    /// Asks for a move and waits for it.
    fn go(
        &mut self,
        conversation: &mut Conversation,
        root: &dyn AnyRoot,
        change: impl FnOnce(&mut Go),
    ) -> Result<(), Trouble> {
        let id = conversation.send(search(root, change))?;
        let answer = conversation.settle(&id)?;
        self.judge(&answer, root)
    }

    /// Starts an analysis, waits until it runs, and stops it.
    fn analyse(&mut self, conversation: &mut Conversation, root: &dyn AnyRoot) -> Result<(), Trouble> {
        let id = conversation.send(search(root, |go| go.mode = Mode::Analyse))?;
        thread::sleep(Duration::from_micros(self.random.below(20_000) as u64));
        let stop = conversation.stop(&id)?;
        let answer = conversation.settle(&id)?;
        conversation.settle(&stop)?;
        self.judge(&answer, root)
    }

    /// A search's answer is a legal move, or the server is overloaded and says so.
    pub(crate) fn judge(&mut self, answer: &Answer, root: &dyn AnyRoot) -> Result<(), Trouble> {
        match &answer.last.envelope.message {
            Message::BestMove(best) => {
                self.tally.moves += 1;
                legal(best, root)
            }
            Message::Error(error) if error.code == ErrorCode::Overloaded => {
                self.tally.overloaded += 1;
                thread::sleep(Duration::from_millis(error.retry_ms.unwrap_or(1)));
                Ok(())
            }
            // Excused by the same as a lost connection: no search had begun.
            Message::Error(error) if error.code == ErrorCode::ShuttingDown => {
                Err(Trouble::Lost("shutting down".to_owned(), false))
            }
            // Its time was over before its position was read, which the protocol has a word for.
            Message::Error(error) if error.code == ErrorCode::Unprepared => {
                self.tally.unprepared += 1;
                Ok(())
            }
            other => Err(wrong("a search", &other.to_body())),
        }
    }
}

fn game(root: &dyn AnyRoot) -> (GameRef, Position) {
    let game = GameRef::Game { game: root.entry().name.to_owned(), rules: bridge::rules(&root.rules()) };
    (game, position(root))
}

pub(crate) fn position(root: &dyn AnyRoot) -> Position {
    Position { start: Some(root.start_text()), moves: root.played().to_vec() }
}

fn search(root: &dyn AnyRoot, change: impl FnOnce(&mut Go)) -> Command {
    let (game, position) = game(root);
    let mut go = Go::new(game, position);
    go.options.insert("hash_mb", 1);
    go.info.events = vec![InfoEvent::Started];
    change(&mut go);
    Command::Go(Box::new(go))
}

fn inspect(conversation: &mut Conversation, root: &dyn AnyRoot) -> Result<(), Trouble> {
    let (game, position) = game(root);
    let want = vec![Want::ToMove, Want::Legal, Want::Text, Want::Board];
    let id = conversation.send(Command::Inspect(Inspect { game, position, want, draft: None }))?;
    match conversation.settle(&id)?.last.envelope.message {
        Message::Result(result) => match result.body {
            ResultBody::Inspect(inspected)
                if inspected.to_move == Some(bridge::to_move(root.to_move()))
                    && inspected.legal == Some(root.legal())
                    && inspected.text == Some(root.text())
                    && inspected.board == Some(bridge::board(root.board())) =>
            {
                Ok(())
            }
            other => Err(wrong(&format!("inspect of {}", root.text()), &other)),
        },
        Message::Error(error) if error.code == ErrorCode::ShuttingDown => {
            Err(Trouble::Lost("shutting down".to_owned(), false))
        }
        other => Err(wrong("inspect", &other.to_body())),
    }
}

fn legal(best: &BestMove, root: &dyn AnyRoot) -> Result<(), Trouble> {
    let is_failed = best.incident.is_some();
    if is_failed || !root.legal().contains(&best.mv) {
        return Err(wrong(&format!("a move at {}", root.text()), best));
    }
    Ok(())
}
