//! A worker's life: it takes one pair at a time for each game that it may play at once, plays it, stores what
//! came of it, and only then takes the next.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use plyd_arena::tune::Trial;
use plyd_arena::tune::terms::Terms;
use plyd_arena::{PlayedGame, TimeControl};
use plyd_core::engine::Entry;
use plyd_protocol::client::signals::Signals;
use tokio::task::JoinSet;

use super::denied::Denied;
use super::description::{DescribedMatch, Description, MatchId, Task};
use super::error::FleetError;
use super::heartbeat::{Busy, Fault, WorkerStatus, add_fault};
use super::message::{Job, PairResult, TrialResult};
use super::noise::Noise;
use super::permit::Permit;
use super::queue::{Lease, Queue, Stored};
use super::server::{Server, pause};

/// How long one request waits for a job: also how long an idle worker takes to leave.
const WAIT: Duration = Duration::from_secs(2);
/// How often a worker says how it is.
const BEAT: Duration = Duration::from_secs(3);
/// The shortest pause of a worker that may not play what it is given, and after which time a pair that was
/// given back once may be taken again, by anybody.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest pause of such a worker.
const LONGEST_REST: Duration = Duration::from_secs(8);
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
    /// For what share of a pair with clocks the machine may stand still, in percent.
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

#[derive(Default)]
struct State {
    /// The pairs that are played, by a number of their own, and since when.
    leases: BTreeMap<u64, (Arc<Lease>, Instant)>,
    next_lease: u64,
    games: u64,
    doubled: u64,
    faults: Vec<Fault>,
    /// Nodes a second in the bench of each game that was played.
    speeds: BTreeMap<String, u64>,
    descriptions: HashMap<MatchId, Arc<Description>>,
    /// The matches whose players have begun here once.
    tried: HashSet<MatchId>,
}

