//! Retries while a server is overloaded, within the same clock.

use std::time::{Duration, Instant};

use plyd_protocol::{ErrorCode, ErrorMessage, Go, Mode};

use crate::limit::longest_ms;

/// When to ask again if the server does not say.
const USUAL: Duration = Duration::from_millis(100);
/// The shortest pause.
const SHORTEST: Duration = Duration::from_millis(1);
/// What a clock must leave: less is no time for a request, a search and its answer, least of all on a server
/// that was overloaded just before.
const LEAST: Duration = Duration::from_millis(10);

/// A `go` that is sent again while the server is overloaded.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use plyd_client::Retry;
/// use plyd_protocol::{Clock, ErrorCode, ErrorMessage, GameRef, Go, Position};
///
/// let clock = Some(Clock::PerMove { ms: 100 });
/// let mut go = Go { clock, ..Go::new(GameRef::default(), Position::default()) };
/// let began = Instant::now();
/// let retry = Retry::new(&go, began);
///
/// // The server answers after 10 ms that it is full for another 20.
/// let mut full = ErrorMessage::new(Some("1".into()), 1, ErrorCode::Overloaded, "all cores are busy");
/// full.retry_ms = Some(20);
/// let now = began + Duration::from_millis(10);
/// let pause = retry.pause(&go, &full, now).expect("the clock lasts so long");
/// retry.renew(&mut go, now + pause);
/// assert_eq!((pause, go.elapsed_ms), (Duration::from_millis(20), 30));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// When it was sent for the first time.
    began: Instant,
    /// The time that was spent until then.
    elapsed_ms: u64,
    /// The time that its clock leaves, if it has one.
    allowed: Option<Duration>,
}

impl Retry {
    /// A retry of `go`, which was sent at `began` for the first time.
    #[must_use]
    pub fn new(go: &Go, began: Instant) -> Self {
        let allowed_ms = go.clock.and_then(longest_ms);
        let allowed = allowed_ms.map(|ms| Duration::from_millis(ms.saturating_sub(go.elapsed_ms)));
        Self { began, elapsed_ms: go.elapsed_ms, allowed }
    }

    /// How long to wait before the `go` is sent again; none if it is not to be sent again, because the
    /// error is another one or the clock leaves less than 10 ms then.
    #[must_use]
    pub fn pause(&self, go: &Go, error: &ErrorMessage, now: Instant) -> Option<Duration> {
        if error.code != ErrorCode::Overloaded || go.mode != Mode::Move {
            return None;
        }
        let pause = Self::wanted(error);
        self.has_time(now.checked_add(pause)?).then_some(pause)
    }

    /// How long an overloaded server wants to be left alone: 100 ms if it does not say, and at least 1 ms.
    #[must_use]
    pub fn wanted(error: &ErrorMessage) -> Duration {
        error.retry_ms.map_or(USUAL, Duration::from_millis).max(SHORTEST)
    }

    /// Whether the clock leaves 10 ms at that instant; with less, sending the `go` again is of no use. Check
    /// it after the pause, which may have lasted longer than asked for.
    #[must_use]
    pub fn has_time(&self, now: Instant) -> bool {
        let spent = now.saturating_duration_since(self.began).saturating_add(LEAST);
        self.allowed.is_none_or(|allowed| spent <= allowed)
    }

    /// Sets `elapsed_ms` of the `go` for being sent at `now`.
    pub fn renew(&self, go: &mut Go, now: Instant) {
        let spent = now.saturating_duration_since(self.began).as_micros().div_ceil(1000);
        go.elapsed_ms = self.elapsed_ms.saturating_add(u64::try_from(spent).unwrap_or(u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use plyd_protocol::{Clock, GameRef, Position};

    use super::*;

    #[test]
    fn the_same_clock_decides_whether_to_ask_again() {
        // The clock, the time spent before, when the error comes, its `retry_ms`, and the pause: all in ms.
        #[rustfmt::skip]
        let table = [
            (Some(Clock::PerMove { ms: 100 }), 0, 10, Some(20), Some(20)),
            (Some(Clock::PerMove { ms: 100 }), 0, 10, Some(0), Some(1)),
            (Some(Clock::PerMove { ms: 100 }), 0, 10, None, None),
            (Some(Clock::PerMove { ms: 100 }), 0, 70, Some(20), Some(20)),
            (Some(Clock::PerMove { ms: 100 }), 0, 71, Some(20), None),
            (Some(Clock::PerMove { ms: 100 }), 70, 10, Some(20), None),
            (Some(Clock::PerMove { ms: -5 }), 0, 0, Some(1), None),
            (Some(Clock::Bank { turn_ms: 10, bank_ms: 100 }), 0, 50, Some(20), Some(20)),
            (Some(Clock::Delay { me_ms: 10, opp_ms: None, delay_ms: 100 }), 0, 50, Some(20), Some(20)),
            (None, 0, 1_000_000, Some(20), Some(20)),
        ];
        let (began, ms) = (Instant::now(), Duration::from_millis);
        for (clock, elapsed_ms, at, retry_ms, expected) in table {
            let mut go = Go::new(GameRef::Session { session: "s".into() }, Position::default());
            (go.clock, go.elapsed_ms) = (clock, elapsed_ms);
            let retry = Retry::new(&go, began);
            let mut error = ErrorMessage::new(None, 1, ErrorCode::Overloaded, "full");
            error.retry_ms = retry_ms;
            assert_eq!(retry.pause(&go, &error, began + ms(at)), expected.map(ms), "{clock:?} at {at}");
            retry.renew(&mut go, began + ms(at) + Duration::from_micros(1));
            assert_eq!(go.elapsed_ms, elapsed_ms + at + 1);
            // A pause that is slept to its end leaves time.
            let left = expected.map(|pause| retry.has_time(began + ms(at) + ms(pause)));
            assert_ne!(left, Some(false), "{clock:?} at {at}");
            error.code = ErrorCode::SessionBusy;
            assert_eq!(retry.pause(&go, &error, began), None);
        }
    }
}
