//! The noise of a worker's machine: one watch of its cores for all pairs that are played at once. A watch for
//! each pair would run threads of its own on every core, and they would disturb what they measure.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use plyd_arena::Stalls;

/// The watch that the pairs of a worker share; there is none while none of them needs it.
#[derive(Debug, Default)]
pub(super) struct Noise(Mutex<Weak<Stalls>>);

/// What stood still while a pair was played.
pub(super) struct Measured {
    stalls: Arc<Stalls>,
    from: Instant,
    /// For how long each core had stood still at the beginning.
    before: Vec<Duration>,
}

impl Noise {
    /// The watch, which begins now unless another pair has it.
    pub(super) fn watch(&self) -> Arc<Stalls> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let begun = Arc::new(Stalls::watch());
            *shared = Arc::downgrade(&begun);
            begun
        })
    }

    /// Begins to measure.
    pub(super) fn measure(&self) -> Measured {
        let stalls = self.watch();
        Measured { from: Instant::now(), before: stalls.totals(), stalls }
    }
}

impl Measured {
    /// For what share of the time since the beginning the worst core stood still, in percent.
    pub(super) fn worst_percent(&self) -> f64 {
        let still = worst(&self.before, &self.stalls.totals());
        100.0 * still.as_secs_f64() / self.from.elapsed().as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// For how long the worst core stood still between two readings of all cores. Not the average: a game may run
/// on that core alone, and the average of a machine with many cores would hide it.
fn worst(before: &[Duration], after: &[Duration]) -> Duration {
    let each = before.iter().zip(after).map(|(before, after)| after.saturating_sub(*before));
    each.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_that_stands_still_counts_whole_however_many_there_are() {
        let ms = |each: &[u64]| each.iter().map(|ms| Duration::from_millis(*ms)).collect::<Vec<_>>();
        for (before, after, still) in [
            (&[][..], &[][..], 0),
            (&[7], &[7], 0),
            (&[0, 0], &[100, 0], 100),
            (&[0, 900], &[100, 950], 100),
            (&[5; 64], &[[5; 63].as_slice(), &[65]].concat(), 60),
        ] {
            assert_eq!(worst(&ms(before), &ms(after)), Duration::from_millis(still), "{before:?} {after:?}");
        }
    }

    #[test]
    fn pairs_that_are_played_at_once_share_a_watch_that_ends_with_the_last() {
        let noise = Noise::default();
        let [first, second] = [noise.watch(), noise.watch()];
        assert!(Arc::ptr_eq(&first, &second));
        let watch = Arc::downgrade(&first);
        drop(first);
        assert!(watch.upgrade().is_some());
        drop(second);
        assert!(watch.upgrade().is_none());
    }
}
