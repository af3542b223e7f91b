//! The signals that end the process: the first asks for it, the second insists.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT.
pub(crate) struct Signals {
    term: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Takes the signals over from the system's default, which would end the process at once.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn install() -> io::Result<Self> {
        Ok(Self { term: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
