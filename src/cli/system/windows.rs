//! Windows. It compiles, and nobody has tested it.

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileType, Metadata};
use std::io::{self, Stdin};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
#[cfg(feature = "fleet")]
use std::process::Command;
use std::process::ExitStatus;
use std::time::Instant;

use rustix::fd::BorrowedFd;
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, ctrl_break, ctrl_c, ctrl_close};

use super::Signal;

/// Whether a signal reports another size of the window; else the terminal reports it among the keys.
pub(in crate::cli) const SIZE_IS_A_SIGNAL: bool = false;

/// Others may read a file (`FILE_SHARE_READ`).
const SHARE_READ: u32 = 1;

/// What there is instead of signals to a program that a person uses.
pub(in crate::cli) struct Signals {
    interrupt: CtrlC,
    stop: CtrlBreak,
    close: CtrlClose,
}

impl Signals {
    /// Takes them over; within a runtime.
    ///
    /// # Errors
    /// The system refuses.
    pub(in crate::cli) fn install() -> io::Result<Self> {
        Ok(Self { interrupt: ctrl_c()?, stop: ctrl_break()?, close: ctrl_close()? })
    }

    /// Waits for the next one.
    pub(in crate::cli) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.stop.recv() => Signal::End,
            _ = self.close.recv() => Signal::End,
        }
    }
}

/// The console cannot be waited for; its end comes as a signal.
pub(in crate::cli) fn terminal(_: &Stdin) -> Option<BorrowedFd<'_>> {
    None
}

/// Consoles have no Ctrl-Z that stops a program: it goes on at once.
///
/// # Errors
/// Never.
pub(in crate::cli) fn suspend() -> io::Result<()> {
    Ok(())
}

/// Asks a process group to end; false, because nothing can be sent to one.
pub(in crate::cli) fn interrupt_group(_: u32) -> bool {
    false
}

/// The exit code of a process.
pub(in crate::cli) fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}

/// Opens a file to read; opening waits for nobody.
///
/// # Errors
/// It cannot be opened.
pub(in crate::cli) fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Files cannot be waited for: reading one waits by itself.
///
/// # Errors
/// Always, `Unsupported`.
pub(in crate::cli) fn await_readable(_: &File, _: Instant) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "files cannot be waited for on this system"))
}

/// Opens a file of secrets to read and to append, made with the rights of its folder if there is none. Until
/// it is closed, others read it at most.
///
/// # Errors
/// It cannot be opened, or another process writes it.
pub(in crate::cli) fn open_secrets(path: &Path) -> io::Result<File> {
    File::options().read(true).append(true).create(true).share_mode(SHARE_READ).open(path)
}

/// Who may read a file is not known: its permissions are a list that plyd does not read.
pub(in crate::cli) fn others_read(_: &Metadata) -> bool {
    false
}

/// Whether a file is a program is in its name and its first bytes, which plyd does not read.
pub(in crate::cli) fn is_executable(_: &Metadata) -> bool {
    true
}

/// No file of a folder is a pipe.
pub(in crate::cli) fn is_pipe(_: FileType) -> bool {
    false
}

/// There is no limit of open files to be raised.
#[cfg(feature = "ladder")]
pub(in crate::cli) fn raise_open_files() -> Option<u64> {
    None
}

/// The machine's name; empty if the system does not say it.
#[cfg(feature = "fleet")]
pub(in crate::cli) fn machine_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_default()
}

/// Whether a program can be started within limits.
#[cfg(feature = "fleet")]
pub(in crate::cli) const CONFINES: bool = false;

/// Always fails: a process cannot become another program, and has no limits of its own.
#[cfg(feature = "fleet")]
pub(in crate::cli) fn become_confined(_: &mut Command, _: u64, _: u64, _: u64) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "this system starts no program within limits")
}

/// The elements of a list, between commas; one that is no text is a whole.
pub(in crate::cli) fn elements(list: &OsStr) -> Vec<OsString> {
    match list.to_str() {
        Some(text) => text.split(',').map(|part| part.trim_ascii().into()).collect(),
        None => vec![list.to_owned()],
    }
}
