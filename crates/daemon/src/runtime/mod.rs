//! The lock, and the threads that take it: those that search, those that work on requests, and the one that
//! keeps deadlines.
//!
//! [`Shared`] is what they share: the state under its lock, and what stands beside it. Knows no socket:
//! whoever reads or writes calls [`Shared::with`], and is woken by a signal.

pub(crate) mod describe;
pub(crate) mod heartbeat;
pub(crate) mod pool;
pub(crate) mod prepare;
pub(crate) mod priority;
pub(crate) mod reload;
pub(crate) mod traffic;
pub(crate) mod watchdog;
mod worker;

use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::discard;
use crate::ids::{ConnId, SocketId};
use crate::log::{self, targets};
use crate::service::ServiceManager;
use crate::state::{Effects, State};
use crate::tls::Tls;
use crate::transcript::Transcript;
use plyd_core::search::clock::now_ns;

use heartbeat::Heartbeat;
use pool::Pool;
use prepare::RequestWorker;
use priority::Priority;
use reload::Running;
use traffic::Traffic;

/// What all threads share.
pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    /// Wakes the watchdog when an earlier timer is set.
    pub(super) watchdog: Condvar,
    pub(super) pool: Pool,
    pub(super) request_worker: RequestWorker,
    /// The priority of the threads that search or work on requests.
    pub(super) priority: Priority,
    /// The priority of work that no clock waits for.
    pub(super) slow_priority: Priority,
    pub(super) transcript: Option<Transcript>,
    /// What the settings are compared with when they are read again.
    pub(super) running: Running,
    /// What TCP and WebSocket are served over, if it is not plain text.
    pub(super) tls: Option<Tls>,
    /// What serves the connections, unless the daemon was started without.
    pub(super) runtime: Option<Handle>,
    /// Notified when a shutdown has nothing more to wait for.
    pub(super) quiet: Notify,
    /// Held by each connection that lingers before it closes.
    pub(super) lingering: Arc<()>,
    pub(super) over: AtomicBool,
    pub(super) incidents: AtomicU64,
    pub(super) traffic: Traffic,
    /// When the daemon began, by the calendar.
    pub(super) started: SystemTime,
    /// The service manager, which is notified that the daemon is alive and reads its settings again.
    pub(super) manager: Option<Arc<ServiceManager>>,
    pub(super) heartbeat: Heartbeat,
}

impl Shared {
    /// Locks the state. A panic under the lock is a bug of the daemon; the state stays usable, because every
    /// change is a sequence of small ones that each leave it so.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and then does what follows from that.
    pub(super) fn with<R>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> R) -> R {
        // The log's thread is woken after those that the effects wake.
        let _hold = log::hold();
        let mut state = self.lock();
        let result = change(&mut state);
        self.release(state, now_ns());
        result
    }

    /// Gives the lock back, and does what follows from what was changed under it.
    pub(super) fn release(self: &Arc<Self>, mut state: MutexGuard<'_, State>, now_ns: u64) {
        let mut effects = state.settle(now_ns);
        let answered = std::mem::take(&mut effects.answered);
        if !answered.is_empty() {
            // Queued before the answer is out, because the process may end then; the end of the runtime logs
            // what waits.
            log::after_answers(self.runtime.as_ref(), answered);
        }
        drop(state);
        self.carry_out(effects);
    }

    /// Like [`with`](Self::with), for the connection that a socket serves.
    pub(super) fn with_conn<R>(
        self: &Arc<Self>,
        link: SocketId,
        change: impl FnOnce(&mut State, ConnId) -> R,
    ) -> R {
        self.with(|state| {
            let conn = state.conn_of(link);
            change(state, conn)
        })
    }

    /// Does what the state asked for, outside of its lock.
    fn carry_out(self: &Arc<Self>, effects: Effects) {
        if effects.rearm {
            self.watchdog.notify_one();
        }
        for control in effects.wakes {
            control.gate().wake();
        }
        for (id, orders) in effects.spawns {
            let shared = Arc::clone(self);
            let thread = std::thread::Builder::new().name(format!("search-{id}"));
            if let Err(error) = thread.spawn(move || worker::work(&shared, id, &orders)) {
                tracing::error!(target: targets::SHARED, %error, "cannot start a search thread");
                self.with(|state| state.lost(id, now_ns()));
            }
        }
        for task in effects.tasks {
            self.pool.submit(self, task);
        }
        for (conn, task) in effects.hurried {
            self.pool.hurry(self, conn, task);
        }
        for signal in effects.signals {
            signal.wake();
        }
        if effects.quiet {
            self.quiet.notify_one();
        }
        discard::here(effects.deferred_drops);
        discard::elsewhere(effects.large_drops);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// Logs a panic and names it.
    pub(super) fn incident(&self, what: &str, panic: &(dyn Any + Send)) -> String {
        let number = self.incidents.fetch_add(1, Relaxed) + 1;
        let incident = format!("{:x}-{number}", std::process::id());
        let text = panic.downcast_ref::<&str>().copied();
        let text =
            text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        tracing::error!(target: targets::SHARED, incident, panic = text, "{what}");
        incident
    }
}
