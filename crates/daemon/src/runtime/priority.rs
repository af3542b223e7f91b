//! The priority of the threads that compute: below that of the threads that read and write, so that these
//! come first if cores are short.

use std::cell::Cell;
use std::io;
use std::thread;

use plyd_core::search::clock::now_ns;

use crate::log::targets;

/// After others had the core, a thread computes for this part (1 / `SHARE`) of their time before it yields
/// again.
const SHARE: u64 = 8;

/// The nice value of the threads that compute; none if it stays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Priority(Option<i32>);

impl Priority {
    /// A priority `steps` nice levels below the calling thread. The value is computed here, once, because any
    /// thread may start others.
    pub(crate) fn below_this(steps: u8) -> Self {
        if steps == 0 {
            return Self(None);
        }
        match get() {
            Ok(own) => Self(Some(own + i32::from(steps))),
            Err(error) => {
                tracing::debug!(target: targets::PRIORITY, %error, "search threads keep their priority");
                Self(None)
            }
        }
    }

    /// Gives the calling thread this priority, which the threads that it starts inherit.
    pub(super) fn apply(self) {
        if let Some(nice) = self.0
            && let Err(error) = set(nice)
        {
            tracing::debug!(target: targets::PRIORITY, %error, nice, "a thread keeps its priority");
        }
    }
}

/// Yields to the threads that wait for this core. On a system that gives each thread a slice of milliseconds
/// (EEVDF under Linux), a thread that has just woken up waits for the end of the slice, however low the
/// priority of the computing thread is.
///
/// A program that never waits may take the core for milliseconds. A thread that yielded to it again and again
/// would get nothing done, so it first computes for a part of that time.
pub(super) fn give_way() {
    thread_local! {
        static NEXT_NS: Cell<u64> = const { Cell::new(0) };
    }
    let began_ns = now_ns();
    if began_ns >= NEXT_NS.get() {
        thread::yield_now();
        let now_ns = now_ns();
        NEXT_NS.set(now_ns + (now_ns - began_ns) / SHARE);
    }
}

/// Under Linux a thread has a nice value of its own; elsewhere the process has one.
#[cfg(target_os = "linux")]
fn get() -> io::Result<i32> {
    Ok(rustix::process::getpriority_process(None)?)
}

#[cfg(target_os = "linux")]
fn set(nice: i32) -> io::Result<()> {
    Ok(rustix::process::setpriority_process(None, nice)?)
}

#[cfg(not(target_os = "linux"))]
fn get() -> io::Result<i32> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn set(_nice: i32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_and_those_that_it_starts_step_back_alone() {
        let own = get().unwrap();
        for steps in [0, 1, 3] {
            let priority = Priority::below_this(steps);
            let inherited = std::thread::spawn(move || {
                priority.apply();
                priority.apply();
                std::thread::spawn(|| get().unwrap()).join().unwrap()
            });
            assert_eq!(inherited.join().unwrap(), (own + i32::from(steps)).min(19));
            assert_eq!(get().unwrap(), own);
        }
    }
}
