//! The coordinator of a match: it takes what results there are, queues the pairs that have none, and does so
//! until the work is done. All that it remembers is on the server, so another may go on anywhere.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::Subscriber;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::time::Instant;

use super::description::MatchId;
use super::error::FleetError;
use super::heartbeat::CoordinatorStatus;
use super::message::Job;
use super::queue::{Queue, StoredResult};
use super::retry::{self, Failures};
use super::sent_program::SentProgram;
use super::server::Server;

/// How often the server is asked for results without a notice that there are some.
const LOOK: Duration = Duration::from_secs(1);
/// How often it is looked whether to end.
const HALT: Duration = Duration::from_millis(100);
/// How often the server is checked for what it may have lost.
const CHECK: Duration = Duration::from_secs(30);
/// How often the coordinator says how it is.
const BEAT: Duration = Duration::from_secs(3);
/// Results that are asked for at once. On a long line each request waits longer than it takes to answer.
const AT_ONCE: usize = 128;
/// Bytes of results that are asked for at once: a server cuts the connection if 64 MiB wait to be sent.
const BYTES_AT_ONCE: usize = 8 << 20;

/// Pairs that are to be played, and what is done with their results.
pub trait Work {
    /// The match.
    fn id(&self) -> &MatchId;
    /// Its description.
    fn description(&self) -> &[u8];
    /// The programs that its players need, with their content.
    fn programs(&self) -> &[(SentProgram, Vec<u8>)] {
        &[]
    }
    /// The pairs without a result that are to be queued now, from 1.
    fn wanted(&self) -> Vec<usize>;
    /// Whether the result of a pair was not taken.
    fn lacks(&self, pair: usize) -> bool;
    /// The job of a pair.
    fn job(&self, pair: usize) -> Job;
    /// Takes the result of a pair; the same may come again.
    ///
    /// # Errors
    /// The result is none of this pair, or what is done with it failed.
    fn take(&mut self, pair: usize, bytes: &[u8]) -> Result<(), Refusal>;
    /// Whether no further result is needed.
    fn is_done(&self) -> bool;
    /// How things stand.
    fn status(&self, refused: &BTreeMap<String, u64>) -> CoordinatorStatus;
}

/// Why a result is not taken.
#[derive(Debug)]
pub enum Refusal {
    /// It is false: it is removed, and the pair is played again.
    False {
        /// The worker that it names, if it can be read.
        worker: Option<String>,
        /// What is wrong with it, for people.
        why: String,
    },
    /// It could not be kept here, which ends the coordinator.
    Io(io::Error),
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self::False { worker: None, why: format!("it cannot be read: {error}") }
    }
}

/// How a coordinator ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Why.
    pub why: Ending,
    /// Results that were refused, by worker.
    pub refused: BTreeMap<String, u64>,
}

/// Why a coordinator ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The work is done.
    Done,
    /// It was halted here, and the same may be taken up again.
    Halted,
    /// Somebody cancelled the match on the server.
    Cancelled,
}

/// Has pairs played until the work is done, `halt` is raised or the match is cancelled. `ack_wait` is how
/// long a worker may say nothing before its pair goes to another, if the queue is not there yet.
///
/// # Errors
/// The server cannot be reached at first or does not let us in, or a result could not be kept. A server that
/// goes away later is waited for.
pub fn coordinate(
    server: &Server,
    ack_wait: Duration,
    work: &mut dyn Work,
    halt: &AtomicBool,
) -> Result<Ended, FleetError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let queue = tokio::select! {
            queue = Queue::connect(server, "plyd-coordinator") => queue?,
            () = halted(halt) => return Ok(Ended { why: Ending::Halted, refused: BTreeMap::new() }),
        };
        let mut cancellations = queue.cancellations(work.id()).await?;
        let now = Instant::now();
        let mut coordinator = Coordinator {
            queue,
            ack_wait,
            work,
            next: 1,
            queued: HashSet::new(),
            next_check: now,
            next_beat: now + BEAT,
            refused: BTreeMap::new(),
        };
        // Whatever it waits for: an end is an end at once.
        let why = tokio::select! {
            ended = coordinator.run() => ended.map(|()| Ending::Done)?,
            () = halted(halt) => Ending::Halted,
            Some(_) = cancellations.next() => Ending::Cancelled,
        };
        coordinator.queue.flush().await;
        let why = if coordinator.work.is_done() { Ending::Done } else { why };
        Ok(Ended { why, refused: coordinator.refused })
    })
}

/// Waits until the flag is raised.
async fn halted(halt: &AtomicBool) {
    while !halt.load(Ordering::Relaxed) {
        tokio::time::sleep(HALT).await;
    }
}

struct Coordinator<'w> {
    queue: Queue,
    ack_wait: Duration,
    work: &'w mut dyn Work,
    /// The place in the stream of the first result that was not read.
    next: u64,
    /// Pairs that are known to be queued, or to have been.
    queued: HashSet<usize>,
    /// When the server is next looked at as if nothing were known of it: streams may be missing, and a pair
    /// may be neither queued nor have a result.
    next_check: Instant,
    /// When to say next how it is.
    next_beat: Instant,
    refused: BTreeMap<String, u64>,
}

