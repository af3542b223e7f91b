//! What systems do differently: child processes and their groups, pipes that can be waited for, Unix sockets.
//!
//! Both systems offer the same functions, and what one of them lacks is an error there that says so; no other
//! file of this crate asks which system it runs on.

#[cfg(unix)]
mod unix;
#[cfg(all(unix, feature = "tokio"))]
#[path = "watched_unix.rs"]
mod watched;
#[cfg(all(windows, feature = "tokio"))]
#[path = "watched_windows.rs"]
mod watched;
#[cfg(windows)]
mod windows;

#[cfg(feature = "tokio")]
pub(crate) use watched::Watched;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(unix)]
pub use unix::{WakeupReader, WakeupWriter, wakeup};
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub use windows::{WakeupReader, WakeupWriter, wakeup};
