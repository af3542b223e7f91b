//! How long a search may take.

use std::time::{Duration, Instant};

use plyd_protocol::{self as wire, Clock, Go, Mode};

/// What ends a search: the first of these that is reached. A search for a move needs a clock or a limit.
///
/// ```
/// use std::time::Duration;
///
/// use plyd_client::Limit;
///
/// let quick = Limit::per_move(Duration::from_millis(100));
/// let both = Limit { nodes: Some(100_000), ..quick };
/// assert_eq!(both.depth, None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// The clock of the game, which the engine need not use up.
    pub clock: Option<Clock>,
    /// The nodes to search.
    pub nodes: Option<u64>,
    /// The depth to reach, in plies.
    pub depth: Option<u32>,
    /// The time to search for, which is used up unless the position is proven: for analyses.
    pub time: Option<Duration>,
    /// The time after which a watchdog answers, whatever the search does.
    pub hard: Option<Duration>,
}

impl Limit {
    /// A clock for this move alone.
    #[must_use]
    pub fn per_move(time: Duration) -> Self {
        let ms = i64::try_from(time.as_millis()).unwrap_or(wire::MAX_INT);
        Self { clock: Some(Clock::PerMove { ms }), ..Self::default() }
    }

    /// A clock of the game.
    #[must_use]
    pub fn clock(clock: Clock) -> Self {
        Self { clock: Some(clock), ..Self::default() }
    }

    /// A number of nodes: with one thread and a seed it gives the same move on every machine.
    #[must_use]
    pub fn nodes(nodes: u64) -> Self {
        Self { nodes: Some(nodes), ..Self::default() }
    }

    /// A depth in plies.
    #[must_use]
    pub fn depth(depth: u32) -> Self {
        Self { depth: Some(depth), ..Self::default() }
    }

    /// No limit: the search goes on until it is stopped or the position is proven.
    #[must_use]
    pub fn endless() -> Self {
        Self::clock(Clock::None)
    }

    /// Sets the clock and the limits of a request.
    pub fn apply(&self, go: &mut Go) {
        go.clock = self.clock;
        go.limit = wire::Limit { nodes: self.nodes, depth: self.depth, time_ms: self.time.map(milliseconds) };
        go.hard_ms = self.hard.map(milliseconds);
    }
}

/// When the answer to a search that begins now is overdue: `timeout` after the most that its clock allows for
/// the move, its time limit or its watchdog; none if it has none of these.
pub(crate) fn overdue(go: &Go, now: Instant, timeout: Duration) -> Option<Instant> {
    // A ponder and an analysis heed no clock.
    let clock = go.clock.filter(|_| go.mode == Mode::Move).and_then(longest_ms);
    let ms = [clock, go.limit.time_ms, go.hard_ms].into_iter().flatten().min()?;
    now.checked_add(Duration::from_millis(ms).checked_add(timeout)?)
}

/// The milliseconds that a clock leaves for one move if all of its time is spent on it; none if it has no
/// end.
pub(crate) fn longest_ms(clock: Clock) -> Option<u64> {
    let sum = |ms: i64, more: i64| u64::try_from(ms.saturating_add(more)).unwrap_or(0);
    match clock {
        Clock::PerMove { ms } => Some(sum(ms, 0)),
        Clock::Increment { me_ms, .. } => Some(sum(me_ms, 0)),
        Clock::Delay { me_ms, delay_ms, .. } => Some(sum(me_ms, i64::try_from(delay_ms).unwrap_or(i64::MAX))),
        Clock::Bank { turn_ms, bank_ms } => Some(sum(turn_ms, bank_ms)),
        Clock::Anytime { .. } | Clock::None => None,
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use plyd_protocol::{GameRef, Position};

    use super::*;

    #[test]
    fn the_least_time_counts_and_a_search_without_one_is_never_overdue() {
        let ms = Duration::from_millis;
        let now = Instant::now();
        let game =
            Clock::Increment { me_ms: 300, opp_ms: None, inc_ms: 5, opp_inc_ms: None, moves_to_go: None };
        for (limit, expected) in [
            (Limit::per_move(ms(50)), Some(60)),
            (Limit { hard: Some(ms(20)), ..Limit::per_move(ms(50)) }, Some(30)),
            (Limit { time: Some(ms(40)), ..Limit::nodes(7) }, Some(50)),
            (Limit::clock(Clock::PerMove { ms: -5 }), Some(10)),
            (Limit::clock(game), Some(310)),
            (Limit::clock(Clock::Delay { me_ms: 50, opp_ms: None, delay_ms: 7 }), Some(67)),
            (Limit::clock(Clock::Bank { turn_ms: 50, bank_ms: -20 }), Some(40)),
            (Limit::clock(Clock::Anytime { hint_ms: Some(5) }), None),
            (Limit::nodes(7), None),
            (Limit::endless(), None),
        ] {
            let mut go = Go::new(GameRef::default(), Position::default());
            limit.apply(&mut go);
            assert_eq!(overdue(&go, now, ms(10)), expected.map(|time| now + ms(time)), "{limit:?}");
            go.mode = Mode::Ponder;
            let heeded = limit.time.or(limit.hard).map(|time| now + time + ms(10));
            assert_eq!(overdue(&go, now, ms(10)), heeded, "{limit:?}, while the opponent thinks");
        }
    }
}
