//! The threads of the pages: one answers requests, one does what costs time, and both give way to the games.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Sender};
use std::thread;

use tokio::runtime;
use tokio::sync::oneshot;

/// By how much a thread of the pages gives way to those of the games.
const NICE: i32 = 10;

/// A thread that does what it is given in order. It ends with the last worker that gives it anything.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    work: Sender<Box<dyn FnOnce() + Send>>,
}

impl Worker {
    pub(super) fn new() -> io::Result<Self> {
        let (work, given) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        thread::Builder::new().name("ladder pages".into()).spawn(move || {
            give_way();
            for work in given {
                // It was reported, and whoever waits for the answer gets none.
                let _panicked = catch_unwind(AssertUnwindSafe(work));
            }
        })?;
        Ok(Self { work })
    }

    /// What comes of the work; none if it panics.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let work = move || {
            let _nobody_waits = answer.send(work());
        };
        self.work.send(Box::new(work)).ok()?;
        answered.await.ok()
    }
}

/// A thread with a runtime of its own, on which requests are answered: pages and JSON are written beside
/// the thread that reads and writes for the games. It ends once this is dropped.
#[derive(Debug)]
pub(super) struct Desk {
    runtime: runtime::Handle,
    _dropped: oneshot::Sender<()>,
}

impl Desk {
    pub(super) fn new() -> io::Result<Self> {
        let own = runtime::Builder::new_current_thread().enable_time().build()?;
        let (handle, (sender, dropped)) = (own.handle().clone(), oneshot::channel());
        thread::Builder::new().name("ladder desk".into()).spawn(move || {
            give_way();
            // Nothing is ever sent.
            let _dropped = own.block_on(dropped);
        })?;
        Ok(Self { runtime: handle, _dropped: sender })
    }

    /// What comes of the work; none if it panics.
    pub(super) async fn answer<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.runtime.spawn(work).await.ok()
    }
}

/// Lets this thread give way to others, as far as the system does that by thread (Linux).
pub(super) fn give_way() {
    thread_local!(static GIVES_WAY: Cell<bool> = const { Cell::new(false) });
    if !GIVES_WAY.replace(true) {
        lower_to(NICE);
    }
}

/// Lowers the priority of this thread to a nice value.
#[cfg(target_os = "linux")]
fn lower_to(nice: i32) {
    // An administrator's process may be one that gives way more already.
    if rustix::process::getpriority_process(None).is_ok_and(|own| own < nice) {
        // It is as quick as before if that is refused.
        let _refused = rustix::process::setpriority_process(None, nice);
    }
}

/// Leaves it: other systems have no nice value of a thread's own.
#[cfg(not(target_os = "linux"))]
fn lower_to(_: i32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_what_panics_alone() {
        let worker = Worker::new().unwrap();
        assert_eq!(worker.compute(|| 7).await, Some(7));
        assert_eq!(worker.compute(|| -> u8 { panic!("rules that break") }).await, None);
        assert_eq!(worker.compute(|| 8).await, Some(8));
    }

    #[tokio::test]
    async fn requests_are_answered_beside_whoever_waits() {
        let desk = Desk::new().unwrap();
        let caller = thread::current().id();
        let seen =
            desk.answer(async { (thread::current().id(), thread::current().name().map(str::to_owned)) });
        let (thread, name) = seen.await.unwrap();
        assert_ne!(thread, caller);
        assert_eq!(name.as_deref(), Some("ladder desk"));
        assert_eq!(desk.answer(async { panic!("a page that breaks") }).await, None::<()>);
        assert_eq!(desk.answer(async { 8 }).await, Some(8));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn the_worker_gives_way_and_the_caller_does_not() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let worker = Worker::new().unwrap();
        let of_worker = worker.compute(nice).await.unwrap();
        assert_eq!((nice(), of_worker), (before, (before.max(NICE))));
    }
}
