//! What runs the tests of an executable that is something else too and so has no room for the usual harness.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{env, thread};

/// A test: its name, and what panics if it fails.
pub(crate) type Test = (&'static str, fn());

/// How many tests run at once: they wait for other processes more than they compute.
const WORKERS: usize = 10;

/// Runs the tests, in their order, and says on stderr how each ended, and then what the failed ones said: the
/// end is what one sees of a long log. As with the usual harness, the first argument that is no flag is a
/// part of the names of those to run.
pub(crate) fn run(tests: &[Test]) -> ExitCode {
    let filter = env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let chosen: Vec<&Test> = tests.iter().filter(|(name, _)| name.contains(&*filter)).collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(String::new()));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((name, test)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let since = Instant::now();
                    // A panic names its thread.
                    let thread = thread::Builder::new().name((*name).to_owned()).spawn(*test);
                    let ended = thread.expect("a thread for a test").join();
                    let verdict = if ended.is_ok() { "ok" } else { "FAILED" };
                    let seconds = since.elapsed().as_secs();
                    if let Err(panic) = ended {
                        let said = panic.downcast_ref::<String>().map(String::as_str);
                        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
                        let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                        let _in_memory = writeln!(failed, "---- {name} ----\n{}", said.unwrap_or_default());
                    }
                    let _nobody_reads = writeln!(io::stderr(), "test {name} ... {verdict} ({seconds} s)");
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if failed.is_empty() {
        return ExitCode::SUCCESS;
    }
    let _nobody_reads = write!(io::stderr(), "\nfailures:\n\n{failed}");
    ExitCode::FAILURE
}
