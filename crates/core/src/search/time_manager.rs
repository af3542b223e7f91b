//! How much of its time a search takes: more while it changes its mind, less once it does not.
//!
//! Knows no clock: instants are given to it, as [`clock::now_ns`](super::clock::now_ns) counts.

use crate::score::Score;

/// The loss of score from one iteration to the next after which a search takes more time, and after which it
/// takes most, in thousandths of the game's unit.
const DROP: i32 = 1500;
const PLUNGE: i32 = 4000;

/// When a search is to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Deadlines {
    /// When the deadlines were set.
    pub armed_ns: u64,
    /// Until when time is free: answering sooner saves none.
    pub free_ns: u64,
    /// When to start no further iteration, as planned.
    pub soft_ns: u64,
    /// When to give up the iteration that runs.
    pub hard_ns: u64,
}

impl Deadlines {
    /// Whether time that is left counts: if the soft deadline is the hard one, all the time is to be used.
    #[must_use]
    pub(super) const fn are_planned(&self) -> bool {
        self.soft_ns < self.hard_ns
    }

    /// When a search ends that takes so many percent of the planned time.
    #[must_use]
    pub(super) fn end_ns(&self, percent: u64) -> u64 {
        if !self.are_planned() {
            return self.hard_ns;
        }
        let taken = (self.planned_ns() / 100).saturating_mul(percent);
        self.armed_ns.saturating_add(taken).max(self.free_ns).min(self.hard_ns)
    }

    const fn planned_ns(&self) -> u64 {
        self.soft_ns.saturating_sub(self.armed_ns)
    }
}

/// What the iterations of one search say about the time that it needs.
#[derive(Clone, Debug)]
pub(super) struct TimeManager {
    /// When the best move changed last.
    changed_ns: u64,
    score: Option<Score>,
    /// What the score lost in the last iteration.
    drop: i32,
    is_forced: bool,
    ended_ns: u64,
    /// How long the last two iterations took.
    spans: [u64; 2],
}

impl TimeManager {
    /// The time of a search that begins.
    #[must_use]
    pub(super) fn new(now_ns: u64) -> Self {
        let (changed_ns, ended_ns) = (now_ns, now_ns);
        Self { changed_ns, score: None, drop: 0, is_forced: false, ended_ns, spans: [0; 2] }
    }

    /// An iteration begins. What passed since the last one ended was not the search's time.
    pub(super) fn begin(&mut self, now_ns: u64) {
        let gap_ns = now_ns.saturating_sub(self.ended_ns);
        self.changed_ns = self.changed_ns.saturating_add(gap_ns);
        self.ended_ns = now_ns;
    }

    /// Learns from an iteration that was searched whole: whether the best move is that of the iteration
    /// before, what it is worth, and whether every other move is proven lost.
    pub(super) fn learn(&mut self, is_same: bool, score: Score, is_forced: bool, now_ns: u64) {
        if !is_same {
            self.changed_ns = now_ns;
        }
        self.drop = self.score.map_or(0, |before| before.raw().saturating_sub(score.raw()));
        self.score = Some(score);
        self.is_forced = is_forced;
        self.spans = [self.spans[1], now_ns.saturating_sub(self.ended_ns)];
        self.ended_ns = now_ns;
    }

    /// Whether to start no further iteration.
    ///
    /// If the soft deadline is the hard one, all the time is to be used. Otherwise time that is left counts:
    /// the soft deadline is stretched or shrunk, and no iteration begins that cannot finish its first move.
    #[must_use]
    pub(super) fn is_over(&self, deadlines: &Deadlines, now_ns: u64) -> bool {
        if !deadlines.are_planned() {
            return now_ns >= deadlines.soft_ns;
        }
        let end = deadlines.end_ns(self.percent(deadlines));
        now_ns >= end || now_ns.saturating_add(self.first_move_ns()) > deadlines.hard_ns
    }

    /// The share of the planned time that the search takes, in percent; if nothing is planned yet, of a plan
    /// that is made next.
    pub(super) fn percent(&self, deadlines: &Deadlines) -> u64 {
        if self.is_forced {
            // Enough for a line with a reply, which can be pondered.
            return 5;
        }
        if self.drop >= PLUNGE {
            return 250;
        }
        if self.drop >= DROP {
            return 150;
        }
        // A plan that is made next finds a move that stood since before it.
        let planned = if deadlines.are_planned() { deadlines.planned_ns() } else { u64::MAX };
        // Iterations grow about fourfold: a move that stood since the 30th part of the time stood for three.
        match planned / self.changed_ns.saturating_sub(deadlines.armed_ns).max(1) {
            30.. => 50,
            8.. => 75,
            2.. => 100,
            _ => 130,
        }
    }

