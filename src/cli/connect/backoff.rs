//! How long to wait before a ladder is dialled again.

use std::time::Duration;

use crate::zobrist::SplitMix64;

/// The pause after the first failure.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(60);
/// The longest that a ladder can ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(3600);
/// A connection that lasted so long ends the row of failures.
const LASTING: Duration = Duration::from_secs(10);

/// Pauses that double, each shortened by chance, so that bots that lost their ladder at the same instant do
/// not come back at the same instant.
pub(super) struct Backoff {
    next: Duration,
    chance: SplitMix64,
}

impl Backoff {
    pub(super) fn new(seed: u64) -> Self {
        Self { next: FIRST, chance: SplitMix64::new(seed) }
    }

    /// The pause after a connection on which the ladder had the bot for so long; `least` is what the ladder
    /// asked for.
    pub(super) fn pause(&mut self, lasted: Duration, least: Option<Duration>) -> Duration {
        if lasted >= LASTING {
            self.next = FIRST;
        }
        let whole = self.next;
        self.next = (whole * 2).min(LONGEST);
        // Half of it at least.
        let thousandths = 500 + self.chance.next() % 501;
        let pause = whole * u32::try_from(thousandths).unwrap_or(1000) / 1000;
        // Bots that are asked to stay away for the same time are spread, too.
        pause + least.unwrap_or_default().min(LONGEST_ASKED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_to_a_minute_and_begin_again_after_a_lasting_connection() {
        let mut backoff = Backoff::new(7);
        for whole in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = backoff.pause(Duration::ZERO, None);
            let whole = Duration::from_secs(whole);
            assert!(whole / 2 <= pause && pause <= whole, "{pause:?} of {whole:?}");
        }
        assert!(backoff.pause(LASTING, None) <= FIRST);
        for (asked, least) in [(Duration::from_secs(5), 5), (Duration::MAX, 3600)] {
            let least = Duration::from_secs(least);
            let pause = backoff.pause(LASTING, Some(asked));
            assert!(least + FIRST / 2 <= pause && pause <= least + FIRST, "{pause:?}");
        }
    }

    #[test]
    fn no_two_bots_wait_equally_long() {
        let pause = |seed| Backoff::new(seed).pause(Duration::ZERO, None);
        assert_ne!(pause(1), pause(2));
    }
}
