//! What is counted for operators: plain numbers under the daemon's one lock.
//!
//! Nothing here is done at a node of a search, and nothing allocates once the daemon runs: a counter is a
//! number at a known place. What a label may say is known when the daemon starts: the games of the registry,
//! and the words of the protocol. How it is written is in `metrics`.

use plyd_protocol::{Command, ErrorCode, Reason};

use super::outbox::{Item, Numbered};
use super::refusals::Refusal;
use crate::spans::Origin;
use plyd_core::engine::Entry;

/// The ends of searches, by their names.
pub(crate) const REASONS: [Reason; 10] = [
    Reason::Proven,
    Reason::Clock,
    Reason::Limit,
    Reason::OnlyMove,
    Reason::Stopped,
    Reason::Superseded,
    Reason::Deadline,
    Reason::Closed,
    Reason::Failed,
    Reason::Shutdown,
];

/// The upper bounds of histograms, in microseconds. None is a whole number of seconds: versions of Prometheus
/// write those in two ways.
const LATENESS: &[u64] = &[1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 2_500_000];
const WAIT: &[u64] =
    &[100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 2_500_000, 12_500_000, 62_500_000];
const SEARCH: &[u64] =
    &[1_000, 10_000, 50_000, 100_000, 250_000, 500_000, 2_500_000, 12_500_000, 62_500_000, 312_500_000];

/// A histogram of times.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    /// The upper bounds in microseconds.
    pub(crate) bounds_us: &'static [u64],
    /// The times up to each bound and above the one before it; the last are above all.
    pub(crate) counts: Vec<u64>,
    pub(crate) sum_ns: u64,
}

impl Histogram {
    fn new(bounds_us: &'static [u64]) -> Self {
        Self { bounds_us, counts: vec![0; bounds_us.len() + 1], sum_ns: 0 }
    }

    fn observe(&mut self, ns: u64) {
        let place = self.bounds_us.partition_point(|bound| bound * 1000 < ns);
        self.counts[place] += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }
}

/// What happened so far, beside the counters that the protocol has.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    pub(crate) requests: [u64; Command::NAMES.len()],
    pub(crate) errors: [u64; ErrorCode::ALL.len()],
    pub(crate) refusals: [u64; Refusal::ALL.len()],
    pub(crate) opened: [u64; Origin::NAMES.len()],
    /// By the game's place in the registry.
    pub(crate) games: Vec<Played>,
    /// The answers to searches that had a time.
    pub(crate) timed: u64,
    pub(crate) lateness: Histogram,
    pub(crate) waits: Histogram,
    pub(crate) searches: Histogram,
    pub(crate) watchdog_answers: u64,
    /// The answers that were not searched, since time was over before.
    pub(crate) unsearched: u64,
    /// Settings that were read again, and those that were refused.
    pub(crate) reloads: [u64; 2],
}

/// What happened in one game.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) game: &'static str,
    pub(crate) searches: u64,
    pub(crate) nodes: u64,
    pub(crate) answers: [u64; REASONS.len()],
}

impl Tally {
    /// Nothing happened yet.
    pub(super) fn new(games: &[&Entry]) -> Self {
        let games = games.iter();
        Self {
            requests: [0; Command::NAMES.len()],
            errors: [0; ErrorCode::ALL.len()],
            refusals: [0; Refusal::ALL.len()],
            opened: [0; Origin::NAMES.len()],
            games: games
                .map(|entry| Played { game: entry.name, searches: 0, nodes: 0, answers: [0; REASONS.len()] })
                .collect(),
            timed: 0,
            lateness: Histogram::new(LATENESS),
            waits: Histogram::new(WAIT),
            searches: Histogram::new(SEARCH),
            watchdog_answers: 0,
            unsearched: 0,
            reloads: [0; 2],
        }
    }

    /// A connection was opened.
    pub(super) fn opened(&mut self, origin: Origin) {
        self.opened[origin.index()] += 1;
    }

    /// A request came, whatever becomes of it.
    pub(super) fn requested(&mut self, cmd: &str) {
        if let Some(place) = Command::NAMES.iter().position(|name| *name == cmd) {
            self.requests[place] += 1;
        }
    }

    /// An error was sent.
    pub(super) fn failed(&mut self, code: ErrorCode) {
        self.errors[code as usize] += 1;
    }

    /// A peer was turned away.
    pub(super) fn refused(&mut self, refusal: Refusal) {
        self.refusals[refusal as usize] += 1;
    }

    /// A thread took a search of a game, which had waited for `waited_ns`.
    pub(super) fn began(&mut self, game: Option<usize>, waited_ns: u64) {
        if let Some(played) = game.and_then(|game| self.games.get_mut(game)) {
            played.searches += 1;
        }
        self.waits.observe(waited_ns);
    }

    /// A search has its best move after `took_ns`.
    pub(super) fn answered(&mut self, game: Option<usize>, reason: Reason, took_ns: Option<u64>) {
        if let Some(played) = game.and_then(|game| self.games.get_mut(game)) {
            played.answers[reason as usize] += 1;
        }
        if let Some(took_ns) = took_ns {
            self.searches.observe(took_ns);
        }
    }

    /// A search is over after this number of nodes.
    pub(super) fn searched(&mut self, game: Option<usize>, nodes: u64) {
        if let Some(played) = game.and_then(|game| self.games.get_mut(game)) {
            played.nodes += nodes;
        }
    }

    /// The watchdog answered for a search that did not come back in time.
    pub(super) fn watchdog_answered(&mut self) {
        self.watchdog_answers += 1;
    }

    /// A search's time was over before its move was searched.
    pub(super) fn unsearched(&mut self) {
        self.unsearched += 1;
    }

    /// A writer took messages: is an answer among them that ought to have been written before?
    pub(super) fn taken(&mut self, batch: &[Numbered], now_ns: u64) {
        for numbered in batch {
            if let Item::BestMove(_, _, Some(due_ns)) = &numbered.item {
                self.timed += 1;
                if let Some(late_ns) = now_ns.checked_sub(*due_ns).filter(|late_ns| *late_ns > 0) {
                    self.lateness.observe(late_ns);
                }
            }
        }
    }

    /// Settings were read again, and are in force or refused.
    pub(crate) fn reloaded(&mut self, is_refused: bool) {
        self.reloads[usize::from(is_refused)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_where_it_is_counted() {
        for (index, reason) in REASONS.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{reason:?}");
        }
    }

    #[test]
    fn an_answer_is_late_if_it_is_written_after_its_time() {
        let mut tally = Tally::new(&[]);
        let answer = |due_ns| Numbered { seq: 1, item: Item::answer("", due_ns) };
        let body = Numbered { seq: 1, item: Item::body("{}".into()) };
        let now_ns = 50_000_000;
        tally.taken(&[answer(None), answer(Some(now_ns)), answer(Some(now_ns + 1)), body], now_ns);
        assert_eq!((tally.timed, tally.lateness.sum_ns), (2, 0));
        tally.taken(&[answer(Some(now_ns - 1)), answer(Some(now_ns - 3_000_000))], now_ns);
        assert_eq!((tally.timed, tally.lateness.sum_ns), (4, 3_000_001));
        assert_eq!(tally.lateness.counts[..4], [1, 0, 1, 0]);
    }

    #[test]
    fn a_time_counts_up_to_its_bound() {
        let mut histogram = Histogram::new(&[1, 10]);
        for ns in [0, 1000, 1001, 10_000, 10_001, u64::MAX] {
            histogram.observe(ns);
        }
        assert_eq!(histogram.counts, [2, 2, 2]);
        assert_eq!(histogram.sum_ns, u64::MAX);
    }
}