impl Coordinator<'_> {
    /// Goes on until the work is done.
    async fn run(&mut self) -> Result<(), FleetError> {
        let mut notices = self.queue.notices(self.work.id()).await?;
        let mut questions = self.queue.questions().await?;
        let mut failures = Failures::default();
        while !self.work.is_done() {
            match self.round().await {
                Ok(()) => failures.forget(),
                Err(FleetError::Away(why)) => {
                    tracing::warn!("{why}");
                    self.next_check = Instant::now();
                    failures.rest().await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if !self.work.is_done() {
                self.wait(&mut notices, &mut questions).await;
            }
        }
        // What is queued still is needed no more.
        let (queue, id) = (&self.queue, self.work.id());
        let taken_back = retry::until_there(|| queue.take_back(id), |why| tracing::warn!("{why}")).await;
        if let Err(error) = taken_back {
            // What is done stays done.
            tracing::warn!("{error}");
        }
        self.say().await;
        Ok(())
    }

    /// Takes what results there are, and queues what lacks one.
    async fn round(&mut self) -> Result<(), FleetError> {
        let checks = Instant::now() >= self.next_check;
        if checks {
            self.restore().await?;
            self.next_check = Instant::now() + CHECK;
        }
        // All results before any job: a pair that has one is not to be queued.
        self.read().await?;
        if checks {
            self.read_overlooked().await?;
            // Those that are queued still are not queued again.
            self.queued.clear();
        }
        self.offer().await
    }

    /// Waits until there may be something to do; answers questions meanwhile.
    async fn wait(&mut self, notices: &mut Subscriber, questions: &mut Subscriber) {
        let look = Instant::now() + LOOK;
        loop {
            tokio::select! {
                Some(_) = notices.next() => return,
                Some(_) = questions.next() => self.say().await,
                () = tokio::time::sleep_until(look) => return self.beat().await,
            }
        }
    }

    /// Sees to it that the server has what it needs, also if it lost all that it had.
    async fn restore(&mut self) -> Result<(), FleetError> {
        self.queue.set_up(self.ack_wait).await?;
        for (program, content) in self.work.programs() {
            self.queue.store_program(program, content).await?;
        }
        self.queue.describe(self.work.id(), self.work.description().to_vec()).await?;
        // A server that was killed may have lost what it stored last, and give the same places to others.
        let last = self.queue.last_place().await?.unwrap_or(0);
        self.next = self.next.min(last + 1);
        Ok(())
    }

    /// Takes the results behind those that were read, in the order in which they were stored: a test may be
    /// decided by any of them.
    async fn read(&mut self) -> Result<(), FleetError> {
        let mut window = 1;
        while !self.work.is_done() {
            let found = self.queue.results(self.work.id(), self.next, window).await?;
            let (count, largest) = (found.len(), found.iter().map(|result| result.bytes.len()).max());
            let Some(largest) = largest else { break };
            for StoredResult { sequence, pair, bytes } in found {
                // No worker of ours stores what is of no pair.
                if let Some(pair) = pair {
                    self.take(sequence, pair, &bytes).await?;
                }
                self.next = sequence + 1;
                // Results are judged by playing them once more: between two of them an end is heard.
                tokio::task::yield_now().await;
            }
            // Where those of other matches lie between them, requests side by side find the same ones.
            let wider = if 4 * count >= window { 2 * window } else { 2 * count };
            window = wider.min((BYTES_AT_ONCE / largest.max(1)).clamp(1, AT_ONCE));
            self.beat().await;
        }
        Ok(())
    }

    /// Takes results that lie before those that were read: a server that lost some gave their places away.
    async fn read_overlooked(&mut self) -> Result<(), FleetError> {
        for pair in self.queue.pairs(self.work.id()).await? {
            if self.work.is_done() || !self.work.lacks(pair) {
                continue;
            }
            if let Some(StoredResult { sequence, bytes, .. }) =
                self.queue.result(self.work.id(), pair).await?
            {
                self.take(sequence, pair, &bytes).await?;
            }
        }
        Ok(())
    }

    /// Takes a result, unless one of its pair was taken.
    async fn take(&mut self, sequence: u64, pair: usize, bytes: &Bytes) -> Result<(), FleetError> {
        if self.work.is_done() || !self.work.lacks(pair) {
            return Ok(());
        }
        match self.work.take(pair, bytes) {
            Ok(()) => Ok(()),
            Err(Refusal::Io(error)) => Err(error.into()),
            Err(Refusal::False { worker, why }) => {
                let worker = worker.filter(|name| super::names::is_name(name));
                let worker = worker.unwrap_or_else(|| "unknown".to_owned());
                tracing::warn!(worker, pair, "a result is refused: {why}");
                self.queue.remove_result(sequence).await?;
                *self.refused.entry(worker).or_default() += 1;
                self.queued.remove(&pair);
                // Its job may lie there until its worker has acknowledged it, and cannot be queued before.
                self.next_check = self.next_check.min(Instant::now() + LOOK);
                Ok(())
            }
        }
    }

    /// Queues the pairs that are wanted.
    async fn offer(&mut self) -> Result<(), FleetError> {
        if self.work.is_done() {
            return Ok(());
        }
        let wanted: Vec<usize> =
            self.work.wanted().into_iter().filter(|pair| !self.queued.contains(pair)).collect();
        let work = &*self.work;
        let jobs = wanted.into_iter().map(|pair| {
            let job = serde_json::to_vec(&work.job(pair)).expect("it holds only text keys and integers");
            (pair, job)
        });
        let offered = self.queue.offer(work.id(), jobs).await?;
        self.queued.extend(offered);
        Ok(())
    }

    /// Says how things stand, if it did not for a while.
    async fn beat(&mut self) {
        if Instant::now() >= self.next_beat {
            self.next_beat = Instant::now() + BEAT;
            self.say().await;
        }
    }

    /// Says how things stand.
    async fn say(&self) {
        let status = serde_json::to_vec(&self.work.status(&self.refused)).expect("it holds only text keys");
        // Whoever misses one hears the next.
        let _missed = self.queue.say_coordinator(self.work.id(), status).await;
    }
}
