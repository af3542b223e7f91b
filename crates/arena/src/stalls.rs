//! Times at which the machine stood still: on each core a thread sleeps half a millisecond at a time and
//! notes when it should have been awake and was not. A player that is late by less than that was not slow: it
//! did not run.
//!
//! The project measures its own latencies beside the same control; the referee keeps it for a whole match.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::cores;

/// How long a watch sleeps: a stall may be longer than measured by as much.
const NAP: Duration = Duration::from_micros(500);

/// The shortest stall. A busy thread keeps its core for the rest of a time slice, 3 ms on Linux, and a
/// player's own thread must not excuse it.
const SLICE: Duration = Duration::from_millis(4);

/// How many stalls a watch remembers; each answer is checked as soon as it arrives. What may last longer,
/// such as a pair of games, is measured by the [totals](Stalls::totals), which forget none.
const REMEMBERED: usize = 1000;

/// What the system calls the threads.
const THREAD: &str = "plyd-stalls";

/// Watches on all cores on which the referee may run; they end when this is dropped.
#[derive(Debug)]
pub struct Stalls {
    watches: Vec<Arc<Watch>>,
    threads: Vec<JoinHandle<()>>,
    /// Whether the watches are to end.
    ended: Arc<AtomicBool>,
}

/// One core's watch.
#[derive(Debug)]
struct Watch {
    /// The core; none: all of them.
    core: Option<usize>,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    /// When the watch wants to be awake.
    due: Instant,
    /// When it should have been awake and was not, in their order.
    stalls: VecDeque<Span>,
    /// How long all stalls were together, those that are forgotten included.
    total: Duration,
}

/// From an instant to a later one.
type Span = (Instant, Instant);

impl Stalls {
    /// Begins to watch the cores on which this thread may run; all as one if the system does not list
    /// them.
    #[must_use]
    pub fn watch() -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let cores =
            cores::available().map_or_else(|_| vec![None], |cores| cores.into_iter().map(Some).collect());
        let mut stalls = Self { watches: Vec::new(), threads: Vec::new(), ended };
        for core in cores {
            let watch = Arc::new(Watch { core, seen: Mutex::new(Seen::new(Instant::now() + NAP)) });
            let (own, ended) = (Arc::clone(&watch), Arc::clone(&stalls.ended));
            let started = thread::Builder::new().name(THREAD.to_owned()).spawn(move || own.keep(&ended));
            stalls.threads.push(started.expect("the system has a thread for each core"));
            stalls.watches.push(watch);
        }
        stalls
    }

    /// How long at least one of these cores (of all, if none are given) stood still in this span.
    #[must_use]
    pub fn during(&self, from: Instant, to: Instant, cores: Option<&[usize]>) -> Duration {
        let counts = |watch: &&Arc<Watch>| match (watch.core, cores) {
            (Some(core), Some(cores)) => cores.contains(&core),
            _ => true,
        };
        let mut spans: Vec<Span> =
            self.watches.iter().filter(counts).flat_map(|watch| watch.seen_until(to)).collect();
        covered(&mut spans, from, to)
    }

    /// How long each core has stood still since the watches began, always in the same order. The difference
    /// of two such times is what came between, however long that is.
    #[must_use]
    pub fn totals(&self) -> Vec<Duration> {
        let now = Instant::now();
        self.watches.iter().map(|watch| watch.total_until(now)).collect()
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _panicked = thread.join();
        }
    }
}

impl Watch {
    /// Sleeps again and again until `ended` is set.
    fn keep(&self, ended: &AtomicBool) {
        if let Some(core) = self.core {
            // A core that was taken away meanwhile is watched from another.
            let _gone = cores::run_on(&[core]);
        }
        let mut due = Instant::now() + NAP;
        self.seen().due = due;
        while !ended.load(Ordering::Relaxed) {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let now = Instant::now();
            // One lock for both changes, so that a stall that is over is not also taken for one that lasts.
            let mut seen = self.seen();
            if now.saturating_duration_since(due) >= SLICE {
                seen.add((due, now));
            }
            due = now + NAP;
            seen.due = due;
        }
    }

