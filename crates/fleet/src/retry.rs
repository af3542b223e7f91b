//! Calling a server again until it is there, with pauses that grow.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::error::FleetError;

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How often in a row the server was away.
#[derive(Debug, Default)]
pub(super) struct Failures(usize);

impl Failures {
    /// Waits after one more, for longer each time.
    pub(super) async fn rest(&mut self) {
        self.0 += 1;
        tokio::time::sleep(pause(self.0)).await;
    }

    /// The server is there again.
    pub(super) fn forget(&mut self) {
        self.0 = 0;
    }
}

/// Asks the server again until it answers; calls `away` with the reason each time it does not.
///
/// # Errors
/// It answers that it will not.
pub(super) async fn until_there<T, F>(
    mut ask: impl FnMut() -> F,
    mut away: impl FnMut(String),
) -> Result<T, FleetError>
where
    F: Future<Output = Result<T, FleetError>>,
{
    let mut failures = Failures::default();
    loop {
        match ask().await {
            Err(FleetError::Away(why)) => away(why),
            answered => return answered,
        }
        failures.rest().await;
    }
}

/// The pause before an attempt: they double, each shortened by chance, so that those that lost the server at
/// the same instant do not come back at the same instant.
pub(super) fn pause(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    scattered((Duration::from_millis(50) * 2_u32.pow(doublings)).min(LONGEST_PAUSE))
}

/// A time, shortened by chance to half of it at least.
pub(super) fn scattered(whole: Duration) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // The time alone is alike on machines whose clocks are good.
    let drawn = plyd_core::zobrist::mix(u64::from(now.subsec_nanos()) ^ u64::from(std::process::id())) % 501;
    whole * (500 + u32::try_from(drawn).unwrap_or(0)) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_longest_one() {
        for (attempts, ms) in [(0, 50), (1, 50), (2, 100), (5, 800), (9, 10_000), (usize::MAX, 10_000)] {
            let (pause, whole) = (pause(attempts), Duration::from_millis(ms));
            assert!(whole / 2 <= pause && pause <= whole, "{attempts}: {pause:?}");
        }
    }
}
