//! The coordinator of a match: it takes what results there are, queues the pairs that have none, and does so
//! until the work is done. All that it remembers is on the server, so another may go on anywhere.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::time::Instant;

use super::build::Build;
use super::description::MatchId;
use super::error::FleetError;
use super::heartbeat::CoordinatorStatus;
use super::message::Job;
use super::queue::{Queue, StoredResult};
use super::retry::pause;
use super::server::Server;

/// How often the server is asked for results without a notice that there are some.
const LOOK: Duration = Duration::from_secs(1);
/// How often it is looked whether to end.
const HALT: Duration = Duration::from_millis(100);
/// How often all pairs that lack a result are offered once more, in case that a server lost what it had.
const OFFER_AGAIN: Duration = Duration::from_secs(30);
/// How often the coordinator says how it is.
const BEAT: Duration = Duration::from_secs(3);

/// Pairs that are to be played, and what is done with their results.
pub trait Work {
    /// The match.
    fn id(&self) -> &MatchId;
    /// Its description.
    fn description(&self) -> &[u8];
    /// The programs that its players need, with their content.
    fn builds(&self) -> &[(Build, Vec<u8>)] {
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
    /// Whether the work is done; else it was halted, and the same may be taken up again.
    pub is_done: bool,
    /// Results that were refused, by worker.
    pub refused: BTreeMap<String, u64>,
}

/// Has pairs played until the work is done or `halt` is raised. `ack_wait` is how long a worker may say
/// nothing before its pair goes to another, if the queue is not there yet.
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
        let queue = Queue::connect(server, "plyd-coordinator").await?;
        let coordinator = Coordinator {
            queue,
            ack_wait,
            work,
            halt,
            next: 1,
            queued: HashSet::new(),
            is_unsure: false,
            refused: BTreeMap::new(),
        };
        coordinator.run().await
    })
}

struct Coordinator<'w> {
    queue: Queue,
    ack_wait: Duration,
    work: &'w mut dyn Work,
    halt: &'w AtomicBool,
    /// The place in the stream of the first result that was not read.
    next: u64,
    /// Pairs that are known to be queued, or to have been.
    queued: HashSet<usize>,
    /// Whether a pair may be neither queued nor have a result: its worker had not acknowledged it when its
    /// result was refused.
    is_unsure: bool,
    refused: BTreeMap<String, u64>,
}

impl Coordinator<'_> {
    async fn run(mut self) -> Result<Ended, FleetError> {
        let mut notices = self.queue.notices(self.work.id()).await?;
        let mut questions = self.queue.questions().await?;
        let mut is_set_up = false;
        let mut failures = 0;
        let mut offered = Instant::now();
        let mut said = Instant::now();
        while !self.work.is_done() && !self.is_halted() {
            let done = async {
                if !is_set_up {
                    self.set_up().await?;
                    is_set_up = true;
                    offered = Instant::now();
                }
                // All results before any job: a pair that has one is not to be queued.
                self.read().await?;
                self.offer().await
            };
            match done.await {
                Ok(()) => failures = 0,
                Err(FleetError::Away(why)) => {
                    failures += 1;
                    tracing::warn!("{why}");
                    is_set_up = false;
                    self.idle(pause(failures)).await;
                    continue;
                }
                Err(error) => return Err(error),
            }
            if self.is_unsure || offered.elapsed() >= OFFER_AGAIN {
                self.is_unsure = false;
                is_set_up = false;
            }
            if said.elapsed() >= BEAT {
                said = Instant::now();
                self.say().await;
            }
            if self.work.is_done() {
                break;
            }
            let look = Instant::now() + LOOK;
            while Instant::now() < look && !self.is_halted() {
                tokio::select! {
                    Some(_) = notices.next() => break,
                    Some(_) = questions.next() => self.say().await,
                    () = tokio::time::sleep(HALT) => {}
                }
            }
        }
        let is_done = self.work.is_done();
        if is_done {
            // What is queued still is needed no more.
            for attempt in 1.. {
                match self.queue.cancel(self.work.id()).await {
                    Err(FleetError::Away(why)) if !self.is_halted() => {
                        tracing::warn!("{why}");
                        self.idle(pause(attempt)).await;
                    }
                    _ => break,
                }
            }
            self.say().await;
        }
        self.queue.flush().await;
        Ok(Ended { is_done, refused: self.refused })
    }

    /// Sees to it that the server has what it needs, also if it lost all that it had.
    async fn set_up(&mut self) -> Result<(), FleetError> {
        self.queue.set_up(self.ack_wait).await?;
        for (build, content) in self.work.builds() {
            self.queue.store_build(build, content).await?;
        }
        self.queue.describe(self.work.id(), self.work.description().to_vec()).await?;
        // A server that was killed may have lost what it stored last, and give the same places to others.
        let last = self.queue.last_place().await?.unwrap_or(0);
        self.next = self.next.min(last + 1);
        for pair in self.queue.pairs(self.work.id()).await? {
            if self.work.is_done() || !self.work.lacks(pair) {
                continue;
            }
            if let Some(StoredResult { sequence, bytes, .. }) =
                self.queue.result(self.work.id(), pair).await?
                && sequence < self.next
            {
                self.take(sequence, pair, &bytes).await?;
            }
        }
        // Those that are queued still are not queued again.
        self.queued.clear();
        Ok(())
    }

    /// Takes the results that are there.
    async fn read(&mut self) -> Result<(), FleetError> {
        while !self.work.is_done() && !self.is_halted() {
            let next = self.queue.next_result(self.work.id(), self.next).await?;
            let Some(StoredResult { sequence, pair, bytes }) = next else { break };
            // No worker of ours stores what is of no pair.
            if let Some(pair) = pair {
                self.take(sequence, pair, &bytes).await?;
            }
            self.next = sequence + 1;
        }
        Ok(())
    }

    async fn take(&mut self, sequence: u64, pair: usize, bytes: &Bytes) -> Result<(), FleetError> {
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
                self.is_unsure = true;
                Ok(())
            }
        }
    }

    /// Queues the pairs that are wanted.
    async fn offer(&mut self) -> Result<(), FleetError> {
        if self.work.is_done() || self.is_halted() {
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

    /// Says how things stand.
    async fn say(&self) {
        let status = serde_json::to_vec(&self.work.status(&self.refused)).expect("it holds only text keys");
        // Whoever misses one hears the next.
        let _missed = self.queue.say_coordinator(self.work.id(), status).await;
    }

    /// Waits, unless it is halted.
    async fn idle(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end && !self.is_halted() {
            tokio::time::sleep(HALT).await;
        }
    }

    fn is_halted(&self) -> bool {
        self.halt.load(Ordering::Relaxed)
    }
}
