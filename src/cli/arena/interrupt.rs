//! Ctrl-C in a match: the first lets the games at the board end, the second ends everything.

use std::io::{self, Write};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::signals::Signals;

/// The exit code of a process that SIGINT ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// Raises the flag at the first SIGINT or SIGTERM from now on, and ends the process at the second. The flag's other holder
/// raises it by itself where the match is decided.
///
/// # Errors
/// The system gives no thread or no signals.
pub(super) fn raise_on_interrupt(halt: Arc<AtomicBool>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let mut signals = {
        let _inside = runtime.enter();
        Signals::install()?
    };
    thread::Builder::new().name("signals".into()).spawn(move || {
        runtime.block_on(signals.next());
        halt.store(true, Ordering::Relaxed);
        let _nobody_reads = writeln!(
            io::stderr(),
            "\nthe games at the board are played to their end; interrupt again to leave them"
        );
        runtime.block_on(signals.next());
        // The players see their input end.
        process::exit(INTERRUPTED);
    })?;
    Ok(())
}
