//! What systems do differently for the commands: signals, the terminal, and files.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::*;
#[cfg(windows)]
pub(super) use windows::*;

/// A signal to a program that a person uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Signal {
    /// Ctrl-C, if the terminal makes a signal of it.
    Interrupt,
    /// The process is to end, or its terminal is gone.
    End,
    /// The window has another size.
    Redraw,
}
