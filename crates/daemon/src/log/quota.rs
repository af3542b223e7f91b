//! How often a line that a peer can cause is logged: often enough to show what happens, and so seldom that
//! nobody fills a disk with it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plyd_core::search::clock::now_ns;

/// The lines that were left out so far.
static LEFT_OUT: AtomicU64 = AtomicU64::new(0);

/// A bound on the lines of one kind: `burst` at once, then one for each `every` that passes.
#[derive(Debug)]
pub(crate) struct Quota {
    burst: u32,
    every: Duration,
    used: Mutex<Used>,
}

#[derive(Debug)]
struct Used {
    /// The lines that may come now.
    left: u32,
    /// Until when passed time has been turned into lines, in ns.
    since_ns: u64,
    /// The lines left out since the last that came.
    left_out: u64,
}

impl Quota {
    pub(crate) const fn new(burst: u32, every: Duration) -> Self {
        Self { burst, every, used: Mutex::new(Used { left: burst, since_ns: 0, left_out: 0 }) }
    }

    /// Whether a line may come now, and how many were left out since the last one (none instead of 0, so that
    /// it is not shown).
    pub(crate) fn pass(&self) -> Option<Option<u64>> {
        self.pass_at(now_ns())
    }

    fn pass_at(&self, now_ns: u64) -> Option<Option<u64>> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let every = (self.every.as_nanos() as u64).max(1);
        let more = now_ns.saturating_sub(used.since_ns) / every;
        used.left = u64::from(used.left).saturating_add(more).min(self.burst.into()) as u32;
        used.since_ns += more * every;
        if used.left == 0 {
            used.left_out += 1;
            LEFT_OUT.fetch_add(1, Relaxed);
            return None;
        }
        used.left -= 1;
        let left_out = std::mem::take(&mut used.left_out);
        Some((left_out > 0).then_some(left_out))
    }
}

/// The lines of the log that were left out so far.
pub(crate) fn left_out() -> u64 {
    LEFT_OUT.load(Relaxed)
}

/// Logs an event like the macro of that level in `tracing`, if a quota allows it, with the number of those
/// left out since the last one.
macro_rules! bounded {
    (@event ($target:expr, $level:ident, $left_out:ident) parent: $parent:expr, $($rest:tt)+) => {
        tracing::event!(target: $target, parent: $parent, tracing::Level::$level, $left_out, $($rest)+)
    };
    (@event ($target:expr, $level:ident, $left_out:ident) $($rest:tt)+) => {
        tracing::event!(target: $target, tracing::Level::$level, $left_out, $($rest)+)
    };
    ($quota:expr, $level:ident, target: $target:expr, $($rest:tt)+) => {
        if tracing::enabled!(target: $target, tracing::Level::$level)
            && let Some(left_out) = $quota.pass()
        {
            $crate::log::bounded!(@event ($target, $level, left_out) $($rest)+);
        }
    };
    ($quota:expr, $level:ident, $($rest:tt)+) => {
        $crate::log::bounded!($quota, $level, target: module_path!(), $($rest)+)
    };
}
pub(crate) use bounded;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_in_a_burst_and_then_now_and_then_and_none_is_forgotten() {
        let quota = Quota::new(3, Duration::from_nanos(10));
        let at = |now_ns| quota.pass_at(now_ns);
        assert_eq!([at(100), at(101), at(102)], [Some(None); 3]);
        assert_eq!([at(103), at(104), at(109)], [None; 3]);
        assert_eq!(at(110), Some(Some(3)), "one more after that time, which says how many are missing");
        assert_eq!([at(111), at(119)], [None; 2]);
        assert_eq!(at(125), Some(Some(2)));
        assert_eq!(at(130), Some(None), "what is left of that time counts for the next");
        assert_eq!(at(139), None);
        assert_eq!([at(10_000), at(10_000), at(10_000)], [Some(Some(1)), Some(None), Some(None)]);
        assert_eq!(at(10_000), None, "no more than a burst is saved up");
        assert!(left_out() >= 7);
    }
}
