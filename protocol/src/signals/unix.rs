//! The signals of Unix.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT, and SIGHUP unless whoever started the process has it ignored, as `nohup` does.
pub struct Signals {
    term: Signal,
    interrupt: Signal,
    hangup: Option<Signal>,
}

impl Signals {
    /// Takes the signals over from the system's default, which would end the process at once.
    ///
    /// # Errors
    /// The system refuses.
    pub fn install() -> io::Result<Self> {
        let hangup = if is_hangup_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { hangup, ..Self::install_without_hangup()? })
    }

    /// The same for SIGTERM and SIGINT alone: SIGHUP is left to the caller, whose [`Hangups`] take it over.
    ///
    /// # Errors
    /// The system refuses.
    pub fn install_without_hangup() -> io::Result<Self> {
        Ok(Self {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: None,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
            () = async {
                match &mut self.hangup {
                    Some(hangup) => drop(hangup.recv().await),
                    None => std::future::pending().await,
                }
            } => {}
        }
    }
}

/// SIGHUP where it does not end the process, whether it was ignored before or not.
pub struct Hangups(Signal);

impl Hangups {
    /// Takes the signal over from the system's default, which would end the process at once.
    ///
    /// # Errors
    /// The system refuses.
    pub fn install() -> io::Result<Self> {
        Ok(Self(signal(SignalKind::hangup())?))
    }

    /// Waits for the next one. Those that come while nobody waits count as one.
    pub async fn next(&mut self) {
        let _no_more_signals = self.0.recv().await;
    }
}

/// Lets the processes that are started from now on heed SIGHUP, also where this one was started with it
/// ignored (`nohup`): they inherit what is ignored, and get the default of what is caught.
///
/// # Errors
/// The system refuses.
pub fn let_children_heed_hangup() -> io::Result<()> {
    if is_hangup_ignored() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let _entered = runtime.enter();
        drop(signal(SignalKind::hangup())?);
    }
    Ok(())
}

/// Whether SIGHUP is ignored, as Linux reports it; elsewhere it counts as not ignored.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // Signal 1 is the lowest bit.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
