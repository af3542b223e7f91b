//! The daemon's timers, in the order of their instants.
//!
//! Knows neither the clock nor what a timer does. A connection's timers are removed with it: a flood of
//! connections that come and leave must not keep the watchdog busy long after they are gone.

use std::collections::{BTreeSet, HashMap};

use crate::ids::{ConnId, JobId, TaskId, WorkerId};

/// What a timer is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Timer {
    /// A job's next deadline.
    Job(JobId),
    /// A thread whose search is over must have come back.
    Worker(WorkerId),
    /// A writer must have got on.
    Writer(ConnId),
    /// `hello` must have come.
    Handshake(ConnId),
    /// A turn on the cores ends.
    Turn,
    /// A wrong token is answered.
    Late(ConnId),
    /// A greeted connection must not have been idle for long.
    Idle(ConnId),
    /// The questions of a connection that came before a task and in its lane must be answered.
    Lane(ConnId, TaskId),
    /// All questions of a connection must be answered.
    Questions(ConnId),
    /// The client of a connection that lost its socket must be back.
    Kept(ConnId),
    /// More of the connections that are to end before their clients want it have their turn.
    Expel,
}

impl Timer {
    /// The connection that it is removed with; jobs and threads cancel theirs themselves.
    fn conn(self) -> Option<ConnId> {
        match self {
            Self::Job(_) | Self::Worker(_) | Self::Turn | Self::Expel => None,
            Self::Writer(conn)
            | Self::Handshake(conn)
            | Self::Late(conn)
            | Self::Idle(conn)
            | Self::Lane(conn, _)
            | Self::Questions(conn)
            | Self::Kept(conn) => Some(conn),
        }
    }
}

/// All timers that are set.
#[derive(Default, Debug)]
pub(crate) struct Timers {
    by_time: BTreeSet<(u64, Timer)>,
    /// Those that are removed with a connection. They are set a few times in its life, never for each search.
    by_conn: HashMap<ConnId, BTreeSet<(u64, Timer)>>,
}

impl Timers {
    /// Sets a timer; returns whether it is now the first.
    pub(super) fn set(&mut self, at_ns: u64, timer: Timer) -> bool {
        let is_first = self.first().is_none_or(|first| at_ns < first);
        self.by_time.insert((at_ns, timer));
        if let Some(conn) = timer.conn() {
            self.by_conn.entry(conn).or_default().insert((at_ns, timer));
        }
        is_first
    }

    /// Cancels a timer; returns whether it was set.
    pub(super) fn clear(&mut self, at_ns: u64, timer: Timer) -> bool {
        if let Some(conn) = timer.conn()
            && let Some(of_conn) = self.by_conn.get_mut(&conn)
        {
            of_conn.remove(&(at_ns, timer));
            if of_conn.is_empty() {
                self.by_conn.remove(&conn);
            }
        }
        self.by_time.remove(&(at_ns, timer))
    }

    /// Cancels all timers of a connection that is gone.
    pub(super) fn forget(&mut self, conn: ConnId) {
        for timer in self.by_conn.remove(&conn).unwrap_or_default() {
            self.by_time.remove(&timer);
        }
    }

    /// When the next one is due.
    pub(super) fn first(&self) -> Option<u64> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Those that are due, the earliest first; they stay set.
    pub(super) fn due(&self, now_ns: u64) -> Vec<(u64, Timer)> {
        self.by_time.iter().copied().take_while(|(at, _)| *at <= now_ns).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::config::limits::Limits;
    use crate::signal::Signal;
    use crate::spans::Origin;
    use crate::state::State;
    use crate::state::budget::Memory;

    #[test]
    fn timers_come_in_order_and_go_with_their_connection() {
        let mut timers = Timers::default();
        assert!(timers.set(5, Timer::Turn));
        assert!(!timers.set(7, Timer::Idle(1)));
        assert!(timers.set(3, Timer::Lane(1, 9)));
        assert!(!timers.set(4, Timer::Idle(2)));
        assert_eq!(timers.due(5), [(3, Timer::Lane(1, 9)), (4, Timer::Idle(2)), (5, Timer::Turn)]);
        timers.forget(1);
        assert_eq!(timers.due(9), [(4, Timer::Idle(2)), (5, Timer::Turn)]);
        assert!(timers.clear(4, Timer::Idle(2)) && !timers.clear(4, Timer::Idle(2)));
        assert!(timers.by_conn.is_empty());
        assert_eq!(timers.first(), Some(5));
    }

    /// A connection has several timers at the end of its life: for its `hello`, its writer, its silence or a
    /// wrong token.
    #[test]
    fn a_connection_that_is_gone_leaves_no_timer() {
        let nobody = || Signal::Task(Arc::default());
        let limits = Limits { strangers: 2, idle: Duration::from_secs(1000), ..Limits::default() };
        let mut state = State::new(limits, &[], Some("secret".to_owned()), Memory::new(0), 0);
        let open = |state: &mut State| state.open_conn(Origin::Unix, [nobody(), nobody(), nobody()], 1);
        // The first ones leave for those that come, each with a notice that its writer has to write.
        let ids: Vec<ConnId> = (0..10).map(|_| open(&mut state)).collect();
        state.watch_idle(ids[9], 2);
        state.answer_late(ids[8], "{}".to_owned(), 2);
        assert!(state.timers.by_time.len() > ids.len(), "{:?}", state.timers);
        for (gone, &id) in ids.iter().enumerate() {
            state.drop_conn(id, 3, false);
            let is_of_gone = |timer: &Timer| timer.conn().is_some_and(|conn| ids[..=gone].contains(&conn));
            let left: Vec<_> = state.timers.by_time.iter().filter(|(_, timer)| is_of_gone(timer)).collect();
            assert!(left.is_empty(), "{left:?}");
        }
        assert!(state.timers.by_time.is_empty() && state.timers.by_conn.is_empty(), "{:?}", state.timers);
    }
}
