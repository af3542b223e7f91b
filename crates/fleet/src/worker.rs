//! A worker's life: it takes one pair at a time for each game that it may play at once, plays it, stores what
//! came of it, and only then takes the next.

mod pair;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use plyd_core::engine::Entry;
use plyd_protocol::signals::Signals;
use tokio::task::JoinSet;

use super::denied::Denied;
use super::description::{Description, MatchId, Task};
use super::error::FleetError;
use super::given_back::GivenBack;
use super::heartbeat::{Busy, Fault, WorkerStatus, add_fault};
use super::message::Job;
use super::noise::Noise;
use super::permit::Permit;
use super::queue::{Lease, Queue, Stored};
use super::recent::Recent;
use super::retry::{self, Failures};
use super::server::Server;

/// How long one request waits for a job: also how long an idle worker takes to leave.
const WAIT: Duration = Duration::from_secs(2);
/// How often a worker says how it is.
const BEAT: Duration = Duration::from_secs(3);
/// The shortest pause of a worker that may not play what it is given, and after which time a pair that was
/// given back once may be taken again, by anybody.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest pause of such a worker.
const LONGEST_REST: Duration = Duration::from_secs(8);
/// For how long a lane gives back pairs of matches that are denied here before it rests, if they come at
/// once. They cost it next to nothing, and what it may play may lie behind any number of them: the server
/// offers them first.
const SEARCH: Duration = Duration::from_secs(1);
/// A job that comes later was waited for, so nothing lies behind it. Then a lane rests, out of the way of
/// those who may play what is denied here.
const AT_ONCE: Duration = Duration::from_millis(100);
/// Of how many matches a worker has the description at hand. A description has up to a megabyte.
const KNOWN_MATCHES: usize = 16;
/// How many matches it knows that are denied here.
const DENIED_MATCHES: usize = 1000;
/// The longest time until a pair that is given back again and again may be taken.
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// How often an acknowledgement is tried. One that fails costs somebody a look at the result.
const ACKNOWLEDGEMENTS: usize = 3;
/// Signals of life in the time after which a silent worker's pair goes to another.
const SIGNS: u32 = 3;

/// What measures the nodes a second of a game's bench.
type Bench = dyn Fn(&'static Entry) -> Result<u64, String> + Send + Sync;

/// What a worker is.
pub struct WorkerSettings {
    /// Its name.
    pub name: String,
    /// Its plyd.
    pub version: String,
    /// How many pairs it plays at once.
    pub concurrency: usize,
    /// Cores of its machine.
    pub cores: usize,
    /// What measures the nodes a second of a game's bench on one core.
    pub bench: Box<Bench>,
    /// For what share of a pair with clocks a core may stand still, in percent.
    pub max_noise: f64,
    /// What it may play.
    pub permit: Permit,
}

/// How a worker ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// After the pairs that it played.
    Done,
    /// At once: the pairs that it played were given back.
    AtOnce,
}

/// Serves the queue of a server until a signal: the first lets the pairs that are played come to their end,
/// the second gives them back.
///
/// # Errors
/// The server does not let us in, or the system refuses threads or signals. A server that is away is waited
/// for.
pub fn work(server: &Server, settings: WorkerSettings) -> Result<Left, FleetError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let left = runtime.block_on(Worker::new(settings).live(server));
    // Games that are played are not waited for.
    runtime.shutdown_background();
    left
}

struct Worker {
    settings: WorkerSettings,
    began: Instant,
    /// Whether no further pair is taken.
    leaves: AtomicBool,
    state: Mutex<State>,
    /// Held while the speed of the machine is measured: two measurements at once would slow each other.
    measures: Mutex<()>,
    noise: Noise,
}

struct State {
    /// The pairs that are played, by a number of their own, and since when.
    leases: BTreeMap<u64, (Arc<Lease>, Instant)>,
    next_lease: u64,
    games: u64,
    doubled: u64,
    faults: Vec<Fault>,
    /// Nodes a second in the bench of each game that was played.
    speeds: BTreeMap<String, u64>,
    known: Recent<Known>,
    /// Why a match is denied here.
    denied: Recent<Denied>,
}

