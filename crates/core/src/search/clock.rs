//! The only reader of time, and how much of it a search may take.
//!
//! Instants are nanoseconds since the process first asked, so that they fit an atomic. A [`TimePlan`] turns a
//! clock into two offsets from the moment at which the clock began to run; it knows neither the protocol nor
//! the search.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

static START: OnceLock<Instant> = OnceLock::new();

/// Nanoseconds since the process first asked: monotonic.
///
/// ```
/// use plyd_core::search::clock::now_ns;
///
/// let before = now_ns();
/// assert!(before <= now_ns());
/// ```
#[must_use]
pub fn now_ns() -> u64 {
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// The CPU time that the calling thread has used, if the system reports it; else wall time.
///
/// ```
/// use plyd_core::search::clock::thread_cpu_time;
///
/// let before = thread_cpu_time();
/// assert!(before <= thread_cpu_time());
/// ```
#[must_use]
pub fn thread_cpu_time() -> Duration {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    {
        Duration::from_nanos(now_ns())
    }
}

/// Moves that a game is expected to last, if the clock does not say.
const HORIZON: i64 = 25;
/// The largest time that is planned with, in ms: past it (about 30 years) a clock is as good as none, and
/// nanoseconds still fit 64 bits.
const LONGEST_MS: i64 = 1_000_000_000_000;

/// How long a search may think: offsets from the moment at which its clock began to run.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_core::search::clock::TimePlan;
///
/// // A minute for the game and a second more with each move, of which 20 ms were spent before the search.
/// let plan = TimePlan::increment(60_000, 1000, None, 20);
/// assert!(plan.soft < plan.hard && plan.hard < Some(Duration::from_secs(20)));
/// // A second for the move is all used, but for a few milliseconds to answer in.
/// let plan = TimePlan::per_move(1000, 0);
/// assert!(plan.soft == plan.hard && plan.hard > Some(Duration::from_millis(980)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimePlan {
    /// Until when time is free, so that answering sooner saves none.
    pub free: Duration,
    /// When to start no further iteration; none: never.
    pub soft: Option<Duration>,
    /// When the answer is decided at the latest, so that it is written in time; none: never.
    pub hard: Option<Duration>,
}

impl TimePlan {
    /// No clock: the search runs until something else ends it.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self { free: Duration::ZERO, soft: None, hard: None }
    }

    /// A fixed time for this move, all of it to be used.
    #[must_use]
    pub fn per_move(ms: i64, spent_ms: u64) -> Self {
        let total = left_us(ms, spent_ms);
        Self::between(total - margin_us(total), total)
    }

    /// A time for the game, or for `moves_to_go` moves, that grows by `inc_ms` with each move.
    #[must_use]
    pub fn increment(me_ms: i64, inc_ms: u64, moves_to_go: Option<u32>, spent_ms: u64) -> Self {
        let total = left_us(me_ms, spent_ms);
        let moves = moves_to_go.map_or(HORIZON, |moves| i64::from(moves).min(HORIZON)).max(1);
        let inc = capped_us(inc_ms);
        let soft = (total / moves).saturating_add(inc / 4 * 3);
        // The last move before the control may take all that is left; earlier ones keep a reserve.
        let reserve = if moves == 1 { 0 } else { total / 3 };
        Self::between(soft.min(total - reserve), total)
            .with_hard_at_most(soft.saturating_mul(4), total - reserve)
    }

    /// A time for the game that starts to run `delay_ms` after the turn begins.
    #[must_use]
    pub fn delay(me_ms: i64, delay_ms: u64, spent_ms: u64) -> Self {
        if me_ms <= 0 {
            return Self::between(0, 0);
        }
        let free = capped_us(delay_ms);
        let total = left_us(me_ms.saturating_add((free / 1000).min(LONGEST_MS)), spent_ms);
        let reserve = left_us(me_ms, 0).min(total);
        let soft = total - reserve + reserve / HORIZON;
        Self::between(soft, total)
            .with_hard_at_most(total - reserve + reserve / 4, total)
            .with_free(total - reserve)
    }

    /// A time for this turn and a reserve for the game.
    #[must_use]
    pub fn bank(turn_ms: i64, bank_ms: i64, spent_ms: u64) -> Self {
        let total = left_us(turn_ms.saturating_add(bank_ms), spent_ms);
        let bank = left_us(bank_ms, 0).min(total);
        let soft = total - bank + bank / HORIZON;
        Self::between(soft, total).with_hard_at_most(total - bank + bank / 4, total).with_free(total - bank)
    }

    /// A plan that thinks until `soft_us` and may overrun up to `total_us`, less the margin for writing.
    fn between(soft_us: i64, total_us: i64) -> Self {
        let hard = total_us - margin_us(total_us);
        let offset = |us: i64| Some(Duration::from_micros(us.max(0) as u64));
        Self { free: Duration::ZERO, soft: offset(soft_us.min(hard)), hard: offset(hard) }
    }

    fn with_hard_at_most(self, us: i64, total_us: i64) -> Self {
        let us = us.min(total_us);
        let hard = Duration::from_micros((us - margin_us(us)).max(0) as u64);
        let hard = self.hard.map_or(hard, |old| old.min(hard));
        Self { soft: self.soft.map(|soft| soft.min(hard)), hard: Some(hard), ..self }
    }

    fn with_free(self, us: i64) -> Self {
        Self { free: Duration::from_micros(us.max(0) as u64), ..self }
    }
}

