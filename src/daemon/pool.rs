//! The threads that work on requests: as many as there is work for, up to a few.
//!
//! A slow request (a picture of every move of a large sudoku) holds one of them and delays nobody else's.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use plyd_protocol::ErrorCode;

use super::Shared;
use super::prepare::{Output, Task};
use super::state::Refusal;
use crate::search::clock::now_ns;

/// The most threads that work on requests at once.
const MAX_THREADS: usize = 8;

/// The requests that wait for a thread.
#[derive(Default)]
pub(super) struct Pool {
    queue: Mutex<Queue>,
    ready: Condvar,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Task>,
    threads: usize,
    idle: usize,
    closed: bool,
}

impl Pool {
    /// Starts the first thread, so that the first request need not.
    pub(super) fn warm(&self, shared: &Arc<Shared>) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).threads += 1;
        self.hire(shared);
    }

    /// Has a task worked on.
    pub(super) fn submit(&self, shared: &Arc<Shared>, task: Task) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.tasks.push_back(task);
        let short = queue.tasks.len() > queue.idle && queue.threads < MAX_THREADS;
        queue.threads += usize::from(short);
        drop(queue);
        if short {
            self.hire(shared);
        } else {
            self.ready.notify_one();
        }
    }

    /// Ends the threads once they are idle.
    pub(super) fn close(&self) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.ready.notify_all();
    }

    fn hire(&self, shared: &Arc<Shared>) {
        let worker = Arc::clone(shared);
        let started = std::thread::Builder::new().name("request".to_owned()).spawn(move || {
            worker.priority.apply();
            while let Some(task) = worker.pool.next() {
                run(&worker, task);
            }
        });
        if let Err(error) = started {
            tracing::error!(%error, "cannot start a thread for requests");
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.threads -= 1;
            let stranded = if queue.threads == 0 { queue.tasks.pop_front() } else { None };
            drop(queue);
            // Without any thread the caller does the work: late is better than never.
            if let Some(task) = stranded {
                run(shared, task);
            }
        }
    }

    fn next(&self) -> Option<Task> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(task) = queue.tasks.pop_front() {
                return Some(task);
            }
            if queue.closed {
                return None;
            }
            queue.idle += 1;
            queue = self.ready.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

/// Works on a task, and on those of its lane that wait for it. A panic costs its request alone: neither the
/// thread nor the lane.
fn run(shared: &Arc<Shared>, task: Task) {
    let mut next = Some(task);
    while let Some(task) = next.take() {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| answer(shared, &task))) {
            let refusal = broken(shared, panic);
            shared.with(|state| {
                let open =
                    state.conns.get(&task.conn).is_some_and(|conn| conn.inflight.contains_key(&task.name));
                if open {
                    state.commit(&task, Output::Refused(refusal), now_ns());
                }
            });
        }
        next = shared.with(|state| state.next_in_lane(task.conn, &task.lane));
    }
}

fn answer(shared: &Arc<Shared>, task: &Task) {
    let context = shared.with(|state| state.context(task));
    let output = match context {
        Err(refusal) => Output::Refused(refusal),
        Ok(context) => catch_unwind(AssertUnwindSafe(|| shared.bench.work(task, context)))
            .unwrap_or_else(|panic| Output::Refused(broken(shared, panic))),
    };
    shared.with(|state| state.commit(task, output, now_ns()));
}

/// The answer to a request that panicked.
fn broken(shared: &Shared, panic: Box<dyn Any + Send>) -> Refusal {
    let incident = shared.incident("a request panicked", panic.as_ref());
    if let Err(worse) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        // What a game panics with may have a destructor that panics in its turn; the second is not tried.
        std::mem::forget(worse);
    }
    Refusal::new(ErrorCode::Internal, format!("the server failed; its log tells more under {incident}"))
}
