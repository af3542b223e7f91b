//! What runs the tests of an executable that is something else too and so has no room for the usual harness.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{env, thread};

/// A test: its name, and what panics if it fails.
pub(crate) type Test = (&'static str, fn());

/// How many tests run at once: they wait for other processes more than they compute.
const WORKERS: usize = 10;

/// Runs the tests, in their order, and says on stderr how each ended. As with the usual harness, the first
/// argument that is no flag is a part of the names of those to run.
pub(crate) fn run(tests: &[Test]) -> ExitCode {
    let filter = env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let chosen: Vec<&Test> = tests.iter().filter(|(name, _)| name.contains(&*filter)).collect();
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((name, test)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let since = Instant::now();
                    // A panic names its thread.
                    let thread = thread::Builder::new().name((*name).to_owned()).spawn(*test);
                    let is_ok = thread.is_ok_and(|thread| thread.join().is_ok());
                    failed.fetch_add(usize::from(!is_ok), Ordering::Relaxed);
                    let verdict = if is_ok { "ok" } else { "FAILED" };
                    let seconds = since.elapsed().as_secs();
                    let _nobody_reads = writeln!(io::stderr(), "test {name} ... {verdict} ({seconds} s)");
                }
            });
        }
    });
    if failed.into_inner() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
