//! Whether the daemon lives, and whether it takes work.

use super::State;

/// How late the watchdog may be before the daemon is given up: no load of a machine explains that.
const STUCK_NS: u64 = 30_000_000_000;

impl State {
    /// Whether the daemon does its work. Whoever asks has the lock already, which is a part of the answer.
    ///
    /// # Errors
    /// What is wrong; a new process would be better.
    pub(crate) fn health(&self, now_ns: u64) -> Result<(), &'static str> {
        if self.next_timer().is_some_and(|at_ns| at_ns.saturating_add(STUCK_NS) < now_ns) {
            return Err("the watchdog is stuck: no deadline is kept");
        }
        Ok(())
    }

    /// Whether new work is welcome.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn readiness(&self, now_ns: u64) -> Result<(), &'static str> {
        self.health(now_ns)?;
        if self.shutting_down {
            return Err("the daemon shuts down");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::limits::Limits;
    use crate::state::budget::Memory;
    use crate::state::timers::Timer;

    /// A client's clock may be as long as it likes, which is no fault of the watchdog.
    #[test]
    fn a_deadline_at_the_end_of_time_is_healthy() {
        let mut state = State::new(Limits::default(), &[], None, Memory::new(0), 0);
        state.set_timer(u64::MAX, Timer::Turn);
        assert_eq!(state.health(u64::MAX / 2), Ok(()));
        state.set_timer(0, Timer::Turn);
        assert!(state.health(STUCK_NS).is_ok() && state.health(STUCK_NS + 1).is_err());
    }
}