    /// How long the first move of the next iteration is going to take: half of it, if iterations go on
    /// growing as they did.
    fn first_move_ns(&self) -> u64 {
        let [before, last] = self.spans;
        let growth = (last / before.max(1)).clamp(1, 16);
        last.saturating_mul(growth) / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// An iteration: when it ended in ms, whether the best move stayed, and its score in units.
    type Iteration = (u64, bool, i32);

    /// What happened; soft and hard deadline and free time; iterations; whether the move is forced; when the
    /// search ends: all in ms.
    type Case = (&'static str, [u64; 3], &'static [Iteration], bool, u64);

    #[test]
    fn searches_end_when_they_should() {
        #[rustfmt::skip]
        let table: &[Case] = &[
            ("nothing is known", [100, 400, 0], &[], false, 50),
            ("the move stands for long", [100, 400, 0], &[(1, false, 0), (4, true, 0), (15, true, 0)], false, 50),
            ("the move stands", [100, 400, 0], &[(4, false, 0), (8, true, 0), (15, true, 0)], false, 75),
            ("the move is new", [100, 400, 0], &[(8, true, 0), (40, false, 0)], false, 100),
            ("the move changes late", [100, 400, 0], &[(20, true, 0), (70, false, 0)], false, 130),
            ("the score drops", [100, 400, 0], &[(10, true, 3), (20, true, 1)], false, 150),
            ("the score plunges", [100, 400, 0], &[(10, true, 3), (20, true, -3)], false, 250),
            ("never past the hard deadline", [100, 180, 0], &[(10, true, 3), (20, true, -3)], false, 176),
            ("a better score is no panic", [100, 400, 0], &[(1, false, -3), (10, true, 3)], false, 50),
            ("the other moves lose", [100, 400, 0], &[(1, false, 0)], true, 5),
            ("the other moves lose, and waiting is free", [100, 400, 30], &[(1, false, 0)], true, 30),
            ("time below the free part saves nothing", [100, 400, 80], &[(1, false, 0)], false, 80),
            ("the next iteration's first move would be late", [100, 400, 0], &[(10, true, 0), (90, false, 0)], false, 81),
            ("all of the time is to be used", [100, 100, 0], &[(1, false, 0), (40, true, 0)], true, 100),
        ];
        for &(what, [soft, hard, free], iterations, is_forced, expected) in table {
            // Searches may begin long after the process.
            for armed_ns in [0, 1_000_000 * MS] {
                let at = |ms: u64| armed_ns + ms * MS;
                let deadlines =
                    Deadlines { armed_ns, free_ns: at(free), soft_ns: at(soft), hard_ns: at(hard) };
                let mut time = TimeManager::new(armed_ns);
                for &(ms, is_same, units) in iterations {
                    time.learn(is_same, Score::eval(units * 1000), is_forced, at(ms));
                }
                let end = (0..=1000).find(|&ms| time.is_over(&deadlines, at(ms)));
                assert_eq!(end, Some(expected), "{what}");
            }
        }
    }

    #[test]
    fn a_plan_that_is_made_late_is_taken_by_the_same_rules() {
        let unplanned = [(0, u64::MAX, u64::MAX), (5, u64::MAX, u64::MAX), (0, 900 * MS, 900 * MS)];
        for (armed_ns, soft_ns, hard_ns) in unplanned {
            let before = Deadlines { armed_ns, free_ns: 0, soft_ns, hard_ns };
            // What happened as above, whether the move is forced, and the percentage.
            let table: [(&[Iteration], bool, u64); 4] = [
                (&[(4, false, 0), (800, false, 0)], false, 50),
                (&[(4, false, 3), (800, true, 1)], false, 150),
                (&[(4, false, 3), (800, false, -3)], false, 250),
                (&[(4, false, 0)], true, 5),
            ];
            for (iterations, is_forced, percent) in table {
                let mut time = TimeManager::new(0);
                for &(ms, is_same, units) in iterations {
                    time.learn(is_same, Score::eval(units * 1000), is_forced, ms * MS);
                }
                assert_eq!(time.percent(&before), percent);
                assert_eq!(before.end_ns(percent), hard_ns);
                for (free_ns, end) in [(0, 1000 + percent), (1300 * MS, (1000 + percent).max(1300))] {
                    let (armed_ns, soft_ns, hard_ns) = (1000 * MS, 1100 * MS, 1200 * MS);
                    let planned = Deadlines { armed_ns, free_ns, soft_ns, hard_ns };
                    assert_eq!(time.percent(&planned), percent);
                    assert_eq!(planned.end_ns(percent), end.min(1200) * MS);
                }
            }
        }
    }

    #[test]
    fn without_a_clock_nothing_ends() {
        let none = Deadlines { armed_ns: 5, free_ns: 0, soft_ns: u64::MAX, hard_ns: u64::MAX };
        let mut time = TimeManager::new(5);
        time.learn(true, Score::DRAW, true, 1000 * MS);
        assert!(!time.is_over(&none, u64::MAX - 1));
    }
}