/// A match that is played here.
struct Known {
    description: Arc<Description>,
    /// Whether its players have begun here once.
    is_tried: bool,
}

/// What became of a job.
enum Served {
    /// It is done.
    Done,
    /// It was given back, since no pair of its match is played here.
    Denied,
    /// It was given back for another reason.
    GivenBack,
}

impl Worker {
    fn new(settings: WorkerSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            began: Instant::now(),
            leaves: AtomicBool::new(false),
            state: Mutex::new(State {
                leases: BTreeMap::new(),
                next_lease: 0,
                games: 0,
                doubled: 0,
                faults: Vec::new(),
                speeds: BTreeMap::new(),
                known: Recent::new(KNOWN_MATCHES),
                denied: Recent::new(DENIED_MATCHES),
            }),
            measures: Mutex::default(),
            noise: Noise::default(),
        })
    }

    async fn live(self: Arc<Self>, server: &Server) -> Result<Left, FleetError> {
        let mut signals = Signals::install()?;
        let queue = tokio::select! {
            queue = self.connect(server) => queue?,
            () = signals.next() => return Ok(Left::Done),
        };
        tracing::info!("{} takes pairs of {}", self.settings.name, server.shown());
        let mut lanes = JoinSet::new();
        for _ in 0..self.settings.concurrency {
            lanes.spawn(Arc::clone(&self).take_pairs(queue.clone()));
        }
        let heart = tokio::spawn(Arc::clone(&self).beat(queue.clone()));
        signals.next().await;
        self.leaves.store(true, Ordering::Relaxed);
        tracing::info!(
            "leaving after {} pairs that are played; again to give them back",
            self.state().leases.len()
        );
        let left = tokio::select! {
            () = async { while lanes.join_next().await.is_some() {} } => Left::Done,
            () = signals.next() => {
                let leases: Vec<_> = self.state().leases.values().map(|(lease, _)| Arc::clone(lease)).collect();
                for lease in leases {
                    lease.give_back(Duration::ZERO).await;
                }
                Left::AtOnce
            }
        };
        heart.abort();
        queue.flush().await;
        Ok(left)
    }

    /// Connects as soon as the server is there.
    async fn connect(&self, server: &Server) -> Result<Queue, FleetError> {
        retry::until_there(|| Queue::connect(server, &self.settings.name), |why| tracing::warn!("{why}"))
            .await
    }

    /// Takes and plays pairs, one after the other.
    async fn take_pairs(self: Arc<Self>, queue: Queue) {
        let mut ack_wait = None;
        let (mut failures, mut rest) = (Failures::default(), Duration::ZERO);
        // Why it could take none: said once, until it could or the reason is another one.
        let mut last_failure: Option<String> = None;
        // Since when it has found nothing but pairs of matches that are denied here.
        let mut searches = None;
        while !self.leaves.load(Ordering::Relaxed) {
            let asked = Instant::now();
            let taken = match self.take(&queue, &mut ack_wait).await {
                Ok(taken) => taken,
                Err(error) => {
                    ack_wait = None;
                    let why = error.to_string();
                    if last_failure.as_deref() != Some(&*why) {
                        tracing::warn!("no pair can be taken: {why}");
                        last_failure = Some(why.clone());
                    }
                    self.fault(why);
                    failures.rest().await;
                    continue;
                }
            };
            failures.forget();
            last_failure = None;
            let Some((lease, ack_wait)) = taken else { continue };
            let came_at_once = asked.elapsed() < AT_ONCE;
            if self.leaves.load(Ordering::Relaxed) {
                lease.give_back(Duration::ZERO).await;
                break;
            }
            // Until its pair is offered again, and a moment longer: others are first then.
            let out_of_the_way = (until_offered_again(lease.deliveries) + AGAIN).min(LONGEST_REST);
            match self.serve(&queue, lease, ack_wait).await {
                Served::Done => (rest, searches) = (Duration::ZERO, None),
                Served::Denied
                    if came_at_once && searches.get_or_insert_with(Instant::now).elapsed() < SEARCH => {}
                Served::Denied | Served::GivenBack => {
                    // Others may play what this one may not, so it does not take it again and again.
                    rest = (rest * 2).clamp(out_of_the_way, LONGEST_REST);
                    searches = None;
                    // By chance: else it might ask at the same moment of each round, and always be first.
                    self.idle(out_of_the_way + retry::scattered(rest.saturating_sub(out_of_the_way) + AGAIN))
                        .await;
                }
            }
        }
    }

    /// Takes a job; also says how long its worker may say nothing. None: there is none just now, or no queue.
    async fn take(
        &self,
        queue: &Queue,
        ack_wait: &mut Option<Duration>,
    ) -> Result<Option<(Arc<Lease>, Duration)>, FleetError> {
        if ack_wait.is_none() {
            *ack_wait = queue.ack_wait().await?;
        }
        let Some(wait) = *ack_wait else {
            // Nobody has queued anything yet.
            tokio::time::sleep(WAIT).await;
            return Ok(None);
        };
        Ok(queue.take(WAIT).await?.map(|lease| (Arc::new(lease), wait)))
    }

    /// Waits, unless the worker leaves.
    async fn idle(&self, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end && !self.leaves.load(Ordering::Relaxed) {
            tokio::time::sleep(AGAIN.min(end.saturating_duration_since(Instant::now()))).await;
        }
    }

    /// Brings a job to its end, and says meanwhile that it is worked on.
    async fn serve(self: &Arc<Self>, queue: &Queue, lease: Arc<Lease>, ack_wait: Duration) -> Served {
        let after = until_offered_again(lease.deliveries);
        let denied = self.state().denied.get(&lease.id).map(|Denied(why)| why.clone());
        if let Some(why) = denied {
            // Not even its result is looked for: whoever may play the match does that.
            self.fault(why);
            lease.give_back(after).await;
            return Served::Denied;
        }
        let number = {
            let mut state = self.state();
            state.next_lease += 1;
            let number = state.next_lease;
            state.leases.insert(number, (Arc::clone(&lease), Instant::now()));
            number
        };
        let mut signs = tokio::time::interval(ack_wait / SIGNS);
        // After the worker stood still, one sign is as good as those that it missed.
        signs.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut done = std::pin::pin!(self.bring_to_end(queue, &lease));
        let done = loop {
            tokio::select! {
                done = &mut done => break done,
                _ = signs.tick() => lease.progress().await,
            }
        };
        let served = match done {
            Ok(()) => Served::Done,
            Err(why) => {
                tracing::warn!(id = %lease.id, pair = lease.pair, "given back: {why}");
                self.fault(why.to_string());
                lease.give_back(after).await;
                match why {
                    GivenBack::Denied(denied) => {
                        self.state().denied.insert(lease.id.clone(), denied);
                        Served::Denied
                    }
                    GivenBack::Malformed(_) | GivenBack::Failed(_) => Served::GivenBack,
                }
            }
        };
        self.state().leases.remove(&number);
        served
    }

    async fn bring_to_end(self: &Arc<Self>, queue: &Queue, lease: &Lease) -> Result<(), GivenBack> {
        let (id, pair) = (&lease.id, lease.pair);
        // Somebody may have played it before a sign of life was lost, or it was queued twice.
        if !self.until_there(|| queue.has_result(id, pair)).await? {
            let description = self.description(queue, id).await?;
            let job: Job = serde_json::from_slice(&lease.bytes)
                .map_err(|error| GivenBack::Malformed(format!("a job cannot be read: {error}")))?;
            if let Task::Match(described) = &description.task {
                for (programs, program) in self.settings.permit.programs(described) {
                    self.until_there(|| programs.fetch(queue, program)).await??;
                }
            }
            let bytes = bytes::Bytes::from(self.play(description, id, pair, job).await?);
            let is_ours = self.store(queue, id, pair, bytes).await?;
            let mut state = self.state();
            if is_ours {
                state.games += 2;
            } else {
                state.doubled += 1;
            }
        }
        for _ in 0..ACKNOWLEDGEMENTS {
            match lease.done().await {
                Ok(()) => break,
                Err(error) => self.fault(error.to_string()),
            }
        }
        Ok(())
    }

    /// Stores a result; whether it is the one that counts.
    async fn store(
        &self,
        queue: &Queue,
        id: &MatchId,
        pair: usize,
        bytes: bytes::Bytes,
    ) -> Result<bool, GivenBack> {
        match self.until_there(|| queue.store_result(id, pair, bytes.clone())).await? {
            Stored::First => Ok(true),
            // The first one may be this, if the server stored it and the connection broke before it said so.
            Stored::Second => {
                let first = self.until_there(|| queue.result(id, pair)).await?;
                Ok(first.is_some_and(|first| first.bytes == bytes))
            }
        }
    }

    /// The description of a match, from the server unless it is at hand.
    async fn description(&self, queue: &Queue, id: &MatchId) -> Result<Arc<Description>, GivenBack> {
        if let Some(known) = self.state().known.get(id) {
            return Ok(Arc::clone(&known.description));
        }
        let bytes = self.until_there(|| queue.description(id)).await?;
        let bytes = bytes.ok_or_else(|| GivenBack::Failed(format!("match {id} has no description")))?;
        let read = Description::read(&bytes, id).map_err(|why| Denied(format!("match {id}: {why}")))?;
        let description = Arc::new(read);
        let known = Known { description: Arc::clone(&description), is_tried: false };
        self.state().known.insert(id.clone(), known);
        Ok(description)
    }

    /// Asks the server again until it answers.
    ///
    /// # Errors
    /// It answers that it will not.
    async fn until_there<T, F>(&self, ask: impl FnMut() -> F) -> Result<T, GivenBack>
    where
        F: Future<Output = Result<T, FleetError>>,
    {
        let answer = retry::until_there(ask, |why| self.fault(why)).await;
        answer.map_err(|error| GivenBack::Failed(error.to_string()))
    }

    /// Says how the worker is, now and then and when somebody asks.
    async fn beat(self: Arc<Self>, queue: Queue) {
        let Ok(mut questions) = queue.questions().await else { return };
        let mut beats = tokio::time::interval(BEAT);
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = beats.tick() => {}
                Some(_) = questions.next() => {}
            }
            let status = serde_json::to_vec(&self.status()).expect("it holds only text keys and numbers");
            // Whoever misses one hears the next.
            let _missed = queue.say_worker(&self.settings.name, status).await;
        }
    }

    fn status(&self) -> WorkerStatus {
        let WorkerSettings { name, version, concurrency, cores, .. } = &self.settings;
        let state = self.state();
        let busy = state.leases.values().map(|(lease, since)| Busy {
            id: lease.id.clone(),
            pair: lease.pair,
            for_s: since.elapsed().as_secs(),
        });
        WorkerStatus {
            name: name.clone(),
            version: version.clone(),
            cores: *cores,
            speeds: state.speeds.clone(),
            concurrency: *concurrency,
            up_s: self.began.elapsed().as_secs(),
            busy: busy.collect(),
            games: state.games,
            doubled: state.doubled,
            faults: state.faults.clone(),
            leaves: self.leaves.load(Ordering::Relaxed),
        }
    }

    fn fault(&self, message: String) {
        tracing::debug!("{message}");
        add_fault(&mut self.state().faults, message);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// After which time a pair that is given back may be taken again: the server offers it before those that
/// nobody had yet, so that pairs which nobody may play would keep workers from all others if they did not
/// wait longer each time.
fn until_offered_again(deliveries: u32) -> Duration {
    (AGAIN * 2_u32.saturating_pow(deliveries.saturating_sub(1).min(20))).min(LONGEST_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_waits_the_longer_the_more_often_it_was_given_back() {
        let delays = [1, 2, 3, 8, 1000].map(|deliveries| until_offered_again(deliveries).as_secs());
        assert_eq!(delays, [1, 2, 4, 30, 30]);
    }
}
