//! A bot's connection, once the two have changed places: the ladder asks, and each answer is stamped when it
//! arrives. One task reads, one writes, one sends a `ping` now and then; tables ask through a [`Link`].

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use plyd_arena::referee::{ForfeitKind, ForfeitReason, PlayerMessage};
use plyd_protocol::{ErrorMessage, echo};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::line;

/// How many lines wait to be written before those who ask wait.
const WAITING: usize = 64;

/// How long what is left may take to be written once a connection has ended.
const FAREWELL: Duration = Duration::from_secs(1);

/// So many pings in a row that nobody answers end a connection over which nothing is asked.
const UNANSWERED: u32 = 3;

/// No round trip was measured yet.
const UNKNOWN: u64 = u64::MAX;

/// An open connection to a bot. A copy is the same connection.
#[derive(Clone)]
pub struct Link(Arc<Shared>);

struct Shared {
    out: mpsc::Sender<Outgoing>,
    waiting: Mutex<Waiting>,
    /// Why it ended, once it has.
    closed: watch::Sender<Option<Closed>>,
    /// The least round trip of a ping, in microseconds.
    round_trip_us: AtomicU64,
}

/// What was asked and is not answered, by id.
#[derive(Default)]
struct Waiting {
    /// Counts the requests: the last id.
    last: u64,
    asked: HashMap<String, oneshot::Sender<FinalAnswer>>,
}

/// A line to be written.
struct Outgoing {
    line: Vec<u8>,
    /// Gets the instant at which its last byte was handed to the system.
    sent: Option<oneshot::Sender<Instant>>,
}

/// The lines that wait to be written.
pub(super) struct Outbox(mpsc::Receiver<Outgoing>);

/// A final answer.
#[derive(Debug)]
pub struct FinalAnswer {
    /// What it says.
    pub said: PlayerMessage,
    /// When its line arrived.
    pub at: Instant,
    /// The line.
    pub line: Vec<u8>,
}

/// A question that was sent; nobody waits for its answer any more once this is dropped.
pub struct PendingRequest {
    link: Link,
    id: String,
    line: Vec<u8>,
    sent: oneshot::Receiver<Instant>,
    heard: oneshot::Receiver<FinalAnswer>,
}

/// Why a connection has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Closed {
    /// In which way.
    pub kind: ClosedKind,
    /// What happened, for people.
    pub message: String,
}

/// The ways in which a connection ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClosedKind {
    /// The bot or the network ended it: the bot may come back to its games.
    Broken,
    /// The bot did not read what it was sent.
    Unread,
    /// The bot wrote what the protocol does not allow.
    Garbled,
    /// The bot has another connection.
    Replaced,
    /// The bot is disabled.
    Forbidden,
    /// The ladder stops.
    Stopped,
}

impl Closed {
    pub(super) fn new(kind: ClosedKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// What the bot forfeits a game by in which it was asked; nothing if it did nothing wrong, or may come
    /// back.
    #[must_use]
    pub fn forfeit_reason(&self) -> Option<ForfeitReason> {
        let kind = match self.kind {
            ClosedKind::Unread => ForfeitKind::Timeout,
            ClosedKind::Garbled => ForfeitKind::Protocol,
            ClosedKind::Broken | ClosedKind::Replaced | ClosedKind::Forbidden | ClosedKind::Stopped => {
                return None;
            }
        };
        Some(ForfeitReason::new(kind, self.message.clone()))
    }
}

impl Link {
    /// A connection, and what its writer is to write.
    pub(super) fn new() -> (Self, Outbox) {
        let (out, outbox) = mpsc::channel(WAITING);
        let shared = Shared {
            out,
            waiting: Mutex::default(),
            closed: watch::Sender::new(None),
            round_trip_us: AtomicU64::new(UNKNOWN),
        };
        (Self(Arc::new(shared)), Outbox(outbox))
    }

    /// Whether this is the same connection.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether it has not ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.closed.borrow().is_none()
    }

