//! What interrupts a search thread between two nodes: the order to end, and the order to wait for its turn on
//! a core.
//!
//! Both are bits of one atomic, so that a thread reads one relaxed byte a node and does nothing more if there
//! is no order. A thread that waits sleeps; the order to end wakes it.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};

/// The order to end; it cannot be taken back.
const END: u8 = 1;
/// The order to wait.
const WAIT: u8 = 2;

/// The orders that a search thread obeys.
///
/// ```
/// use plyd_core::search::gate::Gate;
///
/// let gate = Gate::default();
/// gate.close();
/// assert!(gate.has_orders() && gate.is_closed());
/// // Whoever is to end waits no longer.
/// gate.end();
/// gate.wait();
/// assert!(gate.is_ended());
/// ```
#[derive(Debug, Default)]
pub struct Gate {
    orders: AtomicU8,
    sleepers: Mutex<()>,
    opened: Condvar,
}

impl Gate {
    /// Orders to end, and wakes the waiting threads.
    pub fn end(&self) {
        if self.orders.fetch_or(END, Relaxed) & WAIT != 0 {
            self.wake();
        }
    }

    /// Orders to wait.
    pub fn close(&self) {
        self.orders.fetch_or(WAIT, Relaxed);
    }

    /// Withdraws the order to wait. Sleeping threads need [`Gate::wake`] as well, which may take a system
    /// call.
    pub fn open(&self) {
        self.orders.fetch_and(!WAIT, Relaxed);
    }

    /// Wakes the sleeping threads, to look at the orders again.
    pub fn wake(&self) {
        // A thread that has read the old orders holds the lock until it sleeps, so that the call reaches it.
        drop(self.sleepers.lock().unwrap_or_else(PoisonError::into_inner));
        self.opened.notify_all();
    }

    /// Whether there is an order. Read at each node.
    #[inline]
    #[must_use]
    pub fn has_orders(&self) -> bool {
        self.orders.load(Relaxed) != 0
    }

    /// Whether the order is to end.
    #[inline]
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.orders.load(Relaxed) & END != 0
    }

    /// Whether the order is to wait.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.orders.load(Relaxed) == WAIT
    }

    /// Sleeps while the order is to wait.
    pub fn wait(&self) {
        if self.is_closed() {
            let mut sleeping = self.sleepers.lock().unwrap_or_else(PoisonError::into_inner);
            while self.is_closed() {
                sleeping = self.opened.wait(sleeping).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_closed_gate_holds_until_it_is_opened_or_the_search_ends() {
        for ends in [false, true] {
            let gate = Gate::default();
            gate.wait();
            gate.close();
            assert!(gate.has_orders() && gate.is_closed() && !gate.is_ended());
            let (passed, passes) = channel();
            std::thread::scope(|scope| {
                let gate = &gate;
                scope.spawn(move || {
                    gate.wait();
                    passed.send(gate.is_closed()).unwrap();
                });
                // A wake-up without a change of orders lets no thread pass.
                gate.wake();
                if ends {
                    gate.end();
                } else {
                    gate.open();
                    gate.wake();
                }
                assert!(!passes.recv().unwrap());
            });
            assert_eq!((gate.has_orders(), gate.is_ended()), (ends, ends));
            gate.close();
            assert_eq!(gate.is_closed(), !ends, "what is ended waits no more");
        }
    }
}
