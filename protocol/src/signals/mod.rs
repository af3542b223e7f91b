//! The signals that end the process: the first asks for it, the second insists. A process may give SIGHUP
//! another meaning.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{Hangups, Signals, let_children_heed_hangup};
#[cfg(windows)]
pub use windows::{Hangups, Signals, let_children_heed_hangup};
