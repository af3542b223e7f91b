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
    before: Duration,
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
        Measured { from: Instant::now(), before: stalls.total(), stalls }
    }
}

impl Measured {
    /// For what share of the time since the beginning a core stood still, on average over the cores, in
    /// percent.
    pub(super) fn percent(&self) -> f64 {
        let still = self.stalls.total().saturating_sub(self.before);
        100.0 * still.as_secs_f64() / self.from.elapsed().as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