impl Worker {
    fn new(settings: WorkerSettings) -> Arc<Self> {
        Arc::new(Self {
            settings,
            began: Instant::now(),
            leaves: AtomicBool::new(false),
            state: Mutex::default(),
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
        for attempt in 1.. {
            match Queue::connect(server, &self.settings.name).await {
                Err(FleetError::Away(why)) => {
                    tracing::warn!("{why}");
                    tokio::time::sleep(pause(attempt)).await;
                }
                connected => return connected,
            }
        }
        unreachable!("attempts have no end")
    }

    /// Takes and plays pairs, one after the other.
    async fn take_pairs(self: Arc<Self>, queue: Queue) {
        let mut ack_wait = None;
        let (mut failures, mut rest) = (0, Duration::ZERO);
        while !self.leaves.load(Ordering::Relaxed) {
            let taken = match self.take(&queue, &mut ack_wait).await {
                Ok(taken) => taken,
                Err(error) => {
                    failures += 1;
                    ack_wait = None;
                    self.fault(error.to_string());
                    tokio::time::sleep(pause(failures)).await;
                    continue;
                }
            };
            failures = 0;
            let Some((lease, ack_wait)) = taken else { continue };
            if self.leaves.load(Ordering::Relaxed) {
                lease.give_back(Duration::ZERO).await;
                break;
            }
            match self.serve(&queue, lease, ack_wait).await {
                Ok(()) => rest = Duration::ZERO,
                Err(()) => {
                    // Others may play what this one may not, so it does not take it again and again.
                    rest = (rest * 2).clamp(AGAIN, LONGEST_REST);
                    self.idle(rest).await;
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
    async fn serve(self: &Arc<Self>, queue: &Queue, lease: Arc<Lease>, ack_wait: Duration) -> Result<(), ()> {
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
            Ok(()) => Ok(()),
            Err(Denied(why)) => {
                tracing::warn!(id = %lease.id, pair = lease.pair, "given back: {why}");
                self.fault(why);
                lease.give_back(until_offered_again(lease.deliveries)).await;
                Err(())
            }
        };
        self.state().leases.remove(&number);
        served
    }

    async fn bring_to_end(self: &Arc<Self>, queue: &Queue, lease: &Lease) -> Result<(), Denied> {
        let (id, pair) = (&lease.id, lease.pair);
        // Somebody may have played it before a sign of life was lost, or it was queued twice.
        let has_result = self.until_there(|| queue.has_result(id, pair)).await.map_err(Denied)?;
        if !has_result {
            let description = self.description(queue, id).await?;
            let job: Job = serde_json::from_slice(&lease.bytes)
                .map_err(|error| Denied(format!("a job cannot be read: {error}")))?;
            if let Task::Match(described) = &description.task {
                for (builds, build) in self.settings.permit.builds(described) {
                    self.until_there(|| builds.fetch(queue, build)).await.map_err(Denied)??;
                }
            }
            let bytes = bytes::Bytes::from(self.play(description, id, pair, job).await?);
            let stored =
                self.until_there(|| queue.store_result(id, pair, bytes.clone())).await.map_err(Denied)?;
            let mut state = self.state();
            match stored {
                Stored::First => state.games += 2,
                Stored::Second => state.doubled += 1,
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

    /// Plays a pair in a thread of its own; gives the result as it is stored.
    async fn play(
        self: &Arc<Self>,
        description: Arc<Description>,
        id: &MatchId,
        pair: usize,
        job: Job,
    ) -> Result<Vec<u8>, Denied> {
        if pair > description.pairs() {
            return Err(Denied(format!("pair {pair} is not among those of the match")));
        }
        let is_tried = self.state().tried.contains(id);
        let worker = Arc::clone(self);
        let played = tokio::task::spawn_blocking(move || {
            let name = worker.settings.name.clone();
            let written = match &description.task {
                Task::Match(described) => {
                    let (games, scale) = worker.play_match(described, &job, pair, is_tried)?;
                    serde_json::to_vec(&PairResult { worker: name, scale, games })
                }
                Task::Tuning(terms) => {
                    let games = worker.play_trial(terms, &job, pair)?;
                    serde_json::to_vec(&TrialResult { worker: name, games })
                }
            };
            Ok(written.expect("it holds only text keys and integers"))
        });
        let played = played.await.unwrap_or_else(|error| Err(Denied(format!("a pair broke: {error}"))))?;
        self.state().tried.insert(id.clone());
        Ok(played)
    }

    /// Plays a pair of a match; also says how its clocks were scaled.
    fn play_match(
        &self,
        described: &DescribedMatch,
        job: &Job,
        pair: usize,
        is_tried: bool,
    ) -> Result<([PlayedGame; 2], Option<u32>), Denied> {
        let mut opened = self.settings.permit.open(described, job)?;
        let speed = self.speed(opened.game)?;
        let scale = described.reference.map(|reference| scale(reference, speed)).transpose()?;
        let mut has_clock = false;
        for player in &mut opened.players {
            has_clock |= player.time != TimeControl::Unlimited;
            player.time = player.time.scaled(scale.unwrap_or(1000));
        }
        if !is_tried {
            // A player that cannot begin here would lose its games.
            opened.try_players().map_err(|error| Denied(error.to_string()))?;
        }
        opened.stalls = described.terms.forgives_stalls.then(|| self.noise.watch());
        let measured = has_clock.then(|| self.noise.measure());
        let games = opened.play_pair(pair - 1, &self.leaves).map_err(|unplayed| {
            let player = &opened.players[unplayed.player].name;
            Denied(format!("the server of `{player}` was overloaded {}", unplayed.message))
        })?;
        if let Some(percent) = measured.map(|measured| measured.percent())
            && percent > self.settings.max_noise
        {
            return Err(Denied(format!("this machine stood still for {percent:.1} % of a pair with clocks")));
        }
        Ok((games, scale))
    }

    /// Nodes a second in the bench of a game, measured once.
    fn speed(&self, game: &'static Entry) -> Result<u64, Denied> {
        let _alone = self.measures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(speed) = self.state().speeds.get(game.name) {
            return Ok(*speed);
        }
        let speed = (self.settings.bench)(game).map_err(Denied)?;
        self.state().speeds.insert(game.name.to_owned(), speed);
        Ok(speed)
    }

    fn play_trial(&self, terms: &Terms, job: &Job, pair: usize) -> Result<[Vec<String>; 2], Denied> {
        let (entry, opening) = self.settings.permit.open_trial(terms, job)?;
        let probe = job.probe.as_ref().ok_or_else(|| Denied("a pair without settings".to_owned()))?;
        let trial = Trial { terms, entry, pair: pair as u64 - 1, opening: opening.as_ref() };
        let game = |second| match trial.play(probe, second, &AtomicBool::new(false)) {
            Ok(Some((_, moves))) => Ok(moves),
            Ok(None) => Err(Denied("a game was halted".to_owned())),
            Err(fault) => Err(Denied(fault.message)),
        };
        Ok([game(false)?, game(true)?])
    }

    /// The description of a match, from the server once.
    async fn description(&self, queue: &Queue, id: &MatchId) -> Result<Arc<Description>, Denied> {
        if let Some(known) = self.state().descriptions.get(id) {
            return Ok(Arc::clone(known));
        }
        let bytes = self.until_there(|| queue.description(id)).await.map_err(Denied)?;
        let bytes = bytes.ok_or_else(|| Denied(format!("match {id} has no description")))?;
        let read = Description::read(&bytes, id).map_err(|why| Denied(format!("match {id}: {why}")))?;
        let read = Arc::new(read);
        self.state().descriptions.insert(id.clone(), Arc::clone(&read));
        Ok(read)
    }

    /// Asks the server again until it answers.
    ///
    /// # Errors
    /// It answers that it will not.
    async fn until_there<T, F>(&self, mut ask: impl FnMut() -> F) -> Result<T, String>
    where
        F: Future<Output = Result<T, FleetError>>,
    {
        for attempt in 1.. {
            match ask().await {
                Ok(answer) => return Ok(answer),
                Err(FleetError::Away(why)) => {
                    self.fault(why);
                    tokio::time::sleep(pause(attempt)).await;
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        unreachable!("attempts have no end")
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

/// In how many thousandths of their times players are given here, to have as much of them as on a machine of
/// that many nodes a second.
fn scale(reference: u64, speed: u64) -> Result<u32, Denied> {
    let scale = u128::from(reference) * 1000 / u128::from(speed.max(1));
    let [least, most] = PairResult::SCALES;
    u32::try_from(scale).ok().filter(|scale| (least..=most).contains(scale)).ok_or_else(|| {
        let way = if scale > most.into() { "slow" } else { "fast" };
        Denied(format!("this machine is too {way}: {speed} nodes/s, where {reference} are asked for"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_waits_the_longer_the_more_often_it_was_given_back() {
        let delays = [1, 2, 3, 8, 1000].map(|deliveries| until_offered_again(deliveries).as_secs());
        assert_eq!(delays, [1, 2, 4, 30, 30]);
    }

    #[test]
    fn a_slower_machine_gets_more_time_up_to_a_limit() {
        assert_eq!(scale(1000, 1000), Ok(1000));
        assert_eq!(scale(1000, 500), Ok(2000));
        assert_eq!(scale(1000, 4000), Ok(250));
        for (reference, speed, word) in [(1000, 249, "slow"), (1000, 4010, "fast"), (u64::MAX, 0, "slow")] {
            assert!(scale(reference, speed).unwrap_err().0.contains(word));
        }
    }
}
