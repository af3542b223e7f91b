//! What systems do differently: signals to a server, and files for their owner alone.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{private_file, send};
#[cfg(windows)]
pub(crate) use windows::{private_file, send};

/// What ends a server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signal {
    /// SIGTERM.
    Term,
    /// SIGINT.
    Int,
    /// SIGHUP.
    Hup,
}
