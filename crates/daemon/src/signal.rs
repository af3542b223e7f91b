//! Wakes those who read and write, threads and tasks alike, when somebody else has changed the state.
//!
//! Knows neither the state nor its readers and writers.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use tokio::sync::Notify;

/// Wakes a reader or a writer, or who waits for a connection's end.
#[derive(Clone, Debug)]
pub(super) enum Signal {
    /// A thread.
    Thread(Arc<Parker>),
    /// A task.
    Task(Arc<Notify>),
}

impl Signal {
    /// Wakes it, now or when it next waits.
    pub(super) fn wake(&self) {
        match self {
            Self::Thread(parker) => parker.open(),
            Self::Task(notify) => notify.notify_one(),
        }
    }
}

/// Lets one thread wait for another. If it is opened first, the next wait returns at once.
#[derive(Debug, Default)]
pub(super) struct Parker {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Parker {
    /// Opens it.
    pub(super) fn open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.opened.notify_one();
    }

    /// Waits until it is open, and closes it.
    pub(super) fn wait(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = self.opened.wait_while(open, |open| !*open).unwrap_or_else(PoisonError::into_inner);
        *open = false;
    }
}
