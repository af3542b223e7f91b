//! Ctrl-C: the first lets what is under way end, the second ends everything. What becomes of it the commands
//! say.

use std::io::{self, Write};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use plyd_protocol::signals::Signals;

/// The exit code of a process that SIGINT ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// The exit code of a server that was told twice to end.
#[cfg(any(feature = "ladder", feature = "mcp"))]
const AT_ONCE: i32 = 1;

/// Waits within a runtime for SIGINT or SIGTERM, which a server then heeds in its own time; from there on,
/// the next one ends the process, whoever is still connected, after `last` and what waits for the log.
///
/// # Errors
/// The system refuses the signals.
#[cfg(any(feature = "ladder", feature = "mcp"))]
pub(super) fn asked_to_end(
    last: impl FnOnce() + Send + 'static,
) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut signals = Signals::install_without_hangup()?;
    Ok(async move {
        signals.next().await;
        tokio::spawn(async move {
            signals.next().await;
            last();
            crate::daemon::log::flush();
            process::exit(AT_ONCE);
        });
    })
}

/// That no further game shall begin: by an interrupt, or since a match is decided.
pub(super) struct Halt(Arc<Flags>);

struct Flags {
    raised: AtomicBool,
    interrupted: AtomicBool,
    /// What the first interrupt says.
    notice: Mutex<&'static str>,
}

impl Halt {
    /// Is raised at the first SIGINT or SIGTERM from now on, with `notice` on stderr; the second ends the
    /// process.
    ///
    /// # Errors
    /// The system gives no thread or no signals.
    pub(super) fn on_interrupt(notice: &'static str) -> io::Result<Self> {
        let halt = Self(Arc::new(Flags {
            raised: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            notice: Mutex::new(notice),
        }));
        let flags = Arc::clone(&halt.0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let mut signals = {
            let _inside = runtime.enter();
            Signals::install()?
        };
        thread::Builder::new().name("signals".into()).spawn(move || {
            runtime.block_on(signals.next());
            flags.interrupted.store(true, Ordering::Relaxed);
            flags.raised.store(true, Ordering::Relaxed);
            let notice = *flags.notice.lock().unwrap_or_else(PoisonError::into_inner);
            let _nobody_reads = writeln!(io::stderr(), "\n{notice}");
            runtime.block_on(signals.next());
            // The players see their input end.
            process::exit(INTERRUPTED);
        })?;
        Ok(halt)
    }

    /// From now on an interrupt says something else.
    pub(super) fn say(&self, notice: &'static str) {
        *self.0.notice.lock().unwrap_or_else(PoisonError::into_inner) = notice;
    }

    /// What is raised, by whoever decides that.
    pub(super) fn flag(&self) -> &AtomicBool {
        &self.0.raised
    }

    /// What is raised by an interrupt alone.
    pub(super) fn interrupted(&self) -> &AtomicBool {
        &self.0.interrupted
    }
}