    /// The least round trip measured; nothing if none was.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        let us = self.0.round_trip_us.load(Ordering::Relaxed);
        (us != UNKNOWN).then(|| Duration::from_micros(us))
    }

    /// Sends a request, whose line is made of its id.
    pub async fn ask(&self, line: impl FnOnce(&str) -> Vec<u8>) -> PendingRequest {
        let (answer, heard) = oneshot::channel();
        let (written, sent) = oneshot::channel();
        let id = {
            let mut waiting = self.lock();
            waiting.last += 1;
            let id = waiting.last.to_string();
            waiting.asked.insert(id.clone(), answer);
            id
        };
        let line = line(&id);
        let asked = PendingRequest { link: self.clone(), id, line: line.clone(), sent, heard };
        self.put(Outgoing { line, sent: Some(written) }).await;
        asked
    }

    /// Sends a line that nobody waits for.
    pub(super) async fn say(&self, line: Vec<u8>) {
        self.put(Outgoing { line, sent: None }).await;
    }

    /// Lets a line wait to be written, as soon as there is room. A connection that has ended drops it, and
    /// with it the sender of its stamp: its writer may be in the middle of a line that nobody reads.
    async fn put(&self, outgoing: Outgoing) {
        tokio::select! {
            biased;
            _ended = self.0.out.send(outgoing) => {}
            _ = self.closed() => {}
        }
    }

    /// Sends what asks for nothing, unless too much waits before it; says whether it did.
    pub(super) fn mention(&self, line: Vec<u8>) -> bool {
        self.0.out.try_send(Outgoing { line, sent: None }).is_ok()
    }

    /// Ends the connection with a last line, which is left out if too many wait before it.
    pub(super) fn end(&self, last: Vec<u8>, why: Closed) {
        let _full = self.0.out.try_send(Outgoing { line: last, sent: None });
        self.close(why);
    }

    /// Ends the connection; the first reason counts.
    pub(super) fn close(&self, why: Closed) {
        self.0.closed.send_if_modified(|closed| {
            let is_first = closed.is_none();
            closed.get_or_insert(why);
            is_first
        });
        // The end of the channel wakes whoever waits.
        self.lock().asked.clear();
    }

    /// Waits until the connection has ended; gives the reason.
    pub async fn closed(&self) -> Closed {
        let mut closed = self.0.closed.subscribe();
        match closed.wait_for(Option::is_some).await.map(|closed| closed.clone()) {
            Ok(Some(why)) => why,
            // The sender lives as long as this.
            Ok(None) | Err(_) => Closed::new(ClosedKind::Broken, "the connection is gone"),
        }
    }

    /// Takes a message of the bot to those who wait for it; says whether it answers what was asked.
    ///
    /// # Errors
    /// The message blames nobody's request: the connection is to end.
    pub(super) fn hear(&self, said: PlayerMessage, at: Instant, line: &[u8]) -> Result<bool, Closed> {
        let Some(id) = said.ends() else {
            let PlayerMessage::Error(refused) = said else { return Ok(false) };
            let error = ErrorMessage::from(refused);
            return Err(Closed::new(ClosedKind::Garbled, ForfeitReason::refused("a line", &error).message));
        };
        // An answer to what was given up, or was answered before, is read for nothing.
        let Some(answer) = self.lock().asked.remove(id) else { return Ok(false) };
        let _given_up = answer.send(FinalAnswer { said, at, line: line.to_vec() });
        Ok(true)
    }

    /// Sends a ping at once and then at each interval, and measures how long the fastest answer takes.
    /// Ends the connection if the bot answers none although nothing else is asked.
    pub(super) async fn keep_alive(self, interval: Duration) {
        let mut unanswered = 0;
        loop {
            let next = sleep(interval);
            let asked = self.ask(line::ping).await;
            match timeout(interval, asked.answer()).await {
                Ok(Ok((sent, heard))) => {
                    let time = heard.at.saturating_duration_since(sent).as_micros();
                    let us = u64::try_from(time).unwrap_or(UNKNOWN);
                    self.0.round_trip_us.fetch_min(us, Ordering::Relaxed);
                    unanswered = 0;
                }
                Ok(Err(_)) => return,
                Err(_) if self.is_idle() => unanswered += 1,
                // A bot that thinks need not answer meanwhile: its clock is what ends it.
                Err(_) => unanswered = 0,
            }
            if unanswered >= UNANSWERED {
                return self.close(Closed::new(ClosedKind::Broken, "it answered no ping"));
            }
            next.await;
        }
    }

    /// Whether nothing is asked.
    fn is_idle(&self) -> bool {
        self.lock().asked.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let closed = self.0.closed.borrow().clone();
        f.debug_struct("Link").field("closed", &closed).finish_non_exhaustive()
    }
}

impl PendingRequest {
    /// The line that was sent.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Waits until its last byte was sent, and says when that was.
    ///
    /// # Errors
    /// Why the connection has ended.
    pub async fn sent(&mut self) -> Result<Instant, Closed> {
        tokio::select! {
            biased;
            Ok(at) = &mut self.sent => Ok(at),
            why = self.link.closed() => Err(why),
        }
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// Why the connection has ended.
    pub async fn heard(&mut self) -> Result<FinalAnswer, Closed> {
        tokio::select! {
            biased;
            Ok(heard) = &mut self.heard => Ok(heard),
            why = self.link.closed() => Err(why),
        }
    }

    /// Waits for the answer; says when the question was sent, too.
    async fn answer(mut self) -> Result<(Instant, FinalAnswer), Closed> {
        Ok((self.sent().await?, self.heard().await?))
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.link.lock().asked.remove(&self.id);
    }
}

impl fmt::Debug for PendingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingRequest").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Outbox {
    /// Writes what the bot is sent until the connection has ended. A bot that does not read for so long ends
    /// it.
    pub(super) async fn write(
        mut self,
        mut stream: impl AsyncWrite + Unpin,
        link: &Link,
        unread_within: Duration,
    ) {
        loop {
            let outgoing = tokio::select! {
                biased;
                _ = link.closed() => break,
                outgoing = self.0.recv() => outgoing,
            };
            let Some(outgoing) = outgoing else { break };
            match timeout(unread_within, write_line(&mut stream, outgoing)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => link.close(broken(&error)),
                Err(_) => {
                    let message = format!("it read nothing for {unread_within:?}");
                    link.close(Closed::new(ClosedKind::Unread, message));
                }
            }
        }
        self.0.close();
        let farewell = async {
            while let Ok(outgoing) = self.0.try_recv() {
                write_line(&mut stream, outgoing).await?;
            }
            stream.shutdown().await
        };
        let _gone_anyway = timeout(FAREWELL, farewell).await;
    }
}

async fn write_line(stream: &mut (impl AsyncWrite + Unpin), outgoing: Outgoing) -> std::io::Result<()> {
    let Outgoing { mut line, sent } = outgoing;
    line.push(b'\n');
    stream.write_all(&line).await?;
    stream.flush().await?;
    if let Some(sent) = sent {
        let _given_up = sent.send(Instant::now());
    }
    Ok(())
}

/// A connection that the system has given up.
pub(super) fn broken(error: &std::io::Error) -> Closed {
    Closed::new(ClosedKind::Broken, error.to_string())
}

/// A line that is none of the protocol's.
pub(super) fn garbled(line: &[u8]) -> Closed {
    let line = echo(&String::from_utf8_lossy(line));
    Closed::new(ClosedKind::Garbled, format!("it wrote `{line}`"))
}