/// The time between deciding and having written an answer, in us: 5 ms and 2 %, at most 9 ms, and never more
/// than half of what there is. It covers the wake-ups of an answer on a busy machine, where a thread waits
/// for a time slice.
///
/// ```
/// use plyd_core::search::clock::margin_us;
///
/// assert_eq!([1_000, 100_000, 60_000_000].map(margin_us), [500, 7_000, 9_000]);
/// ```
#[must_use]
pub fn margin_us(total_us: i64) -> i64 {
    (5000 + total_us / 50).min(9000).min(total_us / 2).max(0)
}

fn capped_us(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX).min(LONGEST_MS) * 1000
}

fn left_us(ms: i64, spent_ms: u64) -> i64 {
    (ms.clamp(-LONGEST_MS, LONGEST_MS) * 1000).saturating_sub(capped_us(spent_ms)).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(plan: TimePlan) -> (u128, u128) {
        (plan.soft.unwrap().as_micros(), plan.hard.unwrap().as_micros())
    }

    #[test]
    fn plans_match_the_table() {
        let table: &[(&str, TimePlan, (u128, u128))] = &[
            ("20 ms a move", TimePlan::per_move(20, 0), (14_600, 14_600)),
            ("a second a move, 400 ms spent", TimePlan::per_move(1000, 400), (591_000, 591_000)),
            ("nothing left", TimePlan::per_move(0, 0), (0, 0)),
            ("less than nothing", TimePlan::per_move(-5, 0), (0, 0)),
            ("more spent than there was", TimePlan::per_move(5, 50), (0, 0)),
            ("one ms", TimePlan::per_move(1, 0), (500, 500)),
            ("a minute", TimePlan::increment(60_000, 0, None, 0), (2_400_000, 9_591_000)),
            ("a minute and one", TimePlan::increment(60_000, 1000, None, 0), (3_150_000, 12_591_000)),
            ("the last move of the control", TimePlan::increment(1000, 0, Some(1), 0), (991_000, 991_000)),
            ("almost flagged, large increment", TimePlan::increment(30, 1000, None, 0), (14_600, 14_600)),
            ("flagged, large increment", TimePlan::increment(0, 1000, None, 0), (0, 0)),
            ("delay", TimePlan::delay(10_000, 2000, 0), (2_400_000, 4_491_000)),
            ("flagged with a delay", TimePlan::delay(0, 2000, 0), (0, 0)),
            ("bank", TimePlan::bank(1000, 10_000, 0), (1_400_000, 3_491_000)),
            ("bank alone", TimePlan::bank(0, 10_000, 0), (400_000, 2_491_000)),
            ("no bank", TimePlan::bank(20, 0, 0), (14_600, 14_600)),
        ];
        for (name, plan, expected) in table {
            let (soft, hard) = us(*plan);
            assert!(soft <= hard, "{name}: {soft} after {hard}");
            assert_eq!((soft, hard), *expected, "{name}");
        }
    }

    #[test]
    fn extreme_clocks_do_not_overflow() {
        let extreme = (1 << 53) - 1;
        for ms in [extreme, -extreme] {
            for spent in [0, extreme as u64] {
                for plan in [
                    TimePlan::per_move(ms, spent),
                    TimePlan::increment(ms, extreme as u64, Some(1), spent),
                    TimePlan::delay(ms, extreme as u64, spent),
                    TimePlan::bank(ms, ms, spent),
                ] {
                    assert!(plan.soft.unwrap() <= plan.hard.unwrap());
                }
            }
        }
    }
}
