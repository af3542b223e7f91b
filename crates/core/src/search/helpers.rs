//! The threads that help a search, and when they are worth starting.
//!
//! A search is compiled anew for each game and evaluation, and with it all generic code that it calls. What
//! starts and joins its threads is compiled once.

use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope};

/// Iterations that are expected to visit fewer nodes are searched by one thread: at each iteration, starting
/// a thread costs as much time as thousands of them.
const WORTH_HELP: u64 = 4096;

/// How many nodes the last two iterations took, from which the size of the next one is predicted.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct IterationSizes {
    before: u64,
    last: u64,
}

impl IterationSizes {
    /// Learns the size of an iteration that was searched whole.
    pub(super) fn learn(&mut self, nodes: u64) {
        *self = Self { before: self.last, last: nodes };
    }

    /// How many of `threads` threads the next iteration is worth, at a root with `moves` moves.
    pub(super) fn threads(&self, threads: usize, moves: usize) -> usize {
        // If iterations go on growing as they did, or a ply more means a choice of as many moves again: where
        // much is pruned near the horizon, an iteration may be a hundred times as large as the one before.
        let growth = (self.last / self.before.max(1)).clamp(1, 16).max(moves as u64);
        if self.last.saturating_mul(growth) < WORTH_HELP { 1 } else { threads }
    }
}

/// [`std::thread::scope`]: gives what `search` gives, once all threads that it started have ended.
pub(super) fn scope<'env, T>(search: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    let (mut search, mut found) = (Some(search), None);
    dyn_scope(&mut |scope| found = search.take().map(|search| search(scope)));
    found.expect("a scope runs what it is given")
}

fn dyn_scope<'env>(search: &mut dyn for<'scope> FnMut(&'scope Scope<'scope, 'env>)) {
    std::thread::scope(|scope| search(scope));
}

/// Does each task once, the first worker on the calling thread, each other one on a thread of its own. If the
/// system gives no more threads, the existing ones do all tasks.
pub(super) fn share<T: Send, W: Send>(
    tasks: &mut [T],
    workers: &mut [W],
    work: impl Fn(&mut W, &mut T) + Sync,
) {
    let queue = Mutex::new(tasks.iter_mut());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = |worker: &mut W| {
        while let Some(task) = next() {
            work(worker, task);
        }
    };
    let Some((first, others)) = workers.split_first_mut() else { return };
    scope(|scope| {
        let work_off = &work_off;
        for worker in others {
            if !start(scope, Box::new(move || work_off(worker))) {
                break;
            }
        }
        work_off(first);
    });
}

/// Starts a thread; false if the system gives no more of them.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    helper: Box<dyn FnOnce() + Send + 'scope>,
) -> bool {
    Builder::new().spawn_scoped(scope, helper).is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn a_scope_gives_its_result_once_its_threads_have_ended() {
        let mut counts = [0; 4];
        let first = scope(|scope| {
            for count in &mut counts[1..] {
                assert!(start(scope, Box::new(|| *count += 1)));
            }
            1
        });
        counts[0] = first;
        assert_eq!(counts, [1; 4]);
    }

    #[test]
    fn tasks_are_shared_among_all_workers_and_done_once() {
        for workers in [1, 2, 3, 8, 16] {
            // The first tasks wait for each other, so that each worker has to do one of them.
            let together = Barrier::new(workers);
            let mut tasks: Vec<(bool, u32)> = (0..3 * workers).map(|at| (at < workers, 0)).collect();
            let mut done = vec![0; workers];
            share(&mut tasks, &mut done, |done, (waits, count)| {
                if *waits {
                    together.wait();
                }
                *count += 1;
                *done += 1;
            });
            assert!(tasks.iter().all(|task| task.1 == 1));
            assert!(done.iter().all(|&done| done > 0) && done.iter().sum::<usize>() == tasks.len());
        }
    }

    #[test]
    fn help_is_worth_the_size_that_the_next_iteration_is_going_to_have() {
        for (sizes, moves, expected) in [
            (&[][..], 9, 1),
            (&[100], 9, 1),
            (&[300], 9, 4),
            (&[100, 500], 2, 1),
            (&[100, 500], 9, 4),
            (&[100, 700], 2, 4),
            (&[5000, 4000], 1, 1),
            // Colosseum on size 12, of which depth 4 takes 197,911.
            (&[150, 532, 1170], 150, 4),
            (&[1, 1_000_000, 5000], 1, 4),
            (&[u64::MAX / 2, u64::MAX], 9, 4),
        ] {
            let mut known = IterationSizes::default();
            sizes.iter().for_each(|&nodes| known.learn(nodes));
            assert_eq!(known.threads(4, moves), expected, "{sizes:?}");
        }
    }
}
