//! Freeing memory: what is dropped here may be large, and its destructor may be a game's code, which panics.
//!
//! Knows nothing of what it frees.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops each thing, even if one of them panics.
pub(super) fn here(things: Vec<Box<dyn Any + Send>>) {
    for thing in things {
        if catch_unwind(AssertUnwindSafe(|| drop(thing))).is_err() {
            tracing::error!("dropping what a game made panicked");
        }
    }
}

/// Drops things that take milliseconds to free on a thread of its own that nothing waits for.
pub(super) fn elsewhere(things: Vec<Box<dyn Any + Send>>) {
    if things.is_empty() {
        return;
    }
    #[cfg(test)]
    tests::GIVEN.set(tests::GIVEN.get() + things.len());
    let thread = std::thread::Builder::new().name("discard".to_owned());
    if let Err(error) = thread.spawn(move || here(things)) {
        // They were freed here instead.
        tracing::debug!(%error, "cannot start a thread to free memory");
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{ThreadId, current};

    use super::*;

    thread_local! {
        /// The things that this thread gave to another one to be freed.
        pub(crate) static GIVEN: Cell<usize> = const { Cell::new(0) };
    }

    /// Records which thread drops it.
    struct Probe(Sender<ThreadId>);

    impl Drop for Probe {
        fn drop(&mut self) {
            self.0.send(current().id()).unwrap();
        }
    }

    #[test]
    fn what_is_freed_elsewhere_is_not_freed_by_the_caller() {
        let (sender, freed_by) = channel();
        here(vec![Box::new(Probe(sender.clone()))]);
        assert_eq!(freed_by.recv().unwrap(), current().id());
        elsewhere(vec![Box::new(Probe(sender))]);
        assert_ne!(freed_by.recv().unwrap(), current().id());
    }
}
