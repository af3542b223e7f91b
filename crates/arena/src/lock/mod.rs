//! A file that one process at a time writes.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{hold, open, release};
#[cfg(windows)]
pub use windows::{hold, open, release};