    /// The stalls, with the one that lasts at this instant: the caller may be the first thread to run again.
    fn seen_until(&self, now: Instant) -> Vec<Span> {
        let seen = self.seen();
        seen.stalls.iter().copied().chain(seen.lasting(now)).collect()
    }

    /// How long all stalls were together, with the one that lasts at this instant.
    fn total_until(&self, now: Instant) -> Duration {
        let seen = self.seen();
        seen.total + seen.lasting(now).map_or(Duration::ZERO, |(due, now)| now - due)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn new(due: Instant) -> Self {
        Self { due, stalls: VecDeque::new(), total: Duration::ZERO }
    }

    fn add(&mut self, (from, to): Span) {
        self.total += to - from;
        self.stalls.push_back((from, to));
        if self.stalls.len() > REMEMBERED {
            self.stalls.pop_front();
        }
    }

    fn lasting(&self, now: Instant) -> Option<Span> {
        (now.saturating_duration_since(self.due) >= SLICE).then_some((self.due, now))
    }
}

/// How much of the span from `from` to `to` these spans cover together.
fn covered(spans: &mut [Span], from: Instant, to: Instant) -> Duration {
    spans.sort_unstable();
    let mut covered = Duration::ZERO;
    let mut at = from;
    for (begin, end) in spans {
        let (begin, end) = ((*begin).max(at), (*end).min(to));
        if begin < end {
            covered += end - begin;
            at = end;
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spans_cover_is_counted_once_and_only_within() {
        let zero = Instant::now();
        let at = |ms: u64| zero + Duration::from_millis(ms);
        for (spans, expected) in [
            (&[][..], 0),
            (&[(0, 5)], 0),
            (&[(5, 15)], 5),
            (&[(25, 99)], 5),
            (&[(0, 99)], 20),
            (&[(11, 13), (20, 21)], 3),
            (&[(20, 21), (11, 13)], 3),
            (&[(11, 15), (13, 18)], 7),
            (&[(11, 20), (13, 15), (14, 16)], 9),
            (&[(11, 15), (11, 15)], 4),
        ] {
            let mut spans: Vec<Span> = spans.iter().map(|&(begin, end)| (at(begin), at(end))).collect();
            let found = covered(&mut spans, at(10), at(30));
            assert_eq!(found, Duration::from_millis(expected), "{spans:?}");
        }
    }

    #[test]
    fn a_stall_that_lasts_is_seen() {
        let due = Instant::now();
        let mut seen = Seen::new(due + Duration::from_millis(8));
        seen.add((due, due + Duration::from_millis(7)));
        let watch = Watch { core: None, seen: Mutex::new(seen) };
        for (ms, count, total) in [(8, 1, 7), (11, 1, 7), (12, 2, 11), (500, 2, 499)] {
            let now = due + Duration::from_millis(ms);
            assert_eq!(watch.seen_until(now).len(), count, "{ms} ms");
            assert_eq!(watch.total_until(now), Duration::from_millis(total), "{ms} ms");
        }
    }

    #[test]
    fn the_totals_keep_what_is_forgotten_of_each_core() {
        let zero = Instant::now();
        let later = |stalls: u32| zero + 10 * SLICE * stalls;
        let stalls = 3 * u32::try_from(REMEMBERED).unwrap();
        // A watch whose next nap ends only in the far future stands still no more.
        let far = zero + Duration::from_secs(3600);
        let mut noisy = Seen::new(far);
        (0..stalls).for_each(|number| noisy.add((later(number), later(number) + SLICE)));
        assert_eq!(noisy.stalls.len(), REMEMBERED);
        let watch = |seen| Arc::new(Watch { core: None, seen: Mutex::new(seen) });
        let watches = vec![watch(noisy), watch(Seen::new(far))];
        let watched = Stalls { watches, threads: Vec::new(), ended: Arc::default() };
        assert_eq!(watched.totals(), [SLICE * stalls, Duration::ZERO]);
    }
}
